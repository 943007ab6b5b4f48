package dev.evenkeel.cli;

import dev.evenkeel.api.AddToken;
import dev.evenkeel.api.AddToken.AddedToken;
import dev.evenkeel.api.ListUsers;
import dev.evenkeel.api.ListUsers.UserDetail;
import dev.evenkeel.api.Operations;
import dev.evenkeel.api.PutUser;
import dev.evenkeel.api.RemoveToken;
import dev.evenkeel.api.RemoveUser;
import java.util.List;

/** The users that the cluster keeps. */
record KeptUsers(HttpApi api) implements UserStore {
  @Override
  public List<UserDetail> all() {
    return api.read(Operations.LIST_USERS, new ListUsers());
  }

  @Override
  public UserDetail find(String name) {
    return all().stream()
        .filter(each -> each.name().equals(name) && each.source().equals("cluster"))
        .findFirst()
        .orElse(null);
  }

  @Override
  public boolean isHidden(String name) {
    return all().stream()
        .anyMatch(each -> each.name().equals(name) && each.source().equals("file"));
  }

  @Override
  public void put(PutUser asked) {
    api.ask(Operations.PUT_USER, asked);
  }

  @Override
  public AddedToken add(PutUser first, AddToken asked) {
    if (first == null) {
      return api.read(Operations.ADD_TOKEN, asked);
    }
    put(first);
    try {
      return api.read(Operations.ADD_TOKEN, asked);
    } catch (CommandFailure e) {
      throw CommandFailure.failed(
          "the user '%s' is there, but has no new token: %s; make one with 'user token'"
              .formatted(asked.name(), e.getMessage()),
          e);
    }
  }

  @Override
  public void remove(String name) {
    api.ask(Operations.REMOVE_USER, new RemoveUser(name, null));
  }

  @Override
  public void remove(String name, String token) {
    api.ask(Operations.REMOVE_TOKEN, new RemoveToken(name, token, null));
  }
}
