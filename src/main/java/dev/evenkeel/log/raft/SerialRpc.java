package dev.evenkeel.log.raft;

import org.apache.ratis.conf.Parameters;
import org.apache.ratis.grpc.GrpcFactory;
import org.apache.ratis.grpc.server.GrpcServices;
import org.apache.ratis.rpc.RpcFactory;
import org.apache.ratis.rpc.RpcType;
import org.apache.ratis.server.RaftServer;

/**
 * The engine's gRPC, with {@link SerialAppends} between the wire and the server. The engine makes
 * it by the name of its class.
 */
public final class SerialRpc implements RpcType {
  @Override
  public String name() {
    return SerialRpc.class.getName();
  }

  @Override
  public RpcFactory newFactory(Parameters parameters) {
    return new GrpcFactory(parameters) {
      @Override
      public GrpcServices newRaftServerRpc(RaftServer server) {
        return super.newRaftServerRpc(SerialAppends.before(server));
      }
    };
  }
}
