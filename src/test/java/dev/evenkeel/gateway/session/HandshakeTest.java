package dev.evenkeel.gateway.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.evenkeel.bus.frame.Hello;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.buffer.Buffer;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HandshakeTest {
  private static final String SESSION = "s-0123456789abcdef0123456789abcdef";

  private static Buffer hello(List<Integer> versions, String session, String cluster) {
    return new Hello(versions, session, cluster, "test 1", null).toJson().toBuffer();
  }

  private static Hello check(Buffer body) {
    return Handshake.check(body, "orders");
  }

  @Test
  void aHelloThatFitsIsRead() {
    assertThat(check(hello(List.of(9, 1), SESSION, "orders")).session()).isEqualTo(SESSION);
    assertThat(
            check(
                    Buffer.buffer(
                        "{\"versions\":[1],\"session\":\""
                            + SESSION
                            + "\",\"cluster\":\"orders\"}"))
                .client())
        .isEmpty();
  }

  @Test
  void anotherVersionIsNamedWithThatOfTheNode() {
    assertThatThrownBy(() -> check(hello(List.of(2, 3), SESSION, "orders")))
        .isInstanceOfSatisfying(
            RefusedException.class,
            refused -> assertThat(refused.refusal()).isEqualTo(Refusal.WRONG_VERSION))
        .hasMessageContaining("[2, 3]")
        .hasMessageContaining("version 1");
  }

  @Test
  void anotherClusterIsNamedWithThatOfTheNode() {
    assertThatThrownBy(() -> check(hello(List.of(1), SESSION, "billing")))
        .hasMessageContaining("'orders'")
        .hasMessageContaining("'billing'");
    assertThatThrownBy(() -> check(hello(List.of(1), SESSION, null))).hasMessageContaining("null");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "s-",
        "s-1",
        "a/b",
        "ä",
        "a\nb",
        "0123456789abcdef0123456789abcdef",
        "s-0123456789abcdef0123456789abcde",
        "s-0123456789abcdef0123456789abcdef0",
        "s-0123456789abcdef0123456789abcdef\n",
        "s-0123456789ABCDEF0123456789abcdef",
        "s-0123456789abcdefg123456789abcdef",
      })
  void aBadSessionIdIsRefused(String session) {
    assertThatThrownBy(() -> check(hello(List.of(1), session, "orders")))
        .hasMessageContaining("bad session id")
        .hasMessageNotContaining("\n");
  }

  @Test
  void aLongSessionIdIsNotRepeatedAsAWhole() {
    assertThatThrownBy(() -> check(hello(List.of(1), "x".repeat(5_000), "orders")))
        .hasMessageContaining("32 random hexadecimal digits")
        .satisfies(refused -> assertThat(refused.getMessage()).hasSizeLessThan(300));
    assertThatThrownBy(() -> check(hello(List.of(1), null, "orders")))
        .hasMessageContaining("bad session id");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "{",
        "[]",
        "1",
        "null",
        "{}",
        "{\"versions\":1,\"session\":\"s\",\"cluster\":\"orders\"}",
        "{\"versions\":[\"1\"],\"session\":\"s\",\"cluster\":\"orders\"}",
        "{\"versions\":[null],\"session\":\"s\",\"cluster\":\"orders\"}"
      })
  void whatIsNoHelloIsRefused(String body) {
    assertThatThrownBy(() -> check(Buffer.buffer(body)))
        .isInstanceOf(RefusedException.class)
        .hasMessageContaining("versions, session and cluster");
  }
}
