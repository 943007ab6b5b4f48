package dev.evenkeel.cli;

import dev.evenkeel.api.AddToken;
import dev.evenkeel.api.AddToken.AddedToken;
import dev.evenkeel.api.ListUsers.UserDetail;
import dev.evenkeel.api.Permission;
import dev.evenkeel.api.PutUser;
import dev.evenkeel.gateway.access.Token;
import dev.evenkeel.gateway.access.Users;
import dev.evenkeel.gateway.access.Users.User;
import dev.evenkeel.protocol.Names;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.util.files.DurableFiles;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;

/** The users in a file. A change replaces the file as a whole; adding a user makes it. */
record FileUsers(Path file) implements UserStore {
  FileUsers(String file) {
    this(Path.of(file));
  }

  @Override
  public List<UserDetail> all() {
    return read(false).all().stream().map(user -> user.detail("file", false)).toList();
  }

  @Override
  public UserDetail find(String name) {
    User found = read(true).named(name);
    return found == null ? null : found.detail("file", false);
  }

  @Override
  public boolean isHidden(String name) {
    return false;
  }

  @Override
  public void put(PutUser asked) {
    change(true, users -> put(users, asked));
  }

  private static Users put(Users users, PutUser asked) {
    User before = users.named(Names.check("user", asked.name()));
    String certificate =
        asked.certificate() != null || before == null ? asked.certificate() : before.certificate();
    double share = asked.share() != null ? asked.share() : before == null ? 1 : before.share();
    List<Permission> may =
        asked.may() != null
            ? asked.may().stream().map(Permission::parse).toList()
            : before == null ? List.of() : before.may();
    List<Token.Digest> tokens = before == null ? List.of() : before.tokens();
    List<User> all = new ArrayList<>(users.all());
    all.remove(before);
    all.add(new User(asked.name(), tokens, certificate, share, may));
    return new Users(all);
  }

  @Override
  public AddedToken add(PutUser first, AddToken asked) {
    Token made = Token.random();
    Instant expires = expires(asked);
    change(
        first != null,
        users -> {
          Users from = first == null ? users : put(users, first);
          User before = known(from, asked.name());
          List<Token.Digest> tokens = new ArrayList<>(before.tokens());
          tokens.add(made.digest(expires));
          List<User> all = new ArrayList<>(from.all());
          all.remove(before);
          all.add(with(before, tokens));
          return new Users(all);
        });
    return new AddedToken(asked.name(), made.id(), made.text(), expires);
  }

  private static Instant expires(AddToken asked) {
    try {
      return asked.expires() == null ? null : Token.expires(asked.expires(), Instant.now());
    } catch (RefusedException e) {
      throw CommandFailure.usage(e.words());
    }
  }

  private static User with(User user, List<Token.Digest> tokens) {
    return new User(user.name(), List.copyOf(tokens), user.certificate(), user.share(), user.may());
  }

  private User known(Users users, String name) {
    User found = users.named(name);
    if (found == null) {
      throw CommandFailure.failed("there is no user '" + name + "' in " + file);
    }
    return found;
  }

  @Override
  public void remove(String name) {
    change(
        false,
        users -> {
          List<User> all = new ArrayList<>(users.all());
          all.remove(known(users, name));
          return new Users(all);
        });
  }

  @Override
  public void remove(String name, String token) {
    change(
        false,
        users -> {
          User before = known(users, name);
          List<Token.Digest> left =
              before.tokens().stream().filter(each -> !each.id().equals(token)).toList();
          if (left.size() == before.tokens().size()) {
            throw CommandFailure.failed("user '" + name + "' has no token '" + token + "'");
          }
          List<User> all = new ArrayList<>(users.all());
          all.set(all.indexOf(before), with(before, left));
          return new Users(all);
        });
  }

  private void change(boolean mayBeMissing, UnaryOperator<Users> change) {
    try {
      Users changed = change.apply(read(mayBeMissing));
      DurableFiles.write(file, changed.text().getBytes(StandardCharsets.UTF_8));
    } catch (RefusedException e) {
      throw CommandFailure.usage(e.words());
    } catch (IOException e) {
      throw CommandFailure.failed("cannot write " + file + ": " + e.getMessage(), e);
    }
  }

  private Users read(boolean mayBeMissing) {
    try {
      return Users.parse(Files.readString(file));
    } catch (NoSuchFileException e) {
      if (mayBeMissing) {
        return Users.NONE;
      }
      throw CommandFailure.failed("there is no file " + file + ": 'user add' makes it", e);
    } catch (RefusedException e) {
      throw CommandFailure.failed(file + ": " + e.words(), e);
    } catch (IOException e) {
      throw CommandFailure.failed("cannot read " + file + ": " + e.getMessage(), e);
    }
  }
}
