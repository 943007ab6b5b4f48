package dev.evenkeel.cli;

import dev.evenkeel.client.Producer;
import dev.evenkeel.client.SourcePosition;
import dev.evenkeel.client.internal.produce.core.SendBuffer;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.io.PrintStream;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;

/**
 * Sends lines to the cluster without a spool. The producer's context sends and counts. The bytes
 * and messages in flight are bounded, so a slow cluster slows the reading down.
 */
final class DirectRun extends ProduceRun {
  /** Messages sent and not acknowledged. */
  static final int IN_FLIGHT_MESSAGES_MAX = 200_000;

  /** Bytes sent and not acknowledged: less than the producer's own buffer holds. */
  private static final int IN_FLIGHT_BYTES_MAX = 16 << 20;

  /** With acks none, messages passed to the producer and not sent: as many as may wait for room. */
  private static final int UNSENT_MESSAGES_MAX = SendBuffer.WAITING_SENDS_MAX;

  private static final int FAILURES_SHOWN_MAX = 10;

  private final Producer producer;
  private final Context context;
  private final boolean acksNone;
  private final int messagesMax;
  private final Semaphore messagesFree;
  private final Semaphore bytesFree = new Semaphore(IN_FLIGHT_BYTES_MAX);
  private final CompletableFuture<Void> allAnswered = new CompletableFuture<>();

  /** Written by the producer's context, and after the last answer by {@link #finish}. */
  private volatile long acked;

  // Used by the producer's context only.
  private long piecesOpen;
  private boolean allSent;
  private int failuresShown;
  private boolean hopelessShown;

  /**
   * @param acksNone whether the producer uses acks none
   */
  DirectRun(Vertx vertx, Producer producer, Settings settings, boolean acksNone, PrintStream err) {
    super(settings, null, err);
    this.producer = producer;
    this.context = vertx.getOrCreateContext();
    // The bounds here apply first; the producer's own bound leaves room for a last piece.
    producer.setWriteQueueMaxSize(2 * IN_FLIGHT_MESSAGES_MAX);
    this.acksNone = acksNone;
    messagesMax = acksNone ? UNSENT_MESSAGES_MAX : IN_FLIGHT_MESSAGES_MAX;
    messagesFree = new Semaphore(messagesMax);
  }

  @Override
  long acked() {
    return acked;
  }

  @Override
  void send(List<Message> lines, int bytes, long firstLine, SourcePosition after)
      throws InterruptedException {
    int places = Math.min(lines.size(), messagesMax);
    messagesFree.acquire(places);
    bytesFree.acquire(bytes);
    Runnable answered =
        () -> {
          messagesFree.release(places);
          bytesFree.release(bytes);
          piecesOpen--;
          completeIfAnswered();
        };
    context.runOnContext(now -> send(lines, firstLine, answered));
  }

  private void send(List<Message> lines, long firstLine, Runnable answered) {
    int[] open = {lines.size()};
    piecesOpen++;
    for (int i = 0; i < lines.size(); i++) {
      long number = firstLine + i;
      send(lines.set(i, null))
          .onComplete(
              sent -> {
                if (sent.succeeded()) {
                  acked = acked + 1;
                } else {
                  showFailure(number, sent.cause());
                }
                if (--open[0] == 0) {
                  answered.run();
                }
              });
    }
  }

  private Future<Producer.Position> send(Message message) {
    return deliverAfter().isZero()
        ? producer.send(message)
        : producer.send(message, deliverAfter());
  }

  private void completeIfAnswered() {
    if (allSent && piecesOpen == 0) {
      allAnswered.complete(null);
    }
  }

  @Override
  CompletableFuture<?> answered() {
    context.runOnContext(
        now -> {
          allSent = true;
          completeIfAnswered();
        });
    // With acks none, only the last answer tells which messages failed after they were sent.
    return acksNone
        ? allAnswered.thenCompose(sent -> producer.flush().toCompletionStage())
        : allAnswered;
  }

  @Override
  CompletableFuture<?> ended() {
    return new CompletableFuture<>();
  }

  @Override
  boolean finish() {
    long failed = acksNone ? producer.failedMessages() + producer.pendingMessages() : 0;
    if (failed > 0) {
      acked = Math.max(0, acked - failed);
      show(failed + " lines were sent and are not acknowledged");
    }
    return true;
  }

  private void showFailure(long line, Throwable failure) {
    boolean hopeless =
        failure instanceof RefusedException refused
            && (refused.refusal() == Refusal.UNKNOWN_TOPIC
                || refused.refusal() == Refusal.PRODUCER_FENCED);
    if (hopeless) {
      // Every later line fails for the same reason.
      if (!hopelessShown) {
        hopelessShown = true;
        show(CommandErrors.describe(failure) + ": lines from " + line + " on are not acknowledged");
      }
      stop();
    } else if (++failuresShown <= FAILURES_SHOWN_MAX) {
      String what =
          failure instanceof RefusedException.ReplicasMissing ? ": " : " is not acknowledged: ";
      show("line " + line + what + CommandErrors.describe(failure));
    } else if (failuresShown == FAILURES_SHOWN_MAX + 1) {
      show("more lines are not acknowledged; their errors are not shown");
    }
  }
}
