package dev.evenkeel.cli;

import dev.evenkeel.client.SourcePosition;
import dev.evenkeel.client.SpoolingProducer;
import dev.evenkeel.protocol.Message;
import java.io.PrintStream;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;

/** Sends lines through a spool. For a file, the spool also keeps the position of the lines. */
final class SpoolRun extends ProduceRun {
  private final SpoolingProducer producer;
  private final SourcePosition start;
  private final CompletableFuture<Void> ended;

  SpoolRun(SpoolingProducer producer, Settings settings, PrintStream err) {
    super(settings, producer.opened().position(), err);
    this.producer = producer;
    start = producer.opened().position();
    ended = producer.ended().toCompletionStage().toCompletableFuture();
  }

  @Override
  long acked() {
    return producer.status().ackedMessages();
  }

  @Override
  String more() {
    SpoolingProducer.Status status = producer.status();
    return status.pendingMessages() == 0
        ? ""
        : String.format(
            Locale.ROOT,
            ", %,d in the spool (%,d KiB on disk), the oldest for %.1f s",
            status.pendingMessages(),
            status.bytes() / 1024,
            Math.max(0, status.oldestMillis()) / 1000.0);
  }

  /** Tells the user what is in the spool before anything is read. */
  void showFound(String file) {
    SpoolingProducer.Opened found = producer.opened();
    if (found.cut() != null) {
      show("the spool's end was damaged: " + found.cut());
    }
    if (found.messages() > 0) {
      show(found.messages() + " messages of an earlier run are in the spool and are sent first");
    }
    if (start != null && start.lines() > 0) {
      show("goes on after line " + start.lines() + " of " + file);
    }
  }

  @Override
  void send(List<Message> lines, int bytes, long firstLine, SourcePosition after)
      throws InterruptedException {
    if (deliverAfter().isZero()) {
      producer.spoolAll(lines, after);
    } else {
      producer.spoolAll(lines, producer.dueAfter(deliverAfter()), after);
    }
  }

  @Override
  CompletableFuture<?> answered() {
    return producer.flush().toCompletionStage().toCompletableFuture();
  }

  @Override
  CompletableFuture<?> ended() {
    return ended;
  }

  @Override
  boolean finish() {
    if (ended.isCompletedExceptionally()) {
      show(CommandErrors.describe(ended.handle((none, failure) -> failure).join()));
    }
    SpoolingProducer.Status status = producer.status();
    if (status.lostMessages() > 0) {
      show(
          status.lostMessages()
              + " messages were taken of an earlier run that the spool had lost; "
              + (start == null ? "they are not counted here" : "their lines are there twice"));
    }
    if (status.pendingMessages() > 0) {
      show(
          status.pendingMessages()
              + " messages stay in the spool, and are sent when the same command runs again");
    }
    return status.pendingMessages() == 0;
  }
}
