package dev.evenkeel.cli;

import java.util.Arrays;

/**
 * Cuts bytes into lines, however the bytes come in pieces. A line ends with {@code \n} or {@code
 * \r\n}, which do not belong to it; a last line without an end counts too. It keeps no more than
 * one line of the largest size allowed.
 */
final class LineReader {
  /** What becomes of lines. They are numbered from 1. */
  interface Sink {
    void line(long number, byte[] line);

    /** The line is over the limit; its bytes are gone. */
    void tooLong(long number, long bytes);
  }

  private final int bytesMax;
  private final Sink sink;
  private byte[] held = new byte[8192];
  private int heldBytes;

  /** Bytes of the unfinished line, those included that were not held any more. */
  private long lineBytes;

  private boolean endsWithReturn;
  private long lines;

  /** Bytes of all pieces before the one at hand. */
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

  /** No more bytes come. */
  void end() {
    if (lineBytes > 0) {
      // A return that no newline follows is the line's own.
      endsWithReturn = false;
      lineEnd = bytesBefore;
      finish(held, 0, 0);
    }
  }

  /** Bytes up to the end of the last line, its end included; the sink may ask for it, too. */
  long lineEnd() {
    return lineEnd;
  }

  private void finish(byte[] bytes, int start, int end) {
    if (lineBytes == 0) {
      // The whole line lies in this piece: one copy, straight into the payload.
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
    // One byte more than allowed, for the return that may belong to the line's end.
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
