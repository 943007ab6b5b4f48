package dev.evenkeel.log.raft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.UUID;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.apache.ratis.client.RaftClient;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftGroup;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.retry.RetryPolicies;
import org.apache.ratis.thirdparty.io.grpc.netty.NettyServerBuilder;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A stranger with the engine's own client, who knows all names and ids, can do nothing at the Raft
 * port.
 */
class RaftPortTest {
  @TempDir private Path home;
  private TestNode node;
  private RaftPeer peer;
  private RaftGroup group;
  private RaftClient stranger;

  @BeforeEach
  void start() throws Exception {
    int port = TestNode.freePort();
    node = TestNode.alone(home, port).awaitReady();
    UUID d0 =
        UUID.nameUUIDFromBytes((node.node.clusterId() + "/d0").getBytes(StandardCharsets.UTF_8));
    peer = RaftPeer.newBuilder(node.node.peer(node.node.voter())).build();
    group = RaftGroup.valueOf(RaftGroupId.valueOf(d0), peer);
    stranger =
        RaftClient.newBuilder()
            .setProperties(new RaftProperties())
            .setRaftGroup(group)
            .setRetryPolicy(RetryPolicies.noRetry())
            .build();
  }

  @AfterEach
  void close() throws Exception {
    stranger.close();
    node.close();
  }

  @Test
  void aStrangerCanNeitherWriteNorChangeNorRemoveALogGroup() {
    TestNode.append(node.d0(), "before").join();
    refused(() -> stranger.io().send(Message.valueOf("evil")));
    refused(() -> stranger.admin().setConfiguration(List.of(peer)));
    refused(() -> stranger.getGroupManagementApi(peer.getId()).list());
    refused(
        () -> stranger.getGroupManagementApi(peer.getId()).remove(group.getGroupId(), true, false));
    TestNode.append(node.d0(), "after").join();
    assertThat(node.state("d0").entries()).containsExactly("before", "after");
  }

  /** It writes to the logging of the JDK, past the limits of ours. */
  @Test
  void grpcDoesNotLogEachConnectionThatIsNoneOfItsOwn() {
    Logger connections = Logger.getLogger(NettyServerBuilder.class.getPackageName());
    assertThat(connections.isLoggable(Level.WARNING)).isFalse();
    assertThat(connections.isLoggable(Level.SEVERE)).isTrue();
  }

  private interface Call {
    Object run() throws IOException;
  }

  private static void refused(Call call) {
    assertThatThrownBy(call::run).hasStackTraceContaining("this port serves voters only");
  }
}
