package dev.evenkeel.log.raft;

import java.util.EnumSet;
import org.apache.ratis.grpc.server.GrpcServices;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotRequestProto;
import org.apache.ratis.proto.RaftProtos.RaftRpcRequestProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteRequestProto;
import org.apache.ratis.proto.RaftProtos.StartLeaderElectionRequestProto;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.thirdparty.io.grpc.ForwardingServerCallListener;
import org.apache.ratis.thirdparty.io.grpc.Metadata;
import org.apache.ratis.thirdparty.io.grpc.ServerCall;
import org.apache.ratis.thirdparty.io.grpc.ServerCallHandler;
import org.apache.ratis.thirdparty.io.grpc.ServerInterceptor;
import org.apache.ratis.thirdparty.io.grpc.Status;
import org.apache.ratis.thirdparty.io.grpc.netty.NettyServerBuilder;

/**
 * Refuses requests that are meant for another voter. A replacement has the address of the lost
 * node, and the engine does not check whom a request is for: without this guard the new node would
 * acknowledge entries in the name of the lost one.
 *
 * <p>Also refuses requests of other voters until all log groups have started: if a vote or entries
 * arrive while the engine starts a log group, it takes them for a second start and gives the log
 * group up. The sender tries again, as if this node were not up yet.
 */
final class PeerGuard implements GrpcServices.Customizer, ServerInterceptor {
  private final RaftPeerId self;
  private volatile boolean open;

  PeerGuard(RaftPeerId self) {
    this.self = self;
  }

  /** All log groups have started. */
  void open() {
    open = true;
  }

  @Override
  public NettyServerBuilder customize(
      NettyServerBuilder builder, EnumSet<GrpcServices.Type> types) {
    return builder.intercept(this);
  }

  @Override
  public <Q, A> ServerCall.Listener<Q> interceptCall(
      ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
    ServerCall.Listener<Q> server = next.startCall(call, headers);
    return new ForwardingServerCallListener<>() {
      private ServerCall.Listener<Q> target = server;

      @Override
      protected ServerCall.Listener<Q> delegate() {
        return target;
      }

      @Override
      public void onMessage(Q message) {
        Status refusal = target == server ? refusal(message) : null;
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

  /** Why the request is refused; null: it may pass. */
  private Status refusal(Object message) {
    if (isForAnother(message)) {
      return Status.PERMISSION_DENIED.withDescription("this is " + self + ", not who is asked");
    }
    return open || request(message) == null
        ? null
        : Status.UNAVAILABLE.withDescription(self + " is starting");
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
