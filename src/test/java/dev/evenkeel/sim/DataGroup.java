package dev.evenkeel.sim;

import dev.evenkeel.broker.machine.DataListener;
import dev.evenkeel.broker.machine.DataState;
import dev.evenkeel.broker.machine.Rig;
import dev.evenkeel.broker.state.FailureStand;
import dev.evenkeel.broker.state.LeaseKey;
import dev.evenkeel.broker.state.ProducerRecord;
import dev.evenkeel.broker.state.ShardRecord;
import dev.evenkeel.broker.state.StoredFailures;
import dev.evenkeel.bus.FetchAnswer;
import dev.evenkeel.bus.FetchRequest;
import dev.evenkeel.bus.LeaseChange;
import dev.evenkeel.bus.ShardStatus;
import dev.evenkeel.model.DataCommand;
import dev.evenkeel.model.Lease;
import dev.evenkeel.model.Refusal;
import dev.evenkeel.model.RefusedException;
import dev.evenkeel.model.Reply;
import dev.evenkeel.model.Shard;
import dev.evenkeel.store.MemoryStore;
import dev.evenkeel.wire.AppendBody;
import dev.evenkeel.wire.AppendResults;
import dev.evenkeel.wire.Batch;
import dev.evenkeel.wire.Entry;
import dev.evenkeel.wire.ReplyCodec;
import dev.evenkeel.wire.RetryAnswer;
import dev.evenkeel.wire.RetryRequest;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Supplier;

/**
 * A data group of the brokers: the production state machine over a log in memory. It has a leader
 * most of the time; one that was deposed may serve reads for a moment, from a state that is behind,
 * and what was appended at a change of leaders is taken or lost, and nobody is told.
 */
final class DataGroup {
  /** What the brokers of a group need of the world. */
  interface Surroundings {
    void leaseChanged(LeaseChange change);

    boolean faulty();

    /** Delayed messages; null: there are none. */
    Delays delays();

    SimNodes nodes();
  }

  private final Timeline time;
  private final SplittableRandom random;
  private final Ledger ledger;
  private final Bug bug;
  private final Surroundings around;
  private final DataState head;
  private final DataState behind;
  private final List<byte[]> log = new ArrayList<>();
  private final LongPolls fetches;
  private final LinkedHashSet<Shard> changed = new LinkedHashSet<>();
  private SimNode leader;
  private long leaderlessUntil;

  /** Null: there are no delayed messages. */
  private final SimDueTimer timer;

  DataGroup(Timeline time, SplittableRandom random, Ledger ledger, Bug bug, Surroundings around) {
    this.time = time;
    this.random = random;
    this.ledger = ledger;
    this.bug = bug;
    this.around = around;
    leader = around.nodes().any();
    MemoryStore.Disk disk = new MemoryStore.Disk();
    head = new DataState(Path.of("target", "sim", "head"), disk::open, 1 << 20);
    behind = new DataState(Path.of("target", "sim", "behind"), disk::open, 1 << 20);
    try {
      head.open();
      behind.open();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    head.listen(new Told());
    fetches = new LongPolls(time, random, head);
    timer =
        around.delays() == null
            ? null
            : new SimDueTimer(time, random, around.delays(), this, head, this::append, bug);
  }

  private final class Told implements DataListener {
    @Override
    public void shardChanged(Shard shard) {
      changed.add(shard);
    }

    @Override
    public void leaseChanged(Lease lease) {
      changed.add(lease.shard());
      around.leaseChanged(LeaseChange.of(lease));
    }

    @Override
    public void leaseForgotten(Lease former) {
      changed.add(former.shard());
      around.leaseChanged(
          new LeaseChange(
              former.group(), former.shard(), former.epoch(), null, null, former.committed()));
    }

    @Override
    public void retriesAdded(LeaseKey key) {
      throw new IllegalStateException("nothing is replayed here");
    }

    @Override
    public void everythingChanged() {
      throw new IllegalStateException("no snapshot is restored here");
    }
  }

  // ---- Leaders

  /** The clock that the leader writes into entries. */
  long clockMillis() {
    return leader.clock.millis();
  }

  /** Whether the leader knows the time as far as it will. */
  boolean clockSettled() {
    return leader.clock.settled();
  }

  boolean led() {
    return time.now() >= leaderlessUntil;
  }

  /** Another leader is chosen, which takes a while. */
  void changeLeader() {
    leaderlessUntil = time.now() + 100 + random.nextInt(1_500);
    SimNode next = around.nodes().any();
    time.in(leaderlessUntil - time.now(), null, null, () -> leader = next);
    time.note(() -> "a data group has no leader until " + leaderlessUntil);
    if (timer != null) {
      timer.leaderChanges(leaderlessUntil - time.now());
    }
    fetches.leaderChanges();
  }

  private boolean staleRead() {
    return around.faulty() && !log.isEmpty() && random.nextInt(25) == 0;
  }

  /** The state of a node that does not know yet that it was deposed. */
  private DataState stale() {
    int first = (int) behind.appliedIndex() + 1;
    int upTo = first + random.nextInt(log.size() - first + 1);
    for (int index = first; index < upTo; index++) {
      behind.apply(1, index, ByteBuffer.wrap(log.get(index)));
    }
    return behind;
  }

  private static RefusedException notLeader() {
    return new RefusedException(Refusal.NOT_LEADER, "");
  }

  // ---- Writing

  private ByteBuffer append(byte[] entry) {
    log.add(entry);
    return head.apply(1, log.size() - 1, ByteBuffer.wrap(entry));
  }

  /** A batch of messages. */
  void append(Shard shard, Batch batch) {
    append(Rig.appendEntry(clockMillis(), new AppendBody.Item(shard, batch)));
    wake();
  }

  /** The highest epoch of a lease that was removed. */
  long epochFloor() {
    return head.tables().epochFloor();
  }

  /** What brokers tell each other to do with shards. */
  void manage(DataCommand command) {
    append(Entry.of(command, clockMillis()));
    wake();
  }

  /**
   * A command about a lease of {@code group} on {@code shard}.
   *
   * @param sender run of the consumer that sent it, or null
   */
  void submit(
      String group, Shard shard, DataCommand command, String sender, Network.Answer<Reply> answer) {
    submit(() -> apply(group, shard, command, sender), answer);
  }

  /** A batch that is to be kept until it is due. */
  void append(AppendBody.Item item, Network.Answer<AppendResults.Result> answer) {
    submit(() -> timer.keep(item), answer);
  }

  /** Batches of what handlers publish, for any shards of this group. */
  void append(byte[] body, Network.Answer<ByteBuffer> answer) {
    submit(() -> published(AppendBody.read(ByteBuffer.wrap(body.clone()))), answer);
  }

  private <T> void submit(Supplier<T> apply, Network.Answer<T> answer) {
    if (led()) {
      answer.give(apply.get());
      return;
    }
    switch (random.nextInt(4)) {
      case 0 -> throw notLeader();
      case 1 -> answer.never();
      default -> {
        // It is in the log of a leader without followers: the next one may have it too, or not.
        answer.never();
        if (random.nextBoolean()) {
          time.in(
              leaderlessUntil - time.now(),
              null,
              "applied, and nobody knows",
              () -> {
                T unused = apply.get();
              });
        }
      }
    }
  }

  private ByteBuffer published(List<AppendBody.Item> asked) {
    List<AppendBody.Item> items = bug.published(asked, this::producerEpoch);
    ByteBuffer reply =
        append(Rig.appendEntry(clockMillis(), items.toArray(AppendBody.Item[]::new)));
    List<AppendResults.Result> results = AppendResults.decode(reply.duplicate()).results();
    for (int i = 0; i < items.size(); i++) {
      AppendBody.Item item = items.get(i);
      AppendResults.Result result = results.get(i);
      time.note(
          () ->
              "output to "
                  + item.shard()
                  + " of producer "
                  + item.batch().producerId()
                  + "@"
                  + item.batch().producerEpoch()
                  + " from "
                  + item.batch().firstSequence()
                  + " -> "
                  + result);
      if (result.ok() && result.value() != AppendResults.Result.OFFSET_FORGOTTEN) {
        ledger.published(item.shard(), item.batch());
      }
    }
    wake();
    return reply;
  }

  private int producerEpoch(long id) {
    ProducerRecord producer = head.tables().producer(id);
    return producer == null ? 0 : producer.epoch();
  }

  private Reply apply(String group, Shard shard, DataCommand command, String sender) {
    Lease before = whole(group, shard);
    DataCommand seen = bug.command(command, before);
    Reply reply = ReplyCodec.decode(append(Entry.of(seen, clockMillis())));
    Lease after = whole(group, shard);
    time.note(() -> command + " of " + sender + " -> " + reply);
    if (command instanceof DataCommand.RecordOutcomes c && reply instanceof Reply.OfOffsets no) {
      ledger.recorded(
          shard, c, no.offsets(), failures(group, shard).deadLetters(0, 1_000, 1 << 20));
    }
    ledger.applied(shard, command, sender, before, after, reply);
    wake();
    return reply;
  }

  private StoredFailures failures(String group, Shard shard) {
    return head.read(store -> new StoredFailures(store, new LeaseKey(shard, group)));
  }

  FailureStand stand(String group, Shard shard) {
    return head.tables().failures(new LeaseKey(shard, group));
  }

  /** Retries that are due. */
  void fetchRetries(RetryRequest request, Network.Answer<RetryAnswer> answer) {
    if (!led()) {
      throw notLeader();
    }
    Lease lease = lease(request.group(), request.shard());
    if (lease == null || !lease.heldAt(request.epoch())) {
      throw new RefusedException(Refusal.FENCED, "epoch " + request.epoch() + ": " + lease);
    }
    RetryAnswer found =
        failures(request.group(), request.shard())
            .answer(request, head.tables().timeAt(clockMillis()).millis());
    answer.give(bug.retries(RetryAnswer.decode(found.encode().view())));
  }

  private Lease whole(String group, Shard shard) {
    Lease lease = head.tables().lease(group, shard);
    return lease == null || lease.state() == null ? lease : head.leaseWithState(group, shard);
  }

  // ---- Reading

  Lease lease(String group, Shard shard) {
    return head.tables().lease(group, shard);
  }

  void readLease(String group, Shard shard, Network.Answer<Lease> answer) {
    if (!led()) {
      throw notLeader();
    }
    DataState state = staleRead() ? stale() : head;
    if (state.tables().shard(shard) == null) {
      throw new RefusedException(Refusal.UNKNOWN_SHARD, "there is no shard " + shard);
    }
    Lease lease = state.tables().lease(group, shard);
    if (lease == null) {
      throw new RefusedException(Refusal.UNKNOWN_GROUP, "no lease on " + shard);
    }
    answer.give(lease.state() == null ? lease : state.leaseWithState(group, shard));
  }

  /** Shards with the leases of {@code group}, or of all if null. */
  List<ShardStatus> statuses(String group) {
    DataState state = staleRead() ? stale() : head;
    List<ShardStatus> statuses = new ArrayList<>();
    state
        .tables()
        .shards()
        .forEach(
            each -> {
              ShardRecord record = each.getValue();
              List<Lease> leases =
                  state.tables().leasesOn(each.getKey()).stream()
                      .filter(lease -> group == null || lease.group().equals(group))
                      .map(Lease::withoutState)
                      .toList();
              statuses.add(
                  new ShardStatus(
                      each.getKey(),
                      record.start(),
                      record.end(),
                      record.bytes(),
                      record.dropped(),
                      leases));
            });
    return statuses;
  }

  void fetch(FetchRequest request, Network.Answer<FetchAnswer> answer) {
    if (!led()) {
      if (random.nextBoolean()) {
        throw notLeader();
      }
      answer.never();
      return;
    }
    fetches.fetch(staleRead() ? stale() : head, request, answer);
  }

  /** Looks again at the fetches that wait for what has changed. */
  void wake() {
    if (!changed.isEmpty()) {
      fetches.wake(changed);
      changed.clear();
    }
  }
}
