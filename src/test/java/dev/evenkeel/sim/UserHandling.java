package dev.evenkeel.sim;

import dev.evenkeel.client.Delivery;
import dev.evenkeel.client.ShardContext;
import dev.evenkeel.client.internal.consume.Answer;
import dev.evenkeel.client.internal.consume.ConsumerAction.CallAssign;
import dev.evenkeel.client.internal.consume.ConsumerAction.CallRelease;
import dev.evenkeel.client.internal.consume.Effects;
import dev.evenkeel.client.internal.consume.Task;
import dev.evenkeel.model.Content;
import dev.evenkeel.model.Promise;
import dev.evenkeel.model.UserModel;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.Murmur2;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * The handlers of one run of a member, as those of the model on real nodes: they tell the model
 * what they get, and fail where they are to.
 */
final class UserHandling implements SimHandling {
  private final UserWorld world;
  private final UserModel model;
  private final UserGroup of;
  private final SimConsumer consumer;

  /** The numbers that it has handled, by shard, if it keeps a state. */
  private final Map<String, Set<Integer>> states = new HashMap<>();

  UserHandling(UserWorld world, UserGroup of, SimConsumer consumer) {
    this.world = world;
    this.of = of;
    this.consumer = consumer;
    model = world.model;
  }

  // ---- Messages

  @Override
  public void start(Task task) {
    Delivery delivery = task.delivery(consumer.member);
    Message message = delivery.message();
    int id = Content.id(message);
    Effects effects = of.publishes() ? task.newEffects() : null;
    Set<Integer> state = states.get(name(delivery.topic(), delivery.shard()));
    if (of.keepsState()) {
      check(state, id, delivery);
    }
    world.time.note(() -> consumer + " begins " + model.sent(id) + " at " + delivery.offset());
    Boolean well =
        model.begins(
            of.group,
            id,
            Content.isIntact(model.sent(id), message),
            UserModel.Got.of(delivery),
            world.time.now());
    if (of.kind().publishes()) {
      effects.publish(output(delivery), message);
    }
    later(
        id,
        () -> {
          world.time.note(() -> consumer + " ends " + model.sent(id) + " " + well);
          model.ends(of.group, consumer.member, id, Boolean.TRUE.equals(well));
          if (Boolean.TRUE.equals(well)) {
            finished(task, delivery, id, state, effects);
          } else {
            consumer.core.failed(
                task, new IllegalStateException("meant to fail"), consumer.clock());
          }
        });
  }

  private void check(Set<Integer> state, int id, Delivery delivery) {
    if (state == null) {
      model.fault(Promise.ASSIGNED_FIRST, of + ": before onAssign: " + delivery);
    } else if (state.contains(id)) {
      model.fault(Promise.STATE_IS_EXACT, of + ": in its state already: " + model.sent(id));
    }
  }

  private void finished(Task task, Delivery delivery, int id, Set<Integer> state, Effects effects) {
    if (state != null) {
      state.add(id);
      String shard = name(delivery.topic(), delivery.shard());
      if (states.get(shard) == state) {
        model.kept(of.group, shard, this, state);
      }
      if (of.kind().commitsState()) {
        effects.commit(written(state));
      }
    }
    consumer.core.finished(task, consumer.clock());
  }

  private Shard output(Delivery delivery) {
    byte[] key = delivery.message().key();
    int shards = of.outputs.shards();
    return new Shard(
        of.outputs.id(), key == null ? delivery.shard() % shards : Murmur2.shard(key, shards));
  }

  /** Some end at once, most soon, and all later that hang. */
  private void later(int id, Runnable end) {
    long hangs = world.hangUntilMillis - world.time.now();
    long millis = hangs > 0 ? hangs : id * 31 % 5 < 2 ? 0 : id * 31 % 37;
    if (millis == 0) {
      end.run();
    } else {
      world.time.in(
          millis,
          consumer,
          null,
          () -> {
            end.run();
            consumer.turn();
          });
    }
  }

  // ---- Shards

  @Override
  public void assign(CallAssign call) {
    ShardContext context = call.shard();
    String shard = name(context.topic(), context.shard());
    world.time.note(() -> consumer + " is assigned " + context);
    if (of.keepsState()) {
      Set<Integer> ids = new HashSet<>();
      read(call.state(), ids);
      call.parents().forEach(parent -> read(parent.state(), ids));
      states.put(shard, ids);
      model.owns(of.group, shard, this, ids);
    }
    world.time.in(
        1 + world.random.nextInt(20),
        consumer,
        null,
        () -> {
          consumer.core.answered(call, Answer.of(null), consumer.clock());
          consumer.turn();
        });
  }

  @Override
  public void release(CallRelease call) {
    ShardContext context = call.shard();
    world.time.note(() -> consumer + " is asked to release " + context);
    Set<Integer> ids = remove(context);
    byte[] state = of.kind().givesState() ? written(ids) : null;
    world.time.in(
        1 + world.random.nextInt(20),
        consumer,
        null,
        () -> {
          consumer.core.answered(call, Answer.of(state), consumer.clock());
          consumer.turn();
        });
  }

  @Override
  public void lost(ShardContext context) {
    remove(context);
  }

  private Set<Integer> remove(ShardContext context) {
    String shard = name(context.topic(), context.shard());
    model.releases(of.group, shard, this);
    return states.remove(shard);
  }

  private static String name(String topic, int shard) {
    return topic + "/" + shard;
  }

  private static void read(byte[] state, Set<Integer> ids) {
    ByteBuffer in = ByteBuffer.wrap(state == null ? new byte[0] : state);
    while (in.hasRemaining()) {
      ids.add(in.getInt());
    }
  }

  private static byte[] written(Set<Integer> ids) {
    if (ids == null) {
      return new byte[0];
    }
    ByteBuffer out = ByteBuffer.allocate(Integer.BYTES * ids.size());
    ids.forEach(out::putInt);
    return out.array();
  }

  @Override
  public void wake() {}

  @Override
  public void stopped() {}
}
