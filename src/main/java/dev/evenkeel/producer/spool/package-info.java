/**
 * The spool: what a producer has accepted and the log has not yet acknowledged, kept on disk in
 * order.
 *
 * <p>Format and decisions only. {@code SpoolRecord} and {@code RecordFormat} are the bytes, {@code
 * SpoolState} is what they add up to, {@code SpoolLog} appends and reads them over the port {@code
 * SpoolStorage}, {@code SpoolIntake} collects what is to be written next, {@code AckPrefix} knows
 * how far it has been acknowledged. The files themselves are in {@code spool.files}.
 */
package dev.evenkeel.producer.spool;
