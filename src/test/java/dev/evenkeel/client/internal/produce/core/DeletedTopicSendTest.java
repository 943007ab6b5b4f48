package dev.evenkeel.client.internal.produce.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.protocol.Compression;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.TopicInfo;
import dev.evenkeel.protocol.wire.AppendResults.Result;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The topic goes while batches are on their way to several log groups, and the first answer says
 * so. Nobody knows yet what the others took.
 */
class DeletedTopicSendTest {
  private final ProducerCore<Integer> core =
      new ProducerCore<>(
          new CoreSettings(16_384, 5, 4, Compression.NONE, 1_000, 500, 10_000),
          (message, shards) -> message.key()[0],
          7,
          0,
          () -> 0.5);

  private final Map<Integer, Refusal> refused = new HashMap<>();
  private final Map<Integer, Long> taken = new HashMap<>();
  private final boolean[] flushed = new boolean[1];
  private List<OutBatch<Integer>> sent;

  @BeforeEach
  void aShardSaysThatTheTopicIsGone() {
    core.topic(Topics.of(1, List.of(new TopicInfo.Layout(0, 3, 0)), List.of()));
    for (byte shard = 0; shard < 3; shard++) {
      core.add(
          new Message(new byte[] {shard}, null, 5, new byte[10]), DueTime.NOW, (int) shard, 10, 0);
    }
    core.flush(new Flush(() -> flushed[0] = true));
    sent = core.poll(0);
    assertThat(sent).hasSize(3);
    core.answered(sent.get(0), 0, new Result(Refusal.UNKNOWN_TOPIC, 0), null, 10);
    assertThat(core.looksForTopic()).isTrue();
  }

  private void look() {
    for (BatchResult<Integer> each : core.takeOutcomes()) {
      each.tokens()
          .forEach(
              token -> {
                if (each.refused() == null) {
                  taken.put(token, each.baseOffset());
                } else {
                  refused.put(token, each.refused().refusal());
                }
              });
      each.batch().endFlushes();
    }
  }

  private void goes(boolean again) {
    if (again) {
      core.topic(Topics.of(2, List.of(new TopicInfo.Layout(0, 3, 0)), List.of()));
    } else {
      core.topicDeleted();
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void whatOtherShardsAnswerStillCounts(boolean again) {
    goes(again);
    look();
    assertThat(refused).containsOnly(Map.entry(0, Refusal.UNKNOWN_TOPIC));
    core.answered(sent.get(1), 0, new Result(Refusal.UNKNOWN_TOPIC, 0), null, 20);
    look();
    assertThat(refused.get(1)).isEqualTo(Refusal.UNKNOWN_TOPIC);
    assertThat(flushed[0]).as("one is on its way").isFalse();
    core.answered(sent.get(2), 0, new Result(null, 17), null, 30);
    look();
    assertThat(taken).containsOnly(Map.entry(2, 17L));
    assertThat(flushed[0]).isTrue();
    assertThat(core.isIdle()).isTrue();
  }

  @Test
  void oneWithoutAnAnswerMayBeInTheLog() {
    goes(false);
    core.answered(sent.get(1), 0, new Result(Refusal.INDETERMINATE, 0), null, 20);
    core.end(new RefusedException(Refusal.UNAVAILABLE, "closed"));
    look();
    assertThat(refused)
        .containsOnly(
            Map.entry(0, Refusal.UNKNOWN_TOPIC),
            Map.entry(1, Refusal.INDETERMINATE),
            Map.entry(2, Refusal.INDETERMINATE));
    assertThat(flushed[0]).isTrue();
  }
}
