package dev.evenkeel.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.evenkeel.Fails;
import dev.evenkeel.Refused;
import dev.evenkeel.client.ConsumerOptions;
import io.vertx.core.json.JsonObject;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MessageFilterTest {
  private static Message message(String key, String... headers) {
    Message.Builder builder = Message.builder("x").key(key);
    for (int i = 0; i < headers.length; i += 2) {
      builder.header(headers[i], headers[i + 1]);
    }
    return builder.build();
  }

  @Test
  void oneConditionOfEachFieldMustHold() {
    var filter = MessageFilter.of("key=a", "key^=b-", "header:region=eu", "header:region=us");
    assertThat(filter.matches(message("a", "region", "eu"))).isTrue();
    assertThat(filter.matches(message("b-7", "region", "us"))).isTrue();
    assertThat(filter.matches(message("a", "region", "asia"))).isFalse();
    assertThat(filter.matches(message("c", "region", "eu"))).isFalse();
    assertThat(filter.matches(message("a"))).as("without the header").isFalse();
    assertThat(filter.matches(message(null, "region", "eu"))).as("without a key").isFalse();
    assertThat(MessageFilter.ALL.matches(message(null))).isTrue();
  }

  @Test
  void valuesMayHaveAnyLetters() {
    assertThat(MessageFilter.of("key=").matches(message(""))).as("an empty key").isTrue();
    assertThat(MessageFilter.of("key=a=b^=c").matches(message("a=b^=c"))).isTrue();
    assertThat(MessageFilter.of("key^=").matches(message("any"))).isTrue();
    assertThat(MessageFilter.of("header:é=ü").matches(message("k", "é", "ü"))).isTrue();
  }

  @Test
  void theOrderOfTheConditionsDoesNotCount() {
    assertThat(MessageFilter.of("key=b", "key=a", "key=b"))
        .isEqualTo(MessageFilter.of("key=a", "key=b"));
    assertThat(MessageFilter.of()).isEqualTo(MessageFilter.ALL);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "key", "keys=a", "header:=a", "header:^=a", "header=a", "a", "=", "payload=x"})
  void anythingElseIsRefused(String text) {
    Refused.with(Refusal.INVALID, () -> MessageFilter.of(text), "key^=PREFIX");
  }

  @Test
  void itHasItsLimits() {
    List<String> many = Collections.nCopies(MessageFilter.CONDITIONS_MAX + 1, "key=a");
    assertThatThrownBy(() -> MessageFilter.of(many)).hasMessageContaining("1000 conditions");
    String large = "key=" + "a".repeat(MessageFilter.BYTES_MAX);
    assertThatThrownBy(() -> MessageFilter.of(large)).hasMessageContaining("65536 letters");
  }

  @Test
  void itIsAnOptionOfAConsumer() {
    MessageFilter filter = MessageFilter.of("key=a", "header:region^=eu-");
    ConsumerOptions options = new ConsumerOptions().setGroup("g").setFilter(filter);
    JsonObject json = options.toJson();
    assertThat(json.getJsonArray("filter")).containsExactly("header:region^=eu-", "key=a");
    assertThat(new ConsumerOptions(json).getFilter()).isEqualTo(filter);
    assertThat(new ConsumerOptions().getFilter()).isEqualTo(MessageFilter.ALL);
    Fails.saying(() -> new ConsumerOptions(new JsonObject("{\"filter\":[7]}")), "filter");
  }
}
