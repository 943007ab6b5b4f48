package dev.evenkeel.testkit;

import dev.evenkeel.api.Permission;
import dev.evenkeel.gateway.access.Token;
import dev.evenkeel.gateway.access.Users;
import dev.evenkeel.protocol.Names;
import dev.evenkeel.protocol.Refusal;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The users of an {@link EmbeddedNode}: files in a directory that only its owner may read.
 *
 * @param directory has the users file, and a file with the token of each
 */
record NodeUsers(Path directory, Set<String> names) {
  /** Everything. */
  private static final List<Permission> ALL =
      Stream.of(Permission.Kind.values()).map(kind -> new Permission(kind, "*")).toList();

  /**
   * Makes tokens for users, and writes the files.
   *
   * @param may as {@link EmbeddedNode#start(Map, Map)} has it
   */
  static NodeUsers write(Path directory, Map<String, String> may) {
    Map<String, List<Permission>> all = new LinkedHashMap<>();
    may.forEach((name, list) -> all.put(Names.check("user", name), parse(list)));
    if (all.put(EmbeddedNode.OPERATOR, ALL) != null) {
      throw Refusal.INVALID.error(
          "each node with users has a user '%s', who may do everything: use another name",
          EmbeddedNode.OPERATOR);
    }
    NodeUsers users = new NodeUsers(directory, all.keySet());
    List<Users.User> written = new ArrayList<>();
    try {
      for (String name : all.keySet()) {
        Token token = Token.random();
        written.add(new Users.User(name, List.of(token.digest()), null, 1, all.get(name)));
        Files.writeString(users.tokenFile(name), token.text());
      }
      Files.writeString(users.file(), new Users(written).text());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return users;
  }

  private static List<Permission> parse(String may) {
    return may.isBlank()
        ? List.of()
        : Stream.of(may.split(",")).map(String::strip).map(Permission::parse).toList();
  }

  /** For the setting {@code users}. */
  Path file() {
    return directory.resolve("users.json");
  }

  Path tokenFile(String user) {
    return directory.resolve(user + ".token");
  }

  static String read(Path tokenFile) {
    try {
      return Files.readString(tokenFile);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
