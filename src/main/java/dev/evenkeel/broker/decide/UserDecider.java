package dev.evenkeel.broker.decide;

import static dev.evenkeel.protocol.Refusal.INVALID;
import static dev.evenkeel.protocol.Refusal.OVERLOADED;
import static dev.evenkeel.protocol.Refusal.TOO_LARGE;

import dev.evenkeel.broker.state.MetaChange;
import dev.evenkeel.broker.state.MetaTables;
import dev.evenkeel.protocol.ClusterUser;
import dev.evenkeel.protocol.ClusterUser.TokenDigest;
import dev.evenkeel.protocol.MetaCommand;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Decides about users. It compares the whole former record, so that of two who change a user at
 * once, none undoes what the other one did.
 */
public record UserDecider(MetaTables tables) {
  /** Adds, changes or removes a user. */
  public Decision<MetaChange> change(MetaCommand.ChangeUser command) {
    command.check();
    ClusterUser before = command.before();
    ClusterUser after = command.after();
    String name = Objects.requireNonNull(after == null ? before : after).name();
    ClusterUser known = tables.user(name);
    if (Objects.equals(known, after)) {
      return Decision.of(List.of());
    }
    if (!Objects.equals(known, before)) {
      return Decision.refused(
          OVERLOADED, "somebody else has changed the user '%s' at the same time: try again", name);
    }
    if (after == null) {
      return Decision.of(List.of(MetaChange.removeUser(name)));
    }
    List<ClusterUser> all = tables.users();
    if (known == null && all.size() >= ClusterUser.USERS_MAX) {
      return Decision.refused(
          TOO_LARGE,
          "the cluster has %s users: remove some first, or let programs share one",
          ClusterUser.USERS_MAX);
    }
    for (ClusterUser other : all) {
      String both = other.name().equals(name) ? null : shared(other, after);
      if (both != null) {
        return Decision.refused(
            INVALID, "the user '%s' has the %s: give each user its own", other.name(), both);
      }
    }
    return Decision.of(List.of(MetaChange.putUser(after)));
  }

  private static @Nullable String shared(ClusterUser other, ClusterUser user) {
    if (user.certificate() != null && user.certificate().equals(other.certificate())) {
      return "certificate '" + user.certificate() + "'";
    }
    return user.tokens().stream()
        .map(TokenDigest::id)
        .filter(other::hasToken)
        .findFirst()
        .map(id -> "token " + id)
        .orElse(null);
  }
}
