package dev.evenkeel.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.evenkeel.Fails;
import dev.evenkeel.broker.node.BrokerOptions;
import dev.evenkeel.protocol.HostPort;
import dev.evenkeel.settings.Setting;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

class ConfigTest {
  private static Map<String, Object> yaml(String text) {
    return ConfigReader.parse(new StringReader(text), "x.yaml");
  }

  private static NodeOptions merge(
      String yaml, Map<String, String> environment, Map<String, String> commandLine) {
    return ConfigReader.merge(yaml(yaml), "x.yaml", environment, commandLine);
  }

  private static NodeConfig config(String yaml) {
    return NodeConfig.of(merge(yaml, Map.of(), Map.of()));
  }

  @Test
  void defaultsMakeALoneNode() {
    NodeConfig config = config("");
    assertThat(config.node()).isEqualTo("n1");
    assertThat(config.peers()).containsExactly(new NodeConfig.Peer("n1", "127.0.0.1", 5701));
    assertThat(config.roles()).containsExactlyInAnyOrder("broker", "dispatcher", "web");
    assertThat(config.httpHost()).isEqualTo("127.0.0.1");
    assertThat(config.values().jsonOf(BrokerOptions.SETTINGS).getLong("diskFreeBytesMin"))
        .isEqualTo(256L << 20);
    assertThat(config.raftPort()).isEqualTo(5703);
    assertThat(config.hazelcastPort()).isEqualTo(5704);
  }

  @Test
  void aNodeThatPeersDoesNotNameJoins() {
    String all = "peers: [n1@h1:5701, n2@h2:5701]\njoin: ['h1:5701']\ninsecure: true\n";
    NodeConfig listed = config(all + "node: n2");
    assertThat(listed.peers()).hasSize(2);
    assertThat(listed.join()).isEmpty();
    NodeConfig other = config(all + "node: n3\npublic-host: h3");
    assertThat(other.peers()).containsExactly(new NodeConfig.Peer("n3", "h3", 5701));
    assertThat(other.join()).hasSize(1);
    assertThatThrownBy(() -> config(all)).hasMessageContaining("--node");
  }

  @Test
  void laterSourcesWin() {
    String file = "port: 6000\nhttp-port: 6100\ndata: /a\n";
    var environment = Map.of("EVENKEEL_HTTP_PORT", "6200", "EVENKEEL_DATA", "/b", "HOME", "/root");
    NodeOptions values = merge(file, environment, Map.of("data", "/c"));
    assertThat(values.get(NodeOptions.PORT)).isEqualTo(6000);
    assertThat(values.get(NodeOptions.HTTP_PORT)).isEqualTo(6200);
    assertThat(values.get(NodeOptions.DATA)).isEqualTo("/c");
  }

  @Test
  void nestedKeysOfTheFileAreNamesWithHyphens() {
    assertThat(config("insecure: true\nhttp: {port: 9000, host: 0.0.0.0}").httpPort())
        .isEqualTo(9000);
  }

  @Test
  void unknownKeysNameTheNearest() {
    assertThatThrownBy(() -> merge("htp-port: 1", Map.of(), Map.of()))
        .hasMessage("x.yaml: unknown key 'htp-port': did you mean 'http-port'?");
    assertThatThrownBy(() -> merge("", Map.of("EVENKEEL_PROT", "1"), Map.of()))
        .hasMessage("environment: unknown key 'EVENKEEL_PROT': did you mean 'EVENKEEL_PORT'?");
  }

  @Test
  void wrongValuesNameKeyValueAndWhatIsRight() {
    assertThatThrownBy(() -> merge("port: many", Map.of(), Map.of()))
        .hasMessage("x.yaml: port is 'many': write a whole number from 1 to 65532");
    assertThatThrownBy(() -> merge("", Map.of("EVENKEEL_HTTP_PORT", "70000"), Map.of()))
        .hasMessage(
            "environment EVENKEEL_HTTP_PORT: http-port is '70000': write a whole number from 0 to"
                + " 65535");
    assertThatThrownBy(() -> merge("", Map.of(), Map.of("segment-bytes", "1KB")))
        .hasMessageContaining("command line: segment-bytes is '1KB'")
        .hasMessageContaining("64KiB")
        .hasMessageContaining("from 1MiB to 1")
        .satisfies(e -> assertThat(((CommandFailure) e).exitStatus()).isEqualTo(2));
    assertThatThrownBy(() -> merge("segment-bytes: 65536", Map.of(), Map.of()))
        .hasMessageContaining("x.yaml: segment-bytes is '65536': it must be from 1MiB to 1");
    Fails.saying(() -> merge("port: [1, 2]", Map.of(), Map.of()), "port is '[1, 2]'");
  }

  private static final String CONSUMERS =
      "consumers:\n- {group: billing, topics: [orders], address: billing.handle, order: key}\n";

  @Test
  void consumersAreObjectsInTheFileAndJsonElsewhere() {
    List<JsonObject> right =
        List.of(
            new JsonObject()
                .put("group", "billing")
                .put("topics", new JsonArray().add("orders"))
                .put("address", "billing.handle")
                .put("order", "key"));
    assertThat(config(CONSUMERS).get(NodeOptions.CONSUMERS)).isEqualTo(right);
    String json = new JsonArray(right).encode();
    for (NodeOptions each :
        List.of(
            merge("", Map.of("EVENKEEL_CONSUMERS", json), Map.of()),
            merge("", Map.of(), Map.of("consumers", json)))) {
      assertThat(each.get(NodeOptions.CONSUMERS)).isEqualTo(right);
    }
    assertThat(config("consumers: []").get(NodeOptions.CONSUMERS)).isEmpty();
    assertThat(merge(CONSUMERS, Map.of(), Map.of("consumers", "")).get(NodeOptions.CONSUMERS))
        .isEmpty();
  }

  @Test
  void aWrongConsumerIsNamedWithItsEntry() {
    for (String each : List.of("consumers: {group: g}", "consumers: 3", "consumers: [a]")) {
      Fails.saying(() -> merge(each, Map.of(), Map.of()), "write a list of objects");
    }
    refused(CONSUMERS + "- {group: g, topics: [t]}", "entry 2: name an 'address'");
    refused(CONSUMERS + "- {group: g, topics: [t], adress: a}", "did you mean 'address'?");
    refused(CONSUMERS + "- {group: g, topics: [t], handler: a.B}", "no handler classes");
    refused(CONSUMERS + "- {group: g, address: a}", "at least one topic");
    refused(CONSUMERS + "- {topics: [t], address: a}", "a group needs a name");
    refused(CONSUMERS + "- {group: g, topics: [t], address: evenkeel.view}", "reserved");
    refused(CONSUMERS + "- {group: g, topics: t, address: a}", "topics is t");
    refused(
        CONSUMERS + "- {group: g, topics: [t], address: a, mode: broadcast}", "needs a directory");
    refused(
        CONSUMERS + "- {group: g, topics: [t], address: a, delivery: effectively_once}",
        "must publish");
    String named = "- {group: g, topics: [t], address: a, member: m}\n";
    refused("consumers:\n" + named + named, "has the member 'm' already");
  }

  private static void refused(String yaml, String text) {
    assertThatThrownBy(() -> config(yaml))
        .hasMessageContaining("consumers, entry 2: ")
        .hasMessageContaining(text)
        .satisfies(e -> assertThat(((CommandFailure) e).exitStatus()).isEqualTo(2));
  }

  @Test
  void whatKubernetesSetsForAServiceIsNotOurs() {
    Map<String, String> links =
        Map.of(
            "EVENKEEL_SERVICE_HOST", "10.0.0.1",
            "EVENKEEL_SERVICE_PORT", "5701",
            "EVENKEEL_PORT", "tcp://10.0.0.1:5701",
            "EVENKEEL_PORT_5701_TCP_ADDR", "10.0.0.1",
            "EVENKEEL_CONF", "x.yaml",
            "EVENKEEL_CA", "ca.crt",
            "EVENKEEL_TOKEN_FILE", "token");
    assertThat(merge("", links, Map.of())).isEqualTo(new NodeOptions());
  }

  @Test
  void peersAreCheckedAsAWhole() {
    assertThat(config("node: b\nport: 5801\npeers: [a@h1:5701, b@h2:5801]").peers()).hasSize(2);
    assertThatThrownBy(() -> config("peers: a@h1:5701"))
        .hasMessage("with --peers name this node: --node a");
    assertThatThrownBy(() -> config("node: c\npeers: a@h1:5701")).hasMessageContaining("not among");
    Fails.saying(() -> config("node: a\nport: 1\npeers: a@h1:5701"), "--peers says 5701");
    assertThatThrownBy(() -> config("node: a\npeers: a@h1")).hasMessageContaining("ID@HOST:PORT");
    assertThatThrownBy(() -> config("node: a\npeers: a@h:1,a@h:2")).hasMessageContaining("twice");
  }

  @Test
  void ipv6AddressesAreWrittenInBracketsWhereAPortFollows() {
    NodeConfig config =
        config("node: a\nhost: '[::1]'\nhttp-host: ::1\npeers: ['a@[::1]:5701', 'b@[::1]:5801']");
    assertThat(config.peers())
        .containsExactly(
            new NodeConfig.Peer("a", "::1", 5701), new NodeConfig.Peer("b", "::1", 5801));
    assertThat(List.of(config.host(), config.publicHost(), config.httpHost())).containsOnly("::1");
    assertThat(config("node: a\njoin: ['[::1]:5701']").join())
        .containsExactly(new HostPort("::1", 5701));
    assertThatThrownBy(() -> config("node: a\npeers: ['a@::1:5701']"))
        .isInstanceOf(CommandFailure.class)
        .hasMessageContaining("--peers: 'a@::1:5701' is not ID@HOST:PORT")
        .hasMessageContaining("in brackets, such as [::1]:5701");
    assertThatThrownBy(() -> config("node: a\njoin: ['::1:5701']"))
        .hasMessageContaining("--join: bad address '::1:5701'")
        .hasMessageContaining("in brackets");
    assertThatThrownBy(() -> config("host: '::zz'"))
        .hasMessageContaining("--host: bad address '::zz': this is no IPv6 address");
  }

  @Test
  void othersAreToldTheNameInTheListOfNodes() {
    var named = "insecure: true\nnode: a\nhost: 0.0.0.0\npeers: [a@a.nodes:5701, b@b.nodes:5701]";
    assertThat(config(named).publicHost()).isEqualTo("a.nodes");
    assertThat(config(named).host()).isEqualTo("0.0.0.0");
    assertThat(config(named + "\npublic-host: other").publicHost()).isEqualTo("other");
    assertThat(config("insecure: true\nhost: 10.0.0.1").publicHost()).isEqualTo("10.0.0.1");
    Fails.saying(() -> config("insecure: true\nhost: 0.0.0.0"), "--public-host", "--peers");
    assertThat(config("insecure: true\nhost: 0.0.0.0\npublic-host: here").peers())
        .containsExactly(new NodeConfig.Peer("n1", "here", 5701));
  }

  @Test
  void otherMachinesNeedTlsAndUsers() {
    String secured = "tls: certs\nusers: users.json\n";
    for (String host : List.of("127.0.0.1", "127.0.0.9", "localhost", "'::1'")) {
      assertThat(config("host: " + host).get(NodeOptions.INSECURE)).isFalse();
    }
    assertThatThrownBy(() -> config("host: 10.0.0.1"))
        .isInstanceOf(CommandFailure.class)
        .hasMessageContaining("other machines can reach 10.0.0.1")
        .hasMessageContaining("--tls DIR, --peer-tls DIR, --users FILE")
        .hasMessageContaining("--insecure");
    Fails.saying(() -> config(secured + "host: 10.0.0.1"), "give --peer-tls DIR:");
    Fails.saying(() -> config("http-host: 0.0.0.0"), "give --tls DIR, --users FILE:");
    assertThat(config(secured + "http-host: 0.0.0.0").httpHost()).isEqualTo("0.0.0.0");
    assertThat(config(secured + "peer-tls: node\nhost: 10.0.0.1").host()).isEqualTo("10.0.0.1");
    assertThat(config("http-host: 0.0.0.0\nroles: [broker, dispatcher]").has("web")).isFalse();
  }

  @Test
  void namesForHttpAreHostNames() {
    assertThat(config("").httpNames()).isEmpty();
    assertThat(config("http-names: [queue.example.com, queue]").httpNames())
        .containsExactly("queue.example.com", "queue");
    assertThatThrownBy(() -> config("http: {names: 'http://queue'}"))
        .hasMessageContaining("--http-names: 'http://queue' is not a host name")
        .satisfies(e -> assertThat(((CommandFailure) e).exitStatus()).isEqualTo(2));
  }

  @Test
  void portsAndRolesMustFitTogether() {
    assertThatThrownBy(() -> config("http-port: 5704")).hasMessageContaining("choose another");
    Fails.saying(() -> config("roles: broker,dispatchr"), "did you mean 'dispatcher'?");
    assertThatThrownBy(() -> config("roles: web")).hasMessageContaining("needs the role broker");
  }

  @Test
  void brokenFilesAreOneLine() {
    assertThatThrownBy(() -> yaml("a: [1")).hasMessageStartingWith("x.yaml line 1: not YAML");
    assertThatThrownBy(() -> yaml("- a")).hasMessageContaining("key: value");
    assertThatThrownBy(() -> yaml("port: 1\nport: 2")).hasMessageStartingWith("x.yaml line");
    Fails.with(RuntimeException.class, () -> yaml("a: !!java.net.URL [http://x]"));
    assertThatThrownBy(() -> ConfigReader.read(Path.of("no/such.yaml")))
        .hasMessage("--conf no/such.yaml: there is no such file");
  }

  @Test
  void theFileInConfSaysWhatTheProgramDoes() throws Exception {
    List<String> lines = Files.readAllLines(Path.of("conf/evenkeel.yaml"));
    assertThat(lines).allMatch(line -> line.isBlank() || line.startsWith("#"));
    Pattern setting = Pattern.compile("# ([a-z-]+: .*|[a-z-]+:)");
    StringBuilder settings = new StringBuilder();
    for (String line : lines) {
      Matcher matcher = setting.matcher(line);
      if (matcher.matches()
          && NodeOptions.SETTINGS.byKey().containsKey(line.substring(2, line.indexOf(':')))) {
        settings.append(matcher.group(1)).append('\n');
      }
    }
    Map<String, Object> written = yaml(settings.toString());
    assertThat(written.keySet()).containsExactlyElementsOf(NodeOptions.SETTINGS.byKey().keySet());
    assertThat(NodeConfig.of(ConfigReader.merge(written, "conf", Map.of(), Map.of())))
        .isEqualTo(config(""));
    for (Setting<?> each : NodeOptions.SETTINGS.all()) {
      if (!each.usualText().isEmpty()) {
        assertThat(each.parse(written.get(each.key()))).isEqualTo(each.usual());
      }
    }
  }
}
