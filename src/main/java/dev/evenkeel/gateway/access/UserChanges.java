package dev.evenkeel.gateway.access;

import dev.evenkeel.api.Need;
import dev.evenkeel.api.Permission;
import dev.evenkeel.api.Permission.Kind;
import dev.evenkeel.api.PutUser;
import dev.evenkeel.gateway.access.oidc.OidcNames;
import dev.evenkeel.protocol.ClusterUser;
import dev.evenkeel.protocol.ClusterUser.TokenDigest;
import dev.evenkeel.protocol.ProducerIds;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/**
 * What becomes of a user that the cluster keeps, and who may change it so. A user that is null is
 * none. Each change throws a {@link RefusedException} INVALID or TOO_LARGE if it is not possible.
 */
public final class UserChanges {
  private static final int PERMILLE = 1_000;

  private UserChanges() {}

  private static ClusterUser known(String name, ClusterUser before) {
    if (before == null) {
      throw Refusal.INVALID.error(
          "the cluster keeps no user '%s': correct its name, or add it", name);
    }
    return before;
  }

  private static ClusterUser checked(ClusterUser after) {
    after.check();
    return after;
  }

  private static ClusterUser with(ClusterUser user, List<TokenDigest> tokens) {
    return checked(
        new ClusterUser(user.name(), tokens, user.certificate(), user.sharePermille(), user.may()));
  }

  /** Adds it, or changes what was asked for. */
  public static ClusterUser put(ClusterUser before, PutUser asked) {
    if (OidcNames.isOidc(asked.name())) {
      throw Refusal.INVALID.error(
          "names that begin with '%s' are of users of an identity provider: choose another one",
          OidcNames.PREFIX);
    }
    ClusterUser from =
        before != null
            ? before
            : new ClusterUser(asked.name(), List.of(), null, PERMILLE, List.of());
    String certificate = asked.certificate();
    if (certificate == null) {
      certificate = from.certificate();
    } else if (certificate.isEmpty()) {
      certificate = null;
    }
    List<String> may =
        asked.may() == null
            ? from.may()
            : asked.may().stream().map(each -> Permission.parse(each).toString()).toList();
    return checked(
        new ClusterUser(
            asked.name(),
            from.tokens(),
            certificate,
            asked.share() == null ? from.sharePermille() : permille(asked.share()),
            may));
  }

  private static int permille(double share) {
    return (int) Math.round(Math.max(-1, Math.min(share, PERMILLE)) * PERMILLE);
  }

  /** Removes it. */
  public static ClusterUser remove(String name, ClusterUser before) {
    known(name, before);
    return null;
  }

  /** Gives it one more token. If it has too many, those go that have expired. */
  public static ClusterUser add(String name, ClusterUser before, TokenDigest token, Instant now) {
    List<TokenDigest> tokens = new ArrayList<>(known(name, before).tokens());
    if (tokens.contains(token)) {
      return before;
    }
    if (tokens.size() >= ClusterUser.TOKENS_MAX) {
      tokens.removeIf(each -> each.expired(now.toEpochMilli()));
    }
    tokens.add(token);
    return with(before, tokens);
  }

  /** Takes a token from it. */
  public static ClusterUser remove(String name, ClusterUser before, String id) {
    if (!known(name, before).hasToken(id)) {
      throw Refusal.INVALID.error("the user '%s' has no token '%s': see 'user list'", name, id);
    }
    return with(before, before.tokens().stream().filter(each -> !each.id().equals(id)).toList());
  }

  /**
   * Refuses somebody who would let a user do more than they may do themselves. Whoever may produce,
   * or be a member, may also use the producer names that belong to its own name, and the ids of
   * producers that have its tag.
   *
   * @param user null: none
   * @param known names of users that are known
   * @throws RefusedException FORBIDDEN, naming the permission that is missing
   */
  public static void requireToGive(Principal asker, ClusterUser user, Collection<String> known) {
    if (user == null) {
      return;
    }
    boolean produces = false;
    List<Permission> may = Users.User.of(user).may();
    if (asker.bound() && may.size() < user.may().size()) {
      throw Refusal.FORBIDDEN.error(
          "the user '%s' has permissions of a later version, and this node cannot tell whether the"
              + " user '%s' may give them: ask a node of that version",
          user.name(), asker.name());
    }
    for (Permission each : may) {
      require(asker, each.kind(), each.pattern(), user);
      produces |= each.kind() == Kind.PRODUCE || each.kind() == Kind.GROUP;
    }
    if (produces) {
      require(asker, Kind.PRODUCER, user.name(), user);
      require(asker, Kind.PRODUCER, user.name() + "-*", user);
      int tag = ProducerIds.tagOf(user.name());
      known.stream()
          .filter(each -> ProducerIds.tagOf(each) == tag)
          .forEach(each -> require(asker, Kind.PRODUCER, each, user));
    }
  }

  private static void require(Principal asker, Kind kind, String pattern, ClusterUser user) {
    if (!asker.has(Need.of(pattern, kind))) {
      throw Refusal.FORBIDDEN.error(
          "the user '%s' needs the permission %s itself to give it to '%s'",
          asker.name(), new Permission(kind, pattern), user.name());
    }
  }
}
