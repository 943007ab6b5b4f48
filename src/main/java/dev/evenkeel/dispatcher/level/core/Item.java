package dev.evenkeel.dispatcher.level.core;

import dev.evenkeel.bus.level.HandOut.Entry;
import dev.evenkeel.bus.level.MessageId;
import dev.evenkeel.protocol.Crashes;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A message on its way to a member and back. */
final class Item {
  final MessageId id;

  /**
   * The message as it is handed out; null if a member has it from an earlier dispatcher and the log
   * has not delivered it yet.
   */
  @Nullable Entry entry;

  /** The ticket of its delivery; null if nobody waits for its end. */
  @Nullable Object ticket;

  /** The message as it was delivered. */
  private @Nullable Entry delivered;

  /** How many members died that had it in hand. */
  private int deaths;

  Item(MessageId id, int deaths) {
    this.id = id;
    this.deaths = deaths;
  }

  /** So many members have died that had it in hand. */
  void deaths(int count) {
    deaths = count;
    show();
  }

  int deaths() {
    return deaths;
  }

  /** Whether a member that handles it gets nothing else, so that it is known what it dies of. */
  boolean isCareful() {
    return deaths >= Crashes.CAREFUL_FROM;
  }

  void deliver(Entry as, Object by) {
    delivered = as;
    ticket = by;
    show();
  }

  /** The message as it was delivered, for somebody who waits for its end. */
  Entry delivered() {
    return Objects.requireNonNull(delivered);
  }

  /** The ticket of a delivery for which somebody waits. */
  Object awaitedTicket() {
    return Objects.requireNonNull(ticket);
  }

  /** Deaths are attempts, too. */
  private void show() {
    entry =
        delivered == null || !isCareful()
            ? delivered
            : new Entry(id, delivered.epoch(), delivered.attempt() + deaths, delivered.message());
  }

  static int byPlace(Item a, Item b) {
    int byShard = a.id.shard().compareTo(b.id.shard());
    return byShard != 0 ? byShard : Long.compare(a.id.offset(), b.id.offset());
  }
}
