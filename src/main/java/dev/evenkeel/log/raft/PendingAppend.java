package dev.evenkeel.log.raft;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.apache.ratis.thirdparty.com.google.protobuf.UnsafeByteOperations;

/**
 * One append in flight. It is the message that the engine carries, so that it can record the moment
 * when it enters the log: the engine answers "not leader" even for entries that are in its log and
 * may still be committed.
 */
final class PendingAppend implements Message {
  private final List<ByteBuffer> parts;
  private final int bytes;
  private final CompletableFuture<ByteBuffer> reply = new CompletableFuture<>();
  private ByteString content;
  private volatile boolean logged;

  PendingAppend(List<ByteBuffer> parts, int bytes) {
    this.parts = parts;
    this.bytes = bytes;
  }

  int bytes() {
    return bytes;
  }

  CompletableFuture<ByteBuffer> reply() {
    return reply;
  }

  void logged() {
    logged = true;
  }

  boolean isLogged() {
    return logged;
  }

  /**
   * The entry as one piece. A single part is used as it is. Several parts are joined by one copy
   * here, on the submitting thread: otherwise they would be joined when the entry is applied, and
   * stay in memory twice, in the log's cache and with the state.
   */
  @Override
  public ByteString getContent() {
    if (content == null) {
      if (parts.size() == 1) {
        content = UnsafeByteOperations.unsafeWrap(parts.get(0).duplicate());
      } else {
        ByteBuffer joined = ByteBuffer.allocate(bytes);
        parts.forEach(part -> joined.put(part.duplicate()));
        content = UnsafeByteOperations.unsafeWrap(joined.flip());
      }
    }
    return content;
  }
}
