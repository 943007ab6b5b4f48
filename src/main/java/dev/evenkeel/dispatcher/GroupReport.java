package dev.evenkeel.dispatcher;

import dev.evenkeel.bus.DedupTally;
import dev.evenkeel.bus.FailureFigures;
import dev.evenkeel.bus.FailureSum;
import dev.evenkeel.bus.FlowTally;
import dev.evenkeel.bus.ShardStatus;
import dev.evenkeel.dispatcher.core.Cause;
import dev.evenkeel.dispatcher.core.DispatcherCore;
import dev.evenkeel.dispatcher.core.GroupState;
import dev.evenkeel.dispatcher.core.Member;
import dev.evenkeel.dispatcher.core.Move;
import dev.evenkeel.dispatcher.core.ShardStep;
import dev.evenkeel.dispatcher.core.UnheardMember;
import dev.evenkeel.protocol.GroupInfo;
import dev.evenkeel.protocol.GroupPolicy;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.TopicInfo;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;

/** Groups as the outside contract shows them. An unknown figure is null, never 0. */
final class GroupReport {
  private final DispatcherCore core;
  private final Function<String, LevelFigures> level;
  private final Function<String, DedupFigures> dedup;
  private final Function<String, FlowTally.Rates> rates;
  private final Map<Shard, ShardStatus> fresh = new HashMap<>();
  private final long nowMillis;

  /**
   * @param statuses read just now; figures of other shards are unknown
   * @param level figures of a group in mode level, or null if there are none now
   * @param dedup figures of a group
   * @param rates what the rates of a group's members have done, or null
   */
  GroupReport(
      DispatcherCore core,
      List<ShardStatus> statuses,
      Function<String, LevelFigures> level,
      Function<String, DedupFigures> dedup,
      Function<String, FlowTally.Rates> rates,
      long nowMillis) {
    this.core = core;
    this.level = level;
    this.dedup = dedup;
    this.rates = rates;
    this.nowMillis = nowMillis;
    statuses.forEach(status -> fresh.put(status.shard(), status));
  }

  JsonArray list() {
    JsonArray groups = new JsonArray();
    for (GroupState group : core.all()) {
      List<Shard> shards = group.shards(core.topics());
      groups.add(
          new JsonObject()
              .put("group", group.name())
              .put("mode", group.info() == null ? null : group.info().mode())
              .put("status", group.status(core.topics()).name())
              .put("members", names(group).size())
              .put("shards", shards.size())
              .put("lag", lag(group, shards)));
    }
    return groups;
  }

  /** Everything at once: all groups with all details, and how far the topics are. */
  JsonObject everything() {
    JsonArray groups = new JsonArray();
    core.all().forEach(group -> groups.add(detail(group)));
    JsonArray topics = new JsonArray();
    core.topics().all().forEach(topic -> topics.add(topic(topic)));
    return new JsonObject().put("groups", groups).put("topics", topics);
  }

  private JsonObject topic(TopicInfo topic) {
    Long end = 0L;
    Long bytes = 0L;
    Long delayed = 0L;
    for (int i = 0; i < topic.shards() && end != null; i++) {
      ShardStatus status = fresh.get(new Shard(topic.id(), i));
      // A sum that leaves something out would be wrong.
      end = status == null ? null : (Long) (end + status.endOffset());
      bytes = status == null ? null : (Long) (bytes + status.bytes());
      delayed = status == null ? null : (Long) (delayed + status.delayed().messages());
    }
    return new JsonObject()
        .put("name", topic.name())
        .put("shards", topic.shards())
        .put("end", end)
        .put("bytes", bytes)
        .put("delayed", delayed);
  }

  private Long lag(GroupState group, List<Shard> shards) {
    long sum = 0;
    for (Shard shard : shards) {
      Long lag = lag(group, shard);
      if (lag == null) {
        return null;
      }
      sum += lag;
    }
    return sum;
  }

  /** Messages of a shard that the group has not consumed, or null if unknown. */
  Long lag(GroupState group, Shard shard) {
    Long committed = committed(group, shard);
    return committed == null ? null : Math.max(0, fresh.get(shard).endOffset() - committed);
  }

  /** Next offset to be consumed, or null if unknown. */
  Long committed(GroupState group, Shard shard) {
    Lease lease = group.book().get(shard);
    return lease == null || !fresh.containsKey(shard) ? null : (Long) lease.committed();
  }

  JsonObject detail(GroupState group) {
    JsonArray members = new JsonArray();
    for (Member member : group.members().live()) {
      members.add(
          member(group, member.name(), Set.of(member.instance()))
              .put("node", member.beat().clusterMember())
              .put("host", member.beat().host())
              .put("consumed", member.beat().consumed())
              .put("stuck", names(group.stuck().shards(member.instance())))
              .put("stuckMs", group.stuck().millis(member.instance(), nowMillis))
              .put("lag", broadcast(member) == null ? null : broadcast(member).lag())
              .put("passedOver", broadcast(member) == null ? null : broadcast(member).passedOver())
              .put("breaker", member.beat().breakerOpen() ? "open" : "closed")
              .put("lastHeartbeatMs", nowMillis - member.heardMillis()));
    }
    Map<String, UnheardMember> unheard = new HashMap<>();
    group.members().ghosts().forEach(ghost -> unheard.put(ghost.name(), ghost));
    group.members().live().forEach(member -> unheard.remove(member.name()));
    for (UnheardMember ghost : unheard.values()) {
      members.add(
          member(group, ghost.name(), Set.of(ghost.instance()))
              .put("node", ghost.clusterMember())
              .put("host", ghost.host()));
    }
    JsonArray shards = new JsonArray();
    group.shards(core.topics()).forEach(shard -> shards.add(shard(group, shard)));
    return new JsonObject()
        .put("group", group.name())
        .put("mode", group.info() == null ? null : group.info().mode())
        .put("assignor", assignor(group.info()))
        .put("status", group.status(core.topics()).name())
        .put("members", members)
        .put("shards", shards)
        .put("singleton", singleton(group))
        .put("level", level(group.info(), level.apply(group.name())))
        .put("dedup", dedup(group.info(), dedup.apply(group.name())))
        .put("rates", rates(rates.apply(group.name())))
        .put("failures", failures(group) == null ? null : failures(group).toJson());
  }

  /** Only mode sharded has one; null in others, and if it is unknown. */
  private static String assignor(GroupInfo info) {
    boolean sharded = info != null && GroupPolicy.MODE_SHARDED.equals(info.mode());
    return sharded ? info.assignor() : null;
  }

  /** Where a member in mode broadcast stands; null if it has not told, or is in another mode. */
  private static FlowTally.Broadcast broadcast(Member member) {
    FlowTally flow = member.beat().flow();
    return flow == null ? null : flow.broadcast();
  }

  /** The largest lag of a member in mode broadcast; null if one of them is unknown. */
  static Long broadcastLag(GroupState group) {
    Long most = null;
    for (Member member : group.members().live()) {
      Long lag = broadcast(member) == null ? null : broadcast(member).lag();
      if (lag == null) {
        return null;
      }
      most = most == null ? lag : (Long) Math.max(most, lag);
    }
    return most;
  }

  /** What the rates of a group's members have done, or null. */
  FlowTally.Rates ratesOf(GroupState group) {
    return rates.apply(group.name());
  }

  private static JsonObject rates(FlowTally.Rates rates) {
    JsonObject json = unknown("delayed", "dropped", "waiting", "shardsWaiting");
    return rates == null
        ? json
        : json.put("delayed", rates.delayed())
            .put("dropped", rates.dropped())
            .put("waiting", rates.waiting())
            .put("shardsWaiting", rates.shardsWaiting());
  }

  /** What a group has of failures, or null while a shard that it reads is not known. */
  FailureSum failures(GroupState group) {
    if (!fresh.keySet().containsAll(group.shards(core.topics()))) {
      return null;
    }
    List<FailureFigures> own = new ArrayList<>();
    for (ShardStatus status : fresh.values()) {
      for (FailureFigures each : status.failures()) {
        if (each.group().equals(group.name())) {
          own.add(each);
        }
      }
    }
    return FailureSum.of(own);
  }

  private static JsonObject singleton(GroupState group) {
    JsonObject singleton = unknown("leader", "term");
    if (group.term() > 0) {
      singleton.put("leader", group.leader()).put("term", group.term());
    }
    return singleton;
  }

  private static JsonObject level(GroupInfo info, LevelFigures figures) {
    JsonObject level =
        unknown("range", "strategy", "gap", "round", "holder", "heldMs", "setAside", "bars");
    if (info != null && info.policy().isLevel()) {
      level.put("range", info.policy().range()).put("strategy", info.policy().strategy());
    }
    if (figures != null) {
      JsonArray bars = new JsonArray();
      for (LevelFigures.Bar bar : figures.bars()) {
        bars.add(
            new JsonObject()
                .put("member", bar.member())
                .put("finished", bar.finished())
                .put("inHand", bar.inHand()));
      }
      level
          .put("gap", figures.gap())
          .put("round", figures.round())
          .put("holder", figures.holder())
          .put("heldMs", figures.holder() == null ? null : (Long) figures.heldMillis())
          .put("setAside", figures.setAside())
          .put("bars", bars);
    }
    return level;
  }

  /** Figures of a group in mode level, or null if there are none now. */
  LevelFigures levelFigures(GroupState group) {
    return level.apply(group.name());
  }

  /** What is told of deduplication in a group, on or off. */
  DedupFigures dedupFigures(GroupState group) {
    return dedup.apply(group.name());
  }

  private static JsonObject dedup(GroupInfo info, DedupFigures figures) {
    JsonObject dedup =
        unknown("mode", "accepted", "blocked", "declined", "evicted", "lost", "unguarded")
            .putNull("processing")
            .putNull("waiting")
            .put("mode", info == null ? null : info.policy().dedup());
    DedupTally.Counts counts = figures.counts();
    if (counts != null) {
      dedup
          .put("accepted", counts.accepted())
          .put("blocked", counts.blocked())
          .put("declined", counts.declined())
          .put("evicted", counts.evicted())
          .put("lost", counts.lost())
          .put("unguarded", counts.unguarded())
          .put("processing", counts.processing())
          .put("waiting", counts.waiting());
    }
    JsonObject repetition =
        unknown("level", "smallestDistance", "declinedShare", "observedMessages");
    DedupTally.Repeats repeats = figures.repeats();
    if (repeats != null) {
      repetition
          .put("level", repeats.level())
          .put("smallestDistance", distance(repeats))
          .put("declinedShare", repeats.declinedShare())
          .put("observedMessages", repeats.observedMessages());
    }
    JsonArray hot = new JsonArray();
    figures
        .hot()
        .forEach(
            each ->
                hot.add(new JsonObject().put("key", each.key()).put("declined", each.declined())));
    return dedup
        .put("savedShare", figures.savedShare())
        .put("repetition", repetition)
        .put("hot", hot);
  }

  private static Integer distance(DedupTally.Repeats repeats) {
    return repeats.smallestDistance() == 0 ? null : (Integer) repeats.smallestDistance();
  }

  /**
   * What a group of this mode has no figures for is there all the same, so that readers find it.
   */
  private static JsonObject unknown(String... figures) {
    JsonObject object = new JsonObject();
    for (String figure : figures) {
      object.putNull(figure);
    }
    return object;
  }

  private static Set<String> names(GroupState group) {
    Set<String> names = new TreeSet<>();
    group.members().live().forEach(member -> names.add(member.name()));
    group.members().ghosts().forEach(ghost -> names.add(ghost.name()));
    return names;
  }

  private JsonObject member(GroupState group, String name, Set<String> instances) {
    JsonArray shards = new JsonArray();
    for (String instance : instances) {
      shards.addAll(names(group.book().ownedBy(instance)));
    }
    return new JsonObject()
        .put("member", name)
        .putNull("node")
        .putNull("host")
        .putNull("consumed")
        .put("shards", shards)
        .putNull("stuck")
        .putNull("stuckMs")
        .putNull("lag")
        .putNull("passedOver")
        .putNull("breaker")
        .putNull("lastHeartbeatMs");
  }

  /** Of shards whose topics are there. */
  private JsonArray names(Collection<Shard> shards) {
    JsonArray names = new JsonArray();
    for (Shard shard : shards) {
      String topic = core.topics().name(shard.topicId());
      if (topic != null) {
        names.add(topic + "/" + shard.shard());
      }
    }
    return names;
  }

  private JsonObject shard(GroupState group, Shard shard) {
    Lease lease = group.book().get(shard);
    ShardStep.Owner owner = group.owner(lease);
    boolean owned = owner == ShardStep.Owner.ALIVE || owner == ShardStep.Owner.UNHEARD;
    boolean draining = owned && lease.drain() != null;
    ShardStatus status = fresh.get(shard);
    return new JsonObject()
        .put("topic", core.topics().name(shard.topicId()))
        .put("shard", shard.shard())
        .put("owner", owned ? lease.owner() : null)
        .put("nextOwner", nextOwner(group, shard, owned, draining))
        .put("drainDeadline", draining ? (Long) lease.drain().deadlineMillis() : null)
        .put("epoch", lease == null ? null : (Long) lease.epoch())
        .put("state", draining ? "DRAINING" : owned ? "OWNED" : "FREE")
        .put("committed", committed(group, shard))
        .put("end", status == null ? null : (Long) status.endOffset())
        .put("lag", lag(group, shard));
  }

  private static String nextOwner(GroupState group, Shard shard, boolean owned, boolean draining) {
    if (draining) {
      String to = group.book().get(shard).drain().to();
      return to.isEmpty() ? null : to;
    }
    return owned ? null : group.target(shard);
  }

  /**
   * What would go with a group, or with a topic of it.
   *
   * @param topic null: all that it reads
   */
  JsonArray whatIfForgotten(GroupState group, String topic) {
    JsonArray shards = new JsonArray();
    for (Shard shard : group.shards(core.topics())) {
      String name = core.topics().name(shard.topicId());
      if (topic == null || topic.equals(name)) {
        shards.add(whatIfForgotten(group, name, shard));
      }
    }
    return shards;
  }

  private JsonObject whatIfForgotten(GroupState group, String topic, Shard shard) {
    ShardStatus status = fresh.get(shard);
    JsonObject json =
        new JsonObject()
            .put("topic", topic)
            .put("shard", shard.shard())
            .put("committed", committed(group, shard))
            .put("end", status == null ? null : (Long) status.endOffset())
            .put("lag", lag(group, shard))
            .putNull("deadLetters")
            .putNull("retries")
            .put("topicId", shard.topicId());
    if (status == null) {
      return json;
    }
    long deadLetters = 0;
    long retries = 0;
    for (FailureFigures each : status.failures()) {
      if (each.group().equals(group.name())) {
        deadLetters += each.dead();
        retries += each.waiting() + each.parked() + each.held();
      }
    }
    json.put("deadLetters", deadLetters).put("retries", retries);
    // Retention keeps what some group may need, and all if there is no group.
    Long own = null;
    Long others = null;
    for (Lease lease : status.leases()) {
      if (lease.group().equals(group.name())) {
        own = lease.floor();
      } else {
        others = others == null ? lease.floor() : (Long) Math.min(others, lease.floor());
      }
    }
    boolean frees = own != null && others != null && own < others;
    return json.put("freedFrom", frees ? own : (Long) 0L)
        .put("freedTo", frees ? others : (Long) 0L);
  }

  static JsonObject move(Move move) {
    return new JsonObject()
        .put("time", Instant.ofEpochMilli(move.timeMillis()).toString())
        .put("group", move.group())
        .put("topic", move.topic())
        .put("shard", move.shard())
        .put("from", move.from())
        .put("to", move.to())
        .put("reason", Cause.wordOf(move.cause()))
        .put("pauseMs", move.pauseMillis())
        .put("releaseMs", move.releaseMillis())
        .put("redelivered", move.redelivered())
        .put("capped", move.capped())
        .put("epoch", move.epoch());
  }
}
