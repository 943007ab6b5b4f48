package dev.evenkeel.sim;

import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.Delivery;
import dev.evenkeel.client.ShardContext;
import dev.evenkeel.client.internal.consume.Answer;
import dev.evenkeel.client.internal.consume.ConsumerAction;
import dev.evenkeel.client.internal.consume.ConsumerAction.CallAssign;
import dev.evenkeel.client.internal.consume.ConsumerAction.CallRelease;
import dev.evenkeel.client.internal.consume.ConsumerCore;
import dev.evenkeel.client.internal.consume.Task;
import dev.evenkeel.protocol.Shard;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/**
 * A user's handler: it keeps a state a shard, is slow at times, fails and hangs. It checks the
 * order in which messages come, and that nothing is begun again that it has done.
 */
final class SimHandler implements SimHandling {
  /** What the handler knows of one shard under one epoch. */
  private static final class Work {
    final long begin;
    final BitSet done = new BitSet();
    final BitSet running = new BitSet();
    long sum;

    Work(long begin, long sum) {
      this.begin = begin;
      this.sum = sum;
    }
  }

  private record Key(Shard shard, long epoch) {}

  private final World world;
  private final SimConsumer consumer;
  private final boolean keepsState;
  private final Map<Key, Work> works = new HashMap<>();

  /** What hangs until the faults are over. */
  private final List<Runnable> hanging = new ArrayList<>();

  SimHandler(World world, SimConsumer consumer, boolean keepsState) {
    this.world = world;
    this.consumer = consumer;
    this.keepsState = keepsState;
  }

  private ConsumerCore core() {
    return consumer.core;
  }

  private String text(Supplier<String> what) {
    return world.time.text(what);
  }

  /** Ends now, after a while, or not before the faults are over. */
  private void later(boolean mayBeAtOnce, String what, Runnable end) {
    Runnable turned =
        () -> {
          end.run();
          consumer.turn();
        };
    switch (world.pace()) {
      case AT_ONCE -> {
        if (mayBeAtOnce) {
          end.run();
        } else {
          world.time.in(1, consumer, what, turned);
        }
      }
      case QUICK -> world.time.in(1 + world.random.nextInt(40), consumer, what, turned);
      case SLOW -> world.time.in(world.random.nextInt(3_000), consumer, what, turned);
      case HANGS -> {
        world.time.note(() -> consumer + " hangs: " + what);
        hanging.add(() -> world.time.in(1, consumer, what, turned));
      }
    }
  }

  @Override
  public void wake() {
    hanging.forEach(Runnable::run);
    hanging.clear();
  }

  @Override
  public void lost(ShardContext context) {}

  @Override
  public void stopped() {
    hanging.clear();
  }

  // ---- Messages

  @Override
  public void start(Task task) {
    Delivery delivery = task.delivery(consumer.member);
    ByteBuffer payload = ByteBuffer.wrap(delivery.message().payload());
    Shard shard = new Shard(payload.getInt(), payload.getInt());
    long offset = payload.getLong();
    offset =
        offset < 0
            ? world.delays.offset(-1 - offset, world.knownMillis())
            : world.sent.offset(offset);
    if (offset != delivery.offset() || shard.shard() != delivery.shard()) {
      throw new SimulationFailure("another message than was asked for: " + delivery);
    }
    world.ledger.mustBeGranted(shard, delivery.epoch(), consumer.instance);
    world.checkOverlap(consumer, shard, delivery.epoch());
    Work work = works.get(new Key(shard, delivery.epoch()));
    if (work == null) {
      throw new SimulationFailure("a message before onAssign: " + delivery);
    }
    checkOrder(work, shard, delivery);
    world.ledger.checkParents(shard, world.parents(shard));
    work.running.set((int) offset);
    if (offset >= work.begin) {
      consumer.calls.noteBegun(shard, offset);
    }
    world.begun(shard, offset, delivery.epoch());
    boolean fails = world.poison(shard, offset) || world.fails();
    var what = text(() -> "offset " + delivery.offset() + " of " + shard + "@" + delivery.epoch());
    world.time.note(() -> consumer + " starts " + what);
    if (world.kills(shard, offset)) {
      long millis = 1 + world.random.nextInt(300);
      world.time.in(millis, consumer, text(() -> "dies of " + what), () -> world.dies(consumer));
      return;
    }
    later(
        true,
        text(() -> (fails ? "failed " : "handled ") + what),
        () -> ended(task, work, shard, delivery, fails));
  }

  private void ended(Task task, Work work, Shard shard, Delivery delivery, boolean failed) {
    long offset = delivery.offset();
    work.running.clear((int) offset);
    if (failed) {
      core().failed(task, new IllegalStateException("simulated"), consumer.clock());
      return;
    }
    work.done.set((int) offset);
    work.sum += Tally.weight(shard.topicId(), shard.shard(), offset);
    world.ledger.handled(shard, offset, delivery.epoch());
    if (world.features.publishes()) {
      world.outputs.publish(shard, offset, delivery.epoch(), world.time.now(), task.newEffects());
    }
    core().finished(task, consumer.clock());
  }

  private void checkOrder(Work work, Shard shard, Delivery delivery) {
    int at = (int) delivery.offset();
    // What became of messages since a reset says nothing of one who began before it.
    boolean former = world.ledger.isFormerGeneration(shard, delivery.epoch());
    boolean below = at < work.begin && !former && !world.ledger.hasLeft(shard, at);
    if (below || work.done.get(at) || work.running.get(at)) {
      throw new SimulationFailure(
          "begun again by the same owner: " + shard + " from " + work.begin + " " + delivery);
    }
    if (world.ledger.isDead(shard, at) && world.ledger.isCurrent(shard, delivery.epoch())) {
      throw new SimulationFailure("a dead letter is begun again: " + shard + " " + delivery);
    }
    ConsumerOptions.Order order = world.order();
    String key = delivery.message().keyText();
    boolean ordered = !former && (order == ConsumerOptions.Order.SHARD || key != null);
    for (int before = 0; before < at && ordered && order != ConsumerOptions.Order.NONE; before++) {
      boolean concerned =
          order == ConsumerOptions.Order.SHARD || key.equals(world.logs.key(shard, before));
      // What was moved, or put aside, is not of this owner's window.
      boolean elsewhere = before < work.begin || world.ledger.hasLeft(shard, before);
      if (concerned
          && !work.done.get(before)
          && !(elsewhere && world.ledger.isDone(shard, before))) {
        throw new SimulationFailure("out of the " + order + "'s order: " + shard + " " + delivery);
      }
    }
    if (!key(shard, delivery.offset()).equals(String.valueOf(delivery.message().keyText()))) {
      throw new SimulationFailure("another key: " + delivery);
    }
  }

  private String key(Shard shard, long offset) {
    return String.valueOf(world.logs.key(shard, offset));
  }

  // ---- Shards

  private void checkParents(
      Shard shard, long begin, byte[] state, List<ConsumerAction.Parent> given) {
    List<Shard> parents = world.parents(shard);
    if (begin > 0 || state != null) {
      return;
    }
    // Of one without messages for the group nothing need be known.
    parents =
        parents.stream().filter(each -> world.logs.end(each) > world.ledger.begin(each)).toList();
    List<Integer> known = given.stream().map(ConsumerAction.Parent::shard).toList();
    if (!parents.stream().allMatch(each -> known.contains(each.shard()))) {
      throw new SimulationFailure(
          "states of former shards are missing: "
              + shard
              + " "
              + parents.stream()
                  .map(each -> world.brokers.of(each).lease(World.GROUP, each))
                  .toList()
              + " "
              + given);
    }
    for (ConsumerAction.Parent each : given) {
      world.ledger.checkParent(new Shard(shard.topicId(), each.shard()), each.state());
    }
  }

  @Override
  public void assign(CallAssign call) {
    ShardContext context = call.shard();
    byte[] state = call.state();
    Shard shard = call.owned().shard();
    if (world.statesAreAllThere()) {
      checkParents(shard, context.offset(), state, call.parents());
    }
    long begin = context.offset();
    world.ledger.mustBeGranted(shard, context.epoch(), consumer.instance);
    world.checkOverlap(consumer, shard, context.epoch());
    if (world.features.publishes()) {
      world.outputs.begun(shard, context.epoch());
    }
    if (state != null && state.length > 0) {
      if (!keepsState) {
        throw new SimulationFailure("a state for one that keeps none: " + context);
      }
      if (world.statesAreExact()) {
        world.ledger.checkState(shard, context.epoch(), begin, state);
      }
    }
    boolean fails = world.fails();
    world.time.note(() -> consumer + " is assigned " + context);
    later(
        false,
        text(() -> (fails ? "onAssign fails of " : "onAssign ends of ") + context),
        () -> {
          if (!fails) {
            works.put(
                new Key(shard, context.epoch()), new Work(begin, world.ledger.sum(shard, begin)));
          }
          core()
              .answered(
                  call,
                  new Answer<>(null, fails ? new IllegalStateException("simulated") : null),
                  consumer.clock());
        });
  }

  @Override
  public void release(CallRelease call) {
    ShardContext context = call.shard();
    Shard shard = call.owned().shard();
    Work work = works.remove(new Key(shard, context.epoch()));
    if (work == null || !work.running.isEmpty()) {
      throw new SimulationFailure("onRelease while handlers run: " + context);
    }
    boolean fails = world.fails();
    byte[] state = keepsState && !fails ? new Tally(context.offset(), work.sum).encode() : null;
    world.time.note(() -> consumer + " is asked to release " + context);
    later(
        false,
        text(() -> (fails ? "onRelease fails of " : "onRelease ends of ") + context),
        () ->
            core()
                .answered(
                    call,
                    new Answer<>(state, fails ? new IllegalStateException("simulated") : null),
                    consumer.clock()));
  }
}
