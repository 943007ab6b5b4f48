package dev.evenkeel.dispatcher.core;

import dev.evenkeel.assign.Assignor;
import dev.evenkeel.bus.Assignment;
import dev.evenkeel.bus.ShardStatus;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.GroupInfo;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.TopicInfo;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Something that the {@link DispatcherCore} wants done. */
public sealed interface DispatcherAction {

  /**
   * An action that {@link DispatcherCore#answered} gets the answer to, also when it failed.
   *
   * @param <R> the answer
   */
  interface Request<R> {
    /** Its number. */
    long id();
  }

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

  /** To the leader of the shard's log group. Those that come together may travel together. */
  record Write(long id, Shard shard, DataCommand.Step step)
      implements DispatcherAction, Request<Reply> {
    public DataCommand command() {
      return step.command();
    }
  }

  /** To the meta log group. */
  record WriteMeta(long id, MetaCommand command) implements DispatcherAction, Request<Reply> {}

  /**
   * To every data log group. The answer is {@link Reply.OfNumber} of the highest number that a data
   * group answered, or the refusal of one.
   */
  record ForgetLeases(long id, DataCommand.ForgetLeases command)
      implements DispatcherAction, Request<Reply> {}

  /**
   * A plan for a large group, which takes long: what {@link #plan} returns, or null if nobody can
   * make it now.
   */
  record PlanShards(long id, String group, Targets.Draft draft, Assignor assignor)
      implements DispatcherAction, Request<List<Map<Shard, String>>> {
    /** The answer. It may be called from any thread. */
    public List<Map<Shard, String>> plan() {
      return draft.plan(assignor);
    }
  }

  /** The active topics; null if they cannot be read now. */
  record ReadView(long id) implements DispatcherAction, Request<List<TopicInfo>> {}

  /**
   * The shards whose leaders answered, or null if none did.
   *
   * @param group with the leases of this group; null: of all
   * @param topics numbers of the topics whose shards to read; null: of all
   */
  record ReadLeases(long id, String group, Set<Integer> topics)
      implements DispatcherAction, Request<List<ShardStatus>> {}

  /** The groups' records; null if they cannot be read now. */
  record ReadGroups(long id) implements DispatcherAction, Request<List<GroupInfo>> {}

  /** Of all groups; then {@link DispatcherCore#groupLeasesRead}. */
  record ReadGroupLeases() implements DispatcherAction {}

  /** A run has the group's lease at this term, and is being granted the shards. */
  record Holds(String group, String instance, long term) implements DispatcherAction {}

  /**
   * The log takes no more topics into the record of a group.
   *
   * @param detail what it says
   */
  record TopicsLeftOut(String group, String detail) implements DispatcherAction {}

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
