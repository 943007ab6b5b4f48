package dev.evenkeel.functional;

import static dev.evenkeel.Loops.each;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.PrometheusText;
import dev.evenkeel.TestCertificates;
import dev.evenkeel.Wait;
import dev.evenkeel.bus.frame.FrameKind;
import dev.evenkeel.protocol.wire.Mutants;
import dev.evenkeel.util.tls.TlsFiles;
import dev.evenkeel.util.tls.TlsIdentity;
import io.vertx.core.json.JsonObject;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * In a cluster with TLS and users, a user who may do everything with one topic does no harm to
 * another one, and strangers get nowhere.
 */
@Tag("full")
@Timeout(1_800)
class SecuredAbuseIT {
  private static final String HONEST = "honest";
  private static final String ABUSED = NodeLog.ABUSED;
  private static final int SHARDS = 3;
  private static final int BURST = 200;
  private static final int LONG_MILLIS = 60_000;
  private static final int SHORT_MILLIS = 2_000;
  private static final long LIVE_BYTES_MAX = 128 << 20;

  @TempDir static Path directory;
  private static SecuredTrio trio;
  private static HonestClient honest;

  @BeforeAll
  static void start() throws Exception {
    trio =
        new SecuredTrio(
            directory,
            List.of(
                "-Xmx256m",
                "-XX:+ExitOnOutOfMemoryError",
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC"));
    trio.user(HONEST, "produce:honest,consume:honest,group:honest");
    trio.user("bad", "produce:abused,consume:abused,group:bad*,view:abused,admin:abused");
    trio.start();
    trio.createTopic(HONEST, SHARDS);
    trio.createTopic(ABUSED, SHARDS);
    honest = new HonestClient(trio.options(HONEST), HONEST, HONEST);
  }

  @AfterEach
  void itServesOn() throws Exception {
    honest.awaitMore();
    for (Node node : trio.nodes) {
      Awaitility.await(node.url()).until(() -> trio.get(node, "/health/ready").statusCode() == 200);
      assertThat(Footprint.of(node.pid()).liveBytes()).isLessThan(LIVE_BYTES_MAX);
    }
    System.out.println(honest);
    NodeLog.assertNoError(trio.nodes);
  }

  /** The honest client's topic has its messages and no others, and all nodes have the same. */
  @AfterAll
  static void stop() throws Exception {
    try (SecuredTrio last = trio) {
      Set<String> acknowledged = honest.finish();
      Node node = last.nodes.get(0);
      JsonObject topic = new JsonObject(last.get(node, "/api/topics/" + HONEST).body());
      assertThat(topic.getLong("messages")).isEqualTo(acknowledged.size());
      Wait.until("all nodes are equally far", () -> Replicas.behind(cluster(node)).isEmpty());
      assertThat(Replicas.difference(cluster(node))).isEmpty();
      for (Node each : last.nodes) {
        String body = last.get(each, "/metrics").body();
        NodeLog.assertNoError(last.nodes);
        PrometheusText metrics = PrometheusText.parse(body);
        assertThat(metrics.sum("evenkeel_replica_divergence")).isZero();
      }
    }
  }

  private static JsonObject cluster(Node node) throws Exception {
    return new JsonObject(trio.get(node, "/api/cluster").body());
  }

  @Test
  @Tag("full")
  void mutantsCostRefusals() throws Exception {
    List<Door> doors = trio.nodes.stream().map(trio::client).toList();
    List<String> ids = trio.nodes.stream().map(Trio::id).toList();
    SessionRequests requests = new SessionRequests(ABUSED, trio.idOf(ABUSED), "bad", ids);
    Attacks all = new Attacks();
    int frames = Mutants.COUNT / 4;
    SessionAttack attack = new SessionAttack(doors, requests, trio.token("bad"), all.random());
    all.add(() -> attack.send(frames));
    Node node = trio.nodes.get(0);
    List<PortAttack> others = new ArrayList<>();
    others.add(
        new PortAttack(
            trio.http(node), PortBeginnings.http(ABUSED, "bad", trio.token("bad")), all.random()));
    byte[] hello = PortBeginnings.clientHello(trio.http(node).tls());
    for (int port : ports(node)) {
      others.add(new PortAttack(Door.plain(port), List.of(hello), all.random()));
    }
    all.add(
        () -> {
          each(others, each -> each.send(50 + Mutants.COUNT / 400));
        });
    all.run();
    System.out.println(attack);
    assertThat(attack.received(FrameKind.REFUSAL)).isGreaterThan(frames / 10);
    assertThat(attack.received(FrameKind.ANSWER)).isGreaterThan(frames / 20);
    assertThat(attack.received(FrameKind.GOODBYE)).isPositive();
  }

  /** Of applications, HTTP, the event bus, Raft and Hazelcast. */
  private static List<Integer> ports(Node node) {
    return List.of(node.port, node.httpPort, node.port + 1, node.port + 2, node.port + 3);
  }

  @Test
  void plainTextIsClosedAndLoggedOnceAMinute() throws Exception {
    Node node = trio.nodes.get(1);
    long linesBefore = NodeLog.lines(node, line -> true);
    byte[] request =
        "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".getBytes(StandardCharsets.US_ASCII);
    for (int port : ports(node)) {
      List<byte[]> beginnings =
          List.of(request, PortBeginnings.BUS_GIBIBYTES, PortBeginnings.HAZELCAST_GIBIBYTES);
      List<Socket> open = new ArrayList<>();
      for (int i = 0; i < BURST; i++) {
        Socket socket = Door.plain(port).open();
        socket.getOutputStream().write(beginnings.get(i % beginnings.size()));
        open.add(socket);
      }
      for (Socket each : open) {
        // Nothing but the alert that this is no TLS.
        assertThat(rest(each)).as("port %s", port).hasSizeLessThan(10);
      }
    }
    Instant started = node.process().process.info().startInstant().orElseThrow();
    long minutes = Duration.between(started, Instant.now()).toMinutes();
    for (String port : List.of("client", "http")) {
      assertThat(
              NodeLog.lines(
                  node,
                  line -> line.contains(port + ": a connection from 127.0.0.1 has not begun")))
          .isBetween(1L, 1 + minutes);
    }
    // The other ports log nothing. A busy machine makes the engines log something else.
    assertThat(NodeLog.lines(node, line -> true) - linesBefore).isLessThan(BURST / 4);
  }

  /** What comes until the node closes the connection. */
  private static byte[] rest(Socket socket) throws IOException {
    ByteArrayOutputStream rest = new ByteArrayOutputStream();
    try (socket) {
      socket.getInputStream().transferTo(rest);
    } catch (SocketTimeoutException e) {
      throw new AssertionError("a connection stays open", e);
    } catch (IOException e) {
      // It was closed with what was sent unread.
      return rest.toByteArray();
    }
    return rest.toByteArray();
  }

  @Test
  void onlyNodesOfTheClusterGetToThePortsBetweenNodes() throws Exception {
    Node node = trio.nodes.get(2);
    List<Path> wrong =
        List.of(
            trio.certificates.resolve("expired"),
            trio.certificates.resolve("stranger"),
            TestCertificates.FOREIGN.resolve("nodes/n2"),
            TestCertificates.OURS.resolve("clients"));
    for (int port : List.of(node.port + 1, node.port + 2, node.port + 3)) {
      for (Path each : wrong) {
        assertThat(staysOpen(port, each, LONG_MILLIS)).as("%s at %s", each, port).isFalse();
      }
      assertThat(staysOpen(port, null, LONG_MILLIS)).as("no certificate at %s", port).isFalse();
      // So the others were refused for their certificates.
      Path right = trio.certificates.resolve("n2");
      assertThat(staysOpen(port, right, SHORT_MILLIS)).as("%s", port).isTrue();
    }
  }

  /**
   * Whether the node keeps a connection after the handshake.
   *
   * @param certificate that the other side shows; null: none
   */
  private static boolean staysOpen(int port, Path certificate, int millis) throws Exception {
    SSLContext context = SSLContext.getInstance("TLS");
    // Whoever it is, it takes the node's certificate.
    Path ca = trio.certificates.resolve("n2").resolve("ca.crt");
    context.init(
        certificate == null
            ? null
            : new KeyManager[] {TlsIdentity.open(TlsFiles.in(certificate)).keyManager()},
        new TrustManager[] {TlsIdentity.open(TlsFiles.trusting(ca)).trustManager()},
        null);
    try (SSLSocket socket = (SSLSocket) new Door(port, context).open()) {
      SSLParameters parameters = socket.getSSLParameters();
      // gRPC closes a connection that does not name its protocol.
      parameters.setApplicationProtocols(new String[] {"h2"});
      socket.setSSLParameters(parameters);
      socket.startHandshake();
      socket.setSoTimeout(millis);
      // In TLS 1.3 the node looks at the certificate when the client's part has ended.
      return socket.getInputStream().read() >= 0;
    } catch (SocketTimeoutException e) {
      return true;
    } catch (IOException e) {
      return false;
    }
  }
}
