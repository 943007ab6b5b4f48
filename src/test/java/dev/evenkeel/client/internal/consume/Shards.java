package dev.evenkeel.client.internal.consume;

import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Shard;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/** Owned shards without a consumer around them. */
final class Shards implements OwnedShard.Host {
  static final Shard SHARD = new Shard(1, 0);

  final List<ConsumerAction> actions = new ArrayList<>();

  private final Environment environment =
      new Environment(
          new ConsumerOptions().setGroup("g").setMember("m").setTopics(List.of("t")),
          "i",
          HandlerKind.PLAIN,
          new SplittableRandom(1),
          0,
          action -> actions.add(action),
          () -> 1,
          () -> 0,
          now -> {});

  OwnedShards all() {
    return new OwnedShards(environment, this);
  }

  /** At epoch 3, which begins at offset 0 once the predecessor has ended. */
  OwnedShard shard(OwnedShard predecessor) {
    return new OwnedShard(
        new Ownership("t", SHARD, 3),
        environment,
        this,
        new ShardTakeover.Start(predecessor, false, 0, null, null, null));
  }

  static Task task(OwnedShard owned, long offset, boolean retry) {
    return new Task(owned.handling, offset, new Message(null, Map.of(), 0, new byte[1]), 1, retry);
  }

  @Override
  public void ready(OwnedShard shard) {
    // Nobody takes its messages.
  }

  @Override
  public void gone(OwnedShard shard) {
    // Nobody has it.
  }

  @Override
  public void finished() {
    // Nobody counts.
  }

  @Override
  public boolean mayStart(long now) {
    return true;
  }
}
