package dev.evenkeel.client.internal.produce.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.evenkeel.protocol.Compression;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.TopicInfo;
import dev.evenkeel.protocol.wire.AppendResults.Result;
import dev.evenkeel.protocol.wire.Batch;
import dev.evenkeel.protocol.wire.BatchBuilder;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A shard is sealed, and its producer learns only later which shards take its place. */
class SealedSendTest {
  private static final TopicInfo.Layout FORMER = new TopicInfo.Layout(0, 1, 0);
  private static final TopicInfo.Layout OPEN = new TopicInfo.Layout(1, 2, 0);

  private final ProducerCore<String> core =
      new ProducerCore<>(
          new CoreSettings(16_384, 5, 4, Compression.NONE, 1_000, 500, 10_000),
          null,
          7,
          0,
          () -> 0.5);

  @Test
  void aBatchOfASpoolThatComesMeanwhileIsRefusedWithThoseBeforeIt() {
    core.topic(Topics.of(1, List.of(FORMER), List.of()));
    core.addStamped(0, batch(0), DueTime.NOW, "first");
    OutBatch<String> sent = core.poll(0).get(0);
    core.answered(sent, 0, new Result(Refusal.SEALED, 0), null, 10);
    assertThat(core.awaitsShards()).isTrue();
    core.addStamped(0, batch(1), DueTime.NOW, "second");
    assertThat(core.poll(20)).isEmpty();

    core.topic(Topics.of(1, List.of(FORMER, OPEN), List.of()));
    assertThat(core.poll(30)).isEmpty();
    assertThat(core.takeOutcomes())
        .extracting(each -> each.tokens().get(0), each -> each.refused().refusal())
        .containsExactly(tuple("first", Refusal.SEALED), tuple("second", Refusal.SEALED));
    assertThat(core.isIdle()).isTrue();
    assertThat(core.hasShard(1)).isTrue();
  }

  private static Batch batch(int sequence) {
    BatchBuilder builder = new BatchBuilder(1 << 10);
    builder.add(new Message(null, null, 5, new byte[10]));
    return builder.build(7, 0, sequence);
  }
}
