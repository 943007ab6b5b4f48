package dev.evenkeel.dispatcher;

import dev.evenkeel.api.GroupView;
import dev.evenkeel.api.GroupView.Shard.State;
import dev.evenkeel.api.ListGroups.GroupSummary;
import dev.evenkeel.api.RecordJson;
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
import io.vertx.core.json.JsonObject;
import java.util.Comparator;
import java.util.List;

/**
 * What is known of a group at one moment.
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
    List<GroupView.Member> members,
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

    private GroupView.Shard view() {
      return new GroupView.Shard(
          topic,
          shard.shard(),
          owned ? lease.owner() : null,
          nextOwner,
          drainDeadline(),
          lease == null ? null : (Long) lease.epoch(),
          draining() ? State.DRAINING : owned ? State.OWNED : State.FREE,
          paused,
          position,
          committed(),
          end(),
          lag(),
          sealed,
          sealed ? (Boolean) (lease != null && lease.finished()) : null,
          careful()
              ? new GroupView.Shard.Crashed(lease.crashes().offset(), lease.crashes().count())
              : null,
          skipped() == null
              ? null
              : new GroupView.Shard.Skips(skipped().first(), skipped().last(), skipped().total()),
          waitsFor);
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
  GroupSummary summary() {
    return new GroupSummary(
        group,
        mode(),
        status,
        paused,
        shardsPaused(),
        topicsLeftOut(),
        members.size(),
        shards.size(),
        lag());
  }

  GroupView view() {
    // Only mode sharded has one.
    boolean sharded = GroupPolicy.MODE_SHARDED.equals(mode());
    JsonObject failures = figures.write(Section.FAILURES, new JsonObject());
    return new GroupView(
        group,
        mode(),
        sharded ? info.assignor() : null,
        status,
        paused,
        topicsLeftOut(),
        members,
        shards.stream().map(ShardReport::view).toList(),
        term > 0 ? new GroupView.Singleton(leader, term) : new GroupView.Singleton(null, null),
        levelView(),
        dedupView(),
        RecordJson.of(GroupView.Rates.class).read(figures.json(Section.RATES)),
        failures.isEmpty() ? null : RecordJson.of(GroupView.Failures.class).read(failures));
  }

  private GroupView.Level levelView() {
    boolean isLevel = info != null && info.policy().isLevel();
    JsonObject known = new JsonObject().put("strategy", isLevel ? info.policy().strategy() : null);
    if (level != null) {
      known
          .put("holder", level.holder())
          .put("heldMs", level.holder() == null ? null : (Long) level.heldMillis());
    }
    RecordJson<GroupView.Level> form = RecordJson.of(GroupView.Level.class);
    GroupView.Level view = form.read(figures.write(Section.LEVEL, known));
    return level == null ? view : form.with(view, "bars", bars());
  }

  private List<GroupView.Level.Bar> bars() {
    return level.members().stream()
        .filter(LevelFigures.Bar::level)
        .sorted(Comparator.comparing(LevelFigures.Bar::name))
        .map(each -> new GroupView.Level.Bar(each.name(), each.position(), each.inHand()))
        .toList();
  }

  private GroupView.Dedup dedupView() {
    GroupView.Dedup.Repetition repetition =
        repeats == null
            ? new GroupView.Dedup.Repetition(null, null, null, null)
            : new GroupView.Dedup.Repetition(
                repeats.level(),
                repeats.distance(),
                repeats.declinedShare(),
                repeats.observedMessages());
    List<GroupView.Dedup.HotKey> keys =
        hot.stream().map(each -> new GroupView.Dedup.HotKey(each.key(), each.declined())).toList();
    JsonObject known =
        figures
            .json(Section.DEDUP)
            .put("mode", info == null ? null : info.policy().dedup())
            .put("savedShare", savedShare());
    RecordJson<GroupView.Dedup> form = RecordJson.of(GroupView.Dedup.class);
    return form.with(form.with(form.read(known), "repetition", repetition), "hot", keys);
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
