package dev.evenkeel.dispatcher;

import dev.evenkeel.bus.DedupTally;
import dev.evenkeel.bus.Figures;
import dev.evenkeel.bus.GroupFigure;
import dev.evenkeel.bus.GroupFigure.Section;
import dev.evenkeel.bus.ShardStatus;
import dev.evenkeel.dispatcher.level.core.LevelFigures;
import dev.evenkeel.protocol.GroupInfo;
import dev.evenkeel.protocol.GroupPolicy;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.Skipped;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * What is known of a group at one moment, and its JSON in the outside contract. There an unknown
 * figure is null, never 0.
 *
 * @param info null: unknown
 * @param paused whether it is paused as a whole
 * @param leader mode singleton: the member that leads
 * @param term mode singleton: of the leader; 0: nobody has led yet
 * @param shards of all topics that it reads
 * @param repeats how much its messages repeat themselves; null: unknown
 * @param hot keys that its members declined most often
 * @param level mode level: as its level dispatcher sees it; null: unknown
 */
record GroupReport(
    String group,
    GroupInfo info,
    boolean paused,
    String status,
    String leader,
    long term,
    List<JsonObject> members,
    List<ShardReport> shards,
    Figures figures,
    DedupTally.Repeats repeats,
    List<DedupTally.Hot> hot,
    LevelFigures level) {

  /**
   * A shard that a group reads.
   *
   * @param lease null: nobody has ever owned it
   * @param owned by a member that is alive, or not heard of yet
   * @param leaving its owner has said that it leaves, and releases the shard without being asked
   * @param nextOwner who gets it next; null: nobody, or unknown
   * @param position what the owner has finished, up to a second ago, or committed since; null:
   *     unknown
   * @param status null: its leader has not answered
   * @param sealed it takes no more messages
   * @param paused the group gets no messages from it
   * @param waitsFor numbers of the sealed shards that the group consumes first
   */
  record ShardReport(
      String topic,
      Shard shard,
      Lease lease,
      boolean owned,
      boolean leaving,
      String nextOwner,
      Long position,
      ShardStatus status,
      boolean sealed,
      boolean paused,
      List<Integer> waitsFor) {
    boolean draining() {
      return owned && (leaving || lease.drain() != null);
    }

    /** Null if the owner does not have to release it by any time. */
    private Long drainDeadline() {
      return owned && lease.drain() != null ? (Long) lease.drain().deadlineMillis() : null;
    }

    /** Whether its messages are handled one by one, because owners died without progress. */
    boolean careful() {
      return lease != null && lease.crashes() != null && lease.crashes().careful();
    }

    /** What limits of the topic dropped before the group had consumed it; null: nothing. */
    Skipped skipped() {
      return lease == null ? null : lease.skipped();
    }

    /** Next offset to be consumed, or null if unknown. */
    Long committed() {
      return lease == null || status == null ? null : (Long) lease.committed();
    }

    Long end() {
      return status == null ? null : (Long) status.endOffset();
    }

    /** Messages that the group has not finished, as far as that is known; null if unknown. */
    Long lag() {
      if (committed() == null) {
        return null;
      }
      long next = position == null ? committed() : position;
      return Math.max(0, end() - next);
    }

    private JsonObject json() {
      JsonObject json = plain();
      if (sealed) {
        json.put("sealed", true).put("finished", lease != null && lease.finished());
      }
      if (careful()) {
        json.put(
            "crashes",
            new JsonObject()
                .put("offset", lease.crashes().offset())
                .put("count", lease.crashes().count()));
      }
      if (skipped() != null) {
        json.put(
            "skipped",
            new JsonObject()
                .put("first", skipped().first())
                .put("last", skipped().last())
                .put("total", skipped().total()));
      }
      return waitsFor.isEmpty() ? json : json.put("waitsFor", new JsonArray(waitsFor));
    }

    private JsonObject plain() {
      return new JsonObject()
          .put("topic", topic)
          .put("shard", shard.shard())
          .put("owner", owned ? lease.owner() : null)
          .put("nextOwner", nextOwner)
          .put("drainDeadline", drainDeadline())
          .put("epoch", lease == null ? null : (Long) lease.epoch())
          .put("state", draining() ? "DRAINING" : owned ? "OWNED" : "FREE")
          .put("paused", paused)
          .put("position", position)
          .put("committed", committed())
          .put("end", end())
          .put("lag", lag());
    }
  }

  /** Null as long as it is unknown for one shard. */
  private Long lag() {
    return shards.stream().anyMatch(shard -> shard.lag() == null)
        ? null
        : (Long) shards.stream().mapToLong(ShardReport::lag).sum();
  }

  private long shardsPaused() {
    return shards.stream().filter(ShardReport::paused).count();
  }

  private String mode() {
    return info == null ? null : info.mode();
  }

  private long topicsLeftOut() {
    Number figure = figures.get(GroupFigure.TOPICS_LEFT_OUT);
    return figure == null ? 0 : figure.longValue();
  }

  /** A line of the list of all groups. */
  JsonObject summary() {
    JsonObject json = new JsonObject();
    if (topicsLeftOut() > 0) {
      json.put("topicsLeftOut", topicsLeftOut());
    }
    return json.put("group", group)
        .put("mode", mode())
        .put("status", status)
        .put("paused", paused)
        .put("shardsPaused", shardsPaused())
        .put("members", members.size())
        .put("shards", shards.size())
        .put("lag", lag());
  }

  JsonObject json() {
    JsonObject singleton =
        new JsonObject()
            .put("leader", term > 0 ? leader : null)
            .put("term", term > 0 ? (Long) term : null);
    JsonArray shardList = new JsonArray();
    shards.forEach(shard -> shardList.add(shard.json()));
    // Only mode sharded has one.
    boolean sharded = GroupPolicy.MODE_SHARDED.equals(mode());
    JsonObject failures = figures.write(Section.FAILURES, new JsonObject());
    JsonObject json = new JsonObject();
    if (topicsLeftOut() > 0) {
      json.put("topicsLeftOut", topicsLeftOut());
    }
    return json.put("group", group)
        .put("mode", mode())
        .put("assignor", sharded ? info.assignor() : null)
        .put("status", status)
        .put("paused", paused)
        .put("members", new JsonArray(List.copyOf(members)))
        .put("shards", shardList)
        .put("singleton", singleton)
        .put("level", levelJson())
        .put("dedup", dedupJson())
        .put("rates", figures.json(Section.RATES))
        .put("failures", failures.isEmpty() ? null : failures);
  }

  private JsonObject levelJson() {
    // The keys are there in other modes, too.
    JsonObject json = new JsonObject();
    Stream.of("range", "strategy", "gap", "round", "holder", "heldMs", "setAside", "bars")
        .forEach(json::putNull);
    if (info != null && info.policy().isLevel()) {
      json.put("strategy", info.policy().strategy());
    }
    if (level != null) {
      JsonArray bars = new JsonArray();
      level.members().stream()
          .filter(LevelFigures.Bar::level)
          .sorted(Comparator.comparing(LevelFigures.Bar::name))
          .forEach(
              bar ->
                  bars.add(
                      new JsonObject()
                          .put("member", bar.name())
                          .put("finished", bar.position())
                          .put("inHand", bar.inHand())));
      json.put("holder", level.holder())
          .put("heldMs", level.holder() == null ? null : (Long) level.heldMillis())
          .put("bars", bars);
    }
    return figures.write(Section.LEVEL, json);
  }

  private JsonObject dedupJson() {
    JsonObject repetition =
        new JsonObject()
            .put("level", repeats == null ? null : repeats.level())
            .put("smallestDistance", repeats == null ? null : repeats.distance())
            .put("declinedShare", repeats == null ? null : repeats.declinedShare())
            .put("observedMessages", repeats == null ? null : repeats.observedMessages());
    JsonArray keys = new JsonArray();
    hot.forEach(
        each -> keys.add(new JsonObject().put("key", each.key()).put("declined", each.declined())));
    return new JsonObject()
        .put("mode", info == null ? null : info.policy().dedup())
        .mergeIn(figures.json(Section.DEDUP))
        .put("savedShare", savedShare())
        .put("repetition", repetition)
        .put("hot", keys);
  }

  /** The part of the group's messages that needed no work, 0 to 1; null: there were none. */
  private Double savedShare() {
    if (figures.get(GroupFigure.DEDUP_DECLINED) == null) {
      return null;
    }
    long declined = figures.count(GroupFigure.DEDUP_DECLINED);
    long all =
        declined
            + figures.count(GroupFigure.DEDUP_ACCEPTED)
            + figures.count(GroupFigure.DEDUP_BLOCKED);
    return all == 0 ? null : (Double) ((double) declined / all);
  }
}
