package dev.evenkeel.gateway.access.oidc;

import dev.evenkeel.gateway.access.oidc.OidcUsers.Rules;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;

/**
 * A token whose signature was found right. It counts until it expires, or its issuer publishes its
 * key no more. If the settings change, it is looked at again.
 *
 * <p>Safe for use from any thread.
 */
public final class KnownToken {
  private final OidcUsers users;
  private final String text;
  private final String thumbprint;

  // Guarded by this.
  private Rules seen;
  private OidcUser user;
  private RefusedException refused;
  private long endMillis;

  KnownToken(OidcUsers users, String text, String thumbprint) {
    this.users = users;
    this.text = text;
    this.thumbprint = thumbprint;
  }

  String text() {
    return text;
  }

  /** When it counts no more. */
  synchronized long endMillis() {
    return endMillis;
  }

  /**
   * Its user as the settings are now.
   *
   * @throws RefusedException UNAUTHENTICATED if the token counts no more
   */
  public synchronized OidcUser user() {
    Rules now = users.rules();
    if (now != seen) {
      look(now);
      seen = now;
    }
    if (refused != null) {
      throw refused;
    }
    if (users.nowMillis() >= endMillis) {
      // With the words for it.
      JwtToken.parse(text).check(now.settings(), users.nowMillis());
    }
    return user;
  }

  private void look(Rules now) {
    refused = null;
    try {
      JwtToken jwt = JwtToken.parse(text);
      jwt.check(now.settings(), users.nowMillis());
      if (!now.keys().has(thumbprint)) {
        throw Refusal.UNAUTHENTICATED.error(
            "the issuer does not publish the key of the token any more: get a new one");
      }
      endMillis = jwt.endMillis(now.settings());
      user = now.settings().user(jwt.claims());
    } catch (RefusedException e) {
      refused = e;
    }
  }
}
