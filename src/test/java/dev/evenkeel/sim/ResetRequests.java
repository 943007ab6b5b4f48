package dev.evenkeel.sim;

import dev.evenkeel.broker.state.LeaseKey;
import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.dispatcher.core.DispatcherAction;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Shard;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The resets that one dispatcher was asked for. Sees to it that a reset without force takes a shard
 * from nobody whom that dispatcher must know to be alive.
 */
final class ResetRequests {
  /** Whoever was heard so short a time ago has not timed out, whatever its clock does. */
  private static final long SURELY_ALIVE_MILLIS = World.MEMBER_TIMEOUT_MILLIS / 2;

  /** A heartbeat and when it came. */
  private record Beat(Heartbeat beat, long millis) {}

  private final Cluster world;
  private final Map<Long, Network.Answer<Map<Shard, Lease>>> answers = new HashMap<>();

  /** Shards of requests without force that are under way. */
  private final Map<Long, List<LeaseKey>> unforced = new HashMap<>();

  private final Map<Long, Beat> beats = new HashMap<>();

  /** The last answered one of each instance. */
  private final Map<String, Beat> heard = new HashMap<>();

  /** Instances of each name. */
  private final Map<String, Set<String>> runs = new HashMap<>();

  ResetRequests(Cluster world) {
    this.world = world;
  }

  void begun(
      long request,
      String group,
      List<Shard> shards,
      boolean force,
      Network.Answer<Map<Shard, Lease>> answer) {
    answers.put(request, answer);
    if (!force) {
      unforced.put(request, shards.stream().map(shard -> new LeaseKey(shard, group)).toList());
    }
  }

  /** What the dispatcher does next, all of it from one moment: requests may end with it. */
  void ending(List<DispatcherAction> actions) {
    for (DispatcherAction action : actions) {
      if (action instanceof DispatcherAction.Refuse no) {
        unforced.remove(no.request());
      } else if (action instanceof DispatcherAction.ResetDone done) {
        unforced.remove(done.request());
      }
    }
  }

  void done(DispatcherAction.ResetDone done) {
    answers.remove(done.request()).give(done.leases());
  }

  /** Whether it was the request for a reset that is refused. */
  boolean refused(DispatcherAction.Refuse no) {
    Network.Answer<Map<Shard, Lease>> answer = answers.remove(no.request());
    if (answer != null) {
      answer.refuse(new RefusedException(no.refusal(), no.detail()));
    }
    return answer != null;
  }

  void heard(long request, Heartbeat beat) {
    beats.put(request, new Beat(beat, world.time.now()));
    runs.computeIfAbsent(beat.group() + "/" + beat.member(), any -> new HashSet<>())
        .add(beat.instance());
    if (beat.leaving()) {
      heard.remove(beat.instance());
    }
  }

  /** The dispatcher answers a heartbeat: until then its sender is none of its members. */
  Heartbeat answered(long request) {
    Beat beat = beats.remove(request);
    if (!beat.beat().leaving()) {
      heard.put(beat.beat().instance(), beat);
    }
    return beat.beat();
  }

  /** The dispatcher sends a command to the log. */
  void check(DataCommand command) {
    if (command instanceof DataCommand.SetDrain c && c.drain() != null && isUnforced(c)) {
      throw new SimulationFailure("a reset without force takes a shard: " + c);
    } else if (command instanceof DataCommand.ResetLease c && isUnforced(c)) {
      checkOwner(c);
    }
  }

  /** The log has taken a command. */
  void taken(DataCommand command) {
    if (command instanceof DataCommand.ResetLease reset) {
      unforced.replaceAll(
          (request, keys) -> keys.stream().filter(each -> !each.equals(key(reset))).toList());
    }
  }

  private static LeaseKey key(DataCommand.OfLease command) {
    return new LeaseKey(command.shard(), command.group());
  }

  private boolean isUnforced(DataCommand.OfLease command) {
    return unforced.values().stream().anyMatch(keys -> keys.contains(key(command)));
  }

  private void checkOwner(DataCommand.ResetLease reset) {
    Lease lease = world.brokers.of(reset.shard()).lease(reset.group(), reset.shard());
    if (lease == null || !lease.ownedAt(reset.expectedEpoch())) {
      return;
    }
    boolean alone =
        runs.getOrDefault(lease.group() + "/" + lease.owner(), Set.of())
            .equals(Set.of(lease.instance()));
    Beat last = heard.get(lease.instance());
    boolean there = last != null && world.places().contains(last.beat().clusterMember());
    if (alone && there && world.time.now() - last.millis() < SURELY_ALIVE_MILLIS) {
      throw new SimulationFailure(
          "a reset without force of what somebody owns: " + reset + " " + lease);
    }
  }
}
