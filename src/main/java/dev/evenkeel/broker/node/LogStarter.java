package dev.evenkeel.broker.node;

import dev.evenkeel.log.LogNode;
import dev.evenkeel.log.LogSettings;
import dev.evenkeel.log.LogStartException;
import dev.evenkeel.log.PeerLink;
import dev.evenkeel.log.ReplicatedState;
import java.io.IOException;
import java.util.function.Function;

/** Starts a node's logs. */
@FunctionalInterface
public interface LogStarter {
  /**
   * @param states gives the state machine for each group's name; called once a group
   * @param link by which the nodes of a new cluster find each other
   * @throws LogStartException for what a person must look into
   */
  LogNode start(LogSettings settings, Function<String, ReplicatedState> states, PeerLink link)
      throws LogStartException, IOException, InterruptedException;
}
