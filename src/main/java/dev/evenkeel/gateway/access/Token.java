package dev.evenkeel.gateway.access;

import dev.evenkeel.protocol.ClusterUser;
import dev.evenkeel.protocol.Durations;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.util.Sha256;
import io.vertx.core.json.JsonObject;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDate;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeParseException;
import java.time.temporal.ChronoUnit;
import java.util.HexFormat;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What a program shows to say which user it belongs to: {@code ek_ID_SECRET}. The secret has 256
 * random bits, so its digest need not be slow to compute.
 */
public record Token(String id, String secret) {
  private static final Pattern FORM = Pattern.compile("ek_([0-9a-f]{8})_([0-9a-f]{64})");
  private static final int DAYS_MAX = 36_525;
  private static final HexFormat HEX = HexFormat.of();

  /**
   * What nodes know of a token.
   *
   * @param expires from then on it is refused; null: never
   */
  public record Digest(String id, String sha256, Instant expires) {
    /**
     * @throws RefusedException INVALID
     */
    static Digest fromJson(String user, JsonObject json) {
      Digest digest =
          new Digest(
              json.getString("id"),
              json.getString("sha256"),
              instant(user, json.getValue("expires")));
      if (!ClusterUser.isToken(digest.id, digest.sha256)) {
        throw Refusal.INVALID.error(
            "a token of the user '%s' has not the form that 'user add' writes: an \"id\" of 8 and a"
                + " \"sha256\" of 64 hexadecimal digits",
            user);
      }
      return digest;
    }

    private static Instant instant(String user, Object text) {
      try {
        return text == null ? null : Instant.parse(String.valueOf(text));
      } catch (DateTimeParseException e) {
        throw Refusal.INVALID.error(
            "a token of the user '%s' expires '%s': write a time such as 2027-01-31T00:00:00Z",
            user, text);
      }
    }

    JsonObject toJson() {
      JsonObject json = new JsonObject().put("id", id).put("sha256", sha256);
      return expires == null ? json : json.put("expires", expires.toString());
    }

    /** The same, as the cluster keeps it. */
    public ClusterUser.TokenDigest kept() {
      return new ClusterUser.TokenDigest(
          id, sha256, expires == null ? null : (Long) expires.toEpochMilli());
    }

    /** A digest that the cluster keeps. */
    static Digest of(ClusterUser.TokenDigest kept) {
      Long millis = kept.expiresMillis();
      return new Digest(
          kept.id(), kept.sha256(), millis == null ? null : Instant.ofEpochMilli(millis));
    }
  }

  /** Makes a token that nobody has. */
  public static Token random() {
    SecureRandom random = new SecureRandom();
    byte[] id = new byte[4];
    byte[] secret = new byte[32];
    random.nextBytes(id);
    random.nextBytes(secret);
    return new Token(HEX.formatHex(id), HEX.formatHex(secret));
  }

  /**
   * When a token ends.
   *
   * @param text a time such as {@code 2027-01-31T12:00:00Z}, a date, which stands for its first
   *     moment in UTC, or a duration from now such as {@code 90d}
   * @throws RefusedException INVALID if it is something else, has passed, or is more than 100 years
   *     away
   */
  public static Instant expires(String text, Instant now) {
    Instant at;
    try {
      if (text.matches("\\d+[a-z]+")) {
        at = now.plusMillis(Durations.parseMillis(text));
      } else if (text.matches("[^T]*")) {
        at = LocalDate.parse(text).atStartOfDay(ZoneOffset.UTC).toInstant();
      } else {
        at = OffsetDateTime.parse(text).toInstant();
      }
    } catch (DateTimeException | ArithmeticException e) {
      throw Refusal.INVALID.error(
          "a token cannot expire '%s': write a duration such as 90d, a date such as 2027-01-31, or a"
              + " time such as 2027-01-31T12:00:00Z",
          text);
    }
    if (!at.isAfter(now) || at.isAfter(now.plus(DAYS_MAX, ChronoUnit.DAYS))) {
      throw Refusal.INVALID.error(
          "a token cannot expire '%s', that is %s: write a time within the next 100 years",
          text, at);
    }
    return at.truncatedTo(ChronoUnit.SECONDS);
  }

  /** Reads the text of a token; null: it is none. */
  static Token parse(String text) {
    Matcher matcher = text == null ? null : FORM.matcher(text);
    return matcher != null && matcher.matches()
        ? new Token(matcher.group(1), matcher.group(2))
        : null;
  }

  /** What nodes know of it, if it never expires. */
  public Digest digest() {
    return digest(null);
  }

  /**
   * What nodes know of it.
   *
   * @param expires null: never
   */
  public Digest digest(Instant expires) {
    return new Digest(id, HEX.formatHex(Sha256.of(secret)), expires);
  }

  /** Takes the same time wherever the digests differ. */
  boolean fits(Digest known) {
    return MessageDigest.isEqual(
        digest().sha256().getBytes(StandardCharsets.US_ASCII),
        known.sha256().getBytes(StandardCharsets.US_ASCII));
  }

  /** The text that programs show. */
  public String text() {
    return "ek_" + id + "_" + secret;
  }

  /** Without the secret, so that no log has it. */
  @Override
  public String toString() {
    return "token " + id;
  }
}
