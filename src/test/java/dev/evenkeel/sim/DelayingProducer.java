package dev.evenkeel.sim;

import dev.evenkeel.client.internal.produce.core.DueTime;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.TopicInfo;
import dev.evenkeel.protocol.wire.AppendBody;
import dev.evenkeel.protocol.wire.AppendResults;
import dev.evenkeel.protocol.wire.BatchBuilder;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;

/**
 * Sends delayed messages, one batch after another for each shard, and each again until it is
 * answered: with the same sequence, so that the log takes it once.
 */
final class DelayingProducer extends Actor {
  private static final long TIMEOUT_MILLIS = 2_000;
  private static final int DELAY_MILLIS_MAX = 6_000;

  private final World world;
  private final SplittableRandom random;
  private final long producerId;
  private final long until;
  private final Map<Shard, Long> sequences = new HashMap<>();
  private final Set<Shard> busy = new HashSet<>();

  DelayingProducer(World world, long until) {
    super("producer");
    this.world = world;
    this.random = world.random;
    this.until = until;
    Reply reply = world.brokers.submit(new MetaCommand.RegisterProducer(""));
    producerId = ((Reply.OfProducer) reply).producerId();
    world.time.in(20, null, null, this::again);
  }

  private void again() {
    if (world.time.now() >= until) {
      return;
    }
    List<TopicInfo> topics = world.brokers.inputTopics();
    if (!topics.isEmpty()) {
      TopicInfo topic = topics.get(random.nextInt(topics.size()));
      Shard shard = new Shard(topic.id(), random.nextInt(topic.shards()));
      if (!busy.contains(shard)) {
        send(shard, 1 + random.nextInt(4));
      }
    }
    world.time.in(100 + random.nextInt(900), null, null, this::again);
  }

  private void send(Shard shard, int count) {
    busy.add(shard);
    long now = world.time.now();
    long due = DueTime.of(now + 1 + random.nextInt(DELAY_MILLIS_MAX), now);
    BatchBuilder builder = new BatchBuilder(256);
    for (int i = 0; i < count; i++) {
      String key = random.nextInt(5) == 0 ? null : "k" + random.nextInt(4);
      builder.add(world.delays.message(shard, key, due, now));
    }
    long sequence = sequences.getOrDefault(shard, 0L);
    sequences.put(shard, sequence + count);
    send(new AppendBody.Item(shard, builder.build(producerId, 0, sequence), due));
  }

  private void send(AppendBody.Item item) {
    String what = "delayed batch for " + item.shard() + ", due " + item.dueMillis();
    world.network.<AppendResults.Result>call(
        this,
        null,
        what,
        TIMEOUT_MILLIS,
        answer -> world.brokers.of(item.shard()).append(item, answer),
        result -> answered(item, result),
        no -> sendAgain(item, no));
  }

  private void answered(AppendBody.Item item, AppendResults.Result result) {
    if (result.ok()) {
      busy.remove(item.shard());
    } else if (!world.logs.isDropped(item.shard())) {
      throw new SimulationFailure("a delayed batch is refused: " + item.shard() + " " + result);
    }
  }

  private void sendAgain(AppendBody.Item item, RefusedException no) {
    world.time.in(100 + random.nextInt(200), this, "sends again, after " + no, () -> send(item));
  }
}
