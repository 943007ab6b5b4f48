package dev.evenkeel.client.internal.spool.log;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;

/**
 * Up to which frame everything is acknowledged, whatever the order in which acknowledgements of
 * batches come.
 */
public final class AckPrefix {
  private static final class Open {
    final long number;
    final int messages;
    final long spooledMillis;
    int batches;

    Open(SpoolRecord.Frame frame) {
      number = frame.number();
      messages = frame.messages();
      spooledMillis = frame.spooledMillis();
      batches = frame.items().size();
    }
  }

  private final Deque<Open> order = new ArrayDeque<>();
  private final Map<Long, Open> byNumber = new HashMap<>();
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
    Open open = new Open(next);
    order.add(open);
    byNumber.put(next.number(), open);
    advance();
  }

  /** A batch of a frame that was added is in the log. */
  public void acked(long frameNumber) {
    byNumber.get(frameNumber).batches--;
    advance();
  }

  private void advance() {
    while (!order.isEmpty() && order.peekFirst().batches == 0) {
      Open done = order.removeFirst();
      byNumber.remove(done.number);
      frame = done.number;
      messages += done.messages;
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
    return order.isEmpty() ? -1 : order.peekFirst().spooledMillis;
  }
}
