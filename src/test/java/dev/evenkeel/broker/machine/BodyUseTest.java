package dev.evenkeel.broker.machine;

import static dev.evenkeel.broker.machine.Rig.SHARD;
import static dev.evenkeel.broker.machine.Rig.batch;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.broker.machine.BodyUse.Act;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Outcome;
import dev.evenkeel.protocol.TopicConfig;
import dev.evenkeel.protocol.wire.AppendBody;
import dev.evenkeel.protocol.wire.FeatureLevel;
import dev.evenkeel.storage.segment.Segments;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class BodyUseTest {
  private static final int BODY_BYTES = 1_000;

  private final Rig rig = Rig.opened();
  private int messagesMax = 1_000;

  private BodyUse use(Segments.Info... segments) {
    try {
      return BodyUse.of(rig.data, List.of(segments), messagesMax, index -> BODY_BYTES, () -> {});
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Segments.Info segment(long number, long first, long last, boolean sealed) {
    return new Segments.Info(number, first, last, (last - first + 1) * BODY_BYTES, sealed);
  }

  /** The index of the entry that appends this. */
  private long append() {
    rig.append(SHARD, batch(0, 0, 0, 3));
    return rig.log.size() - 1;
  }

  private long delay(long dueMillis) {
    rig.append(new AppendBody.Item(SHARD, batch(0, 0, 0, 1), dueMillis));
    return rig.log.size() - 1;
  }

  @Test
  void whatTheIndexOrADelayRefersToIsNeeded() {
    long first = append();
    long waiting = delay(rig.now + 60_000);
    rig.run(new DataCommand.Retain());
    long last = append();
    BodyUse use = use(segment(0, first, first, true), segment(1, waiting, last, true));
    assertThat(use.segments()).extracting(BodyUse.Use::neededBytes).containsExactly(1_000L, 2_000L);
    BodyUse.Use second = use.segments().get(1);
    assertThat(second.any(waiting)).isTrue();
    assertThat(second.any(waiting + 1)).as("the entry of retention").isFalse();
    assertThat(second.any(last)).isTrue();
    assertThat(use.deadBytes()).as("of 4,000").isEqualTo(1_000);
  }

  @Test
  void aBatchThatGetsItsOffsetsStaysWhereItWas() {
    long waiting = delay(rig.now + 60_000);
    rig.now += 120_000;
    rig.run(new DataCommand.DeliverDue(10, 1 << 20));
    assertThat(rig.tables().shard(SHARD).end()).isEqualTo(1);
    assertThat(use(segment(0, waiting, waiting, true)).deadBytes()).isZero();
  }

  @Test
  void whatARetryOrADeadLetterRefersToIsNeededWithoutTheIndex() {
    long first = append();
    long second = append();
    long third = append();
    rig.grant("g", SHARD, "a", 0);
    record(failed(1, Outcome.Way.MOVED), failed(4, Outcome.Way.DEAD));
    rig.run(new DataCommand.ConfigureShards(SHARD.topicId(), new TopicConfig(0, -1, 0)));
    rig.run(new DataCommand.Retain());
    assertThat(needed(first, third)).containsExactly(first, second);
    rig.run(new DataCommand.ReplayDeadLetters("g", SHARD, List.of(4L)));
    assertThat(needed(first, third)).containsExactly(first, second);
    record(new Outcome.Settled(1));
    assertThat(needed(first, third)).containsExactly(second);
    record(failed(4, Outcome.Way.DEAD));
    rig.run(new DataCommand.DropDeadLetters("g", SHARD, List.of(4L)));
    assertThat(needed(first, third)).isEmpty();
  }

  /** What is remembered of messages while a segment is looked through has a bound. */
  @Test
  void ofMessagesBeyondTheBoundTheWholeBodyIsNeeded() {
    rig.run(new DataCommand.RaiseFeatureLevel(FeatureLevel.PARTIAL_BODIES));
    long first = append();
    long second = append();
    rig.grant("g", SHARD, "a", 0);
    record(failed(1, Outcome.Way.DEAD), failed(4, Outcome.Way.DEAD));
    rig.run(new DataCommand.ConfigureShards(SHARD.topicId(), new TopicConfig(0, -1, 0)));
    rig.run(new DataCommand.Retain());
    assertThat(whole(first, second)).isEmpty();
    messagesMax = 1;
    assertThat(whole(first, second)).containsExactly(second);
    messagesMax = 0;
    assertThat(whole(first, second)).containsExactly(first, second);
  }

  private List<Long> whole(long from, long to) {
    BodyUse.Use all = use(segment(0, from, to, true)).segments().get(0);
    assertThat(needed(from, to)).hasSize(2);
    return LongStream.rangeClosed(from, to).filter(all::all).boxed().toList();
  }

  private static Outcome failed(long offset, Outcome.Way way) {
    return new Outcome.Failed(offset, 1, way, 1_000, Outcome.NO_KEY, "no", null);
  }

  private void record(Outcome... outcomes) {
    rig.run(new DataCommand.RecordOutcomes("g", SHARD, 1, List.of(outcomes)));
  }

  private List<Long> needed(long from, long to) {
    BodyUse.Use all = use(segment(0, from, to, true)).segments().get(0);
    return LongStream.rangeClosed(from, to).filter(all::any).boxed().toList();
  }

  @Test
  void onlyASealedSegmentGoesAndOnlyWhatTheLogDoesNotHaveAnyMore() {
    long first = append();
    rig.run(new DataCommand.DropShards(SHARD.topicId()));
    assertThat(use(segment(0, first, first, true)).segments().get(0).act(first + 1))
        .isEqualTo(Act.DELETE);
    assertThat(use(segment(0, first, first, true)).segments().get(0).act(first))
        .isEqualTo(Act.KEEP);
    assertThat(use(segment(0, first, first, false)).segments().get(0).act(first + 1))
        .isEqualTo(Act.KEEP);
  }

  @Test
  void aSegmentIsWrittenAnewWhenLessThanHalfOfItIsNeeded() {
    long first = append();
    long second = append();
    BodyUse half = use(segment(0, first, second + 2, true));
    assertThat(half.segments().get(0).act(second + 10)).isEqualTo(Act.KEEP);
    BodyUse less = use(segment(0, first, second + 3, true));
    assertThat(less.segments().get(0).act(second + 10)).isEqualTo(Act.REWRITE);
  }
}
