package dev.evenkeel.sim;

import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.DeadLetter;
import dev.evenkeel.protocol.GroupInfo;
import dev.evenkeel.protocol.GroupLease;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.Outcome;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.StartAt;
import dev.evenkeel.protocol.wire.Batch;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.LongPredicate;

/**
 * Knows what really happened in a group: who handled each message, and who was granted each epoch.
 * It checks every entry of the log, every answer to a consumer, and every message that one begins.
 */
final class Ledger {

  private final Map<Shard, Track> tracks = new TreeMap<>();
  private final ShardLogs logs;

  /** The highest epoch of each shard of a topic of that name, also before it was made again. */
  private final Map<String, Long> highest = new HashMap<>();

  /** Since when the group's record has each topic that it reads; virtual time. */
  private final Map<String, Long> readSince = new HashMap<>();

  /** Who held the group at each term. */
  private final TreeMap<Long, String> holders = new TreeMap<>();

  /** Whether it judges what becomes of messages, too; if not, it judges leases alone. */
  private final boolean ofMessages;

  private boolean mixed;

  private long moves;

  /** What handlers publish; null: nothing. */
  private Outputs outputs;

  /**
   * @param ofMessages whether it judges what becomes of messages, too: it does not know filters,
   *     limits of topics, or dead letters that somebody touches
   */
  Ledger(ShardLogs logs, boolean ofMessages) {
    this.logs = logs;
    this.ofMessages = ofMessages;
  }

  void expect(Outputs expected) {
    outputs = expected;
  }

  /** Some members keep no state: if they finish a shard, its state lacks what they handled. */
  void expectMixedMembers() {
    mixed = true;
  }

  private static SimulationFailure failure(String what, Object... facts) {
    return new SimulationFailure(what + ": " + List.of(facts));
  }

  private Track track(Shard shard) {
    return tracks.computeIfAbsent(shard, each -> new Track(logs.of(each)));
  }

  // ---- Messages

  /** Where the group began, or was reset to. */
  long begin(Shard shard) {
    return track(shard).base;
  }

  /** What the messages from where the generation began up to {@code offset} add to a state. */
  long sum(Shard shard, long offset) {
    Track track = track(shard);
    long sum = track.log.sums.get((int) offset) - track.log.sums.get((int) track.base);
    for (int dead = track.dead.nextSetBit((int) track.base);
        dead >= 0 && dead < offset;
        dead = track.dead.nextSetBit(dead + 1)) {
      sum -= Tally.weight(shard.topicId(), shard.shard(), dead);
    }
    return sum;
  }

  /** What became of failed messages was written down, of all but those of {@code noRoom}. */
  void recorded(
      Shard shard,
      DataCommand.RecordOutcomes command,
      List<Long> noRoom,
      List<DeadLetter> deadLetters,
      LongPredicate deadly) {
    if (!ofMessages) {
      return;
    }
    Track track = track(shard);
    for (Outcome outcome : command.outcomes()) {
      boolean leaves =
          outcome instanceof Outcome.Parked
              || outcome instanceof Outcome.Failed f && f.way() != Outcome.Way.HELD;
      if (leaves && !noRoom.contains(outcome.offset())) {
        track.left.set((int) outcome.offset());
      }
    }
    Set<Long> gone = new HashSet<>(track.letters.keySet());
    for (DeadLetter letter : deadLetters) {
      gone.remove(letter.offset());
      boolean ofDeaths = letter.error().startsWith("its consumers died");
      if (ofDeaths && !deadly.test(letter.offset())) {
        throw failure("a message of which nobody died is a dead letter", letter);
      }
      if (!ofDeaths && letter.attempts() != World.ATTEMPTS) {
        throw failure("a dead letter after another number of attempts", letter);
      }
    }
    if (!gone.isEmpty()) {
      throw failure("a dead letter is gone", shard, gone);
    }
    track.letters(deadLetters);
  }

  /** Whether it became a dead letter since the last reset. */
  boolean isDead(Shard shard, long offset) {
    return track(shard).dead.get((int) offset);
  }

  /** Handled by somebody, or a dead letter. */
  boolean isDone(Shard shard, long offset) {
    return isHandled(shard, offset) || isDead(shard, offset);
  }

  boolean hasLeft(Shard shard, long offset) {
    return track(shard).left.get((int) offset);
  }

  boolean isCurrent(Shard shard, long epoch) {
    return epoch == track(shard).epoch;
  }

  /** The owner of {@code epoch} has handled it. What one from before a reset does is of no use. */
  void handled(Shard shard, long offset, long epoch) {
    if (!isFormerGeneration(shard, epoch)) {
      track(shard).handled.set((int) offset);
    }
  }

  /** Whether the shard was reset since {@code epoch} was granted. */
  boolean isFormerGeneration(Shard shard, long epoch) {
    return generation(shard, epoch) < track(shard).generation();
  }

  /** How often the shard had been reset when {@code epoch} was granted. */
  int generation(Shard shard, long epoch) {
    return track(shard).generation(epoch);
  }

  boolean isHandled(Shard shard, long offset) {
    return track(shard).handled.get((int) offset);
  }

  /** Offsets below are handled, or dead letters. */
  long doneUpTo(Shard shard) {
    return track(shard).done().nextClearBit(0);
  }

  long committed(Shard shard) {
    return Math.max(0, track(shard).committed);
  }

  /**
   * Nothing is begun in a shard before everything is done in those from which its keys come.
   *
   * @param parents these shards
   */
  void checkParents(Shard shard, List<Shard> parents) {
    for (Shard parent : parents) {
      Track of = track(parent);
      boolean sameTime = of.generation() == track(shard).generation();
      if (sameTime && of.done().nextClearBit(0) < of.log.keys.size()) {
        throw failure("begun before a shard from which its keys come is over", shard, parent);
      }
    }
  }

  /** A state that the first owner of a shard is given of another one. */
  void checkParent(Shard parent, byte[] state) {
    Tally tally = Tally.decode(state);
    long end = logs.end(parent);
    if (tally.offset() != end || tally.sum() != sum(parent, end)) {
      throw failure("a state of a former shard that is not that of its end", parent, tally, end);
    }
  }

  // ---- The log

  /** Grants so far. */
  long moves() {
    return moves;
  }

  /**
   * A command was applied.
   *
   * @param sender run of the consumer that sent it, or null
   * @param before the lease before it, with its state, or null
   * @param after the lease after it, with its state
   */
  void applied(
      Shard shard, DataCommand command, String sender, Lease before, Lease after, Reply reply) {
    Track track = track(shard);
    if (after == null) {
      return;
    }
    boolean taken = !(reply instanceof Reply.Refused);
    if (command instanceof DataCommand.Grant && taken) {
      checkHighest(shard, after);
    }
    if (command instanceof DataCommand.OpenLease && taken) {
      opened(shard, before, after);
      return;
    }
    if (command instanceof DataCommand.ResetLease reset && taken) {
      reset(track, reset, before, after);
      return;
    }
    if (track.log.dropped) {
      return;
    }
    long epoch = before == null ? 0 : before.epoch();
    boolean ownerKept = before != null && Objects.equals(before.instance(), after.instance());
    boolean inherited = command instanceof DataCommand.Release && taken && hasHeir(before);
    if (after.epoch() != epoch && !(command instanceof DataCommand.Grant) && !inherited) {
      throw failure("another epoch without a grant", command, after);
    }
    checkGeneration(track, before, after, command);
    if (after.epoch() == epoch && !ownerKept && after.owned()) {
      throw failure("another owner without another epoch", before, after);
    }
    if (command instanceof DataCommand.Grant grant && taken) {
      granted(track, grant, before, after);
    } else if (command instanceof DataCommand.Commit && taken) {
      mustOwn("commits", sender, before, command);
    } else if (command instanceof DataCommand.RecordOutcomes && taken) {
      mustOwn("tells what became of messages", sender, before, command);
    } else if (command instanceof DataCommand.SetPublisher && taken) {
      mustOwn("publishes", sender, before, command);
    } else if (command instanceof DataCommand.Release release && taken) {
      released(track, release, sender, before, after);
      if (inherited) {
        checkHighest(shard, after);
        inherited(track, before, after);
      }
    }
    if (after.committed() < track.committed) {
      throw failure("the committed offset goes back", track.committed, after);
    }
    track.committed = after.committed();
    if (ofMessages) {
      checkMessages(shard, track, sender, after, command);
    }
  }

  private void checkMessages(
      Shard shard, Track track, String sender, Lease after, DataCommand command) {
    BitSet gone = track.done();
    gone.or(track.left);
    if (gone.nextClearBit(0) < after.committed()) {
      throw failure("committed, but not handled", gone.nextClearBit(0), after, command, sender);
    }
    if (after.passed() && track.done().nextClearBit(0) < track.log.keys.size()) {
      throw failure("passed, but not all is handled", after, command);
    }
    if (outputs != null) {
      checkOutputs(shard, track, after);
    }
    boolean kept = after.state() != null && after.state().length > 0;
    boolean exact = !mixed || !after.finished();
    if (kept && exact && Tally.decode(after.state()).offset() != after.stateOffset()) {
      throw failure(
          "state and its offset are not of one record",
          Tally.decode(after.state()),
          after.stateOffset(),
          command);
    }
  }

  /** What is committed was published before. */
  private void checkOutputs(Shard shard, Track track, Lease after) {
    outputs.publisher(shard, after.generation().producerId());
    for (; track.published < after.committed(); track.published++) {
      int offset = track.published;
      boolean must = track.handled.get(offset) && !track.dead.get(offset);
      if (must && !outputs.whole(shard, track.generation(), offset)) {
        throw failure("committed, but not published", shard, offset, after, track.generation());
      }
    }
  }

  /** The log has taken a batch of what handlers publish. */
  void published(Shard to, Batch batch) {
    outputs.taken(to, batch);
  }

  // ---- Resets

  /** Somebody asks for a reset. */
  void asked(Shard shard, StartAt to) {
    track(shard).asked.add(to);
  }

  /** Somebody is told that the shard was reset. */
  void told(Shard shard, StartAt to, Lease lease) {
    Track track = track(shard);
    if (!track.log.dropped && !to.equals(track.resets.get(lease.epoch()))) {
      throw failure("told of a reset that was not", to, lease, track.resets);
    }
  }

  private void reset(Track track, DataCommand.ResetLease command, Lease before, Lease after) {
    long epoch = before == null ? 0 : before.epoch();
    if (command.expectedEpoch() != epoch || !follows(before, after)) {
      throw failure("reset what was changed since it was looked at", command, after);
    }
    if (!track.asked.contains(command.to())) {
      throw failure("reset to where nobody asked for", command, track.asked);
    }
    long asked = track.position(command.to());
    if (ofMessages && after.committed() != asked) {
      throw failure("reset to another place", command, asked, after);
    }
    if (after.owned() || after.drain() != null || after.state() != null) {
      throw failure("something is left after a reset", command, after);
    }
    long number = after.generation().number();
    if (before != null && number != track.number + 1 || after.generation().producerId() > 0) {
      throw failure("no new generation after a reset", after.generation(), track.number);
    }
    if (before == null) {
      track.madeMillis = logs.now();
    }
    track.number = number;
    track.reset(command.to(), after.committed(), after.epoch());
    moves++;
  }

  /** A new lease begins above all that were removed. */
  private static boolean follows(Lease before, Lease after) {
    return before == null ? after.epoch() > 0 : after.epoch() == before.epoch() + 1;
  }

  private static void checkGeneration(Track track, Lease before, Lease after, DataCommand command) {
    long producer = before == null ? 0 : before.generation().producerId();
    if (before == null) {
      track.number = after.generation().number();
    }
    boolean sameProducer = after.generation().producerId() == producer;
    if (after.generation().number() != track.number
        || !sameProducer && (producer > 0 || !(command instanceof DataCommand.SetPublisher))) {
      throw failure("another generation without a reset", command, after.generation());
    }
  }

  private void granted(Track track, DataCommand.Grant grant, Lease before, Lease after) {
    long epoch = before == null ? 0 : before.epoch();
    if (grant.expectedEpoch() != epoch || !follows(before, after)) {
      throw failure("granted what was changed since it was looked at", grant, after);
    }
    if (before == null) {
      begins(track, after);
    } else if (before.committed() != after.committed()
        || before.stateOffset() != after.stateOffset()) {
      throw failure("a grant changes where the shard stands", before, after);
    }
    checkTerm(before, after);
    track.epoch = after.epoch();
    track.owners.put(after.epoch(), after.instance());
    moves++;
  }

  /** The group has a lease on the shard from now on, by its subscription, unless it had one. */
  void opened(Shard shard, Lease before, Lease after) {
    if (before != null) {
      // Everything but the bytes of the state is in the text.
      if (!before.toString().equals(after.toString())) {
        throw failure("a lease that was there is opened again", before, after);
      }
      return;
    }
    checkHighest(shard, after);
    Track track = track(shard);
    if (after.owned()) {
      throw failure("a lease begins with an owner", after);
    }
    begins(track, after);
  }

  /** Retention has dropped what lies before. */
  void keptFrom(Shard shard, long start) {
    Track track = track(shard);
    if (!track.log.dropped && track.committed >= 0 && start > track.committed) {
      throw failure("dropped before the group has consumed it", shard, start, track.committed);
    }
  }

  /** The group begins here: what lies before does not concern it. */
  private void begins(Track track, Lease lease) {
    Long since = readSince.get(logs.name(lease.shard()));
    if (since != null && since < track.log.madeMillis && lease.committed() > 0) {
      throw failure("dropped what came since the group has subscribed", lease);
    }
    track.madeMillis = logs.now();
    track.handled.set(0, (int) lease.committed());
    track.published = (int) lease.committed();
    track.base = lease.committed();
    track.number = lease.generation().number();
    track.committed = lease.committed();
  }

  /** Whether a release of the lease grants the shard. */
  private static boolean hasHeir(Lease before) {
    return before != null
        && before.owned()
        && before.groupTerm() == 0
        && before.drain() != null
        && before.drain().heir() != null;
  }

  /** The owner has released the shard, and by the same record the next one has it. */
  private void inherited(Track track, Lease before, Lease after) {
    if (after.epoch() != before.epoch() + 1
        || !before.drain().heir().instance().equals(after.instance())
        || !before.drain().to().equals(after.owner())
        || before.drain().heir().timeoutMillis() != after.ownerTimeoutMillis()
        || after.drain() != null) {
      throw failure("a release grants the shard to another than the heir", before, after);
    }
    track.epoch = after.epoch();
    track.owners.put(after.epoch(), after.instance());
    moves++;
  }

  /** Whoever is granted a shard at a term holds the group at that term. */
  private void checkTerm(Lease before, Lease after) {
    String holder = holders.get(after.groupTerm());
    if (before != null && before.groupTerm() > after.groupTerm()) {
      throw failure("the term of a shard goes back", before, after);
    }
    if (after.groupTerm() > 0 && !after.instance().equals(holder)) {
      throw failure("granted at a term that another holds", after, String.valueOf(holder));
    }
  }

  // ---- Groups

  /** The meta log has taken a command, or refused it. */
  void decided(Reply reply, GroupInfo group) {
    Set<String> topics = group == null ? Set.of() : group.subscriptions().keySet();
    readSince.keySet().retainAll(topics);
    topics.forEach(topic -> readSince.putIfAbsent(topic, logs.now()));
    if (group != null
        && reply instanceof Reply.OfGroupLease of
        && of.lease().group().equals(group.name())
        && of.lease().held()) {
      GroupLease lease = of.lease();
      String former = holders.putIfAbsent(lease.term(), lease.instance());
      if (former == null ? lease.term() != holders.lastKey() : !former.equals(lease.instance())) {
        throw failure("a term comes again", lease, holders);
      }
    }
  }

  /** Somebody has the lease of the group dropped. */
  void forgotten(Shard shard, DataCommand.ForgetLeases command, Lease lease) {
    Track track = track(shard);
    Long since = readSince.get(logs.name(shard));
    boolean present = since != null && track.madeMillis > since;
    if (!track.log.dropped && (present || lease.epoch() > command.epochMax())) {
      throw failure("a lease is dropped of what was not forgotten", command, lease);
    }
    track.forgotten(lease.epoch());
    moves++;
  }

  /** Who fences by epochs knows the shard by its topic's name. */
  private void checkHighest(Shard shard, Lease after) {
    String name = logs.name(shard) + "/" + shard.shard();
    Long former = highest.put(name, after.epoch());
    if (former != null && former >= after.epoch()) {
      throw failure("an epoch comes again", name, former, after);
    }
  }

  private static void mustOwn(String does, String sender, Lease before, DataCommand command) {
    if (before == null || !before.owned() || !before.instance().equals(sender)) {
      throw failure("one who owns nothing " + does, sender, String.valueOf(before), command);
    }
  }

  private static void released(
      Track track, DataCommand.Release release, String sender, Lease before, Lease after) {
    boolean again =
        before != null
            && !before.owned()
            && Objects.equals(track.owners.get(before.epoch()), sender);
    if (!again) {
      mustOwn("releases", sender, before, release);
    }
    if (again && after.stateOffset() != before.stateOffset()) {
      throw failure("a repeated release changes the state", before, after);
    }
  }

  // ---- Consumers

  /** A consumer is told that it owns a shard, or acts as if. */
  void mustBeGranted(Shard shard, long epoch, String instance) {
    Track track = track(shard);
    if (!track.log.dropped && !instance.equals(track.owners.get(epoch))) {
      throw failure(
          "one acts at an epoch that it was never granted",
          shard,
          epoch,
          instance,
          String.valueOf(track.owners));
    }
  }

  boolean isPast(Shard shard, long epoch) {
    return epoch < track(shard).epoch;
  }

  /** A handler is given a state. */
  void checkState(Shard shard, long epoch, long offset, byte[] state) {
    Tally tally = Tally.decode(state);
    if (isFormerGeneration(shard, epoch)) {
      return;
    }
    if (tally.offset() != offset) {
      throw failure("a state and an offset that do not belong together", shard, tally, offset);
    }
    if (tally.sum() != sum(shard, offset)) {
      throw failure("a state that is not that of its offset", shard, tally, sum(shard, offset));
    }
  }
}
