package org.apache.ratis.server.impl;

import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.protocol.SetConfigurationRequest;
import org.apache.ratis.protocol.TransferLeadershipRequest;
import org.apache.ratis.server.RaftServer;

/**
 * Requests to a leader on the thread that calls. {@code RaftServer} of Ratis 3.3.0 gives them to a
 * thread of the log group instead, where they wait for its lock. A leader that loses its vote
 * closes the log group under this lock, and waits a day for that thread.
 */
public final class DirectRequests {
  private DirectRequests() {}

  public static CompletableFuture<RaftClientReply> send(
      RaftServer.Division division, TransferLeadershipRequest request) throws IOException {
    return ((RaftServerImpl) division).transferLeadershipAsync(request);
  }

  public static CompletableFuture<RaftClientReply> send(
      RaftServer.Division division, SetConfigurationRequest request) throws IOException {
    return ((RaftServerImpl) division).setConfigurationAsync(request);
  }
}
