package dev.evenkeel.api;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * Makes one more token for a user that the cluster keeps. Its other tokens stay valid. The answer
 * is the only one that has the token. Whoever asks needs all permissions of the user itself, as to
 * change it.
 *
 * @param name name of the user
 * @param expires when the token ends: a time such as 2027-01-31T12:00:00Z, a date, which stands for
 *     its first moment in UTC, or a duration from now such as 90d; null: never
 * @param by who asks; null: nobody in particular
 */
@Body("NewToken")
public record AddToken(String name, @Nullable String expires, @Caller @Nullable String by) {
  /**
   * A token that was made.
   *
   * @param id the word between the underscores of the token
   * @param token the token, which nobody can read again
   * @param expires null: never
   */
  public record AddedToken(String name, String id, String token, @Nullable Instant expires) {
    /** Without the token, so that no log has it. */
    @Override
    public String toString() {
      return "token " + id + " of " + name;
    }
  }
}
