package dev.evenkeel.sim;

import dev.evenkeel.broker.machine.DataState;
import dev.evenkeel.broker.state.BatchIndex;
import dev.evenkeel.broker.state.FailureCounts;
import dev.evenkeel.broker.state.IndexEntry;
import dev.evenkeel.broker.state.LeaseKey;
import dev.evenkeel.broker.state.ShardRecord;
import dev.evenkeel.broker.state.TailCache;
import dev.evenkeel.bus.FetchAnswer;
import dev.evenkeel.bus.FetchRequest;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.Batch;
import dev.evenkeel.storage.Store;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.BiPredicate;
import java.util.function.Predicate;
import java.util.function.Supplier;

/** Serves the fetches of a data group, which wait if there is nothing yet. */
final class LongPolls {
  private record Waiting(
      FetchRequest request, Network.Answer<FetchAnswer> answer, boolean[] over) {}

  private final Timeline time;
  private final SplittableRandom random;
  private final Supplier<DataState> leader;
  private final BiPredicate<String, Shard> paused;
  private final List<Waiting> waiting = new ArrayList<>();

  LongPolls(
      Timeline time,
      SplittableRandom random,
      Supplier<DataState> leader,
      BiPredicate<String, Shard> paused) {
    this.paused = paused;
    this.time = time;
    this.random = random;
    this.leader = leader;
  }

  /**
   * @param state of the node that is asked
   */
  void fetch(DataState state, FetchRequest request, Network.Answer<FetchAnswer> answer) {
    FetchAnswer found = serve(state, request);
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
            answer.give(
                new FetchAnswer(0, request.offset(), failures(leader.get(), request), List.of()));
          }
        });
  }

  /** Those that wait are told, or are not. */
  void leaderChanges() {
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

  /** As the broker's fetch service: null if there is nothing yet. */
  private FetchAnswer serve(DataState state, FetchRequest request) {
    Shard shard = request.shard();
    ShardRecord record = state.tables().shard(shard);
    if (record == null) {
      throw new RefusedException(Refusal.UNKNOWN_SHARD, "there is no shard " + shard);
    }
    Lease lease = state.tables().lease(request.group(), shard);
    if (lease == null || !lease.ownedAt(request.epoch())) {
      throw new RefusedException(Refusal.FENCED, "epoch " + request.epoch() + ": " + lease);
    }
    if (request.offset() < record.start() || request.offset() > record.end()) {
      throw new RefusedException.OutOfRange(record.start(), record.end());
    }
    boolean nothing = request.offset() == record.end();
    boolean news = failures(state, request) != request.failuresKnown();
    if (nothing ? !news : paused.test(request.group(), shard)) {
      return null;
    }
    List<FetchAnswer.Placed> placed = new ArrayList<>();
    if (nothing) {
      return new FetchAnswer(record.start(), record.end(), failures(state, request), placed);
    }
    for (TailCache.Cached each : read(state, request, record.end())) {
      placed.add(new FetchAnswer.Placed(each.baseOffset(), each.batch()));
    }
    return new FetchAnswer(record.start(), record.end(), failures(state, request), placed);
  }

  /** From memory, or if the node has begun again since, one batch from the store. */
  private static List<TailCache.Cached> read(DataState state, FetchRequest request, long end) {
    Shard shard = request.shard();
    List<TailCache.Cached> found =
        state
            .tail()
            .read(shard, request.offset(), end, request.bytesMax(), request.messagesMax())
            .batches();
    return found.isEmpty()
        ? state.read(store -> List.of(stored(state, store, shard, request.offset())))
        : found;
  }

  private static TailCache.Cached stored(DataState state, Store store, Shard shard, long offset) {
    IndexEntry entry = BatchIndex.at(store, shard, offset);
    byte[] bytes = state.bytes(entry);
    return new TailCache.Cached(
        entry.base(), Batch.next(ByteBuffer.wrap(bytes)).verified(), entry.place().index());
  }

  private static int failures(DataState state, FetchRequest request) {
    LeaseKey key = new LeaseKey(request.shard(), request.group());
    FailureCounts failures = state.tables().failures(key);
    ShardRecord record = state.tables().shard(request.shard());
    return FetchAnswer.failures(
        failures.concerningOwner(), record != null && record.sealed(), failures.anyMoved());
  }

  /** Looks again at the fetches that wait for what has changed. */
  void wake(Set<Shard> changed) {
    wake(each -> changed.contains(each.request().shard()));
  }

  void wakeAll() {
    wake(each -> true);
  }

  private void wake(Predicate<Waiting> which) {
    for (Waiting each : waiting.stream().filter(which).toList()) {
      try {
        FetchAnswer found = serve(leader.get(), each.request());
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
  }
}
