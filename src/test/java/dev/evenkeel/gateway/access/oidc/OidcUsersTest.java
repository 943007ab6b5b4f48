package dev.evenkeel.gateway.access.oidc;

import static dev.evenkeel.Futures.await;
import static org.assertj.core.api.Assertions.assertThat;

import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.jwk.RSAKey;
import dev.evenkeel.Fails;
import dev.evenkeel.Refused;
import dev.evenkeel.Wait;
import dev.evenkeel.bus.meters.Meters;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.VerticleBase;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Date;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OidcUsersTest {
  @TempDir Path directory;
  private final AtomicLong now = new AtomicLong(System.currentTimeMillis());
  private final AtomicLong monotonic = new AtomicLong(-5_000);
  private Vertx vertx;
  private TestIssuer issuer;
  private Path file;

  @BeforeEach
  void open() throws Exception {
    vertx = Vertx.vertx();
    issuer = new TestIssuer();
    file = directory.resolve("oidc.json");
    write(issuer.settings(TestIssuer.rule("groups", "ops", "view:*")));
  }

  @AfterEach
  void close() {
    issuer.close();
    await(vertx.close());
  }

  private void write(JsonObject settings) throws IOException {
    Files.writeString(file, settings.encode());
  }

  private OidcUsers start() {
    OidcUsers users =
        new OidcUsers(vertx, file, Meters.of(vertx).scope("access"), now::get, monotonic::get);
    await(users.start());
    return users;
  }

  private void pass(long millis) {
    now.addAndGet(millis);
    monotonic.addAndGet(millis);
  }

  private static String refused(Refusal refusal, Future<KnownToken> check) {
    RefusedException failure = failure(check);
    assertThat(failure.refusal()).as(failure.getMessage()).isEqualTo(refusal);
    return failure.getMessage();
  }

  private static RefusedException failure(Future<KnownToken> check) {
    return (RefusedException) await(check.transform(done -> Future.succeededFuture(done.cause())));
  }

  @Test
  void aTokenIsCheckedOnce() throws Exception {
    OidcUsers users = start();
    String token = issuer.token("alice", "ops");
    assertThat(users.known(token)).isNull();
    KnownToken known = await(users.check(token, "a"));
    assertThat(known.user().name()).isEqualTo("oidc.alice");
    assertThat(users.known(token)).isSameAs(known);
    assertThat(users.named("oidc.alice")).isEqualTo(known.user());
    assertThat(issuer.asked()).as("for all tokens").isEqualTo(1);
    Refused.with(Refusal.UNAUTHENTICATED, () -> users.named("oidc.bob"));
  }

  @Test
  void tokensAreCheckedWithoutTheVerticleThatCameFirst() throws Exception {
    Promise<OidcUsers> made = Promise.promise();
    VerticleBase first =
        new VerticleBase() {
          @Override
          public Future<?> start() {
            OidcUsers users =
                new OidcUsers(
                    vertx, file, Meters.of(vertx).scope("access"), now::get, monotonic::get);
            return users.start().onSuccess(done -> made.complete(users));
          }
        };
    await(vertx.undeploy(await(vertx.deployVerticle(first))));
    KnownToken known = await(await(made.future()).check(issuer.token("alice", "ops"), "a"));
    assertThat(known.user().name()).isEqualTo("oidc.alice");
  }

  @Test
  void aTokenExpires() throws Exception {
    OidcUsers users = start();
    String token = issuer.token("alice", "ops");
    KnownToken known = await(users.check(token, "a"));
    pass(58_000);
    assertThat(known.user()).isNotNull();
    pass(30_000);
    Refused.with(Refusal.UNAUTHENTICATED, known::user, "expired at");
    Refused.with(Refusal.UNAUTHENTICATED, () -> users.named("oidc.alice"));
    refused(Refusal.UNAUTHENTICATED, users.check(token, "a"));
  }

  @Test
  void theTokenOfAUserThatCountsLongestSaysWhetherItIsThere() throws Exception {
    OidcUsers users = start();
    await(users.check(issuer.token("alice", "ops"), "a"));
    pass(30_000);
    String later =
        issuer.sign(issuer.claims("alice", "ops").expirationTime(new Date(now.get() + 60_000)));
    await(users.check(later, "a"));
    await(users.check(issuer.token("alice", "ops", "more"), "a"));
    pass(45_000);
    assertThat(users.named("oidc.alice").name()).isEqualTo("oidc.alice");
  }

  /** A token with a stolen key may count for a hundred years. */
  @Test
  void aTokenThatCountsNoMoreHidesNoOtherOne() throws Exception {
    OidcUsers users = start();
    Date far = new Date(now.get() + 3_000_000_000_000L);
    KnownToken stolen =
        await(users.check(issuer.sign(issuer.claims("alice", "ops").expirationTime(far)), "a"));
    pass(OidcUsers.READ_GAP_MILLIS);
    issuer.rotate("second");
    await(users.check(issuer.token("alice", "ops"), "a"));
    Refused.with(Refusal.UNAUTHENTICATED, stolen::user, "publish");
    assertThat(users.named("oidc.alice").name()).isEqualTo("oidc.alice");
  }

  /** Then the issuer takes the former key away, and its tokens end. */
  @Test
  void aNewKeyIsFoundAtOnceAndAWithdrawnOneEndsItsTokens() throws Exception {
    OidcUsers users = start();
    KnownToken known = await(users.check(issuer.token("alice", "ops"), "a"));
    pass(OidcUsers.READ_GAP_MILLIS);
    issuer.rotate("second");
    KnownToken next = await(users.check(issuer.token("alice", "ops"), "a"));
    assertThat(next.user().name()).isEqualTo("oidc.alice");
    Refused.with(Refusal.UNAUTHENTICATED, known::user, "publish");
    assertThat(issuer.asked()).isEqualTo(2);
  }

  @Test
  void unknownKeysCauseNoMoreThanOneQuestionInTenSeconds() throws Exception {
    OidcUsers users = start();
    RSAKey unknown = TestIssuer.rsaKey("unknown");
    String token =
        TestIssuer.sign(
            new JWSHeader.Builder(JWSAlgorithm.RS256).keyID("unknown"),
            unknown,
            issuer.claims("eve", "ops"));
    assertThat(refused(Refusal.UNAVAILABLE, users.check(token, "a"))).contains("in 10 s");
    pass(OidcUsers.READ_GAP_MILLIS);
    List<Future<KnownToken>> checks = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      checks.add(users.check(token, "a"));
    }
    for (Future<KnownToken> each : checks) {
      assertThat(failure(each).refusal()).isIn(Refusal.UNAUTHENTICATED, Refusal.UNAVAILABLE);
    }
    assertThat(issuer.asked()).isEqualTo(2);
    pass(OidcUsers.READ_GAP_MILLIS);
    assertThat(refused(Refusal.UNAUTHENTICATED, users.check(token, "a")))
        .contains("does not publish");
  }

  @Test
  void theNodeStartsWithoutTheIssuerAndTakesItsTokensLater() throws Exception {
    issuer.status = 503;
    OidcUsers users = start();
    String token = issuer.token("alice", "ops");
    refused(Refusal.UNAVAILABLE, users.check(token, "a"));
    issuer.status = 200;
    pass(OidcUsers.READ_GAP_MILLIS);
    users.look();
    Wait.until(() -> users.rules().keys().count() == 1);
    assertThat(await(users.check(token, "a")).user().name()).isEqualTo("oidc.alice");
  }

  @Test
  void theLastGoodKeysStay() throws Exception {
    OidcUsers users = start();
    KnownToken known = await(users.check(issuer.token("alice", "ops"), "a"));
    int asked = issuer.asked();
    for (String bad :
        List.of("", "{}", "{\"keys\":[]}", "no JSON", "x".repeat(KeySource.BYTES_MAX + 1))) {
      issuer.instead = bad;
      pass(OidcUsers.READ_GAP_MILLIS);
      Fails.with(RefusedException.class, () -> await(users.readKeys()));
      assertThat(users.rules().keys().count()).as(bad).isEqualTo(1);
    }
    assertThat(issuer.asked()).isEqualTo(asked + 5);
    assertThat(users.rules().keys().has(issuer.rsa().computeThumbprint().toString())).isTrue();
    now.set(System.currentTimeMillis());
    assertThat(known.user()).isNotNull();
    issuer.instead = null;
    pass(OidcUsers.READ_GAP_MILLIS);
    await(users.readKeys());
  }

  @Test
  void aDocumentOfAnotherIssuerDoesNotSayWhereTheKeysAre() throws Exception {
    write(
        issuer
            .settings(TestIssuer.rule("groups", "ops", "view:*"))
            .put("issuer", issuer.url() + "/"));
    OidcUsers users = start();
    assertThat(users.rules().keys().count()).isZero();
    assertThat(issuer.asked()).isZero();
  }

  @Test
  void keysCanComeFromAFile() throws Exception {
    Path keys = directory.resolve("keys.json");
    Files.writeString(keys, issuer.jwks());
    write(issuer.settings(TestIssuer.rule("groups", "ops", "view:*")).put("jwks", "keys.json"));
    OidcUsers users = start();
    await(users.check(issuer.token("alice", "ops"), "a"));
    issuer.rotate("second");
    Files.writeString(keys, issuer.jwks());
    pass(OidcUsers.READ_GAP_MILLIS);
    await(users.check(issuer.token("alice", "ops"), "a"));
    assertThat(issuer.asked()).isZero();
  }

  @Test
  void changedRulesCountForKnownTokens() throws Exception {
    OidcUsers users = start();
    KnownToken known = await(users.check(issuer.token("alice", "ops"), "a"));
    write(issuer.settings(TestIssuer.rule("groups", "ops", "produce:orders")));
    users.look();
    assertThat(known.user().may()).hasToString("[produce:orders]");
    write(issuer.settings(TestIssuer.rule("groups", "others", "view:*")));
    users.look();
    Refused.with(Refusal.UNAUTHENTICATED, known::user, "no permission");
    Files.writeString(file, "{");
    users.look();
    Refused.with(Refusal.UNAUTHENTICATED, known::user, "no permission");
    write(issuer.settings(TestIssuer.rule("groups", "ops", "view:*")).put("audience", "other"));
    users.look();
    Refused.with(Refusal.UNAUTHENTICATED, known::user, "other");
    write(issuer.settings(TestIssuer.rule("groups", "ops", "view:*")));
    users.look();
    assertThat(known.user().name()).isEqualTo("oidc.alice");
  }

  @Test
  void keysOfOneIssuerDoNotCountForAnother() throws Exception {
    OidcUsers users = start();
    KnownToken known = await(users.check(issuer.token("alice", "ops"), "a"));
    try (TestIssuer other = new TestIssuer()) {
      other.status = 503;
      write(other.settings(TestIssuer.rule("groups", "ops", "view:*")));
      users.look();
      assertThat(users.rules().keys().count()).isZero();
      Refused.with(Refusal.UNAUTHENTICATED, known::user);
      String forged = issuer.sign(issuer.claims("alice", "ops").issuer(other.url()));
      pass(OidcUsers.READ_GAP_MILLIS);
      refused(Refusal.UNAVAILABLE, users.check(forged, "a"));
    }
  }

  @Test
  void aFileThatCannotBeUsedIsAnErrorAtTheStart() throws Exception {
    Files.writeString(file, "{}");
    OidcUsers users =
        new OidcUsers(vertx, file, Meters.of(vertx).scope("access"), now::get, monotonic::get);
    Refused.with(Refusal.INVALID, () -> await(users.start()), file.toString(), "issuer");
  }

  @Test
  void oneAddressLeavesRoomForOthers() {
    PendingChecks pending = new PendingChecks(10);
    for (int i = 0; i < 5; i++) {
      pending.take("a");
    }
    Refused.with(Refusal.OVERLOADED, () -> pending.take("a"));
    for (int i = 0; i < 3; i++) {
      pending.take("b");
    }
    Refused.with(Refusal.OVERLOADED, () -> pending.take("b"));
    pending.take("c");
    for (int i = 0; i < 5; i++) {
      pending.give("a");
    }
    for (int i = 0; i < 3; i++) {
      pending.give("b");
    }
    pending.give("c");
    assertThat(pending.count()).isZero();
    pending.take("a");
  }

  @Test
  void manyTokensLeaveNothingBehind() throws Exception {
    KnownTokens known = new KnownTokens();
    OidcUsers users = start();
    String big = "x".repeat(8_000);
    for (int i = 0; i < 2_000; i++) {
      KnownToken token =
          new KnownToken(
              users,
              issuer.sign(issuer.claims("u" + i, "ops").claim("big", big)),
              issuer.rsa().computeThumbprint().toString());
      known.put(token);
      assertThat(known.get(token.text())).isSameAs(token);
    }
    assertThat(known.chars()).isLessThanOrEqualTo(8L << 20);
    assertThat(known.of("oidc.u0")).isNull();
    assertThat(known.of("oidc.u1999")).isNotNull();
  }

  /** Programs that get a token for each request have many. */
  @Test
  void whoHasManyTokensLeavesOthersTheirs() throws Exception {
    KnownTokens known = new KnownTokens();
    OidcUsers users = start();
    String key = issuer.rsa().computeThumbprint().toString();
    KnownToken other = new KnownToken(users, issuer.token("other", "ops"), key);
    known.put(other);
    String big = "x".repeat(8_000);
    KnownToken token = null;
    for (int i = 0; i < 1_000; i++) {
      token =
          new KnownToken(
              users,
              issuer.sign(issuer.claims("many", "ops").claim("big", big).claim("n", i)),
              key);
      known.put(token);
    }
    assertThat(known.get(token.text())).isSameAs(token);
    assertThat(known.chars()).isBetween(3L << 20, 5L << 20);
    assertThat(known.get(other.text())).isSameAs(other);
    assertThat(known.of("oidc.other")).isSameAs(other);
  }
}
