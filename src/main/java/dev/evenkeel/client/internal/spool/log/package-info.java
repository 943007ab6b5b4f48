/**
 * The format of a spool and the decisions about it: which messages it holds, in which order, and
 * how far the cluster has acknowledged them. It has no clock and no I/O.
 *
 * <p>Begin with {@code SpoolLog}. {@code RecordFormat} defines the bytes, {@code SpoolState} is
 * what the records add up to, and {@code SpoolStorage} is the port to the files.
 */
package dev.evenkeel.client.internal.spool.log;
