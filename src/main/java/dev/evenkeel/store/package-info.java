/**
 * State on disk, and the only place that knows RocksDB.
 *
 * <p>{@code Store} is the port: ordered keys, a write that is taken as a whole, cursors, and copies
 * for snapshots. It imports {@code model} and {@code wire}.
 */
package dev.evenkeel.store;
