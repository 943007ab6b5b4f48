package dev.evenkeel.client.internal.produce.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Refused;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.wire.Murmur2;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ShardChoiceTest {
  private static Message message(String key) {
    byte[] bytes = key == null ? null : key.getBytes(StandardCharsets.UTF_8);
    return new Message(bytes, Map.of(), 0, new byte[1]);
  }

  @Test
  void withoutAKeyTheNextShardIsTakenWhenABatchIsClosed() {
    ShardChoice choice = new ShardChoice(null);
    assertThat(choice.of(message(null), 2)).isZero();
    choice.closed(1, 2);
    assertThat(choice.of(message(null), 2)).isZero();
    choice.closed(0, 2);
    assertThat(choice.of(message(null), 2)).isEqualTo(1);
    choice.closed(1, 2);
    assertThat(choice.of(message(null), 2)).isZero();
  }

  @Test
  void aKeyGoesByItsHash() {
    ShardChoice choice = new ShardChoice(null);
    byte[] key = "k".getBytes(StandardCharsets.UTF_8);
    assertThat(choice.of(message("k"), 7)).isEqualTo(Murmur2.shard(key, 7));
  }

  @Test
  void aShardThatIsNotThereIsRefused() {
    ShardChoice choice = new ShardChoice((message, shards) -> shards);
    Refused.saying(() -> choice.of(message("k"), 3), "shard 3: the topic has 0 to 2");
  }

  @Test
  void aRouterThatThrowsRefusesItsMessageOnly() {
    ShardChoice choice =
        new ShardChoice(
            (message, shards) -> {
              throw new IllegalStateException("boom");
            });
    Refused.with(Refusal.INVALID, () -> choice.of(message("k"), 3), "boom");
  }
}
