package dev.evenkeel.history;

import dev.evenkeel.bus.FetchAnswer;
import dev.evenkeel.bus.FetchRequest;
import dev.evenkeel.history.ShardLog.Id;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Drain;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.StartAt;
import dev.evenkeel.protocol.wire.AppendResults.Result;
import java.util.Arrays;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

/**
 * What one shard promises, as if it did one thing after another: its log, what it knows of
 * producers, and the leases of groups. It is written from the contract and shares no line with the
 * deciders of the brokers, so that a mistake there is no mistake here.
 *
 * <p>Each method is a step: the state after it, or null if that answer cannot come from this state.
 * An answer of null stands for an unknown one: then the state after it took effect.
 *
 * <p>Not modelled, and so not to be recorded: retention, delayed messages, messages that handlers
 * publish, and what is forgotten or deleted, after which epochs go on from a higher one.
 *
 * @param producers by id; a producer writes to one shard only
 * @param leases by group
 */
record ShardModel(ShardLog log, Map<Long, Producer> producers, Map<String, Held> leases) {
  static final ShardModel EMPTY = new ShardModel(ShardLog.EMPTY, Map.of(), Map.of());

  /** The newest epoch of a producer, and its next sequence. */
  record Producer(int epoch, long next) {}

  /**
   * A lease.
   *
   * @param instance null: nobody owns it
   * @param stateOffset -1: there is no state
   * @param state fingerprint of it
   * @param resets how often the group was reset
   */
  record Held(
      long epoch,
      String instance,
      long committed,
      long stateOffset,
      int state,
      Drain drain,
      long term,
      long resets) {

    boolean ownedAt(long by) {
      return instance != null && epoch == by;
    }

    /** Whether an answer shows this lease; answers to commands leave the state's bytes out. */
    boolean isShownBy(Lease lease) {
      return lease.epoch() == epoch
          && Objects.equals(lease.instance(), instance)
          && lease.committed() == committed
          && lease.stateOffset() == stateOffset
          && sameDrain(lease.drain())
          && lease.groupTerm() == term
          && lease.generation().number() == resets;
    }

    /** What an owner reads does not name the heir. */
    private boolean sameDrain(Drain other) {
      return Objects.equals(other, drain)
          || drain != null && Objects.equals(other, drain.withoutHeir());
    }

    Held committedAt(long offset) {
      return new Held(epoch, instance, offset, stateOffset, state, drain, term, resets);
    }

    Held withState(long offset, byte[] bytes) {
      return new Held(
          epoch, instance, committed, offset, Arrays.hashCode(bytes), drain, term, resets);
    }

    /** If the drain names an heir, that run owns it at the next epoch. */
    Held released() {
      Drain.Heir heir = drain == null || term > 0 ? null : drain.heir();
      return heir == null
          ? new Held(epoch, null, committed, stateOffset, state, drain, term, resets)
          : new Held(epoch + 1, heir.instance(), committed, stateOffset, state, null, term, resets);
    }

    Held draining(Drain to) {
      return new Held(epoch, instance, committed, stateOffset, state, to, term, resets);
    }
  }

  private ShardModel with(String group, Held lease) {
    Map<String, Held> changed = new TreeMap<>(leases);
    changed.put(group, lease);
    return new ShardModel(log, producers, changed);
  }

  // ---- The log

  /** A batch of a producer, or an anonymous one. */
  ShardModel append(Id batch, Result answer) {
    Producer known = producers.get(batch.producer());
    if (batch.producer() == 0) {
      return answered(answer, null, log.end()) ? taken(batch) : null;
    }
    if (known == null) {
      return batch.first() == 0
          ? answered(answer, null, log.end()) ? taken(batch) : null
          : answered(answer, Refusal.UNKNOWN_PRODUCER, 0) ? this : null;
    }
    if (batch.epoch() < known.epoch()) {
      return answered(answer, Refusal.PRODUCER_FENCED, known.epoch()) ? this : null;
    }
    long next = batch.epoch() > known.epoch() ? 0 : known.next();
    if (batch.first() == next) {
      return answered(answer, null, log.end()) ? taken(batch) : null;
    }
    if (batch.first() > next) {
      return answered(answer, Refusal.SEQUENCE_GAP, next) ? this : null;
    }
    long base = log.find(batch);
    if (base < 0) {
      return answered(answer, Refusal.INVALID, next) ? this : null;
    }
    return answered(answer, null, base) || answered(answer, null, Result.OFFSET_FORGOTTEN)
        ? this
        : null;
  }

  private ShardModel taken(Id batch) {
    if (batch.producer() == 0) {
      return new ShardModel(log.with(batch), producers, leases);
    }
    Map<Long, Producer> changed = new TreeMap<>(producers);
    changed.put(batch.producer(), new Producer(batch.epoch(), batch.first() + batch.count()));
    return new ShardModel(log.with(batch), changed, leases);
  }

  private static boolean answered(Result answer, Refusal refusal, long value) {
    return answer == null || answer.refusal() == refusal && answer.value() == value;
  }

  /** Batches that somebody was given: those at that place, and the end that the shard had. */
  ShardModel fetched(FetchRequest request, FetchAnswer answer) {
    return answer.startOffset() == 0
            && answer.endOffset() == log.end()
            && log.holds(request.offset(), answer.batches())
        ? this
        : null;
  }

  /** Somebody was taken for the owner. */
  ShardModel servedTo(String group, long epoch) {
    Held lease = leases.get(group);
    return lease != null && lease.ownedAt(epoch) ? this : null;
  }

  // ---- Leases

  ShardModel leaseRead(String group, Lease answer) {
    Held lease = leases.get(group);
    if (answer == null || lease == null) {
      return answer == null && lease == null ? this : null;
    }
    boolean sameState =
        answer.state() == null
            ? lease.stateOffset() == -1
            : Arrays.hashCode(answer.state()) == lease.state();
    return lease.isShownBy(answer) && sameState ? this : null;
  }

  ShardModel command(DataCommand command, Reply answer) {
    if (command instanceof DataCommand.Grant c) {
      return grant(c, answer);
    } else if (command instanceof DataCommand.SetDrain c) {
      Held lease = leases.get(c.group());
      return lease == null || lease.epoch() != c.expectedEpoch()
          ? refused(answer, Refusal.FENCED)
          : shown(c.group(), lease.draining(c.drain()), answer);
    } else if (command instanceof DataCommand.Commit c) {
      return commit(c, answer);
    } else if (command instanceof DataCommand.Release c) {
      return release(c, answer);
    } else if (command instanceof DataCommand.ResetLease c) {
      return reset(c, answer);
    } else if (command instanceof DataCommand.RecordOutcomes c) {
      return byOwner(c.group(), c.epoch(), answer);
    } else if (command instanceof DataCommand.SetPublisher c) {
      return byOwner(c.group(), c.epoch(), answer);
    }
    throw new IllegalArgumentException("not modelled: " + command);
  }

  private ShardModel refused(Reply answer, Refusal refusal) {
    boolean right = answer instanceof Reply.Refused no && no.refusal() == refusal;
    return answer == null || right ? this : null;
  }

  private ShardModel shown(String group, Held lease, Reply answer) {
    boolean right = answer instanceof Reply.OfLease of && lease.isShownBy(of.lease());
    return answer == null || right ? with(group, lease) : null;
  }

  private ShardModel done(ShardModel after, Reply answer) {
    return answer == null || answer instanceof Reply.Done ? after : null;
  }

  /** What changes nothing that is modelled, and only the owner may do. */
  private ShardModel byOwner(String group, long epoch, Reply answer) {
    Held lease = leases.get(group);
    if (lease == null || !lease.ownedAt(epoch)) {
      return refused(answer, Refusal.FENCED);
    }
    return answer instanceof Reply.Refused ? null : this;
  }

  private ShardModel grant(DataCommand.Grant command, Reply answer) {
    Held lease = leases.get(command.group());
    if (lease == null) {
      lease = new Held(0, null, position(command.start()), -1, 0, null, 0, 0);
    }
    if (lease.epoch() != command.expectedEpoch() || command.groupTerm() < lease.term()) {
      return refused(answer, Refusal.FENCED);
    }
    Held granted =
        new Held(
            lease.epoch() + 1,
            command.instance(),
            lease.committed(),
            lease.stateOffset(),
            lease.state(),
            null,
            command.groupTerm(),
            lease.resets());
    return shown(command.group(), granted, answer);
  }

  private boolean isPlace(long offset) {
    return offset >= 0 && offset <= log.end();
  }

  private ShardModel commit(DataCommand.Commit command, Reply answer) {
    Held lease = leases.get(command.group());
    if (lease == null || !lease.ownedAt(command.epoch())) {
      return refused(answer, Refusal.FENCED);
    }
    boolean first = command.stateOffset() >= 0 && lease.stateOffset() < 0;
    boolean newer = command.state() != null && command.stateOffset() > lease.stateOffset();
    boolean asState = first || command.state() != null;
    if (!isPlace(command.offset()) || asState && !isPlace(command.stateOffset())) {
      return refused(answer, Refusal.INVALID);
    }
    Held next = lease.committedAt(Math.max(lease.committed(), command.offset()));
    if (first || newer) {
      byte[] state = command.state() == null ? new byte[0] : command.state();
      next = next.withState(command.stateOffset(), state);
    }
    return done(with(command.group(), next), answer);
  }

  private ShardModel release(DataCommand.Release command, Reply answer) {
    Held lease = leases.get(command.group());
    if (lease != null && lease.instance() == null && lease.epoch() == command.epoch()) {
      return done(this, answer);
    }
    if (lease == null || !lease.ownedAt(command.epoch())) {
      return refused(answer, Refusal.FENCED);
    }
    boolean asState = command.state() != null;
    if (!isPlace(command.offset()) || asState && !isPlace(command.stateOffset())) {
      return refused(answer, Refusal.INVALID);
    }
    Held next = lease.committedAt(Math.max(lease.committed(), command.offset())).released();
    return done(
        with(
            command.group(),
            asState ? next.withState(command.stateOffset(), command.state()) : next),
        answer);
  }

  private ShardModel reset(DataCommand.ResetLease command, Reply answer) {
    Held lease = leases.get(command.group());
    long epoch = lease == null ? 0 : lease.epoch();
    if (epoch != command.expectedEpoch()) {
      return refused(answer, Refusal.FENCED);
    }
    StartAt to = command.to();
    if (to.kind() == StartAt.Kind.OFFSET && !isPlace(to.value())) {
      return refused(answer, Refusal.OFFSET_OUT_OF_RANGE);
    }
    long term = lease == null ? 0 : lease.term();
    long resets = lease == null ? 0 : lease.resets();
    Held next = new Held(epoch + 1, null, position(to), -1, 0, null, term, resets + 1);
    return shown(command.group(), next, answer);
  }

  private long position(StartAt to) {
    return switch (to.kind()) {
      case EARLIEST -> 0;
      case LATEST -> log.end();
      case OFFSET -> Math.max(0, Math.min(to.value(), log.end()));
      case TIMESTAMP -> throw new IllegalArgumentException("not modelled: " + to);
    };
  }
}
