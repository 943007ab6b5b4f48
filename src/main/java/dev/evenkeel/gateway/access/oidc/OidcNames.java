package dev.evenkeel.gateway.access.oidc;

import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import java.nio.charset.StandardCharsets;

/**
 * What users of the identity provider are called in the cluster. They never share a name with each
 * other, or with a user of the cluster.
 */
public final class OidcNames {
  /** What their names begin with, and those of no other users. */
  public static final String PREFIX = "oidc.";

  private OidcNames() {}

  /** Whether a name is that of a user of the identity provider. */
  public static boolean isOidc(String name) {
    return name.startsWith(PREFIX);
  }

  /**
   * The name of a user in the cluster. Letters, digits and dots stay; of everything else, each byte
   * becomes an underscore and two hexadecimal digits, so that two users have different names. The
   * dash is among them, because a user may use all names of producers that begin with its own name
   * and a dash.
   *
   * @param said what the identity provider calls the user
   * @throws RefusedException UNAUTHENTICATED if that is empty, too long or no text in Unicode
   */
  static String of(String said) {
    if (said.isEmpty() || !StandardCharsets.UTF_8.newEncoder().canEncode(said)) {
      throw Refusal.UNAUTHENTICATED.error("the name of the token's user is empty, or no text");
    }
    StringBuilder name = new StringBuilder(PREFIX);
    for (byte each : said.getBytes(StandardCharsets.UTF_8)) {
      if (each >= 'a' && each <= 'z'
          || each >= 'A' && each <= 'Z'
          || each >= '0' && each <= '9'
          || each == '.') {
        name.append((char) each);
      } else {
        name.append("_%02x".formatted(each));
      }
      if (name.length() > Limits.NAME_CHARS_MAX) {
        throw Refusal.UNAUTHENTICATED.error(
            "the name of the token's user is too long: with '%s' before it and %%xx as _xx, at most"
                + " %s characters are possible",
            PREFIX, Limits.NAME_CHARS_MAX);
      }
    }
    return name.toString();
  }
}
