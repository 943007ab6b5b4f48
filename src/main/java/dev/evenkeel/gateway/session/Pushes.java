package dev.evenkeel.gateway.session;

import dev.evenkeel.bus.FrameCodec;
import dev.evenkeel.bus.frame.FrameKind;
import dev.evenkeel.protocol.Refusal;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.eventbus.Message;
import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The messages that one connection pushes to its client, and the answers to them. While the client
 * does not read, they wait.
 */
final class Pushes {
  /** A sender that still waits for the client's answer after this time does not get it. */
  private static final long ANSWER_MILLIS_MAX = 60_000;

  /**
   * @param asked null if nobody waits for an answer
   */
  private record WaitingPush(Buffer address, Buffer body, Message<?> asked) {
    int bytes() {
      return address.length() + body.length();
    }
  }

  private record Unanswered(Message<?> asked, long sentMillis) {}

  private final SessionConnection connection;
  private final SessionOptions limits;
  private final SessionMeters meters;
  private final ArrayDeque<WaitingPush> queue = new ArrayDeque<>(0);
  private long queuedBytes;

  /** In the order in which they were sent. */
  private final Map<Integer, Unanswered> unanswered = new LinkedHashMap<>();

  private int correlation;

  Pushes(SessionConnection connection, SessionPort port) {
    this.connection = connection;
    this.limits = port.limits();
    this.meters = port.meters();
  }

  /**
   * Pushes a message, now or when the client reads again.
   *
   * @param address as the beginning of a frame
   * @param asked the message if its sender wants an answer, else null
   * @return false if too much waits already: the connection must be closed
   */
  boolean push(Buffer address, Buffer body, Message<?> asked) {
    WaitingPush next = new WaitingPush(address, body, asked);
    if (next.bytes() > limits.get(SessionOptions.BODY_BYTES_MAX)) {
      drop(
          next,
          Refusal.TOO_LARGE,
          "a message of %s bytes: sessions take at most %s"
              .formatted(next.bytes(), limits.get(SessionOptions.BODY_BYTES_MAX)));
      return true;
    }
    if (!connection.held()) {
      write(next);
      return true;
    }
    if (queue.size() >= limits.get(SessionOptions.PUSHES_QUEUED_MAX)
        || queuedBytes + next.bytes() > limits.get(SessionOptions.PUSH_BYTES_QUEUED_MAX)) {
      drop(next, Refusal.OVERLOADED, "the client does not read");
      return false;
    }
    queue.add(next);
    queuedBytes += next.bytes();
    return true;
  }

  private void write(WaitingPush next) {
    int number = 0;
    if (next.asked() != null) {
      if (unanswered.size() >= limits.get(SessionOptions.PUSHES_QUEUED_MAX)) {
        drop(
            next,
            Refusal.OVERLOADED,
            "the client has not answered %s messages".formatted(unanswered.size()));
        return;
      }
      correlation = correlation == Integer.MAX_VALUE ? 1 : correlation + 1;
      number = correlation;
      unanswered.put(number, new Unanswered(next.asked(), connection.nowMillis()));
    }
    meters.pushes.increment();
    connection.send(FrameKind.PUSH, number, next.address(), next.body());
  }

  /** The client reads again. */
  void drained() {
    while (!connection.held() && !queue.isEmpty()) {
      WaitingPush next = queue.poll();
      queuedBytes -= next.bytes();
      write(next);
    }
  }

  /** The client has answered a message; an answer that nobody waits for is ignored. */
  void answered(int number, Buffer answer) {
    Unanswered of = unanswered.remove(number);
    if (of != null) {
      of.asked().reply(answer, FrameCodec.options(answer));
    }
  }

  /** Forgets messages that were not answered in time. */
  void expire(long nowMillis) {
    Iterator<Unanswered> oldest = unanswered.values().iterator();
    while (oldest.hasNext() && nowMillis - oldest.next().sentMillis() > ANSWER_MILLIS_MAX) {
      oldest.remove();
    }
  }

  /** The connection has ended. Senders of messages that the client has got wait in vain. */
  void end() {
    queue.forEach(each -> drop(each, Refusal.UNAVAILABLE, "the client's connection has ended"));
    queue.clear();
    unanswered.clear();
  }

  private void drop(WaitingPush each, Refusal refusal, String why) {
    meters.pushesDropped.increment();
    if (each.asked() != null) {
      each.asked().fail(1 + refusal.ordinal(), why);
    }
  }
}
