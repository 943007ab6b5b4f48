package dev.evenkeel.log.raft;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.evenkeel.TestCertificates;
import dev.evenkeel.Wait;
import dev.evenkeel.log.LogSettings;
import dev.evenkeel.util.tls.TlsFiles;
import dev.evenkeel.util.tls.TlsIdentity;
import java.lang.reflect.Proxy;
import java.net.Socket;
import java.nio.file.Path;
import java.security.cert.Certificate;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import javax.net.ssl.SSLSession;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotRequestProto;
import org.apache.ratis.proto.RaftProtos.RaftClientRequestProto;
import org.apache.ratis.proto.RaftProtos.RaftRpcRequestProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteRequestProto;
import org.apache.ratis.proto.RaftProtos.StartLeaderElectionRequestProto;
import org.apache.ratis.proto.grpc.AdminProtocolServiceGrpc;
import org.apache.ratis.proto.grpc.RaftClientProtocolServiceGrpc;
import org.apache.ratis.proto.grpc.RaftServerProtocolServiceGrpc;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.thirdparty.io.grpc.Attributes;
import org.apache.ratis.thirdparty.io.grpc.Grpc;
import org.apache.ratis.thirdparty.io.grpc.Metadata;
import org.apache.ratis.thirdparty.io.grpc.MethodDescriptor;
import org.apache.ratis.thirdparty.io.grpc.ServerCall;
import org.apache.ratis.thirdparty.io.grpc.Status;
import org.apache.ratis.util.ProtoUtils;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What another voter sends is let in when all groups have started, and only if it is meant. */
class PeerGuardTest {
  private static final List<String> IDS = List.of("a", "b", "c");
  private static final RaftGroupId OTHER = RaftGroupId.valueOf(new UUID(1, 1));

  /** The log group in which the node has no vote. */
  private static final RaftGroupId COPIED = RaftGroupId.valueOf(new UUID(1, 2));

  @TempDir private Path temp;
  private final Map<String, TestNode> nodes = new HashMap<>();
  private final PeerGuard guard = new PeerGuard(RaftPeerId.valueOf("b@01"), COPIED::equals, false);

  /** What reached the engine. */
  private final List<Object> arrived = new ArrayList<>();

  @AfterEach
  void close() {
    nodes.values().forEach(TestNode::close);
  }

  private static final class Call extends ServerCall<Object, Object> {
    private final MethodDescriptor<?, ?> method;
    private final Attributes attributes;
    Status closed;

    Call(MethodDescriptor<?, ?> method, Attributes attributes) {
      this.method = method;
      this.attributes = attributes;
    }

    @Override
    public Attributes getAttributes() {
      return attributes;
    }

    @Override
    public void request(int messages) {}

    @Override
    public void sendHeaders(Metadata headers) {}

    @Override
    public void sendMessage(Object message) {}

    @Override
    public void close(Status status, Metadata trailers) {
      assertThat(closed).as("closed once").isNull();
      closed = status;
    }

    @Override
    public boolean isCancelled() {
      return false;
    }

    @Override
    @SuppressWarnings("unchecked")
    public MethodDescriptor<Object, Object> getMethodDescriptor() {
      return (MethodDescriptor<Object, Object>) method;
    }
  }

  private final class Engine extends ServerCall.Listener<Object> {
    @Override
    public void onMessage(Object message) {
      arrived.add(message);
    }

    @Override
    public void onHalfClose() {
      arrived.add("half close");
    }

    @Override
    public void onCancel() {
      arrived.add("cancel");
    }
  }

  /** Sends a request and ends; null if it was let in. */
  private Status.Code send(Object message) {
    return send(message, RaftServerProtocolServiceGrpc.getRequestVoteMethod());
  }

  private Status.Code send(Object message, MethodDescriptor<?, ?> method) {
    return send(guard, message, method, Attributes.EMPTY);
  }

  private Status.Code send(
      PeerGuard by, Object message, MethodDescriptor<?, ?> method, Attributes attributes) {
    Call call = new Call(method, attributes);
    var listener = by.interceptCall(call, new Metadata(), (same, headers) -> new Engine());
    listener.onMessage(message);
    listener.onHalfClose();
    return call.closed == null ? null : call.closed.getCode();
  }

  private static RaftRpcRequestProto to(String voter) {
    return to(voter, OTHER);
  }

  private static RaftRpcRequestProto to(String voter, RaftGroupId group) {
    return RaftRpcRequestProto.newBuilder()
        .setRaftGroupId(ProtoUtils.toRaftGroupIdProtoBuilder(group))
        .setRequestorId(RaftPeerId.valueOf("a@01").toByteString())
        .setReplyId(RaftPeerId.valueOf(voter).toByteString())
        .build();
  }

  private static List<Object> requests(String voter) {
    return requests(to(voter));
  }

  private static List<Object> requests(RaftRpcRequestProto request) {
    return List.of(
        RequestVoteRequestProto.newBuilder().setServerRequest(request).build(),
        AppendEntriesRequestProto.newBuilder().setServerRequest(request).build(),
        InstallSnapshotRequestProto.newBuilder().setServerRequest(request).build(),
        StartLeaderElectionRequestProto.newBuilder().setServerRequest(request).build());
  }

  @Test
  void withoutAVoteInALogGroupTheNodeTakesEntriesOfItAndKeepsOutOfElections() {
    guard.open();
    for (Object request : requests(to("b@01", COPIED))) {
      boolean election =
          request instanceof RequestVoteRequestProto
              || request instanceof StartLeaderElectionRequestProto;
      assertThat(send(request)).isEqualTo(election ? Status.Code.UNAVAILABLE : null);
    }
    requests(to("b@01", OTHER)).forEach(request -> assertThat(send(request)).isNull());
  }

  @Test
  void whatComesBeforeAllGroupsHaveStartedIsAnsweredAsIfTheNodeWereNotUp() {
    for (Object request : requests("b@01")) {
      assertThat(send(request)).isEqualTo(Status.Code.UNAVAILABLE);
    }
    assertThat(arrived).containsOnly("cancel").hasSize(4);
    arrived.clear();
    guard.open();
    for (Object request : requests("b@01")) {
      assertThat(send(request)).isNull();
      assertThat(arrived).containsExactly(request, "half close");
      arrived.clear();
    }
  }

  @Test
  void whatIsMeantForAnotherVoterIsNeverLetIn() {
    for (int i = 0; i < 2; i++) {
      for (Object request : requests("b@00")) {
        assertThat(send(request)).isEqualTo(Status.Code.PERMISSION_DENIED);
      }
      guard.open();
    }
    assertThat(arrived).containsOnly("cancel");
  }

  @Test
  void aVoterOfAnotherDirectoryOrOfNoneIsAnother() {
    guard.open();
    for (String another : List.of("b@02", "b", "a@01")) {
      for (Object request : requests(another)) {
        assertThat(guard.isForAnother(request)).isTrue();
        assertThat(send(request)).isEqualTo(Status.Code.PERMISSION_DENIED);
      }
    }
    requests("b@01").forEach(request -> assertThat(guard.isForAnother(request)).isFalse());
  }

  @Test
  void clientsAndAdministratorsOfTheEngineAreRefused() {
    guard.open();
    for (MethodDescriptor<?, ?> method :
        List.of(
            RaftClientProtocolServiceGrpc.getOrderedMethod(),
            RaftClientProtocolServiceGrpc.getUnorderedMethod(),
            AdminProtocolServiceGrpc.getGroupManagementMethod(),
            AdminProtocolServiceGrpc.getSetConfigurationMethod())) {
      assertThat(send(RaftClientRequestProto.getDefaultInstance(), method))
          .isEqualTo(Status.Code.PERMISSION_DENIED);
    }
    assertThat(arrived).isEmpty();
  }

  @Test
  void withTlsAVoterMustBeNamedInItsCertificate() throws Exception {
    PeerGuard named = new PeerGuard(RaftPeerId.valueOf("b@01"), COPIED::equals, true);
    named.open();
    MethodDescriptor<?, ?> vote = RaftServerProtocolServiceGrpc.getRequestVoteMethod();
    for (Object request : requests(from("n2@01"))) {
      assertThat(send(named, request, vote, shown("n2"))).isNull();
      assertThat(send(named, request, vote, shown("n3"))).isEqualTo(Status.Code.PERMISSION_DENIED);
      assertThat(send(named, request, vote, Attributes.EMPTY))
          .isEqualTo(Status.Code.PERMISSION_DENIED);
    }
  }

  private static RaftRpcRequestProto from(String voter) {
    return to("b@01").toBuilder().setRequestorId(RaftPeerId.valueOf(voter).toByteString()).build();
  }

  /** A connection on which the other side has shown the certificate of a node. */
  private static Attributes shown(String node) throws Exception {
    X509Certificate certificate =
        TlsIdentity.open(TlsFiles.in(TestCertificates.OURS.resolve("nodes").resolve(node)))
            .certificate();
    SSLSession session =
        (SSLSession)
            Proxy.newProxyInstance(
                PeerGuardTest.class.getClassLoader(),
                new Class<?>[] {SSLSession.class},
                (proxy, method, arguments) -> {
                  assertThat(method.getName()).isEqualTo("getPeerCertificates");
                  return new Certificate[] {certificate};
                });
    return Attributes.newBuilder().set(Grpc.TRANSPORT_ATTR_SSL_SESSION, session).build();
  }

  @Test
  void nodesWithCertificatesFormACluster() throws Exception {
    List<String> ids = List.of("n1", "n2", "n3");
    List<LogSettings.Peer> peers = new ArrayList<>();
    ids.forEach(id -> peers.add(TestNode.peer(id, TestNode.freePort())));
    for (String id : ids) {
      Path home = temp.resolve(id);
      TlsIdentity identity =
          TlsIdentity.open(TlsFiles.in(TestCertificates.OURS.resolve("nodes").resolve(id)));
      LogSettings plain = TestNode.settings(id, home, peers, 1, 1_000_000);
      LogSettings settings =
          new LogSettings(
              id,
              plain.directory(),
              peers,
              1,
              plain.snapshotEveryEntries(),
              plain.snapshotEveryBytes(),
              plain.snapshotBytesPerSecondMax(),
              plain.memoryBytesMax(),
              false,
              identity);
      nodes.put(id, new TestNode(settings, TestNode.live(home)));
    }
    awaitLeaders();
    awaitEverywhere("text");
    int port = peers.get(0).raftPort();
    try (Socket stranger = new Socket("localhost", port)) {
      stranger.setSoTimeout((int) TestNode.PATIENCE.toMillis());
      stranger.getOutputStream().write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(US_ASCII));
      // Nothing but the alert that this is no TLS.
      assertThat(stranger.getInputStream().readAllBytes()).hasSizeLessThan(10);
    }
  }

  @Test
  void nodesThatStartOneAfterAnotherFormACluster() throws Exception {
    List<LogSettings.Peer> peers = new ArrayList<>();
    IDS.forEach(id -> peers.add(TestNode.peer(id, TestNode.freePort())));
    for (String id : IDS) {
      start(id, peers);
      if (nodes.size() == 2) {
        // The two elect leaders, who ask for the third while it starts.
        awaitLeaders();
      }
    }
    awaitLeaders();
    awaitEverywhere("text");
  }

  private void start(String id, List<LogSettings.Peer> peers) throws Exception {
    Path home = temp.resolve(id);
    LogSettings settings = TestNode.settings(id, home, peers, 1, 1_000_000);
    nodes.put(id, new TestNode(settings, TestNode.live(home)));
  }

  private void awaitLeaders() {
    Wait.until(
        () ->
            nodes.values().stream().anyMatch(node -> node.node.meta().leadership().ready())
                && leader() != null);
  }

  private TestNode leader() {
    return nodes.values().stream()
        .filter(node -> node.d0().leadership().ready())
        .findFirst()
        .orElse(null);
  }

  private void awaitEverywhere(String text) {
    await()
        .atMost(TestNode.PATIENCE)
        .ignoreExceptions()
        .until(
            () -> {
              TestNode.append(leader().d0(), text).join();
              return true;
            });
    for (TestNode node : nodes.values()) {
      Wait.until(() -> node.state("d0").entries().contains(text));
    }
  }
}
