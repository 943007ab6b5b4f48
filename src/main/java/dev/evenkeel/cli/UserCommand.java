package dev.evenkeel.cli;

import dev.evenkeel.api.ListShares;
import dev.evenkeel.api.Operations;
import dev.evenkeel.api.Permission;
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
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code evenkeel user}. */
@Command(
    name = "user",
    description =
        "Adds, removes and lists the users in a file for serve --users, and shows what users hold.",
    footer = {
      "  evenkeel user add users.json shop --may produce:orders",
      "  evenkeel user list users.json",
      "  evenkeel user usage --token-file operator.token"
    })
final class UserCommand extends CommandGroup {
  UserCommand() {
    super("add, remove, list or usage");
  }

  @Command(
      name = "add",
      mixinStandardHelpOptions = true,
      description = {
        "Adds a user, and prints a token for it. The file keeps only a digest of the token, so it"
            + " cannot be printed again.",
        "For a user that is there, it adds one more token, so that programs can change to it before"
            + " 'user remove --token ID' ends the former one; or, with --may or --share, it changes"
            + " that, and prints no token.",
        "Nodes take up the changed file within two seconds."
      },
      footer = {
        "",
        "What a user may do is a list of KIND:NAME. NAME may end in * and then stands for all names"
            + " that begin so.",
        "  produce:TOPIC   send messages to the topic",
        "  consume:TOPIC   read messages of the topic",
        "  group:GROUP     be a member of the group, and read its dead letters",
        "  view:NAME       see the topic or group, but no messages",
        "  admin:NAME      create, change and delete the topic or group; admin:* the cluster, too",
        "  producer:NAME   use this producer name; a user always has those that begin with its own"
            + " name and a dash",
        "",
        "Examples:",
        "  evenkeel user add users.json shop --may produce:orders",
        "  evenkeel user add users.json billing --may consume:orders,group:billing > billing.token",
        "  evenkeel user add users.json operator --may 'view:*,admin:*'",
        "  evenkeel user add users.json shop                               (one more token)",
        "  evenkeel user add users.json shop --certificate shop --may produce:orders",
      })
  int add(
      @Parameters(paramLabel = "FILE", description = "The file; it is made if it is missing.")
          Path file,
      @Parameters(paramLabel = "NAME", description = "The name of the user.") String name,
      @Option(
              names = "--may",
              paramLabel = "KIND:NAME",
              split = ",",
              description = "What the user may do. A new user without it may do nothing.")
          List<String> may,
      @Option(
              names = "--certificate",
              paramLabel = "CN",
              description = "The user shows certificates with this common name, and gets no token.")
          String certificate,
      @Option(
              names = "--share",
              paramLabel = "N",
              description =
                  "How much the user gets of what is scarce, beside others: 1 unless you change it,"
                      + " from 0.1 to 100.")
          Double share) {
    AtomicReference<Token> made = new AtomicReference<>();
    change(
        file,
        true,
        users -> {
          User before = users.named(Names.check("user", name));
          List<Token.Digest> tokens = new ArrayList<>(before == null ? List.of() : before.tokens());
          if (certificate == null && (before == null || (may == null && share == null))) {
            made.set(Token.random());
            tokens.add(made.get().digest());
          }
          List<Permission> permissions =
              may != null
                  ? may.stream().map(Permission::parse).toList()
                  : before == null ? List.of() : before.may();
          String shown = certificate != null || before == null ? certificate : before.certificate();
          List<User> all = new ArrayList<>(users.all());
          all.remove(before);
          double part = share != null ? share : before == null ? 1 : before.share();
          all.add(new User(name, List.copyOf(tokens), shown, part, permissions));
          return new Users(all);
        });
    if (made.get() != null) {
      spec.commandLine().getOut().println(made.get().text());
      spec.commandLine().getOut().flush();
    }
    return ExitStatus.DONE;
  }

  @Command(
      name = "remove",
      mixinStandardHelpOptions = true,
      description =
          "Removes a user, or one of its tokens. Nodes close the connections of its programs"
              + " within two seconds.",
      footer = {
        "  evenkeel user remove users.json shop",
        "  evenkeel user remove users.json shop --token 1c0ffee2"
      })
  int remove(
      @Parameters(paramLabel = "FILE", description = "The file.") Path file,
      @Parameters(paramLabel = "NAME", description = "The name of the user.") String name,
      @Option(
              names = "--token",
              paramLabel = "ID",
              description = "Only the token with this id, the word between its underscores.")
          String token) {
    change(
        file,
        false,
        users -> {
          User before = users.named(name);
          if (before == null) {
            throw CommandFailure.failed("there is no user '" + name + "' in " + file);
          }
          List<User> all = new ArrayList<>(users.all());
          int at = all.indexOf(before);
          all.remove(before);
          if (token != null) {
            List<Token.Digest> left =
                before.tokens().stream().filter(each -> !each.id().equals(token)).toList();
            if (left.size() == before.tokens().size()) {
              throw CommandFailure.failed("user '" + name + "' has no token '" + token + "'");
            }
            all.add(at, new User(name, left, before.certificate(), before.share(), before.may()));
          }
          return new Users(all);
        });
    return ExitStatus.DONE;
  }

  @Command(
      name = "list",
      mixinStandardHelpOptions = true,
      description = "Prints the users, the ids of their tokens, and what they may do.",
      footer = "  evenkeel user list users.json")
  int list(@Parameters(paramLabel = "FILE", description = "The file.") Path file) {
    Table table = new Table("user", "tokens", "certificate", "share", "may");
    for (User user : read(file, false).all()) {
      table.row(
          user.name(),
          join(user.tokens().stream().map(Token.Digest::id).toList()),
          user.certificate() == null ? "-" : user.certificate(),
          share(user.share()),
          join(user.may().stream().map(Permission::toString).toList()));
    }
    spec.commandLine().getOut().print(table.text());
    spec.commandLine().getOut().flush();
    return ExitStatus.DONE;
  }

  @Command(
      name = "usage",
      description = {
        "Shows what users hold of what is scarce on the nodes, such as sessions: your own user, or"
            + " with view:* everybody.",
        "A node refuses a user more while it holds its share of what is left; see 'user add"
            + " --share'."
      },
      footer = {
        "  evenkeel user usage --token-file operator.token",
        "  evenkeel user usage --format json"
      })
  int usage(@Mixin ApiOptions options) {
    return options.ask(
        Operations.LIST_SHARES,
        new ListShares(),
        shares -> Table.of("USER, KIND, NODE, HELD, LIMIT", shares).text());
  }

  private static String share(double share) {
    return share == Math.rint(share) ? String.valueOf((long) share) : String.valueOf(share);
  }

  private static String join(List<String> words) {
    return words.isEmpty() ? "-" : String.join(",", words);
  }

  private static void change(Path file, boolean mayBeMissing, UnaryOperator<Users> change) {
    try {
      Users changed = change.apply(read(file, mayBeMissing));
      DurableFiles.write(file, changed.text().getBytes(StandardCharsets.UTF_8));
    } catch (RefusedException e) {
      throw CommandFailure.usage(e.words());
    } catch (IOException e) {
      throw CommandFailure.failed("cannot write " + file + ": " + e.getMessage(), e);
    }
  }

  private static Users read(Path file, boolean mayBeMissing) {
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
