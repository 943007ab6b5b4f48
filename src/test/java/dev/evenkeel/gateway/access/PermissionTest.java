package dev.evenkeel.gateway.access;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Refused;
import dev.evenkeel.api.Need;
import dev.evenkeel.api.Permission;
import dev.evenkeel.api.Permission.Kind;
import dev.evenkeel.protocol.Refusal;
import java.util.List;
import java.util.stream.Stream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.AlphaChars;
import net.jqwik.api.constraints.StringLength;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PermissionTest {
  private static Principal user(String... may) {
    return new Principal("shop", Stream.of(may).map(Permission::parse).toList());
  }

  @ParameterizedTest
  @ValueSource(strings = {"produce:orders", "consume:or*", "group:*", "view:a.b-c_1", "admin:*"})
  void aPermissionIsReadAsItIsWritten(String text) {
    assertThat(Permission.parse(text)).hasToString(text);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "produce", "produce:", "produces:orders", "view:a b", "view:**", "view:*a"})
  void whatIsNoPermissionIsRefused(String text) {
    Refused.with(Refusal.INVALID, () -> Permission.parse(text));
  }

  @Property
  void nothingIsAllowedThatNoPermissionNames(
      @ForAll Kind asked,
      @ForAll Kind given,
      @ForAll @AlphaChars @StringLength(min = 1, max = 3) String name,
      @ForAll @AlphaChars @StringLength(min = 1, max = 3) String other) {
    Principal exact = user(given.word() + ":" + other);
    assertThat(exact.has(Need.of(name, asked))).isEqualTo(asked == given && name.equals(other));
    Principal prefix = user(given.word() + ":" + other + "*");
    assertThat(prefix.has(Need.of(name, asked)))
        .isEqualTo(asked == given && name.startsWith(other));
    assertThat(user().has(Need.of(name, asked))).isFalse();
    assertThat(Principal.ANYBODY.has(Need.of(name, asked))).isTrue();
  }

  @Test
  void whoeverMayDoSomethingWithItSeesIt() {
    assertThat(user("produce:orders").seesTopic("orders")).isTrue();
    assertThat(user("consume:orders").seesTopic("orders")).isTrue();
    assertThat(user("admin:orders").seesTopic("orders")).isTrue();
    assertThat(user("group:orders").seesTopic("orders")).isFalse();
    assertThat(user("group:orders").seesGroup("orders")).isTrue();
    assertThat(user("produce:orders").seesGroup("orders")).isFalse();
    assertThat(user("view:o*").seesGroup("orders")).isTrue();
    assertThat(user("produce:*", "consume:*", "group:*").seesAll()).isFalse();
    assertThat(user("view:*").seesAll()).isTrue();
    assertThat(user("view:o*").seesAll()).isFalse();
    assertThat(user("view:o*").seesNodes()).isTrue();
    assertThat(user("group:*").seesNodes()).isFalse();
  }

  @Test
  void producerNamesBelongToTheUserWhoseNameTheyBeginWith() {
    Principal shop = user("produce:*");
    assertThat(List.of("shop", "shop-1", "shop-").stream().allMatch(shop::mayUseProducer)).isTrue();
    assertThat(List.of("shopping", "sho", "billing").stream().anyMatch(shop::mayUseProducer))
        .isFalse();
    assertThat(user("producer:bill*").mayUseProducer("billing")).isTrue();
  }
}
