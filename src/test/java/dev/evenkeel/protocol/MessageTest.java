package dev.evenkeel.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Fails;
import org.junit.jupiter.api.Test;

class MessageTest {
  @Test
  void aBuilderMakesAMessage() {
    Message message =
        Message.builder("hello")
            .key("k")
            .header("a", "x")
            .header("b", new byte[] {1})
            .header("a", "y")
            .timestampMillis(17)
            .build();
    assertThat(message.payloadText()).isEqualTo("hello");
    assertThat(message.keyText()).isEqualTo("k");
    assertThat(message.headers()).containsOnlyKeys("a", "b");
    assertThat(message.headerText("a")).isEqualTo("y");
    assertThat(message.header("b")).containsExactly(1);
    assertThat(message.header("c")).isNull();
    assertThat(message.headerText("c")).isNull();
    assertThat(message.timestampMillis()).isEqualTo(17);
  }

  @Test
  void whatIsBuiltDoesNotChangeWithItsBuilder() {
    Message.Builder builder = Message.builder(new byte[0]).key((String) null);
    Message first = builder.build();
    builder.header("late", "x");
    assertThat(first.headers()).isEmpty();
    assertThat(first.hasKey()).isFalse();
    assertThat(first.timestampMillis()).isPositive();
    Fails.with(UnsupportedOperationException.class, () -> first.headers().put("x", new byte[0]));
  }

  @Test
  void aMessageNeedsAPayload() {
    Fails.with(RefusedException.class, () -> Message.builder((byte[]) null).build());
  }
}
