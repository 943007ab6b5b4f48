package dev.evenkeel.sim;

import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.TopicInfo;
import dev.evenkeel.protocol.wire.AppendBody;
import dev.evenkeel.protocol.wire.AppendResults;
import dev.evenkeel.protocol.wire.BatchBuilder;
import dev.evenkeel.protocol.wire.Murmur2;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;

/**
 * Sends messages, one batch after another for each shard, and each again until it is answered: with
 * the same sequence, so that the log takes it once.
 */
final class SimProducer extends Actor {
  private static final long TIMEOUT_MILLIS = 2_000;

  private final World world;
  private final SplittableRandom random;
  private final Machine machine;
  private final long producerId;
  private final Map<Shard, Long> sequences = new HashMap<>();
  private final Set<Shard> busy = new HashSet<>();
  private int messagesLeft;
  private boolean running = true;

  SimProducer(World world, Machine machine, int messages) {
    super("producer");
    this.world = world;
    this.machine = machine;
    random = world.random;
    messagesLeft = messages;
    Reply reply = world.brokers.submit(new MetaCommand.RegisterProducer(""));
    producerId = ((Reply.OfProducer) reply).producerId();
    world.time.in(10, null, null, this::again);
  }

  private void again() {
    List<TopicInfo> topics = world.brokers.inputTopics();
    if (!topics.isEmpty()) {
      TopicInfo topic = topics.get(random.nextInt(topics.size()));
      Shard shard = new Shard(topic.id(), topic.open().first() + random.nextInt(topic.shards()));
      if (!busy.contains(shard)) {
        send(topic, shard, Math.min(messagesLeft, 1 + random.nextInt(6)));
      }
    }
    running = messagesLeft > 0;
    if (running) {
      world.time.in(20 + random.nextInt(400), null, null, this::again);
    }
  }

  private void send(TopicInfo topic, Shard shard, int count) {
    busy.add(shard);
    messagesLeft -= count;
    BatchBuilder builder = new BatchBuilder(256);
    for (int i = 0; i < count; i++) {
      String key = random.nextInt(5) == 0 ? null : "k" + random.nextInt(4);
      if (world.features.focus().reshards() && !isThere(topic, key, shard)) {
        key = null;
      }
      builder.add(world.sent.message(shard, key, machine.wallMillis()));
    }
    long sequence = sequences.getOrDefault(shard, 0L);
    sequences.put(shard, sequence + count);
    send(new AppendBody.Item(shard, builder.build(producerId, 0, sequence)));
  }

  private static boolean isThere(TopicInfo topic, String key, Shard shard) {
    return key == null
        || topic.open().first()
                + Murmur2.shard(key.getBytes(StandardCharsets.UTF_8), topic.shards())
            == shard.shard();
  }

  private void send(AppendBody.Item item) {
    world.network.<AppendResults.Result>call(
        this,
        null,
        "batch for " + item.shard(),
        TIMEOUT_MILLIS,
        answer -> world.brokers.of(item.shard()).append(item, answer),
        result -> answered(item, result),
        no -> sendAgain(item, no));
  }

  private void answered(AppendBody.Item item, AppendResults.Result result) {
    if (result.ok()) {
      busy.remove(item.shard());
    } else if (result.refusal() == Refusal.SEALED) {
      // Others are sent in their place, to the shards that the topic has now.
      busy.remove(item.shard());
      sequences.merge(item.shard(), -(long) item.batch().count(), Long::sum);
      messagesLeft += item.batch().count();
      if (!running) {
        running = true;
        world.time.in(100, null, null, this::again);
      }
    } else if (!world.logs.isDropped(item.shard())) {
      throw new SimulationFailure("a batch is refused: " + item.shard() + " " + result);
    }
  }

  private void sendAgain(AppendBody.Item item, RefusedException no) {
    world.time.in(50 + random.nextInt(200), this, "sends again, after " + no, () -> send(item));
  }
}
