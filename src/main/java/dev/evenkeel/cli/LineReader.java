package dev.evenkeel.cli;

import java.util.Arrays;

/**
 * Splits a stream of bytes into lines. A line ends with {@code \n} or {@code \r\n}, which are no
 * part of it; the last line may have no end. The reader keeps at most one line of the maximum size.
 */
final class LineReader {
  /** Takes the lines, which are numbered from 1. */
  interface Sink {
    void line(long number, byte[] line);

    /** The line is longer than the limit; its bytes are dropped. */
    void tooLong(long number, long bytes);
  }

  private final int bytesMax;
  private final Sink sink;
  private byte[] held = new byte[8192];
  private int heldBytes;

  /** Bytes of the unfinished line, including dropped ones. */
  private long lineBytes;

  private boolean endsWithReturn;
  private long lines;

  /** Bytes of all pieces before the current one. */
  private long bytesBefore;

  private long lineEnd;

  LineReader(int bytesMax, Sink sink) {
    this.bytesMax = bytesMax;
    this.sink = sink;
  }

  void feed(byte[] bytes, int from, int length) {
    int end = from + length;
    int start = from;
    for (int i = from; i < end; i++) {
      if (bytes[i] == '\n') {
        lineEnd = bytesBefore + (i + 1 - from);
        finish(bytes, start, i);
        start = i + 1;
      }
    }
    bytesBefore += length;
    hold(bytes, start, end);
  }

  /** Ends the stream: a last line without an end counts too. */
  void end() {
    if (lineBytes > 0) {
      // A return without a newline behind it belongs to the line.
      endsWithReturn = false;
      lineEnd = bytesBefore;
      finish(held, 0, 0);
    }
  }

  /** Bytes up to and including the end of the last line. The sink may ask for it. */
  long lineEnd() {
    return lineEnd;
  }

  private void finish(byte[] bytes, int start, int end) {
    if (lineBytes == 0) {
      // The whole line is in this piece, so one copy suffices.
      lines++;
      int stop = end > start && bytes[end - 1] == '\r' ? end - 1 : end;
      if (stop - start > bytesMax) {
        sink.tooLong(lines, stop - start);
      } else {
        sink.line(lines, Arrays.copyOfRange(bytes, start, stop));
      }
      return;
    }
    hold(bytes, start, end);
    lines++;
    long size = endsWithReturn ? lineBytes - 1 : lineBytes;
    if (size > bytesMax) {
      sink.tooLong(lines, size);
    } else {
      sink.line(lines, Arrays.copyOf(held, (int) size));
    }
    heldBytes = 0;
    lineBytes = 0;
    endsWithReturn = false;
  }

  private void hold(byte[] bytes, int start, int end) {
    int length = end - start;
    if (length == 0) {
      return;
    }
    lineBytes += length;
    endsWithReturn = bytes[end - 1] == '\r';
    // Room for one more byte, because the last one may be a return that ends the line.
    int kept = Math.min(length, bytesMax + 1 - heldBytes);
    if (kept > 0) {
      if (held.length < heldBytes + kept) {
        held =
            Arrays.copyOf(
                held, Math.max(heldBytes + kept, Math.min(2 * held.length, bytesMax + 1)));
      }
      System.arraycopy(bytes, start, held, heldBytes, kept);
      heldBytes += kept;
    }
  }
}
