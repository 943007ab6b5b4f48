package dev.evenkeel.dispatcher.core;

import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.bus.ShardProgress;
import dev.evenkeel.dispatcher.core.ShardState.OwnerProgress;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.MoveRecord;
import dev.evenkeel.protocol.NewestMap;
import dev.evenkeel.protocol.Reply;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * Records moves of shards, and writes them into the meta log for the next dispatcher.
 *
 * <p>A move is known when the log takes its grant, or when the lease is that of the heir that a
 * drain has named. A lease with a higher epoch than the last move of its shard shows a move that
 * nobody recorded: a grant whose answer was lost, one of another dispatcher, or one whose
 * dispatcher died before it could record it. If a shard has no recorded moves, its lease as first
 * found shows nothing: the lease looks the same whether no history existed or newer moves pushed it
 * out. A lease without an owner shows nothing either, because its former owner is not known.
 *
 * <p>The figures of a move come with the heartbeats of the old owner and of the new one, in any
 * order. A heartbeat names ages, which become times of the dispatcher's clock when it arrives; so
 * the figures are wrong only by the difference between the travel times of two heartbeats.
 *
 * <p>It writes one command at a time, at most one every {@link #PAUSE_MILLIS} milliseconds. Nothing
 * waits for it. A command without a positive answer is repeated; that is safe.
 */
final class MoveRecorder {
  static final long PAUSE_MILLIS = 250;

  /** How many runs of members are remembered with the time of their last heartbeat. */
  static final int MEMBERS_MAX = 20_000;

  private final DispatcherState state;
  private final Map<String, Long> heardMillis = new NewestMap<>(MEMBERS_MAX);
  private boolean writing;
  private long notBeforeMillis;

  MoveRecorder(DispatcherState state) {
    this.state = state;
  }

  // ---- Moves

  /**
   * The log has taken a grant.
   *
   * @param grant as it was sent
   * @param releaseMillis how long the former owner took to release; null if it did not, or unknown
   */
  void granted(
      GroupState group,
      ShardState shard,
      ShardState.Request grant,
      Lease lease,
      Long releaseMillis,
      long nowMillis) {
    Lease before = grant.decidedOn();
    boolean owned = before != null && before.owned();
    OwnerProgress former = before == null ? null : shard.progress(lease.epoch() - 1);
    if (former != null && former.endedMillis == null && owned && grant.cause() != Cause.CAP) {
      // It is dead, and reports nothing: its last sign of life is the latest that is known.
      former.endedMillis = heardMillis.get(before.instance());
    }
    String from =
        grant.from() == null
            ? state.moves.ownerBefore(group.name(), shard.shard, lease.epoch())
            : grant.from();
    // After a release nothing ran any more, and before the first grant nothing ever did.
    boolean released = before == null || !owned && before.epoch() == lease.epoch() - 1;
    Long redelivered = released ? 0L : null;
    add(
        group,
        shard,
        lease,
        from,
        grant.cause(),
        releaseMillis,
        redelivered,
        // An owner with state begins where the state stands.
        lease.floor(),
        nowMillis);
  }

  /** The owner has released the shard, and the next one owns it by the same record. */
  void inherited(GroupState group, ShardState shard, Lease before, long nowMillis) {
    Lease lease = shard.lease();
    if (state.moves.find(group.name(), shard.shard, lease.epoch()) != null) {
      // The dispatcher has granted it, because the owner took too long.
      return;
    }
    Cause cause = shard.inheritedCause(group.cause());
    shard.released(nowMillis);
    Long releaseMillis = shard.handoverEnded();
    add(group, shard, lease, before.owner(), cause, releaseMillis, 0L, lease.floor(), nowMillis);
  }

  /**
   * The lease of a shard has changed.
   *
   * @param before what it was, or null
   */
  void look(GroupState group, ShardState shard, Lease before, long nowMillis) {
    Lease now = shard.lease();
    if (now == null || !now.owned() || group.plan().grants(shard)) {
      // While a grant of ours is on its way, its answer records the move.
      return;
    }
    if (state.moves.find(group.name(), shard.shard, now.epoch()) != null) {
      return;
    }
    ShardState.Request unsure = shard.unsure;
    shard.unsure = null;
    if (unsure != null && unsure.made(now)) {
      add(group, shard, now, unsure.from(), unsure.cause(), null, null, null, nowMillis);
      return;
    }
    MoveRecord last = state.moves.last(group.name(), shard.shard);
    boolean sawBefore = before != null && before.epoch() < now.epoch();
    if (last == null ? sawBefore : last.epoch() < now.epoch()) {
      String from = state.moves.ownerBefore(group.name(), shard.shard, now.epoch());
      add(group, shard, now, from, null, null, null, null, nowMillis);
    }
  }

  private void add(
      GroupState group,
      ShardState shard,
      Lease lease,
      String from,
      Cause cause,
      Long releaseMillis,
      Long redelivered,
      Long beginOffset,
      long nowMillis) {
    String topic = state.topics().name(shard.shard.topicId());
    if (topic == null) {
      // It was deleted meanwhile: nobody asks how its shards moved.
      return;
    }
    state.moves.add(
        new MoveRecord(
            nowMillis,
            group.name(),
            topic,
            shard.shard,
            from,
            lease.owner(),
            cause == null ? null : cause.word(),
            null,
            releaseMillis,
            redelivered,
            cause == Cause.CAP,
            lease.epoch(),
            beginOffset));
    refresh(group.name(), shard, lease.epoch());
  }

  // ---- Figures

  /** Takes in the figures in a heartbeat of a member of {@code group}. */
  void heard(GroupState group, Heartbeat beat, long nowMillis) {
    heardMillis.put(beat.instance(), nowMillis);
    for (ShardProgress mark : beat.marks()) {
      Lease lease = group.shards().get(mark.shard());
      // An epoch that was never granted is a mistake of the sender, and would push out others.
      if (lease != null && mark.epoch() > 0 && mark.epoch() <= lease.epoch()) {
        heard(group.name(), group.shards().state(mark.shard()), mark, nowMillis);
      }
    }
  }

  private void heard(String group, ShardState shard, ShardProgress mark, long nowMillis) {
    OwnerProgress progress = shard.progress(mark.epoch());
    if (progress == null) {
      return;
    }
    Long begun = mark.begunOffset();
    if (begun != null && (progress.begunOffset == null || begun > progress.begunOffset)) {
      progress.begunOffset = begun;
    }
    if (mark.busyMillis() != null && mark.bytes() != null) {
      shard.work().heard(mark.epoch(), mark.busyMillis(), mark.bytes(), nowMillis);
    }
    Long position = mark.position();
    if (position != null && (progress.position == null || position > progress.position)) {
      progress.position = position;
    }
    if (progress.fetchedMillis == null && mark.fetchedAgoMillis() != null) {
      progress.fetchedMillis = nowMillis - Math.max(0, mark.fetchedAgoMillis());
    }
    if (progress.endedMillis == null && mark.endedAgoMillis() != null) {
      progress.endedMillis = nowMillis - Math.max(0, mark.endedAgoMillis());
    }
    refresh(group, shard, mark.epoch());
    refresh(group, shard, mark.epoch() + 1);
  }

  private void refresh(String group, ShardState shard, long epoch) {
    MoveRecord move = state.moves.find(group, shard.shard, epoch);
    if (move == null || epoch <= 1) {
      return;
    }
    OwnerProgress from = shard.progress(epoch - 1);
    OwnerProgress to = shard.progress(epoch);
    Long pause = move.pauseMillis();
    if (pause == null
        && from != null
        && to != null
        && from.endedMillis != null
        && to.fetchedMillis != null) {
      pause = Math.max(0, to.fetchedMillis - from.endedMillis);
    }
    Long redelivered = move.redelivered();
    if (from != null && from.begunOffset != null && move.committed() != null) {
      redelivered = Math.max(0, from.begunOffset - move.committed());
    }
    if (!Objects.equals(pause, move.pauseMillis())
        || !Objects.equals(redelivered, move.redelivered())) {
      state.moves.replace(withFigures(move, pause, redelivered));
    }
  }

  private static MoveRecord withFigures(MoveRecord move, Long pauseMillis, Long redelivered) {
    return new MoveRecord(
        move.timeMillis(),
        move.group(),
        move.topic(),
        move.shard(),
        move.from(),
        move.to(),
        move.reason(),
        pauseMillis,
        move.releaseMillis(),
        redelivered,
        move.capped(),
        move.epoch(),
        move.committed());
  }

  // ---- The meta log

  /** Writes what there is, if it is time. */
  void pump(long nowMillis) {
    if (!writing && state.moves.unwritten() > 0 && nowMillis >= notBeforeMillis) {
      List<MoveRecord> batch = state.moves.takeUnwritten(Limits.MOVES_A_COMMAND_MAX);
      writing = true;
      notBeforeMillis = nowMillis + PAUSE_MILLIS;
      state.out.writeMeta(
          new MetaCommand.RecordMoves(batch), (reply, now) -> written(batch, reply, now));
    }
  }

  private void written(List<MoveRecord> batch, Reply reply, long nowMillis) {
    writing = false;
    if (reply instanceof Reply.Refused refused) {
      notBeforeMillis = nowMillis + state.settings.retryMillis();
      if (refused.refusal().retriable()) {
        state.moves.untake(batch);
      } else {
        // It would be refused again, and keep all others waiting.
        state.moves.unrecorded(batch.size());
      }
    }
  }
}
