package dev.evenkeel.log.raft;

import java.io.IOException;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.function.Predicate;
import org.apache.ratis.grpc.server.GrpcServices;
import org.apache.ratis.grpc.server.GrpcServicesImpl;
import org.apache.ratis.proto.RaftProtos.RequestVoteRequestProto;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.server.RaftServerRpc;
import org.apache.ratis.util.ProtoUtils;

/**
 * Keeps a node that has no vote in a log group from asking others for theirs. To the engine it
 * looks as if nobody answered.
 */
final class VoteGate implements InvocationHandler {
  private final GrpcServices services;
  private final Predicate<RaftGroupId> closed;

  private VoteGate(GrpcServices services, Predicate<RaftGroupId> closed) {
    this.services = services;
    this.closed = closed;
  }

  /**
   * @param closed tells whether the node has no vote in a log group
   */
  static GrpcServices before(GrpcServices services, Predicate<RaftGroupId> closed) {
    return (GrpcServices)
        Proxy.newProxyInstance(
            GrpcServices.class.getClassLoader(),
            new Class<?>[] {GrpcServices.class},
            new VoteGate(services, closed));
  }

  /** The engine's own services, which its senders of entries want. */
  static GrpcServicesImpl behind(RaftServerRpc gate) {
    return (GrpcServicesImpl) ((VoteGate) Proxy.getInvocationHandler(gate)).services;
  }

  @Override
  public Object invoke(Object proxy, Method method, Object[] args) throws Throwable {
    if (method.getName().equals("requestVote")
        && args[0] instanceof RequestVoteRequestProto request
        && closed.test(ProtoUtils.toRaftGroupId(request.getServerRequest().getRaftGroupId()))) {
      throw new IOException("this node has no vote until it has copied the log group");
    }
    try {
      return method.invoke(services, args);
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
  }
}
