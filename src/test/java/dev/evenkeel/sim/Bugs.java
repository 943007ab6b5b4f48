package dev.evenkeel.sim;

import dev.evenkeel.bus.Assignment;
import dev.evenkeel.bus.ShardProgress;
import dev.evenkeel.bus.ShardStatus;
import dev.evenkeel.protocol.Commands;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Drain;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.Outcome;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.wire.AppendBody;
import dev.evenkeel.protocol.wire.Batch;
import dev.evenkeel.protocol.wire.ByteReader;
import dev.evenkeel.protocol.wire.CommandCodec;
import dev.evenkeel.protocol.wire.Entry;
import dev.evenkeel.protocol.wire.FeatureLevel;
import dev.evenkeel.protocol.wire.ReplyCodec;
import dev.evenkeel.protocol.wire.RetryAnswer;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.function.LongToIntFunction;
import java.util.function.UnaryOperator;

/** Bugs that the simulation must find. */
enum Bugs implements Bug {
  /** The log grants whatever it is asked to, also if the lease has changed since. */
  GRANT_WITHOUT_COMPARING {
    @Override
    public DataCommand command(DataCommand command, Lease lease) {
      return command instanceof DataCommand.Grant c && lease != null
          ? Commands.grant(
              c.group(),
              c.shard(),
              c.owner(),
              c.instance(),
              lease.epoch(),
              c.start(),
              c.groupTerm())
          : command;
    }
  },

  /** A release does not say which epoch it ends. */
  RELEASE_FORGETS_ITS_EPOCH {
    @Override
    public DataCommand command(DataCommand command, Lease lease) {
      return command instanceof DataCommand.Release c && lease != null
          ? new DataCommand.Release(
              c.group(), c.shard(), lease.epoch(), c.offset(), c.stateOffset(), c.state())
          : command;
    }
  },

  /** The log takes progress from whoever reports it. */
  COMMIT_OF_A_FENCED_OWNER {
    @Override
    public DataCommand command(DataCommand command, Lease lease) {
      return command instanceof DataCommand.Commit c && lease != null
          ? Commands.commit(c.group(), c.shard(), lease.epoch(), c.offset())
          : command;
    }
  },

  /** The log takes what became of messages from whoever reports it. */
  OUTCOMES_OF_A_FENCED_OWNER {
    @Override
    public DataCommand command(DataCommand command, Lease lease) {
      return command instanceof DataCommand.RecordOutcomes c && lease != null
          ? new DataCommand.RecordOutcomes(c.group(), c.shard(), lease.epoch(), c.outcomes())
          : command;
    }
  },

  /** A new owner is not told what has left the window. */
  MARKS_ARE_FORGOTTEN {
    @Override
    public RetryAnswer retries(RetryAnswer answer) {
      return answer.known() == null
          ? answer
          : new RetryAnswer(
              answer.nextInMillis(),
              answer.due(),
              new RetryAnswer.Known(List.of(), answer.known().held(), answer.known().queues()),
              answer.batches());
    }
  },

  /** A new owner is not told which keys have messages in the log. */
  LANES_ARE_FORGOTTEN {
    @Override
    public RetryAnswer retries(RetryAnswer answer) {
      return answer.known() == null
          ? answer
          : new RetryAnswer(
              answer.nextInMillis(),
              answer.due(),
              new RetryAnswer.Known(answer.known().marks(), answer.known().held(), List.of()),
              answer.batches());
    }
  },

  /** A new state is kept with the offset of the one before it. */
  STATE_WITHOUT_ITS_OFFSET {
    @Override
    public DataCommand command(DataCommand command, Lease lease) {
      return command instanceof DataCommand.Release c && c.state() != null && lease != null
          ? new DataCommand.Release(
              c.group(),
              c.shard(),
              c.epoch(),
              c.offset(),
              Math.max(0, lease.stateOffset()),
              c.state())
          : command;
    }
  },

  /** Every dispatcher but the first does not see the hand-overs that are under way. */
  DISPATCHER_FORGETS_DRAINS {
    @Override
    public List<ShardStatus> statuses(List<ShardStatus> statuses, boolean first) {
      return first ? statuses : statuses.stream().map(Bugs::withoutDrains).toList();
    }
  },

  /** A consumer goes on where it stood before it lost the shard, not where the lease says. */
  CONSUMER_KEEPS_ITS_PLACE {
    @Override
    public Lease leaseRead(Lease lease, long begun) {
      return begun > lease.committed() ? lease.committedAt(begun) : lease;
    }
  },

  /** A consumer takes silence for assent. */
  CONSUMER_WITHOUT_SELF_FENCE {
    @Override
    public boolean feelsAlive() {
      return true;
    }
  },

  /** A consumer in a suspended machine counts no time, as its monotonic clock does not. */
  CONSUMER_MISSES_SUSPENSIONS {
    @Override
    public boolean noticesSuspensions() {
      return false;
    }
  },

  /** A consumer counts its time from the answer of a heartbeat, not from its sending. */
  CONSUMER_COUNTS_FROM_THE_ANSWER {
    @Override
    public long answeredSent(long sentMillis, long nowMillis) {
      return nowMillis;
    }
  },

  /**
   * The log does not keep an owner's own timeout: whoever does not know the owner waits too short.
   */
  OWNER_TIMEOUT_IS_FORGOTTEN(Focus.LOST_REGISTRY) {
    @Override
    public DataCommand command(DataCommand command, Lease lease) {
      long usual = Limits.MEMBER_TIMEOUT_MILLIS_DEFAULT;
      if (command instanceof DataCommand.SetDrain c
          && c.drain() != null
          && c.drain().heir() != null) {
        Drain.Heir heir = new Drain.Heir(c.drain().heir().instance(), usual);
        Drain drain = new Drain(c.drain().to(), c.drain().deadlineMillis(), heir);
        return new DataCommand.SetDrain(c.group(), c.shard(), c.expectedEpoch(), drain);
      }
      return command instanceof DataCommand.Grant c
          ? new DataCommand.Grant(
              c.group(),
              c.shard(),
              c.owner(),
              c.instance(),
              c.expectedEpoch(),
              c.start(),
              c.groupTerm(),
              usual)
          : command;
    }
  },

  /** The epochs of a topic that is made again begin where its data groups have none. */
  EPOCHS_BEGIN_AGAIN(Focus.TOPICS_COME_AGAIN) {
    @Override
    public DataCommand managed(DataCommand command) {
      return command instanceof DataCommand.OpenShards c
          ? new DataCommand.OpenShards(
              c.topicId(), c.topic(), c.shards(), c.config(), 0, c.readers(), c.readFrom())
          : command;
    }
  },

  /** The time between two dispatchers counts as absence, and so does a jump of a clock. */
  ABSENCE_BY_THE_WALL_CLOCK(Focus.GROUPS_COME_AGAIN) {
    @Override
    public long activeMillis(long livedMillis, long wallMillis) {
      return Math.max(livedMillis, wallMillis);
    }
  },

  /** A late request to forget a group drops what the group has in its next life. */
  FORGETTING_IS_NOT_FENCED(Focus.GROUPS_COME_AGAIN) {
    @Override
    public long forgottenUpTo(DataCommand.ForgetLeases command, long highest) {
      return command.topicId() == DataCommand.ForgetLeases.NO_TOPIC
          ? command.epochMax()
          : Math.max(command.epochMax(), highest);
    }
  },

  /** A dispatcher grants at the higher of the term that it knows and that of the lease. */
  GRANTS_AT_THE_TERM_IT_FINDS(Focus.LEADERS_FOLLOW) {
    @Override
    public DataCommand command(DataCommand command, Lease lease) {
      return command instanceof DataCommand.Grant c && lease != null
          ? new DataCommand.Grant(
              c.group(),
              c.shard(),
              c.owner(),
              c.instance(),
              c.expectedEpoch(),
              c.start(),
              Math.max(c.groupTerm(), lease.groupTerm()),
              c.ownerTimeoutMillis())
          : command;
    }

    @Override
    public long termSeen(long term, long known) {
      return Math.min(term, known);
    }
  },

  /** The log resets also what has changed since the dispatcher looked. */
  RESET_WITHOUT_COMPARING {
    @Override
    public DataCommand command(DataCommand command, Lease lease) {
      return command instanceof DataCommand.ResetLease c && lease != null
          ? new DataCommand.ResetLease(c.group(), c.shard(), lease.epoch(), c.to())
          : command;
    }
  },

  /** A dispatcher takes shards from their owners though nobody asked for force. */
  RESET_ALWAYS_BY_FORCE {
    @Override
    public boolean resetsByForce(boolean force) {
      return true;
    }
  },

  /** After a reset handlers go on to publish under the producer that they had before. */
  RESET_KEEPS_THE_PRODUCER {
    @Override
    public long publisher(long producerId, long last) {
      return producerId > 0 ? producerId : last;
    }
  },

  /** The log takes what handlers of a former owner publish. */
  PUBLISHER_IS_NOT_FENCED {
    @Override
    public List<AppendBody.Item> published(List<AppendBody.Item> items, LongToIntFunction epochs) {
      for (AppendBody.Item item : items) {
        Batch batch = item.batch();
        int known = epochs.applyAsInt(batch.producerId());
        batch.stamped(
            batch.producerId(), Math.max(known, batch.producerEpoch()), batch.firstSequence());
      }
      return items;
    }
  },

  /** What handlers publish leaves in another order than that of their inputs. */
  OUTPUTS_OVERTAKE {
    @Override
    public List<AppendBody.Item> published(List<AppendBody.Item> items, LongToIntFunction epochs) {
      List<AppendBody.Item> turned = new ArrayList<>(items);
      Collections.reverse(turned);
      return turned;
    }
  },

  /** A new leader does not know of delayed messages that came before it. */
  NEW_LEADER_FORGETS_DELAYED {
    @Override
    public boolean newLeaderLooks() {
      return false;
    }
  },

  /** A new leader delivers once more what the one before it delivered last. */
  NEW_LEADER_DELIVERS_AGAIN {
    @Override
    public boolean newLeaderDeliversAgain() {
      return true;
    }
  },

  /** A copy that moves to another node lacks what was committed while its snapshot was copied. */
  NEW_COPY_MISSES_ENTRIES {
    @Override
    public boolean newCopyMissesEntries() {
      return true;
    }
  },

  /** A replica of an older version goes on behind a kind of entry that it cannot read. */
  UNREADABLE_ENTRY_IS_PASSED_OVER {
    @Override
    public ByteBuffer passesOver(int replica, byte[] bytes) {
      Entry entry = Entry.read(ByteBuffer.wrap(bytes));
      boolean unknown =
          replica == 0
              && entry.type() == Entry.DATA_COMMAND
              && CommandCodec.data(new ByteReader(entry.body())) instanceof DataCommand.ResetLease;
      return unknown
          ? ByteBuffer.wrap(ReplyCodec.encode(Reply.refused(Refusal.WRONG_VERSION, "")))
          : null;
    }
  },

  /** A consumer ignores what has the number of an epoch that it released; nobody looks at that. */
  CONSUMER_IGNORES_AN_EPOCH {
    @Override
    public Assignment assigned(Assignment told, Set<Long> released) {
      return new Assignment(
          told.group(),
          told.member(),
          told.instance(),
          told.term(),
          told.revision(),
          told.shards().stream().filter(each -> !released.contains(each.epoch())).toList(),
          told.lead());
    }

    @Override
    public List<ShardProgress> marks(List<ShardProgress> marks, Assignment told) {
      List<ShardProgress> all = new ArrayList<>(marks);
      if (told != null) {
        for (Assignment.Owned owned : told.shards()) {
          if (marks.stream().noneMatch(mark -> mark.shard().equals(owned.shard()))) {
            all.add(
                new ShardProgress(
                    owned.shard(), owned.epoch(), null, null, null, null, null, null, null));
          }
        }
      }
      return all;
    }
  },

  /** A leader writes its own clock into entries, and ages follow it however far it jumps. */
  LOG_TIME_FOLLOWS_ANY_CLOCK {
    @Override
    public long entryMillis(long clusterMillis, long ownMillis) {
      return ownMillis;
    }

    @Override
    public boolean logTimeIsUnbounded() {
      return true;
    }
  },

  /** The log takes another message for the one that had begun when its owner died. */
  DEATHS_COUNT_FOR_ANOTHER(Focus.DEADLY_MESSAGES) {
    @Override
    public DataCommand command(DataCommand command, Lease lease) {
      return command instanceof DataCommand.RecordOutcomes c
          ? new DataCommand.RecordOutcomes(
              c.group(),
              c.shard(),
              c.epoch(),
              c.outcomes().stream().map(outcome -> another(outcome)).toList())
          : command;
    }

    private Outcome another(Outcome outcome) {
      return outcome instanceof Outcome.Begun begun && !begun.over()
          ? new Outcome.Begun(begun.offset() + 1, false)
          : outcome;
    }
  },

  /** A dispatcher does not wait until former shards are over. */
  CHILDREN_DO_NOT_WAIT(Focus.SHARDS_CHANGE) {
    @Override
    public List<ShardStatus> statuses(List<ShardStatus> statuses, boolean first) {
      return statuses.stream()
          .map(each -> with(each, lease -> lease.at(Lease.Stage.PASSED)))
          .toList();
    }
  },

  /** Log groups do not seal the former shards. */
  NOTHING_IS_SEALED(Focus.SHARDS_CHANGE) {
    @Override
    public DataCommand managed(DataCommand command) {
      return command instanceof DataCommand.SealShards seal
          ? new DataCommand.SealShards(seal.topicId(), 0)
          : command;
    }
  },

  /** A group has no lease on a shard before somebody owns it: so nobody knows that it reads it. */
  LEASES_BEGIN_WITH_OWNERS(Focus.CONSUMED_IS_DROPPED) {
    @Override
    public int level() {
      return FeatureLevel.SUBSCRIPTIONS - 1;
    }

    @Override
    public DataCommand managed(DataCommand command) {
      return command instanceof DataCommand.OpenShards c
          ? new DataCommand.OpenShards(
              c.topicId(), c.topic(), c.shards(), c.config(), c.epochFloor(), List.of(), 0)
          : command;
    }
  },

  /** The states of former shards do not come to those in their place. */
  STATES_OF_PARENTS_ARE_LOST(Focus.SHARDS_CHANGE) {
    @Override
    public Lease parent(Lease lease) {
      return lease.withState(new byte[0]);
    }
  },

  /** What is due soon is delivered with what is due. */
  DELIVERS_BEFORE_DUE {
    @Override
    public long dueClock(long clockMillis) {
      return clockMillis + 100;
    }
  };

  /** Where it shows soon. */
  final Focus focus;

  Bugs() {
    this(Focus.NONE);
  }

  Bugs(Focus focus) {
    this.focus = focus;
  }

  private static ShardStatus withoutDrains(ShardStatus status) {
    return with(status, lease -> lease.draining(null));
  }

  private static ShardStatus with(ShardStatus status, UnaryOperator<Lease> change) {
    return new ShardStatus(
        status.shard(),
        status.startOffset(),
        status.endOffset(),
        status.bytes(),
        status.messagesDropped(),
        status.leases().stream().map(change).toList(),
        List.of(),
        ShardStatus.Delayed.NONE);
  }
}
