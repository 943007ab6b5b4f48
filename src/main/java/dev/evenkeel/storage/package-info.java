/**
 * State on disk. No other package knows RocksDB.
 *
 * <p>Begin with {@link dev.evenkeel.storage.Store}: ordered keys, atomic writes, cursors, and
 * copies for snapshots.
 */
package dev.evenkeel.storage;
