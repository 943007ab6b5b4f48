package dev.evenkeel.client.internal.produce.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.protocol.Compression;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.TopicInfo;
import dev.evenkeel.protocol.wire.AppendResults.Result;
import dev.evenkeel.protocol.wire.BatchBuilder;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A batch whose answer is lost may be in the log, and then it is refused, or the producer ends. */
class LostAnswerTest {
  private static final Message MESSAGE = new Message(null, Map.of(), 5, new byte[10]);

  private final ProducerCore<String> core =
      new ProducerCore<>(
          new CoreSettings(16_384, 0, 1, Compression.NONE, 1_000, 500, 0), null, 7, 0, () -> 0.5);

  LostAnswerTest() {
    core.topic(Topics.of(1, List.of(new TopicInfo.Layout(0, 1, 0)), List.of()));
  }

  private OutBatch<String> sent(long now) {
    List<OutBatch<String>> sends = core.poll(now);
    assertThat(sends).hasSize(1);
    return sends.get(0);
  }

  private void answer(OutBatch<String> batch, Refusal refusal, long now) {
    core.answered(batch, 0, new Result(refusal, 0), "its words", now);
  }

  private RefusedException failure() {
    List<BatchResult<String>> outcomes = core.takeOutcomes();
    assertThat(outcomes).hasSize(1);
    return outcomes.get(0).refused();
  }

  /** It looks at permissions before it looks into its log. */
  @ParameterizedTest
  @EnumSource(
      value = Refusal.class,
      names = {"FORBIDDEN", "UNAUTHENTICATED", "INVALID", "INTERNAL"})
  void aNodeThatRefusesARepeatDoesNotSayThatTheFirstTryFailed(Refusal refusal) {
    core.add(MESSAGE, DueTime.NOW, "a", 10, 0);
    answer(sent(0), Refusal.INDETERMINATE, 10);
    answer(sent(200), refusal, 210);
    RefusedException failure = failure();
    assertThat(failure.refusal()).isEqualTo(Refusal.INDETERMINATE);
    assertThat(failure).hasMessageContaining("its words").hasMessageContaining("may be in the log");
    assertThat(core.state()).isEqualTo(ProducerCore.State.OPENING);
  }

  @Test
  void whatIsRefusedAtOnceIsNotInTheLog() {
    core.add(MESSAGE, DueTime.NOW, "a", 10, 0);
    answer(sent(0), Refusal.OVERLOADED, 10);
    answer(sent(200), Refusal.FORBIDDEN, 210);
    assertThat(failure().refusal()).isEqualTo(Refusal.FORBIDDEN);
  }

  @ParameterizedTest
  @EnumSource(
      value = Refusal.class,
      names = {"FORBIDDEN", "UNAUTHENTICATED", "UNAVAILABLE"})
  void whatIsOnItsWayWhenTheProducerEndsMayBeInTheLog(Refusal refusal) {
    core.add(MESSAGE, DueTime.NOW, "a", 10, 0);
    sent(0);
    core.end(new RefusedException(refusal, "its words"));
    RefusedException failure = failure();
    assertThat(failure.refusal()).isEqualTo(Refusal.INDETERMINATE);
    assertThat(failure).hasMessageContaining("its words").hasMessageContaining("may be in the log");
  }

  @Test
  void whatWasRefusedBeforeTheProducerEndsIsNotInTheLog() {
    core.add(MESSAGE, DueTime.NOW, "a", 10, 0);
    answer(sent(0), Refusal.OVERLOADED, 10);
    core.end(new RefusedException(Refusal.FORBIDDEN, "its words"));
    assertThat(failure().refusal()).isEqualTo(Refusal.FORBIDDEN);
  }

  @Test
  void whoseNameWasTakenIsToldThat() {
    core.add(MESSAGE, DueTime.NOW, "a", 10, 0);
    answer(sent(0), Refusal.INDETERMINATE, 10);
    answer(sent(200), Refusal.PRODUCER_FENCED, 210);
    assertThat(failure().refusal()).isEqualTo(Refusal.PRODUCER_FENCED);
  }

  /** Its spool keeps it, and asks again. */
  @Test
  void whatIsInASpoolKeepsItsRefusal() {
    BatchBuilder batch = new BatchBuilder(64);
    batch.add(MESSAGE);
    core.addStamped(0, batch.build(7, 0, 0), DueTime.NOW, "a");
    answer(sent(0), Refusal.INDETERMINATE, 10);
    answer(sent(200), Refusal.FORBIDDEN, 210);
    assertThat(failure().refusal()).isEqualTo(Refusal.FORBIDDEN);
  }
}
