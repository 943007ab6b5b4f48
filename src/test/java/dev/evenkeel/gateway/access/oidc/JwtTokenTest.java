package dev.evenkeel.gateway.access.oidc;

import static org.assertj.core.api.Assertions.assertThat;

import com.nimbusds.jose.JOSEObjectType;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.crypto.MACSigner;
import com.nimbusds.jose.crypto.RSASSASigner;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.KeyUse;
import com.nimbusds.jose.jwk.RSAKey;
import com.nimbusds.jose.jwk.gen.OctetSequenceKeyGenerator;
import com.nimbusds.jose.jwk.gen.RSAKeyGenerator;
import com.nimbusds.jose.util.Base64URL;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.PlainJWT;
import com.nimbusds.jwt.SignedJWT;
import dev.evenkeel.Refused;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Date;
import java.util.List;
import java.util.Set;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class JwtTokenTest {
  private static final long NOW = 1_900_000_000_000L;
  private static final String ISSUER = "https://id.example.com";
  private static final OidcSettings SETTINGS = settings("10s");

  private static RSAKey rsa;

  @BeforeAll
  static void key() throws Exception {
    rsa = TestIssuer.rsaKey("rsa");
  }

  private static OidcSettings settings(String skew) {
    return OidcSettings.parse(
        ("{'issuer':'"
                + ISSUER
                + "','audience':['evenkeel','queue'],'clockSkew':'"
                + skew
                + "',"
                + "'rules':[{'claim':'groups','value':'ops','may':['view:*']}]}")
            .replace('\'', '"'),
        Path.of("."));
  }

  private static JWTClaimsSet.Builder claims() {
    return new JWTClaimsSet.Builder()
        .issuer(ISSUER)
        .audience("evenkeel")
        .subject("alice")
        .expirationTime(new Date(NOW + 60_000))
        .claim("groups", List.of("ops"));
  }

  private static JWSHeader.Builder header(JWSAlgorithm algorithm, JWK key) {
    return new JWSHeader.Builder(algorithm).keyID(key.getKeyID());
  }

  private static String token(JWTClaimsSet.Builder claims) throws Exception {
    return TestIssuer.sign(header(JWSAlgorithm.RS256, rsa), rsa, claims);
  }

  private static IssuerKeys keys(JWK... published) {
    return IssuerKeys.parse(new JWKSet(List.of(published)).toString(true));
  }

  /** What a node does with a token; null: it knows no key for it. */
  private static OidcUser user(String token, IssuerKeys keys) {
    JwtToken jwt = JwtToken.parse(token);
    jwt.check(SETTINGS, NOW);
    IssuerKeys.Key key = keys.of(jwt.header());
    if (key == null) {
      return null;
    }
    jwt.verify(key);
    return SETTINGS.user(jwt.claims());
  }

  private static void assertRefused(JWTClaimsSet.Builder claims, String... words) throws Exception {
    String token = token(claims);
    Refused.with(Refusal.UNAUTHENTICATED, () -> user(token, keys(rsa)), words);
  }

  @Test
  void everyAlgorithmWithAPublicKeyCounts() throws Exception {
    for (JWSAlgorithm each : JWSAlgorithm.Family.RSA) {
      String token = TestIssuer.sign(header(each, rsa), rsa, claims());
      assertThat(user(token, keys(rsa)).name()).as(each.getName()).isEqualTo("oidc.alice");
    }
    for (Curve curve : List.of(Curve.P_256, Curve.P_384, Curve.P_521)) {
      JWK key = TestIssuer.ecKey("ec", curve);
      JWSAlgorithm algorithm =
          JWSAlgorithm.parse(
              curve == Curve.P_256 ? "ES256" : curve == Curve.P_384 ? "ES384" : "ES512");
      String token = TestIssuer.sign(header(algorithm, key), key, claims());
      assertThat(user(token, keys(rsa, key)).name()).isEqualTo("oidc.alice");
      assertThat(user(token, keys(rsa))).as("an unknown key").isNull();
    }
  }

  @Test
  void thePublicKeyIsNoSharedSecret() throws Exception {
    for (byte[] secret :
        List.of(
            rsa.toRSAPublicKey().getEncoded(),
            rsa.toPublicJWK().toJSONString().getBytes(StandardCharsets.UTF_8))) {
      SignedJWT jwt = new SignedJWT(header(JWSAlgorithm.HS256, rsa).build(), claims().build());
      jwt.sign(new MACSigner(secret));
      String token = jwt.serialize();
      Refused.with(Refusal.UNAUTHENTICATED, () -> user(token, keys(rsa)), "signed with 'HS256'");
    }
  }

  @Test
  void aTokenWithoutASignatureIsRefused() throws Exception {
    String plain = new PlainJWT(claims().build()).serialize();
    Refused.with(Refusal.UNAUTHENTICATED, () -> user(plain, keys(rsa)));
    String good = token(claims());
    String unsigned = good.substring(0, good.lastIndexOf('.') + 1);
    Refused.with(Refusal.UNAUTHENTICATED, () -> user(unsigned, keys(rsa)));
    for (String none : List.of("none", "NONE", "HS512", "ES256K", "EdDSA", "dir")) {
      String header = "{\"alg\":\"" + none + "\",\"kid\":\"rsa\"}";
      String token = Base64URL.encode(header) + good.substring(good.indexOf('.'));
      Refused.with(Refusal.UNAUTHENTICATED, () -> user(token, keys(rsa)));
    }
  }

  @Test
  void whatTheTokenSaysAboutItsKeyDoesNotCount() throws Exception {
    RSAKey evil = TestIssuer.rsaKey("rsa");
    String token =
        TestIssuer.sign(
            header(JWSAlgorithm.RS256, evil)
                .jwk(evil.toPublicJWK())
                .jwkURL(URI.create("https://evil.example.com/keys"))
                .x509CertURL(URI.create("https://evil.example.com/certificate")),
            evil,
            claims());
    Refused.with(Refusal.UNAUTHENTICATED, () -> user(token, keys(rsa)), "signature");
  }

  @Test
  void aKeyIsUsedForWhatItIsFor() throws Exception {
    String token = token(claims());
    assertThat(user(token, keys(rsa, TestIssuer.rsaKey("other")))).isNotNull();
    RSAKey forPs = new RSAKey.Builder(rsa).algorithm(JWSAlgorithm.PS256).build();
    assertThat(user(token, keys(forPs))).as("for another algorithm").isNull();
    RSAKey encrypting = new RSAKey.Builder(rsa).keyUse(KeyUse.ENCRYPTION).build();
    RSAKey small = new RSAKeyGenerator(1_024, true).keyID("small").generate();
    JWK secret = new OctetSequenceKeyGenerator(256).keyID("secret").generate();
    for (JWK useless : List.of(encrypting, small, secret)) {
      // As the set has it, with whatever is secret.
      String set = new JWKSet(useless).toString(false);
      Refused.with(Refusal.INVALID, () -> IssuerKeys.parse(set));
    }
  }

  @Test
  void aTokenThatNamesNoKeyNeedsTheOnlyOne() throws Exception {
    String token = TestIssuer.sign(new JWSHeader.Builder(JWSAlgorithm.RS256), rsa, claims());
    JWK ec = TestIssuer.ecKey("ec", Curve.P_256);
    assertThat(user(token, keys(rsa, ec))).isNotNull();
    assertThat(user(token, keys(rsa, ec, TestIssuer.rsaKey("other")))).isNull();
  }

  @Test
  void aTokenCountsForItsAudienceAndOfItsIssuer() throws Exception {
    assertRefused(claims().issuer("https://evil.example.com"), "evil.example.com", ISSUER);
    assertRefused(claims().issuer(null));
    assertRefused(claims().issuer(ISSUER + "/"));
    assertRefused(claims().audience("other"), "other", "evenkeel or queue");
    assertRefused(claims().audience((String) null));
    assertThat(user(token(claims().audience(List.of("x", "queue"))), keys(rsa))).isNotNull();
  }

  @Test
  void aTokenCountsForItsTime() throws Exception {
    assertRefused(claims().expirationTime(new Date(NOW - 10_000)), "expired", "2030-03-17");
    assertThat(user(token(claims().expirationTime(new Date(NOW - 9_000))), keys(rsa))).isNotNull();
    assertRefused(claims().expirationTime(null), "'exp' is missing");
    assertRefused(claims().notBeforeTime(new Date(NOW + 11_000)), "counts from");
    assertThat(user(token(claims().notBeforeTime(new Date(NOW + 9_000))), keys(rsa))).isNotNull();
    JwtToken skewed = JwtToken.parse(token(claims().expirationTime(new Date(NOW))));
    assertThat(skewed.endMillis(SETTINGS)).isEqualTo(NOW + 10_000);
    assertThat(skewed.endMillis(settings("60s"))).isEqualTo(NOW + 60_000);
  }

  @Test
  void itsHeaderIsThatOfAnAccessToken() throws Exception {
    for (String type : List.of("JWT", "jwt", "at+jwt", "application/at+jwt")) {
      String token =
          TestIssuer.sign(
              header(JWSAlgorithm.RS256, rsa).type(new JOSEObjectType(type)), rsa, claims());
      assertThat(user(token, keys(rsa))).as(type).isNotNull();
    }
    for (String type : List.of("logout+jwt", "dpop+jwt", "secevent+jwt")) {
      String token =
          TestIssuer.sign(
              header(JWSAlgorithm.RS256, rsa).type(new JOSEObjectType(type)), rsa, claims());
      Refused.with(Refusal.UNAUTHENTICATED, () -> user(token, keys(rsa)), type);
    }
    SignedJWT critical =
        new SignedJWT(
            header(JWSAlgorithm.RS256, rsa)
                .criticalParams(Set.of("exp"))
                .customParam("exp", 1)
                .build(),
            claims().build());
    critical.sign(new RSASSASigner(rsa));
    String token = critical.serialize();
    Refused.with(Refusal.UNAUTHENTICATED, () -> user(token, keys(rsa)), "crit");
  }

  /** Decoders of Base64 skip what they do not know, and bits that are left over. */
  @Test
  void aTokenHasOneText() throws Exception {
    String text = token(claims());
    JwtToken.parse(text);
    String cut = text.substring(0, text.length() - 1);
    char last = text.charAt(text.length() - 1);
    for (String other :
        List.of(" " + text, text + "\n", text + "!", text + "=", cut + (char) (last + 1))) {
      Refused.with(Refusal.UNAUTHENTICATED, () -> JwtToken.parse(other), "do not belong");
    }
  }

  @Test
  void aHugeTokenIsNotEvenRead() throws Exception {
    String huge = token(claims().claim("all", "x".repeat(Limits.TOKEN_CHARS_MAX)));
    Refused.with(
        Refusal.UNAUTHENTICATED,
        () -> user(huge, keys(rsa)),
        String.valueOf(Limits.TOKEN_CHARS_MAX));
    String deep = "[".repeat(4_000) + "]".repeat(4_000);
    String nested =
        Base64URL.encode("{\"alg\":\"RS256\"}")
            + "."
            + Base64URL.encode("{\"sub\":" + deep + "}")
            + ".AAAA";
    Refused.with(Refusal.UNAUTHENTICATED, () -> user(nested, keys(rsa)));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"..", "a.b.c", "e30.e30.", ".e30.e30", "e30.e30.e30", "\u0000.\u0000.\u0000"})
  void nonsenseIsRefused(String text) {
    assertThat(JwtToken.is(text)).isTrue();
    Refused.with(Refusal.UNAUTHENTICATED, () -> user(text, keys(rsa)));
  }

  @Test
  void tokensOfTheClusterAreNone() {
    assertThat(JwtToken.is("ek_00000000_" + "0".repeat(64))).isFalse();
    assertThat(JwtToken.is(null)).isFalse();
    assertThat(JwtToken.is("a.b.c.d.e")).isFalse();
  }

  /** Of the text of a token, nothing can be changed. */
  @Property(tries = 2_000)
  void aChangedTokenIsRefused(
      @ForAll @IntRange(max = 100_000) int place, @ForAll @IntRange(max = 127) int change)
      throws Exception {
    if (rsa == null) {
      key();
    }
    String good = token(claims());
    char[] chars = good.toCharArray();
    int at = place % chars.length;
    if (chars[at] == change) {
      return;
    }
    chars[at] = (char) change;
    String changed = new String(chars);
    OidcUser user;
    try {
      user = JwtToken.is(changed) ? user(changed, keys(rsa)) : null;
    } catch (RefusedException e) {
      assertThat(e.refusal()).isEqualTo(Refusal.UNAUTHENTICATED);
      return;
    }
    // The last character of a part has bits that mean nothing: then it is the same token.
    if (user != null) {
      assertThat(SignedJWT.parse(changed).getSignature().decode())
          .isEqualTo(SignedJWT.parse(good).getSignature().decode());
      assertThat(user.name()).isEqualTo("oidc.alice");
    }
  }

  /** Whatever somebody sends, the answer is a refusal. */
  @Property(tries = 2_000)
  void anythingElseIsRefused(@ForAll String header, @ForAll String claims, @ForAll byte[] signature)
      throws Exception {
    if (rsa == null) {
      key();
    }
    for (String token :
        List.of(
            Base64URL.encode(header)
                + "."
                + Base64URL.encode(claims)
                + "."
                + Base64URL.encode(signature),
            Base64URL.encode("{\"alg\":\"RS256\",\"kid\":\"rsa\"}")
                + "."
                + Base64URL.encode(claims)
                + "."
                + Base64URL.encode(signature),
            header + "." + claims + ".x")) {
      if (JwtToken.is(token)) {
        Refused.with(Refusal.UNAUTHENTICATED, () -> user(token, keys(rsa)));
      }
    }
  }

  @AfterAll
  static void timeIsNotNow() {
    assertThat(Instant.ofEpochMilli(NOW)).isAfter(Instant.now());
  }
}
