package dev.evenkeel.gateway.access.oidc;

import dev.evenkeel.util.Sha256;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The tokens that were used last, by their digests: nobody pays twice for the check of one, and
 * comparing the digests tells nothing about the tokens. Safe for use from any thread.
 */
final class KnownTokens {
  private static final int TOKENS_MAX = 10_000;

  /** Of all together. */
  private static final int CHARS_MAX = 8 << 20;

  private record Entry(KnownToken token, String user) {}

  private final Map<ByteBuffer, Entry> byDigest = new LinkedHashMap<>(16, 0.75f, true);

  /** Of the tokens above, the one of each user that counts longest. */
  private final Map<String, KnownToken> byUser = new HashMap<>();

  private long chars;

  private static ByteBuffer digest(String token) {
    return ByteBuffer.wrap(Sha256.of(token));
  }

  /** Null: it is not known. */
  KnownToken get(String token) {
    ByteBuffer digest = digest(token);
    synchronized (this) {
      Entry found = byDigest.get(digest);
      return found == null ? null : found.token();
    }
  }

  void put(KnownToken token) {
    ByteBuffer digest = digest(token.text());
    String user = token.user().name();
    synchronized (this) {
      if (byDigest.put(digest, new Entry(token, user)) == null) {
        chars += token.text().length();
      }
      byUser.merge(user, token, (had, now) -> had.endMillis() > now.endMillis() ? had : now);
      Iterator<Entry> eldest = byDigest.values().iterator();
      while (byDigest.size() > TOKENS_MAX || chars > CHARS_MAX) {
        Entry goes = eldest.next();
        eldest.remove();
        chars -= goes.token().text().length();
        byUser.remove(goes.user(), goes.token());
      }
    }
  }

  /** Of all tokens together. */
  synchronized long chars() {
    return chars;
  }

  /** The token of a user that counts longest, or null. */
  synchronized KnownToken of(String user) {
    return byUser.get(user);
  }
}
