package dev.evenkeel.client.internal.produce.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.protocol.Compression;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.TopicInfo;
import dev.evenkeel.protocol.wire.AppendResults.Result;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Random;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.ShrinkingMode;

/**
 * The producer's core against logs that are honest, over a network that is not: requests and
 * answers get lost, late, doubled and out of order, and nodes refuse for a while. jqwik prints the
 * seed of a failure.
 */
class ProducerSimTest {
  private static final long REQUEST_TIMEOUT_MILLIS = 500;
  private static final int TOPIC = 7;

  @Property(tries = 400, shrinking = ShrinkingMode.OFF)
  void everyMessageIsThereOnceAndInOrder(@ForAll long seed) {
    Sim sim = new Sim(seed, 1_000_000_000);
    sim.run();
    sim.logs.forEach(log -> sim.shards().forEach(shard -> ordered(log.messages(shard))));
    sim.assertAllTaken();
    assertThat(sim.core.epoch()).isZero();
  }

  @Property(tries = 400, shrinking = ShrinkingMode.OFF)
  void soItIsWhileTheNumberOfShardsChanges(@ForAll long seed) {
    Sim sim = new Sim(seed, 1_000_000_000);
    sim.reshards = true;
    sim.run();
    sim.assertAllTaken();
    sim.assertKeysInOrder();
  }

  @Property(tries = 400, shrinking = ShrinkingMode.OFF)
  void whatIsGivenUpWhileItChangesIsThereAtMostOnce(@ForAll long seed) {
    Sim sim = new Sim(seed, 900);
    sim.reshards = true;
    sim.run();
    sim.assertEachOver();
    assertThat(sim.inLogs()).doesNotHaveDuplicates();
    sim.assertKeysInOrder();
  }

  /** The producer hears late of layouts that come and go, and answers get lost meanwhile. */
  @Property(tries = 400, shrinking = ShrinkingMode.OFF)
  void soItIsWhileFormerShardsAreDropped(@ForAll long seed) {
    Sim sim = new Sim(seed, 1_000_000_000);
    sim.reshards = true;
    sim.drops = true;
    sim.run();
    sim.assertAllTaken();
    sim.assertKeysInOrder();
  }

  /** Log groups of former versions do not remember what dropped shards had taken. */
  @Property(tries = 400, shrinking = ShrinkingMode.OFF)
  void whatAForgottenShardMayHaveTakenIsIndeterminate(@ForAll long seed) {
    Sim sim = new Sim(seed, seed % 2 == 0 ? 900 : 1_000_000_000);
    sim.reshards = true;
    sim.drops = true;
    sim.forgets = true;
    sim.run();
    sim.assertEachOver();
    assertThat(sim.inLogs()).doesNotHaveDuplicates();
    sim.assertKeysInOrder();
    assertThat(sim.refused.values()).doesNotContain(Refusal.UNKNOWN_TOPIC);
  }

  /** The network has another copy, which comes behind the batch that was missing. */
  @Example
  void aGapOfADeletedTopicIsIndeterminate() {
    aLostAnswerOfADeletedTopicIsIndeterminate(1013, false);
  }

  /** What may be in the log of a deleted topic was not refused. */
  @Property(tries = 100, shrinking = ShrinkingMode.OFF)
  void aLostAnswerOfADeletedTopicIsIndeterminate(@ForAll long seed, @ForAll boolean again) {
    Sim sim = new Sim(seed, 1_000_000_000);
    sim.steps();
    if (again) {
      sim.core.topic(Topics.of(TOPIC + 1, sim.layouts, List.of()));
    } else {
      sim.core.topicDeleted();
    }
    sim.settle();
    sim.assertEachOver();
    assertThat(sim.refused.values()).isSubsetOf(Refusal.UNKNOWN_TOPIC, Refusal.INDETERMINATE);
  }

  @Property(tries = 400, shrinking = ShrinkingMode.OFF)
  void whatIsGivenUpIsThereAtMostOnceAndNothingElseSuffers(@ForAll long seed) {
    Sim sim = new Sim(seed, 900);
    sim.run();
    sim.assertEachOver();
    assertThat(sim.inLogs()).doesNotHaveDuplicates();
    sim.logs.forEach(log -> sim.shards().forEach(shard -> ordered(log.messages(shard))));
    assertThat(sim.refused.values()).allMatch(Refusal::retriable);
  }

  private static void ordered(List<Integer> messages) {
    assertThat(messages).isSorted();
  }

  /** Something that happens at a time; of two at one time the one made first. */
  private record Event(long atMillis, long number, Runnable action) implements Comparable<Event> {
    @Override
    public int compareTo(Event other) {
      int byTime = Long.compare(atMillis, other.atMillis);
      return byTime != 0 ? byTime : Long.compare(number, other.number);
    }
  }

  private static final class Sim {
    final Random random;
    final ProducerCore<Integer> core;
    final List<SimLog> logs = new ArrayList<>();
    final Map<Integer, Long> acked = new HashMap<>();
    final Map<Integer, Refusal> refused = new HashMap<>();
    final PriorityQueue<Event> events = new PriorityQueue<>();
    final double trouble;
    long now;
    long made;
    int sent;
    boolean calm;
    boolean opening;

    /** All that there were; the last one is open, or is being opened. */
    final List<TopicInfo.Layout> layouts = new ArrayList<>();

    final Map<Integer, Byte> keys = new HashMap<>();
    boolean reshards;
    boolean drops;
    boolean forgets;
    boolean looking;

    /** How many of the first layouts are dropped, and of how many that is remembered. */
    int dropped;

    boolean resharding;

    /** Most messages that a quota takes at once, in half of the runs. */
    final int quotaMessages;

    Sim(long seed, long deliveryTimeoutMillis) {
      random = new Random(seed);
      quotaMessages =
          Math.floorMod(seed, 2) == 0 ? Integer.MAX_VALUE : 1 + Math.floorMod(seed >> 1, 4);
      layouts.add(new TopicInfo.Layout(0, 1 + random.nextInt(5), 0));
      trouble = random.nextDouble() * 0.5;
      logs.add(new SimLog());
      logs.add(new SimLog());
      CoreSettings settings =
          new CoreSettings(
              60 + random.nextInt(400),
              random.nextInt(20),
              1 + random.nextInt(8),
              Compression.values()[(int) Math.floorMod(seed, 3L)],
              deliveryTimeoutMillis,
              deliveryTimeoutMillis < 10_000 ? random.nextInt(200) : deliveryTimeoutMillis,
              0);
      core = new ProducerCore<>(settings, null, 1, 0, random::nextDouble);
      core.topic(topic());
    }

    TopicInfo topic() {
      List<TopicInfo.Layout> gone = forgets ? List.of() : layouts.subList(0, dropped);
      return Topics.of(TOPIC, layouts.subList(dropped, layouts.size()), gone);
    }

    /** Drops the oldest layout; the view shows that a little earlier than the logs. */
    void drop() {
      List<Shard> gone = shards(layouts.get(dropped));
      dropped++;
      gone.forEach(shard -> after(delay(), () -> log(shard).drop(shard, !forgets)));
    }

    List<Shard> shards() {
      return layouts.stream().flatMap(each -> shards(each).stream()).toList();
    }

    private static List<Shard> shards(TopicInfo.Layout layout) {
      return layout.numbers().mapToObj(number -> new Shard(TOPIC, number)).toList();
    }

    /** Of each key, what is in a later layout was sent later. */
    void assertKeysInOrder() {
      Map<Byte, Integer> last = new HashMap<>();
      for (TopicInfo.Layout layout : layouts) {
        Map<Byte, List<Integer>> here = new HashMap<>();
        for (Shard shard : shards(layout)) {
          Map<Byte, Integer> inShard = new HashMap<>();
          for (int token : log(shard).messages(shard)) {
            Byte key = keys.get(token);
            if (key != null) {
              Integer before = inShard.put(key, token);
              assertThat(before == null || before < token).as("order of %s", key).isTrue();
              here.computeIfAbsent(key, none -> new ArrayList<>()).add(token);
            }
          }
        }
        here.forEach(
            (key, tokens) -> {
              assertThat(tokens).allMatch(token -> token > last.getOrDefault(key, -1));
              last.put(key, tokens.stream().max(Integer::compare).get());
            });
      }
    }

    /** Seals the shards, each at its time, and then opens others, of which the core hears later. */
    void reshard() {
      resharding = true;
      TopicInfo.Layout open = layouts.get(layouts.size() - 1);
      TopicInfo.Layout next = new TopicInfo.Layout(open.end(), 1 + random.nextInt(5), 0);
      List<Shard> left = new ArrayList<>(shards(open));
      for (Shard shard : shards(open)) {
        after(
            delay(),
            () -> {
              log(shard).seal(shard);
              left.remove(shard);
              if (left.isEmpty()) {
                layouts.add(next);
                after(
                    delay(),
                    () -> {
                      core.topic(topic());
                      resharding = false;
                    });
              }
            });
      }
    }

    List<Integer> inLogs() {
      List<Integer> all = new ArrayList<>();
      shards().forEach(shard -> all.addAll(log(shard).messages(shard)));
      return all;
    }

    SimLog log(Shard shard) {
      return logs.get(shard.dataGroup(logs.size()));
    }

    void assertAllTaken() {
      assertThat(refused).isEmpty();
      assertThat(acked).hasSize(sent);
      assertThat(inLogs()).hasSize(sent).doesNotHaveDuplicates();
    }

    /** Each has an answer, and what was refused for certain is not in the logs. */
    void assertEachOver() {
      assertThat(acked.size() + refused.size()).isEqualTo(sent);
      List<Integer> inLogs = inLogs();
      assertThat(inLogs).containsAll(acked.keySet());
      refused.forEach(
          (token, refusal) -> {
            if (refusal != Refusal.INDETERMINATE) {
              assertThat(inLogs).doesNotContain(token);
            }
          });
    }

    void run() {
      steps();
      settle();
    }

    /** Goes on without trouble until all that was sent has ended. */
    void settle() {
      calm = true;
      for (int round = 0; round < 20_000 && acked.size() + refused.size() < sent; round++) {
        poll();
        advance(20);
      }
    }

    void steps() {
      for (int step = 0; step < 120; step++) {
        for (int i = random.nextInt(6); i > 0; i--) {
          produce();
        }
        if (reshards && !resharding && random.nextInt(20) == 0) {
          reshard();
        }
        if (drops && dropped < layouts.size() - 1 && random.nextInt(10) == 0) {
          drop();
        }
        poll();
        advance(random.nextInt(40));
      }
    }

    void produce() {
      byte[] key = random.nextInt(3) == 0 ? null : new byte[] {(byte) random.nextInt(8)};
      if (key != null) {
        keys.put(sent, key[0]);
      }
      byte[] payload = ByteBuffer.allocate(4 + random.nextInt(30)).putInt(sent).array();
      core.add(new Message(key, null, 0, payload), DueTime.NOW, sent, payload.length, now);
      sent++;
    }

    void advance(long millis) {
      long until = now + millis;
      while (!events.isEmpty() && events.peek().atMillis() <= until) {
        Event event = events.poll();
        now = Math.max(now, event.atMillis());
        event.action().run();
        poll();
      }
      now = until;
    }

    void poll() {
      List<OutBatch<Integer>> sends = core.poll(now);
      int epoch = core.epoch();
      sends.forEach(batch -> send(batch, epoch));
      if (core.looksForTopic() && !looking) {
        looking = true;
        after(
            delay(),
            () -> {
              looking = false;
              core.topic(topic());
              core.looked();
            });
      }
      if (core.state() == ProducerCore.State.OPENING && !opening) {
        opening = true;
        open(core.epoch() + 1, 0, new HashMap<>());
      }
      for (BatchResult<Integer> outcome : core.takeOutcomes()) {
        long offset = outcome.baseOffset();
        for (Integer token : outcome.tokens()) {
          if (outcome.refused() == null) {
            assertThat(acked.put(token, offset)).isNull();
            if (offset != Result.OFFSET_FORGOTTEN) {
              Shard shard = new Shard(TOPIC, outcome.shard());
              assertThat(log(shard).messages(shard).get((int) offset)).isEqualTo(token);
              offset++;
            }
          } else {
            assertThat(refused.put(token, outcome.refused().refusal())).isNull();
          }
        }
      }
    }

    /** One group after the other; each may be told twice, as after a lost answer. */
    void open(int epoch, int group, Map<Shard, Long> last) {
      after(
          delay(),
          () -> {
            if (happens()) {
              logs.get(group).open(epoch);
            }
            last.putAll(logs.get(group).open(epoch));
            if (group + 1 < logs.size()) {
              open(epoch, group + 1, last);
            } else {
              opening = false;
              core.epochOpened(1, epoch, last);
            }
          });
    }

    void send(OutBatch<Integer> batch, int epoch) {
      byte[] bytes = batch.batch.bytes().array().clone();
      boolean[] answered = new boolean[1];
      if (happens()) {
        Refusal[] some = {
          Refusal.NOT_LEADER, Refusal.UNAVAILABLE, Refusal.OVERLOADED, Refusal.DISK_FULL
        };
        Result refusal = new Result(some[random.nextInt(some.length)], 0);
        after(delay(), () -> answer(batch, epoch, refusal, answered));
        return;
      }
      if (batch.batch.count() > quotaMessages) {
        String words =
            RefusedException.QuotaReached.of("used up", 20, quotaMessages, Long.MAX_VALUE)
                .getMessage();
        Result refusal = new Result(Refusal.OVERLOADED, 0);
        after(delay(), () -> answer(batch, epoch, refusal, words, answered));
        return;
      }
      if (!happens()) {
        deliver(batch, epoch, bytes, answered);
      }
      if (happens()) {
        deliver(batch, epoch, bytes, answered);
      }
      after(
          REQUEST_TIMEOUT_MILLIS,
          () -> answer(batch, epoch, new Result(Refusal.INDETERMINATE, 0), answered));
    }

    void deliver(OutBatch<Integer> batch, int epoch, byte[] bytes, boolean[] answered) {
      after(
          delay(),
          () -> {
            Result result = log(batch.shard).append(batch.shard, bytes);
            if (!happens()) {
              after(delay(), () -> answer(batch, epoch, result, answered));
            }
          });
    }

    void answer(OutBatch<Integer> batch, int epoch, Result result, boolean[] answered) {
      answer(batch, epoch, result, "", answered);
    }

    void answer(
        OutBatch<Integer> batch, int epoch, Result result, String words, boolean[] answered) {
      if (!answered[0]) {
        answered[0] = true;
        core.answered(batch, epoch, result, words, now);
      }
    }

    boolean happens() {
      return !calm && random.nextDouble() < trouble;
    }

    long delay() {
      return 1 + random.nextInt(random.nextInt(10) == 0 && !calm ? 2_000 : 15);
    }

    void after(long millis, Runnable action) {
      events.add(new Event(now + millis, made++, action));
    }
  }
}
