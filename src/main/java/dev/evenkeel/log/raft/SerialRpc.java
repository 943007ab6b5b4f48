package dev.evenkeel.log.raft;

import java.util.function.Supplier;
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
  private static final String HOLDING = SerialRpc.class.getName() + ".holding";

  /** Why entries are not taken, or null. */
  @FunctionalInterface
  interface Holding extends Supplier<String> {}

  /** Entries are taken while it gives null. */
  static void holding(Parameters parameters, Holding holding) {
    parameters.put(HOLDING, holding, Holding.class);
  }

  @Override
  public String name() {
    return SerialRpc.class.getName();
  }

  @Override
  public RpcFactory newFactory(Parameters parameters) {
    return new GrpcFactory(parameters) {
      @Override
      public GrpcServices newRaftServerRpc(RaftServer server) {
        Holding holding = parameters.get(HOLDING, Holding.class);
        return super.newRaftServerRpc(SerialAppends.before(server, holding));
      }
    };
  }
}
