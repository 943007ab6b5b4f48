package dev.evenkeel.client.internal.produce.core;

import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.bus.rate.RequestLimits;
import dev.evenkeel.protocol.Compression;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.RefusedException.QuotaReached;
import dev.evenkeel.protocol.TopicInfo;
import dev.evenkeel.protocol.wire.AppendResults.Result;
import dev.evenkeel.protocol.wire.Batch;
import dev.evenkeel.protocol.wire.BatchBuilder;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** What a producer does when a quota refuses what it sends. */
class QuotaSendTest {
  private static final long TIMEOUT_MILLIS = 1_000;
  private static final Result REFUSED = new Result(Refusal.OVERLOADED, 0);
  private static final Result TAKEN = new Result(null, Result.OFFSET_FORGOTTEN);

  private final ProducerCore<Integer> core = core(10_000);

  private static ProducerCore<Integer> core(long quotaTimeoutMillis) {
    ProducerCore<Integer> core =
        new ProducerCore<>(
            new CoreSettings(
                16_384, 5, 4, Compression.NONE, TIMEOUT_MILLIS, 500, quotaTimeoutMillis),
            null,
            7,
            0,
            () -> 0.5);
    core.topic(Topics.of(1, List.of(new TopicInfo.Layout(0, 1, 0)), List.of()));
    return core;
  }

  private static String later(long millis, long messagesMax) {
    return QuotaReached.of("the quota of topic 't' is used up", millis, messagesMax, Long.MAX_VALUE)
        .getMessage();
  }

  private static void send(ProducerCore<Integer> core, int messages) {
    times(messages, i -> core.add(new Message(null, null, 5, new byte[10]), DueTime.NOW, i, 10, 0));
  }

  @Test
  void itDividesWhatTheQuotaCannotCarryAndKeepsOrderAndSequences() {
    send(core, 10);
    OutBatch<Integer> whole = core.poll(0).get(0);
    int[] flushed = new int[1];
    core.flush(new Flush(() -> flushed[0]++));
    core.answered(whole, 0, REFUSED, later(1_000, 4), 10);
    assertThat(core.requestMessagesMax(10)).isEqualTo(4);
    List<OutBatch<Integer>> pieces = core.poll(1_010);
    assertThat(pieces).extracting(piece -> piece.batch.count()).containsExactly(4, 4, 2);
    assertThat(pieces).extracting(OutBatch::firstSequence).containsExactly(0L, 4L, 8L);
    assertThat(pieces).extracting(piece -> piece.batch.firstSequence()).containsExactly(0L, 4L, 8L);
    assertThat(pieces).allMatch(piece -> piece.batch.producerId() == 7);
    pieces.forEach(piece -> core.answered(piece, 0, TAKEN, null, 1_100));
    List<BatchResult<Integer>> outcomes = core.takeOutcomes();
    assertThat(outcomes.stream().flatMap(outcome -> outcome.tokens().stream()))
        .containsExactly(0, 1, 2, 3, 4, 5, 6, 7, 8, 9);
    assertThat(outcomes.stream().mapToInt(outcome -> outcome.batch().chargedBytes).sum())
        .as("room in the buffer")
        .isEqualTo(100);
    assertThat(flushed[0]).as("flushes end with the last piece").isZero();
    outcomes.forEach(outcome -> outcome.batch().endFlushes());
    assertThat(flushed[0]).isEqualTo(1);
    assertThat(core.poll(1_100)).isEmpty();
    assertThat(core.isIdle()).isTrue();
  }

  @Test
  void aBatchOfASpoolStaysAsItIs() {
    send(core, 10);
    OutBatch<Integer> taken = core.poll(0).get(0);
    core.answered(taken, 0, TAKEN, null, 1);
    core.addStamped(0, taken.batch.stamped(7, 0, 10), DueTime.NOW, 1);
    OutBatch<Integer> stamped = core.poll(2).get(0);
    core.answered(stamped, 0, REFUSED, later(1_000, 4), 10);
    assertThat(core.poll(2_000)).containsExactly(stamped);
  }

  /** Nodes save for one request of a sender at a time. */
  @Test
  void shardsTakeTurnsWithBatchesThatCannotBeDivided() {
    ProducerCore<Integer> spool = core(1_000_000);
    spool.topic(Topics.of(2, List.of(new TopicInfo.Layout(0, 2, 0)), List.of()));
    times(6, i -> spool.addStamped(i % 2, batch(10 * (i / 2), 10), DueTime.NOW, i));
    List<OutBatch<Integer>> first = spool.poll(0);
    assertThat(first).hasSize(6);
    first.forEach(each -> spool.answered(each, 0, REFUSED, later(1_000, 4), 10));
    List<Integer> passed = new ArrayList<>();
    for (long now = 1_010; passed.size() < 6 && now < 60_000; now += 1_000) {
      List<OutBatch<Integer>> sends = spool.poll(now);
      assertThat(sends).as("at %s ms", now).hasSize(1);
      spool.answered(sends.get(0), 0, REFUSED, later(1_000, 4), now);
      assertThat(spool.poll(now + 1_000)).as("it again").isEqualTo(sends);
      spool.answered(sends.get(0), 0, TAKEN, null, now + 1_000);
      passed.addAll(sends.get(0).tokens);
      now += 1_000;
    }
    assertThat(passed).containsExactly(0, 1, 2, 3, 4, 5);
  }

  private static Batch batch(int sequence, int messages) {
    BatchBuilder builder = new BatchBuilder(1 << 10);
    times(messages, i -> builder.add(new Message(null, null, 5, new byte[10])));
    return builder.build(7, 0, sequence);
  }

  /** What cannot be divided may take minutes to be paid for. */
  @Test
  void itComesAgainWhenTheQuotaSaidAndSoOftenThatItIsRemembered() {
    ProducerCore<Integer> patient = core(1_000_000);
    OutBatch<Integer> batch = only(patient, 1);
    patient.answered(batch, 0, REFUSED, later(3_000, 4), 10);
    assertThat(patient.poll(3_009)).isEmpty();
    assertThat(patient.wakeAtMillis()).isEqualTo(3_010);
    assertThat(patient.poll(3_010)).containsExactly(batch);
    patient.answered(batch, 0, REFUSED, later(170_000, 4), 4_000);
    assertThat(patient.poll(4_000 + QuotaReached.PAUSE_MILLIS_MAX)).containsExactly(batch);
  }

  @Test
  void itTriesToSendMoreAgainAfterAWhile() {
    core.answered(only(core, 10), 0, REFUSED, later(1_000, 4), 10);
    assertThat(core.requestMessagesMax(10 + RequestLimits.KEPT_MILLIS - 1)).isEqualTo(4);
    assertThat(core.requestMessagesMax(10 + RequestLimits.KEPT_MILLIS)).isEqualTo(Long.MAX_VALUE);
  }

  private static OutBatch<Integer> only(ProducerCore<Integer> core, int messages) {
    send(core, messages);
    return core.poll(0).get(0);
  }

  /** What waits behind a slow quota is not lost because earlier messages take their time. */
  @Test
  void messagesWaitWhileTheQuotaLetsOthersPass() {
    core.answered(only(core, 9), 0, REFUSED, later(500, 1), 10);
    long now = 510;
    for (long i : LongStream.range(0, 9).toArray()) {
      List<OutBatch<Integer>> sends = core.poll(now);
      assertThat(core.wakeAtMillis()).as("the next turn").isGreaterThan(now);
      assertThat(core.takeOutcomes().stream().allMatch(outcome -> outcome.refused() == null))
          .as("at %s ms, after %s messages", now, i)
          .isTrue();
      core.answered(sends.get(0), 0, TAKEN, null, now);
      for (OutBatch<Integer> each : sends.subList(1, sends.size())) {
        core.answered(each, 0, REFUSED, later(700, 1), now);
      }
      now += 700;
    }
    core.poll(now);
    assertThat(core.isIdle()).isTrue();
  }

  @Test
  void aProducerThatIsClosedWaitsForAQuotaForTheDeliveryTimeoutOnly() {
    OutBatch<Integer> batch = only(core, 1);
    long now = 5_000;
    core.answered(batch, 0, REFUSED, later(1_700, Long.MAX_VALUE), 900);
    core.poll(2_600);
    core.answered(batch, 0, REFUSED, later(4_000, Long.MAX_VALUE), now);
    core.close(now);
    send(core, 1);
    core.poll(now + TIMEOUT_MILLIS - 1);
    assertThat(core.takeOutcomes()).as("an open batch is behind the other").isEmpty();
    assertThat(core.wakeAtMillis()).isEqualTo(now + TIMEOUT_MILLIS);
    assertThat(core.isOver(now + TIMEOUT_MILLIS - 1)).isFalse();
    core.poll(now + TIMEOUT_MILLIS);
    assertThat(core.isOver(now + TIMEOUT_MILLIS)).isTrue();
    List<BatchResult<Integer>> outcomes = core.takeOutcomes();
    assertThat(outcomes).hasSize(2);
    assertThat(outcomes.get(0).refused())
        .isInstanceOf(RefusedException.class)
        .hasMessageContaining("after the producer was closed")
        .hasMessageContaining("used up");
    assertThat(core.isIdle()).isTrue();
  }

  @Test
  void theyDoNotWaitForEver() {
    OutBatch<Integer> batch = only(core, 1);
    long now = 10;
    while (core.takeOutcomes().isEmpty() && now < 60_000) {
      core.answered(batch, 0, REFUSED, later(1_000, Long.MAX_VALUE), now);
      now += 500;
      core.poll(now);
    }
    assertThat(now).isBetween(10_000L, 11_000L);
  }

  @Test
  void withoutTheirOwnTimeTheyWaitForTheDeliveryTimeoutAndSayWhenToComeAgain() {
    ProducerCore<Integer> impatient = core(0);
    OutBatch<Integer> batch = only(impatient, 1);
    impatient.answered(batch, 0, REFUSED, later(1_700, Long.MAX_VALUE), 900);
    impatient.poll(TIMEOUT_MILLIS);
    assertThat(impatient.takeOutcomes())
        .singleElement()
        .satisfies(
            outcome ->
                assertThat(((QuotaReached) outcome.refused()).retryAfterMillis()).isEqualTo(1_700));
  }
}
