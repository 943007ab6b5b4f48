package dev.evenkeel;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.cli.CommandInJvm;
import dev.evenkeel.client.ClientOptions;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.WebSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Assumptions;

/**
 * Whether the nodes of tests have users: with {@code -Devenkeel.test.users=true} they do, and
 * whatever a test does, a user {@code tester} does who may do everything. Else all of this changes
 * nothing. A test that makes users of its own has only these.
 */
public final class TestUsers {
  /** Whether they have. */
  public static final boolean ON = Boolean.getBoolean("evenkeel.test.users");

  /** Every permission there is. */
  public static final String ALL = "produce:*,consume:*,group:*,view:*,admin:*,producer:*";

  private static final String VARIABLE = "EVENKEEL_TOKEN_FILE";

  private TestUsers() {}

  /** The files, which the first who needs them makes. */
  private static final class OfTester {
    static final Path USERS;
    static final Path TOKEN;

    static {
      try {
        Path directory = Files.createTempDirectory("evenkeel-users-");
        directory.toFile().deleteOnExit();
        USERS = directory.resolve("users.json");
        TOKEN = directory.resolve("tester.token");
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        int status =
            CommandInJvm.run(out, err, "user", "add", USERS.toString(), "tester", "--may", ALL);
        assertThat(status).as(err.toString()).isZero();
        Files.writeString(TOKEN, out.toString());
        TOKEN.toFile().deleteOnExit();
        USERS.toFile().deleteOnExit();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  /** The arguments of a command; a node that has no users of its own gets these. */
  public static String[] arguments(String... args) {
    List<String> all = new ArrayList<>(Arrays.asList(args));
    if (ON && all.indexOf("serve") == 0 && !all.contains("--users")) {
      all.addAll(List.of("--users", OfTester.USERS.toString()));
    }
    return all.toArray(String[]::new);
  }

  /** The arguments that say to a command over HTTP in this JVM who it is. */
  public static List<String> tokenArguments() {
    return ON ? List.of("--token-file", OfTester.TOKEN.toString()) : List.of();
  }

  /** The variables that say to a process who it is. */
  public static Map<String, String> variables() {
    return ON ? Map.of(VARIABLE, OfTester.TOKEN.toString()) : Map.of();
  }

  /** For a client of the nodes, in a test or in a process that a test has started. */
  public static ClientOptions options() {
    return new ClientOptions()
        .setTokenFile(ON ? OfTester.TOKEN.toString() : System.getenv(VARIABLE));
  }

  /** The token; null: there are no users. */
  public static String token() {
    return ON ? Unchecked.get(() -> Files.readString(OfTester.TOKEN)).strip() : null;
  }

  /** A header line of HTTP that says who asks, with the end of the line; empty: nobody does. */
  public static String header() {
    return ON ? "Authorization: Bearer " + token() + "\r\n" : "";
  }

  /** Begins a request over HTTP. */
  public static HttpRequest.Builder request(URI to) {
    return request(to, token());
  }

  /**
   * Begins a request over HTTP.
   *
   * @param token of who asks; null: nobody
   */
  public static HttpRequest.Builder request(URI to, String token) {
    HttpRequest.Builder request = HttpRequest.newBuilder(to);
    return token == null ? request : request.header("Authorization", "Bearer " + token);
  }

  /**
   * Begins a WebSocket.
   *
   * @param token of who asks; null: nobody
   */
  public static WebSocket.Builder webSocket(HttpClient http, String token) {
    WebSocket.Builder socket = http.newWebSocketBuilder();
    return token == null ? socket : socket.header("Authorization", "Bearer " + token);
  }

  /**
   * Leaves a test out if the nodes have users.
   *
   * @param why it makes no sense then
   */
  public static void assumeNone(String why) {
    Assumptions.assumeFalse(ON, why);
  }
}
