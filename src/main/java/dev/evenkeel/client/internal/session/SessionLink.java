package dev.evenkeel.client.internal.session;

import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.EventLoops;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.Link;
import dev.evenkeel.bus.NodePlace;
import dev.evenkeel.bus.VertxLink;
import dev.evenkeel.bus.frame.Hello;
import dev.evenkeel.bus.frame.SessionFrame;
import dev.evenkeel.bus.frame.Welcome;
import dev.evenkeel.client.ClientOptions;
import dev.evenkeel.protocol.BuildVersion;
import dev.evenkeel.protocol.HostPort;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Told;
import dev.evenkeel.util.LogLimiter;
import dev.evenkeel.util.MonotonicClock;
import dev.evenkeel.util.tls.TlsIdentity;
import io.vertx.core.Closeable;
import io.vertx.core.Completable;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.internal.VertxInternal;
import io.vertx.core.internal.net.NetClientInternal;
import io.vertx.core.net.KeyCertOptions;
import io.vertx.core.net.NetClientOptions;
import io.vertx.core.net.TrustOptions;
import io.vertx.core.net.impl.NetClientBuilder;
import io.vertx.core.spi.metrics.VertxMetrics;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A link over TCP connections to the client ports of nodes. Together they are one session of the
 * application; a session ends when all of them are lost, and then the link begins another one.
 *
 * <pre>
 * LOST      --a node says WELCOME, and listens at all addresses--> CONNECTED
 * CONNECTED --the last connection has ended----------------------> LOST (try all known addresses)
 * any       --close()--------------------------------------------> CLOSED
 * </pre>
 *
 * <p>A request for a node goes to the connection to that node. If there is none, the link opens one
 * in the background, and meanwhile sends such requests over another connection, whose node passes
 * them on. One connection, the <em>home</em>, takes all requests that any node can answer, and
 * listens at addresses. When it ends, another one takes its place.
 *
 * <p>All changes of state happen on one context of the Vert.x, requests on the caller's thread.
 */
public final class SessionLink implements Link {
  private static final Logger LOG = LoggerFactory.getLogger(SessionLink.class);

  /** How long a node may take to accept a connection, and to say WELCOME. */
  private static final long HANDSHAKE_MILLIS_MAX = 5_000;

  private static final int CONNECT_MILLIS_MAX = 2_000;

  /** How long a node may take to read what was sent before the end. */
  private static final long CLOSE_MILLIS_MAX = 2_000;

  /** Pauses before another attempt to connect to a node while other connections are open. */
  private static final long REOPEN_MILLIS_MIN = 100;

  private static final long REOPEN_MILLIS_MAX = 2_000;

  /** Pause before it asks again to listen at an address, when a node could not. */
  private static final long LISTEN_AGAIN_MILLIS = 500;

  /** With a second connection, the session outlives the loss of its home. */
  private static final int CONNECTIONS_MIN = 2;

  /** What this program is, for people. */
  private static final String CLIENT = client();

  private final VertxInternal vertx;
  private final boolean closesVertx;
  private final Context control;
  private final NetClientInternal netClient;
  private final String clusterName;
  private final Credentials credentials;
  private final LogLimiter troubles = new LogLimiter();
  private final Events events = new Events();
  private final Listenings listenings = new Listenings();
  private final List<StateHandler> stateHandlers = new CopyOnWriteArrayList<>();

  /** Requests to any node that take turns. */
  private final AtomicInteger turn = new AtomicInteger();

  /** Nodes to which a connection is being opened, or whose pause before that is not over. */
  private final Set<String> opening = ConcurrentHashMap.newKeySet();

  private volatile State state = State.LOST;
  private volatile Routes routes = Routes.NONE;

  // The rest belongs to the control context.

  /** Id of this session, or of the next one while there is no connection. */
  private String session = newSession();

  private final KnownNodes known;

  /** Node → open connection to it, in the order in which they were opened. */
  private final Map<String, NodeConnection> connections = new LinkedHashMap<>();

  /** Node → attempts to connect to it that have failed in a row. */
  private final Map<String, Integer> failedBefore = new HashMap<>();

  /** Addresses at which the home listens. */
  private final Set<String> registered = new HashSet<>();

  private NodeConnection home;

  /** Under way while there is no connection, else null. */
  private NodeSearch search;

  private Promise<Void> closing;

  /** Completes when the connections have ended: before the Vert.x closes, if it does so, too. */
  private final Promise<Void> disconnected = Promise.promise();

  private final Closeable closeHook = this::vertxCloses;

  /**
   * The open connections. Immutable.
   *
   * @param session id of the session, null if there is no connection
   * @param home null if there is no connection
   */
  private record Routes(
      String session,
      NodeConnection home,
      Map<String, NodeConnection> byNode,
      List<NodeConnection> all) {
    static final Routes NONE = new Routes(null, null, Map.of(), List.of());

    /** Any connection that is open, beginning with this one. */
    NodeConnection open(int first) {
      for (int i = 0; i < all.size(); i++) {
        NodeConnection each = all.get(Math.floorMod(first + i, all.size()));
        if (each.isOpen()) {
          return each;
        }
      }
      return null;
    }
  }

  private record StateHandler(Context context, Consumer<State> handler) {
    void changed(State next) {
      context.runOnContext(none -> handler.accept(next));
    }
  }

  private SessionLink(
      Vertx vertx,
      boolean closesVertx,
      List<HostPort> seeds,
      String clusterName,
      Credentials credentials) {
    this.closesVertx = closesVertx;
    this.credentials = credentials;
    this.vertx = (VertxInternal) vertx;
    this.clusterName = clusterName;
    control = EventLoops.forConnections(vertx);
    NetClientOptions options =
        new NetClientOptions()
            .setConnectTimeout(CONNECT_MILLIS_MAX)
            .setTcpNoDelay(true)
            .setTcpKeepAlive(true);
    TlsIdentity tls = credentials.tls();
    if (tls != null) {
      options
          .setSsl(true)
          .setTrustOptions(TrustOptions.wrap(tls.trustManager()))
          .setHostnameVerificationAlgorithm("HTTPS");
      if (tls.certificate() != null) {
        options.setKeyCertOptions(KeyCertOptions.wrap(tls.keyManager()));
      }
    }
    netClient = netClient(this.vertx, options);
    this.vertx.addCloseHook(closeHook);
    known = new KnownNodes(seeds);
  }

  /**
   * A client that Vert.x does not know. Those that it knows stay in memory after they are closed:
   * itself for as long as its Vert.x lives, or its closed Vert.x with it.
   */
  private static NetClientInternal netClient(VertxInternal vertx, NetClientOptions options) {
    NetClientBuilder builder = new NetClientBuilder(vertx, options);
    VertxMetrics metrics = vertx.metrics();
    if (metrics != null) {
      builder.metrics(metrics.createNetClientMetrics(options));
    }
    return builder.build();
  }

  /**
   * Connects for the first time. Fails with INVALID if there is no seed, with UNAUTHENTICATED if
   * all seeds know no user with these credentials, and with UNAVAILABLE if no node answers in time,
   * or something else than nodes answers at all seeds.
   *
   * @param closesVertx whether {@code vertx} is closed with the link, and when the future fails
   * @param seeds client ports of one or more nodes
   * @param clusterName the nodes refuse a client that wants another cluster
   * @param timeoutMillis how long it tries
   * @param credentials what it shows to nodes, and checks them against
   */
  public static Future<Link> connect(
      Vertx vertx,
      boolean closesVertx,
      List<HostPort> seeds,
      String clusterName,
      long timeoutMillis,
      Credentials credentials) {
    Promise<Link> promise = Promise.promise();
    if (seeds.isEmpty()) {
      (closesVertx ? vertx.close() : Future.<Void>succeededFuture())
          .onComplete(
              closed ->
                  promise.fail(
                      Refusal.INVALID.error("no node to connect to: name at least one HOST:PORT")));
      return promise.future();
    }
    SessionLink link = new SessionLink(vertx, closesVertx, seeds, clusterName, credentials);
    link.onControl(() -> link.connectFirst(timeoutMillis, promise));
    return promise.future();
  }

  private void connectFirst(long timeoutMillis, Promise<Link> connected) {
    Consumer<State> first =
        next -> {
          if (next == State.CONNECTED) {
            connected.tryComplete(this);
          }
        };
    onState(first);
    long deadline =
        vertx.setTimer(
            Math.max(1, timeoutMillis),
            timer -> giveUp(connected, noNode(" within " + timeoutMillis + " ms")));
    connected
        .future()
        .onComplete(
            done -> {
              offState(first);
              vertx.cancelTimer(deadline);
            });
    search(
        () -> {
          if (search.hopeless()) {
            giveUp(connected, noNode(""));
          }
        });
  }

  /** Fails the first attempt to connect, unless it has succeeded. */
  private void giveUp(Promise<Link> connected, RefusedException why) {
    if (state == State.LOST && !connected.future().isComplete()) {
      close().onComplete(closed -> connected.tryFail(why));
    }
  }

  private RefusedException noNode(String within) {
    Told trouble = search == null ? null : search.trouble();
    if (search != null && search.unauthenticated()) {
      return Refusal.UNAUTHENTICATED.error("%s", trouble);
    }
    Object advice =
        search != null && search.needsOtherTls()
            ? ""
            : Told.text(". Start one there, or name others with %s", ClientOptions.setter("seeds"));
    return Refusal.UNAVAILABLE.error(
        "no node of cluster '%s' at %s%s%s%s",
        clusterName,
        known.seeds(),
        within,
        trouble == null ? "" : Told.text(": %s", trouble),
        advice);
  }

  @Override
  public Vertx vertx() {
    return vertx;
  }

  @Override
  public Future<Buffer> request(String address, Buffer body, long timeoutMillis) {
    return request(address, body, timeoutMillis, null);
  }

  @Override
  public Future<Buffer> request(
      String address, Buffer body, long timeoutMillis, String traceparent) {
    Promise<Buffer> promise = vertx.getOrCreateContext().promise();
    NodeConnection to = route(address);
    if (to == null) {
      promise.fail(VertxLink.notConnected(state));
    } else {
      to.request(address, body, timeoutMillis, traceparent, promise);
    }
    return promise.future();
  }

  @Override
  public Future<Buffer> requestAnywhere(String address, Buffer body, long timeoutMillis) {
    List<Future<Buffer>> asked = new ArrayList<>();
    for (NodeConnection each : routes.all) {
      if (each.isOpen()) {
        Promise<Buffer> promise = Promise.promise();
        each.requestUncounted(address, body, timeoutMillis, promise);
        asked.add(promise.future().map(SessionLink::good));
      }
    }
    return asked.isEmpty()
        ? Future.failedFuture(VertxLink.notConnected(state))
        : Future.any(asked)
            .transform(
                any ->
                    any.succeeded()
                        ? asked.stream().filter(Future::succeeded).findFirst().orElseThrow()
                        : asked.get(0));
  }

  private static Buffer good(Buffer answer) {
    Frames.answerBody(answer);
    return answer;
  }

  @Override
  public long silenceMillisMax() {
    long least = Long.MAX_VALUE;
    for (NodeConnection each : routes.all) {
      least = Math.min(least, each.welcome().limits().keepAliveMillis());
    }
    return least == Long.MAX_VALUE ? 0 : KeepAlive.SILENT_TIMES_MAX * least;
  }

  /** The connection for a request to this address; null if none is open. */
  private NodeConnection route(String address) {
    Routes now = routes;
    String node = Addresses.nodeOf(address);
    if (node != null) {
      NodeConnection direct = now.byNode.get(node);
      if (direct != null && direct.isOpen()) {
        return direct;
      }
      if (now.home != null && opening.add(node)) {
        onControl(() -> openTo(node));
      }
    } else if (address.equals(Addresses.VIEW)) {
      // One node may hang, or not know better.
      return now.open(turn.getAndIncrement());
    }
    return now.home != null && now.home.isOpen() ? now.home : now.open(0);
  }

  @Override
  public Listening listen(String address, Consumer<Buffer> handler) {
    return listening(
        address,
        body -> {
          handler.accept(body);
          return null;
        });
  }

  @Override
  public Listening serve(String address, Function<Buffer, Future<Buffer>> server) {
    return listening(address, request -> VertxLink.serve(server, request));
  }

  /**
   * @param server may give null: then nothing is answered
   */
  private Listening listening(String address, Function<Buffer, Future<Buffer>> server) {
    SessionListening listening =
        new SessionListening(
            address,
            server,
            vertx.getOrCreateContext(),
            ended -> onControl(() -> removeListening(ended)));
    onControl(() -> addListening(listening));
    return listening;
  }

  private void addListening(SessionListening listening) {
    boolean first = listenings.at(listening.address()).isEmpty();
    listenings.add(listening);
    if (registered.contains(listening.address())) {
      listening.answered(null);
    } else if (first && home != null) {
      register(listening.address());
    }
  }

  private void removeListening(SessionListening listening) {
    String address = listening.address();
    listenings.remove(listening);
    if (home != null && listenings.at(address).isEmpty()) {
      registered.remove(address);
      home.unlisten(address);
      connectedIfRegistered();
    }
  }

  @Override
  public void nodesAre(List<NodePlace> places) {
    onControl(() -> known.learn(places));
  }

  @Override
  public State state() {
    return state;
  }

  @Override
  public void onState(Consumer<State> handler) {
    stateHandlers.add(new StateHandler(vertx.getOrCreateContext(), handler));
  }

  @Override
  public void offState(Consumer<State> handler) {
    stateHandlers.removeIf(each -> each.handler().equals(handler));
  }

  /** Id of the session, or null while there is no connection. */
  @Override
  public String clusterMember() {
    return routes.session;
  }

  @Override
  public String home() {
    NodeConnection now = routes.home;
    return now == null ? null : now.node();
  }

  /**
   * Tries all known addresses, in a random order, until one answers.
   *
   * @param onFailure runs after each attempt that has failed
   */
  private void search(Runnable onFailure) {
    List<HostPort> addresses = new ArrayList<>(known.addresses());
    Collections.shuffle(addresses);
    search = new NodeSearch(vertx, this::onControl, addresses, this::open, onFailure);
    search.next();
  }

  /** Opens a connection for this session. Completes when it is in use or was not needed. */
  private Future<Void> open(HostPort address) {
    Promise<Void> promise = Promise.promise();
    String of = session;
    renewed(address)
        .recover(failure -> Future.failedFuture(NoSession.noToken(address, failure)))
        .compose(
            token ->
                NodeConnection.open(
                    netClient,
                    EventLoops.forConnections(vertx),
                    address,
                    new Hello(
                        List.of(SessionFrame.VERSION),
                        of,
                        clusterName,
                        CLIENT,
                        token,
                        Hello.ANSWER_BYTES_MAX),
                    HANDSHAKE_MILLIS_MAX,
                    events))
        .onComplete(
            opened -> {
              onControl(() -> opened(opened));
              promise.complete();
            },
            promise::fail);
    return promise.future();
  }

  /** Takes up files that were replaced. Gives the token as its file has it now, or null. */
  private Future<String> renewed(HostPort address) {
    return credentials.any()
        ? vertx.executeBlocking(
            () -> {
              String token = credentials.renewed();
              if (credentials.wouldShow(address.host())) {
                throw NoSession.clearText(address);
              }
              return token;
            },
            false)
        : Future.succeededFuture();
  }

  private void opened(NodeConnection connection) {
    known.learn(connection.welcome().nodes());
    boolean needed =
        state != State.CLOSED
            && connection.session().equals(session)
            && !connections.containsKey(connection.node());
    if (!needed) {
      connection.close("this connection is not needed");
      return;
    }
    connections.put(connection.node(), connection);
    failedBefore.remove(connection.node());
    if (search != null) {
      LOG.info("connected to node {}, as session {}", connection.node(), session);
      search.end();
      search = null;
    }
    connectionsChanged(home == null ? connection : home);
  }

  /**
   * Sends requests over the connections that are open now.
   *
   * @param nextHome one of them
   */
  private void connectionsChanged(NodeConnection nextHome) {
    boolean moved = home != nextHome;
    home = nextHome;
    routes = new Routes(session, home, Map.copyOf(connections), List.copyOf(connections.values()));
    openSpare();
    if (moved) {
      registered.clear();
      listenings.addresses().forEach(this::register);
      connectedIfRegistered();
    }
  }

  /** Opens a second connection, if the cluster has a second node. */
  private void openSpare() {
    if (connections.isEmpty() || connections.size() >= CONNECTIONS_MIN) {
      return;
    }
    List<String> others = new ArrayList<>(known.present());
    others.removeAll(connections.keySet());
    Collections.shuffle(others);
    others.stream().filter(opening::add).findFirst().ifPresent(this::openTo);
  }

  /** Opens a connection to a node that is marked as {@link #opening}. */
  private void openTo(String node) {
    HostPort address = known.address(node);
    String now = session;
    Future<Void> opened =
        state == State.CLOSED || connections.isEmpty() || connections.containsKey(node)
            ? Future.succeededFuture()
            : address == null
                ? Future.failedFuture("no WELCOME has named node " + node)
                : open(address);
    opened.onComplete(done -> onControl(() -> openedTo(node, now)));
  }

  private void openedTo(String node, String during) {
    if (state == State.CLOSED || !session.equals(during) || connections.containsKey(node)) {
      opening.remove(node);
      openSpare();
      return;
    }
    int failures = failedBefore.merge(node, 1, Integer::sum);
    vertx.setTimer(
        NodeSearch.pauseMillis(failures - 1, REOPEN_MILLIS_MIN, REOPEN_MILLIS_MAX),
        timer -> {
          opening.remove(node);
          openSpare();
        });
    openSpare();
  }

  private void ended(NodeConnection connection, String why) {
    if (!connections.remove(connection.node(), connection) || state == State.CLOSED) {
      return;
    }
    LOG.debug("the connection to node {} has ended: {}", connection.node(), why);
    if (connections.isEmpty()) {
      lost(connection, why);
      return;
    }
    connectionsChanged(home == connection ? connections.values().iterator().next() : home);
  }

  private void lost(NodeConnection last, String why) {
    LOG.info(
        "lost the connection to the cluster (node {}: {}); connecting again when a node answers",
        last.node(),
        why);
    routes = Routes.NONE;
    home = null;
    registered.clear();
    failedBefore.clear();
    session = newSession();
    change(State.LOST);
    search(this::tellTrouble);
  }

  /** Logs once a minute why no node answers. */
  private void tellTrouble() {
    if (state == State.LOST && troubles.mayLog("", MonotonicClock.millis())) {
      String why = search.trouble().ofPrograms();
      if (search.unauthenticated()) {
        // That does not pass by itself, and commands show errors only.
        LOG.error("no node of the cluster lets this client in: {}", why);
      } else {
        LOG.warn("no node of the cluster answers: {}", why);
      }
    }
  }

  /** Listens at an address at the home. */
  private void register(String address) {
    NodeConnection at = home;
    at.listen(address)
        .onComplete(
            none -> onControl(() -> answered(at, address, null)),
            failure -> onControl(() -> answered(at, address, failure)));
  }

  private void answered(NodeConnection at, String address, Throwable failure) {
    if (at != home || listenings.at(address).isEmpty()) {
      return;
    }
    if (failure == null || RefusedException.of(failure).refusal() == Refusal.INVALID) {
      registered.add(address);
      listenings.at(address).forEach(each -> each.answered(failure));
      connectedIfRegistered();
      return;
    }
    LOG.debug("node {} does not listen at {} yet: {}", at.node(), address, failure.toString());
    vertx.setTimer(
        LISTEN_AGAIN_MILLIS,
        timer -> {
          if (at == home && !listenings.at(address).isEmpty()) {
            register(address);
          }
        });
  }

  private void connectedIfRegistered() {
    if (home != null && registered.containsAll(listenings.addresses())) {
      change(State.CONNECTED);
    }
  }

  private void change(State next) {
    if (state != next && state != State.CLOSED) {
      state = next;
      stateHandlers.forEach(handler -> handler.changed(next));
    }
  }

  /** Also closes the Vert.x of {@link #vertx()}. */
  @Override
  public Future<Void> close() {
    return close(
        () -> {
          vertx.removeCloseHook(closeHook);
          return closesVertx ? vertx.close() : Future.succeededFuture();
        });
  }

  /** An application may close its Vert.x without this link, which must not connect again then. */
  private void vertxCloses(Completable<Void> done) {
    close(Future::succeededFuture);
    // Not the future of close(), which may wait for the Vert.x.
    disconnected.future().onComplete(done);
  }

  /**
   * @param last runs after the connections have ended, unless the link is being closed already
   */
  private Future<Void> close(Supplier<Future<Void>> last) {
    synchronized (this) {
      if (closing != null) {
        return closing.future();
      }
      closing = Promise.promise();
    }
    boolean closes =
        onControl(
            () -> {
              change(State.CLOSED);
              if (search != null) {
                search.end();
              }
              home = null;
              routes = Routes.NONE;
              Future.join(
                      connections.values().stream()
                          .map(each -> each.close("the client is closed"))
                          .toList())
                  .timeout(CLOSE_MILLIS_MAX, TimeUnit.MILLISECONDS)
                  .transform(ended -> netClient.close())
                  .onComplete(disconnected);
            });
    if (!closes) {
      // Its Vert.x was closed before, and with it the connections.
      disconnected.tryComplete();
    }
    disconnected.future().transform(ended -> last.get()).onComplete(closing);
    return closing.future();
  }

  /** Runs a task on the control context. Returns whether it does: its Vert.x may be closed. */
  private boolean onControl(Runnable task) {
    try {
      control.runOnContext(none -> task.run());
      return true;
    } catch (RejectedExecutionException e) {
      LOG.debug("the link is closed", e);
      return false;
    }
  }

  private static String newSession() {
    return "s-" + UUID.randomUUID().toString().replace("-", "");
  }

  private static String client() {
    return "evenkeel-java " + BuildVersion.number();
  }

  /** What connections report, on their event loops. */
  private final class Events implements NodeConnection.Owner {
    @Override
    public void learned(Welcome welcome) {
      onControl(() -> known.learn(welcome.nodes()));
    }

    @Override
    public void pushed(NodeConnection connection, SessionFrame push) {
      listenings.deliver(connection, push);
    }

    @Override
    public void ended(NodeConnection connection, String why) {
      onControl(() -> SessionLink.this.ended(connection, why));
    }
  }
}
