package dev.evenkeel.broker.node;

import dev.evenkeel.log.LogNode;
import dev.evenkeel.log.LogSettings;
import dev.evenkeel.log.LogStartException;
import dev.evenkeel.log.PeerLine;
import dev.evenkeel.log.ReplicatedState;
import java.io.IOException;
import java.util.function.Function;

/** Starts a node's logs. */
@FunctionalInterface
public interface LogStarter {
  /**
   * @param states gives the state machine for each group's name; called once a group
   * @param line by which the nodes of a new cluster of several find together
   * @throws LogStartException for what a person must look into
   */
  LogNode start(LogSettings settings, Function<String, ReplicatedState> states, PeerLine line)
      throws LogStartException, IOException, InterruptedException;
}
