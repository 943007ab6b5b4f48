package dev.evenkeel.functional;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/** Feeds lines {@code user-K N} to a producer's standard input until it is told to stop. */
public final class Feeder implements AutoCloseable {
  private final AtomicBoolean stop = new AtomicBoolean();
  private final AtomicLong written = new AtomicLong();
  private final Thread thread;

  public Feeder(OutputStream stdin, int keys) {
    thread = new Thread(() -> feed(stdin, keys), "feeder");
    thread.setDaemon(true);
    thread.start();
  }

  private void feed(OutputStream stdin, int keys) {
    long[] next = new long[keys];
    try (OutputStream out = new BufferedOutputStream(stdin, 4096)) {
      for (int i = 0; !stop.get(); i++) {
        int key = (int) (Integer.toUnsignedLong(i * 0x9E3779B9) % keys);
        out.write(("user-" + key + " " + next[key]++ + "\n").getBytes(StandardCharsets.US_ASCII));
        written.incrementAndGet();
      }
    } catch (IOException e) {
      // The producer has ended: what it printed tells why.
      stop.set(true);
    }
  }

  /** Ends the input and says how many lines it had. */
  public long finish() {
    stop.set(true);
    try {
      thread.join();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
    return written.get();
  }

  @Override
  public void close() {
    stop.set(true);
  }
}
