package dev.evenkeel.client.internal.consume;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.bus.Assignment;
import dev.evenkeel.bus.FetchAnswer;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.internal.consume.ConsumerAction.CallAssign;
import dev.evenkeel.client.internal.consume.ConsumerAction.CallLost;
import dev.evenkeel.client.internal.consume.ConsumerAction.Fetch;
import dev.evenkeel.client.internal.consume.ConsumerAction.LeadChanged;
import dev.evenkeel.client.internal.consume.ConsumerAction.Release;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.BatchBuilder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** In mode singleton nothing begins before all shards were granted. */
class LeadTest {
  private static final Shard S0 = new Shard(1, 0);
  private static final Shard S1 = new Shard(1, 1);

  private final ConsumerCore core =
      new ConsumerCore(
          new ConsumerOptions()
              .setGroup("g")
              .setMember("m")
              .setTopics(List.of("t"))
              .setMode(ConsumerOptions.Mode.SINGLETON),
          "i",
          HandlerKind.PLAIN,
          new SplittableRandom(1));
  private long revision;

  private void assign(Assignment.Lead lead, Assignment.Owned... owned) {
    core.assigned(new Assignment("g", "m", "i", 1, ++revision, List.of(owned), lead), 0);
  }

  @BeforeEach
  void answerAHeartbeat() {
    core.heartbeatAnswered(0);
  }

  private static Assignment.Owned owned(Shard shard, long epoch, boolean draining) {
    return new Assignment.Owned("t", shard, epoch, draining, 0, 0);
  }

  private static Assignment.Lead lead(long term, boolean whole) {
    return new Assignment.Lead(term, whole, false);
  }

  /** The kinds of actions about the lead and the beginning of shards, in order. */
  private List<String> actions() {
    List<String> kinds = new ArrayList<>();
    ConsumerAction action;
    while ((action = core.poll()) != null) {
      if (action instanceof LeadChanged changed) {
        Assignment.Lead lead = changed.lead();
        kinds.add(lead == null ? "none" : lead.term() + (lead.ending() ? " ends" : ""));
      } else if (action instanceof CallAssign assign) {
        kinds.add("assign " + assign.shard().shard());
        core.answered(assign, Answer.of(null), 0);
      } else if (action instanceof CallLost lost) {
        kinds.add("lost " + lost.shard().shard());
      }
    }
    return kinds;
  }

  @Test
  void shardsWaitUntilAllAreGrantedAndLaterOnesDoNot() {
    assign(null);
    assertThat(actions()).isEmpty();
    assign(lead(5, false), owned(S0, 1, false));
    core.tick(1_000);
    assertThat(actions()).containsExactly("5");
    assign(lead(5, true), owned(S0, 1, false));
    assertThat(actions()).containsExactly("5", "assign 0");
    assign(lead(5, false), owned(S0, 1, false), owned(S1, 1, false));
    assertThat(actions()).as("a shard that is new").containsExactly("5", "assign 1");
  }

  @Test
  void whoStoodStillForLongerThanItCountsAsAliveBeginsNothing() {
    long late = 60_000;
    core.assigned(
        new Assignment("g", "m", "i", 1, 1, List.of(owned(S0, 1, false)), lead(5, true)), late);
    core.tick(late);
    assertThat(actions()).as("another may lead since").containsExactly("5");
    core.heartbeatAnswered(late);
    core.tick(late + 10);
    assertThat(actions()).containsExactly("assign 0");
  }

  @Test
  void anotherTermBeginsAnew() {
    assign(lead(5, true), owned(S0, 1, false));
    actions();
    assign(lead(7, false), owned(S0, 3, false));
    assertThat(actions()).containsExactly("7", "lost 0");
    assign(lead(7, true), owned(S0, 3, false));
    assertThat(actions()).containsExactly("7", "assign 0");
  }

  @Test
  void nothingIsHandedOutWithoutTheLead() {
    assign(lead(5, true), owned(S0, 1, false));
    Fetch fetch = null;
    ConsumerAction action;
    while ((action = core.poll()) != null) {
      if (action instanceof CallAssign assign) {
        core.answered(assign, Answer.of(null), 0);
      } else if (action instanceof Fetch asked) {
        fetch = asked;
      }
    }
    BatchBuilder batch = new BatchBuilder(256);
    batch.add(new Message(null, Map.of(), 0, new byte[10]));
    batch.add(new Message(null, Map.of(), 0, new byte[10]));
    FetchAnswer answer =
        new FetchAnswer(0, 2, 0, List.of(new FetchAnswer.Placed(0, batch.build(1, 0, 0))));
    core.answered(fetch, Answer.of(answer), 0);
    Task task = core.next(0);
    assertThat(task).isNotNull();
    core.finished(task, 0);
    assign(null, owned(S0, 1, false));
    assertThat(core.next(0)).as("another leads, or did").isNull();
    assign(lead(5, false), owned(S0, 1, false));
    assertThat(core.next(0)).isNotNull();
  }

  @Test
  void aShardThatWaitsIsReleasedWhenItDrains() {
    assign(lead(5, false), owned(S0, 1, false));
    assign(lead(5, false), owned(S0, 1, true));
    List<Release> releases = new ArrayList<>();
    ConsumerAction action;
    while ((action = core.poll()) != null) {
      if (action instanceof Release release) {
        releases.add(release);
      }
    }
    assertThat(releases).hasSize(1);
  }

  @Test
  void whoClosesHandsOver() {
    assign(lead(5, true), owned(S0, 1, false));
    actions();
    core.close(0, Long.MAX_VALUE);
    assertThat(actions()).containsExactly("5 ends");
    core.replaced("the end", 0);
    assertThat(actions()).containsExactly("none", "lost 0");
  }

  @Test
  void itIsToldBeforeItsShardsAreLost() {
    assign(lead(5, true), owned(S0, 1, false));
    actions();
    assign(null);
    assertThat(actions()).containsExactly("none", "lost 0");
  }
}
