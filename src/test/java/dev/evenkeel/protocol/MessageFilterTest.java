package dev.evenkeel.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.evenkeel.Fails;
import dev.evenkeel.Refused;
import dev.evenkeel.client.ConsumerOptions;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
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
    assertThat(MessageFilter.of("key=b", "key=a")).isEqualTo(MessageFilter.of("key=a", "key=b"));
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
    List<String> most =
        IntStream.range(0, MessageFilter.CONDITIONS_MAX).mapToObj(i -> "key=" + i).toList();
    assertThat(MessageFilter.of(most).texts()).hasSize(MessageFilter.CONDITIONS_MAX);
    List<String> more = new ArrayList<>(most);
    more.add("key=a");
    Refused.with(Refusal.INVALID, () -> MessageFilter.of(more), "1001 conditions", "prefix");
    String large = "key=" + "a".repeat(MessageFilter.BYTES_MAX - 4);
    assertThat(MessageFilter.of(large).texts()).hasSize(1);
    Refused.with(Refusal.INVALID, () -> MessageFilter.of(large + "a"), "65537 bytes", "65536");
    assertThatThrownBy(() -> MessageFilter.of("key=" + "é".repeat(MessageFilter.BYTES_MAX / 2)))
        .as("letters of two bytes")
        .hasMessageContaining("65540 bytes");
  }

  @Test
  void noConditionIsThereTwice() {
    Refused.with(
        Refusal.INVALID, () -> MessageFilter.of("key=a", "key=b", "key=a"), "'key=a' twice");
    Fails.saying(
        () -> new ConsumerOptions(new JsonObject("{\"filter\":[\"key=a\",\"key=a\"]}")), "twice");
  }

  @Test
  void aLargeFilterIsShownInPart() {
    List<String> few = List.of("key=a", "key=b");
    assertThat(MessageFilter.shown(few)).isSameAs(few);
    List<String> many = new ArrayList<>(IntStream.range(0, 30).mapToObj(i -> "key=" + i).toList());
    assertThat(MessageFilter.shown(many)).hasSize(21).endsWith("… and 10 more");
    many.set(0, "key=" + "a".repeat(60_000));
    assertThat(String.join("", MessageFilter.shown(many)).length()).isLessThan(1_000);
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
