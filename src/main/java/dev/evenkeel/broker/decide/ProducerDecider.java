package dev.evenkeel.broker.decide;

import static dev.evenkeel.protocol.Refusal.INVALID;
import static dev.evenkeel.protocol.Refusal.OVERLOADED;
import static dev.evenkeel.protocol.Refusal.PRODUCER_FENCED;
import static dev.evenkeel.protocol.Refusal.UNKNOWN_PRODUCER;

import dev.evenkeel.broker.state.Change;
import dev.evenkeel.broker.state.DataTables;
import dev.evenkeel.broker.state.LeaseKey;
import dev.evenkeel.broker.state.ProducerRecord;
import dev.evenkeel.broker.state.RecentSequences;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.Names;
import dev.evenkeel.protocol.ProducerIds;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.FeatureLevel;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * Opens epochs of producers, and forgets producers. Opening an epoch again answers as the first
 * time.
 *
 * <p>A publisher is the producer under which the handlers of a group on an input shard publish; see
 * ADR 15. Opening an epoch of one:
 *
 * <pre>
 * of this id                 of the group and shard      comes to
 * known, of a lower epoch    -                           its epoch is this one
 * known, of this epoch       -                           nothing: it is a repeat
 * known, of a higher epoch   -                           PRODUCER_FENCED
 * unknown, not fresh         -                           UNKNOWN_PRODUCER
 * unknown, fresh             none, or no higher epoch    it is the one, and the former is forgotten
 * unknown, fresh             a higher epoch              PRODUCER_FENCED
 * </pre>
 */
public record ProducerDecider(DataTables tables, long nowMillis, int level) {
  public Decision<Change> open(DataCommand.OpenProducer command) {
    long id = command.producerId();
    int epoch = command.epoch();
    if (id < 1 || epoch < 0) {
      return Decision.refused(
          INVALID, "producer " + id + " epoch " + epoch + ": ids count from 1, epochs from 0");
    }
    ProducerRecord known = tables.producer(id);
    ProducerRecord next;
    if (known != null && known.publisherOf() != null) {
      return Decision.refused(INVALID, "producer " + id + " is that of a handler");
    }
    if (known == null) {
      int owner = ProducerRecord.owner(id, command.ownerTag());
      ProducerShare share = ProducerShare.of(tables, owner);
      if (!share.fits(level)) {
        return Decision.refused(OVERLOADED, share.words(level));
      }
      next = ProducerRecord.fresh(id, epoch, command.ownerTag(), nowMillis);
    } else if (known.epoch() > epoch) {
      return Decision.refused(
          PRODUCER_FENCED,
          "producer " + id + " has opened epoch " + known.epoch() + ", later than " + epoch);
    } else if (known.epoch() == epoch) {
      next = known.used(nowMillis);
    } else {
      next = known.inEpoch(epoch, nowMillis);
    }
    return new Decision<>(
        List.of(new Change.PutProducer(next)), new Reply.OfSequences(lastOfFormer(next)));
  }

  private Map<Shard, Long> lastOfFormer(ProducerRecord producer) {
    Map<Shard, Long> last = new LinkedHashMap<>();
    tables
        .ringsOf(producer.id())
        .forEach(
            (key, ring) -> {
              long sequence = lastOfFormer(producer, ring);
              if (sequence != RecentSequences.NONE) {
                last.put(key.shard(), sequence);
              }
            });
    return last;
  }

  private static long lastOfFormer(ProducerRecord producer, RecentSequences ring) {
    if (ring.epoch() == producer.epoch()) {
      return ring.formerLast();
    }
    return ring.epoch() == producer.formerEpoch() ? ring.next() - 1 : RecentSequences.NONE;
  }

  public Decision<Change> open(DataCommand.OpenPublisher command) {
    Names.check("group", command.group());
    if (command.producerId() < 1 || command.epoch() < 1) {
      return Decision.refused(
          INVALID,
          "producer %s epoch %s: ids and epochs of leases count from 1",
          command.producerId(),
          command.epoch());
    }
    LeaseKey key = new LeaseKey(command.input(), command.group());
    ProducerRecord known = tables.producer(command.producerId());
    if (known != null && !key.equals(known.publisherOf())) {
      return Decision.refused(INVALID, "producer " + known.id() + " is not that of " + name(key));
    }
    ProducerRecord present = tables.publisher(key);
    if (present != null && present.epoch() > command.epoch()) {
      return Decision.refused(
          PRODUCER_FENCED,
          name(key) + " publishes at epoch " + present.epoch() + ", later than " + command.epoch());
    }
    if (known != null) {
      return put(
          List.of(),
          known.epoch() == command.epoch()
              ? known.used(nowMillis)
              : known.inEpoch(command.epoch(), nowMillis));
    }
    if (!command.fresh()) {
      return Decision.refused(
          UNKNOWN_PRODUCER,
          "producer " + command.producerId() + " of " + name(key) + " is not known here");
    }
    if (present == null && !hasRoom(command)) {
      return Decision.refused(
          OVERLOADED,
          "handlers of "
              + tables.publishers().size()
              + " shards publish here, no more are allowed: forget groups or topics");
    }
    List<Change> changes = present == null ? List.of() : forget(tables, present);
    return put(
        changes, ProducerRecord.publisher(command.producerId(), command.epoch(), key, nowMillis));
  }

  /**
   * Whether there is room for another publisher. From feature level 10 on, what has one tag leaves
   * some for others: the handlers of a group, and the spools of a user.
   */
  private boolean hasRoom(DataCommand.OpenPublisher command) {
    int left = Limits.PUBLISHERS_MAX - tables.publishers().size();
    if (level < FeatureLevel.TABLE_OWNERS
        || command.group().equals(DataCommand.OpenPublisher.DELAYED)) {
      return left > 0;
    }
    int tag = ProducerIds.tag(command.producerId());
    return tag == 0
        ? left > Limits.PUBLISHERS_MAX / 10
        : tables.publishersOf(tag) < ProducerShare.WEIGHT * left;
  }

  private Decision<Change> put(List<Change> before, ProducerRecord next) {
    List<Change> changes = new ArrayList<>(before);
    changes.add(new Change.PutProducer(next));
    Map<Shard, Long> last = last(next);
    return new Decision<>(changes, last.isEmpty() ? Reply.DONE : new Reply.OfSequences(last));
  }

  /**
   * What a publisher must not publish again once other shards have taken the place of these. That
   * may be so already, and the shards be gone, or come as long as the epoch lasts.
   */
  private Map<Shard, Long> last(ProducerRecord publisher) {
    Map<Shard, Long> last = new LinkedHashMap<>();
    tables.ringsOf(publisher.id()).forEach((key, ring) -> last.put(key.shard(), ring.next() - 1));
    return last;
  }

  /** Removes the producers under which handlers of these groups and shards publish. */
  List<Change> forget(List<LeaseKey> keys) {
    List<Change> changes = new ArrayList<>();
    keys.forEach(key -> changes.addAll(forget(tables, publisher(tables, key))));
    return changes;
  }

  /** Removes the producers under which handlers of the topic's messages publish. */
  List<Change> forgetInputs(int topicId) {
    List<Change> changes = new ArrayList<>();
    for (LeaseKey key : tables.publishers()) {
      if (key.shard().topicId() == topicId) {
        changes.addAll(forget(tables, publisher(tables, key)));
      }
    }
    return changes;
  }

  /** The producer under which the handlers of a group on a shard publish. There is one. */
  static ProducerRecord publisher(DataTables tables, LeaseKey of) {
    return Objects.requireNonNull(tables.publisher(of));
  }

  /** Removes a producer with everything that is remembered of it. */
  static List<Change> forget(DataTables tables, ProducerRecord producer) {
    List<Change> changes = new ArrayList<>();
    tables.ringsOf(producer.id()).keySet().forEach(k -> changes.add(Change.removeRing(k)));
    changes.add(Change.removeProducer(producer.id()));
    return changes;
  }

  private static String name(LeaseKey key) {
    return key.group() + ":" + key.shard();
  }
}
