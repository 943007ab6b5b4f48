package dev.evenkeel.dispatcher.core;

import dev.evenkeel.bus.Assignment;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.Shard;
import java.util.Map;

/** What the core wants done. Every one with an id is answered to the core, also when it failed. */
public sealed interface DispatcherAction {

  /** Answers the heartbeat that came as {@code request}. */
  record Answer(long request, Assignment assignment) implements DispatcherAction {}

  record Refuse(long request, Refusal refusal, String detail) implements DispatcherAction {}

  /**
   * Answers the reset that came as {@code request}.
   *
   * @param leases of each shard after it; null of those that wait
   * @param waits what each of those waits for, for people
   */
  record ResetDone(long request, Map<Shard, Lease> leases, Map<Shard, String> waits)
      implements DispatcherAction {}

  /** Answers the request to forget something: nothing of it is left. */
  record Forgotten(long request) implements DispatcherAction {}

  /** Sends a member its assignment. It may get lost: the next heartbeat's answer repeats it. */
  record Push(Assignment assignment) implements DispatcherAction {}

  /** To the leader of the shard's log group; then {@link DispatcherCore#written}. */
  record Write(long id, Shard shard, DataCommand command) implements DispatcherAction {}

  /** To the meta log group; then {@link DispatcherCore#metaWritten}. */
  record WriteMeta(long id, MetaCommand command) implements DispatcherAction {}

  /** To every data log group; then {@link DispatcherCore#leasesForgotten}. */
  record ForgetLeases(long id, DataCommand.ForgetLeases command) implements DispatcherAction {}

  /** Then {@link DispatcherCore#viewRead}. */
  record ReadView(long id) implements DispatcherAction {}

  /** Of one group, or of all if null; then {@link DispatcherCore#leasesRead}. */
  record ReadLeases(long id, String group) implements DispatcherAction {}

  /** Then {@link DispatcherCore#groupsRead}. */
  record ReadGroups(long id) implements DispatcherAction {}

  /** Of all groups; then {@link DispatcherCore#groupLeasesRead}. */
  record ReadGroupLeases() implements DispatcherAction {}

  /** A run holds the group's lease at this term: it is being granted the shards. */
  record Holds(String group, String instance, long term) implements DispatcherAction {}

  /** A hint for the registry map: this member is there. */
  record Register(Member member) implements DispatcherAction {}

  record Unregister(String group, String member) implements DispatcherAction {}

  /**
   * A hint for the ownership map.
   *
   * @param lease null: forgotten
   */
  record Ownership(String group, String topic, Shard shard, Lease lease)
      implements DispatcherAction {}
}
