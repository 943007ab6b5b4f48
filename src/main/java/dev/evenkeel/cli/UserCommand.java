package dev.evenkeel.cli;

import dev.evenkeel.api.AddToken;
import dev.evenkeel.api.AddToken.AddedToken;
import dev.evenkeel.api.ListShares;
import dev.evenkeel.api.ListUsers.TokenView;
import dev.evenkeel.api.ListUsers.UserDetail;
import dev.evenkeel.api.Operations;
import dev.evenkeel.api.PutUser;
import dev.evenkeel.api.RecordJson;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code evenkeel user}. */
@Command(
    name = "user",
    description = {
      "Adds, removes and lists users, and shows what they hold.",
      "With a FILE, the users are in that file, which is for serve --users. With --http URL, they are"
          + " those that the cluster keeps: all of its nodes take up a change within two seconds."
    },
    footer = {
      "  evenkeel user add users.json operator --may 'view:*,admin:*'",
      "  evenkeel user list users.json",
      "  evenkeel user add shop --may produce:orders --http https://n1:8080",
      "  evenkeel user token shop --expires 90d --http https://n1:8080",
      "  evenkeel user list --http https://n1:8080",
      "  evenkeel user usage --token-file operator.token"
    })
final class UserCommand extends CommandGroup {
  private static final String WHERE = "The file with the users; none with --http.";
  private static final String WHO = "The name of the user.";
  private static final String EXPIRES =
      "When the new token ends: a duration such as 90d, a date such as 2027-01-31, which stands for"
          + " its first moment in UTC, or a time such as 2027-01-31T12:00:00Z. Without it, never.";

  UserCommand() {
    super("add, token, remove, list or usage");
  }

  @Command(
      name = "add",
      mixinStandardHelpOptions = true,
      customSynopsis = {
        "evenkeel user add FILE NAME [--may KIND:NAME,...] [OPTIONS]",
        "       evenkeel user add NAME --http URL [--may KIND:NAME,...] [OPTIONS]",
      },
      description = {
        "Adds a user, and prints a token for it. Only a digest of the token is kept, so it cannot be"
            + " printed again.",
        "For a user that is there, it adds one more token, so that programs can change to it before"
            + " 'user remove --token ID' ends the former one; or, with --may or --share, it changes"
            + " that, and prints no token.",
        "Nodes take up the change within two seconds."
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
        "With --http, you need admin:* and, yourself, all that the user has and gets.",
        "",
        "Examples:",
        "  evenkeel user add users.json shop --may produce:orders",
        "  evenkeel user add users.json billing --may consume:orders,group:billing > billing.token",
        "  evenkeel user add users.json operator --may 'view:*,admin:*'",
        "  evenkeel user add users.json shop                               (one more token)",
        "  evenkeel user add users.json shop --certificate shop --may produce:orders",
        "  evenkeel user add shop --may produce:orders --expires 90d --http https://n1:8080",
      })
  int add(
      @Mixin UserPlace place,
      @Parameters(index = "0", arity = "0..1", paramLabel = "FILE", description = WHERE)
          String first,
      @Parameters(index = "1", arity = "0..1", paramLabel = "NAME", description = WHO)
          String second,
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
          Double share,
      @Option(names = "--expires", paramLabel = "WHEN", description = EXPIRES) String expires) {
    String name = place.name(first, second);
    CommandFailure.refuseIf(
        certificate != null && expires != null,
        "--expires is for a token, and --certificate makes none: leave one out");
    UserStore users = place.isCluster() ? new KeptUsers(place.api()) : new FileUsers(first);
    boolean isNew = users.find(name) == null;
    boolean changes = may != null || share != null;
    boolean token = certificate == null && (isNew || !changes);
    CommandFailure.refuseIf(
        expires != null && !token,
        "--expires is for a new token, and with --may or --share a user that is there gets none:"
            + " make one with 'user token'");
    if (users.isHidden(name)) {
      place.note(
          "the users file of the node has '%s', which counts until it is removed there"
              .formatted(name));
    }
    PutUser put = new PutUser(name, may, certificate, share, null);
    if (!token) {
      users.put(put);
      if (!isNew) {
        // What it prints goes into a token file, as often as not.
        place.note("changed '%s', which keeps its tokens and gets no new one".formatted(name));
      }
      return ExitStatus.DONE;
    }
    return print(
        place, users.add(isNew || changes ? put : null, new AddToken(name, expires, null)));
  }

  private static int print(UserPlace place, AddedToken made) {
    place.print(RecordJson.json(made), () -> made.token() + "\n");
    return ExitStatus.DONE;
  }

  @Command(
      name = "token",
      mixinStandardHelpOptions = true,
      customSynopsis = {
        "evenkeel user token FILE NAME [--expires WHEN] [OPTIONS]",
        "       evenkeel user token NAME --http URL [--expires WHEN] [OPTIONS]",
      },
      description = {
        "Adds a token to a user that is there, and prints it. The other tokens stay valid, so that"
            + " programs can change to it before 'user remove --token ID' ends the former one."
      },
      footer = {
        "  evenkeel user token users.json shop --expires 90d > new.token",
        "  evenkeel user token shop --expires 2027-01-31 --http https://n1:8080 > new.token"
      })
  int token(
      @Mixin UserPlace place,
      @Parameters(index = "0", arity = "0..1", paramLabel = "FILE", description = WHERE)
          String first,
      @Parameters(index = "1", arity = "0..1", paramLabel = "NAME", description = WHO)
          String second,
      @Option(names = "--expires", paramLabel = "WHEN", description = EXPIRES) String expires) {
    String name = place.name(first, second);
    UserStore users = place.isCluster() ? new KeptUsers(place.api()) : new FileUsers(first);
    return print(place, users.add(null, new AddToken(name, expires, null)));
  }

  @Command(
      name = "remove",
      mixinStandardHelpOptions = true,
      customSynopsis = {
        "evenkeel user remove FILE NAME [--token ID] [OPTIONS]",
        "       evenkeel user remove NAME --http URL [--token ID] [OPTIONS]",
      },
      description =
          "Removes a user, or one of its tokens. Nodes close the connections of its programs"
              + " within two seconds.",
      footer = {
        "  evenkeel user remove users.json shop",
        "  evenkeel user remove users.json shop --token 1c0ffee2",
        "  evenkeel user remove shop --token 1c0ffee2 --http https://n1:8080"
      })
  int remove(
      @Mixin UserPlace place,
      @Parameters(index = "0", arity = "0..1", paramLabel = "FILE", description = WHERE)
          String first,
      @Parameters(index = "1", arity = "0..1", paramLabel = "NAME", description = WHO)
          String second,
      @Option(
              names = "--token",
              paramLabel = "ID",
              description = "Only the token with this id, the word between its underscores.")
          String token) {
    String name = place.name(first, second);
    UserStore users = place.isCluster() ? new KeptUsers(place.api()) : new FileUsers(first);
    if (token == null) {
      users.remove(name);
    } else {
      users.remove(name, token);
    }
    return ExitStatus.DONE;
  }

  @Command(
      name = "list",
      mixinStandardHelpOptions = true,
      customSynopsis = {
        "evenkeel user list FILE [OPTIONS]",
        "       evenkeel user list --http URL [OPTIONS]",
      },
      description = {
        "Prints the users, the ids of their tokens, and what they may do.",
        "With --http, these are the users in the file of the node that answers, and those that the"
            + " cluster keeps. If both have a user of the same name, what the file says counts."
      },
      footer = {"  evenkeel user list users.json", "  evenkeel user list --http https://n1:8080"})
  int list(
      @Mixin UserPlace place,
      @Parameters(index = "0", arity = "0..1", paramLabel = "FILE", description = WHERE)
          String first) {
    Path file = place.file(first);
    List<UserDetail> users =
        (place.isCluster() ? new KeptUsers(place.api()) : new FileUsers(file.toString())).all();
    place.print(
        RecordJson.json(users), () -> table(users, place.isCluster(), Instant.now()).text());
    return ExitStatus.DONE;
  }

  @Command(
      name = "usage",
      mixinStandardHelpOptions = true,
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

  private static Table table(List<UserDetail> users, boolean sources, Instant now) {
    List<String> heads = List.of("user", "tokens", "certificate", "share", "may");
    Table table =
        new Table(
            (sources ? Stream.concat(heads.stream(), Stream.of("source")) : heads.stream())
                .toArray(String[]::new));
    for (UserDetail user : users) {
      List<Object> row =
          new ArrayList<>(
              List.of(
                  user.name(),
                  join(user.tokens().stream().map(each -> words(each, now)).toList()),
                  user.certificate() == null ? "-" : user.certificate(),
                  share(user.share()),
                  join(user.may())));
      if (sources) {
        row.add(user.source() + (user.hidden() ? ", hidden by the file" : ""));
      }
      table.row(row.toArray());
    }
    return table;
  }

  private static String words(TokenView token, Instant now) {
    if (token.expires() == null) {
      return token.id();
    }
    String word = token.expires().isAfter(now) ? "until" : "expired";
    return token.id() + " (" + word + " " + token.expires() + ")";
  }

  private static String share(double share) {
    return share == Math.rint(share) ? String.valueOf((long) share) : String.valueOf(share);
  }

  private static String join(List<String> words) {
    return words.isEmpty() ? "-" : String.join(",", words);
  }
}
