package dev.evenkeel.client.internal.consume;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.bus.Assignment;
import dev.evenkeel.bus.FetchAnswer;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.internal.consume.ConsumerAction.CallAssign;
import dev.evenkeel.client.internal.consume.ConsumerAction.Fetch;
import dev.evenkeel.client.internal.consume.ConsumerAction.ReadLease;
import dev.evenkeel.client.internal.consume.ConsumerAction.RecordOutcomes;
import dev.evenkeel.protocol.Generation;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Outcome;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.BatchBuilder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;

/**
 * Few messages with order shard, and the pauses between attempts that are the default: what an
 * outage puts aside, and how long poison takes.
 */
class OutageTest {
  private static final int MINUTE = 60;

  private final ConsumerOptions options =
      new ConsumerOptions()
          .setGroup("g")
          .setMember("m")
          .setTopics(List.of("t"))
          .setOrder(ConsumerOptions.Order.SHARD);
  private ConsumerCore core =
      new ConsumerCore(options, "i", HandlerKind.PLAIN, new SplittableRandom(1));
  private final Map<Integer, Fetch> fetches = new HashMap<>();
  private final TreeSet<String> done = new TreeSet<>();
  private final TreeSet<String> dead = new TreeSet<>();
  private long now = 1_000_000;

  private void start(int shards) {
    core.heartbeatAnswered(now);
    core.link(true, now);
    List<Assignment.Owned> owned = new ArrayList<>();
    for (int i = 0; i < shards; i++) {
      owned.add(new Assignment.Owned("t", new Shard(1, i), 1, false, 0, 0));
    }
    core.assigned(new Assignment("g", "m", "i", 1, 1, owned, null), now);
    act();
  }

  /** Answers all that the core wants, but fetches. */
  private void act() {
    ConsumerAction action;
    while ((action = core.poll()) != null) {
      if (action instanceof CallAssign assign) {
        core.answered(assign, Answer.of(null), now);
      } else if (action instanceof ReadLease read) {
        Shard shard = read.owned().shard();
        Lease lease =
            Lease.fresh("g", shard, 0, 0, Generation.FIRST)
                .granted("m", "i", 0, Limits.MEMBER_TIMEOUT_MILLIS_DEFAULT);
        core.answered(read, Answer.of(lease), now);
      } else if (action instanceof Fetch fetch) {
        fetches.put(fetch.owned().shard().shard(), fetch);
      } else if (action instanceof RecordOutcomes record) {
        for (Outcome each : record.command().outcomes()) {
          if (each instanceof Outcome.Failed failed && failed.way() == Outcome.Way.DEAD) {
            dead.add(record.owned().shard().shard() + "/" + each.offset());
          }
        }
        core.answered(record, Answer.of(new Reply.OfOffsets(List.of())), now);
      }
    }
  }

  /** The shard has so many messages. */
  private void arrive(int shard, int count) {
    BatchBuilder builder = new BatchBuilder(256);
    for (int i = 0; i < count; i++) {
      builder.add(new Message(null, Map.of(), 0, new byte[10]));
    }
    Fetch fetch = fetches.remove(shard);
    FetchAnswer.Placed batch = new FetchAnswer.Placed(0, builder.build(1, 0, 0));
    core.answered(fetch, Answer.of(new FetchAnswer(0, count, 0, List.of(batch))), now);
    act();
  }

  /** Time passes, in which the messages that {@code fails} tells fail. */
  private void pass(int seconds, Predicate<String> fails) {
    for (int i = 0; i < 2 * seconds; i++) {
      now += 500;
      core.heartbeatAnswered(now);
      core.tick(now);
      Task task;
      while ((task = core.next(now)) != null) {
        String name = task.shard() + "/" + task.offset;
        if (fails.test(name)) {
          core.failed(task, new IllegalStateException("broken"), now);
        } else {
          core.finished(task, now);
          done.add(name);
        }
        act();
      }
      act();
    }
  }

  /** Two that failed would take turns, and nothing else would ever begin. */
  @Test
  void messagesThatWereNotTriedComeBeforeThoseThatFailed() {
    options.setOrder(ConsumerOptions.Order.NONE);
    core = new ConsumerCore(options, "i", HandlerKind.PLAIN, new SplittableRandom(1));
    start(1);
    arrive(0, 32);
    Predicate<String> poison = name -> Integer.parseInt(name.substring(2)) < 22;
    pass(1, poison);
    assertThat(core.breakerOpen()).isTrue();
    pass(MINUTE, poison);
    assertThat(done).hasSize(10);
    assertThat(core.breakerOpen()).isFalse();
  }

  @Test
  void twentyMinutesPutNothingAside() {
    start(4);
    for (int shard = 0; shard < 4; shard++) {
      arrive(shard, 5);
    }
    pass(4 * MINUTE, name -> true);
    assertThat(core.breakerOpen()).isTrue();
    pass(16 * MINUTE, name -> true);
    assertThat(dead).isEmpty();
    pass(10 * MINUTE, name -> false);
    assertThat(done).hasSize(20);
    assertThat(core.breakerOpen()).isFalse();
  }

  @Test
  void ofOneShardTwoArePutAsideBeforeItOpens() {
    start(1);
    arrive(0, 50);
    pass(35 * MINUTE, name -> true);
    assertThat(dead).containsExactly("0/0", "0/1");
    pass(10 * MINUTE, name -> false);
    assertThat(done).hasSize(48);
  }

  @Test
  void aLoneMessageThatFailsIsPutAsideAsItsPausesSay() {
    start(1);
    arrive(0, 1);
    pass(16 * MINUTE, name -> true);
    assertThat(dead).containsExactly("0/0");
    assertThat(core.breakerOpen()).isFalse();
  }

  @Test
  void poisonAmongOthersIsPutAsideAsItsPausesSay() {
    start(2);
    arrive(0, 20);
    arrive(1, 20);
    pass(16 * MINUTE, name -> name.equals("0/5") || name.equals("1/0"));
    assertThat(dead).containsExactly("0/5", "1/0");
    assertThat(done).hasSize(38);
  }

  @Test
  void nothingButPoisonIsHeldUpByTenMinutesAndWhatElseComesIsTriedMeanwhile() {
    start(4);
    for (int shard = 0; shard < 3; shard++) {
      arrive(shard, 1);
    }
    pass(4 * MINUTE, name -> !name.startsWith("3"));
    assertThat(core.breakerOpen()).isTrue();
    pass(26 * MINUTE, name -> !name.startsWith("3"));
    assertThat(dead).containsExactly("0/0", "1/0", "2/0");
  }

  /** A shard with several messages that fail always has one to try. */
  @Test
  void poisonOfOneShardDoesNotHoldUpAnother() {
    options.setOrder(ConsumerOptions.Order.NONE).setHoldFailed(true);
    core = new ConsumerCore(options, "i", HandlerKind.PLAIN, new SplittableRandom(1));
    start(2);
    arrive(0, 3);
    pass(4 * MINUTE, name -> true);
    assertThat(core.breakerOpen()).isTrue();
    arrive(1, 1);
    pass(MINUTE, name -> name.startsWith("0"));
    assertThat(done).containsExactly("1/0");
    assertThat(core.breakerOpen()).isFalse();
  }

  @Test
  void aGoodMessageIsTriedBesidePoisonAndEndsThePause() {
    start(4);
    for (int shard = 0; shard < 3; shard++) {
      arrive(shard, 1);
    }
    pass(4 * MINUTE, name -> !name.startsWith("3"));
    assertThat(core.breakerOpen()).isTrue();
    arrive(3, 1);
    // One of four that are tried in turn, every 10 s.
    pass(4 * 10 + 1, name -> !name.startsWith("3"));
    assertThat(done).containsExactly("3/0");
    assertThat(core.breakerOpen()).isFalse();
  }
}
