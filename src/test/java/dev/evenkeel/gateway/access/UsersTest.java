package dev.evenkeel.gateway.access;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Fails;
import dev.evenkeel.Refused;
import dev.evenkeel.api.Permission;
import dev.evenkeel.gateway.access.Users.User;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class UsersTest {
  private static final Token TOKEN = Token.random();

  private static User user(String name, Token token, String certificate) {
    return new User(
        name,
        token == null ? List.of() : List.of(token.digest()),
        certificate,
        1,
        List.of(Permission.parse("produce:orders")));
  }

  @Test
  void aFileIsReadAsItWasWrittenAndHasNoSecret() {
    Users users = new Users(List.of(user("shop", TOKEN, null), user("billing", null, "billing")));
    Users read = Users.parse(users.text());
    assertThat(read.all()).isEqualTo(users.all());
    assertThat(users.text()).contains(TOKEN.id()).doesNotContain(TOKEN.secret());
    assertThat(TOKEN.toString()).doesNotContain(TOKEN.secret());
    assertThat(read.ofToken(TOKEN.text()).principal().name()).isEqualTo("shop");
    assertThat(read.ofCertificate("billing").principal().name()).isEqualTo("billing");
  }

  @Test
  void aUserMayHaveAShareOfItsOwn() {
    Users users =
        Users.parse("{\"users\":[{\"name\":\"shop\",\"share\":2.5},{\"name\":\"billing\"}]}");
    assertThat(users.share("shop")).isEqualTo(2.5);
    assertThat(users.share("billing")).isEqualTo(1);
    assertThat(users.share("nobody")).isEqualTo(1);
    assertThat(Users.parse(users.text()).share("shop")).isEqualTo(2.5);
    for (String wrong : List.of("0", "-1", "101", "1e999")) {
      Refused.with(
          Refusal.INVALID,
          () -> Users.parse("{\"users\":[{\"name\":\"shop\",\"share\":" + wrong + "}]}"),
          "the share of the user 'shop' must be a number from 0.1 to 100.0");
    }
  }

  @Test
  void nobodyElseIsKnown() {
    Users users = new Users(List.of(user("shop", TOKEN, null)));
    String text = TOKEN.text();
    String secret = TOKEN.secret();
    char last = secret.charAt(secret.length() - 1) == '0' ? '1' : '0';
    for (String wrong :
        List.of(
            "",
            "ek_",
            text + "0",
            text.substring(0, text.length() - 1) + last,
            text.toUpperCase(java.util.Locale.ROOT),
            " " + text,
            Token.random().text(),
            "ek_" + TOKEN.id() + "_" + TOKEN.digest().sha256())) {
      assertThat(users.ofToken(wrong)).as(wrong).isNull();
    }
    assertThat(users.ofToken(null)).isNull();
    assertThat(users.ofCertificate(null)).isNull();
    assertThat(users.ofCertificate("shop")).isNull();
  }

  @Test
  void twoUsersCannotShareAnything() {
    User shop = user("shop", TOKEN, "c");
    for (User other :
        List.of(user("shop", null, null), user("b", TOKEN, null), user("b", null, "c"))) {
      Fails.with(RefusedException.class, () -> new Users(List.of(shop, other)));
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "[]",
        "{\"user\":[]}",
        "{\"users\":{}}",
        "{\"users\":[1]}",
        "{\"users\":[{}]}",
        "{\"users\":[{\"name\":\"a b\"}]}",
        "{\"users\":[{\"name\":\"a\",\"may\":[\"fly:high\"]}]}",
        "{\"users\":[{\"name\":\"a\",\"may\":\"produce:x\"}]}",
        "{\"users\":[{\"name\":\"a\",\"tokens\":[{\"id\":\"1\",\"sha256\":\"2\"}]}]}",
        "{\"users\":[{\"name\":\"a\",\"token\":\"x\"}]}"
      })
  void aMalformedFileIsRefused(String text) {
    Refused.with(Refusal.INVALID, () -> Users.parse(text));
  }
}
