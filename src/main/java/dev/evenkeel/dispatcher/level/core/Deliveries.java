package dev.evenkeel.dispatcher.level.core;

import dev.evenkeel.bus.level.HandOut.Entry;
import dev.evenkeel.bus.level.MessageId;
import dev.evenkeel.protocol.Shard;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.List;
import java.util.PriorityQueue;
import java.util.function.Consumer;

/**
 * What was delivered and waits to be handed out, and what members told of before it was delivered.
 *
 * <p>What was handed out before waits first, by shard and offset, then the rest as it came. What
 * delivers it bounds how much there is.
 */
final class Deliveries {
  /** Most messages of which members said that they ended, while the log did not deliver them. */
  static final int ENDED_MAX = 1_000_000;

  private final Consumer<LevelAction> out;
  private final ArrayDeque<Item> fresh = new ArrayDeque<>();
  private final PriorityQueue<Item> again = new PriorityQueue<>(Item::byPlace);

  /** In hand, and nobody waits for the end: not delivered yet, or not any more. */
  private final MessageMap<Item> awaited = new MessageMap<>(Integer.MAX_VALUE);

  private final MessageMap<Boolean> ended = new MessageMap<>(ENDED_MAX);
  private final CommittedOffsets committed;

  Deliveries(Consumer<LevelAction> out, CommittedOffsets committed) {
    this.out = out;
    this.committed = committed;
  }

  /** How many wait to be handed out. */
  int waiting() {
    return fresh.size() + again.size();
  }

  /** The next message, or null. */
  Item poll() {
    Item item = again.poll();
    return item == null ? fresh.poll() : item;
  }

  /** For tests: what is remembered of messages that were not delivered. */
  int remembered() {
    return awaited.size() + ended.size();
  }

  /** Finishes it, gives it to who has it already, or lets it wait. */
  void add(Entry entry, Object ticket) {
    if (ended.remove(entry.id()) != null) {
      out.accept(new LevelAction.Finished(ticket));
      return;
    }
    Item item = awaited.remove(entry.id());
    if (item != null) {
      item.deliver(entry, ticket);
      return;
    }
    item = new Item(entry.id());
    item.deliver(entry, ticket);
    fresh.add(item);
  }

  /** Sorts what waits once more, now that members have told what they hold. */
  void sortAgain() {
    for (int i = waiting(); i > 0; i--) {
      Item item = poll();
      add(item.entry, item.ticket);
    }
  }

  /** A member has it. */
  Item held(MessageId id) {
    Item item = new Item(id);
    awaited.add(id, item);
    return item;
  }

  /** A member has finished it, and it is to be finished at once when it is delivered. */
  void endedEarlier(MessageId id) {
    if (id.offset() >= committed.below(id.shard())) {
      ended.add(id, true);
    }
  }

  void finished(Item item) {
    if (item.ticket != null) {
      out.accept(new LevelAction.Finished(item.ticket));
      return;
    }
    awaited.remove(item.id, item);
    endedEarlier(item.id);
  }

  void failed(Item item, String error) {
    if (item.ticket != null) {
      out.accept(new LevelAction.Failed(item.ticket, error));
      return;
    }
    awaited.remove(item.id, item);
  }

  /** The member that had it is out. */
  void handOutAgain(Item item) {
    if (item.ticket != null) {
      again.add(item);
    } else {
      awaited.remove(item.id, item);
    }
  }

  void giveBackWaiting(Shard shard) {
    giveBackWaiting(fresh, shard);
    giveBackWaiting(again, shard);
  }

  private void giveBackWaiting(Collection<Item> items, Shard shard) {
    items.removeIf(
        item -> {
          boolean goes = item.id.shard().equals(shard);
          if (goes) {
            out.accept(new LevelAction.GivenBack(item.ticket));
          }
          return goes;
        });
  }

  /** Nobody waits for its end any more. If it is delivered once more, the member has it. */
  void giveBack(Item item) {
    if (item.ticket != null) {
      out.accept(new LevelAction.GivenBack(item.ticket));
      item.ticket = null;
      awaited.add(item.id, item);
    }
  }

  void giveBackAll(List<Item> items) {
    items.forEach(this::giveBack);
    for (Item item = poll(); item != null; item = poll()) {
      out.accept(new LevelAction.GivenBack(item.ticket));
    }
  }

  void committed(Shard shard, long offset) {
    awaited.dropBelow(shard, offset);
    ended.dropBelow(shard, offset);
  }
}
