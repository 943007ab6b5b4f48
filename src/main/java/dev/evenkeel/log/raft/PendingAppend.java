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
  private static final int PART_BYTES_MIN = 4 << 10;

  private final ByteString head;
  private final ByteString body;
  private final CompletableFuture<ByteBuffer> reply = new CompletableFuture<>();
  private volatile boolean logged;

  /** Neither the head nor large parts of the body are copied. */
  PendingAppend(ByteBuffer head, List<ByteBuffer> body) {
    this.head = UnsafeByteOperations.unsafeWrap(head.duplicate());
    this.body = joined(body);
  }

  /** The objects around small parts take more than a copy of them all. */
  private static ByteString joined(List<ByteBuffer> parts) {
    int bytes = 0;
    for (ByteBuffer part : parts) {
      bytes += part.remaining();
    }
    if (parts.size() > 1 && bytes / parts.size() < PART_BYTES_MIN) {
      ByteBuffer copy = ByteBuffer.allocate(bytes);
      parts.forEach(part -> copy.put(part.duplicate()));
      return UnsafeByteOperations.unsafeWrap(copy.flip());
    }
    ByteString joined = ByteString.EMPTY;
    for (ByteBuffer part : parts) {
      joined = joined.concat(UnsafeByteOperations.unsafeWrap(part.duplicate()));
    }
    return joined;
  }

  int bytes() {
    return head.size() + body.size();
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

  /** The part that the log keeps. */
  @Override
  public ByteString getContent() {
    return head;
  }

  /** The part that {@link LogBodies} keeps; empty if there is none. */
  ByteString body() {
    return body;
  }

  /** By this the engine counts what is pending. */
  @Override
  public int size() {
    return bytes();
  }
}
