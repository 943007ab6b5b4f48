package dev.evenkeel.gateway;

import dev.evenkeel.client.Acks;
import dev.evenkeel.client.Producer;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.Future;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiFunction;

/**
 * Keeps one producer per topic and kind of acknowledgement. It closes a producer that was idle for
 * {@link #IDLE_MILLIS}, and refuses with OVERLOADED if more than {@link #PRODUCERS_MAX} are in use
 * at once. For use on one context.
 */
final class ProducerPool {
  static final int PRODUCERS_MAX = 64;
  static final long IDLE_MILLIS = 60_000;

  private static final Set<Refusal> HARMLESS =
      EnumSet.of(
          Refusal.TOO_LARGE,
          Refusal.OVERLOADED,
          Refusal.INVALID,
          Refusal.INDETERMINATE,
          Refusal.REPLICAS_MISSING,
          Refusal.DISK_FULL);

  private final BiFunction<String, Acks, Future<Producer>> opener;
  private final Map<Use, Entry> entries = new LinkedHashMap<>();

  ProducerPool(BiFunction<String, Acks, Future<Producer>> opener) {
    this.opener = opener;
  }

  private record Use(String topic, Acks acks) {}

  private static final class Entry {
    Future<Producer> producer;
    long lastUsedMillis;
    int sending;
  }

  /**
   * Sends a message. If a producer that knew the topic does not know it any more, another one looks
   * for it before the message is refused: the topic may have been deleted and made again.
   *
   * @param due when to deliver the message; null: at once
   */
  Future<Producer.Position> send(
      String topic, Acks acks, Message message, Instant due, long nowMillis) {
    Use use = new Use(topic, acks);
    Entry used = entry(use);
    if (used == null) {
      return Future.failedFuture(
          Refusal.OVERLOADED.error(
              PRODUCERS_MAX + " topics are being written to through this gateway: try later"));
    }
    return send(use, used, message, due, nowMillis)
        .recover(
            failure -> {
              // It has seen the topic go and not come back, or began with a view from before.
              boolean knewTopic = used.producer.succeeded();
              boolean unknown =
                  failure instanceof RefusedException refused
                      && refused.refusal() == Refusal.UNKNOWN_TOPIC;
              Entry other = knewTopic && unknown ? entry(use) : null;
              return other == null
                  ? Future.failedFuture(failure)
                  : send(use, other, message, due, nowMillis);
            });
  }

  /** The open producer, or another one; null: there are too many. */
  private Entry entry(Use use) {
    Entry entry = entries.get(use);
    if (entry == null && (entries.size() < PRODUCERS_MAX || closeOneIdle())) {
      entry = new Entry();
      entry.producer = opener.apply(use.topic(), use.acks());
      entries.put(use, entry);
    }
    return entry;
  }

  private Future<Producer.Position> send(
      Use use, Entry used, Message message, Instant due, long nowMillis) {
    used.lastUsedMillis = nowMillis;
    used.sending++;
    return used.producer
        .compose(producer -> due == null ? producer.send(message) : producer.sendAt(message, due))
        .onComplete(
            sent -> {
              used.sending--;
              if (sent.failed() && !harmless(sent.cause())) {
                drop(use, used);
              }
            });
  }

  /**
   * Whether the producer can go on after this failure. After any other, the next message opens
   * another producer.
   */
  private static boolean harmless(Throwable failure) {
    return failure instanceof RefusedException refused && HARMLESS.contains(refused.refusal());
  }

  void closeIdle(long nowMillis) {
    List<Use> idle = new ArrayList<>();
    entries.forEach(
        (use, entry) -> {
          if (entry.sending == 0 && nowMillis - entry.lastUsedMillis >= IDLE_MILLIS) {
            idle.add(use);
          }
        });
    idle.forEach(use -> drop(use, entries.get(use)));
  }

  Future<Void> close() {
    List<Future<Void>> closing = new ArrayList<>();
    entries
        .values()
        .forEach(entry -> closing.add(entry.producer.compose(Producer::close).otherwiseEmpty()));
    entries.clear();
    return Future.join(closing).mapEmpty();
  }

  /** From another thread, the number may be a moment old. */
  int size() {
    return entries.size();
  }

  private boolean closeOneIdle() {
    for (Map.Entry<Use, Entry> each : entries.entrySet()) {
      if (each.getValue().sending == 0) {
        drop(each.getKey(), each.getValue());
        return true;
      }
    }
    return false;
  }

  private void drop(Use use, Entry entry) {
    if (entries.remove(use, entry)) {
      entry.producer.onSuccess(Producer::close);
    }
  }
}
