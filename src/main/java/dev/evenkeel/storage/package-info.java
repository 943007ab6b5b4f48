/**
 * State on disk. No other package knows RocksDB.
 *
 * <p>Begin with {@link dev.evenkeel.storage.Store}: ordered keys, atomic writes, cursors, and
 * copies for snapshots. {@code storage.segment} keeps the bodies of log entries, without RocksDB.
 */
package dev.evenkeel.storage;
