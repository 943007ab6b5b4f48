package dev.evenkeel.cli;

import dev.evenkeel.Evenkeel;
import dev.evenkeel.api.AskReady;
import dev.evenkeel.api.Operations;
import dev.evenkeel.api.RecordJson;
import dev.evenkeel.broker.BrokerVerticle;
import dev.evenkeel.broker.member.Membership;
import dev.evenkeel.broker.node.BrokerNode;
import dev.evenkeel.broker.node.BrokerOptions;
import dev.evenkeel.broker.node.BrokerSettings;
import dev.evenkeel.broker.node.HeapShares;
import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.ClusterInSight;
import dev.evenkeel.bus.LocalObjects;
import dev.evenkeel.bus.NodePlace;
import dev.evenkeel.client.EvenkeelClient;
import dev.evenkeel.cluster.AllowedClasses;
import dev.evenkeel.cluster.ClusterMember;
import dev.evenkeel.cluster.ClusterMembers;
import dev.evenkeel.cluster.NodeAddresses;
import dev.evenkeel.cluster.NodeSettings;
import dev.evenkeel.dispatcher.DispatcherOptions;
import dev.evenkeel.dispatcher.DispatcherVerticle;
import dev.evenkeel.gateway.GatewayVerticle;
import dev.evenkeel.gateway.ServerTls;
import dev.evenkeel.gateway.access.Access;
import dev.evenkeel.gateway.http.HostNames;
import dev.evenkeel.gateway.http.WebOptions;
import dev.evenkeel.gateway.http.WebVerticle;
import dev.evenkeel.gateway.session.SessionOptions;
import dev.evenkeel.gateway.session.SessionVerticle;
import dev.evenkeel.log.LogSettings;
import dev.evenkeel.log.LogStartException;
import dev.evenkeel.log.NodeRemovedException;
import dev.evenkeel.log.StartAgainException;
import dev.evenkeel.log.raft.RaftLogNode;
import dev.evenkeel.protocol.BuildVersion;
import dev.evenkeel.protocol.ClusterNode;
import dev.evenkeel.protocol.HostPort;
import dev.evenkeel.protocol.NodePorts;
import dev.evenkeel.util.Daemon;
import dev.evenkeel.util.files.LockedFile;
import dev.evenkeel.util.tls.TlsIdentity;
import io.vertx.core.Deployable;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.eventbus.DeliveryOptions;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * One run of a node. It starts the parts, the log and the cluster in parallel, reports when the
 * node can serve, and stops them in reverse order on a signal or when the log fails.
 */
public final class ServeRun {
  private static final long END_MILLIS_MAX = 10_000;
  private static final long READY_CHECK_MILLIS = 50;
  private static final long KEPT_OUT_MILLIS = 5_000;
  private static final long READY_ANSWER_MILLIS_MAX = 5_000;

  private final NodeConfig config;
  private final NodeMemory memory;
  private final Guest guest;
  private final Teardown teardown;
  private final WebVerticle web = new WebVerticle();
  private final PartLoops loops = new PartLoops();

  /** Completes when the node shall stop; fails when it cannot go on. */
  private final CompletableFuture<Void> end = new CompletableFuture<>();

  /** The settings with the nodes that the data directory knows. */
  private NodeConfig formed;

  /** The nodes as recorded; empty as long as none has joined or left. */
  private volatile List<ClusterNode> nodes = List.of();

  /** Null: the node makes no spans. */
  private SpanExport spans;

  /** What the node shows other nodes; null: connections between nodes are not encrypted. */
  private TlsIdentity peerTls;

  /** What runs on the node, such as the demo. It starts when the node can serve. */
  @FunctionalInterface
  public interface Guest {
    /**
     * Called once, when the node can serve. Steps that it adds to the teardown run before those of
     * the node.
     *
     * @param httpPort null: the node has no HTTP
     * @param end completes when the node shall stop; the guest may complete it, too
     */
    void ready(Vertx vertx, Integer httpPort, Teardown teardown, CompletableFuture<Void> end);

    /** How long its steps of the teardown may take, apart from those of the node. */
    default long endMillisMax() {
      return 0;
    }
  }

  /**
   * @param teardown steps that it holds already run last
   */
  public ServeRun(NodeConfig config, Guest guest, Teardown teardown) {
    this.config = config;
    memory = NodeMemory.of(config);
    this.guest = guest;
    this.teardown = teardown;
  }

  /** The node must leave the cluster and start again. */
  static final class Unfit extends RuntimeException {
    private static final long serialVersionUID = 1L;

    Unfit(String why) {
      super(why);
    }
  }

  /**
   * Runs until a signal stops the node; gives the exit status.
   *
   * @throws Unfit after all parts have stopped: run the node again
   */
  public int run() throws InterruptedException {
    long endMillisMax = END_MILLIS_MAX + guest.endMillisMax();
    StopSignal signal = StopSignal.install(() -> end.complete(null), endMillisMax + 3_000);
    int status = ExitStatus.FAILED;
    try {
      check();
      AllowedClasses.filterProcess();
      AuditFile.open(config.data().resolve("audit"));
      teardown.addBlocking("audit", AuditFile::close);
      begin();
      get(end);
      status = ExitStatus.DONE;
    } catch (Stopped e) {
      status = ExitStatus.DONE;
    } finally {
      teardown.run(endMillisMax);
      signal.ended(status);
    }
    return status;
  }

  /**
   * Starts the node as a part of another program, and returns when it can serve; {@link #stop} ends
   * it. Unlike {@link #run}, this changes nothing in the rest of the JVM: it handles no signal,
   * sets no filter for serialization, and writes no audit log.
   *
   * @throws RuntimeException if it cannot start; then all parts have stopped
   */
  public void start() throws InterruptedException {
    boolean started = false;
    try {
      check();
      begin();
      started = true;
    } catch (Stopped e) {
      throw new IllegalStateException("the node was stopped while it was starting", e);
    } finally {
      if (!started) {
        stop();
      }
    }
  }

  /** Stops what {@link #start} has started. Blocks, for 10 s at most. */
  public void stop() {
    end.complete(null);
    teardown.run(END_MILLIS_MAX);
  }

  private void check() {
    formed = config.with(knownNodes());
    peerTls = NodeTls.ofPeers(formed);
    NodeTls.checkPorts(config.tls());
    if (config.users() != null) {
      Access.check(config.users());
    }
    checkPorts();
    DataDirectory.check(config.data());
    lock();
    spans =
        SpanExport.to(NodeOptions.TRACING.key(), config.get(NodeOptions.TRACING), "evenkeel-node");
    if (spans != null) {
      teardown.addBlocking("spans", spans::close);
    }
  }

  /** Reserves the data directory, before anything of the node runs that another one may have. */
  private void lock() {
    try {
      LockedFile lock = RaftLogNode.lock(logs());
      teardown.addBlocking("lock", lock::close);
    } catch (LogStartException e) {
      throw CommandFailure.failed(e.getMessage(), e);
    }
  }

  private Path logs() {
    return config.data().resolve("raft");
  }

  /** The nodes of the cluster that the data directory belongs to, or else those of the settings. */
  private List<NodeConfig.Peer> knownNodes() {
    try {
      List<NodeConfig.Peer> known =
          RaftLogNode.knownPeers(logs()).stream()
              .map(
                  peer ->
                      new NodeConfig.Peer(
                          peer.nodeId(), peer.host(), NodePorts.baseOfRaft(peer.raftPort())))
              .toList();
      return known.isEmpty() ? config.peers() : known;
    } catch (LogStartException e) {
      throw CommandFailure.failed(e.getMessage(), e);
    }
  }

  /** The nodes have changed. */
  private void follow(ClusterMember member, List<ClusterNode> now) {
    nodes = List.copyOf(now);
    if (peerTls != null && !config.get(NodeOptions.ALLOW_BUS_MEMBERS)) {
      peerTls.allow(now.stream().map(ClusterNode::id).collect(Collectors.toSet()));
    }
    now.stream()
        .filter(each -> each.joined() && !each.id().equals(config.node()))
        .forEach(each -> member.know(new HostPort(each.host(), each.port())));
  }

  /** Finds a busy port before an engine does, whose error would be hard to read. */
  private void checkPorts() {
    String option = "--port " + config.port();
    checkPort(config.host(), config.port(), "applications", option);
    checkPort(config.host(), config.eventBusPort(), "the event bus", option);
    checkPort(config.host(), config.raftPort(), "Raft", option);
    checkPort(config.host(), config.hazelcastPort(), "Hazelcast", option);
    if (config.has("web") && config.httpPort() != 0) {
      checkPort(config.httpHost(), config.httpPort(), "HTTP", "--http-port " + config.httpPort());
    }
  }

  /**
   * @throws CommandFailure if nothing can listen there
   */
  private static void checkPort(String host, int port, String what, String option) {
    InetSocketAddress address = new InetSocketAddress(host, port);
    if (address.isUnresolved()) {
      throw CommandFailure.failed("unknown host '" + host + "': name an address of this machine");
    }
    try (ServerSocket socket = new ServerSocket()) {
      socket.setReuseAddress(true);
      socket.bind(address);
    } catch (IOException e) {
      throw CommandFailure.failed(
          "cannot listen at %s:%s for %s (%s): choose another than %s"
              .formatted(host, port, what, e.getMessage(), option),
          e);
    }
  }

  /** The node was stopped while it was starting. */
  private static final class Stopped extends Exception {
    private static final long serialVersionUID = 1L;

    Stopped() {
      super(null, null, false, false);
    }
  }

  private void begin() throws InterruptedException, Stopped {
    CompletableFuture<Void> names = new PeerNames(formed).await();
    end.whenComplete((ended, failure) -> names.complete(null));
    await(names);
    if (end.isDone()) {
      throw new Stopped();
    }
    NodeEngines engines = new NodeEngines();
    teardown.addBlocking("store", engines::close);
    CompletableFuture<NodeMeters> metersStart =
        Daemon.call("evenkeel-start-meters", () -> new NodeMeters(config, engines));
    CompletableFuture<ClusterMember> memberStart =
        clusterMember().toCompletionStage().toCompletableFuture();
    Membership membership =
        new Membership(
            config.node(), config.has("dispatcher"), memberStart.thenApply(ClusterMember::vertx));
    membership.zone(config.zone());
    membership.onNodes(now -> follow(memberStart.join(), now));
    membership.onHint(hint -> System.err.println("node " + config.node() + ": " + hint));
    if (!config.join().isEmpty()) {
      tellIfKeptOut(memberStart, membership);
    }
    CompletableFuture<BrokerNode> nodeStart =
        Daemon.call(
            "evenkeel-start-log",
            () -> BrokerNode.start(brokerSettings(), engines.logs(), engines.stores(), membership));
    // Each waits for its own start, so that whatever has started is also stopped.
    teardown.addTogether(
        "log",
        () -> closeIfStarted(nodeStart),
        "cluster",
        () -> Future.fromCompletionStage(memberStart).compose(ClusterMember::close));
    teardown.addBlocking("membership", membership::close);
    engines.logFailure().thenAccept(this::logEnded);
    ClusterMember member = await(memberStart);
    member.unfit().onSuccess(why -> end.completeExceptionally(new Unfit(why)));
    Vertx vertx = member.vertx();
    NodeMeters meters = await(metersStart);
    meters.offer(vertx);
    String users = config.users() == null ? null : config.users().toString();
    String oidc = config.oidc() == null ? null : config.oidc().toString();
    await(Access.of(vertx, config.node(), users, oidc).toCompletionStage());
    teardown.addBlocking("meters", meters::close);
    if (peerTls != null) {
      ServerTls watched = ServerTls.watch(vertx, "peer", peerTls);
      teardown.addBlocking("peer-tls", watched::close);
    }
    await(membership.start().toCompletionStage());
    deploy(vertx, nodeStart, member, membership, meters);
    awaitReady(vertx);
    membership.serve();
    runConsumers(vertx);
    guest.ready(vertx, config.has("web") ? web.actualPort() : null, teardown, end);
  }

  private void runConsumers(Vertx vertx) {
    NodeConsumers consumers =
        new NodeConsumers(
            LocalObjects.get(vertx, EvenkeelClient.class),
            NodeConsumers.configs(config.get(NodeOptions.CONSUMERS)));
    teardown.add("consumers", consumers::close);
    consumers.start();
  }

  /** The log does not go on. */
  private void logEnded(Throwable cause) {
    if (cause instanceof NodeRemovedException) {
      System.err.println("node " + config.node() + ": " + cause.getMessage());
      end.complete(null);
    } else {
      end.completeExceptionally(
          cause instanceof StartAgainException again
              ? new Unfit(again.getMessage())
              : CommandFailure.failed(
                  "the log has failed: " + CommandErrors.describe(cause), cause));
    }
  }

  private BrokerSettings brokerSettings() {
    List<LogSettings.Peer> peers =
        config.peers().stream()
            .map(
                peer ->
                    new LogSettings.Peer(
                        peer.id(), peer.host(), NodePorts.raft(peer.port()), config.host()))
            .toList();
    JsonObject json =
        config
            .values()
            .jsonOf(BrokerOptions.SETTINGS)
            .put("node", config.node())
            .put("data", config.data().toString())
            .put("tailBytesMax", memory.tailBytes());
    return BrokerSettings.of(
        new BrokerOptions(json),
        peers,
        HeapShares.ofThisProgram(),
        !config.join().isEmpty(),
        peerTls);
  }

  private Future<ClusterMember> clusterMember() {
    List<HostPort> peers = new ArrayList<>(config.join());
    if (formed.peers().size() > 1) {
      formed.peers().forEach(peer -> peers.add(new HostPort(peer.host(), peer.port())));
    }
    return ClusterMembers.node(
        new NodeSettings(
            config.host(),
            config.publicHost(),
            config.port(),
            peers,
            config.clusterName(),
            peerTls,
            spans == null ? null : spans.tracer(),
            new NodeAddresses(
                config.node(),
                Addresses.ofNode(config.node()),
                Addresses::nodeOf,
                Addresses.EVERY_NODE::contains)));
  }

  /** Says what to do if the nodes that are there take no connection of this one. */
  private void tellIfKeptOut(CompletableFuture<ClusterMember> member, Membership membership) {
    String seeds = config.join().stream().map(HostPort::toString).collect(Collectors.joining(", "));
    membership.seeds(seeds + " (--join)");
    CompletableFuture.delayedExecutor(KEPT_OUT_MILLIS, TimeUnit.MILLISECONDS)
        .execute(
            () -> {
              if (!member.isDone()) {
                String admit = ": let it in with 'evenkeel cluster admit " + config.node() + "'";
                String reason =
                    "the node at %s takes no connection of this one%s"
                        .formatted(seeds, peerTls == null ? "" : admit);
                membership.waitingFor(reason, true);
                member.whenComplete((joined, failure) -> membership.waitsNoMore(reason));
              }
            });
  }

  private static void closeIfStarted(CompletableFuture<BrokerNode> start) {
    BrokerNode node = start.exceptionally(notStarted -> null).join();
    if (node != null) {
      node.close();
    }
  }

  /**
   * Deploys the parts on the event bus. The client, the gateway and HTTP come first, so that a node
   * that waits for others can say so. HTTP stops last, to report that the node stops. Applications
   * can connect when there is a broker to answer them, and until all of the node's parts have
   * ended: they release shards and learn new leaders meanwhile.
   */
  private void deploy(
      Vertx vertx,
      CompletableFuture<BrokerNode> node,
      ClusterMember member,
      Membership membership,
      NodeMeters meters)
      throws InterruptedException, Stopped {
    LocalObjects.put(vertx, ClusterMember.class, member);
    LocalObjects.put(
        vertx, ClusterInSight.class, new ClusterInSight(member::dataMembers, () -> nodes));
    CompletableFuture<String> webId = undeployed(vertx, "web");
    CompletableFuture<String> sessionsId = undeployed(vertx, "sessions");
    CompletableFuture<String> brokerId = undeployed(vertx, "broker");
    CompletableFuture<String> dispatcherId = undeployed(vertx, "dispatcher");
    // The gateway stops before this step; clients of other nodes learn the new leaders meanwhile.
    teardown.add("leadership", membership::handOver);
    EvenkeelClient client = await(Evenkeel.with(vertx).toCompletionStage());
    LocalObjects.put(vertx, EvenkeelClient.class, client);
    teardown.add("client", client::close);
    CompletableFuture<String> gatewayId = undeployed(vertx, "gateway");
    GatewayVerticle gateway = new GatewayVerticle();
    meters.watch(vertx, gateway);
    deploy(vertx, gateway, new JsonObject(), gatewayId);
    if (config.has("web")) {
      JsonObject json =
          config
              .values()
              .jsonOf(WebOptions.SETTINGS)
              .put("host", config.httpHost())
              .put("node", config.node())
              .put(
                  "nodes", new JsonArray(formed.peers().stream().map(NodeConfig.Peer::id).toList()))
              .put("localOnly", true)
              .put("names", httpNames())
              .put("tls", config.tls() == null ? null : config.tls().toString())
              .put("bytesInFlightMax", memory.httpBytes());
      deploy(vertx, web, json, webId);
    }
    BrokerNode broker = await(node);
    member.voters(() -> broker.log().nodes().size());
    memory.log(broker.log().all().size());
    membership.attach(broker);
    deploy(vertx, new BrokerVerticle(node), new JsonObject(), brokerId);
    if (config.has("dispatcher")) {
      JsonObject json = config.values().jsonOf(DispatcherOptions.SETTINGS);
      // To plan for many members takes it a while: no other part should wait for that.
      dispatcherId.complete(
          await(
              loops.deployApart(vertx, new DispatcherVerticle(member), json).toCompletionStage()));
    }
    deploy(vertx, new SessionVerticle(), sessions(), sessionsId);
  }

  /**
   * The configured names, and the names that the node and its machine have anyway. No foreign page
   * can have one of those.
   */
  private JsonArray httpNames() {
    List<String> own = new ArrayList<>(List.of(config.publicHost()));
    try {
      own.add(InetAddress.getLocalHost().getHostName());
    } catch (UnknownHostException e) {
      // The name of the machine has no address, so nobody can use it.
    }
    own.removeIf(name -> !HostNames.isValid(name));
    own.addAll(config.httpNames());
    return new JsonArray(own);
  }

  private JsonObject sessions() {
    List<NodePlace> places =
        formed.peers().stream()
            .map(peer -> new NodePlace(peer.id(), peer.host(), NodePorts.client(peer.port())))
            .toList();
    return config
        .values()
        .jsonOf(SessionOptions.SETTINGS)
        .put("host", config.host())
        .put("port", NodePorts.client(config.port()))
        .put("node", config.node())
        .put("clusterName", config.clusterName())
        .put("nodes", RecordJson.json(places))
        .put("server", "evenkeel " + BuildVersion.number())
        .put("tls", config.tls() == null ? null : config.tls().toString())
        .put("nodeBytesInFlightMax", memory.clientBytes());
  }

  private void deploy(
      Vertx vertx, Deployable verticle, JsonObject json, CompletableFuture<String> id)
      throws InterruptedException, Stopped {
    id.complete(await(loops.deploy(vertx, verticle, json).toCompletionStage()));
  }

  /** Adds a step that undeploys a verticle; complete the result with its id once it is deployed. */
  private CompletableFuture<String> undeployed(Vertx vertx, String name) {
    CompletableFuture<String> id = new CompletableFuture<>();
    teardown.add(name, () -> id.isDone() ? vertx.undeploy(id.join()) : Future.succeededFuture());
    return id;
  }

  private void awaitReady(Vertx vertx) throws InterruptedException, Stopped {
    CompletableFuture<Void> ready = new CompletableFuture<>();
    askReady(vertx, ready);
    await(ready);
  }

  private void askReady(Vertx vertx, CompletableFuture<Void> ready) {
    DeliveryOptions options =
        new DeliveryOptions().setLocalOnly(true).setSendTimeout(READY_ANSWER_MILLIS_MAX);
    vertx
        .eventBus()
        .request(Operations.ASK_READY.address(), Operations.ASK_READY.ask(new AskReady()), options)
        .onSuccess(answer -> ready.complete(null))
        .onFailure(
            failure -> {
              if (!end.isDone()) {
                vertx.setTimer(READY_CHECK_MILLIS, timer -> askReady(vertx, ready));
              }
            });
  }

  /** Waits for a result, unless the node is stopped first. */
  private <T> T await(CompletionStage<T> stage) throws InterruptedException, Stopped {
    CompletableFuture<T> future = stage.toCompletableFuture();
    get(CompletableFuture.anyOf(future, end));
    if (!future.isDone()) {
      throw new Stopped();
    }
    return get(future);
  }

  /**
   * Waits for a result. A node that loses the cluster while it joins the event bus can start again,
   * so that failure becomes {@link Unfit}.
   */
  static <T> T get(CompletableFuture<T> future) throws InterruptedException {
    try {
      return future.get();
    } catch (ExecutionException e) {
      Throwable cause = e.getCause();
      if (cause instanceof Unfit unfit) {
        throw unfit;
      }
      if (ClusterMembers.lostSight(cause)) {
        throw new Unfit(
            "the cluster stopped answering while the node was starting (%s)"
                .formatted(cause.getClass().getSimpleName()));
      }
      throw CommandErrors.failure(cause);
    }
  }
}
