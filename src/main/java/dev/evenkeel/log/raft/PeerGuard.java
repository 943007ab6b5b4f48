package dev.evenkeel.log.raft;

import dev.evenkeel.protocol.VoterId;
import dev.evenkeel.util.LogLimiter;
import dev.evenkeel.util.MonotonicClock;
import dev.evenkeel.util.tls.CertificateNames;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.EnumSet;
import java.util.function.Predicate;
import javax.net.ssl.SSLSession;
import org.apache.ratis.grpc.server.GrpcServices;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotRequestProto;
import org.apache.ratis.proto.RaftProtos.RaftRpcRequestProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteRequestProto;
import org.apache.ratis.proto.RaftProtos.StartLeaderElectionRequestProto;
import org.apache.ratis.proto.grpc.RaftServerProtocolServiceGrpc;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.thirdparty.io.grpc.ForwardingServerCallListener;
import org.apache.ratis.thirdparty.io.grpc.Grpc;
import org.apache.ratis.thirdparty.io.grpc.Metadata;
import org.apache.ratis.thirdparty.io.grpc.ServerCall;
import org.apache.ratis.thirdparty.io.grpc.ServerCallHandler;
import org.apache.ratis.thirdparty.io.grpc.ServerInterceptor;
import org.apache.ratis.thirdparty.io.grpc.Status;
import org.apache.ratis.thirdparty.io.grpc.netty.NettyServerBuilder;
import org.apache.ratis.util.ProtoUtils;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lets in what voters send each other, and nothing else. The engine also serves its clients and
 * administrators at the same port, without asking who they are: anybody could remove a log group
 * with its directory, change who votes, or write entries. Nothing here needs these services.
 *
 * <p>Refuses requests that are meant for another voter. A replacement has the address of the lost
 * node, and the engine does not check whom a request is for: without this guard the new node would
 * acknowledge entries in the name of the lost one.
 *
 * <p>With TLS, refuses requests in the name of a voter whose node is not named in the sender's
 * certificate.
 *
 * <p>Also refuses requests of other voters until all log groups have started: if a vote or entries
 * arrive while the engine starts a log group, it takes them for a second start and gives the log
 * group up. The sender tries again, as if this node were not up yet.
 *
 * <p>And refuses to vote, and to stand for election, in log groups in which this node has no vote.
 * Who asks takes that for a node that is not up: no vote, and no vote for another.
 */
final class PeerGuard implements GrpcServices.Customizer, ServerInterceptor {
  private static final Logger LOG = LoggerFactory.getLogger(PeerGuard.class);

  /**
   * Of gRPC, which logs each connection that is none of its own, with a stack trace, by the logging
   * of the JDK. Strangers could fill the disk with that. It is kept here because the JDK forgets
   * loggers that nobody refers to.
   */
  private static final java.util.logging.Logger GRPC =
      java.util.logging.Logger.getLogger("org.apache.ratis.thirdparty.io.grpc");

  private final LogLimiter strangers = new LogLimiter();
  private final RaftPeerId self;
  private final Predicate<RaftGroupId> voteless;
  private final boolean named;
  private volatile boolean open;

  /**
   * @param voteless tells whether this node has no vote in a log group
   * @param named whether senders must be named in their certificates
   */
  PeerGuard(RaftPeerId self, Predicate<RaftGroupId> voteless, boolean named) {
    this.named = named;
    this.self = self;
    this.voteless = voteless;
  }

  /** All log groups have started. */
  void open() {
    open = true;
  }

  @Override
  public NettyServerBuilder customize(
      NettyServerBuilder builder, EnumSet<GrpcServices.Type> types) {
    if (GRPC.getLevel() == null) {
      GRPC.setLevel(java.util.logging.Level.SEVERE);
    }
    return builder.intercept(this);
  }

  @Override
  public <Q, A> ServerCall.Listener<Q> interceptCall(
      ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
    String service = call.getMethodDescriptor().getServiceName();
    if (!RaftServerProtocolServiceGrpc.SERVICE_NAME.equals(service)) {
      logRefused(service, call.getAttributes().get(Grpc.TRANSPORT_ATTR_REMOTE_ADDR));
      call.close(
          Status.PERMISSION_DENIED.withDescription("this port serves voters only"), new Metadata());
      return new ServerCall.Listener<>() {};
    }
    ServerCall.Listener<Q> server = next.startCall(call, headers);
    return new ForwardingServerCallListener<>() {
      private ServerCall.Listener<Q> target = server;

      @Override
      protected ServerCall.Listener<Q> delegate() {
        return target;
      }

      @Override
      public void onMessage(Q message) {
        Status refusal = target == server ? refusal(message, call) : null;
        if (refusal != null) {
          // From now on the server hears nothing of this call.
          target = new ServerCall.Listener<>() {};
          call.close(refusal, new Metadata());
          server.onCancel();
        }
        super.onMessage(message);
      }
    };
  }

  private void logRefused(String service, SocketAddress from) {
    String source =
        from instanceof InetSocketAddress address
            ? address.getAddress().getHostAddress()
            : String.valueOf(from);
    if (strangers.mayLog(source, MonotonicClock.millis())) {
      LOG.warn("refused a call of {} at the Raft port, from {}", service, source);
    }
  }

  /** Why the request is refused; null: it may pass. */
  private Status refusal(Object message, ServerCall<?, ?> call) {
    if (isForAnother(message)) {
      return Status.PERMISSION_DENIED.withDescription("this is " + self + ", not who is asked");
    }
    RaftRpcRequestProto request = request(message);
    if (request == null) {
      return null;
    }
    if (named) {
      String node = VoterId.node(request.getRequestorId().toStringUtf8());
      SSLSession session = call.getAttributes().get(Grpc.TRANSPORT_ATTR_SSL_SESSION);
      if (!CertificateNames.name(session, node)) {
        return Status.PERMISSION_DENIED.withDescription(
            "the certificate does not name the node " + node);
      }
    }
    if (!open) {
      return Status.UNAVAILABLE.withDescription(self + " is starting");
    }
    return isOfElection(message)
            && voteless.test(ProtoUtils.toRaftGroupId(request.getRaftGroupId()))
        ? Status.UNAVAILABLE.withDescription(self + " has no vote until it has copied the group")
        : null;
  }

  private static boolean isOfElection(Object message) {
    return message instanceof RequestVoteRequestProto
        || message instanceof StartLeaderElectionRequestProto;
  }

  boolean isForAnother(Object message) {
    RaftRpcRequestProto request = request(message);
    return request != null && !request.getReplyId().equals(self.toByteString());
  }

  private static RaftRpcRequestProto request(Object message) {
    if (message instanceof AppendEntriesRequestProto append) {
      return append.getServerRequest();
    } else if (message instanceof RequestVoteRequestProto vote) {
      return vote.getServerRequest();
    } else if (message instanceof InstallSnapshotRequestProto snapshot) {
      return snapshot.getServerRequest();
    } else if (message instanceof StartLeaderElectionRequestProto election) {
      return election.getServerRequest();
    }
    return null;
  }
}
