package dev.evenkeel.gateway.access;

import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.util.Sha256;
import io.vertx.core.json.JsonObject;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What a program shows to say which user it belongs to: {@code ek_ID_SECRET}. The secret has 256
 * random bits, so its digest need not be slow to compute.
 */
public record Token(String id, String secret) {
  private static final Pattern FORM = Pattern.compile("ek_([0-9a-f]{8})_([0-9a-f]{64})");
  private static final Pattern ID = Pattern.compile("[0-9a-f]{8}");
  private static final Pattern SHA_256 = Pattern.compile("[0-9a-f]{64}");
  private static final HexFormat HEX = HexFormat.of();

  /** What nodes know of a token. */
  public record Digest(String id, String sha256) {
    /**
     * @throws RefusedException INVALID
     */
    static Digest fromJson(String user, JsonObject json) {
      Digest digest = new Digest(json.getString("id"), json.getString("sha256"));
      if (digest.id == null
          || digest.sha256 == null
          || !ID.matcher(digest.id).matches()
          || !SHA_256.matcher(digest.sha256).matches()) {
        throw Refusal.INVALID.error(
            "a token of the user '%s' has not the form that 'user add' writes: an \"id\" of 8 and a"
                + " \"sha256\" of 64 hexadecimal digits",
            user);
      }
      return digest;
    }

    JsonObject toJson() {
      return new JsonObject().put("id", id).put("sha256", sha256);
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

  /** Reads the text of a token; null: it is none. */
  static Token parse(String text) {
    Matcher matcher = text == null ? null : FORM.matcher(text);
    return matcher != null && matcher.matches()
        ? new Token(matcher.group(1), matcher.group(2))
        : null;
  }

  public Digest digest() {
    return new Digest(id, HEX.formatHex(Sha256.of(secret)));
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
