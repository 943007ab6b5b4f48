package dev.evenkeel.dispatcher.level.core;

import dev.evenkeel.bus.level.HandOut.Entry;
import dev.evenkeel.bus.level.MessageId;

/** A message on its way to a member and back. */
final class Item {
  final MessageId id;

  /**
   * The message as it is handed out; null if a member has it from an earlier dispatcher and the log
   * has not delivered it yet.
   */
  Entry entry;

  /** The ticket of its delivery; null if nobody waits for its end. */
  Object ticket;

  Item(MessageId id) {
    this.id = id;
  }

  void deliver(Entry as, Object by) {
    entry = as;
    ticket = by;
  }

  static int byPlace(Item a, Item b) {
    int byShard = a.id.shard().compareTo(b.id.shard());
    return byShard != 0 ? byShard : Long.compare(a.id.offset(), b.id.offset());
  }
}
