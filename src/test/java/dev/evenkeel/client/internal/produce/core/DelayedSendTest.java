package dev.evenkeel.client.internal.produce.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Refused;
import dev.evenkeel.protocol.Compression;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.TopicInfo;
import dev.evenkeel.protocol.wire.AppendResults.Result;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.Test;

class DelayedSendTest {
  private static final Message MESSAGE = new Message(new byte[] {1}, null, 5, new byte[10]);

  private final ProducerCore<String> core =
      new ProducerCore<>(
          new CoreSettings(16_384, 5, 5, Compression.NONE, 1_000, 500, 0), null, 7, 0, () -> 0.5);

  private void send(String token, long due) {
    core.add(MESSAGE, due, token, 10, 0);
  }

  @Test
  void aBatchIsDueAtOneTimeAndSequencesGoInTheOrderOfSending() {
    core.topic(Topics.of(1, List.of(new TopicInfo.Layout(0, 1, 0)), List.of()));
    send("a", 500);
    send("b", 500);
    send("c", DueTime.NOW);
    send("d", 400);
    List<OutBatch<String>> sends = core.poll(100);
    assertThat(sends).extracting(batch -> batch.dueMillis).containsExactly(500L, 0L, 400L);
    assertThat(sends).extracting(batch -> batch.tokens.size()).containsExactly(2, 1, 1);
    assertThat(sends).extracting(batch -> batch.batch.firstSequence()).containsExactly(0L, 2L, 3L);
    core.answered(sends.get(0), 0, new Result(null, Result.OFFSET_FORGOTTEN), null, 100);
    assertThat(core.takeOutcomes().get(0).refused()).isNull();
  }

  @Test
  void aRefusalForWantOfRoomIsToldAtOnceAndInWords() {
    core.topic(Topics.of(1, List.of(new TopicInfo.Layout(0, 1, 0)), List.of()));
    send("a", 500);
    OutBatch<String> batch = core.poll(100).get(0);
    core.answered(batch, 0, new Result(Refusal.TOO_LARGE, 0), null, 100);
    RefusedException refused = core.takeOutcomes().get(0).refused();
    assertThat(refused.refusal()).isEqualTo(Refusal.TOO_LARGE);
    assertThat(refused).hasMessageContaining("shard 0").hasMessageContaining("delayed");
  }

  @Property
  void aTimeIsRoundedUpByLessThanAStep(
      @ForAll @LongRange(min = 1, max = 1_000_000) long now,
      @ForAll @LongRange(max = 1_000_000) long wanted) {
    long due = DueTime.of(wanted, now);
    if (wanted <= now) {
      assertThat(due).isEqualTo(DueTime.NOW);
    } else {
      assertThat(due).isBetween(wanted, wanted + DueTime.STEP_MILLIS - 1);
    }
  }

  @Test
  void aTimeThatIsTooFarAwayIsRefused() {
    DueTime.of(Limits.DELAY_MILLIS_MAX + 3, 3);
    Refused.saying(() -> DueTime.of(Limits.DELAY_MILLIS_MAX + 4, 3), "30 days");
  }
}
