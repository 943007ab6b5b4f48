package dev.evenkeel.log.raft;

import static dev.evenkeel.protocol.Refusal.INDETERMINATE;
import static dev.evenkeel.protocol.Refusal.OVERLOADED;
import static dev.evenkeel.protocol.Refusal.UNAVAILABLE;

import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.util.Daemon;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Hands the appends of one group to the engine, one after another on a thread of its own, because
 * submitting blocks and the order of submitting is the order in the log. It also tracks every
 * append without an answer: their number and size are limited, and when the log group stops, it
 * answers them all.
 */
final class Submitter {
  static final int PENDING_ENTRIES_MAX = 4096;
  static final long PENDING_BYTES_MAX = 64L << 20;

  private static final PendingAppend END = new PendingAppend(ByteBuffer.allocate(0), List.of());

  private final LinkedBlockingQueue<PendingAppend> queue = new LinkedBlockingQueue<>();
  private final Set<PendingAppend> pending = ConcurrentHashMap.newKeySet();
  private final AtomicInteger entries = new AtomicInteger();
  private final AtomicLong bytes = new AtomicLong();
  private final Engine engine;
  private volatile String stopped;

  /** Submits one append; may block; the future fails with what the engine says. */
  interface Engine {
    CompletableFuture<ByteBuffer> submit(PendingAppend append) throws Exception;
  }

  Submitter(String name, Engine engine) {
    this.engine = engine;
    Daemon.start(name, this::run);
  }

  CompletableFuture<ByteBuffer> submit(PendingAppend append) {
    int count = entries.incrementAndGet();
    long size = bytes.addAndGet(append.bytes());
    boolean alone = count == 1;
    if (!alone && (count > PENDING_ENTRIES_MAX || size > PENDING_BYTES_MAX)) {
      release(append);
      return CompletableFuture.failedFuture(
          OVERLOADED.error(
              "%s entries of %s bytes are pending, at most %s of %s may; try again after a "
                  + "pause",
              count - 1, size - append.bytes(), PENDING_ENTRIES_MAX, PENDING_BYTES_MAX));
    }
    pending.add(append);
    queue.add(append);
    // Looked at after adding: stop() sets it before it empties the set, so one of the two sees the
    // other.
    String reason = stopped;
    if (reason != null) {
      refuse(append, reason);
    }
    return append.reply();
  }

  int pendingEntries() {
    return entries.get();
  }

  long pendingBytes() {
    return bytes.get();
  }

  /** Refuses everything that is pending and everything that comes. */
  void stop(String reason) {
    stopped = reason;
    pending.forEach(append -> refuse(append, reason));
    // Not by interrupting: the thread may be inside the engine, which closes on an interrupt.
    queue.add(END);
  }

  private void run() {
    try {
      for (PendingAppend append = queue.take(); append != END; append = queue.take()) {
        if (!append.reply().isDone()) {
          submitOne(append);
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      stop("the submitting thread was interrupted");
    }
  }

  private void submitOne(PendingAppend append) throws InterruptedException {
    try {
      engine
          .submit(append)
          .whenComplete(
              (reply, failure) -> {
                if (failure != null) {
                  fail(append, Refusals.of(failure, append.isLogged()));
                } else if (settle(append)) {
                  append.reply().complete(reply);
                }
              });
    } catch (InterruptedException e) {
      throw e;
    } catch (Exception e) {
      fail(append, Refusals.of(e, append.isLogged()));
    }
  }

  private void refuse(PendingAppend append, String reason) {
    // An append that is being submitted at this moment may get into the log after this look at it,
    // so only what certainly never will is refused as such.
    boolean waiting = queue.remove(append);
    fail(append, waiting ? UNAVAILABLE.error(reason) : INDETERMINATE.error(reason));
  }

  private void fail(PendingAppend append, RefusedException refusal) {
    if (settle(append)) {
      append.reply().completeExceptionally(refusal);
    }
  }

  /** Returns true to the caller that must answer it. */
  private boolean settle(PendingAppend append) {
    if (!pending.remove(append)) {
      return false;
    }
    release(append);
    return true;
  }

  private void release(PendingAppend append) {
    entries.decrementAndGet();
    bytes.addAndGet(-append.bytes());
  }
}
