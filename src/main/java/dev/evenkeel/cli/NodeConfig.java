package dev.evenkeel.cli;

import dev.evenkeel.gateway.http.HostNames;
import dev.evenkeel.protocol.HostPort;
import dev.evenkeel.protocol.Names;
import dev.evenkeel.protocol.NodePorts;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.settings.Setting;
import dev.evenkeel.util.Nearest;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The settings of one node, checked against each other.
 *
 * @param peers every node of the cluster, including this one
 * @param values of all settings
 */
public record NodeConfig(
    String node, String publicHost, List<Peer> peers, Set<String> roles, NodeOptions values) {

  private static final List<String> ROLES = List.of("broker", "dispatcher", "web");

  /** Addresses that mean every interface. Nobody can connect to them. */
  private static final List<String> WILDCARDS = List.of("0.0.0.0", "::", "0:0:0:0:0:0:0:0");

  /** A node's id and its base port. */
  record Peer(String id, String host, int port) {}

  boolean has(String role) {
    return roles.contains(role);
  }

  /** The address at which the node listens for the cluster. */
  public String host() {
    return values.get(NodeOptions.HOST);
  }

  /** The lowest of the node's ports for the cluster, which is the client port. */
  public int port() {
    return values.get(NodeOptions.PORT);
  }

  int eventBusPort() {
    return NodePorts.eventBus(port());
  }

  int raftPort() {
    return NodePorts.raft(port());
  }

  int hazelcastPort() {
    return NodePorts.hazelcast(port());
  }

  public String httpHost() {
    return or(values.get(NodeOptions.HTTP_HOST), host());
  }

  int httpPort() {
    return values.get(NodeOptions.HTTP_PORT);
  }

  List<String> httpNames() {
    return values.get(NodeOptions.HTTP_NAMES);
  }

  public Path data() {
    return Path.of(values.get(NodeOptions.DATA)).toAbsolutePath().normalize();
  }

  /** The directory with the certificates for connections between nodes, or null. */
  Path peerTls() {
    return path(NodeOptions.PEER_TLS);
  }

  /** The directory with the certificate for applications and HTTP, or null. */
  Path tls() {
    return path(NodeOptions.TLS);
  }

  /** The file with users, or null. */
  Path users() {
    return path(NodeOptions.USERS);
  }

  /** The file with the identity provider whose tokens count, or null. */
  Path oidc() {
    return path(NodeOptions.OIDC);
  }

  private Path path(Setting<String> setting) {
    String directory = values.get(setting);
    return directory.isEmpty() ? null : Path.of(directory).toAbsolutePath().normalize();
  }

  /** Where nodes of a running cluster are that takes this node in; empty: it forms a new one. */
  List<HostPort> join() {
    return join(values.get(NodeOptions.JOIN));
  }

  /** What fails together with this node; empty: not known. */
  String zone() {
    return or(values.get(NodeOptions.ZONE), "");
  }

  /** The same with other nodes. */
  NodeConfig with(List<Peer> nodes) {
    return new NodeConfig(node, publicHost, nodes, roles, values);
  }

  String clusterName() {
    return values.get(NodeOptions.CLUSTER_NAME);
  }

  <T> T get(Setting<T> setting) {
    return values.get(setting);
  }

  /**
   * @param given from {@link ConfigReader#merge}
   * @throws CommandFailure wrong usage
   */
  public static NodeConfig of(NodeOptions given) {
    NodeOptions values = withPlainHosts(given);
    String host = values.get(NodeOptions.HOST);
    int port = values.get(NodeOptions.PORT);
    List<Peer> peers = peers(values.get(NodeOptions.PEERS));
    List<HostPort> join = join(values.get(NodeOptions.JOIN));
    if (!join.isEmpty() && !peers.isEmpty()) {
      // The same settings for all nodes: those that are listed form the cluster, others join it.
      String own = or(given.get(NodeOptions.NODE), "");
      boolean listed = peers.stream().anyMatch(peer -> peer.id().equals(own));
      values.put(listed ? NodeOptions.JOIN : NodeOptions.PEERS, List.of());
      peers = peers(values.get(NodeOptions.PEERS));
      join = join(values.get(NodeOptions.JOIN));
    }
    CommandFailure.refuseIf(
        !join.isEmpty() && or(values.get(NodeOptions.NODE), "").isEmpty(),
        "with --join name this node, by an id that no other node has: --node n2");
    checkZone(values.get(NodeOptions.ZONE));
    String node = nodeId(values.get(NodeOptions.NODE), peers);
    if (!peers.isEmpty()) {
      checkSelf(node, port, peers);
    }
    String publicHost = publicHost(values, host, node, peers);
    if (peers.isEmpty()) {
      peers = List.of(new Peer(node, publicHost, port));
    }
    Set<String> roles = roles(values.get(NodeOptions.ROLES));
    CommandFailure.refuseIf(
        peers.size() == 1 && join.isEmpty() && !roles.contains("dispatcher"),
        "--roles: a lone node needs the role dispatcher: nobody else could do its work");
    NodeConfig config = new NodeConfig(node, publicHost, peers, roles, values);
    OptionFormats.of("--http-names", () -> new HostNames(config.httpNames()));
    if (!values.get(NodeOptions.INSECURE)) {
      config.checkSecure();
    }
    NodeConsumers.configs(values.get(NodeOptions.CONSUMERS));
    int last = port + NodePorts.COUNT - 1;
    CommandFailure.refuseIf(
        config.httpPort() >= port && config.httpPort() <= last,
        "--http-port %s is one of the node's own ports %s to %s: choose another"
            .formatted(config.httpPort(), port, last));
    return config;
  }

  /** Refuses to let other machines reach a node that cannot tell who they are. */
  private void checkSecure() {
    boolean ports = !HostPort.isLoopback(host());
    boolean http = has("web") && !HostPort.isLoopback(httpHost());
    List<String> missing = new ArrayList<>();
    if ((ports || http) && tls() == null) {
      missing.add("--tls DIR");
    }
    if (ports && peerTls() == null) {
      missing.add("--peer-tls DIR");
    }
    if ((ports || http) && users() == null && oidc() == null) {
      missing.add("--users FILE");
    }
    CommandFailure.refuseIf(
        !missing.isEmpty(),
        ("other machines can reach %s, and nothing says who they are. Either give %s: 'evenkeel"
                + " certs dev' makes certificates, 'evenkeel user add' users, and --oidc takes those"
                + " of an identity provider. Or say --insecure, and everybody who reaches a port may do everything")
            .formatted(ports ? host() : httpHost(), String.join(", ", missing)));
  }

  private static String nodeId(String given, List<Peer> peers) {
    if (given == null || given.isEmpty()) {
      if (!peers.isEmpty()) {
        throw CommandFailure.usage("with --peers name this node: --node " + peers.get(0).id());
      }
      return "n1";
    }
    return OptionFormats.of("--node", () -> Names.check("node", given));
  }

  private static void checkSelf(String node, int port, List<Peer> peers) {
    for (Peer peer : peers) {
      if (peer.id().equals(node)) {
        CommandFailure.refuseIf(
            peer.port() != port,
            "--port is %s, but --peers says %s for node %s: make them agree"
                .formatted(port, peer.port(), node));
        return;
      }
    }
    throw CommandFailure.usage(
        "node '%s' is not among the peers %s: list every node in --peers, this one too"
            .formatted(node, String.join(", ", peers.stream().map(Peer::id).toList())));
  }

  /**
   * The address that others get: the given one, else the one in the list of nodes, else the host.
   */
  private static String publicHost(NodeOptions values, String host, String node, List<Peer> peers) {
    String listed =
        peers.stream()
            .filter(peer -> peer.id().equals(node))
            .map(Peer::host)
            .findFirst()
            .orElse("");
    String publicHost = or(values.get(NodeOptions.PUBLIC_HOST), or(listed, host));
    CommandFailure.refuseIf(
        WILDCARDS.contains(publicHost),
        String.format(
            "with --host %s say at which address others reach this node: --public-host, or its"
                + " place in --peers",
            host));
    return publicHost;
  }

  private static Set<String> roles(List<String> given) {
    Set<String> roles = new HashSet<>();
    for (String role : given) {
      CommandFailure.refuseIf(
          !ROLES.contains(role),
          "--roles: unknown role '%s'%s (roles are broker, dispatcher, web)"
              .formatted(role, Nearest.hint(role, ROLES)));
      roles.add(role);
    }
    CommandFailure.refuseIf(
        !roles.contains("broker"),
        "--roles: a node needs the role broker (a dispatcher or web role works beside one)");
    return Set.copyOf(roles);
  }

  private static void checkZone(String zone) {
    if (zone != null && !zone.isEmpty()) {
      OptionFormats.of("--zone", () -> Names.check("zone", zone));
    }
  }

  /** Without the brackets of IPv6 addresses: hosts are without ports here. */
  private static NodeOptions withPlainHosts(NodeOptions given) {
    NodeOptions values = new NodeOptions(given);
    for (Setting<String> setting :
        List.of(NodeOptions.HOST, NodeOptions.PUBLIC_HOST, NodeOptions.HTTP_HOST)) {
      String host = OptionFormats.of(setting.option(), () -> HostPort.host(given.get(setting)));
      values.put(setting, host);
    }
    return values;
  }

  private static List<HostPort> join(List<String> given) {
    return OptionFormats.of("--join", () -> given.stream().map(HostPort::parse).toList());
  }

  private static List<Peer> peers(List<String> given) {
    List<Peer> peers = new ArrayList<>();
    Set<String> ids = new HashSet<>();
    for (String text : given) {
      Peer peer = peer(text);
      CommandFailure.refuseIf(
          !ids.add(peer.id()), "--peers: node '" + peer.id() + "' is there twice");
      peers.add(peer);
    }
    return List.copyOf(peers);
  }

  private static Peer peer(String text) {
    int at = text.indexOf('@');
    return OptionFormats.of(
        "--peers: '" + text + "' is not ID@HOST:PORT",
        () -> {
          if (at < 1) {
            throw Refusal.INVALID.error("the id is missing, as in n1@10.0.0.1:5701");
          }
          HostPort address = HostPort.parse(text.substring(at + 1));
          NodeOptions.PORT.parse(address.port());
          String id = Names.check("node", text.substring(0, at));
          return new Peer(id, address.host(), address.port());
        });
  }

  private static String or(String text, String otherwise) {
    return text == null || text.isEmpty() ? otherwise : text;
  }
}
