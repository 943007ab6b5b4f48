package dev.evenkeel.sim;

import dev.evenkeel.model.DataCommand;
import dev.evenkeel.model.DeadLetter;
import dev.evenkeel.model.Lease;
import dev.evenkeel.model.Outcome;
import dev.evenkeel.model.Reply;
import dev.evenkeel.model.Shard;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

/**
 * Knows what really happened: each message, who handled it, and who was granted each epoch. Every
 * entry of the log, and whatever a consumer is told or begins, is checked against it.
 */
final class Ledger {

  /** What happened to one shard. */
  private static final class Track {
    final List<String> keys = new ArrayList<>();
    final List<Long> sums = new ArrayList<>(List.of(0L));
    final BitSet handled = new BitSet();

    /** The log has a copy of them, or knows what has become of them: they left the window. */
    final BitSet left = new BitSet();

    final BitSet dead = new BitSet();
    final Map<Long, String> owners = new HashMap<>();
    long epoch;
    long committed = -1;
    boolean dropped;
  }

  private final Map<Shard, Track> tracks = new TreeMap<>();
  private long moves;

  private static SimulationFailure failure(String what, Object... facts) {
    return new SimulationFailure(what + ": " + List.of(facts));
  }

  private Track track(Shard shard) {
    return tracks.computeIfAbsent(shard, any -> new Track());
  }

  // ---- Messages

  void appended(Shard shard, String key) {
    Track track = track(shard);
    long offset = track.keys.size();
    track.keys.add(key);
    track.sums.add(
        track.sums.get((int) offset) + Tally.weight(shard.topicId(), shard.shard(), offset));
  }

  long end(Shard shard) {
    return track(shard).keys.size();
  }

  String key(Shard shard, long offset) {
    return track(shard).keys.get((int) offset);
  }

  long sum(Shard shard, long offset) {
    Track track = track(shard);
    long sum = track.sums.get((int) offset);
    for (int dead = track.dead.nextSetBit(0);
        dead >= 0 && dead < offset;
        dead = track.dead.nextSetBit(dead + 1)) {
      sum -= Tally.weight(shard.topicId(), shard.shard(), dead);
    }
    return sum;
  }

  /** What became of failed messages was written down, of all but those of {@code noRoom}. */
  void recorded(
      Shard shard,
      DataCommand.RecordOutcomes command,
      List<Long> noRoom,
      List<DeadLetter> deadLetters) {
    Track track = track(shard);
    for (Outcome outcome : command.outcomes()) {
      boolean leaves =
          outcome instanceof Outcome.Parked
              || outcome instanceof Outcome.Failed f && f.way() != Outcome.Way.HELD;
      if (leaves && !noRoom.contains(outcome.offset())) {
        track.left.set((int) outcome.offset());
      }
    }
    BitSet now = new BitSet();
    for (DeadLetter letter : deadLetters) {
      now.set((int) letter.offset());
      if (letter.attempts() != World.ATTEMPTS) {
        throw failure("a dead letter after another number of attempts", letter);
      }
    }
    track.dead.stream()
        .filter(offset -> !now.get(offset))
        .forEach(
            offset -> {
              throw failure("a dead letter is gone", shard, offset);
            });
    track.dead.or(now);
  }

  boolean isDead(Shard shard, long offset) {
    return track(shard).dead.get((int) offset);
  }

  /** Handled by somebody, or a dead letter. */
  boolean isDone(Shard shard, long offset) {
    return isHandled(shard, offset) || isDead(shard, offset);
  }

  boolean hasLeft(Shard shard, long offset) {
    return track(shard).left.get((int) offset);
  }

  boolean isCurrent(Shard shard, long epoch) {
    return epoch == track(shard).epoch;
  }

  void handled(Shard shard, long offset) {
    track(shard).handled.set((int) offset);
  }

  boolean isHandled(Shard shard, long offset) {
    return track(shard).handled.get((int) offset);
  }

  /** Offsets below are handled, or dead letters. */
  long doneUpTo(Shard shard) {
    return done(track(shard)).nextClearBit(0);
  }

  private static BitSet done(Track track) {
    BitSet done = (BitSet) track.handled.clone();
    done.or(track.dead);
    return done;
  }

  long committed(Shard shard) {
    return Math.max(0, track(shard).committed);
  }

  // ---- The log

  void dropped(int topicId) {
    tracks.forEach((shard, track) -> track.dropped |= shard.topicId() == topicId);
  }

  boolean isDropped(Shard shard) {
    return track(shard).dropped;
  }

  /** Grants so far. */
  long moves() {
    return moves;
  }

  /**
   * A command was applied.
   *
   * @param sender run of the consumer that sent it, or null
   * @param before the lease before it, with its state, or null
   * @param after the lease after it, with its state
   */
  void applied(
      Shard shard, DataCommand command, String sender, Lease before, Lease after, Reply reply) {
    Track track = track(shard);
    if (after == null || track.dropped) {
      return;
    }
    boolean taken = !(reply instanceof Reply.Refused);
    long epoch = before == null ? 0 : before.epoch();
    boolean ownerKept = before != null && Objects.equals(before.instance(), after.instance());
    if (after.epoch() != epoch && !(command instanceof DataCommand.Grant)) {
      throw failure("another epoch without a grant", command, after);
    }
    if (after.epoch() == epoch && !ownerKept && after.owned()) {
      throw failure("another owner without another epoch", before, after);
    }
    if (command instanceof DataCommand.Grant grant && taken) {
      granted(track, grant, before, after);
    } else if (command instanceof DataCommand.Commit && taken) {
      mustOwn("commits", sender, before, command);
    } else if (command instanceof DataCommand.Release release && taken) {
      released(track, release, sender, before, after);
    }
    if (after.committed() < track.committed) {
      throw failure("the committed offset goes back", track.committed, after);
    }
    track.committed = after.committed();
    BitSet gone = done(track);
    gone.or(track.left);
    if (gone.nextClearBit(0) < after.committed()) {
      throw failure("committed, but not handled", gone.nextClearBit(0), after, command, sender);
    }
    boolean kept = after.state() != null && after.state().length > 0;
    if (kept && Tally.decode(after.state()).offset() != after.stateOffset()) {
      throw failure(
          "state and its offset are not of one record",
          Tally.decode(after.state()),
          after.stateOffset(),
          command);
    }
  }

  private void granted(Track track, DataCommand.Grant grant, Lease before, Lease after) {
    long epoch = before == null ? 0 : before.epoch();
    if (grant.expectedEpoch() != epoch || after.epoch() != epoch + 1) {
      throw failure("granted what was changed since it was looked at", grant, after);
    }
    if (before == null) {
      // The group begins here: what lies before does not concern it.
      track.handled.set(0, (int) after.committed());
    } else if (before.committed() != after.committed()
        || before.stateOffset() != after.stateOffset()) {
      throw failure("a grant changes where the shard stands", before, after);
    }
    track.epoch = after.epoch();
    track.owners.put(after.epoch(), after.instance());
    moves++;
  }

  private static void mustOwn(String does, String sender, Lease before, DataCommand command) {
    if (before == null || !before.owned() || !before.instance().equals(sender)) {
      throw failure("one who owns nothing " + does, sender, String.valueOf(before), command);
    }
  }

  private static void released(
      Track track, DataCommand.Release release, String sender, Lease before, Lease after) {
    boolean again =
        before != null
            && !before.owned()
            && Objects.equals(track.owners.get(before.epoch()), sender);
    if (!again) {
      mustOwn("releases", sender, before, release);
    }
    if (again && after.stateOffset() != before.stateOffset()) {
      throw failure("a repeated release changes the state", before, after);
    }
  }

  // ---- Consumers

  /** A consumer is told that it owns a shard, or acts as if. */
  void mustBeGranted(Shard shard, long epoch, String instance) {
    Track track = track(shard);
    if (!track.dropped && !instance.equals(track.owners.get(epoch))) {
      throw failure(
          "one acts at an epoch that it was never granted",
          shard,
          epoch,
          instance,
          String.valueOf(track.owners));
    }
  }

  boolean isPast(Shard shard, long epoch) {
    return epoch < track(shard).epoch;
  }

  /** A handler is given a state. */
  void checkState(Shard shard, long offset, byte[] state) {
    Tally tally = Tally.decode(state);
    if (tally.offset() != offset) {
      throw failure("a state and an offset that do not belong together", shard, tally, offset);
    }
    if (tally.sum() != sum(shard, offset)) {
      throw failure("a state that is not that of its offset", shard, tally, sum(shard, offset));
    }
  }
}
