package dev.evenkeel.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.api.MessageView;
import dev.evenkeel.bus.FetchAnswer;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.Batch;
import dev.evenkeel.protocol.wire.BatchBuilder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A batch that cannot be read does not hide those around it. */
class MessagesApiTest {
  private static final Shard SHARD = new Shard(1, 0);

  private static Batch batch(String... payloads) {
    BatchBuilder builder = new BatchBuilder(256);
    for (String payload : payloads) {
      builder.add(Message.of(null, 0, payload.getBytes(StandardCharsets.UTF_8)));
    }
    return builder.build(1, 0, 0);
  }

  @Test
  void whatCannotBeReadIsShownAsSuch() {
    Batch malformed = batch("c", "d");
    malformed.bytes().putInt(32, 3);
    malformed.stamped(1, 0, 0);
    Batch damaged = batch("e", "f");
    damaged.bytes().put(damaged.length() - 1, (byte) 1);
    FetchAnswer answer =
        new FetchAnswer(
            0,
            8,
            0,
            List.of(
                new FetchAnswer.Placed(0, batch("a")),
                new FetchAnswer.Placed(1, malformed),
                new FetchAnswer.Placed(4, damaged),
                new FetchAnswer.Placed(6, batch("g", "h"))));
    Page<MessageView> page = new Page<>(100);
    assertThat(MessagesApi.take(page, SHARD, null, answer, 0)).isEqualTo(8);
    List<MessageView> items = page.items();
    assertThat(items)
        .extracting(item -> item.payload() == null ? null : item.payload().text())
        .containsExactly("a", "c", "d", null, null, null, "g", "h");
    assertThat(items.get(3).unreadable()).contains("message 3 of 3 ends early");
    for (MessageView each : items.subList(4, 6)) {
      assertThat(each.unreadable()).contains("corrupt batch: CRC-32C is ");
    }
    page = new Page<>(2);
    assertThat(MessagesApi.take(page, SHARD, null, answer, 4)).as("the next page").isEqualTo(6);
    page = new Page<>(100);
    byte[] key = "k".getBytes(StandardCharsets.UTF_8);
    assertThat(MessagesApi.take(page, SHARD, key, answer, 0)).as("its keys").isEqualTo(8);
    assertThat(page.items()).isEmpty();
  }

  @Test
  void onlyMessagesOfTheKeyAreShown() {
    BatchBuilder builder = new BatchBuilder(256);
    List.of("a", "b", "ab", "a", "b").forEach(key -> builder.add(Message.of(key, 0, new byte[0])));
    builder.add(Message.of(null, 0, new byte[0]));
    FetchAnswer answer =
        new FetchAnswer(0, 6, 0, List.of(new FetchAnswer.Placed(0, builder.build(1, 0, 0))));
    byte[] key = "a".getBytes(StandardCharsets.UTF_8);
    Page<MessageView> page = new Page<>(100);
    assertThat(MessagesApi.take(page, SHARD, key, answer, 0)).isEqualTo(6);
    assertThat(offsets(page)).containsExactly(0L, 3L);
    page = new Page<>(100);
    assertThat(MessagesApi.take(page, SHARD, key, answer, 1)).isEqualTo(6);
    assertThat(offsets(page)).containsExactly(3L);
    page = new Page<>(1);
    assertThat(MessagesApi.take(page, SHARD, key, answer, 0)).as("full").isEqualTo(1);
  }

  private static List<Long> offsets(Page<MessageView> page) {
    return page.items().stream().map(MessageView::offset).toList();
  }
}
