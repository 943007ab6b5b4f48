package dev.evenkeel.protocol;

import static dev.evenkeel.protocol.Refusal.INVALID;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** A command that can be appended to the meta log group. */
public sealed interface MetaCommand {

  /**
   * Refuses a command that is wrong in every state. Compare {@link DataCommand#check}.
   *
   * @throws RefusedException INVALID or TOO_LARGE, saying what would be right
   */
  default void check() {}

  /** A command that clients and dispatchers may send. */
  interface Submitted {}

  /** A command that clients may send: all others are for nodes only. */
  interface OfClients extends Submitted {
    /** Name of the producer that it is about; may be empty. */
    String name();
  }

  /** Answers {@link Reply.OfTopic} in state CREATING, or refuses TOPIC_EXISTS. */
  record CreateTopic(String name, int shards, TopicConfig config) implements MetaCommand {
    @Override
    public void check() {
      Names.check("topic", name);
      config.check();
    }
  }

  /**
   * Every data log group has opened the topic's shards. Refuses OVERLOADED if a group reads the
   * topic that is not among {@code readers}: it needs leases first.
   *
   * @param readers the groups that have leases on the new shards; null: that does not matter
   */
  record ActivateTopic(int topicId, @Nullable List<String> readers) implements MetaCommand {}

  record ConfigureTopic(int topicId, TopicConfig config) implements MetaCommand {
    @Override
    public void check() {
      config.check();
    }
  }

  /**
   * Gives the topic another number of shards. The new ones are not open yet. Answers {@link
   * Reply.OfTopic}, also if that number is being opened already; refuses INVALID if another one is.
   */
  record ReshardTopic(String name, int shards) implements MetaCommand {
    @Override
    public void check() {
      Names.check("topic", name);
    }
  }

  /**
   * Every data log group has sealed the topic's shards and has the new ones: these are open from
   * now on. Answers {@link Reply.OfTopic}. Refuses as {@link ActivateTopic} does.
   *
   * @param readers the groups that have leases on the new shards; null: that does not matter
   */
  record OpenLayout(int topicId, @Nullable List<String> readers) implements MetaCommand {}

  /**
   * Nobody needs the shards of the topic's oldest layout any more: they are to be dropped.
   *
   * @param first number of the first shard of that layout
   */
  record ForgetLayout(int topicId, int first) implements MetaCommand {}

  /** Marks the topic as DELETING; from now on it is unknown to users. */
  record DeleteTopic(String name) implements MetaCommand {
    @Override
    public void check() {
      Names.check("topic", name);
    }
  }

  /**
   * Every data log group has dropped the topic's shards.
   *
   * @param epochFloor the highest epoch that a lease on them had; topics created from now on begin
   *     above it
   */
  record RemoveTopic(int topicId, long epochFloor) implements MetaCommand {
    @Override
    public void check() {
      if (epochFloor < 0) {
        throw INVALID.error("epoch floor " + epochFloor + ": use 0 or more");
      }
    }
  }

  /**
   * Creates the group, or adds topics to it. Refuses GROUP_MISMATCH if it exists with another
   * policy or assignor and {@code force} is false (the dispatcher forces when the group has no live
   * member).
   *
   * @param assignor null: the one that the group has; a new group gets {@link
   *     GroupInfo#ASSIGNOR_DEFAULT}
   * @param patterns to which members subscribe. The group then reads all topics that a new one of
   *     them takes in, and those that are made later
   */
  record DeclareGroup(
      String name,
      GroupPolicy policy,
      List<String> topics,
      StartAt start,
      boolean force,
      @Nullable String assignor,
      List<GroupPattern> patterns)
      implements MetaCommand, Submitted {

    @Override
    public void check() {
      Names.check("group", name);
      policy.check();
      topics.forEach(topic -> Names.check("topic", topic));
      if (assignor != null) {
        Names.check("assignor", assignor);
      }
      checkPatterns(patterns);
    }
  }

  private static void checkPatterns(List<GroupPattern> patterns) {
    if (patterns.size() > GroupInfo.PATTERNS_MAX) {
      throw Refusal.TOO_LARGE.error(
          "%s patterns of topics: at most %s", patterns.size(), GroupInfo.PATTERNS_MAX);
    }
    patterns.forEach(GroupPattern::check);
  }

  /**
   * Notes that the group has live members now, which subscribe to these topics and patterns.
   * Written at most once per group and hour. Answers {@link Reply.OfGroup}.
   */
  record SeeGroup(String name, List<String> topics, List<GroupPattern> patterns)
      implements MetaCommand, Submitted {
    @Override
    public void check() {
      Names.check("group", name);
      topics.forEach(topic -> Names.check("topic", topic));
      checkPatterns(patterns);
    }
  }

  /**
   * Adds to the active time: a dispatcher was active for this long and could hear the members of
   * every group. How long a group was absent is measured in this time alone. No clock is read, and
   * no time passes while the cluster is down. A step counts for {@link
   * Limits#ACTIVE_STEP_MILLIS_MAX} at most. A step whose answer is lost is not repeated. Answers
   * {@link Reply.OfNumber}: the sum of all steps.
   */
  record AddActiveTime(long millis) implements MetaCommand, Submitted {}

  /** Answers {@link Reply.Done}, or refuses UNKNOWN_GROUP. */
  record ForgetGroup(String name) implements MetaCommand, Submitted {
    @Override
    public void check() {
      Names.check("group", name);
    }
  }

  /**
   * The group does not read the topic any more. Answers {@link Reply.OfGroup}, also if it did not
   * read it before; refuses UNKNOWN_GROUP.
   */
  record ForgetTopic(String group, String topic) implements MetaCommand, Submitted {
    @Override
    public void check() {
      Names.check("group", group);
      Names.check("topic", topic);
    }
  }

  /**
   * The group reads no further topics because of that pattern, as far as members with these
   * permissions subscribed to it. Answers {@link Reply.OfGroup}, also if it had no such pattern;
   * refuses UNKNOWN_GROUP.
   */
  record ForgetPattern(String group, GroupPattern pattern) implements MetaCommand, Submitted {
    @Override
    public void check() {
      Names.check("group", group);
      pattern.check();
    }
  }

  /**
   * Gives a group's lease to a run: compare and set. Refuses FENCED unless the lease's term is
   * {@code expectedTerm} (0: never granted since the group was made), UNKNOWN_GROUP if there is no
   * such group. Takes the lease from whoever has it. Answers {@link Reply.OfGroupLease} with a
   * higher term than any before; a repeat answers as the first, as long as that run has it.
   *
   * <p>Also refuses FENCED if it comes late: another dispatcher may have begun since, and know that
   * the holder lives which this one took for dead.
   *
   * @param holder for people: "dispatcher@NODE" or a member's name
   * @param instance which run of the holder
   * @param dispatcherTerm term of the meta log in which the dispatcher that asks is active, and in
   *     which the command must be logged; 0: any
   */
  record GrantGroupLease(
      String group, String holder, String instance, long expectedTerm, long dispatcherTerm)
      implements MetaCommand, Submitted {
    @Override
    public void check() {
      Names.check("group", group);
      Names.checkHolder(holder);
      Names.checkInstance("a group lease", instance);
    }
  }

  /**
   * The holder gives a group's lease up. The lease keeps its term. Refuses FENCED unless {@code
   * instance} has it at {@code term}; a repeated release gets the same answer, {@link
   * Reply.OfGroupLease}.
   */
  record ReleaseGroupLease(String group, String instance, long term)
      implements MetaCommand, Submitted {
    @Override
    public void check() {
      Names.check("group", group);
    }
  }

  /**
   * Gives out a producer id ({@link Reply.OfProducer}). With a name: the same id each time, with an
   * epoch one higher; with an empty name: a fresh id and epoch 0.
   */
  record RegisterProducer(String name) implements MetaCommand, OfClients {
    @Override
    public void check() {
      if (name != null && !name.isEmpty()) {
        Names.check("producer", name);
      }
    }

    public boolean isUnnamed() {
      return name == null || name.isEmpty();
    }
  }

  /**
   * Gives the producer that has this epoch of its name the next one ({@link Reply.OfProducer}).
   * Repeated, it gives the same again; PRODUCER_FENCED once the name is registered again.
   */
  record ContinueProducer(String name, int epoch) implements MetaCommand, OfClients {
    @Override
    public void check() {
      Names.check("producer", name);
    }
  }

  /**
   * Says which names of producers are in use, and forgets others. What was used in the meantime is
   * not forgotten. At most {@link Limits#PRODUCERS_A_COMMAND_MAX} in all.
   *
   * @param used names of producers that a data log group remembers
   * @param unused names of those that none does
   */
  record TendProducers(List<String> used, List<String> unused) implements MetaCommand {
    @Override
    public void check() {
      used.forEach(name -> Names.check("producer", name));
      unused.forEach(name -> Names.check("producer", name));
    }
  }

  /**
   * Adds moves to the rebalance history, or figures to moves that it has: by group, shard and
   * epoch, so that it may be repeated. At most {@link Limits#MOVES_A_COMMAND_MAX}.
   *
   * @param moves oldest first
   */
  record RecordMoves(List<MoveRecord> moves) implements MetaCommand, Submitted {
    @Override
    public void check() {
      moves.forEach(MoveRecord::check);
    }
  }

  /**
   * Adds nodes to the cluster, or replaces what is known of them: all or none. The first of these
   * names all nodes that the cluster was formed with, because one that is missing counts as gone.
   */
  record PutNodes(List<ClusterNode> nodes) implements MetaCommand {
    @Override
    public void check() {
      nodes.forEach(ClusterNode::check);
    }
  }

  /**
   * Notes which nodes are to vote in a log group. They do not yet: the leader of meta changes the
   * voters, one at a time.
   *
   * @param group name of the log group
   * @param nodes their ids, sorted
   */
  record PlaceLogGroup(String group, List<String> nodes) implements MetaCommand {
    @Override
    public void check() {
      Names.check("log group", group);
      if (nodes.isEmpty()) {
        throw INVALID.error("log group %s on no node: it needs one voter at least", group);
      }
      nodes.forEach(node -> Names.check("node", node));
    }
  }

  /**
   * Adds a data log group, which its first voters are to open. Succeeds if there is one of that
   * number: then that one stays as it is.
   *
   * @param index the next free number
   * @param founders ids of its first voters
   */
  record AddLogGroup(int index, List<String> founders) implements MetaCommand {
    @Override
    public void check() {
      added().check();
    }

    public AddedLogGroup added() {
      return new AddedLogGroup(index, founders, false);
    }
  }

  /** An added data log group works: topics and shards that are created from now on may go there. */
  record OpenLogGroup(int index) implements MetaCommand {}

  /**
   * Takes a node out of the cluster: it has no copy of any log group. Succeeds if it is unknown.
   */
  record RemoveNode(String id) implements MetaCommand {
    @Override
    public void check() {
      Names.check("node", id);
    }
  }

  /**
   * Sets a quota in place of the one that there was; one that limits nothing removes it. Refuses
   * TOO_LARGE if there would be more than {@link Quota#QUOTAS_MAX}.
   */
  record SetQuota(Quota quota) implements MetaCommand, Submitted {
    @Override
    public void check() {
      quota.check();
    }
  }

  /**
   * Adds, changes or removes a user. Changes nothing if the user is so already. Refuses OVERLOADED
   * if somebody else has changed the user meanwhile; INVALID if another user has one of its tokens
   * or its certificate; TOO_LARGE if there would be more than {@link ClusterUser#USERS_MAX}.
   *
   * @param before the user as it is now; null: there is none
   * @param after the same user as it is to be; null: there is to be none
   */
  record ChangeUser(@Nullable ClusterUser before, @Nullable ClusterUser after)
      implements MetaCommand, Submitted {
    @Override
    public void check() {
      if (before == null && after == null) {
        throw INVALID.error("a change from no user to no user: name one");
      }
      if (before != null) {
        Names.check("user", before.name());
      }
      if (after != null) {
        after.check();
      }
      if (before != null && after != null && !after.name().equals(before.name())) {
        throw INVALID.error(
            "the user '%s' cannot become '%s': add one and remove the other",
            before.name(), after.name());
      }
    }
  }

  /**
   * Pauses a group, or some of its shards, or resumes it. A resumed group loses all its pauses, and
   * a resumed topic those of its shards. Changes nothing if it is paused, or resumed, already.
   *
   * <p>Refuses UNKNOWN_GROUP; UNKNOWN_TOPIC if the group does not read the topic; UNKNOWN_SHARD;
   * INVALID if the group is in mode broadcast, or if what is resumed stays paused because its topic
   * or its group is; TOO_LARGE if there would be more than {@link Pause#PAUSES_MAX} pauses.
   *
   * @param topic null: all topics of the group
   * @param shard {@link Pause#ALL_SHARDS}: all shards of the topic
   * @param paused false: resumes
   */
  record PauseGroup(String group, @Nullable String topic, int shard, boolean paused)
      implements MetaCommand, Submitted {
    @Override
    public void check() {
      Names.check("group", group);
      if (topic != null) {
        Names.check("topic", topic);
      }
      if (shard < Pause.ALL_SHARDS) {
        throw INVALID.error("shard %s: shards count from 0", shard);
      }
      if (topic == null && shard != Pause.ALL_SHARDS) {
        throw INVALID.error("shard %s without a topic: name the shard's topic", shard);
      }
    }
  }

  /**
   * A command that a user's program has sent: what it makes is the user's. Only nodes say so. The
   * reply is that to the command.
   *
   * @param user its name
   * @param command any other
   */
  record ByUser(@Nullable String user, MetaCommand command) implements MetaCommand {
    @Override
    public void check() {
      checkUser();
      command.check();
    }

    /** The name of the user, of whom there is one. */
    public String checkUser() {
      if (user == null || user.isEmpty() || command instanceof ByUser) {
        throw INVALID.error("a command of one user: not of none, nor of two");
      }
      return user;
    }
  }

  /**
   * Raises the feature level of the cluster: every node has said that it reads entries of this
   * level, so they may be written from now on. The level never goes down. The entry itself has this
   * level.
   */
  record RaiseFeatureLevel(int level) implements MetaCommand {
    @Override
    public void check() {
      check(level);
    }

    static void check(int level) {
      if (level < 2 || level > 255) {
        throw INVALID.error("feature level " + level + ": a cluster is raised to 2 to 255");
      }
    }
  }
}
