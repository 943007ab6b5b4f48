package dev.evenkeel.client.internal.produce.core;

import dev.evenkeel.client.Producer;
import dev.evenkeel.protocol.Message;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/**
 * The room of a producer for messages: counts messages and bytes in it, and keeps the sends that
 * wait for room in their order. All of these are bounded.
 */
public final class SendBuffer<T> {
  /** Sends that may wait for room at once. */
  public static final int WAITING_SENDS_MAX = 10_000;

  /** Memory of a message beyond its own bytes: its future and its place in lists. */
  public static final int MESSAGE_COST_BYTES = 64;

  public static final int DEFAULT_MESSAGES_MAX = 131_072;

  /** {@link Producer#write} may go so many times over the limits of {@link Producer#send}. */
  private static final int HARD_LIMIT_FACTOR = 2;

  /** A send that waits for room, or a flush that waits for its turn behind earlier sends. */
  public record Waiter<T>(
      @Nullable Message message,
      long dueMillis,
      @Nullable T token,
      int bytes,
      @Nullable Runnable flush) {}

  private final long bytesMax;
  private final Deque<Waiter<T>> waiters = new ArrayDeque<>();
  private int messagesMax = DEFAULT_MESSAGES_MAX;
  private long bytes;
  private int messages;
  private int waitingSends;
  private boolean drainWanted;

  public SendBuffer(long bytesMax) {
    this.bytesMax = bytesMax;
  }

  /**
   * @throws IllegalArgumentException if {@code max} is less than 1
   */
  public void messagesMax(int max) {
    if (max < 1) {
      throw new IllegalArgumentException("a write queue of " + max + ": use 1 or more");
    }
    messagesMax = max;
  }

  public boolean isFull() {
    return bytes >= bytesMax || messages >= messagesMax;
  }

  public boolean isOverfull() {
    return bytes >= HARD_LIMIT_FACTOR * bytesMax
        || messages >= (long) HARD_LIMIT_FACTOR * messagesMax;
  }

  /** The application knows that it is full, and wants to know when it has room again. */
  public void wantDrain() {
    drainWanted = true;
  }

  /** Whether it is half empty again, said once after each time it was full. */
  public boolean drained() {
    if (drainWanted && waiters.isEmpty() && bytes <= bytesMax / 2 && messages <= messagesMax / 2) {
      drainWanted = false;
      return true;
    }
    return false;
  }

  public void take(int messageBytes) {
    bytes += messageBytes;
    messages++;
    if (isFull()) {
      drainWanted = true;
    }
  }

  public void release(int batchBytes, int batchMessages) {
    bytes -= batchBytes;
    messages -= batchMessages;
  }

  /** False if too many wait already. */
  public boolean await(Message message, long dueMillis, T token, int messageBytes) {
    if (waitingSends == WAITING_SENDS_MAX) {
      return false;
    }
    waitingSends++;
    waiters.add(new Waiter<>(message, dueMillis, token, messageBytes, null));
    return true;
  }

  public void awaitTurn(Runnable flush) {
    waiters.add(new Waiter<>(null, DueTime.NOW, null, 0, flush));
  }

  public boolean hasWaiters() {
    return !waiters.isEmpty();
  }

  /** The one that has waited for the longest. */
  public @Nullable Waiter<T> first() {
    return waiters.peekFirst();
  }

  /** The next one whose turn it is. */
  public @Nullable Waiter<T> admit() {
    Waiter<T> next = waiters.peekFirst();
    if (next == null || next.flush() == null && isFull()) {
      return null;
    }
    return evict();
  }

  /** The next one, room or not; null if nobody waits. */
  public @Nullable Waiter<T> evict() {
    Waiter<T> next = waiters.pollFirst();
    if (next != null && next.flush() == null) {
      waitingSends--;
    }
    return next;
  }

  public int waitingSends() {
    return waitingSends;
  }

  /** Messages taken or waiting, not yet finished. */
  public long pending() {
    return (long) messages + waitingSends;
  }
}
