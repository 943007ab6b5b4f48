package dev.evenkeel.api;

import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * All users: those in the users file of the node that answers, then those that the cluster keeps.
 */
public record ListUsers() {
  /**
   * A user, without secrets.
   *
   * @param source file: it is in the users file of the node that answers; cluster: the cluster
   *     keeps it
   * @param hidden true: the users file has a user of the same name, and only that one counts
   * @param tokens those that have expired, too
   * @param certificate common name of the certificates of its programs; null: it has none
   * @param share how much it gets of what is scarce, beside others; 1 is usual
   * @param may such as produce:orders
   */
  public record UserDetail(
      String name,
      @Words({"file", "cluster"}) String source,
      @LeftOut boolean hidden,
      List<TokenView> tokens,
      @Nullable String certificate,
      Double share,
      List<String> may) {}

  /**
   * A token, without its secret.
   *
   * @param id the word between the underscores of the token
   * @param expires from then on it is refused; null: never
   */
  public record TokenView(String id, @Nullable Instant expires) {}
}
