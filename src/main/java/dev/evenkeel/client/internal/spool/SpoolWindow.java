package dev.evenkeel.client.internal.spool;

import dev.evenkeel.client.internal.spool.log.SpoolLog;
import dev.evenkeel.client.internal.spool.log.SpoolRecord;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The frames of a spool that are in memory on their way to the log: bounded in bytes, and of one
 * run only. The disk's thread puts frames in, and the producer's context takes them out.
 */
final class SpoolWindow {
  private final long bytesMax;
  private final AtomicLong held = new AtomicLong();
  private volatile int run;
  private volatile long spoolBytes;
  private volatile long spooledMessages;

  /** Whether frames on the disk must be loaded before later ones. Of the disk's thread. */
  private boolean backlog;

  /**
   * @param run the one that is being sent
   */
  SpoolWindow(long bytesMax, int run, SpoolLog log) {
    this.bytesMax = bytesMax;
    this.run = run;
    backlog = log.hasMore();
    sized(log);
  }

  /** On the disk's thread: whether a frame that was just written need not be loaded. */
  boolean takeDirectly(SpoolLog log, SpoolRecord.Frame frame) {
    sized(log);
    if (backlog || frame.run() != run || held.get() >= bytesMax) {
      backlog = true;
      return false;
    }
    held.addAndGet(frame.bytes());
    log.passOver();
    return true;
  }

  /** On the disk's thread. */
  SpoolLog.Loaded load(SpoolLog log, int ofRun, long loadBytesMax) throws java.io.IOException {
    SpoolLog.Loaded loaded = log.load(ofRun, Math.min(loadBytesMax, bytesMax / 2));
    loaded.frames().forEach(frame -> held.addAndGet(frame.bytes()));
    backlog = log.hasMore();
    return loaded;
  }

  /** On the disk's thread: notes how large the spool is. */
  void sized(SpoolLog log) {
    spoolBytes = log.bytes();
    spooledMessages = log.state().messages();
  }

  void release(long bytes) {
    held.addAndGet(-bytes);
  }

  boolean isHalfFull() {
    return held.get() > bytesMax / 2;
  }

  int run() {
    return run;
  }

  void run(int next) {
    run = next;
  }

  /** On the disk. */
  long spoolBytes() {
    return spoolBytes;
  }

  /** Since the spool began. */
  long spooledMessages() {
    return spooledMessages;
  }
}
