package dev.evenkeel.protocol;

import static dev.evenkeel.protocol.Refusal.INVALID;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A command that can be appended to a data log group. Batches of messages have entries of their
 * own, see {@code wire.AppendBody}.
 */
public sealed interface DataCommand {

  /**
   * Refuses a command that is wrong in every state. It runs before the command is logged. Deciders
   * do not rely on it: an entry of the log may be older than the check.
   *
   * @throws RefusedException INVALID or TOO_LARGE, saying what would be right
   */
  default void check() {
    if (this instanceof OfLease of) {
      checkLease(of.group(), of.shard());
    }
  }

  /** What became of messages, if it says that. */
  default List<Outcome> outcomes() {
    return List.of();
  }

  /** A command that dispatchers may send. */
  interface Submitted {}

  /** A command that clients may send: all others are for nodes only. */
  interface OfClients extends Submitted {}

  /** A command that brokers send each other. */
  interface Managed {}

  /** A command about the lease of a group on a shard. */
  interface OfLease extends Submitted {
    String group();

    Shard shard();
  }

  /**
   * A command that moves a shard: what dispatchers send, often for many shards at once. Answers
   * {@link Reply.OfLease}.
   */
  sealed interface Step extends OfLease permits Grant, SetDrain, ResetLease, OpenLease {
    /** The same as a command of its own. */
    default DataCommand command() {
      return (DataCommand) this;
    }
  }

  private static void checkLease(String group, Shard shard) {
    Names.check("group", group);
    shard.check();
  }

  private static void checkOwnerTimeout(long millis) {
    if (millis < 1 || millis > Limits.MEMBER_TIMEOUT_MILLIS_MAX) {
      throw invalid(
          "owner timeout of %s ms: use 1 to %s"
              .formatted(millis, Limits.MEMBER_TIMEOUT_MILLIS_MAX));
    }
  }

  private static RefusedException invalid(String detail) {
    return INVALID.error(detail);
  }

  /**
   * Opens shards of a topic. Shards that are there already do not change, and those that were
   * dropped are not opened again.
   *
   * @param epochFloor leases made from now on begin above it: a former topic of that name may have
   *     had its leases in other log groups
   * @param readers the groups that read the topic. Each gets a lease on the shards from {@code
   *     readFrom} on, at their first message, without an owner, unless it has one
   * @param readFrom number of the first shard that no producer writes to yet
   */
  record OpenShards(
      int topicId,
      String topic,
      List<Integer> shards,
      TopicConfig config,
      long epochFloor,
      List<String> readers,
      int readFrom)
      implements DataCommand, Managed {

    @Override
    public void check() {
      Names.check("topic", topic);
      shards.forEach(shard -> new Shard(topicId, shard).check());
      readers.forEach(reader -> Names.check("group", reader));
      config.check();
      if (epochFloor < 0) {
        throw invalid("epoch floor " + epochFloor + ": use 0 or more");
      }
    }
  }

  /**
   * Drops all shards of a topic that this log group holds, with their leases. Answers {@link
   * Reply.OfNumber}: no lease that was dropped here ever had a higher epoch.
   */
  record DropShards(int topicId) implements DataCommand, Managed {
    @Override
    public void check() {
      new Shard(topicId, 0).check();
    }
  }

  /**
   * Seals the shards of a topic that this log group holds and whose numbers are below {@code
   * below}: they take no more messages. What is in them stays until retention drops it.
   */
  record SealShards(int topicId, int below) implements DataCommand, Managed {
    @Override
    public void check() {
      new Shard(topicId, below).check();
    }
  }

  /**
   * Drops delayed batches of a sealed shard which others have now, those due first. Changes nothing
   * unless that many batches wait, so that a repeat drops no others.
   *
   * @param waiting how many batches wait before it
   * @param batches how many of them to drop
   */
  record DropDelayed(Shard shard, long waiting, int batches) implements DataCommand, Managed {
    @Override
    public void check() {
      shard.check();
      if (batches < 0 || batches > waiting) {
        throw invalid(batches + " delayed batches of " + waiting + ": that many cannot be dropped");
      }
    }
  }

  /**
   * Drops the sealed shards of a topic that this log group holds and whose numbers are below {@code
   * below}, with their leases.
   *
   * @param forgetBelow of shards with numbers below this, which are gone, it forgets what it had
   *     taken of producers. {@link #EVERYTHING}: of all that are gone
   */
  record DropSealed(int topicId, int below, int forgetBelow) implements DataCommand, Managed {
    public static final int EVERYTHING = Integer.MAX_VALUE;

    @Override
    public void check() {
      new Shard(topicId, below).check();
      if (forgetBelow < 0) {
        throw invalid("there are no shards below " + forgetBelow);
      }
    }
  }

  record ConfigureShards(int topicId, TopicConfig config) implements DataCommand, Managed {
    @Override
    public void check() {
      new Shard(topicId, 0).check();
      config.check();
    }
  }

  /**
   * Gives a shard to a member: compare and set. Refuses FENCED unless the lease's epoch is {@code
   * expectedEpoch} (0: no lease yet), or if {@code groupTerm} is lower than the lease's. Takes the
   * shard from whoever owns it. Answers {@link Reply.OfLease} with epoch {@code expectedEpoch + 1};
   * a new lease begins above every epoch that was forgotten.
   *
   * @param owner a member's name; with a {@code groupTerm} also "dispatcher@NODE"
   * @param start used only if the lease does not exist yet
   * @param groupTerm term of the group's lease under which it is granted; 0: none. The lease keeps
   *     it, so that nobody who held the group at a lower term can grant again
   * @param ownerTimeoutMillis silence after which the owner counts as dead. The lease keeps it, so
   *     that a dispatcher that does not know the owner waits as long as the owner may start
   *     handlers
   */
  record Grant(
      String group,
      Shard shard,
      String owner,
      String instance,
      long expectedEpoch,
      StartAt start,
      long groupTerm,
      long ownerTimeoutMillis)
      implements DataCommand, Step {

    /** The same grant with another place to begin at. */
    public Grant startingAt(StartAt other) {
      return new Grant(
          group, shard, owner, instance, expectedEpoch, other, groupTerm, ownerTimeoutMillis);
    }

    @Override
    public void check() {
      checkLease(group, shard);
      if (groupTerm == 0) {
        Names.check("member", owner);
      } else {
        Names.checkHolder(owner);
      }
      Names.checkInstance("a grant", instance);
      if (groupTerm < 0 || expectedEpoch < 0) {
        throw invalid(
            "group term " + groupTerm + ", epoch " + expectedEpoch + ": neither can be negative");
      }
      checkOwnerTimeout(ownerTimeoutMillis);
    }
  }

  /**
   * Starts, redirects or (with a null {@code drain}) calls off a handover. Refuses FENCED unless
   * the lease has that epoch. Answers {@link Reply.OfLease}. If the drain names an heir, the
   * owner's release also grants the shard to it.
   */
  record SetDrain(String group, Shard shard, long expectedEpoch, @Nullable Drain drain)
      implements DataCommand, Step {
    @Override
    public void check() {
      checkLease(group, shard);
      if (drain != null && (drain.to() == null || drain.to().length() > Limits.NAME_CHARS_MAX)) {
        throw invalid("a drain names the next owner, or \"\" if any member may be it");
      }
      if (drain != null && drain.heir() != null) {
        Names.check("member", drain.to());
        Names.checkInstance("a drain", drain.heir().instance());
        checkOwnerTimeout(drain.heir().timeoutMillis());
      }
    }
  }

  /**
   * Steps of many shards in one entry of the log. Each is taken or refused by itself, as it would
   * be alone. Answers {@link Reply.OfSteps}.
   *
   * @param steps at most {@link Limits#STEPS_A_COMMAND_MAX}, and one a lease
   */
  record TakeSteps(List<Step> steps) implements DataCommand, Submitted {
    @Override
    public void check() {
      if (steps.isEmpty() || steps.size() > Limits.STEPS_A_COMMAND_MAX) {
        throw invalid(steps.size() + " steps: use 1 to " + Limits.STEPS_A_COMMAND_MAX);
      }
      steps.forEach(step -> step.command().check());
    }
  }

  /**
   * Progress of an owner. Refuses FENCED unless the lease is held at {@code epoch}. A lower offset
   * than the committed one changes nothing and is no error.
   *
   * @param stateOffset the offset that {@code state} stands for. If {@code state} is null: where
   *     the empty state stands, if the owner keeps state and the lease has none yet. -1: the owner
   *     keeps no state
   * @param state null: the lease's state does not change. Else it is written in the same record as
   *     the progress, unless the lease has the state of a higher offset
   */
  record Commit(
      String group, Shard shard, long epoch, long offset, long stateOffset, byte @Nullable [] state)
      implements DataCommand, OfLease, OfClients {}

  /**
   * Progress of the owners of many shards in one entry of the log. Each position is taken or
   * refused by itself, as a {@link Commit} without state would be. Answers {@link Reply.OfCommits}.
   *
   * @param positions at most {@link Limits#COMMITS_A_COMMAND_MAX}, and one a lease
   */
  record CommitMany(List<Position> positions) implements DataCommand, OfClients {

    /**
     * The position of one owner. The fields are those of {@link Commit}.
     *
     * @param stateOffset where the empty state stands, or -1
     */
    public record Position(String group, Shard shard, long epoch, long offset, long stateOffset) {
      /** The same as a command of its own. */
      public Commit command() {
        return new Commit(group, shard, epoch, offset, stateOffset, null);
      }
    }

    @Override
    public void check() {
      if (positions.isEmpty() || positions.size() > Limits.COMMITS_A_COMMAND_MAX) {
        throw invalid(positions.size() + " positions: use 1 to " + Limits.COMMITS_A_COMMAND_MAX);
      }
      positions.forEach(position -> checkLease(position.group(), position.shard()));
    }
  }

  /**
   * Moves a group back or forward on a shard: compare and set. Refuses FENCED unless the lease's
   * epoch is {@code expectedEpoch} (0: no lease yet), OFFSET_OUT_OF_RANGE for an offset that the
   * shard does not have. Takes the shard from its owner, at the next epoch. Deletes the state, the
   * marks, and the retries of messages that the group will read again. Keeps dead letters. A new
   * {@link Generation} begins. Answers {@link Reply.OfLease}.
   *
   * @param to where the group continues; an offset must be from the first kept to the next message
   */
  record ResetLease(String group, Shard shard, long expectedEpoch, StartAt to)
      implements DataCommand, Step {}

  /**
   * Gives a group a lease on a shard, without an owner. From then on retention keeps what the group
   * has not consumed. If the group has a lease on the shard, nothing changes. Answers {@link
   * Reply.OfLease}.
   *
   * @param start where the group begins
   */
  record OpenLease(String group, Shard shard, StartAt start) implements DataCommand, Step {

    /** The same with another place to begin at. */
    public OpenLease startingAt(StartAt other) {
      return new OpenLease(group, shard, other);
    }
  }

  /**
   * Names the producer under which the owner's handlers publish in this {@link Generation}. If the
   * lease has one already, nothing changes. Refuses FENCED unless the lease is held at {@code
   * epoch}. Answers {@link Reply.OfLease}.
   */
  record SetPublisher(String group, Shard shard, long epoch, long producerId)
      implements DataCommand, OfLease, OfClients {}

  /**
   * Opens an epoch of the producer under which handlers of a group on a shard publish, and fences
   * every lower one in this log group. Refuses PRODUCER_FENCED if a higher epoch of that group and
   * shard is known, and UNKNOWN_PRODUCER if there is none of this id and it is not {@code fresh}.
   *
   * <p>If shards have something of the producer, answers {@link Reply.OfSequences}: the last
   * sequence that each of them took. Nodes of former versions leave out shards that are open.
   *
   * @param epoch of the lease
   * @param group of the input
   * @param input the shard that the handlers consume
   * @param fresh nothing was published under this id yet: it replaces the producer of the group and
   *     shard
   */
  record OpenPublisher(long producerId, int epoch, String group, Shard input, boolean fresh)
      implements DataCommand, OfClients {
    /** In place of a group, for nodes that move delayed batches: no client may name it. */
    public static final String DELAYED = "evenkeel.delayed";

    @Override
    public void check() {
      checkLease(group, input);
    }
  }

  /**
   * The owner gives the shard up. Refuses FENCED unless the lease is held at {@code epoch}.
   * Position and state are written as one record.
   *
   * <p>If the lease has a drain with an {@link Drain.Heir}, and no group term, the heir then owns
   * the shard at the next epoch, and a repeated release is FENCED. Else nobody owns it, and a
   * repeated release gets the same answer.
   *
   * @param state null: the owner keeps none, and an earlier state does not change; empty at offset
   *     0: that of the beginning, which the log keeps as none if nothing was consumed
   * @param stateOffset the offset that {@code state} stands for; with a null state -1, or {@link
   *     #FINISHED}
   */
  record Release(
      String group, Shard shard, long epoch, long offset, long stateOffset, byte @Nullable [] state)
      implements DataCommand, OfLease, OfClients {

    /**
     * In place of a state's offset, of a sealed shard alone: the owner has done everything, and no
     * message has changed the state since the log got it. A release with the state of the shard's
     * end says so, too.
     */
    public static final long FINISHED = -2;
  }

  /**
   * Records what became of messages that failed, in order. Refuses FENCED unless the lease is held
   * at {@code epoch}. May be repeated. Answers {@link Reply.OfOffsets}: the messages for which
   * there is no room. They must stay with the owner.
   */
  record RecordOutcomes(String group, Shard shard, long epoch, List<Outcome> outcomes)
      implements DataCommand, OfLease, OfClients {
    @Override
    public void check() {
      checkLease(group, shard);
      for (Outcome outcome : outcomes) {
        if (outcome instanceof Outcome.Failed failed
            && failed.error() != null
            && failed.error().length() > Limits.ERROR_CHARS_MAX) {
          throw invalid("an error has at most " + Limits.ERROR_CHARS_MAX + " letters");
        }
      }
    }
  }

  /**
   * Puts dead letters back among the retries, with no attempt counted. Answers {@link
   * Reply.OfOffsets}: those that were there.
   */
  record ReplayDeadLetters(String group, Shard shard, List<Long> offsets)
      implements DataCommand, OfLease {}

  /** Drops dead letters. Answers {@link Reply.OfOffsets}: those that were there. */
  record DropDeadLetters(String group, Shard shard, List<Long> offsets)
      implements DataCommand, OfLease {}

  /**
   * Drops the leases of a group, on one topic or on all, with its retries and dead letters there.
   * Sent after the meta log has forgotten the group, or that the group reads the topic. Drops
   * nothing if one of these leases, or an epoch that its handlers publish in, is above {@code
   * epochMax}. Later leases have higher epochs, so a repeated command that arrives late drops
   * nothing.
   *
   * <p>Answers {@link Reply.OfNumber}: if the leases were dropped, later leases have epochs above
   * this number; else it is the highest epoch of these leases, which is above {@code epochMax}.
   *
   * @param epochMax the highest epoch of these leases that the sender knows, 1 or more
   * @param topicId {@link #ALL_TOPICS}, {@link #NO_TOPIC}, or of one topic
   */
  record ForgetLeases(String group, long epochMax, int topicId) implements DataCommand, Submitted {

    /** No topic has this id. */
    public static final int ALL_TOPICS = 0;

    /** No topic has this id either: drops nothing. */
    public static final int NO_TOPIC = Integer.MAX_VALUE;

    /** Drops nothing: leases made from now on have epochs above {@code epoch}. */
    public static ForgetLeases raise(String group, long epoch) {
      return new ForgetLeases(group, epoch, NO_TOPIC);
    }

    /** Whether leases on that shard are meant. */
    public boolean covers(Shard shard) {
      return topicId == ALL_TOPICS || topicId == shard.topicId();
    }

    @Override
    public void check() {
      Names.check("group", group);
      if (epochMax < 1) {
        throw invalid("highest epoch " + epochMax + ": use 1 or more");
      }
      if (topicId < 0) {
        throw invalid("topic " + topicId + ": ids count from 1, and 0 means all topics");
      }
    }
  }

  /**
   * Fences every lower epoch of a producer in this log group. Refuses PRODUCER_FENCED if a higher
   * one is known. Answers {@link Reply.OfSequences}: the last sequence taken of the former epoch.
   *
   * @param ownerTag of the user whose program has sent it, if the id has no tag, see {@link
   *     ProducerIds}: only nodes say so. 0: the id says it, or there are no users
   */
  record OpenProducer(long producerId, int epoch, int ownerTag) implements DataCommand, OfClients {
    public OpenProducer(long producerId, int epoch) {
      this(producerId, epoch, 0);
    }
  }

  /**
   * Moves delayed batches that are due at the time of the entry into their shards: those due first
   * in front, those due at the same time in the order in which they were sent. The leader's timer
   * writes it. Answers {@link Reply.OfDelivered}.
   *
   * @param batchesMax most of them, 1 or more
   * @param bytesMax at least one, more only within this
   */
  record DeliverDue(int batchesMax, int bytesMax) implements DataCommand {}

  /**
   * Cancels one delayed message. If others of its batch wait, the body of the entry is a batch with
   * them, which takes the place of the former one. The leader writes it; it has read the batch.
   * Refuses UNKNOWN_MESSAGE if the message does not wait in the shard, or if the shard is sealed,
   * and UNAVAILABLE if the bytes of the batch are not where the command says. Answers {@link
   * Reply.Done}.
   *
   * @param position of the message in the batch as it was sent, from 0
   * @param bodyIndex index of the log entry that has the bytes of the batch; -1: there was none
   * @param bodyAt where they begin in the body of that entry
   * @param rest header of the batch that is the body of this entry; null: this entry has no body,
   *     and no other message of the batch waits
   */
  record CancelDelayed(
      Shard shard,
      long dueMillis,
      long serial,
      int position,
      long bodyIndex,
      int bodyAt,
      byte @Nullable [] rest)
      implements DataCommand {
    @Override
    public void check() {
      shard.check();
      if (dueMillis < 0 || serial < 0 || position < 0) {
        throw invalid(
            "due %s, serial %s, position %s: none can be negative"
                .formatted(dueMillis, serial, position));
      }
    }
  }

  /**
   * Brings the log group to the feature level of the cluster: later entries have the outcomes of
   * that level. The entry itself has this level, and does nothing else.
   */
  record RaiseFeatureLevel(int level) implements DataCommand {
    @Override
    public void check() {
      MetaCommand.RaiseFeatureLevel.check(level);
    }
  }

  /**
   * Applies retention, and forgets producers that were idle for too long. The leader's timer writes
   * it, so that every replica drops the same messages.
   */
  record Retain() implements DataCommand {}

  /**
   * Does nothing. It fills a file of the log, which drops whole files only, so that what stands in
   * front of it can go although nothing else is appended.
   *
   * @param filling bytes that mean nothing
   */
  record FillLog(byte[] filling) implements DataCommand {}
}
