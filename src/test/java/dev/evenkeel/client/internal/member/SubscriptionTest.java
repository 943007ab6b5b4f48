package dev.evenkeel.client.internal.member;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.TopicPattern;
import java.util.List;
import java.util.regex.Pattern;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;

class SubscriptionTest {
  @Provide
  Arbitrary<String> patterns() {
    return Arbitraries.strings().withChars("ab.*").ofMaxLength(8);
  }

  @Provide
  Arbitrary<String> names() {
    return Arbitraries.strings().withChars("ab.").ofMaxLength(10);
  }

  @Property
  void aStarStandsForAnything(@ForAll("patterns") String pattern, @ForAll("names") String name) {
    String regex =
        Pattern.compile("\\*").splitAsStream(pattern + "x").map(Pattern::quote).toList().stream()
            .reduce((a, b) -> a + ".*" + b)
            .orElse("");
    assertThat(TopicPattern.matches(pattern, name)).isEqualTo((name + "x").matches(regex));
  }

  @Test
  void patternsTakeInWhatThereIs() {
    Subscription some = new Subscription(List.of("audit", "orders.*", "*.eu"));
    assertThat(some.hasPatterns()).isTrue();
    assertThat(some.topics(List.of())).containsExactly("audit");
    assertThat(some.topics(List.of("orders.us", "orders.eu", "orders", "visits.eu", "x")))
        .containsExactly("audit", "orders.eu", "orders.us", "visits.eu");
    assertThat(new Subscription(List.of("a", "b")).hasPatterns()).isFalse();
  }

  @Test
  void entriesAreNamesOrPatterns() {
    for (String right : List.of("a", "a.b-c_d", "*", "*.eu", "orders.*", "a*b*c")) {
      assertThatCode(() -> TopicPattern.check(right)).doesNotThrowAnyException();
    }
    for (String wrong : List.of("", ".a", "a b", "a b*", "a?*")) {
      assertThatThrownBy(() -> TopicPattern.check(wrong)).isInstanceOf(RefusedException.class);
    }
    assertThatThrownBy(() -> TopicPattern.check(null)).isInstanceOf(RefusedException.class);
  }

  @Test
  void entriesComeAndGo() {
    Subscription one = new Subscription(List.of("a"));
    Subscription two = one.with("b.*", "c");
    assertThat(two.entries()).containsExactly("a", "b.*");
    assertThat(two.without("a", "c").entries()).containsExactly("b.*");
    assertThatThrownBy(() -> two.with("a", "c")).hasMessageContaining("reads 'a' already");
    assertThatThrownBy(() -> two.without("x", "c")).hasMessageContaining("does not read topic 'x'");
    assertThatThrownBy(() -> one.without("a", "c")).hasMessageContaining("close it instead");
  }
}
