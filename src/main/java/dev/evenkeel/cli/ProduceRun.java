package dev.evenkeel.cli;

import dev.evenkeel.client.Producer;
import dev.evenkeel.client.internal.produce.core.SendBuffer;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Sends the lines of a stream. One thread reads, the producer's context sends and counts; between
 * them is a bounded number of bytes and messages, so that a slow cluster slows the reading down.
 */
final class ProduceRun implements Progress.Source {
  /** Bytes sent and not acknowledged, below what the producer's own buffer takes: 16 MiB. */
  static final long IN_FLIGHT_BYTES_MAX = 16L << 20;

  /** Messages sent and not acknowledged. */
  static final long IN_FLIGHT_MESSAGES_MAX = 200_000;

  /** Messages handed over and not sent, if nobody waits for more: as many as may wait for room. */
  private static final long UNSENT_MESSAGES_MAX = SendBuffer.WAITING_SENDS_MAX;

  private static final int PIECE_BYTES = 128 << 10;
  private static final long POLL_MILLIS = 100;
  private static final int OVERHEAD_BYTES = 64;
  private static final int FAILURES_SHOWN_MAX = 10;

  private final Producer producer;
  private final Context context;
  private final KeyExtractor keys;
  private final Pace pace;
  private final Duration deliverAfter;
  private final boolean acksNone;
  private final long inFlightMessagesMax;
  private final PrintStream err;

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();

  // Guarded by the lock.
  private long inFlightBytes;
  private long inFlightMessages;
  private boolean stopping;
  private boolean reading;
  private boolean readingEnded;
  private IOException readFailure;

  // Written by one thread each.
  private volatile long linesRead;
  private volatile long acked;

  // Used by the producer's context only.
  private int failuresShown;
  private boolean hopelessShown;

  // Used by the reading thread only.
  private Piece piece = new Piece();

  /** Lines that go to the producer in one go. */
  private static final class Piece {
    final List<Message> messages = new ArrayList<>();
    long firstLine;
    long bytes;
    int open;
  }

  /**
   * @param pace null: as fast as it goes
   * @param deliverAfter from when a line is sent until it is due; zero: at once
   * @param acksNone the producer completes a message when it is sent
   */
  ProduceRun(
      Vertx vertx,
      Producer producer,
      KeyExtractor keys,
      Pace pace,
      Duration deliverAfter,
      boolean acksNone,
      PrintStream err) {
    this.producer = producer;
    this.context = vertx.getOrCreateContext();
    // The bound here is the one that counts; the producer's own leaves room for a last piece.
    producer.setWriteQueueMaxSize((int) (2 * IN_FLIGHT_MESSAGES_MAX));
    this.keys = keys;
    this.pace = pace;
    this.deliverAfter = deliverAfter;
    this.acksNone = acksNone;
    inFlightMessagesMax = acksNone ? UNSENT_MESSAGES_MAX : IN_FLIGHT_MESSAGES_MAX;
    this.err = err;
  }

  @Override
  public long linesRead() {
    return linesRead;
  }

  @Override
  public long acked() {
    return acked;
  }

  /** Reads and sends until the stream or {@link #stop()} ends it. Blocks: it has its own thread. */
  void read(InputStream in) {
    LineReader lines =
        new LineReader(
            Limits.PAYLOAD_BYTES_MAX,
            new LineReader.Sink() {
              @Override
              public void line(long number, byte[] line) {
                take(number, line);
              }

              @Override
              public void tooLong(long number, long bytes) {
                linesRead = number;
                show(
                    "line "
                        + number
                        + " has "
                        + bytes
                        + " bytes: at most "
                        + Limits.PAYLOAD_BYTES_MAX
                        + " are allowed");
              }
            });
    byte[] buffer = new byte[PIECE_BYTES];
    try {
      while (beginRead()) {
        int count = in.read(buffer);
        if (!endRead()) {
          return;
        }
        if (count < 0) {
          lines.end();
          submit();
          return;
        }
        lines.feed(buffer, 0, count);
        submit();
      }
    } catch (IOException e) {
      locked(() -> readFailure = e);
    } finally {
      locked(() -> readingEnded = true);
    }
  }

  /** Ends reading; what was read is still sent. */
  void stop() {
    locked(() -> stopping = true);
  }

  /**
   * Waits until reading has ended and everything is answered.
   *
   * @param stopMillisMax how long to wait for answers after {@link #stop()}
   * @return whether everything that was read is acknowledged
   * @throws IOException if the stream could not be read
   */
  boolean await(long stopMillisMax) throws IOException, InterruptedException {
    lock.lockInterruptibly();
    try {
      long left = TimeUnit.MILLISECONDS.toNanos(stopMillisMax);
      // Once told to stop, a read under way is not awaited; but what was read before may still wait
      // for its turn or for room.
      while (left > 0 && (inFlightMessages > 0 || !(readingEnded || (stopping && reading)))) {
        if (stopping) {
          left = changed.awaitNanos(left);
        } else {
          changed.await();
        }
      }
      if (readFailure != null) {
        throw readFailure;
      }
    } finally {
      lock.unlock();
    }
    if (acksNone) {
      takeOffFailed(stopMillisMax);
    }
    return acked == linesRead;
  }

  /** What failed after it had been sent is known once the last answer is there. */
  private void takeOffFailed(long stopMillisMax) throws InterruptedException {
    CountDownLatch answered = new CountDownLatch(1);
    producer.flush().onComplete(done -> answered.countDown());
    while (!answered.await(POLL_MILLIS, TimeUnit.MILLISECONDS)) {
      if (isStopping() && !answered.await(stopMillisMax, TimeUnit.MILLISECONDS)) {
        break;
      }
    }
    long failed = producer.failedMessages() + producer.pendingMessages();
    if (failed > 0) {
      acked = Math.max(0, acked - failed);
      show(failed + " lines were sent and are not acknowledged");
    }
  }

  private boolean isStopping() {
    lock.lock();
    try {
      return stopping;
    } finally {
      lock.unlock();
    }
  }

  private void take(long number, byte[] line) {
    if (pace != null) {
      waitForTurn();
    }
    if (piece.messages.isEmpty()) {
      piece.firstLine = number;
    }
    Message message = new Message(keys.keyOf(line), Map.of(), System.currentTimeMillis(), line);
    piece.messages.add(message);
    piece.bytes += line.length + OVERHEAD_BYTES;
    linesRead = number;
    if (piece.bytes >= PIECE_BYTES * 2L) {
      submit();
    }
  }

  private void waitForTurn() {
    long wait = pace.waitNanos(System.nanoTime());
    if (wait < 500_000) {
      return;
    }
    submit();
    lock.lock();
    try {
      long left = wait;
      while (left > 0 && !stopping) {
        left = changed.awaitNanos(left);
      }
    } catch (InterruptedException e) {
      stopping = true;
    } finally {
      lock.unlock();
    }
  }

  /** Hands over what was collected, once there is room. */
  private void submit() {
    Piece full = piece;
    if (full.messages.isEmpty()) {
      return;
    }
    piece = new Piece();
    full.open = full.messages.size();
    lock.lock();
    try {
      while (inFlightMessages > 0
          && (inFlightBytes + full.bytes > IN_FLIGHT_BYTES_MAX
              || inFlightMessages + full.open > inFlightMessagesMax)) {
        changed.awaitUninterruptibly();
      }
      inFlightBytes += full.bytes;
      inFlightMessages += full.open;
    } finally {
      lock.unlock();
    }
    context.runOnContext(now -> send(full));
  }

  private void send(Piece full) {
    long line = full.firstLine;
    int count = full.messages.size();
    for (int i = 0; i < count; i++) {
      long number = line + i;
      send(full.messages.set(i, null)).onComplete(sent -> answered(full, number, sent.cause()));
    }
  }

  private Future<Producer.Position> send(Message message) {
    return deliverAfter.isZero() ? producer.send(message) : producer.send(message, deliverAfter);
  }

  private void answered(Piece full, long line, Throwable failure) {
    if (failure == null) {
      acked = acked + 1;
    } else {
      showFailure(line, failure);
    }
    if (--full.open == 0) {
      int count = full.messages.size();
      locked(
          () -> {
            inFlightBytes -= full.bytes;
            inFlightMessages -= count;
          });
    }
  }

  private void showFailure(long line, Throwable failure) {
    boolean hopeless =
        failure instanceof RefusedException refused
            && (refused.refusal() == Refusal.UNKNOWN_TOPIC
                || refused.refusal() == Refusal.PRODUCER_FENCED);
    if (hopeless) {
      // It is the same for every further line.
      if (!hopelessShown) {
        hopelessShown = true;
        show(CommandErrors.describe(failure) + ": lines from " + line + " on are not acknowledged");
      }
      stop();
      return;
    }
    if (++failuresShown <= FAILURES_SHOWN_MAX) {
      String what =
          failure instanceof RefusedException.ReplicasMissing ? ": " : " is not acknowledged: ";
      show("line " + line + what + CommandErrors.describe(failure));
    } else if (failuresShown == FAILURES_SHOWN_MAX + 1) {
      show("more lines are not acknowledged; their errors are not shown");
    }
  }

  private void show(String text) {
    err.println("evenkeel produce: " + text);
  }

  /** Whether to read on. */
  private boolean beginRead() {
    locked(() -> reading = !stopping);
    return reading;
  }

  /** Whether what was read meanwhile still counts: not if somebody stopped during it. */
  private boolean endRead() {
    lock.lock();
    try {
      reading = false;
      return !stopping;
    } finally {
      lock.unlock();
    }
  }

  private void locked(Runnable change) {
    lock.lock();
    try {
      change.run();
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }
}
