package dev.evenkeel.gateway.access.oidc;

import dev.evenkeel.bus.share.FairShare;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.util.Sha256;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The tokens that were used last, by their digests: nobody pays twice for the check of one, and
 * comparing the digests tells nothing about the tokens. Past its share, a user loses its own. Safe
 * for use from any thread.
 */
final class KnownTokens {
  private static final int TOKENS_MAX = 10_000;

  /** Of all together. */
  private static final int CHARS_MAX = 8 << 20;

  private record Entry(KnownToken token, OfUser owner) {}

  /** Those of one user. */
  private static final class OfUser {
    final String user;
    final Map<ByteBuffer, KnownToken> tokens = new LinkedHashMap<>(16, 0.75f, true);
    long chars;

    OfUser(String user) {
      this.user = user;
    }
  }

  private final Map<ByteBuffer, Entry> byDigest = new LinkedHashMap<>(16, 0.75f, true);
  private final Map<String, OfUser> byUser = new HashMap<>();

  private long chars;

  private static ByteBuffer digest(String token) {
    return ByteBuffer.wrap(Sha256.of(token));
  }

  /** Null: it is not known. */
  KnownToken get(String token) {
    ByteBuffer digest = digest(token);
    synchronized (this) {
      return used(digest);
    }
  }

  private KnownToken used(ByteBuffer digest) {
    Entry found = byDigest.get(digest);
    return found == null ? null : found.owner().tokens.get(digest);
  }

  void put(KnownToken token) {
    ByteBuffer digest = digest(token.text());
    String user = token.user().name();
    synchronized (this) {
      remove(digest);
      OfUser owner = byUser.getOrDefault(user, new OfUser(user));
      while (!owner.tokens.isEmpty() && !fits(owner, token)) {
        remove(owner.tokens.keySet().iterator().next());
      }
      byUser.put(user, owner);
      owner.tokens.put(digest, token);
      owner.chars += token.text().length();
      chars += token.text().length();
      byDigest.put(digest, new Entry(token, owner));
      while (byDigest.size() > TOKENS_MAX || chars > CHARS_MAX) {
        remove(byDigest.keySet().iterator().next());
      }
    }
  }

  private boolean fits(OfUser owner, KnownToken more) {
    return FairShare.fits(owner.tokens.size(), byDigest.size(), 1, TOKENS_MAX, 1)
        && FairShare.fits(owner.chars, chars, more.text().length(), CHARS_MAX, 1);
  }

  private void remove(ByteBuffer digest) {
    Entry goes = byDigest.remove(digest);
    if (goes == null) {
      return;
    }
    OfUser owner = goes.owner();
    owner.tokens.remove(digest);
    owner.chars -= goes.token().text().length();
    chars -= goes.token().text().length();
    if (owner.tokens.isEmpty()) {
      byUser.remove(owner.user);
    }
  }

  /** Of all tokens together. */
  synchronized long chars() {
    return chars;
  }

  /** The token of a user that counts longest; if none counts any more, one of them; or null. */
  synchronized KnownToken of(String user) {
    OfUser owner = byUser.get(user);
    if (owner == null) {
      return null;
    }
    Map.Entry<ByteBuffer, KnownToken> best = null;
    for (Map.Entry<ByteBuffer, KnownToken> each : owner.tokens.entrySet()) {
      if (best == null || endMillis(user, each.getValue()) > endMillis(user, best.getValue())) {
        best = each;
      }
    }
    return used(best.getKey());
  }

  /** When a token of a user counts no more; -1: it does not count. */
  private static long endMillis(String user, KnownToken token) {
    try {
      return token.user().name().equals(user) ? token.endMillis() : -1;
    } catch (RefusedException e) {
      return -1;
    }
  }
}
