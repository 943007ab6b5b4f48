package dev.evenkeel.client.internal.admission;

import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.bus.Assignment;
import dev.evenkeel.bus.FetchAnswer;
import dev.evenkeel.bus.GroupFigure;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.ConsumerOptions.DeliveryPolicy;
import dev.evenkeel.client.ConsumerOptions.Order;
import dev.evenkeel.client.ConsumerOptions.OverRate;
import dev.evenkeel.client.ConsumerOptions.RateBy;
import dev.evenkeel.client.Delivery;
import dev.evenkeel.client.Rate;
import dev.evenkeel.client.internal.consume.Admission;
import dev.evenkeel.client.internal.consume.Answer;
import dev.evenkeel.client.internal.consume.ConsumerAction;
import dev.evenkeel.client.internal.consume.ConsumerAction.CallAssign;
import dev.evenkeel.client.internal.consume.ConsumerAction.CallRelease;
import dev.evenkeel.client.internal.consume.ConsumerAction.Commit;
import dev.evenkeel.client.internal.consume.ConsumerAction.CommitPositions;
import dev.evenkeel.client.internal.consume.ConsumerAction.Fetch;
import dev.evenkeel.client.internal.consume.ConsumerAction.RecordOutcomes;
import dev.evenkeel.client.internal.consume.ConsumerAction.Release;
import dev.evenkeel.client.internal.consume.ConsumerCore;
import dev.evenkeel.client.internal.consume.HandlerKind;
import dev.evenkeel.client.internal.consume.Task;
import dev.evenkeel.dedup.DedupKey;
import dev.evenkeel.dedup.QueueCoordinator;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.ShardGroups;
import dev.evenkeel.protocol.wire.BatchBuilder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.TreeMap;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

/** The gate over a whole core, in virtual time: it is woken when it says, and never else. */
class RateGateTest {
  /** One shard or more, whose messages are there; handlers end when the world says. */
  static final class World {
    final ConsumerOptions options;
    final ConsumerCore core;
    final RateGate gate;

    /** Null without. */
    final DedupGate dedup;

    final Map<Integer, List<Message>> log = new TreeMap<>();
    final List<Delivery> dropped = new ArrayList<>();
    final List<Task> running = new ArrayList<>();
    final List<Task> begun = new ArrayList<>();
    final List<Long> begunAt = new ArrayList<>();
    final Map<Integer, Fetch> fetches = new HashMap<>();
    final Map<Integer, Long> committed = new HashMap<>();
    Long released;
    long now = 5_000_000;

    World(ConsumerOptions options, int shards) {
      this(options, shards, RateGate.KEYS_MAX);
    }

    World(ConsumerOptions options, int shards, int keysMax) {
      this(options, shards, keysMax, null);
    }

    World(
        ConsumerOptions options, int shards, int keysMax, QueueCoordinator<DedupKey> coordinator) {
      this.options = options.setGroup("g").setMember("m").setTopics(List.of("t"));
      core = new ConsumerCore(options, "i", HandlerKind.PLAIN, new SplittableRandom(1));
      core.shardGroups(ShardGroups.formed(1));
      boolean payload = options.getRateBy() == RateBy.PAYLOAD;
      ConsumerOptions.Dedup by =
          payload ? ConsumerOptions.Dedup.PAYLOAD : ConsumerOptions.Dedup.KEY;
      dedup = coordinator == null ? null : dedup(coordinator);
      Admission before = dedup == null ? core : dedup;
      gate =
          new RateGate(
              core, before, options, null, new DedupKeys("g", by, null), keysMax, dropped::add);
      core.heartbeatAnswered(now);
      List<Assignment.Owned> owned = new ArrayList<>();
      for (int i = 0; i < shards; i++) {
        log.put(i, new ArrayList<>());
        owned.add(new Assignment.Owned("t", new Shard(1, i), 1, false, 0, 0));
      }
      core.assigned(new Assignment("g", "m", "i", 1, 1, owned, null), now);
      carryOut();
    }

    private DedupGate dedup(QueueCoordinator<DedupKey> coordinator) {
      return new DedupGate(
          core,
          "m",
          options.getParallel(),
          new DedupKeys("g", options.getDedup(), null),
          coordinator,
          first -> {},
          action -> action.accept(now),
          declined -> {});
    }

    /** Another owns the shards now. */
    void loseAll() {
      core.assigned(new Assignment("g", "m", "i", 1, 2, List.of(), null), now);
    }

    /** Another is to own the first shard. */
    void handOver() {
      Assignment.Owned draining = new Assignment.Owned("t", new Shard(1, 0), 1, true, 0, 0);
      core.assigned(new Assignment("g", "m", "i", 1, 2, List.of(draining), null), now);
      gate.tick(now);
      core.tick(now);
      carryOut();
    }

    /** Begins what may begin, and ends it. */
    void handle() {
      turn();
      endAll();
    }

    long waiting() {
      return gate.rates().count(GroupFigure.RATE_WAITING);
    }

    long shardsWaiting() {
      return gate.rates().count(GroupFigure.RATE_SHARDS_WAITING);
    }

    static Message message(String key, String payload) {
      return new Message(
          key == null ? null : key.getBytes(StandardCharsets.UTF_8),
          Map.of(),
          0,
          payload.getBytes(StandardCharsets.UTF_8));
    }

    void append(int shard, String key) {
      append(shard, message(key, key + "-" + log.get(shard).size()));
    }

    void append(int shard, Message message) {
      log.get(shard).add(message);
      answer(shard);
    }

    /** Answers a fetch that waits, if there is something. */
    private void answer(int shard) {
      Fetch fetch = fetches.get(shard);
      if (fetch == null || fetch.request().offset() >= log.get(shard).size()) {
        return;
      }
      fetches.remove(shard);
      BatchBuilder builder = new BatchBuilder(1 << 16);
      int from = (int) fetch.request().offset();
      int end = log.get(shard).size();
      log.get(shard).subList(from, Math.min(end, from + 100)).forEach(builder::add);
      FetchAnswer.Placed batch = new FetchAnswer.Placed(from, builder.build(1, 0, 0));
      core.answered(fetch, Answer.of(new FetchAnswer(0, end, 0, List.of(batch))), now);
    }

    void carryOut() {
      ConsumerAction action;
      while ((action = core.poll()) != null) {
        if (action instanceof CallAssign assign) {
          core.answered(assign, Answer.of(null), now);
        } else if (action instanceof Fetch fetch) {
          fetches.put(fetch.owned().shard().shard(), fetch);
          answer(fetch.owned().shard().shard());
        } else if (action instanceof Commit commit) {
          committed.put(commit.owned().shard().shard(), commit.command().offset());
          core.answered(commit, Answer.of(Reply.DONE), now);
        } else if (action instanceof CommitPositions commit) {
          core.answered(commit, Answer.of(new Reply.OfCommits(List.of())), now);
          commit.positions().forEach(each -> committed.put(each.shard().shard(), each.offset()));
        } else if (action instanceof CallRelease release) {
          core.answered(release, Answer.of(null), now);
        } else if (action instanceof Release release) {
          released = release.command().offset();
          core.answered(release, Answer.of(Reply.DONE), now);
        } else if (action instanceof RecordOutcomes record) {
          core.answered(record, Answer.of(new Reply.OfOffsets(List.of())), now);
        }
      }
    }

    /** Begins what may begin now. */
    void turn() {
      carryOut();
      Task task;
      while ((task = gate.next(now)) != null) {
        running.add(task);
        begun.add(task);
        begunAt.add(now);
        carryOut();
      }
      carryOut();
    }

    void end(int index) {
      gate.finished(running.remove(index), now);
    }

    void endAll() {
      while (!running.isEmpty()) {
        end(0);
      }
    }

    /** Time goes to {@code millis}, with the core's ticks for heartbeat and commit. */
    void at(long millis) {
      now = millis;
      core.heartbeatAnswered(now);
      core.tick(now);
      turn();
    }

    /** Goes from one time that the gate names to the next until all is finished. */
    void runOut() {
      for (int i = 0; i < 100_000; i++) {
        turn();
        while (!running.isEmpty()) {
          endAll();
          turn();
        }
        long due = gate.dueMillis(now);
        if (due == Long.MAX_VALUE) {
          break;
        }
        assertThat(due).as("what is due now was not begun").isGreaterThan(now);
        at(due);
      }
      at(now + 10_000);
    }

    int messages() {
      return log.values().stream().mapToInt(List::size).sum();
    }

    /** Every message was handled or dropped, once, and all is committed. */
    void assertAllOver() {
      List<String> over = new ArrayList<>();
      begun.forEach(task -> over.add(task.shard() + "/" + task.offset()));
      dropped.forEach(each -> over.add(each.shard() + "/" + each.offset()));
      assertThat(over).doesNotHaveDuplicates().hasSize(messages());
      assertThat(gate.rates().count(GroupFigure.RATE_WAITING)).isZero();
      assertThat(gate.rates().count(GroupFigure.RATE_DROPPED)).isEqualTo(dropped.size());
      assertThat(core.consumed()).isEqualTo(messages());
      log.forEach(
          (shard, all) ->
              assertThat(committed.getOrDefault(shard, 0L)).isEqualTo((long) all.size()));
    }

    /** Of one key, or of all with null: never more than the rate allows in any time. */
    void assertBounded(String key, Rate rate) {
      List<Long> times = new ArrayList<>();
      for (int i = 0; i < begun.size(); i++) {
        if (key == null || key.equals(begun.get(i).message().keyText())) {
          times.add(begunAt.get(i));
        }
      }
      for (int i = 0; i < times.size(); i++) {
        for (int j = i; j < times.size(); j++) {
          double periods = (times.get(j) - times.get(i)) / (double) rate.periodMillis();
          if (j - i + 1.0 > rate.permits() * (1 + periods) + 1e-9) {
            throw new AssertionError(
                j - i + 1 + " of " + key + " from " + times.get(i) + " to " + times.get(j));
          }
        }
      }
    }

    /** The offsets of a key and shard in the order in which they began. */
    List<Long> order(int shard, String key) {
      return begun.stream()
          .filter(task -> task.shard() == shard)
          .filter(task -> key.equals(task.message().keyText()))
          .map(task -> task.offset())
          .toList();
    }
  }

  private static final String[] KEYS = {"hot", "b", "c", "d", "e"};

  private static ConsumerOptions random(Random random) {
    Order[] orders = Order.values();
    ConsumerOptions options =
        new ConsumerOptions()
            .setOrder(orders[random.nextInt(orders.length)])
            .setParallel(1 + random.nextInt(6))
            .setHandOutMessages(1 + random.nextInt(20));
    if (random.nextBoolean()) {
      options.setRate(new Rate(1 + random.nextInt(10), 1 + random.nextInt(300)));
    }
    if (options.getRate() == null || random.nextInt(4) > 0) {
      options.setKeyRate(new Rate(1 + random.nextInt(4), 1 + random.nextInt(2_000)));
      if (options.getOrder() != Order.SHARD) {
        OverRate[] over = OverRate.values();
        options.setOverRate(over[random.nextInt(over.length)]);
      }
    }
    return options;
  }

  private static String key(Random random) {
    return random.nextInt(3) == 0 ? KEYS[random.nextInt(KEYS.length)] : KEYS[0];
  }

  @Property(tries = 300)
  void ratesAreKeptAndNothingIsLeft(@ForAll long seed) {
    Random random = new Random(seed);
    ConsumerOptions options = random(random);
    int shards = 1 + random.nextInt(3);
    World world = new World(options, shards);
    for (int i = 0; i < 200; i++) {
      switch (random.nextInt(5)) {
        case 0, 1 -> {
          int some = random.nextInt(8);
          for (int k = 0; k < some; k++) {
            // A key has one shard, as producers have it.
            String key = random.nextInt(20) == 0 ? null : key(random);
            world.append(key == null ? 0 : Math.floorMod(key.hashCode(), shards), key);
          }
        }
        case 2 -> world.at(world.now + random.nextInt(400));
        case 3 -> world.turn();
        default -> {
          if (!world.running.isEmpty()) {
            world.end(random.nextInt(world.running.size()));
          }
        }
      }
      assertThat(world.running.size()).isLessThanOrEqualTo(options.getParallel());
    }
    world.runOut();
    world.assertAllOver();
    if (options.getRate() != null) {
      world.assertBounded(null, options.getRate());
    }
    for (String key : KEYS) {
      if (options.getKeyRate() != null) {
        world.assertBounded(key, options.getKeyRate());
      }
      if (options.getOrder() != Order.NONE) {
        for (int shard = 0; shard < shards; shard++) {
          assertThat(world.order(shard, key)).as("order of %s", key).isSorted();
        }
      }
    }
    if (options.getOverRate() == OverRate.WAIT) {
      assertThat(world.dropped).isEmpty();
    }
  }

  /** However hot one key is, the others begin as soon as their own rate and the total allow. */
  @Property(tries = 60)
  void noKeyStarves(@ForAll long seed) {
    Random random = new Random(seed);
    boolean byKey = random.nextBoolean();
    World world =
        new World(
            new ConsumerOptions()
                .setOrder(byKey ? Order.KEY : Order.NONE)
                .setParallel(1 + random.nextInt(4))
                .setRate(new Rate(5, 100))
                .setKeyRate(new Rate(1, 1_000)),
            1);
    times(500, i -> world.append(0, "hot"));
    times(40, i -> world.append(0, "cold-" + i));
    for (int i = 0; i < 200; i++) {
      world.handle();
      world.at(world.now + 10);
      world.endAll();
    }
    // Two seconds: the total allows 105, the hot key 3, each of the others needs 1.
    List<String> keys = world.begun.stream().map(task -> task.message().keyText()).toList();
    assertThat(keys.stream().filter("hot"::equals).count()).isBetween(2L, 3L);
    assertThat(keys.stream().filter(key -> key.startsWith("cold")).count()).isEqualTo(40);
  }

  private static World one(OverRate over, Order order) {
    return new World(keyRate(order, 2, 1_000).setOverRate(over).setParallel(10), 1);
  }

  private static ConsumerOptions keyRate(Order order, int permits, long millis) {
    return new ConsumerOptions().setOrder(order).setKeyRate(new Rate(permits, millis));
  }

  static List<Long> offsets(World world) {
    return world.begun.stream().map(task -> task.offset()).toList();
  }

  private static List<Long> droppedOffsets(World world) {
    return world.dropped.stream().map(Delivery::offset).sorted().toList();
  }

  private static void eightOfAKey(
      OverRate over, Order order, List<Long> handled, List<Long> dropped) {
    World world = one(over, order);
    times(8, i -> world.append(0, "a"));
    world.runOut();
    assertThat(offsets(world)).as(order.name()).isEqualTo(handled);
    assertThat(droppedOffsets(world)).isEqualTo(dropped);
    world.assertAllOver();
  }

  @Example
  void theNewestAreDroppedWhileOneWaits() {
    for (Order order : List.of(Order.NONE, Order.KEY)) {
      // Two tokens are there; the third waits.
      eightOfAKey(OverRate.DROP_NEWEST, order, List.of(0L, 1L, 2L), List.of(3L, 4L, 5L, 6L, 7L));
    }
  }

  @Example
  void theOldestThatWaitAreDroppedForANewerOne() {
    for (Order order : List.of(Order.NONE, Order.KEY)) {
      eightOfAKey(OverRate.DROP_OLDEST, order, List.of(0L, 1L, 7L), List.of(2L, 3L, 4L, 5L, 6L));
    }
  }

  @Example
  void otherPayloadsOfAKeyAreNotTheSame() {
    ConsumerOptions options = keyRate(Order.KEY, 1, 1_000).setRateBy(RateBy.PAYLOAD);
    World world = new World(options.setOverRate(OverRate.DROP_NEWEST), 1);
    for (String payload : List.of("x", "x", "y", "x", "y", "z", "x")) {
      world.append(0, World.message("k", payload));
    }
    world.runOut();
    // Of x the second waits, which the later ones do not.
    assertThat(offsets(world)).containsExactly(0L, 1L, 2L, 4L, 5L);
    assertThat(droppedOffsets(world)).containsExactly(3L, 6L);
    world.assertAllOver();
  }

  @Example
  void withoutAKeyThereIsNoRateOfAKey() {
    World world = one(OverRate.DROP_NEWEST, Order.NONE);
    times(8, i -> world.append(0, (String) null));
    world.turn();
    assertThat(world.begun).hasSize(8);
    world.runOut();
    world.assertAllOver();
  }

  @Example
  void whatWaitsIsBoundedAndThenTheShardWaits() {
    World world = new World(keyRate(Order.NONE, 1, 60_000), 2);
    times(2 * ConsumerCore.WAITING_OF_SHARD_MAX, i -> world.append(0, "hot"));
    world.append(0, "behind");
    world.append(1, "other");
    world.handle();
    world.handle();
    List<String> keys = world.begun.stream().map(task -> task.message().keyText()).toList();
    assertThat(keys).contains("hot", "other").doesNotContain("behind");
    assertThat(world.waiting()).isEqualTo(ConsumerCore.WAITING_OF_SHARD_MAX);
    assertThat(world.shardsWaiting()).isEqualTo(1);
    world.runOut();
    world.assertAllOver();
  }

  @Example
  void bucketsAreBoundedAndFullOnesMakeRoom() {
    World world = new World(keyRate(Order.NONE, 1, 1_000), 1, 3);
    times(30, i -> world.append(0, "k" + i % 10));
    world.handle();
    world.turn();
    assertThat(world.begun).as("no room for a fourth key").hasSize(3);
    assertThat(world.gate.buckets.buckets.size()).isEqualTo(3);
    world.runOut();
    world.assertAllOver();
    times(10, i -> world.assertBounded("k" + i, new Rate(1, 1_000)));
  }

  @Example
  void aHandOverDoesNotWaitForATurnThatIsFar() {
    for (int seconds : new int[] {1, 60}) {
      World world = new World(keyRate(Order.NONE, 1, 1_000L * seconds), 1);
      world.append(0, "a");
      world.append(0, "a");
      world.append(0, "b");
      world.handle();
      world.handOver();
      assertThat(world.released).isEqualTo(seconds > 1 ? 1L : null);
      if (seconds == 1) {
        world.runOut();
        assertThat(offsets(world)).containsExactly(0L, 2L, 1L);
        assertThat(world.released).isEqualTo(3L);
      }
    }
  }

  @Example
  void withAtMostOnceAHandOverWaitsForWhatIsCommittedHoweverFarItsTurnIs() {
    ConsumerOptions options =
        keyRate(Order.NONE, 1, 10_000).setDelivery(DeliveryPolicy.AT_MOST_ONCE);
    World world = new World(options, 1);
    world.append(0, "a");
    world.handle();
    world.append(0, "a");
    world.turn();
    assertThat(world.committed.get(0)).isEqualTo(2L);
    world.handOver();
    assertThat(world.released).isNull();
    world.runOut();
    assertThat(offsets(world)).containsExactly(0L, 1L);
    assertThat(world.released).isEqualTo(2L);
  }

  /** What is committed and not begun bounds how much more may be, long before too much is held. */
  @Example
  void withAtMostOnceAShardThatWaitsForARateIsSeen() {
    ConsumerOptions options =
        keyRate(Order.NONE, 1, 10_000).setDelivery(DeliveryPolicy.AT_MOST_ONCE);
    World world = new World(options.setHandOutMessages(4), 1);
    List.of("a", "a", "b", "c", "d").forEach(key -> world.append(0, key));
    times(3, i -> world.handle());
    assertThat(offsets(world)).containsExactly(0L, 2L, 3L, 4L);
    assertThat(world.waiting()).isEqualTo(1);
    assertThat(world.shardsWaiting()).as("nothing is behind it").isZero();
    world.append(0, "e");
    world.at(world.now + 1_000);
    assertThat(offsets(world)).hasSize(4);
    assertThat(world.shardsWaiting()).isEqualTo(1);
    world.runOut();
    assertThat(offsets(world)).endsWith(1L, 5L);
    assertThat(world.shardsWaiting()).isZero();
  }

  @Example
  void aShardThatGoesTakesWhatWaitsWithIt() {
    World world = one(OverRate.WAIT, Order.NONE);
    times(8, i -> world.append(0, "a"));
    world.turn();
    assertThat(world.waiting()).isEqualTo(6);
    world.loseAll();
    world.at(world.now + 5_000);
    assertThat(world.begun).hasSize(2);
    assertThat(world.waiting()).isZero();
  }
}
