package dev.evenkeel.log.raft;

import java.io.IOException;
import java.io.InterruptedIOException;
import org.apache.ratis.grpc.server.GrpcLogAppender;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.leader.FollowerInfo;
import org.apache.ratis.server.leader.LeaderState;
import org.apache.ratis.server.raftlog.RaftLogIOException;

/**
 * Sends a leader's log to one follower, and tells when the log cannot be read. The engine only
 * starts such an appender again, at once and for ever; each start leaves a stream behind, until the
 * memory is full. So this one waits before it ends.
 */
final class WatchedAppender extends GrpcLogAppender {
  private final ReadFailures failures;

  WatchedAppender(
      RaftServer.Division server, LeaderState state, FollowerInfo follower, ReadFailures failures) {
    super(server, state, follower);
    this.failures = failures;
  }

  @Override
  public void run() throws IOException {
    try {
      super.run();
    } catch (RaftLogIOException e) {
      String follower = RaftGroupLog.nodeOf(getFollowerId());
      long pauseMillis = failures.failed(follower, e, System.nanoTime());
      try {
        Thread.sleep(pauseMillis);
      } catch (InterruptedException interrupt) {
        Thread.currentThread().interrupt();
        throw (IOException) new InterruptedIOException(e.getMessage()).initCause(e);
      }
      throw e;
    }
  }
}
