package dev.evenkeel.gateway;

import dev.evenkeel.api.AddToken;
import dev.evenkeel.api.AddToken.AddedToken;
import dev.evenkeel.api.ListUsers;
import dev.evenkeel.api.ListUsers.UserDetail;
import dev.evenkeel.api.Operations;
import dev.evenkeel.api.PutUser;
import dev.evenkeel.api.RemoveToken;
import dev.evenkeel.api.RemoveToken.RemovedToken;
import dev.evenkeel.api.RemoveUser;
import dev.evenkeel.api.RemoveUser.RemovedUser;
import dev.evenkeel.bus.Calls;
import dev.evenkeel.bus.LocalObjects;
import dev.evenkeel.gateway.access.Access;
import dev.evenkeel.gateway.access.Principal;
import dev.evenkeel.gateway.access.Token;
import dev.evenkeel.gateway.access.UserChanges;
import dev.evenkeel.gateway.access.Users;
import dev.evenkeel.gateway.access.Users.User;
import dev.evenkeel.protocol.ClusterUser;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.Names;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;

/** Lists and changes the users that the cluster keeps. */
record UsersApi(Vertx vertx, ClusterCalls calls) {
  /** How often it begins again if somebody else changes the same user meanwhile. */
  private static final int ATTEMPTS_MAX = 5;

  private static final String FILE = "file";
  private static final String CLUSTER = "cluster";

  void serve(ApiAnswers answers) {
    answers
        .on(Operations.LIST_USERS, this::list)
        .on(Operations.PUT_USER, this::put)
        .on(Operations.REMOVE_USER, this::remove)
        .on(Operations.ADD_TOKEN, this::add)
        .on(Operations.REMOVE_TOKEN, this::remove);
  }

  /**
   * The users of this node; null: it is no node, but a program that serves the addresses.
   *
   * @throws RefusedException INVALID if users count nothing here
   */
  private Access access() {
    Access access = LocalObjects.get(vertx, Access.class);
    if (access != null && !access.hasUsers()) {
      throw Refusal.INVALID.error(
          "this node was started without users, so everybody may do everything, and users that the"
              + " cluster keeps count nothing: start it with a users file");
    }
    return access;
  }

  private Users ofFile() {
    Access access = access();
    return access == null ? Users.NONE : access.ofFile();
  }

  private Future<List<UserDetail>> list(ListUsers asked) {
    Users ofFile = ofFile();
    return calls
        .toMetaLeader(Calls.READ_USERS, null)
        .map(
            kept -> {
              List<UserDetail> all = new ArrayList<>();
              ofFile.all().forEach(user -> all.add(user.detail(FILE, false)));
              for (ClusterUser each : kept) {
                boolean hidden = ofFile.named(each.name()) != null;
                all.add(User.of(each).detail(CLUSTER, hidden));
              }
              return all;
            });
  }

  private Future<UserDetail> put(PutUser asked) {
    return change(asked.name(), asked.by(), true, before -> UserChanges.put(before, asked))
        .map(after -> User.of(after).detail(CLUSTER, ofFile().named(asked.name()) != null));
  }

  private Future<RemovedUser> remove(RemoveUser asked) {
    String name = asked.name();
    return change(name, asked.by(), false, before -> UserChanges.remove(name, before))
        .map(gone -> new RemovedUser(name, true));
  }

  private Future<AddedToken> add(AddToken asked) {
    String name = asked.name();
    Instant now = Instant.now();
    Instant expires = asked.expires() == null ? null : Token.expires(asked.expires(), now);
    Token token = unused();
    return change(
            name,
            asked.by(),
            true,
            before -> UserChanges.add(name, before, token.digest(expires).kept(), now))
        .map(after -> new AddedToken(name, token.id(), token.text(), expires));
  }

  private Token unused() {
    Access access = access();
    Token token = Token.random();
    while (access != null && access.knowsToken(token.id())) {
      token = Token.random();
    }
    return token;
  }

  private Future<RemovedToken> remove(RemoveToken asked) {
    String name = asked.name();
    return change(name, asked.by(), false, before -> UserChanges.remove(name, before, asked.id()))
        .map(after -> new RemovedToken(name, asked.id(), true));
  }

  /**
   * Changes a user. If somebody else does so at the same time, it begins again.
   *
   * @param by name of who asks, or null
   * @param gives whether somebody may be able to do more afterwards
   * @param step what becomes of the user; null stands for no user
   */
  private Future<ClusterUser> change(
      String name, String by, boolean gives, UnaryOperator<ClusterUser> step) {
    Access access = access();
    Principal asker = access == null ? Principal.ANYBODY : access.named(by);
    return attempt(
        1,
        Names.check("user", name),
        before -> {
          ClusterUser after = step.apply(before);
          if (gives) {
            List<String> known = access == null ? List.of() : access.names();
            UserChanges.requireToGive(asker, before, known);
            UserChanges.requireToGive(asker, after, known);
          }
          return after;
        });
  }

  private Future<ClusterUser> attempt(int number, String name, UnaryOperator<ClusterUser> step) {
    return calls
        .toMetaLeader(Calls.READ_USERS, name)
        .compose(
            found -> {
              ClusterUser before = found.isEmpty() ? null : found.get(0);
              ClusterUser after = step.apply(before);
              return calls.submit(new MetaCommand.ChangeUser(before, after)).map(after);
            })
        .recover(
            failure ->
                number < ATTEMPTS_MAX
                        && RefusedException.of(failure).refusal() == Refusal.OVERLOADED
                    ? attempt(number + 1, name, step)
                    : Future.failedFuture(failure));
  }
}
