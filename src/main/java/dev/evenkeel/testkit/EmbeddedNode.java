package dev.evenkeel.testkit;

import dev.evenkeel.Evenkeel;
import dev.evenkeel.api.ClusterStatusView;
import dev.evenkeel.bus.LocalDispatcher;
import dev.evenkeel.bus.LocalObjects;
import dev.evenkeel.cli.ConfigReader;
import dev.evenkeel.cli.DataDirectory;
import dev.evenkeel.cli.FreePorts;
import dev.evenkeel.cli.NodeConfig;
import dev.evenkeel.cli.ServeRun;
import dev.evenkeel.cli.Teardown;
import dev.evenkeel.client.Admin;
import dev.evenkeel.client.ClientOptions;
import dev.evenkeel.client.EvenkeelClient;
import dev.evenkeel.client.plain.PlainClient;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.util.Causes;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/**
 * A real node in the JVM of a test: it listens on free ports of the loopback interface, and keeps
 * its data in a temporary directory, which {@link #close} removes. Nothing of it is simulated.
 *
 * <p>Several nodes can run at once; each is a cluster of its own. All methods may be called from
 * any thread, and those that wait must not be called on an event loop.
 */
public final class EmbeddedNode implements AutoCloseable {
  /** How long the waits of this class wait, unless told otherwise: 20 s. */
  public static final Duration PATIENCE = Duration.ofSeconds(20);

  /** A user of each node that has users, who may do everything. */
  public static final String OPERATOR = "operator";

  private static final int PORTS_TRIES = 5;

  /** Settings that suit a test: little memory and disk, and a start that does not wait. */
  private static final Map<String, String> DEFAULTS =
      Map.of(
          "http-port",
          "0",
          "data-groups",
          "1",
          "disk-free-min-bytes",
          "16MiB",
          "join-quiet",
          "20ms");

  /** Has the data of the node, and what is needed to know its users. */
  private final Path directory;

  private final Map<String, String> settings;

  /** Null: the node has no users. */
  private final NodeUsers users;

  private int port;
  private Vertx vertx;
  private Integer httpPort;
  private ServeRun run;
  private Teardown teardown;
  private EvenkeelClient client;
  private PlainClient plain;

  private EmbeddedNode(Path directory, Map<String, String> settings, Map<String, String> may) {
    this.directory = directory;
    this.settings = settings;
    users = may.isEmpty() ? null : NodeUsers.write(directory, may);
  }

  /** Starts a node with the settings that suit a test, and waits until it can serve. */
  public static EmbeddedNode start() {
    return start(Map.of());
  }

  /**
   * As {@link #start()}.
   *
   * @param settings of the configuration, by key, as {@code evenkeel serve} takes them; they go
   *     before those that suit a test. {@code port}, {@code host} and {@code data} are chosen here
   * @throws RuntimeException if a setting is wrong, or the node cannot start
   */
  public static EmbeddedNode start(Map<String, String> settings) {
    return start(settings, Map.of());
  }

  /**
   * As {@link #start(Map)}, with users. The clients that this object makes belong to a further user
   * {@value #OPERATOR}, who may do everything; {@link #clientOptions(String)} is for the others.
   *
   * @param users what each user may do, by name, as {@code evenkeel user add --may} takes it: such
   *     as {@code produce:orders,view:*}. If there are none, everybody may do everything
   * @throws RuntimeException also if a name or a permission is wrong
   */
  public static EmbeddedNode start(Map<String, String> settings, Map<String, String> users) {
    for (String own : List.of("port", "host", "data")) {
      if (settings.containsKey(own)) {
        throw Refusal.INVALID.error("setting '%s': the test kit chooses it", own);
      }
    }
    if (!users.isEmpty() && settings.containsKey("users")) {
      throw Refusal.INVALID.error("setting 'users': the test kit writes the file");
    }
    Map<String, String> all = new HashMap<>(DEFAULTS);
    all.putAll(settings);
    // Another program may take the ports between the look and the start.
    for (int left = PORTS_TRIES; ; left--) {
      Path directory = newDirectory();
      try {
        EmbeddedNode node = new EmbeddedNode(directory, all, users);
        node.port = FreePorts.find(1).get(0);
        node.serve();
        return node;
      } catch (RuntimeException e) {
        DataDirectory.remove(directory);
        if (left == 1 || !Causes.include(BindException.class, e)) {
          throw e;
        }
      }
    }
  }

  private static Path newDirectory() {
    try {
      return Files.createTempDirectory("evenkeel-test-");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void serve() {
    Map<String, Object> given = new HashMap<>(settings);
    given.put("host", FreePorts.HOST);
    given.put("port", String.valueOf(port));
    given.put("data", directory.resolve("data").toString());
    if (users != null) {
      given.put("users", users.file().toString());
    }
    NodeConfig config =
        NodeConfig.of(
            ConfigReader.merge(given, "the settings of the test node", Map.of(), Map.of()));
    CompletableFuture<Void> ready = new CompletableFuture<>();
    teardown = new Teardown();
    run =
        new ServeRun(
            config,
            (served, http, steps, end) -> {
              vertx = served;
              httpPort = http;
              ready.complete(null);
            },
            teardown);
    try {
      run.start();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while the node was starting", e);
    }
    ready.join();
  }

  /** Where clients connect, as {@code HOST:PORT}: a seed for {@link ClientOptions}. */
  public String address() {
    return FreePorts.HOST + ":" + port;
  }

  /** Address of the HTTP API, like {@code http://127.0.0.1:34567}. It changes with a restart. */
  public synchronized String http() {
    return "http://" + FreePorts.HOST + ":" + httpPort;
  }

  /**
   * The clustered Vert.x of the node, for tests of what runs on one: see {@link Evenkeel#with}. A
   * restart makes another one.
   */
  public synchronized Vertx vertx() {
    return vertx;
  }

  /**
   * Options of a client that connects to this node; if it has users, of {@value #OPERATOR}, who may
   * do everything.
   */
  public ClientOptions clientOptions() {
    return users == null
        ? new ClientOptions().setSeeds(List.of(address()))
        : clientOptions(OPERATOR);
  }

  /**
   * Options of a client that connects to this node as one of its users.
   *
   * @throws RefusedException INVALID if the node was started without that user
   */
  public ClientOptions clientOptions(String user) {
    return new ClientOptions()
        .setSeeds(List.of(address()))
        .setTokenFile(tokenFile(user).toString());
  }

  /**
   * The token of one of its users, for the HTTP API: the header is {@code Authorization: Bearer
   * TOKEN}.
   *
   * @throws RefusedException INVALID if the node was started without that user
   */
  public String token(String user) {
    return NodeUsers.read(tokenFile(user));
  }

  private Path tokenFile(String user) {
    if (users == null || !users.names().contains(user)) {
      throw Refusal.INVALID.error("there is no user '%s': name it when you start the node", user);
    }
    return users.tokenFile(user);
  }

  /** A client that is connected to this node, the same each time. The node closes it. */
  public synchronized EvenkeelClient client() {
    if (client == null) {
      client = Waits.get(Evenkeel.connect(clientOptions()), PATIENCE);
    }
    return client;
  }

  /** A client for code without Vert.x, the same each time. The node closes it. */
  public synchronized PlainClient plainClient() {
    if (plain == null) {
      try {
        plain = Evenkeel.connectAndWait(clientOptions());
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IllegalStateException("interrupted while the client was connecting", e);
      }
    }
    return plain;
  }

  /** Manages topics and groups of this node. */
  public Admin admin() {
    return client().admin();
  }

  /** Creates a topic, unless it is there. */
  public void createTopic(String name, int shards) {
    try {
      Waits.get(admin().createTopic(name, shards), PATIENCE);
    } catch (RefusedException e) {
      if (e.refusal() != Refusal.TOPIC_EXISTS) {
        throw e;
      }
    }
  }

  // ---- Waits

  /** As {@link #awaitConsumed(String, Duration)}, for {@link #PATIENCE}. */
  public void awaitConsumed(String group) {
    awaitConsumed(group, PATIENCE);
  }

  /**
   * Waits until a group has consumed every message of its topics that was acknowledged before: none
   * is left, and none waits for a retry. Dead letters count as consumed.
   *
   * @throws AssertionError if it has not by then; it says what is left
   */
  public void awaitConsumed(String group, Duration patience) {
    Waits.until(
        () -> Waits.leftOf(admin().group(group)),
        "group '" + group + "' has not consumed",
        patience);
  }

  /**
   * Waits until every shard of a group has an owner, and is to stay with it.
   *
   * @param members how many members the group has then
   * @throws AssertionError if that is not so within {@link #PATIENCE}; it says what is missing
   */
  public void awaitMembers(String group, int members) {
    Waits.until(
        () -> Waits.unsettled(admin().group(group), members),
        "group '" + group + "' has not settled",
        PATIENCE);
  }

  // ---- Faults

  /**
   * Stops the node and starts it again with its data, on the same ports but for HTTP. Clients that
   * are connected connect again by themselves.
   */
  public synchronized void restart() {
    stop();
    serve();
  }

  /**
   * Makes a member count as dead, as if nothing had been heard of it for its member timeout: its
   * shards go to others, and what it does with them from then on is refused. If it still runs, it
   * joins again with its next heartbeat, within a second.
   *
   * @throws RefusedException INVALID if the group has no such member
   */
  public void expireMember(String group, String member) {
    // The dispatcher starts a little later than the HTTP API.
    Waits.until(
        () ->
            Future.succeededFuture(dispatcher() == null ? "its dispatcher has not started" : null),
        "no member can be expired",
        PATIENCE);
    if (!Waits.get(dispatcher().members().expire(group, member), PATIENCE)) {
      throw Refusal.INVALID.error("group '%s' has no member '%s'", group, member);
    }
  }

  private LocalDispatcher dispatcher() {
    return LocalObjects.get(vertx, LocalDispatcher.class);
  }

  /** What the node says of itself. */
  public ClusterStatusView status() {
    return Waits.get(admin().cluster(), PATIENCE);
  }

  private void stop() {
    run.stop();
  }

  /** Closes the clients of this object, stops the node, and removes its data. */
  @Override
  public synchronized void close() {
    // A test that was interrupted must not leave the node behind.
    boolean interrupted = Thread.interrupted();
    try {
      if (plain != null) {
        plain.close();
      }
      if (client != null) {
        Waits.quietly(client.close(), PATIENCE);
      }
    } finally {
      stop();
      DataDirectory.remove(directory);
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
