package dev.evenkeel.gateway.access.oidc;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.util.Base64URL;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;
import com.nimbusds.jwt.util.DateUtils;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import java.text.ParseException;
import java.time.Instant;
import java.util.Collections;
import java.util.Date;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * A JSON Web Token that somebody shows, see RFC 7519 and RFC 8725. Nothing that it says about keys
 * counts but the name of one: a key in its header, or an address there, is the sender's.
 */
final class JwtToken {
  /** What a token may call itself: an access token may have a type of its own, see RFC 9068. */
  private static final Set<String> TYPES = Set.of("jwt", "at+jwt", "application/at+jwt");

  private static final int SHOWN_CHARS_MAX = 200;

  private final SignedJWT jwt;
  private final JWTClaimsSet claims;

  private JwtToken(SignedJWT jwt, JWTClaimsSet claims) {
    this.jwt = jwt;
    this.claims = claims;
  }

  /** Whether a text has the form of one: three parts with dots between them. */
  static boolean is(String text) {
    return text != null && text.chars().filter(c -> c == '.').count() == 2;
  }

  /**
   * Reads a token, and checks its header.
   *
   * @throws RefusedException UNAUTHENTICATED, saying what is wrong
   */
  static JwtToken parse(String text) {
    if (text.length() > Limits.TOKEN_CHARS_MAX) {
      throw Refusal.UNAUTHENTICATED.error(
          "the token has %s characters, and at most %s are possible: let the issuer put less"
              + " into it",
          text.length(), Limits.TOKEN_CHARS_MAX);
    }
    SignedJWT jwt;
    JWTClaimsSet claims;
    try {
      jwt = SignedJWT.parse(text);
      claims = jwt.getJWTClaimsSet();
    } catch (ParseException | IllegalArgumentException e) {
      // The reasons repeat parts of the token.
      throw Refusal.UNAUTHENTICATED.error("the token has two dots, but is no signed JWT");
    }
    Base64URL signature = jwt.getSignature();
    if (!text.equals(jwt.serialize()) || !signature.equals(Base64URL.encode(signature.decode()))) {
      // Else one token would have any number of texts, and each would count as another one.
      throw Refusal.UNAUTHENTICATED.error(
          "the token has characters that do not belong to it: show it as its issuer has made it");
    }
    if (claims == null) {
      throw Refusal.UNAUTHENTICATED.error("the token is no JWT: it has no claims");
    }
    check(jwt.getHeader());
    return new JwtToken(jwt, claims);
  }

  private static void check(JWSHeader header) {
    if (!IssuerKeys.allows(header.getAlgorithm())) {
      throw Refusal.UNAUTHENTICATED.error(
          "the token is signed with '%s': let the issuer use RS256, PS256, ES256 or another of their"
              + " kinds",
          shown(header.getAlgorithm()));
    }
    if (header.getType() != null
        && !TYPES.contains(header.getType().getType().toLowerCase(Locale.ROOT))) {
      throw Refusal.UNAUTHENTICATED.error(
          "the token has the type '%s': show an access token, whose type is JWT or at+jwt",
          shown(header.getType()));
    }
    if (header.getCriticalParams() != null) {
      throw Refusal.UNAUTHENTICATED.error(
          "the token demands things that nodes do not know, in its header 'crit'");
    }
  }

  /**
   * Checks who it is for, and when it counts.
   *
   * @throws RefusedException UNAUTHENTICATED
   */
  void check(OidcSettings settings, long nowMillis) {
    if (!settings.issuer().equals(claims.getIssuer())) {
      throw Refusal.UNAUTHENTICATED.error(
          "the token is of the issuer '%s', and tokens of '%s' count here",
          shown(claims.getIssuer()), settings.issuer());
    }
    List<String> audience = claims.getAudience();
    if (Collections.disjoint(audience, settings.audience())) {
      throw Refusal.UNAUTHENTICATED.error(
          "the token is for %s, and not for this cluster: its claim 'aud' must have %s",
          shown(audience), String.join(" or ", settings.audience()));
    }
    if (claims.getExpirationTime() == null) {
      throw Refusal.UNAUTHENTICATED.error("the token has no end: the claim 'exp' is missing");
    }
    checkEnd(endMillis(settings), millis(claims.getExpirationTime()), nowMillis);
    Date begin = claims.getNotBeforeTime();
    if (begin != null && nowMillis < millis(begin) - settings.skewMillis()) {
      throw Refusal.UNAUTHENTICATED.error(
          "the token counts from %s on, and here it is %s: wait, or correct the clock",
          time(millis(begin)), time(nowMillis));
    }
  }

  /**
   * @throws RefusedException UNAUTHENTICATED if it is over
   */
  static void checkEnd(long endMillis, long saidMillis, long nowMillis) {
    if (nowMillis >= endMillis) {
      throw Refusal.UNAUTHENTICATED.error(
          "the token expired at %s: get a new one from its issuer", time(saidMillis));
    }
  }

  private static String time(long millis) {
    return Instant.ofEpochMilli(millis).toString();
  }

  private static long millis(Date date) {
    return DateUtils.toSecondsSinceEpoch(date) * 1_000;
  }

  /** When it counts no more. */
  long endMillis(OidcSettings settings) {
    // A number near the largest would wrap around.
    return Math.min(millis(claims.getExpirationTime()), Long.MAX_VALUE / 2) + settings.skewMillis();
  }

  JWSHeader header() {
    return jwt.getHeader();
  }

  Map<String, Object> claims() {
    return claims.toJSONObject();
  }

  /**
   * @throws RefusedException UNAUTHENTICATED if it is not signed with that key
   */
  void verify(IssuerKeys.Key key) {
    try {
      if (jwt.verify(key.verifier())) {
        return;
      }
    } catch (JOSEException e) {
      // As below.
    }
    throw Refusal.UNAUTHENTICATED.error(
        "the signature of the token is wrong: its issuer has not made it, or it was changed");
  }

  /** A part of a token, for an error. */
  static String shown(Object part) {
    String text = String.valueOf(part).replaceAll("\\p{Cntrl}", "?");
    return text.length() <= SHOWN_CHARS_MAX ? text : text.substring(0, SHOWN_CHARS_MAX) + "…";
  }
}
