package dev.evenkeel.dispatcher.level.core;

import dev.evenkeel.bus.level.HandOut.Entry;
import dev.evenkeel.bus.level.MessageId;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.Outcome;
import dev.evenkeel.protocol.Shard;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Messages that were delivered and wait to be handed out, and messages that members have reported
 * before they were delivered.
 *
 * <p>Messages that were handed out before come first, by shard and offset, then the others, by
 * {@link ShardQueues turns of their shards}. The consumer that delivers them bounds their number.
 */
final class Deliveries {
  /** Most messages remembered that members have finished and the log has not delivered. */
  static final int ENDED_MAX = 1_000_000;

  private final Consumer<LevelAction> out;
  private final ShardQueues fresh = new ShardQueues();
  private final PriorityQueue<Item> again = new PriorityQueue<>(Item::byPlace);

  /** Members died that had them in hand: each is handed out alone. */
  private final PriorityQueue<Item> careful = new PriorityQueue<>(Item::byPlace);

  /** In hand of a member, without a delivery: not delivered yet, or withdrawn. */
  private final MessageMap<Item> awaited = new MessageMap<>(Integer.MAX_VALUE);

  private final MessageMap<Boolean> ended = new MessageMap<>(ENDED_MAX);
  private final CommittedOffsets committed;

  /** Shards of which nothing is handed out. */
  private final Set<Shard> paused = new HashSet<>();

  final Deaths deaths = new Deaths();

  /** After so many deaths of members that had it in hand a message becomes a dead letter. */
  private int deathsMax = Limits.CRASHES_MAX_DEFAULT;

  Deliveries(Consumer<LevelAction> out, CommittedOffsets committed) {
    this.out = out;
    this.committed = committed;
  }

  /**
   * @param max after how many deaths of members that had it in hand a message becomes a dead letter
   */
  void deathsMax(int max) {
    deathsMax = max;
  }

  /** How many wait to be handed out together with others. */
  int waiting() {
    return fresh.size() + again.size();
  }

  /** How many wait to be handed out alone. */
  int waitingAlone() {
    return careful.size();
  }

  /** The next message that is handed out alone. */
  @Nullable Item pollAlone() {
    return careful.poll();
  }

  /** The next message. */
  @Nullable Item poll() {
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
      item.deaths(Math.max(item.deaths(), deaths.of(entry.id())));
      item.deliver(entry, ticket);
      return;
    }
    item = new Item(entry.id(), deaths.of(entry.id()));
    item.deliver(entry, ticket);
    if (item.isCareful()) {
      careful.add(item);
    } else {
      fresh.add(item);
    }
  }

  /** Sorts the waiting messages again, now that members have reported what they have in hand. */
  void sortAgain() {
    List<Item> suspects = List.copyOf(careful);
    careful.clear();
    for (int i = waiting(); i > 0; i--) {
      Item item = Objects.requireNonNull(poll());
      add(item.delivered(), item.awaitedTicket());
    }
    suspects.forEach(item -> add(item.delivered(), item.awaitedTicket()));
  }

  /** A member has it. */
  Item held(MessageId id) {
    Item item = new Item(id, deaths.of(id));
    awaited.add(id, item);
    return item;
  }

  /**
   * A member has finished a message that was not delivered yet: its delivery is finished at once.
   */
  void endedEarlier(MessageId id) {
    if (id.offset() >= committed.below(id.shard())) {
      ended.add(id, true);
    }
  }

  void finished(Item item) {
    deaths.over(item.id);
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

  /** A member has died that had these in hand. */
  void died(List<Item> inHand) {
    Map<Shard, Long> epochs = new LinkedHashMap<>();
    for (Item item : inHand) {
      item.deaths(deaths.died(item.id));
      if (item.entry != null) {
        epochs.put(item.id.shard(), item.entry.epoch());
      }
    }
    epochs.forEach(
        (shard, epoch) -> {
          Outcome.Died died = deaths.toRecord(shard);
          if (died != null) {
            out.accept(new LevelAction.RecordDeaths(shard, epoch, died));
          }
        });
  }

  /**
   * Makes dead letters of waiting messages that too many members have died of, under former
   * dispatchers.
   */
  void dropDeadly() {
    careful.removeIf(
        item -> {
          boolean goes = item.deaths() >= deathsMax;
          if (goes) {
            deadly(item);
          }
          return goes;
        });
  }

  private void deadly(Item item) {
    deaths.over(item.id);
    out.accept(new LevelAction.Deadly(item.awaitedTicket(), item.deaths()));
  }

  /** The member that had it does not take part any more. */
  void handOutAgain(Item item) {
    if (item.ticket == null) {
      awaited.remove(item.id, item);
    } else if (item.deaths() >= deathsMax) {
      deadly(item);
    } else if (paused.contains(item.id.shard())) {
      out.accept(new LevelAction.GivenBack(item.ticket));
    } else {
      (item.isCareful() ? careful : again).add(item);
    }
  }

  /** While a shard is paused, nothing of it waits to be handed out. */
  void paused(Shard shard, boolean on) {
    if (on) {
      paused.add(shard);
      giveBackWaiting(shard);
    } else {
      paused.remove(shard);
    }
  }

  void giveBackWaiting(Shard shard) {
    fresh
        .remove(shard)
        .forEach(item -> out.accept(new LevelAction.GivenBack(item.awaitedTicket())));
    giveBackWaiting(again, shard);
    giveBackWaiting(careful, shard);
  }

  private void giveBackWaiting(Collection<Item> items, Shard shard) {
    items.removeIf(
        item -> {
          boolean goes = item.id.shard().equals(shard);
          if (goes) {
            out.accept(new LevelAction.GivenBack(item.awaitedTicket()));
          }
          return goes;
        });
  }

  /** Gives the delivery back. If the message is delivered again, the member has it still. */
  void giveBack(Item item) {
    if (item.ticket != null) {
      out.accept(new LevelAction.GivenBack(item.ticket));
      item.ticket = null;
      awaited.add(item.id, item);
    }
  }

  void giveBackAll(List<Item> items) {
    items.forEach(this::giveBack);
    again.addAll(careful);
    careful.clear();
    for (Item item = poll(); item != null; item = poll()) {
      out.accept(new LevelAction.GivenBack(item.awaitedTicket()));
    }
  }

  void committed(Shard shard, long offset) {
    awaited.dropBelow(shard, offset);
    deaths.committed(shard, offset);
    ended.dropBelow(shard, offset);
  }
}
