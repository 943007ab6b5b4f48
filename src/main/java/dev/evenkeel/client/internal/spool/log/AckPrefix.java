package dev.evenkeel.client.internal.spool.log;

import java.util.TreeMap;

/**
 * The last frame up to which everything is acknowledged. Acknowledgements of batches may come in
 * any order.
 */
public final class AckPrefix {
  private static final class Open {
    final int messages;
    final long spooledMillis;
    int batches;

    Open(SpoolRecord.Frame frame) {
      messages = frame.messages();
      spooledMillis = frame.spooledMillis();
      batches = frame.items().size();
    }
  }

  /** By number. */
  private final TreeMap<Long, Open> open = new TreeMap<>();

  private long frame;
  private long messages;

  /**
   * @param frame the last frame that is acknowledged already
   * @param messages of all up to it
   */
  public AckPrefix(long frame, long messages) {
    this.frame = frame;
    this.messages = messages;
  }

  /** The next frame is being sent. */
  public void add(SpoolRecord.Frame next) {
    open.put(next.number(), new Open(next));
    advance();
  }

  /** A batch of a frame that was added is in the log. */
  public void acked(long frameNumber) {
    open.get(frameNumber).batches--;
    advance();
  }

  private void advance() {
    while (!open.isEmpty() && open.firstEntry().getValue().batches == 0) {
      frame = open.firstKey();
      messages += open.pollFirstEntry().getValue().messages;
    }
  }

  /** The last frame up to which all are acknowledged. */
  public long frame() {
    return frame;
  }

  /** Of all frames up to it, since the spool began. */
  public long messages() {
    return messages;
  }

  /**
   * When the oldest that is on its way was spooled, milliseconds since 1970; -1 if there is none.
   */
  public long oldestMillis() {
    return open.isEmpty() ? -1 : open.firstEntry().getValue().spooledMillis;
  }
}
