package dev.evenkeel.sim;

import static dev.evenkeel.Loops.times;

import dev.evenkeel.client.internal.produce.core.DueTime;
import dev.evenkeel.model.Content;
import dev.evenkeel.model.Promise;
import dev.evenkeel.model.UserModel;
import dev.evenkeel.model.UserModel.Sent;
import dev.evenkeel.model.UserModel.Topic;
import dev.evenkeel.protocol.DelayedId;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.TopicInfo;
import dev.evenkeel.protocol.wire.AppendBody;
import dev.evenkeel.protocol.wire.AppendResults;
import dev.evenkeel.protocol.wire.BatchBuilder;
import dev.evenkeel.protocol.wire.Murmur2;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Sends what users send: of each topic some messages at a time, and each batch again until it is
 * answered, with the same sequence. The next messages of the topic go when these have their places.
 */
final class UserSender extends Actor {
  private static final long TIMEOUT_MILLIS = 2_000;
  private static final long AGAIN_MILLIS = 200;
  private static final int MESSAGES_MAX = 50;
  private static final int KEYS = 7;

  /** What is to be sent to a topic. */
  private static final class Pipe {
    private final Topic topic;

    /** Since each message has a way of its own, they stay in their order. */
    private final ArrayDeque<Waiting> waiting = new ArrayDeque<>();

    private final List<Waiting> sealed = new ArrayList<>();
    private final Map<Shard, Long> sequences = new HashMap<>();
    private int underWay;
    private int turn;

    Pipe(Topic topic) {
      this.topic = topic;
    }
  }

  /**
   * @param dueMillis 0: at once
   */
  private record Waiting(Sent sent, long dueMillis) {}

  private final UserWorld world;
  private final long producerId;
  private long lastDueMillis;
  private final Map<Topic, Pipe> pipes = new HashMap<>();

  UserSender(UserWorld world) {
    super("sender");
    this.world = world;
    Reply reply = world.brokers.submit(new MetaCommand.RegisterProducer(""));
    producerId = ((Reply.OfProducer) reply).producerId();
  }

  /**
   * @param delayMillis 0: not delayed
   */
  void send(Topic topic, int count, int keys, long delayMillis) {
    Pipe pipe = pipes.computeIfAbsent(topic, Pipe::new);
    long now = world.time.now();
    long due = delayMillis == 0 ? 0 : DueTime.of(now + delayMillis, now);
    lastDueMillis = Math.max(lastDueMillis, due);
    long notBefore = Math.max(0, due - UserWorld.earlyMillisMax());
    for (int i = 0; i < count; i++) {
      int key = (keys + i) % KEYS;
      Sent sent =
          world.model.sending(
              topic,
              key == KEYS - 1 ? null : "k" + key,
              i % 2 == 0 ? "a" : "b",
              due == 0 ? "plain" : "later",
              notBefore);
      pipe.waiting.add(new Waiting(sent, due));
    }
    pump(pipe);
  }

  /** When the last delayed message is due. */
  long lastDueMillis() {
    return lastDueMillis;
  }

  /** Whether everything has its answer. */
  boolean isDone() {
    return pipes.values().stream().allMatch(pipe -> pipe.underWay == 0 && pipe.waiting.isEmpty());
  }

  private void pump(Pipe pipe) {
    if (pipe.underWay > 0 || pipe.waiting.isEmpty()) {
      return;
    }
    TopicInfo topic = pipe.topic.deleted ? null : world.brokers.topic(pipe.topic.name);
    if (topic == null) {
      pipe.waiting.forEach(each -> world.model.notStored(each.sent, true));
      pipe.waiting.clear();
      return;
    }
    Map<Shard, List<Waiting>> parts = new TreeMap<>();
    long due = pipe.waiting.getFirst().dueMillis;
    for (int i = 0; i < MESSAGES_MAX && !pipe.waiting.isEmpty(); i++) {
      if (pipe.waiting.getFirst().dueMillis != due) {
        break;
      }
      Waiting next = pipe.waiting.removeFirst();
      Shard shard = new Shard(topic.id(), shard(pipe, topic, Content.of(next.sent, false)));
      parts.computeIfAbsent(shard, any -> new ArrayList<>()).add(next);
    }
    pipe.underWay = parts.size();
    parts.forEach((shard, some) -> send(pipe, item(pipe, shard, some, due), some));
  }

  private static int shard(Pipe pipe, TopicInfo topic, Message message) {
    int place =
        message.key() == null
            ? pipe.turn++ % topic.shards()
            : Murmur2.shard(message.key(), topic.shards());
    return topic.open().first() + place;
  }

  private AppendBody.Item item(Pipe pipe, Shard shard, List<Waiting> some, long due) {
    BatchBuilder builder = new BatchBuilder(256);
    some.forEach(each -> builder.add(Content.of(each.sent, false)));
    long sequence = pipe.sequences.getOrDefault(shard, 0L);
    return new AppendBody.Item(shard, builder.build(producerId, 0, sequence), due);
  }

  private void send(Pipe pipe, AppendBody.Item item, List<Waiting> some) {
    boolean known = isDropped(item.shard());
    world.network.<AppendResults.Result>call(
        this,
        null,
        world.time.text(() -> "batch for " + item.shard()),
        TIMEOUT_MILLIS,
        answer -> world.brokers.of(item.shard()).append(item, answer),
        result -> answered(pipe, item, some, known, result),
        no -> world.time.in(AGAIN_MILLIS, this, null, () -> send(pipe, item, some)));
  }

  /** Whether the shard was dropped after its topic got others. */
  private boolean isDropped(Shard shard) {
    TopicInfo topic = world.brokers.topic(shard.topicId());
    return topic != null && topic.remembers(shard.shard());
  }

  /**
   * @param known it was sent although its shard was dropped: then it was not taken before, either
   */
  private void answered(
      Pipe pipe,
      AppendBody.Item item,
      List<Waiting> some,
      boolean known,
      AppendResults.Result result) {
    boolean unknown = result.refusal() == Refusal.UNKNOWN_SHARD;
    if (unknown && !known && isDropped(item.shard())) {
      send(pipe, item, some);
      return;
    }
    if (result.ok()) {
      pipe.sequences.merge(item.shard(), (long) some.size(), Long::sum);
      times(some.size(), i -> stored(some.get(i), item.shard().shard(), result.value(), i));
    } else if (result.refusal() == Refusal.SEALED || unknown && known) {
      pipe.sealed.addAll(some);
    } else {
      some.forEach(each -> world.model.notStored(each.sent, true));
      if (!pipe.topic.deleted) {
        world.model.fault(Promise.ANSWERS, "a batch is refused: " + item.shard() + " " + result);
      }
    }
    if (--pipe.underWay == 0) {
      boolean wait = !pipe.sealed.isEmpty();
      pipe.sealed.sort(Comparator.comparingInt((Waiting each) -> each.sent.id()).reversed());
      pipe.sealed.forEach(pipe.waiting::addFirst);
      pipe.sealed.clear();
      world.time.in(wait ? AGAIN_MILLIS : 0, this, null, () -> pump(pipe));
    }
  }

  private void stored(Waiting each, int shard, long value, int position) {
    UserModel model = world.model;
    if (each.dueMillis == 0 || value == AppendResults.Result.OFFSET_FORGOTTEN) {
      model.stored(each.sent, shard, value < 0 ? -1 : value + position, null, world.time.now());
    } else {
      long serial = AppendResults.Result.serial(value);
      model.stored(
          each.sent,
          -1,
          -1,
          new DelayedId(shard, each.dueMillis, serial, position).text(),
          world.time.now());
    }
  }
}
