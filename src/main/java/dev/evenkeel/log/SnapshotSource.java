package dev.evenkeel.log;

import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;

/**
 * The snapshots that a node has, for other nodes to copy. May be used from any thread, and never
 * blocks. Futures complete on any thread.
 */
public interface SnapshotSource {
  /** Most bytes that can be read at a time. */
  int CHUNK_BYTES_MAX = 1 << 20;

  /**
   * Some bytes of one file of a snapshot.
   *
   * @param term of the last entry that the snapshot covers
   * @param index of that entry
   * @param file its name in the {@link SnapshotManifest}
   * @param offset of the first byte
   * @param bytes how many, at most {@link #CHUNK_BYTES_MAX}
   */
  record Chunk(String group, long term, long index, String file, long offset, int bytes) {}

  /**
   * Names the files of the newest snapshot of a log group, or null if there is none. The snapshot
   * is kept until nobody has asked for it or read from it for two minutes. Fails UNAVAILABLE if the
   * node cannot tell now, and INVALID if it does not have the log group.
   */
  CompletableFuture<SnapshotManifest> newest(String group);

  /**
   * Reads as many bytes as asked for. Fails UNAVAILABLE if the node does not have the snapshot any
   * more, and INVALID if the snapshot does not have these bytes.
   */
  CompletableFuture<ByteBuffer> read(Chunk chunk);
}
