package dev.evenkeel.cli;

import dev.evenkeel.client.Producer;
import dev.evenkeel.client.SourcePosition;
import dev.evenkeel.client.SpoolingProducer;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.RefusedException;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Sends the lines of a stream through a spool. One thread reads, and waits while the spool is full.
 * Of a file, the position goes into the spool together with the lines.
 */
final class SpoolRun implements Progress.Source {
  private static final int PIECE_BYTES = 128 << 10;
  private static final long LOOK_MILLIS = 500;

  private final SpoolingProducer producer;
  private final KeyExtractor keys;
  private final Pace pace;
  private final Duration deliverAfter;
  private final PrintStream err;
  private final SourcePosition start;
  private final CompletableFuture<Void> reading = new CompletableFuture<>();
  private final CompletableFuture<Void> stopped = new CompletableFuture<>();

  private volatile long linesRead;

  // Used by the reading thread only.
  private List<Message> piece = new ArrayList<>();
  private long pieceBytes;
  private long refused;
  private boolean news;

  /** Up to the end of the last line that is in a piece, or was refused. */
  private long bytesTaken;

  private LineReader lines;

  /**
   * @param pace null: as fast as it goes
   */
  SpoolRun(SpoolingProducer producer, KeyExtractor keys, Pace pace, PrintStream err) {
    this(producer, keys, pace, Duration.ZERO, err);
  }

  /**
   * @param deliverAfter from when a line is spooled until it is due; zero: at once
   */
  SpoolRun(
      SpoolingProducer producer,
      KeyExtractor keys,
      Pace pace,
      Duration deliverAfter,
      PrintStream err) {
    this.producer = producer;
    this.keys = keys;
    this.pace = pace;
    this.deliverAfter = deliverAfter;
    this.err = err;
    start = producer.opened().position();
    linesRead = start == null ? 0 : start.lines();
    refused = start == null ? 0 : start.refused();
  }

  /** Of a file also those that earlier runs have read. */
  @Override
  public long linesRead() {
    return linesRead;
  }

  @Override
  public long acked() {
    return producer.status().ackedMessages();
  }

  @Override
  public String more() {
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

  /** Says what there is to know of the spool before anything is read. */
  void tellFound(String file) {
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

  /**
   * Reads and spools until the stream or {@link #stop()} ends it. Blocks: it has its own thread.
   */
  void read(InputStream in) {
    lines =
        new LineReader(
            Limits.PAYLOAD_BYTES_MAX,
            new LineReader.Sink() {
              @Override
              public void line(long number, byte[] line) {
                take(line);
              }

              @Override
              public void tooLong(long number, long bytes) {
                refuse(bytes);
              }
            });
    byte[] buffer = new byte[PIECE_BYTES];
    try {
      while (!stopped.isDone()) {
        int count = in.read(buffer);
        if (stopped.isDone()) {
          break;
        }
        if (count < 0) {
          lines.end();
          submit(true);
          break;
        }
        lines.feed(buffer, 0, count);
        submit(false);
      }
      reading.complete(null);
    } catch (IOException | RefusedException | InterruptedException e) {
      reading.completeExceptionally(e);
    } catch (Stopped e) {
      reading.complete(null);
    }
  }

  /** Ends the reading from within a line. */
  private static final class Stopped extends RuntimeException {
    private static final long serialVersionUID = 1L;
  }

  private void take(byte[] line) {
    if (pace != null) {
      waitForTurn();
    }
    piece.add(new Message(keys.keyOf(line), Map.of(), System.currentTimeMillis(), line));
    pieceBytes += line.length;
    bytesTaken = lines.lineEnd();
    linesRead = linesRead + 1;
    if (pieceBytes >= 2L * PIECE_BYTES) {
      submitInLine();
    }
  }

  private void refuse(long bytes) {
    refused++;
    news = true;
    bytesTaken = lines.lineEnd();
    linesRead = linesRead + 1;
    show(
        "line "
            + linesRead
            + " has "
            + bytes
            + " bytes: at most "
            + Limits.PAYLOAD_BYTES_MAX
            + " are allowed");
  }

  private void waitForTurn() {
    long wait = pace.waitNanos(System.nanoTime());
    if (wait < 500_000) {
      return;
    }
    submitInLine();
    try {
      stopped.get(wait, TimeUnit.NANOSECONDS);
      throw new Stopped();
    } catch (TimeoutException e) {
      return;
    } catch (InterruptedException | ExecutionException e) {
      throw new Stopped();
    }
  }

  private void submitInLine() {
    try {
      submit(false);
    } catch (InterruptedException e) {
      throw new Stopped();
    }
  }

  private void submit(boolean complete) throws InterruptedException {
    boolean tellsMore =
        start != null && complete && !(start.complete() && linesRead == start.lines());
    if (piece.isEmpty() && !news && !tellsMore) {
      return;
    }
    List<Message> full = piece;
    piece = new ArrayList<>();
    pieceBytes = 0;
    news = false;
    SourcePosition after =
        start == null
            ? null
            : new SourcePosition(start.bytes() + bytesTaken, linesRead, refused, complete);
    if (deliverAfter.isZero()) {
      producer.spoolAll(full, after);
    } else {
      producer.spoolAll(full, Producer.dueIn(deliverAfter), after);
    }
  }

  /** Ends reading; what was read is still sent. */
  void stop() {
    stopped.complete(null);
  }

  /**
   * Waits until reading has ended and everything is acknowledged.
   *
   * @param stopMillisMax how long to wait for acknowledgements after {@link #stop()}
   * @param quietMillisMax how long to wait, after the end of the stream, while none comes
   * @return whether everything that was read is acknowledged
   * @throws IOException if the stream could not be read
   */
  boolean await(long stopMillisMax, long quietMillisMax) throws IOException, InterruptedException {
    CompletableFuture<Void> ended = producer.ended().toCompletionStage().toCompletableFuture();
    await(CompletableFuture.anyOf(reading, stopped, ended), Long.MAX_VALUE);
    if (reading.isCompletedExceptionally()) {
      readingFailed();
    }
    if (!ended.isDone()) {
      awaitAcks(stopMillisMax, quietMillisMax);
    }
    if (ended.isCompletedExceptionally()) {
      ended
          .handle((none, failure) -> failure)
          .thenAccept(failure -> show(CommandErrors.describe(failure)));
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
    return acked() == linesRead && status.pendingMessages() == 0;
  }

  private void awaitAcks(long stopMillisMax, long quietMillisMax) throws InterruptedException {
    CompletableFuture<Void> flushed = producer.flush().toCompletionStage().toCompletableFuture();
    long stoppedMillis = 0;
    long quietMillis = 0;
    long before = -1;
    while (!await(flushed, LOOK_MILLIS)) {
      long acked = acked();
      quietMillis = acked == before ? quietMillis + LOOK_MILLIS : 0;
      before = acked;
      stoppedMillis += stopped.isDone() ? LOOK_MILLIS : 0;
      if (stoppedMillis >= stopMillisMax || quietMillis >= quietMillisMax) {
        return;
      }
    }
  }

  /** Whether it is done, however; false if the time is over. */
  private static boolean await(CompletableFuture<?> future, long millis)
      throws InterruptedException {
    try {
      future.get(millis, TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      return false;
    } catch (ExecutionException e) {
      // Whoever asks what became of it sees that.
      return true;
    }
    return true;
  }

  private void readingFailed() throws IOException {
    try {
      reading.getNow(null);
    } catch (java.util.concurrent.CompletionException e) {
      if (e.getCause() instanceof IOException failure) {
        throw failure;
      }
      // The producer has ended; it says why.
    }
  }

  private void show(String text) {
    err.println("evenkeel produce: " + text);
  }
}
