package dev.evenkeel.gateway.access;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Refused;
import dev.evenkeel.api.Permission;
import dev.evenkeel.api.PutUser;
import dev.evenkeel.protocol.ClusterUser;
import dev.evenkeel.protocol.ClusterUser.TokenDigest;
import dev.evenkeel.protocol.ProducerIds;
import dev.evenkeel.protocol.Refusal;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class UserChangesTest {
  private static final Instant NOW = Instant.parse("2026-12-01T00:00:00Z");
  private static final ClusterUser SHOP =
      new ClusterUser("shop", List.of(digest(null)), null, 1_000, List.of("produce:orders"));

  private static TokenDigest digest(Instant expires) {
    return Token.random().digest(expires).kept();
  }

  private static PutUser put(List<String> may, String certificate, Double share) {
    return new PutUser("shop", may, certificate, share, null);
  }

  private static Principal asker(String... may) {
    return new Principal("asker", Stream.of(may).map(Permission::parse).toList());
  }

  private static void give(Principal asker, ClusterUser user) {
    UserChanges.requireToGive(asker, user, List.of("shop", "other"));
  }

  @Test
  void whatIsNotAskedForStays() {
    ClusterUser fresh = UserChanges.put(null, put(null, null, null));
    assertThat(fresh).isEqualTo(new ClusterUser("shop", List.of(), null, 1_000, List.of()));
    assertThat(UserChanges.put(SHOP, put(null, null, null))).isEqualTo(SHOP);
    ClusterUser changed = UserChanges.put(SHOP, put(List.of("view:a", "view:b*"), "cn", 2.5));
    assertThat(changed)
        .isEqualTo(
            new ClusterUser("shop", SHOP.tokens(), "cn", 2_500, List.of("view:a", "view:b*")));
    assertThat(UserChanges.put(changed, put(List.of(), "", null)))
        .isEqualTo(new ClusterUser("shop", SHOP.tokens(), null, 2_500, List.of()));
  }

  @Test
  void whatCannotBeIsRefused() {
    for (PutUser wrong :
        List.of(
            put(List.of("fly:high"), null, null),
            put(null, " ", null),
            put(null, "c".repeat(ClusterUser.CERTIFICATE_CHARS_MAX + 1), null),
            put(null, null, 0.01),
            put(null, null, 1e9),
            put(null, null, -1.0),
            new PutUser("oidc.anna", null, null, null, null),
            new PutUser("a b", null, null, null, null))) {
      Refused.with(Refusal.INVALID, () -> UserChanges.put(null, wrong));
    }
    List<String> many =
        IntStream.range(0, ClusterUser.MAY_MAX + 1).mapToObj(i -> "view:" + i).toList();
    Refused.with(Refusal.TOO_LARGE, () -> UserChanges.put(SHOP, put(many, null, null)));
    Refused.with(Refusal.INVALID, () -> UserChanges.add("shop", null, digest(null), NOW));
    Refused.with(Refusal.INVALID, () -> UserChanges.remove("shop", null));
    Refused.with(Refusal.INVALID, () -> UserChanges.remove("shop", SHOP, "00000000"));
  }

  @Test
  void expiredTokensGiveWay() {
    ClusterUser user = SHOP;
    for (int i = 1; i < ClusterUser.TOKENS_MAX; i++) {
      user = UserChanges.add("shop", user, digest(NOW.plusSeconds(i)), NOW);
    }
    ClusterUser full = user;
    TokenDigest more = digest(null);
    Refused.with(Refusal.TOO_LARGE, () -> UserChanges.add("shop", full, more, NOW))
        .hasMessageContaining("remove one first");
    ClusterUser later = UserChanges.add("shop", full, more, NOW.plusSeconds(2));
    assertThat(later.tokens()).hasSize(ClusterUser.TOKENS_MAX - 1).contains(more);
    assertThat(UserChanges.add("shop", later, more, NOW)).as("once").isEqualTo(later);
    assertThat(UserChanges.remove("shop", later, more.id()).tokens())
        .hasSize(ClusterUser.TOKENS_MAX - 2)
        .doesNotContain(more);
  }

  /** Whoever changes users could otherwise give itself all permissions. */
  @Test
  void nobodyGivesWhatItHasNotItself() {
    for (String[] enough :
        List.of(
            new String[] {"admin:*", "produce:orders", "producer:shop*"},
            new String[] {"produce:*", "producer:*"},
            new String[] {"produce:ord*", "producer:shop", "producer:shop-*"})) {
      give(asker(enough), SHOP);
    }
    for (String[] tooLittle :
        List.of(
            new String[] {},
            new String[] {"admin:*"},
            new String[] {"admin:*", "view:*", "consume:*", "group:*", "producer:*"},
            new String[] {"produce:orders2", "producer:*"},
            new String[] {"produce:orders"},
            new String[] {"produce:orders", "producer:shop"},
            new String[] {"produce:orders", "producer:shop-*"})) {
      Refused.with(Refusal.FORBIDDEN, () -> give(asker(tooLittle), SHOP));
    }
    ClusterUser prefix = UserChanges.put(SHOP, put(List.of("view:a*"), null, null));
    give(asker("view:a*"), prefix);
    Refused.with(Refusal.FORBIDDEN, () -> give(asker("view:a", "view:ab*"), prefix));
    give(Principal.ANYBODY, SHOP);
    give(asker(), null);
  }

  /** It could use the ids of producers that the other user has begun. */
  @Test
  void aUserWithTheTagOfAnotherNeedsThePermissionForItsProducers() {
    Map<Integer, String> names = new HashMap<>();
    String one = "u0";
    String other = null;
    for (int i = 1; other == null; i++) {
      names.put(ProducerIds.tagOf(one), one);
      one = "u" + i;
      other = names.get(ProducerIds.tagOf(one));
    }
    List<String> known = List.of("shop", other);
    ClusterUser same = new ClusterUser(one, List.of(), null, 1_000, List.of("produce:orders"));
    String[] own = {"produce:*", "producer:" + one, "producer:" + one + "-*"};
    Refused.with(
        Refusal.FORBIDDEN,
        () -> UserChanges.requireToGive(asker(own), same, known),
        "producer:" + other);
    UserChanges.requireToGive(asker(own), same, List.of("shop"));
    UserChanges.requireToGive(asker("produce:*", "producer:*"), same, known);
  }

  /** A node of this version could otherwise make a token with more than its operator has. */
  @Test
  void nobodyGivesWhatThisVersionDoesNotKnow() {
    ClusterUser later = new ClusterUser("shop", List.of(), null, 1_000, List.of("fly:high"));
    Principal all = asker("admin:*", "view:*", "produce:*", "consume:*", "group:*", "producer:*");
    Refused.with(Refusal.FORBIDDEN, () -> give(all, later), "later version");
    give(Principal.ANYBODY, later);
  }

  @Test
  void aTokenExpiresWhenPeopleSay() {
    assertThat(Token.expires("90d", NOW)).isEqualTo("2027-03-01T00:00:00Z");
    assertThat(Token.expires("2027-01-31", NOW)).isEqualTo("2027-01-31T00:00:00Z");
    assertThat(Token.expires("2027-01-31T12:00:00+02:00", NOW)).isEqualTo("2027-01-31T10:00:00Z");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "soon",
        "90",
        "90x",
        "0s",
        "2026-12-01",
        "2026-11-30T23:59:59Z",
        "2027-02-30",
        "2027-01-31T12:00:00",
        "999999999999d",
        "40000d",
        "+999999999-01-01"
      })
  void anotherEndIsRefused(String text) {
    Refused.with(Refusal.INVALID, () -> Token.expires(text, NOW));
  }
}
