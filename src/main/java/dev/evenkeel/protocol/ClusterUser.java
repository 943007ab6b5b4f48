package dev.evenkeel.protocol;

import static dev.evenkeel.protocol.Refusal.INVALID;
import static dev.evenkeel.protocol.Refusal.TOO_LARGE;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A user that the cluster keeps. It has no secrets: of its tokens, only digests.
 *
 * @param tokens up to {@link #TOKENS_MAX}
 * @param certificate common name of its certificates; null: it has none
 * @param sharePermille how much the user gets of what is scarce, beside others, in thousandths:
 *     from {@link #SHARE_PERMILLE_MIN} to {@link #SHARE_PERMILLE_MAX}, usually 1,000
 * @param may permissions such as {@code produce:orders}, up to {@link #MAY_MAX}
 */
public record ClusterUser(
    String name,
    List<TokenDigest> tokens,
    @Nullable String certificate,
    int sharePermille,
    List<String> may) {
  /** Most users that a cluster keeps. */
  public static final int USERS_MAX = 10_000;

  /** Most tokens of a user, with those that have expired. */
  public static final int TOKENS_MAX = 10;

  /** Most permissions of a user. */
  public static final int MAY_MAX = 1_000;

  /** Longest common name of a certificate. */
  public static final int CERTIFICATE_CHARS_MAX = 200;

  public static final int SHARE_PERMILLE_MIN = 100;
  public static final int SHARE_PERMILLE_MAX = 100_000;

  private static final Pattern ID = Pattern.compile("[0-9a-f]{8}");
  private static final Pattern SHA_256 = Pattern.compile("[0-9a-f]{64}");

  /** Nodes know the kinds; a later version may have more of them. */
  private static final Pattern PERMISSION =
      Pattern.compile("[a-z-]{1,30}:[\\w.-]{0," + Limits.NAME_CHARS_MAX + "}\\*?");

  /**
   * What nodes know of a token.
   *
   * @param id 8 hexadecimal digits
   * @param sha256 of its secret: 64 hexadecimal digits
   * @param expiresMillis since 1970, from when on it is refused; null: never
   */
  public record TokenDigest(String id, String sha256, @Nullable Long expiresMillis) {
    /** Whether it is refused at that time. */
    public boolean expired(long nowMillis) {
      return expiresMillis != null && nowMillis >= expiresMillis;
    }
  }

  public ClusterUser {
    tokens = List.copyOf(tokens);
    may = List.copyOf(may);
  }

  /** Whether these have the form of a token's id and digest. */
  public static boolean isToken(@Nullable String id, @Nullable String sha256) {
    return id != null
        && sha256 != null
        && ID.matcher(id).matches()
        && SHA_256.matcher(sha256).matches();
  }

  /** Whether it has a token with that id. */
  public boolean hasToken(String id) {
    return tokens.stream().anyMatch(each -> each.id().equals(id));
  }

  /**
   * @throws RefusedException INVALID or TOO_LARGE, saying what would be right
   */
  public void check() {
    Names.check("user", name);
    if (tokens.size() > TOKENS_MAX) {
      throw TOO_LARGE.error(
          "the user '%s' would have %s tokens: at most %s are possible, so remove one first",
          name, tokens.size(), TOKENS_MAX);
    }
    Set<String> ids = new HashSet<>();
    for (TokenDigest token : tokens) {
      if (!isToken(token.id(), token.sha256()) || !ids.add(token.id())) {
        throw INVALID.error("a token of the user '%s' is malformed, or there twice", name);
      }
    }
    if (certificate != null
        && (certificate.isBlank() || certificate.length() > CERTIFICATE_CHARS_MAX)) {
      throw INVALID.error(
          "the certificate of the user '%s': give its common name, of at most %s characters",
          name, CERTIFICATE_CHARS_MAX);
    }
    if (sharePermille < SHARE_PERMILLE_MIN || sharePermille > SHARE_PERMILLE_MAX) {
      throw INVALID.error(
          "the share of the user '%s' must be a number from %s to %s, not %s",
          name,
          SHARE_PERMILLE_MIN / 1_000.0,
          SHARE_PERMILLE_MAX / 1_000.0,
          sharePermille / 1_000.0);
    }
    if (may.size() > MAY_MAX) {
      throw TOO_LARGE.error(
          "%s permissions for the user '%s': at most %s are possible; a name may end in * and then"
              + " stands for all names that begin so",
          may.size(), name, MAY_MAX);
    }
    for (String permission : may) {
      if (!PERMISSION.matcher(permission).matches()) {
        throw INVALID.error(
            "the permission '%s' of the user '%s': write KIND:NAME, such as produce:orders",
            Names.printable(permission), name);
      }
    }
  }

  @Override
  public String toString() {
    return "user " + name + " who may " + may;
  }
}
