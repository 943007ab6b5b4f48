package dev.evenkeel.dispatcher;

import dev.evenkeel.api.GroupView;
import dev.evenkeel.api.GroupView.Member.Breaker;
import dev.evenkeel.api.MoveView;
import dev.evenkeel.bus.DedupTally;
import dev.evenkeel.bus.FailureFigures;
import dev.evenkeel.bus.Figures;
import dev.evenkeel.bus.FlowTally;
import dev.evenkeel.bus.GroupFigure;
import dev.evenkeel.bus.GroupFigure.Section;
import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.bus.LocalPauses;
import dev.evenkeel.bus.SessionIds;
import dev.evenkeel.bus.ShardStatus;
import dev.evenkeel.dispatcher.GroupReport.ShardReport;
import dev.evenkeel.dispatcher.core.Cause;
import dev.evenkeel.dispatcher.core.DispatcherCore;
import dev.evenkeel.dispatcher.core.GroupState;
import dev.evenkeel.dispatcher.core.Member;
import dev.evenkeel.dispatcher.core.UnheardMember;
import dev.evenkeel.dispatcher.level.core.LevelFigures;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.MessageFilter;
import dev.evenkeel.protocol.MoveRecord;
import dev.evenkeel.protocol.Shard;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** Makes the reports of groups at one moment, from all that the dispatcher and its brokers know. */
final class GroupReports {
  private final DispatcherCore core;
  private final MemberReports members;
  private final Function<String, LevelFigures> levels;
  private final LocalPauses pauses;
  private final Map<Shard, ShardStatus> fresh = new HashMap<>();
  private final Map<String, List<FailureFigures>> failuresByGroup = new HashMap<>();
  private final long nowMillis;

  /**
   * @param statuses read just now; figures of other shards are unknown
   * @param members what members report
   * @param levels figures of a group in mode level, or null if there are none now
   * @param pauses what is paused
   */
  GroupReports(
      DispatcherCore core,
      List<ShardStatus> statuses,
      MemberReports members,
      Function<String, LevelFigures> levels,
      LocalPauses pauses,
      long nowMillis) {
    this.core = core;
    this.members = members;
    this.levels = levels;
    this.pauses = pauses;
    this.nowMillis = nowMillis;
    for (ShardStatus status : statuses) {
      fresh.put(status.shard(), status);
      status
          .failures()
          .forEach(
              each ->
                  failuresByGroup
                      .computeIfAbsent(each.group(), any -> new ArrayList<>())
                      .add(each));
    }
  }

  /** Of the shards that were read. */
  Map<Shard, ShardStatus> statuses() {
    return fresh;
  }

  GroupReport of(GroupState group) {
    MemberReports.Sum reported = members.of(group.name());
    LevelFigures steps = group.stepFigures(nowMillis);
    LevelFigures level = steps == null ? levels.apply(group.name()) : steps;
    List<ShardReport> shards =
        group.shards(core.topics()).stream().map(shard -> shard(group, shard)).toList();
    Figures failures =
        fresh.keySet().containsAll(group.shards(core.topics()))
            ? failures(failuresByGroup.getOrDefault(group.name(), List.of()))
            : Figures.NONE;
    return new GroupReport(
        group.name(),
        group.info(),
        pauses.isPaused(group.name()),
        group.status(core.topics()).name(),
        group.leader(),
        group.term(),
        members(group),
        shards,
        own(group, shards, reported.repeats(), level).plus(reported.figures()).plus(failures),
        reported.repeats(),
        reported.hot(),
        level);
  }

  private static Figures own(
      GroupState group, List<ShardReport> shards, DedupTally.Repeats repeats, LevelFigures level) {
    Collection<Member> live = group.members().live();
    Map<GroupFigure, Number> figures = new EnumMap<>(GroupFigure.class);
    figures.put(GroupFigure.MEMBERS, live.size());
    figures.put(
        GroupFigure.BREAKERS_OPEN,
        live.stream().filter(member -> member.beat().breakerOpen()).count());
    figures.put(GroupFigure.SHARDS, shards.size());
    long unowned = shards.stream().filter(shard -> !shard.owned()).count();
    figures.put(GroupFigure.SHARDS_UNOWNED, group.ownsNothing() ? 0 : unowned);
    figures.put(GroupFigure.SHARDS_DRAINING, shards.stream().filter(ShardReport::draining).count());
    figures.put(GroupFigure.SHARDS_PAUSED, shards.stream().filter(ShardReport::paused).count());
    figures.put(GroupFigure.SHARDS_CAREFUL, shards.stream().filter(ShardReport::careful).count());
    figures.put(GroupFigure.SHARDS_STUCK, group.stuck().count());
    figures.put(GroupFigure.TOPICS_LEFT_OUT, group.topicsLeftOut());
    if (!live.isEmpty() && live.stream().allMatch(member -> broadcastLag(member) != null)) {
      long most = live.stream().mapToLong(GroupReports::broadcastLag).max().getAsLong();
      figures.put(GroupFigure.BROADCAST_LAG, most);
    }
    if (repeats != null && repeats.declinedShare() != null) {
      figures.put(GroupFigure.REPETITION_SHARE, repeats.declinedShare());
    }
    if (group.info() != null && group.info().policy().isLevel()) {
      figures.put(GroupFigure.LEVEL_RANGE, group.info().policy().range());
      if (level != null) {
        double heldSeconds = level.holder() == null ? 0 : level.heldMillis() / 1_000.0;
        figures.put(GroupFigure.LEVEL_GAP, level.gap());
        figures.put(GroupFigure.LEVEL_ROUND, level.round());
        figures.put(GroupFigure.LEVEL_HELD_SECONDS, heldSeconds);
        figures.put(GroupFigure.LEVEL_SET_ASIDE, level.setAside());
      }
    }
    return new Figures(figures);
  }

  /** The failure figures of a group on all shards together. */
  static Figures failures(Collection<FailureFigures> figures) {
    return Figures.of(
        Section.FAILURES,
        figures.stream().mapToLong(each -> each.waiting() + each.held()).sum(),
        figures.stream().mapToLong(FailureFigures::parked).sum(),
        figures.stream().filter(FailureFigures::shardWaits).count(),
        figures.stream().mapToLong(FailureFigures::dead).sum());
  }

  /** Where a member in mode broadcast stands; null if that is unknown, or in other modes. */
  private static FlowTally.Broadcast broadcast(Member member) {
    FlowTally flow = member.beat().flow();
    return flow == null ? null : flow.broadcast();
  }

  private static Long broadcastLag(Member member) {
    return broadcast(member) == null ? null : broadcast(member).lag();
  }

  private List<GroupView.Member> members(GroupState group) {
    List<GroupView.Member> members = new ArrayList<>();
    for (Member member : group.members().live()) {
      members.add(member(group, member));
    }
    Map<String, UnheardMember> unheard = new HashMap<>();
    group.members().unheard().forEach(run -> unheard.put(run.name(), run));
    group.members().live().forEach(member -> unheard.remove(member.name()));
    for (UnheardMember run : unheard.values()) {
      // What is unknown, because it was not heard yet, is null.
      members.add(
          new GroupView.Member(
              run.name(),
              SessionIds.shown(run.clusterMember()),
              run.host(),
              null,
              names(group.shards().ownedBy(run.instance())),
              null,
              null,
              null,
              null,
              null,
              null,
              null,
              null,
              null));
    }
    return members;
  }

  private GroupView.Member member(GroupState group, Member member) {
    Heartbeat beat = member.beat();
    FlowTally.Broadcast broadcast = broadcast(member);
    List<String> filter = beat.wishes().filter();
    return new GroupView.Member(
        member.name(),
        SessionIds.shown(beat.clusterMember()),
        beat.host(),
        beat.consumed(),
        names(group.shards().ownedBy(member.instance())),
        names(group.stuck().shards(member.instance())),
        group.stuck().millis(member.instance(), nowMillis),
        broadcastLag(member),
        broadcast == null ? null : (Long) broadcast.passedOver(),
        beat.breakerOpen() ? Breaker.OPEN : Breaker.CLOSED,
        nowMillis - member.heardMillis(),
        beat.version(),
        filter == null ? null : MessageFilter.shown(filter),
        filter == null || beat.flow() == null ? null : beat.flow().filtered());
  }

  /** Names of the shards whose topics exist. */
  private List<String> names(Collection<Shard> shards) {
    return shards.stream()
        .filter(shard -> core.topics().name(shard.topicId()) != null)
        .map(shard -> core.topics().name(shard.topicId()) + "/" + shard.shard())
        .toList();
  }

  private ShardReport shard(GroupState group, Shard shard) {
    Lease lease = group.shards().get(shard);
    boolean owned = group.owner(lease).lives();
    boolean leaving = owned && leaves(group.members().live(lease.owner()), lease);
    String next = owned && !leaving ? null : group.target(shard);
    if (leaving && lease.owner().equals(next)) {
      // There is nobody else.
      next = null;
    }
    if (owned && lease.drain() != null) {
      next = lease.drain().to().isEmpty() ? null : lease.drain().to();
    }
    String topic = core.topics().name(shard.topicId());
    Long position = owned ? group.position(shard) : null;
    List<Integer> waitsFor =
        core.topics().parents(shard).stream()
            .filter(parent -> !passed(group.shards().get(parent)))
            .map(Shard::shard)
            .toList();
    return new ShardReport(
        topic,
        shard,
        lease,
        owned,
        leaving,
        next,
        position,
        fresh.get(shard),
        core.topics().isSealed(shard),
        pauses.isPaused(group.name(), shard),
        waitsFor);
  }

  private static boolean leaves(Member owner, Lease lease) {
    return owner != null && owner.instance().equals(lease.instance()) && owner.beat().closing();
  }

  private static boolean passed(Lease lease) {
    return lease != null && lease.passed();
  }

  /**
   * What would be deleted with a group, or with a topic of it.
   *
   * @param topic null: all that it reads
   */
  JsonArray whatIfForgotten(GroupState group, String topic) {
    return new JsonArray(
        group.shards(core.topics()).stream()
            .map(shard -> shard(group, shard))
            .filter(shard -> topic == null || topic.equals(shard.topic()))
            .map(shard -> whatIfForgotten(group.name(), shard))
            .toList());
  }

  private static JsonObject whatIfForgotten(String group, ShardReport shard) {
    JsonObject json =
        new JsonObject()
            .put("topic", shard.topic())
            .put("shard", shard.shard().shard())
            .put("committed", shard.committed())
            .put("end", shard.end())
            .put("lag", shard.lag())
            .putNull("deadLetters")
            .putNull("retries")
            .put("topicId", shard.shard().topicId());
    if (shard.status() == null) {
      return json;
    }
    long deadLetters = 0;
    long retries = 0;
    for (FailureFigures each : shard.status().failures()) {
      if (each.group().equals(group)) {
        deadLetters += each.dead();
        retries += each.waiting() + each.parked() + each.held();
      }
    }
    json.put("deadLetters", deadLetters).put("retries", retries);
    // Retention keeps what some group may need, and all if there is no group.
    Long own = null;
    Long others = null;
    for (Lease lease : shard.status().leases()) {
      if (lease.group().equals(group)) {
        own = lease.floor();
      } else {
        others = others == null ? lease.floor() : (Long) Math.min(others, lease.floor());
      }
    }
    boolean frees = own != null && others != null && own < others;
    return json.put("freedFrom", frees ? own : (Long) 0L)
        .put("freedTo", frees ? others : (Long) 0L);
  }

  static MoveView move(MoveRecord move) {
    return new MoveView(
        Instant.ofEpochMilli(move.timeMillis()),
        move.group(),
        move.topic(),
        move.shard().shard(),
        move.from(),
        move.to(),
        Cause.wordOf(Cause.ofWord(move.reason())),
        move.pauseMillis(),
        move.releaseMillis(),
        move.redelivered(),
        move.capped(),
        move.epoch());
  }
}
