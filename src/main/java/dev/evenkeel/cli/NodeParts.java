package dev.evenkeel.cli;

import dev.evenkeel.Evenkeel;
import dev.evenkeel.broker.BrokerVerticle;
import dev.evenkeel.broker.member.Membership;
import dev.evenkeel.broker.node.BrokerNode;
import dev.evenkeel.broker.node.BrokerSettings;
import dev.evenkeel.bus.LocalObjects;
import dev.evenkeel.client.EvenkeelClient;
import dev.evenkeel.cluster.ClusterMember;
import dev.evenkeel.cluster.ClusterMembers;
import dev.evenkeel.cluster.HostPort;
import dev.evenkeel.cluster.NodeSettings;
import dev.evenkeel.dispatcher.DispatcherVerticle;
import dev.evenkeel.gateway.GatewayVerticle;
import dev.evenkeel.gateway.http.WebVerticle;
import dev.evenkeel.log.LogSettings;
import dev.evenkeel.log.PeerLine;
import io.vertx.core.Deployable;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** How each part of a node is made from its configuration. */
final class NodeParts {
  private final NodeConfig config;

  NodeParts(NodeConfig config) {
    this.config = config;
  }

  /** Opens logs and state on a thread of its own. */
  CompletableFuture<BrokerNode> brokerNode(NodeEngines engines, PeerLine line) {
    BrokerSettings settings =
        new BrokerSettings(
            config.node(),
            config.data(),
            config.peers().stream()
                .map(
                    peer ->
                        new LogSettings.Peer(
                            peer.id(), peer.host(), peer.port() + 2, config.host()))
                .toList(),
            (int) config.number(NodeSetting.DATA_GROUPS),
            config.number(NodeSetting.SNAPSHOT_EVERY_ENTRIES),
            config.number(NodeSetting.SNAPSHOT_EVERY_BYTES),
            config.number(NodeSetting.SEGMENT_BYTES),
            config.number(NodeSetting.TAIL_CACHE_BYTES),
            config.number(NodeSetting.DISK_FREE_MIN_BYTES),
            System::currentTimeMillis,
            null);
    return Daemon.call(
        "evenkeel-start-log",
        () -> BrokerNode.start(settings, engines.logs(), engines.stores(), line));
  }

  /** The node's place among the others. */
  Membership membership(CompletableFuture<Vertx> bus) {
    return new Membership(config.node(), config.has("dispatcher"), bus);
  }

  Future<ClusterMember> clusterMember() {
    List<HostPort> peers =
        config.peers().size() == 1
            ? List.of()
            : config.peers().stream().map(peer -> new HostPort(peer.host(), peer.port())).toList();
    return ClusterMembers.node(
        new NodeSettings(
            config.host(), config.publicHost(), config.port(), peers, config.clusterName()));
  }

  /** A client of the cluster for the node's own gateway. */
  static Future<EvenkeelClient> client(Vertx vertx) {
    return Evenkeel.with(vertx)
        .onSuccess(client -> LocalObjects.put(vertx, EvenkeelClient.class, client));
  }

  Future<String> broker(Vertx vertx, CompletableFuture<BrokerNode> node) {
    return deploy(vertx, new BrokerVerticle(node), new JsonObject());
  }

  Future<String> dispatcher(Vertx vertx, ClusterMember member) {
    JsonObject json =
        new JsonObject()
            .put("memberTimeoutMillis", config.number(NodeSetting.MEMBER_TIMEOUT))
            .put("rebalanceMillis", config.number(NodeSetting.REBALANCE_INTERVAL))
            .put("joinQuietMillis", config.number(NodeSetting.JOIN_QUIET))
            .put("joinWaitMillisMax", config.number(NodeSetting.JOIN_WAIT_MAX));
    return deploy(vertx, new DispatcherVerticle(member), json);
  }

  Future<String> gateway(Vertx vertx, NodeMeters meters) {
    GatewayVerticle gateway = new GatewayVerticle();
    meters.watch(vertx, gateway);
    return deploy(vertx, gateway, new JsonObject());
  }

  /** Made on a thread of its own: it takes a moment. */
  CompletableFuture<NodeMeters> meters(NodeEngines engines) {
    return Daemon.call("evenkeel-start-meters", () -> new NodeMeters(config, engines));
  }

  Future<String> web(Vertx vertx, WebVerticle web) {
    JsonObject json =
        new JsonObject()
            .put("host", config.httpHost())
            .put("port", config.httpPort())
            .put("node", config.node())
            .put("localOnly", true);
    return deploy(vertx, web, json);
  }

  private static Future<String> deploy(Vertx vertx, Deployable verticle, JsonObject json) {
    return vertx.deployVerticle(verticle, new DeploymentOptions().setConfig(json));
  }
}
