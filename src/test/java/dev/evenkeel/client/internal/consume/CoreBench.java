package dev.evenkeel.client.internal.consume;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.bus.Assignment;
import dev.evenkeel.bus.FetchAnswer;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.ConsumerOptions.Order;
import dev.evenkeel.client.internal.consume.ConsumerAction.CallAssign;
import dev.evenkeel.client.internal.consume.ConsumerAction.CallRelease;
import dev.evenkeel.client.internal.consume.ConsumerAction.CommitPositions;
import dev.evenkeel.client.internal.consume.ConsumerAction.Fetch;
import dev.evenkeel.client.internal.consume.ConsumerAction.ReadLease;
import dev.evenkeel.client.internal.consume.ConsumerAction.RecordOutcomes;
import dev.evenkeel.client.internal.consume.ConsumerAction.Release;
import dev.evenkeel.client.internal.consume.ConsumerAction.Request;
import dev.evenkeel.protocol.Commands;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Outcome;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.ShardGroups;
import dev.evenkeel.protocol.wire.Batch;
import dev.evenkeel.protocol.wire.BatchBuilder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/** A consumer core by script: one shard or two, every answer given by hand. */
abstract class CoreBench {
  static final Shard S0 = new Shard(1, 0);
  static final Shard S1 = new Shard(1, 1);

  final ConsumerOptions options =
      new ConsumerOptions().setGroup("g").setMember("m").setTopics(List.of("t"));
  final List<ConsumerAction> actions = new ArrayList<>();
  ConsumerCore core;
  long now = 1_000_000;
  long revision;

  /** The last batch of positions that was sent. */
  CommitPositions sent;

  void start(Order order) {
    options.setOrder(order);
    begin(true, true);
  }

  void begin(boolean keepsState, boolean givesState) {
    core =
        new ConsumerCore(
            options,
            "i",
            new HandlerKind(keepsState, givesState, false, false),
            new SplittableRandom(1));
    core.shardGroups(ShardGroups.formed(1));
    core.heartbeatAnswered(now);
  }

  /** A member with state that owns S0 at epoch 1 and has fetched messages of those keys. */
  OwnedShard works(Order order, String... keys) {
    start(order);
    return hold(1, keys);
  }

  /** As {@link #works}, for a handler that keeps no state. */
  OwnedShard worksWithoutState(Order order, String... keys) {
    options.setOrder(order);
    begin(false, false);
    return hold(1, keys);
  }

  static Assignment.Owned owned(Shard shard, long epoch, boolean draining) {
    return new Assignment.Owned("t", shard, epoch, draining, 0, -1);
  }

  void assign(long term, long revision, Assignment.Owned... owned) {
    core.assigned(new Assignment("g", "m", "i", term, revision, List.of(owned), null), now);
  }

  void assign(Assignment.Owned... owned) {
    assign(1, ++revision, owned);
  }

  /** The one action of that type since the last call; the others are kept. */
  <A extends ConsumerAction> A take(Class<A> type) {
    List<A> found = takeAll(type);
    assertThat(found).as(type.getSimpleName()).hasSize(1);
    return found.get(0);
  }

  <A extends ConsumerAction> List<A> takeAll(Class<A> type) {
    ConsumerAction action;
    while ((action = core.poll()) != null) {
      actions.add(action);
    }
    List<A> found = actions.stream().filter(type::isInstance).map(type::cast).toList();
    actions.removeAll(found);
    return found;
  }

  @SafeVarargs
  final void none(Class<? extends ConsumerAction>... types) {
    for (Class<? extends ConsumerAction> type : types) {
      assertThat(takeAll(type)).as(type.getSimpleName()).isEmpty();
    }
  }

  void nothingIsPending() {
    assertThat(core.environment.flow.messages).isZero();
    assertThat(core.environment.flow.bytes).isZero();
  }

  /** The one position that was sent to be committed since the last call. */
  DataCommand.Commit commit() {
    sent = take(CommitPositions.class);
    return (DataCommand.Commit) sent.command();
  }

  DataCommand.Commit commitAfter(long millis) {
    tick(millis);
    return commit();
  }

  /** The log takes it. */
  DataCommand.Commit committedAfter(long millis) {
    DataCommand.Commit commit = commitAfter(millis);
    answer(sent, Reply.DONE);
    return commit;
  }

  void tick(long millis) {
    now += millis;
    core.heartbeatAnswered(now);
    core.tick(now);
  }

  Lease lease(Shard shard, long epoch, long committed, long stateOffset, byte[] state) {
    return Commands.lease("g", shard, epoch, "m", "i", committed, stateOffset, state, null);
  }

  /** Assigns S0 at that epoch, and attaches it as {@link #run} does. */
  OwnedShard hold(long epoch, String... keys) {
    assign(owned(S0, epoch, false));
    return run(S0, keys);
  }

  /** Attaches a shard from offset 0 and answers its first fetch with messages of those keys. */
  OwnedShard run(Shard shard, String... keys) {
    ReadLease read = take(ReadLease.class);
    answer(read, lease(shard, read.owned().ownership().epoch(), 0, -1, null));
    answer(take(CallAssign.class), null);
    return fetches(0, keys);
  }

  /** A member without state that owns S0 at epoch 5: its first fetch, which is to be answered. */
  Fetch startAt(long committed) {
    begin(false, false);
    return attach(5, committed);
  }

  /** Assigns S0 at that epoch, and attaches it; its first fetch is to be answered. */
  Fetch attach(long epoch, long committed) {
    leased(epoch, committed);
    answer(take(CallAssign.class), null);
    return take(Fetch.class);
  }

  /** Assigns S0 at that epoch, of which the log says that no state is kept. */
  void leased(long epoch, long committed) {
    assign(owned(S0, epoch, false));
    answer(take(ReadLease.class), lease(S0, epoch, committed, -1, null));
  }

  /** A fetch from that offset is answered with messages of those keys. */
  OwnedShard fetches(long offset, String... keys) {
    Fetch fetch = take(Fetch.class);
    assertThat(fetch.request().offset()).isEqualTo(offset);
    answer(fetch, answer(offset, batch(keys)));
    return (OwnedShard) fetch.owned();
  }

  static Batch batch(String... keys) {
    BatchBuilder builder = new BatchBuilder(256);
    for (String key : keys) {
      byte[] bytes = key == null ? null : key.getBytes(StandardCharsets.UTF_8);
      builder.add(new Message(bytes, Map.of(), 0, new byte[10]));
    }
    return builder.build(1, 0, 0);
  }

  static FetchAnswer answer(long base, Batch batch) {
    return new FetchAnswer(
        0, base + batch.count(), 0, List.of(new FetchAnswer.Placed(base, batch)));
  }

  /** Lets the handler of a message fail, and the log record that. */
  void fail(Task task) {
    broken(task);
    takeAll(RecordOutcomes.class).forEach(this::record);
  }

  /** Lets the handler of a message fail. */
  void broken(Task task) {
    core.failed(task, new IllegalStateException("broken"), now);
  }

  /** What the member wants the log to record, which it does. */
  List<Outcome> recorded() {
    return record(take(RecordOutcomes.class));
  }

  List<Outcome> record(RecordOutcomes outcomes) {
    answer(outcomes, new Reply.OfOffsets(List.of()));
    return outcomes.command().outcomes();
  }

  /** Releases a shard of which the handler gives no state. */
  DataCommand.Release released() {
    return released(null);
  }

  /** Releases a shard of which the handler gives that state. */
  DataCommand.Release released(byte[] state) {
    answer(take(CallRelease.class), state);
    return take(Release.class).command();
  }

  /** Begins the messages at those offsets, one after the other, and ends each of them. */
  void finish(long... offsets) {
    for (long offset : offsets) {
      finish(next(offset));
    }
  }

  void finish(Task... tasks) {
    for (Task task : tasks) {
      core.finished(task, now);
    }
  }

  Task next(long offset) {
    Task task = core.next(now);
    assertThat(task).isNotNull();
    assertThat(task.offset).isEqualTo(offset);
    return task;
  }

  <R> void answer(Request<R> request, R answer) {
    core.answered(request, Answer.of(answer), now);
  }

  void refuse(Request<?> request, Throwable failure) {
    core.answered(request, Answer.failed(failure), now);
  }

  static RefusedException refused(Refusal refusal) {
    return new RefusedException(refusal, "said the log");
  }
}
