package dev.evenkeel.gateway.access.oidc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Refused;
import dev.evenkeel.api.Permission;
import dev.evenkeel.protocol.Names;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.net.URI;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import net.jqwik.api.Assume;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.StringLength;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class OidcSettingsTest {
  private static final Path DIRECTORY = Path.of("/etc/evenkeel");

  private static JsonObject json(JsonObject... rules) {
    return new JsonObject()
        .put("issuer", "https://id.example.com/")
        .put("audience", "evenkeel")
        .put("rules", new JsonArray(List.of(rules)));
  }

  private static OidcSettings parse(JsonObject json) {
    return OidcSettings.parse(json.encode(), DIRECTORY);
  }

  private static final JsonObject BILLING =
      TestIssuer.rule("groups", "team-billing", "consume:orders", "group:billing");

  @Test
  void theIssuerSaysWhereItsKeysAreUnlessTheFileDoes() {
    OidcSettings usual = parse(json(BILLING));
    assertThat(usual.keys())
        .isEqualTo(URI.create("https://id.example.com/.well-known/openid-configuration"));
    assertThat(usual.discovered()).isTrue();
    assertThat(usual.nameClaim()).isEqualTo("sub");
    OidcSettings address = parse(json(BILLING).put("jwks", "https://id.example.com/keys"));
    assertThat(address.keys()).isEqualTo(URI.create("https://id.example.com/keys"));
    assertThat(address.discovered()).isFalse();
    OidcSettings file = parse(json(BILLING).put("jwks", "keys.json").put("ca", "ca.crt"));
    assertThat(file.keys()).isNull();
    assertThat(file.keysFile()).isEqualTo(DIRECTORY.resolve("keys.json"));
    assertThat(file.ca()).isEqualTo(DIRECTORY.resolve("ca.crt"));
    assertThat(file.hasKeysOf(address)).isFalse();
    assertThat(address.hasKeysOf(parse(json(BILLING).put("jwks", "https://id.example.com/keys"))))
        .isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "[]",
        "{}",
        "{'issuer':'https://i','audience':'a'}",
        "{'issuer':'https://i','rules':[{'claim':'c','value':'v','may':['view:*']}]}",
        "{'issuer':'https://i','audience':[],'rules':[{'claim':'c','value':'v','may':['view:*']}]}",
        "{'issuer':'i','audience':'a','rules':[{'claim':'c','value':'v','may':['view:*']}]}",
        "{'issuer':'http://i','audience':'a','rules':[{'claim':'c','value':'v','may':['view:*']}]}",
        "{'issuer':'https://i','audience':'a','rules':[{'claim':'c','may':['view:*']}]}",
        "{'issuer':'https://i','audience':'a','rules':[{'value':'c','may':['view:*']}]}",
        "{'issuer':'https://i','audience':'a','rules':[{'claim':'c','value':'v','may':[]}]}",
        "{'issuer':'https://i','audience':'a','rules':[{'claim':'c','value':'v','may':['fly:x']}]}",
        "{'issuer':'https://i','audience':'a','clockSkew':'2m',"
            + "'rules':[{'claim':'c','value':'v','may':['view:*']}]}",
        "{'issuer':'https://i','audience':'a','jwks':'http://127.evil.example/keys',"
            + "'rules':[{'claim':'c','value':'v','may':['view:*']}]}",
        "{'issuer':'https://i','audience':'a','jwks':'https://user:secret@i/keys',"
            + "'rules':[{'claim':'c','value':'v','may':['view:*']}]}",
        "{'issuer':'https://i','audience':'a','keys':'https://i/keys',"
            + "'rules':[{'claim':'c','value':'v','may':['view:*']}]}"
      })
  void aMalformedFileIsRefused(String text) {
    Refused.with(Refusal.INVALID, () -> OidcSettings.parse(text.replace('\'', '"'), DIRECTORY));
  }

  @ParameterizedTest
  @ValueSource(strings = {"http://127.0.0.1:8080/keys", "http://localhost/k", "http://[::1]:1/k"})
  void thisMachineNeedsNoTls(String address) {
    assertThat(parse(json(BILLING).put("jwks", address)).keys()).isEqualTo(URI.create(address));
  }

  @Test
  void aUserMayWhatAllFittingRulesAllow() {
    OidcSettings settings =
        parse(
            json(
                BILLING,
                TestIssuer.rule("realm_access.roles", "operator", "admin:*", "view:*"),
                TestIssuer.rule("https://example.com/team", "ops", "view:*"),
                TestIssuer.rule("resource_access.my.app.roles", "reader", "consume:app"),
                TestIssuer.rule("scope", "orders.write", "produce:orders"),
                TestIssuer.rule("level", "3", "view:three")));
    assertThat(may(settings, Map.of("groups", List.of("a", "team-billing"))))
        .containsExactly("consume:orders", "group:billing");
    assertThat(may(settings, Map.of("groups", "team-billing")))
        .containsExactly("consume:orders", "group:billing");
    assertThat(
            may(
                settings,
                Map.of(
                    "realm_access",
                    Map.of("roles", List.of("operator")),
                    "https://example.com/team",
                    "ops")))
        .containsExactly("admin:*", "view:*");
    assertThat(
            may(
                settings,
                Map.of("resource_access", Map.of("my.app", Map.of("roles", List.of("reader"))))))
        .containsExactly("consume:app");
    assertThat(may(settings, Map.of("scope", "openid orders.write")))
        .containsExactly("produce:orders");
    assertThat(may(settings, Map.of("level", 3))).containsExactly("view:three");
  }

  private static List<String> may(OidcSettings settings, Map<String, Object> claims) {
    Map<String, Object> all = new HashMap<>(claims);
    all.put("sub", "someone");
    return settings.user(all).may().stream().map(Permission::toString).toList();
  }

  @Test
  void whoFitsNoRuleComesInNowhereAndLearnsNoRule() {
    OidcSettings settings = parse(json(BILLING, TestIssuer.rule("scope", "x y", "view:*")));
    for (Map<String, Object> claims :
        List.<Map<String, Object>>of(
            Map.of("sub", "eve"),
            Map.of("sub", "eve", "groups", List.of("team-billing2", "TEAM-BILLING")),
            Map.of("sub", "eve", "groups", "a team-billing"),
            Map.of("sub", "eve", "groups", Map.of("team-billing", true)),
            Map.of("sub", "eve", "groups", List.of(List.of("team-billing"))),
            Map.of("sub", "eve", "scope", "x y"))) {
      Refused.with(Refusal.UNAUTHENTICATED, () -> settings.user(claims))
          .hasMessageContaining("oidc.eve")
          .hasMessageNotContaining("billing");
    }
  }

  @ParameterizedTest
  @CsvSource({
    "alice, oidc.alice",
    "Alice.Smith9, oidc.Alice.Smith9",
    "alice@example.com, oidc.alice_40example.com",
    "a-b, oidc.a_2db",
    "a_b, oidc.a_5fb",
    "é, oidc._c3_a9",
    "' ', oidc._20"
  })
  void namesAreTheirOwn(String said, String name) {
    assertThat(OidcNames.of(said)).isEqualTo(name);
  }

  @Test
  void aUserWithoutANameOrWithOneTooLongIsRefused() {
    OidcSettings settings = parse(json(BILLING));
    for (Object name : List.of("", "x".repeat(116), "-".repeat(50), 7, List.of("a"))) {
      Map<String, Object> claims = Map.of("sub", name, "groups", "team-billing");
      Refused.with(Refusal.UNAUTHENTICATED, () -> settings.user(claims));
    }
    Refused.with(Refusal.UNAUTHENTICATED, () -> settings.user(Map.of("groups", "team-billing")));
  }

  @Property
  void noTwoUsersShareANameNorThePrefixOfProducers(
      @ForAll @StringLength(min = 1, max = 30) String one,
      @ForAll @StringLength(min = 1, max = 30) String other) {
    Assume.that(!one.equals(other));
    try {
      String name = OidcNames.of(one);
      assertThat(Names.check("user", name)).isEqualTo(name).doesNotContain("-");
      assertThat(OidcNames.of(other)).isNotEqualTo(name);
    } catch (RefusedException e) {
      assertThat(e.refusal()).isEqualTo(Refusal.UNAUTHENTICATED);
    }
  }
}
