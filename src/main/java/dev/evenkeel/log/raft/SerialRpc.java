package dev.evenkeel.log.raft;

import dev.evenkeel.protocol.VoterId;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.apache.ratis.conf.Parameters;
import org.apache.ratis.grpc.GrpcFactory;
import org.apache.ratis.grpc.server.GrpcLogAppender;
import org.apache.ratis.grpc.server.GrpcServices;
import org.apache.ratis.grpc.server.GrpcServicesImpl;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotRequestProto;
import org.apache.ratis.proto.RaftProtos.RaftPeerRole;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.rpc.RpcFactory;
import org.apache.ratis.rpc.RpcType;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.leader.FollowerInfo;
import org.apache.ratis.server.leader.LeaderState;
import org.apache.ratis.server.leader.LogAppender;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.server.raftlog.RaftLogIOException;

/**
 * The engine's gRPC, with {@link SerialAppends} between the wire and the server, with {@link
 * WatchedAppender}s, and with a {@link VoteGate}. The engine makes it by the name of its class.
 */
public final class SerialRpc implements RpcType {
  private static final String HOOKS = SerialRpc.class.getName() + ".hooks";

  /**
   * What the node adds to the engine's gRPC.
   *
   * @param refusing why entries are not taken now, or null
   * @param starting tells whether the engine is just starting a log group
   * @param copies what this node's copies are good for
   * @param reading where a leader's failures to read its log are counted, by log group
   * @param voteless tells whether this node has no vote in a log group
   */
  record Hooks(
      Supplier<String> refusing,
      Predicate<RaftGroupId> starting,
      SerialAppends.Copies copies,
      Function<RaftGroupId, ReadFailures> reading,
      Predicate<RaftGroupId> voteless) {
    void putInto(Parameters parameters) {
      parameters.put(HOOKS, this, Hooks.class);
    }
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
        Hooks hooks = parameters.get(HOOKS, Hooks.class);
        return VoteGate.before(
            super.newRaftServerRpc(
                SerialAppends.before(server, hooks.refusing(), hooks.starting(), hooks.copies())),
            hooks.voteless());
      }

      @Override
      public LogAppender newLogAppender(
          RaftServer.Division server, LeaderState state, FollowerInfo follower) {
        Hooks hooks = parameters.get(HOOKS, Hooks.class);
        return new WatchedAppender(
            server, state, follower, hooks.reading().apply(server.getGroup().getGroupId()));
      }
    };
  }

  /**
   * Sends a leader's log to one follower, and reports when the log cannot be read. The engine
   * restarts such an appender at once, for ever, and each start leaks a stream until the memory is
   * full. So this one waits before it ends.
   *
   * <p>The engine compares two readings of a number that another thread may change in between, and
   * ends an appender when they differ, before it has sent anything. The follower would count as one
   * that is not up to date, for ever; one that is about to get its vote would get it without an
   * appender. So this one goes on.
   *
   * <p>While a follower copies a snapshot, the engine would remind it of that without a pause, as
   * soon as it has answered. So this one waits there, too.
   *
   * <p>As long as there is no stream to the follower, the engine would look again without a pause
   * whether there is anything to send. So this one waits for an entry, or for the next heartbeat.
   *
   * <p>The engine looks whether one that is to get a vote still answers when it hears from that
   * one, or when it has nothing else to do. A busy leader would wait for a silent one for ever, and
   * refuse every other change of voters. So this one makes it look.
   *
   * <p>If the leader's log begins right behind the snapshot of a follower, the engine would ask
   * that one for ever to install a snapshot, and send it no entry: the leader lacks the entry
   * before, and the follower answers that it has the snapshot. So this one also sends entries once
   * it has answered.
   *
   * <p>A leader that is elected in the middle of a change of voters keeps the appenders to those
   * whom the change removes. It could not take one of them in again, and refused all later changes.
   * So this one ends when its follower is no longer in the log group.
   */
  private static final class WatchedAppender extends GrpcLogAppender {
    /** Much less than it takes a follower to miss its leader. */
    private static final long REMIND_MILLIS = 100;

    /** So often in a row a request is tried again before the appender ends. */
    private static final int TRIES_MAX = 50;

    /** After so long without one, a failure is the first in a row. */
    private static final long SOUND_NANOS = TimeUnit.SECONDS.toNanos(10);

    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

    private final ReadFailures failures;

    // On the thread of this appender only.
    private long lookedNanos = System.nanoTime();

    /** Whether a follower that has the snapshot before the leader's log is asked now. */
    private boolean asks = true;

    /** Whether the follower was in the log group from the beginning. */
    private final boolean listed = inGroup();

    WatchedAppender(
        RaftServer.Division server,
        LeaderState state,
        FollowerInfo follower,
        ReadFailures failures) {
      super(server, state, follower);
      this.failures = failures;
    }

    @Override
    public GrpcServicesImpl getServerRpc() {
      return VoteGate.behind(getServer().getRaftServer().getServerRpc());
    }

    /** The engine asks this each time before it sends. */
    @Override
    public boolean shouldSendAppendEntries() {
      if (listed && !inGroup() && isRunning()) {
        LOG.info("{}: its follower is no longer in the log group", this);
        // This is not started again, because the follower is not in the log group.
        getLeaderState().restart(this);
        return false;
      }
      long now = System.nanoTime();
      if (now - lookedNanos > LOOK_NANOS
          && getLeaderState().isFollowerBootstrapping(getFollower())) {
        lookedNanos = now;
        getLeaderState().onFollowerSuccessAppendEntries(getFollower());
      }
      return super.shouldSendAppendEntries();
    }

    /** Whether the follower is in the log group, perhaps only until a change is over. */
    private boolean inGroup() {
      return getServer().getRaftConf().getPeer(getFollowerId()) != null
          || getServer().getRaftConf().getPeer(getFollowerId(), RaftPeerRole.LISTENER) != null;
    }

    @Override
    public long getWaitTimeMs() {
      long waitMillis = super.getWaitTimeMs();
      return waitMillis > 0 || hasAppendEntries()
          ? waitMillis
          : Math.max(0, getHeartbeatWaitTimeMs());
    }

    @Override
    public boolean shouldInstallSnapshot(boolean hasSnapshot) {
      FollowerInfo follower = getFollower();
      boolean hasTheOneBefore =
          follower.hasAttemptedToInstallSnapshot()
              && follower.getNextIndex() == follower.getSnapshotIndex() + 1
              && follower.getNextIndex() == getRaftLog().getStartIndex();
      // In turn: it may have lost its snapshot since it has answered.
      asks = hasTheOneBefore && !asks;
      return (asks || !hasTheOneBefore) && super.shouldInstallSnapshot(hasSnapshot);
    }

    @Override
    public InstallSnapshotRequestProto newInstallSnapshotNotificationRequest(TermIndex first) {
      try {
        Thread.sleep(REMIND_MILLIS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
      return super.newInstallSnapshotNotificationRequest(first);
    }

    @Override
    public void run() throws IOException {
      int tries = 0;
      while (true) {
        long begun = System.nanoTime();
        try {
          runOnce();
          return;
        } catch (IllegalStateException e) {
          tries = System.nanoTime() - begun > SOUND_NANOS ? 1 : tries + 1;
          if (tries == TRIES_MAX || !isRunning()) {
            throw e;
          }
          LOG.info("{}: going on after {}", this, e.getMessage());
          pause(REMIND_MILLIS);
        }
      }
    }

    private static void pause(long millis) throws InterruptedIOException {
      try {
        Thread.sleep(millis);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw (InterruptedIOException) new InterruptedIOException("stopped").initCause(e);
      }
    }

    private void runOnce() throws IOException {
      try {
        super.run();
      } catch (RaftLogIOException e) {
        if (!isRunning()) {
          return;
        }
        String follower = VoterId.node(getFollowerId().toString());
        long pauseMillis = failures.failed(follower, e, System.nanoTime());
        pause(pauseMillis);
        throw e;
      }
    }
  }
}
