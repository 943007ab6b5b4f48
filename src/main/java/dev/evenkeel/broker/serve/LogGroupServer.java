package dev.evenkeel.broker.serve;

import static dev.evenkeel.protocol.Refusal.UNAVAILABLE;
import static dev.evenkeel.protocol.Refusal.UNKNOWN_SHARD;
import static dev.evenkeel.protocol.Refusal.UNKNOWN_TOPIC;

import dev.evenkeel.broker.machine.DataState;
import dev.evenkeel.broker.node.BodyMender;
import dev.evenkeel.broker.state.ShardRecord;
import dev.evenkeel.broker.state.TopicRecord;
import dev.evenkeel.log.Leadership;
import dev.evenkeel.log.LogGroup;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Shard;

/** A data log group with its log and state, and with what mends its bodies. */
record LogGroupServer(String nodeId, LogGroup log, DataState state, BodyMender mender) {

  /**
   * @throws RefusedException NOT_LEADER with the leader's id
   */
  void requireLeader() {
    requireLeader(nodeId, log);
  }

  /**
   * Requires that this node leads, and that its state is current.
   *
   * @throws RefusedException NOT_LEADER with the leader's id, or UNAVAILABLE
   */
  void requireReady() {
    requireReady(nodeId, log);
  }

  static void requireLeader(String nodeId, LogGroup log) {
    String leader = log.leadership().leader();
    if (!nodeId.equals(leader)) {
      throw new RefusedException.NotLeader(leader);
    }
  }

  static void requireReady(String nodeId, LogGroup log) {
    requireLeader(nodeId, log);
    Leadership leadership = log.leadership();
    if (!leadership.ready()) {
      throw UNAVAILABLE.error(nodeId + " has begun to lead " + log.name() + " and is catching up");
    }
  }

  /**
   * @throws RefusedException UNKNOWN_TOPIC or UNKNOWN_SHARD
   */
  ShardRecord shard(Shard shard) {
    ShardRecord record = state.tables().shard(shard);
    if (record == null) {
      TopicRecord topic = state.tables().topic(shard.topicId());
      boolean known = topic != null && !topic.dropped();
      throw new RefusedException(
          known ? UNKNOWN_SHARD : UNKNOWN_TOPIC, "there is no shard " + shard);
    }
    return record;
  }
}
