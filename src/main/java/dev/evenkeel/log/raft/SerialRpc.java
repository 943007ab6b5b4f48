package dev.evenkeel.log.raft;

import java.util.function.Function;
import java.util.function.Supplier;
import org.apache.ratis.conf.Parameters;
import org.apache.ratis.grpc.GrpcFactory;
import org.apache.ratis.grpc.server.GrpcServices;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.rpc.RpcFactory;
import org.apache.ratis.rpc.RpcType;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.leader.FollowerInfo;
import org.apache.ratis.server.leader.LeaderState;
import org.apache.ratis.server.leader.LogAppender;

/**
 * The engine's gRPC, with {@link SerialAppends} between the wire and the server, and with {@link
 * WatchedAppender}s. The engine makes it by the name of its class.
 */
public final class SerialRpc implements RpcType {
  private static final String HOLDING = SerialRpc.class.getName() + ".holding";
  private static final String READING = SerialRpc.class.getName() + ".reading";

  /** Why entries are not taken, or null. */
  @FunctionalInterface
  interface Holding extends Supplier<String> {}

  /** Where a leader's failures to read its log are counted, by log group. */
  @FunctionalInterface
  interface Reading extends Function<RaftGroupId, ReadFailures> {}

  /** Entries are taken while it gives null. */
  static void holding(Parameters parameters, Holding holding) {
    parameters.put(HOLDING, holding, Holding.class);
  }

  static void reading(Parameters parameters, Reading reading) {
    parameters.put(READING, reading, Reading.class);
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

      @Override
      public LogAppender newLogAppender(
          RaftServer.Division server, LeaderState state, FollowerInfo follower) {
        Reading reading = parameters.get(READING, Reading.class);
        return new WatchedAppender(
            server, state, follower, reading.apply(server.getGroup().getGroupId()));
      }
    };
  }
}
