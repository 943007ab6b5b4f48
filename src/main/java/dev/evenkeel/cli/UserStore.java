package dev.evenkeel.cli;

import dev.evenkeel.api.AddToken;
import dev.evenkeel.api.AddToken.AddedToken;
import dev.evenkeel.api.ListUsers.UserDetail;
import dev.evenkeel.api.PutUser;
import java.util.List;

/** Users in one place. What cannot be done throws a {@link CommandFailure}. */
interface UserStore {
  List<UserDetail> all();

  /** The user of that name, which a change would change; null: there is none. */
  UserDetail find(String name);

  /** Whether a change has no effect yet, because another user of that name counts. */
  boolean isHidden(String name);

  /** Adds a user, or changes one. */
  void put(PutUser asked);

  /**
   * Gives a user one more token.
   *
   * @param first to be done before; null: nothing
   */
  AddedToken add(PutUser first, AddToken asked);

  void remove(String name);

  /** Removes one token. */
  void remove(String name, String token);
}
