/**
 * Producers with a spool: they write each message to the local disk first, and send from there,
 * also after a restart.
 *
 * <p>Begin with {@code SpooledProducer}; {@code SpoolStart} opens the spool. The format is in
 * {@code spool.log}.
 */
package dev.evenkeel.client.internal.spool;
