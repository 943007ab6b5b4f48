package dev.evenkeel.sim;

import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.StartAt;
import dev.evenkeel.protocol.TopicInfo;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/** Resets the group on shards from time to time, with force and without, until the faults end. */
final class Operator extends Actor {
  /** Longer than the dispatcher waits for owners to let go. */
  private static final long TIMEOUT_MILLIS = 25_000;

  private final World world;
  private final SplittableRandom random;
  private final long until;

  Operator(World world, long until) {
    super("operator");
    this.world = world;
    this.random = world.random;
    this.until = until;
    world.time.in(random.nextInt(3_000), null, null, this::again);
  }

  private void again() {
    if (world.time.now() >= until) {
      return;
    }
    List<TopicInfo> topics = world.brokers.inputTopics();
    SimDispatcher dispatcher = world.dispatcherFor();
    if (!topics.isEmpty() && dispatcher != null) {
      TopicInfo topic = topics.get(random.nextInt(topics.size()));
      List<Shard> shards = new ArrayList<>();
      boolean all = random.nextInt(3) == 0;
      int one = random.nextInt(topic.shards());
      for (int i = 0; i < topic.shards(); i++) {
        if (all || i == one) {
          shards.add(new Shard(topic.id(), i));
        }
      }
      reset(dispatcher, shards, place(shards.get(0)), random.nextInt(4) > 0);
    }
    world.time.in(500 + random.nextInt(4_000), null, null, this::again);
  }

  private StartAt place(Shard shard) {
    long end = world.logs.end(shard);
    return switch (random.nextInt(6)) {
      case 0, 1 -> StartAt.EARLIEST;
      case 2 -> StartAt.LATEST;
      case 3 -> StartAt.timestamp(World.START + random.nextInt(20_000));
      // The last one is not there yet.
      default -> StartAt.offset(random.nextInt((int) end + 2));
    };
  }

  private void reset(SimDispatcher dispatcher, List<Shard> shards, StartAt to, boolean force) {
    String what = "reset of " + shards + " to " + to + (force ? " by force" : "");
    world.time.note(() -> name + ": " + what);
    shards.forEach(shard -> world.ledger.asked(shard, to));
    world.network.<Map<Shard, Lease>>call(
        this,
        dispatcher,
        what,
        TIMEOUT_MILLIS,
        answer -> dispatcher.reset(World.GROUP, shards, to, force, answer),
        done -> told(done, to),
        no -> refused(no, what));
  }

  private void told(Map<Shard, Lease> done, StartAt to) {
    done.forEach(
        (shard, lease) -> {
          if (lease != null) {
            world.ledger.told(shard, to, lease);
          }
        });
  }

  private void refused(RefusedException no, String what) {
    Refusal refusal = no.refusal();
    world.time.note(() -> name + " is refused: " + what + ": " + no);
    if (refusal == Refusal.INVALID) {
      throw new SimulationFailure(what + " is refused: " + no);
    }
  }
}
