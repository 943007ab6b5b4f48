package dev.evenkeel.sim;

import dev.evenkeel.broker.machine.DataListener;
import dev.evenkeel.broker.machine.DataState;
import dev.evenkeel.broker.machine.Rig;
import dev.evenkeel.broker.state.FailureStand;
import dev.evenkeel.broker.state.LeaseKey;
import dev.evenkeel.broker.state.ProducerRecord;
import dev.evenkeel.broker.state.ShardRecord;
import dev.evenkeel.broker.state.StoredFailures;
import dev.evenkeel.broker.state.TailCache;
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
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.function.Supplier;

/**
 * A data group of the brokers: the production state machine over a log in memory. It has a leader
 * most of the time; one that was deposed may serve reads for a moment, from a state that is behind,
 * and what was appended at a change of leaders is taken or lost, and nobody is told.
 */
final class DataGroup {
  private record Waiting(
      FetchRequest request, Network.Answer<FetchAnswer> answer, boolean[] over) {}

  /** What the brokers of a group need of the world. */
  interface Surroundings {
    void leaseChanged(LeaseChange change);

    boolean faulty();

    /** Delayed messages; null: there are none. */
    Delays delays();

    /** By how much the clock of a leader is wrong. */
    long clockOffset();
  }

  private final Timeline time;
  private final SplittableRandom random;
  private final Ledger ledger;
  private final Bug bug;
  private final Surroundings around;
  private final Delays delays;
  private final DataState head;
  private final DataState behind;
  private final List<byte[]> log = new ArrayList<>();
  private final List<Waiting> waiting = new ArrayList<>();
  private final LinkedHashSet<Shard> changed = new LinkedHashSet<>();
  private long leaderlessUntil;

  /** Null: there are no delayed messages. */
  private final SimDueTimer timer;

  /** What was delivered last. */
  private AppendBody.Item delivered;

  DataGroup(Timeline time, SplittableRandom random, Ledger ledger, Bug bug, Surroundings around) {
    this.time = time;
    this.random = random;
    this.ledger = ledger;
    this.bug = bug;
    this.around = around;
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
    delays = around.delays();
    timer = delays == null ? null : new SimDueTimer(time, this, bug, around.clockOffset());
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

  boolean led() {
    return time.now() >= leaderlessUntil;
  }

  /** Another leader is chosen, which takes a while. */
  void changeLeader() {
    leaderlessUntil = time.now() + 100 + random.nextInt(1_500);
    time.note(() -> "a data group has no leader until " + leaderlessUntil);
    if (timer != null) {
      leaveDeliveries();
    }
    List<Waiting> asked = List.copyOf(waiting);
    waiting.clear();
    for (Waiting each : asked) {
      each.over()[0] = true;
      if (random.nextBoolean()) {
        each.answer().refuse(new RefusedException(Refusal.INDETERMINATE, "the leader has changed"));
      } else {
        each.answer().never();
      }
    }
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

  // ---- Delayed messages

  /** What the leader that goes has begun to deliver may be in the log of the next one. */
  private void leaveDeliveries() {
    long millis = leaderlessUntil - time.now();
    long clock = timer.clock();
    if (random.nextBoolean()) {
      time.in(millis, null, "a former leader's delivery", () -> deliver(clock));
    }
    if (delivered != null && bug.newLeaderDeliversAgain()) {
      AppendBody.Item again = delivered;
      time.in(millis, null, null, () -> deliverAgain(again));
    }
    timer.leaderChanges(millis, around.clockOffset());
  }

  private void deliverAgain(AppendBody.Item item) {
    if (head.tables().shard(item.shard()) == null) {
      return;
    }
    long end = head.tables().shard(item.shard()).end();
    append(Rig.appendEntry(time.now(), item));
    delays.delivered(item.shard(), item.batch(), end, time.now());
  }

  /** When the next delayed batch is due. */
  long nextDueMillis() {
    return head.tables().delays().nextDueMillis();
  }

  /** Keeps a batch until it is due. */
  void append(AppendBody.Item item, Network.Answer<AppendResults.Result> answer) {
    submit(() -> delayed(item), answer);
  }

  private AppendResults.Result delayed(AppendBody.Item item) {
    long before = head.tables().delays().of(item.shard()).messages();
    ByteBuffer reply = append(Rig.appendEntry(time.now(), item));
    AppendResults.Result result = AppendResults.decode(reply).results().get(0);
    boolean taken = head.tables().delays().of(item.shard()).messages() > before;
    time.note(
        () ->
            "delayed batch of "
                + item.shard()
                + ", due "
                + item.dueMillis()
                + (taken ? " waits" : " -> " + result));
    if (taken) {
      delays.taken(item.batch());
      timer.tell();
    }
    return result;
  }

  /**
   * Delivers what is due.
   *
   * @param clock of the leader that does it
   */
  void deliver(long clock) {
    DataCommand command = new DataCommand.DeliverDue(1 + random.nextInt(3), 1 << 20);
    Map<Shard, Long> ends = new TreeMap<>();
    for (Shard shard : head.tables().delays().dueAt(bug.dueClock(clock))) {
      ends.put(shard, head.tables().shard(shard).end());
    }
    Reply reply =
        ReplyCodec.decode(append(Entry.of(command, bug.dueClock(clock))));
    time.note(() -> command + " at " + clock + " -> " + reply);
    ends.forEach(
        (shard, end) -> {
          long now = head.tables().shard(shard).end();
          for (TailCache.Cached each : head.tail().read(shard, end, now, 1 << 20)) {
            delivered = new AppendBody.Item(shard, each.batch());
            delays.delivered(shard, each.batch(), each.baseOffset(), clock);
          }
        });
    wake();
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
    append(Rig.appendEntry(time.now(), new AppendBody.Item(shard, batch)));
    wake();
  }

  /** What brokers tell each other to do with shards. */
  void manage(DataCommand command) {
    append(Entry.of(command, time.now()));
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
    ByteBuffer reply = append(Rig.appendEntry(time.now(), items.toArray(AppendBody.Item[]::new)));
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
    Reply reply = ReplyCodec.decode(append(Entry.of(seen, time.now())));
    Lease after = whole(group, shard);
    time.note(() -> command + " of " + sender + " -> " + reply);
    if (command instanceof DataCommand.RecordOutcomes c && reply instanceof Reply.OfOffsets no) {
      ledger.recorded(
          shard, c, no.offsets(), failures(group, shard).deadLetters(0, 1_000, 1 << 20));
    }
    ledger.applied(shard, command, sender, before, after, reply, time.now());
    wake();
    return reply;
  }

  private StoredFailures failures(String group, Shard shard) {
    return head.read(store -> new StoredFailures(store, new LeaseKey(shard, group)));
  }

  FailureStand stand(String group, Shard shard) {
    return head.tables().failures(new LeaseKey(shard, group));
  }

  /** Retries that are due; the leader's clock is the world's. */
  void fetchRetries(RetryRequest request, Network.Answer<RetryAnswer> answer) {
    if (!led()) {
      throw notLeader();
    }
    Lease lease = lease(request.group(), request.shard());
    if (lease == null || !lease.heldAt(request.epoch())) {
      throw new RefusedException(Refusal.FENCED, "epoch " + request.epoch() + ": " + lease);
    }
    RetryAnswer found = failures(request.group(), request.shard()).answer(request, time.now());
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
    FetchAnswer found = serve(staleRead() ? stale() : head, request);
    if (found != null) {
      answer.give(found);
      return;
    }
    Waiting each = new Waiting(request, answer, new boolean[1]);
    waiting.add(each);
    time.in(
        request.waitMillis(),
        null,
        null,
        () -> {
          if (!each.over()[0]) {
            waiting.remove(each);
            each.over()[0] = true;
            answer.give(new FetchAnswer(0, request.offset(), failures(head, request), List.of()));
          }
        });
  }

  /** As the broker's fetch service: null if there is nothing yet. */
  private static FetchAnswer serve(DataState state, FetchRequest request) {
    Shard shard = request.shard();
    ShardRecord record = state.tables().shard(shard);
    if (record == null) {
      throw new RefusedException(Refusal.UNKNOWN_SHARD, "there is no shard " + shard);
    }
    Lease lease = state.tables().lease(request.group(), shard);
    if (lease == null || !lease.heldAt(request.epoch())) {
      throw new RefusedException(Refusal.FENCED, "epoch " + request.epoch() + ": " + lease);
    }
    if (request.offset() < record.start() || request.offset() > record.end()) {
      throw new RefusedException(Refusal.OFFSET_OUT_OF_RANGE, record.start() + ".." + record.end());
    }
    if (request.offset() == record.end()) {
      return null;
    }
    List<FetchAnswer.Placed> placed = new ArrayList<>();
    for (TailCache.Cached each :
        state.tail().read(shard, request.offset(), record.end(), request.bytesMax())) {
      placed.add(new FetchAnswer.Placed(each.baseOffset(), each.batch()));
    }
    return new FetchAnswer(record.start(), record.end(), failures(state, request), placed);
  }

  private static int failures(DataState state, FetchRequest request) {
    LeaseKey key = new LeaseKey(request.shard(), request.group());
    return state.tables().failures(key).concerningOwner();
  }

  /** Looks again at the fetches that wait for what has changed. */
  private void wake() {
    if (changed.isEmpty()) {
      return;
    }
    for (Waiting each : List.copyOf(waiting)) {
      if (!changed.contains(each.request().shard())) {
        continue;
      }
      try {
        FetchAnswer found = serve(head, each.request());
        if (found == null) {
          continue;
        }
        each.answer().give(found);
      } catch (RefusedException refused) {
        each.answer().refuse(refused);
      }
      each.over()[0] = true;
      waiting.remove(each);
    }
    changed.clear();
  }
}
