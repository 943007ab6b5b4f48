package dev.evenkeel.gateway.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.evenkeel.Fails;
import dev.evenkeel.Refused;
import dev.evenkeel.bus.frame.Hello;
import dev.evenkeel.protocol.Refusal;
import io.vertx.core.buffer.Buffer;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HandshakeTest {
  private static final String SESSION = "s-0123456789abcdef0123456789abcdef";

  private static Buffer hello(List<Integer> versions, String session, String cluster) {
    return new Hello(versions, session, cluster, "test 1", null, 0).toJson().toBuffer();
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
    Refused.with(
        Refusal.WRONG_VERSION,
        () -> check(hello(List.of(2, 3), SESSION, "orders")),
        "[2, 3]",
        "version 1");
  }

  @Test
  void anotherClusterIsNamedWithThatOfTheNode() {
    Fails.saying(() -> check(hello(List.of(1), SESSION, "billing")), "'orders'", "'billing'");
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
    Fails.saying(() -> check(hello(List.of(1), null, "orders")), "bad session id");
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
    Refused.saying(() -> check(Buffer.buffer(body)), "versions, session and cluster");
  }
}
