package dev.evenkeel;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.cli.CommandInJvm;
import dev.evenkeel.client.ClientOptions;
import dev.evenkeel.protocol.HostPort;
import dev.evenkeel.protocol.ProducerIds;
import dev.evenkeel.util.tls.TlsException;
import dev.evenkeel.util.tls.TlsFiles;
import dev.evenkeel.util.tls.TlsIdentity;
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
 * whatever a test does, a user {@code tester} does who may do everything. Where tests have several
 * connections that do the same, every other one belongs to a user {@code second}. Else all of this
 * changes nothing. A test that makes users of its own has only these.
 */
public final class TestUsers {
  /** Whether they have. */
  public static final boolean ON = Boolean.getBoolean("evenkeel.test.users");

  /** Every permission there is. */
  public static final String ALL = "produce:*,consume:*,group:*,view:*,admin:*,producer:*";

  private static final String FIRST = "tester";
  private static final String VARIABLE = "EVENKEEL_TOKEN_FILE";
  private static final String CA = "EVENKEEL_CA";

  private TestUsers() {}

  /** The files, which the first who needs them makes. */
  private static final class UserFiles {
    static final Path USERS;
    static final List<Path> TOKENS = new ArrayList<>();

    static {
      try {
        Path directory = Files.createTempDirectory("evenkeel-users-");
        directory.toFile().deleteOnExit();
        USERS = directory.resolve("users.json");
        for (String name : List.of(FIRST, "second")) {
          StringWriter out = new StringWriter();
          StringWriter err = new StringWriter();
          int status =
              CommandInJvm.run(out, err, "user", "add", USERS.toString(), name, "--may", ALL);
          assertThat(status).as(err.toString()).isZero();
          Path token = directory.resolve(name + ".token");
          Files.writeString(token, out.toString());
          token.toFile().deleteOnExit();
          TOKENS.add(token);
        }
        USERS.toFile().deleteOnExit();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  private static String tokenFile(int which) {
    return UserFiles.TOKENS.get(which % UserFiles.TOKENS.size()).toString();
  }

  /** The arguments of a command; a node that has no users of its own gets these. */
  public static String[] arguments(String... args) {
    List<String> all = new ArrayList<>(Arrays.asList(args));
    if (ON && all.indexOf("serve") == 0 && !all.contains("--users")) {
      all.addAll(List.of("--users", UserFiles.USERS.toString()));
    }
    return all.toArray(String[]::new);
  }

  /** The arguments that say to a command over HTTP in this JVM who it is. */
  public static List<String> tokenArguments() {
    return ON ? List.of("--token-file", tokenFile(0)) : List.of();
  }

  /** The variables that say to a process who it is. */
  public static Map<String, String> variables() {
    return ON ? Map.of(VARIABLE, tokenFile(0)) : Map.of();
  }

  /** For a client of the nodes, in a test or in a process that a test has started. */
  public static ClientOptions options() {
    return ON
        ? new ClientOptions().setTokenFile(tokenFile(0))
        : new ClientOptions().setTokenFile(System.getenv(VARIABLE)).setCa(System.getenv(CA));
  }

  // Nobody sends a token in clear text to other machines, so nodes there have certificates.

  /** Whether nodes at an address have certificates because of their users. */
  public static boolean needTls(String address) {
    return ON && !HostPort.isLoopback(address);
  }

  /** The arguments of a node on a machine of its own. */
  public static String[] ofMachine() {
    return new String[] {"--tls", TestCertificates.OfMachines.DIRECTORY.toString()};
  }

  /** The variables that a process on a machine of its own has, beside {@link #variables}. */
  public static Map<String, String> variablesOfMachine() {
    return ON ? Map.of(CA, authority()) : Map.of();
  }

  private static String authority() {
    return TestCertificates.OfMachines.DIRECTORY.resolve("ca.crt").toString();
  }

  /**
   * For a client in a test whose nodes are on machines of their own.
   *
   * @param which every other one belongs to the second user
   */
  public static ClientOptions optionsOfMachine(int which) {
    return ON ? options().setTokenFile(tokenFile(which)).setCa(authority()) : options();
  }

  /** For requests to nodes, also to those on machines of their own. */
  public static HttpClient http() {
    if (!ON) {
      return HttpClient.newHttpClient();
    }
    try {
      TlsIdentity trusting = TlsIdentity.open(TlsFiles.trusting(Path.of(authority())));
      return HttpClient.newBuilder().sslContext(trusting.context()).build();
    } catch (TlsException e) {
      throw new IllegalStateException(e);
    }
  }

  /** The id of a producer that the user of {@link #token()} may open without asking for one. */
  public static long producerId(long number) {
    return ON ? ProducerIds.ofUser(number, FIRST) : number;
  }

  /** The token; null: there are no users. */
  public static String token() {
    return token(0);
  }

  /**
   * A token; null: there are no users.
   *
   * @param which every other one is that of the second user
   */
  public static String token(int which) {
    return ON ? Unchecked.get(() -> Files.readString(Path.of(tokenFile(which)))).strip() : null;
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
