package dev.evenkeel.cli;

import dev.evenkeel.client.SourcePosition;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.util.TokenBucket;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * One run of {@code produce}: reads the lines of a stream on a thread of its own and passes them on
 * in pieces. A subclass sends the pieces; it blocks the reading thread while it has no room.
 */
abstract class ProduceRun {
  static final int PIECE_BYTES = 128 << 10;

  private static final int OVERHEAD_BYTES = 64;
  private static final long LOOK_MILLIS = 500;

  /** After a delay, so much of the rate may catch up. */
  private static final long SAVED_NANOS_MAX = TimeUnit.MILLISECONDS.toNanos(100);

  /**
   * How the lines of a run become messages.
   *
   * @param headers of each message
   * @param rate messages per second, above 0; null: as fast as it goes
   * @param deliverAfter from when a line is sent until it is due; zero: at once
   */
  record Settings(
      KeyExtractor keys, Map<String, byte[]> headers, Double rate, Duration deliverAfter) {
    private TokenBucket bucket() {
      return rate == null
          ? null
          : new TokenBucket((long) Math.ceil(TimeUnit.SECONDS.toNanos(1) / rate), SAVED_NANOS_MAX);
    }

    private int headerBytes() {
      return headers.entrySet().stream()
          .mapToInt(each -> each.getKey().length() + each.getValue().length)
          .sum();
    }
  }

  private final Settings settings;

  /** Null: as fast as it goes. */
  private final TokenBucket bucket;

  private long full;
  private final int headerBytes;
  private final PrintStream err;

  /** Where reading began; null: the stream cannot be read again. */
  private final SourcePosition start;

  /** Completes when no further line will count. */
  private final CompletableFuture<Void> read = new CompletableFuture<>();

  private final CompletableFuture<Void> stopped = new CompletableFuture<>();
  private volatile long linesRead;

  /** Whether the reading thread waits for the stream. Guarded by this. */
  private boolean waitsForInput;

  // Used by the reading thread only.
  private final LineReader lines;
  private List<Message> piece = new ArrayList<>();
  private int pieceBytes;
  private long firstLine;
  private long refused;
  private boolean news;

  /** Up to the end of the last line that is in a piece, or was refused. */
  private long bytesTaken;

  ProduceRun(Settings settings, SourcePosition start, PrintStream err) {
    this.settings = settings;
    bucket = settings.bucket();
    headerBytes = settings.headerBytes();
    this.start = start;
    this.err = err;
    linesRead = start == null ? 0 : start.lines();
    refused = start == null ? 0 : start.refused();
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
  }

  /**
   * Sends lines, in the order of the calls. Blocks while there is no room for them.
   *
   * @param bytes what they take in memory
   * @param firstLine number of the first of them
   * @param after the position behind them; null: the stream cannot be read again
   */
  abstract void send(List<Message> lines, int bytes, long firstLine, SourcePosition after)
      throws InterruptedException;

  /** Completes when all lines that were sent are answered. Called once, after the last of them. */
  abstract CompletableFuture<?> answered();

  /** Completes when no line can be acknowledged any more. */
  abstract CompletableFuture<?> ended();

  abstract long acked();

  /** Further text for the progress line; empty, or beginning with a comma. */
  String more() {
    return "";
  }

  /** Tells the user, after the end, if there was nothing to send. */
  void showEnd(String file) {
    if (start != null && start.complete() && linesRead == start.lines()) {
      show("nothing is left of " + file + "; --spool-restart sends it once more");
    }
  }

  /** Tells the user which messages are left; gives whether none are. */
  abstract boolean finish();

  /** Lines read; with the spool of a file, also those that earlier runs have read. */
  final long linesRead() {
    return linesRead;
  }

  Duration deliverAfter() {
    return settings.deliverAfter();
  }

  /**
   * Reads and sends until the end of the stream or {@link #stop()}. Blocks: call it on its own
   * thread.
   */
  void read(InputStream in) {
    byte[] buffer = new byte[PIECE_BYTES];
    full = System.nanoTime() + SAVED_NANOS_MAX;
    try {
      while (beginRead()) {
        int count = in.read(buffer);
        if (!endRead()) {
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
      read.complete(null);
    } catch (Stopped e) {
      read.complete(null);
    } catch (Throwable e) {
      // Whatever it is, such as a stack overflow in a pattern: who waits for the end must hear of
      // it.
      read.completeExceptionally(e);
    }
  }

  /** Thrown while a line is handled, to end the reading. */
  private static final class Stopped extends RuntimeException {
    private static final long serialVersionUID = 1L;
  }

  private synchronized boolean beginRead() {
    waitsForInput = !stopped.isDone();
    return waitsForInput;
  }

  /** Whether the bytes just read count: not if the run was stopped meanwhile. */
  private synchronized boolean endRead() {
    waitsForInput = false;
    return !stopped.isDone();
  }

  /** Ends the reading; lines that were read are still sent. */
  synchronized void stop() {
    stopped.complete(null);
    if (waitsForInput) {
      read.complete(null);
    }
  }

  private void take(byte[] line) {
    if (bucket != null) {
      waitForTurn();
    }
    if (piece.isEmpty()) {
      firstLine = linesRead + 1;
    }
    byte[] key = settings.keys().keyOf(line);
    piece.add(new Message(key, settings.headers(), System.currentTimeMillis(), line));
    pieceBytes += line.length + headerBytes + OVERHEAD_BYTES;
    bytesTaken = lines.lineEnd();
    linesRead = linesRead + 1;
    if (pieceBytes >= 2 * PIECE_BYTES) {
      submitInLine();
    }
  }

  private void refuse(long bytes) {
    refused++;
    news = true;
    bytesTaken = lines.lineEnd();
    linesRead = linesRead + 1;
    show(
        "line %s has %s bytes: at most %s are allowed"
            .formatted(linesRead, bytes, Limits.PAYLOAD_BYTES_MAX));
  }

  private void waitForTurn() {
    long now = System.nanoTime();
    long wait = bucket.due(full) - now;
    full = bucket.taken(full, now);
    if (wait < 500_000) {
      return;
    }
    submitInLine();
    try {
      if (settled(stopped, TimeUnit.NANOSECONDS.toMicros(wait), TimeUnit.MICROSECONDS)
          && start != null) {
        // The next run reads the rest of the file. A pipe cannot be read again, so its lines go on.
        throw new Stopped();
      }
    } catch (InterruptedException e) {
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
    boolean positionMoves =
        start != null && (news || complete && !(start.complete() && linesRead == start.lines()));
    if (piece.isEmpty() && !positionMoves) {
      return;
    }
    List<Message> full = piece;
    int bytes = pieceBytes;
    piece = new ArrayList<>();
    pieceBytes = 0;
    news = false;
    SourcePosition after =
        start == null
            ? null
            : new SourcePosition(start.bytes() + bytesTaken, linesRead, refused, complete);
    send(full, bytes, firstLine, after);
  }

  /**
   * Waits until reading has ended and everything is answered.
   *
   * @param stopMillisMax how long to wait after {@link #stop()}
   * @param quietMillisMax how long to wait, after the end of the stream, while no answer comes
   * @return whether everything that was read is acknowledged
   * @throws IOException if the stream could not be read
   */
  boolean await(long stopMillisMax, long quietMillisMax) throws IOException, InterruptedException {
    CompletableFuture<Void> late =
        stopped.thenRunAsync(
            () -> {}, CompletableFuture.delayedExecutor(stopMillisMax, TimeUnit.MILLISECONDS));
    settled(CompletableFuture.anyOf(read, ended(), late), Long.MAX_VALUE, TimeUnit.NANOSECONDS);
    Throwable failure =
        read.isCompletedExceptionally() ? read.handle((none, thrown) -> thrown).join() : null;
    if (failure instanceof IOException unreadable && start != null) {
      // What is in the spool stays there; nobody needs to wait for it.
      throw unreadable;
    }
    CompletableFuture<?> over = CompletableFuture.anyOf(answered(), ended(), late);
    long quietMillis = 0;
    long before = -1;
    while (quietMillis < quietMillisMax && !settled(over, LOOK_MILLIS, TimeUnit.MILLISECONDS)) {
      quietMillis = acked() == before ? quietMillis + LOOK_MILLIS : 0;
      before = acked();
    }
    boolean nothingLeft = finish();
    if (failure instanceof IOException unreadable) {
      throw unreadable;
    }
    if (failure != null && !(failure instanceof RefusedException)) {
      show("reading failed after line %s: %s".formatted(linesRead, failure));
      return false;
    }
    return nothingLeft && acked() == linesRead;
  }

  /** Waits for a future; gives whether it completed in time, with any result. */
  private static boolean settled(CompletableFuture<?> future, long time, TimeUnit unit)
      throws InterruptedException {
    try {
      future.get(time, unit);
      return true;
    } catch (TimeoutException e) {
      return false;
    } catch (ExecutionException e) {
      return true;
    }
  }

  final void show(String text) {
    err.println("evenkeel produce: " + text);
  }
}
