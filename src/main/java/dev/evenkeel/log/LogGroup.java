package dev.evenkeel.log;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** One replicated log on this node. All methods may be called from any thread and never block. */
public interface LogGroup {
  /** "meta", or "d0", "d1", ... */
  String name();

  /**
   * Appends one entry. The log keeps its head, and {@link ReplicatedState#bodies()} its body;
   * neither must be changed afterwards. Entries appended one after another by one thread are logged
   * in that order.
   *
   * <p>The future completes, on any thread, with the state's reply: then the entry is committed by
   * a majority, fsynced there, and applied here. It fails with {@code RefusedException}: NOT_LEADER
   * (the detail is the leader's node id or empty; the entry is not in the log), OVERLOADED,
   * DISK_FULL or UNAVAILABLE (not in the log), TOO_LARGE (not in the log), INDETERMINATE (it may or
   * may not be), and, not in the log, with what {@link ReplicatedState#admit} refuses.
   */
  CompletableFuture<ByteBuffer> append(ByteBuffer head, List<ByteBuffer> body);

  /** Appends an entry without a body; whatever goes wrong fails the future. */
  default CompletableFuture<ByteBuffer> append(byte[] entry) {
    try {
      return append(ByteBuffer.wrap(entry), List.of());
    } catch (RuntimeException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  /**
   * Waits until a committed entry is on the disk of every voter. Completes then, or when the time
   * is over, on any thread, with how far the disks are. Fails with {@code RefusedException}:
   * NOT_LEADER as {@link #append}, OVERLOADED if too many wait.
   *
   * @param index of the entry; -1: the last one that is committed now
   */
  CompletableFuture<Replicas> awaitReplicas(long index, long timeoutMillis);

  /** The status of this log group, for people; numbers may be a moment old. */
  LogStatus status();

  Elections elections();

  /** As {@link Elections#leadership}. */
  default Leadership leadership() {
    return elections().leadership();
  }

  Voters voters();

  LogCopy copy();
}
