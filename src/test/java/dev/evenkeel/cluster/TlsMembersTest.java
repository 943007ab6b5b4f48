package dev.evenkeel.cluster;

import static dev.evenkeel.cluster.ClusterMembersTest.result;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.hazelcast.config.Config;
import dev.evenkeel.TestCertificates;
import dev.evenkeel.TestPorts;
import dev.evenkeel.Wait;
import dev.evenkeel.protocol.HostPort;
import dev.evenkeel.util.tls.TlsFiles;
import dev.evenkeel.util.tls.TlsIdentity;
import io.vertx.core.Future;
import io.vertx.core.VertxOptions;
import io.vertx.core.buffer.Buffer;
import java.io.IOException;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Nodes with certificates share maps and the event bus, and nobody else gets to either. */
class TlsMembersTest {
  private static final Duration LONG = Duration.ofSeconds(60);
  private static final Path APPLICATIONS = TestCertificates.OURS.resolve("clients");

  private final int first = TestPorts.take(4);
  private final int second = TestPorts.take(4);
  private final List<ClusterMember> members = new ArrayList<>();

  @TempDir private Path directory;

  @AfterEach
  void close() {
    members.forEach(member -> result(member.close()));
  }

  private static TlsIdentity identity(Path files) throws Exception {
    return TlsIdentity.open(TlsFiles.in(files));
  }

  private static Path node(String id) {
    return TestCertificates.OURS.resolve("nodes").resolve(id);
  }

  private Future<ClusterMember> start(int port, TlsIdentity identity) {
    List<HostPort> peers =
        List.of(new HostPort("127.0.0.1", first), new HostPort("127.0.0.1", second));
    return ClusterMembers.node(
        new NodeSettings(
            "127.0.0.1", "127.0.0.1", port, peers, "tls-pair", identity, null, NodeAddresses.NONE));
  }

  private void startBoth(TlsIdentity one, TlsIdentity two) {
    Future<ClusterMember> starting = start(first, one);
    Future<ClusterMember> other = start(second, two);
    members.add(result(starting));
    members.add(result(other));
    members.forEach(member -> Wait.until(() -> member.dataMembers() == 2));
  }

  private Buffer ask() {
    return (Buffer)
        result(members.get(1).vertx().eventBus().request("echo", Buffer.buffer("hello"))).body();
  }

  @Test
  void nodesTalkAndStrangersDoNot() throws Exception {
    startBoth(identity(node("n1")), identity(node("n2")));
    result(
        members
            .get(0)
            .vertx()
            .eventBus()
            .consumer("echo", message -> message.reply(message.body()))
            .completion());
    assertThat(ask().toString()).isEqualTo("hello");
    int bus = first + 1;
    try (Socket plain = new Socket("127.0.0.1", bus)) {
      plain.setSoTimeout((int) LONG.toMillis());
      // A frame of 2 GiB.
      plain.getOutputStream().write(new byte[] {0x7f, -1, -1, -1, 1, 0, 0, 0});
      // Nothing but the alert that this is no TLS.
      assertThat(plain.getInputStream().readAllBytes()).hasSizeLessThan(10);
    }
    for (TlsIdentity stranger :
        List.of(
            TlsIdentity.open(TlsFiles.trusting(node("n1").resolve("ca.crt"))),
            identity(TestCertificates.FOREIGN.resolve("nodes/n1")),
            identity(APPLICATIONS))) {
      assertThatThrownBy(() -> handshake(stranger, bus)).isInstanceOf(IOException.class);
    }
    // Who has a node's certificate gets in, so the others were refused for theirs.
    handshake(identity(node("n3")), bus);
    assertThat(ask().toString()).isEqualTo("hello");
  }

  @Test
  void anApplicationWithACertificateOfTheNodesAuthorityJoinsTheBus() throws Exception {
    startBoth(identity(node("n1")), identity(node("n2")));
    result(
        members
            .get(0)
            .vertx()
            .eventBus()
            .consumer("echo", message -> message.reply(message.body()))
            .completion());
    Config config =
        TestHazelcast.lite(
            "tls-pair", "127.0.0.1", new HostPort("127.0.0.1", first).hazelcast().toString());
    VertxOptions options = new VertxOptions();
    options.getEventBusOptions().setHost("127.0.0.1");
    SecuredBus bus = result(SecuredBus.join(node("n3"), config, options));
    Object answer = result(bus.vertx().eventBus().request("echo", Buffer.buffer("hi"))).body();
    assertThat(answer).hasToString("hi");
    result(bus.close());
    Wait.until(() -> members.get(0).members().size() == 2);
  }

  /** Also waits for what comes after the handshake: in TLS 1.3 the client's part ends earlier. */
  private static void handshake(TlsIdentity client, int port) throws IOException {
    try (SSLSocket socket =
        (SSLSocket) client.context().getSocketFactory().createSocket("127.0.0.1", port)) {
      socket.setSoTimeout(1_000);
      socket.startHandshake();
      try {
        if (socket.getInputStream().read() < 0) {
          throw new IOException("closed");
        }
      } catch (java.net.SocketTimeoutException e) {
        // It is open.
      }
    }
  }

  @Test
  void newCertificatesCountWithoutARestart() throws Exception {
    copy(node("n1"), directory);
    TlsIdentity changing = identity(directory);
    startBoth(changing, identity(node("n2")));
    copy(TestCertificates.FOREIGN.resolve("nodes/n1"), directory);
    assertThat(changing.look()).isTrue();
    Wait.untilAsserted(
        () ->
            assertThatThrownBy(() -> handshake(identity(node("n3")), first + 1))
                .isInstanceOf(IOException.class));
    handshake(identity(TestCertificates.FOREIGN.resolve("nodes/n3")), first + 1);
  }

  private static void copy(Path from, Path to) throws IOException {
    for (String name : new String[] {"tls.crt", "tls.key", "ca.crt"}) {
      Files.copy(from.resolve(name), to.resolve(name), StandardCopyOption.REPLACE_EXISTING);
    }
  }
}
