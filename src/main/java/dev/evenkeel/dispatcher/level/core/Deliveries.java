package dev.evenkeel.dispatcher.level.core;

import dev.evenkeel.bus.level.HandOut.Entry;
import dev.evenkeel.bus.level.MessageId;
import dev.evenkeel.protocol.Shard;
import java.util.List;
import java.util.function.Consumer;

/** What was delivered and waits to be dealt, and what members told of before it was delivered. */
final class Deliveries {
  /** Most messages of which members said that they ended, while the log did not deliver them. */
  static final int ENDED_MAX = 1_000_000;

  private final Consumer<LevelAction> out;
  private final WaitingLine line = new WaitingLine();

  /** In a hand, and nobody waits for the end: not delivered yet, or not any more. */
  private final MessageMap<Item> awaited = new MessageMap<>(Integer.MAX_VALUE);

  private final MessageMap<Boolean> ended = new MessageMap<>(ENDED_MAX);

  private final CommittedOffsets news;

  Deliveries(Consumer<LevelAction> out, CommittedOffsets news) {
    this.out = out;
    this.news = news;
  }

  WaitingLine line() {
    return line;
  }

  /** For tests: what is remembered of messages that were not delivered. */
  int remembered() {
    return awaited.size() + ended.size();
  }

  /** Finishes it, gives it to who has it already, or lets it wait. */
  void add(Entry dealt, Object ticket) {
    if (ended.remove(dealt.id()) != null) {
      out.accept(new LevelAction.Finished(ticket));
      return;
    }
    Item item = awaited.remove(dealt.id());
    if (item != null) {
      item.deliver(dealt, ticket);
      return;
    }
    item = new Item(dealt.id());
    item.deliver(dealt, ticket);
    line.add(item);
  }

  /** Sorts what waits once more, now that members have told what they hold. */
  void sortAgain() {
    for (int i = line.size(); i > 0; i--) {
      Item item = line.poll();
      add(item.dealt, item.ticket);
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
    if (id.offset() >= news.below(id.shard())) {
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
  void dealAgain(Item item) {
    if (item.ticket != null) {
      line.addAgain(item);
    } else {
      awaited.remove(item.id, item);
    }
  }

  void giveBackWaiting(Shard shard) {
    for (Item item : line.take(shard)) {
      out.accept(new LevelAction.GivenBack(item.ticket));
    }
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
    for (Item item = line.poll(); item != null; item = line.poll()) {
      out.accept(new LevelAction.GivenBack(item.ticket));
    }
  }

  void committed(Shard shard, long offset) {
    awaited.dropBelow(shard, offset);
    ended.dropBelow(shard, offset);
  }
}
