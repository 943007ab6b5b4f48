package dev.evenkeel.cluster;

import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.hazelcast.config.Config;
import com.hazelcast.config.TcpIpConfig;
import com.hazelcast.core.Hazelcast;
import com.hazelcast.core.HazelcastInstance;
import com.hazelcast.instance.BuildInfoProvider;
import com.hazelcast.map.IMap;
import dev.evenkeel.Fails;
import dev.evenkeel.TestCertificates;
import dev.evenkeel.TestPorts;
import dev.evenkeel.Wait;
import dev.evenkeel.util.tls.TlsFiles;
import dev.evenkeel.util.tls.TlsIdentity;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class TlsInstanceTest {
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private final int port = TestPorts.take(3);
  private final List<HazelcastInstance> members = new ArrayList<>();

  @AfterEach
  void terminate() {
    members.forEach(member -> member.getLifecycleService().terminate());
  }

  /**
   * @param joinSeconds how long it tries to join: short for those that cannot
   */
  private Config config(int at, int joinSeconds) {
    Config config = HazelcastConfigs.common("tls", "127.0.0.1");
    HazelcastConfigs.socket(config).setPort(port + at);
    TcpIpConfig join = config.getAdvancedNetworkConfig().getJoin().getTcpIpConfig();
    join.setMembers(List.of());
    times(3, i -> join.addMember("127.0.0.1:" + (port + i)));
    config.setProperty("hazelcast.max.join.seconds", String.valueOf(joinSeconds));
    return config;
  }

  private HazelcastInstance start(int at, Path certificates) throws Exception {
    var identity = TlsIdentity.open(TlsFiles.in(certificates.resolve("nodes/n" + (at + 1))));
    HazelcastInstance member =
        TlsInstance.start(
            config(at, certificates.equals(TestCertificates.OURS) ? 60 : 4), identity);
    members.add(member);
    return member;
  }

  private static void awaitSize(HazelcastInstance member, int size) {
    Wait.until(() -> member.getCluster().getMembers().size() == size);
  }

  /** The extension point is internal: look at {@link TlsInstance} before you raise the version. */
  @Test
  void theVersionOfHazelcastIsTheOneThatWasTested() {
    assertThat(BuildInfoProvider.getBuildInfo().getVersion()).isEqualTo("5.3.8");
  }

  @Test
  void membersWithCertificatesOfOneAuthorityFormACluster() throws Exception {
    times(3, i -> start(i, TestCertificates.OURS));
    members.forEach(member -> awaitSize(member, 3));
    // Larger than a record, than the buffers, and than what the sockets take at once.
    byte[] large = new byte[3 << 20];
    Arrays.fill(large, (byte) 7);
    IMap<String, byte[]> map = members.get(0).getMap("large");
    times(20, i -> map.set("k" + i, large));
    for (HazelcastInstance member : members) {
      for (int i = 0; i < 20; i++) {
        assertThat(member.<String, byte[]>getMap("large").get("k" + i)).isEqualTo(large);
      }
    }
    members.remove(2).getLifecycleService().terminate();
    awaitSize(members.get(0), 2);
    start(2, TestCertificates.OURS);
    awaitSize(members.get(0), 3);
  }

  @Test
  @Tag("full")
  void whoHasNoCertificateOfTheirAuthorityStaysOutside() throws Exception {
    HazelcastInstance ours = start(0, TestCertificates.OURS);
    // Each tries to join, and then ends without having met anybody.
    Fails.saying(() -> Hazelcast.newHazelcastInstance(config(1, 4)), "failed to start");
    Fails.saying(() -> start(2, TestCertificates.FOREIGN), "failed to start");
    assertThat(ours.getCluster().getMembers()).hasSize(1);
    // It still takes others.
    start(2, TestCertificates.OURS);
    awaitSize(ours, 2);
  }

  @Test
  void plainTextIsNotAnswered() throws Exception {
    start(0, TestCertificates.OURS);
    try (Socket socket = new Socket("127.0.0.1", port)) {
      socket.setSoTimeout((int) PATIENCE.toMillis());
      // A member's greeting, and a packet of 2 GiB.
      socket.getOutputStream().write("HZC".getBytes(StandardCharsets.US_ASCII));
      socket
          .getOutputStream()
          .write(new byte[] {4, 0, 0, 0, 0, 0, 0, 0x7f, (byte) 0xff, (byte) 0xff, (byte) 0xff});
      DataInputStream in = new DataInputStream(socket.getInputStream());
      assertThatThrownBy(
              () -> {
                // It may send the alert of TLS before it closes, and nothing else.
                assertThat(in.readUnsignedByte()).isEqualTo(21);
                in.readFully(new byte[1 << 10]);
              })
          .isInstanceOf(IOException.class);
    }
  }
}
