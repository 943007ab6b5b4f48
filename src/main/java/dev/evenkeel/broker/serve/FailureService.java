package dev.evenkeel.broker.serve;

import static dev.evenkeel.protocol.Refusal.CORRUPT;

import dev.evenkeel.broker.state.BatchPlace;
import dev.evenkeel.broker.state.BatchSource;
import dev.evenkeel.broker.state.DataTables;
import dev.evenkeel.broker.state.FailureCounts;
import dev.evenkeel.broker.state.KeptPart;
import dev.evenkeel.broker.state.LeaseKey;
import dev.evenkeel.broker.state.StoredFailures;
import dev.evenkeel.bus.Asker;
import dev.evenkeel.bus.Calls;
import dev.evenkeel.bus.FailureFigures;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.DeadLettersAnswer;
import dev.evenkeel.protocol.wire.RetriesList;
import dev.evenkeel.protocol.wire.RetryAnswer;
import dev.evenkeel.protocol.wire.RetryRequest;
import io.vertx.core.Future;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Stream;

/** Answers requests about retries and dead letters. Runs on one context. */
record FailureService(ServeContext serve, PauseGate pauses) {
  private static final int LETTERS_MAX = 1_000;

  /** When the owner of a paused shard asks again for retries that are due. */
  private static final long PAUSE_LOOK_MILLIS = 1_000;

  Future<RetryAnswer> retries(RetryRequest request, Asker asker) {
    LogGroupServer group = serve.readyGroupOf(request.shard());
    FetchService.requireLease(group, request.group(), request.shard(), request.epoch());
    LeaseKey key = new LeaseKey(request.shard(), request.group());
    if (group.state().tables().failures(key).concerningOwner() == 0) {
      return Future.succeededFuture(
          new RetryAnswer(
              -1, List.of(), request.first() ? RetryAnswer.Known.NOTHING : null, List.of()));
    }
    long now = group.state().tables().timeAt(serve.node().nowMillis()).millis();
    boolean paused = pauses.holds(request.group(), request.shard());
    return read(
        asker,
        group,
        key,
        stored -> paused ? whilePaused(stored, request, now) : stored.answer(request, now));
  }

  /** Without messages: what is due may be asked for again later. */
  private static RetryAnswer whilePaused(StoredFailures stored, RetryRequest request, long now) {
    RetryAnswer none = stored.answer(request.withoutMessages(), now);
    return none.nextInMillis() == 0
        ? new RetryAnswer(PAUSE_LOOK_MILLIS, none.due(), none.known(), none.batches())
        : none;
  }

  Future<DeadLettersAnswer> deadLetters(Calls.ReadDeadLetters asked, Asker asker) {
    long from = Math.max(0, asked.from());
    int max = Math.max(1, Math.min(asked.max(), LETTERS_MAX));
    int bytesMax = Math.max(0, Math.min(asked.bytesMax(), Limits.FETCH_BYTES_MAX));
    LogGroupServer group = serve.readyGroupOf(asked.shard());
    LeaseKey key = new LeaseKey(asked.shard(), asked.group());
    return read(asker, group, key, stored -> stored.deadLetters(from, max, bytesMax));
  }

  Future<RetriesList> waiting(Calls.ReadRetries asked, Asker asker) {
    long from = Math.max(0, asked.from());
    int max = Math.max(1, Math.min(asked.max(), LETTERS_MAX));
    LogGroupServer group = serve.readyGroupOf(asked.shard());
    LeaseKey key = new LeaseKey(asked.shard(), asked.group());
    long now = group.state().tables().timeAt(serve.node().nowMillis()).millis();
    return read(asker, group, key, stored -> stored.waiting(from, max, now));
  }

  /** Reads messages from the disk; one that is damaged is mended first. */
  private <A> Future<A> read(
      Asker asker, LogGroupServer group, LeaseKey key, Function<StoredFailures, A> reader) {
    return new MendingRead<>(
            serve,
            group,
            asker,
            () ->
                group
                    .state()
                    .read(
                        store -> {
                          Source source = new Source(group);
                          return answer(
                              source, key, reader, new StoredFailures(store, source, key));
                        }))
        .run();
  }

  private static <A> A answer(
      Source source, LeaseKey key, Function<StoredFailures, A> reader, StoredFailures stored) {
    try {
      return reader.apply(stored);
    } catch (RefusedException damaged) {
      if (damaged.refusal() != CORRUPT || source.last == null) {
        throw damaged;
      }
      String place =
          source.group.state().tables().nameOf(key.shard()) + " on " + source.group.nodeId();
      throw new DamagedBodyException(source.last.index(), place + ", " + damaged.getMessage());
    }
  }

  /** The bodies of a log group, and which of them was read last. */
  private static final class Source implements BatchSource {
    private final LogGroupServer group;
    private BatchPlace last;

    Source(LogGroupServer group) {
      this.group = group;
    }

    @Override
    public byte[] read(BatchPlace place, int bytes) {
      last = place;
      return group.state().bytes(place, bytes);
    }

    @Override
    public KeptPart part(BatchPlace place) {
      return group.state().part(place);
    }

    @Override
    public boolean isLost(BatchPlace place) {
      return group.mender().isLost(place.index());
    }
  }

  List<FailureFigures> figures(Calls.ReadFailures asked) {
    LogGroupServer group = serve.group(asked.dataGroup());
    String only = asked.group();
    group.requireReady();
    return group.state().tables().failures().entrySet().stream()
        .filter(each -> only == null || only.equals(each.getKey().group()))
        .map(each -> figures(each.getKey(), each.getValue()))
        .toList();
  }

  /**
   * Counts of the failures of groups on a shard.
   *
   * @param only of this group; null: of all groups
   */
  static List<FailureFigures> on(LogGroupServer group, Shard shard, String only) {
    DataTables tables = group.state().tables();
    if (tables.failures().isEmpty()) {
      return List.of();
    }
    Stream<LeaseKey> keys =
        only == null
            ? tables.failuresOn(shard).stream()
            : Stream.of(new LeaseKey(shard, only)).filter(tables.failures()::containsKey);
    return keys.map(key -> figures(key, tables.failures(key))).toList();
  }

  private static FailureFigures figures(LeaseKey key, FailureCounts counts) {
    return new FailureFigures(
        key.group(),
        key.shard(),
        counts.waiting(),
        counts.parked(),
        counts.held(),
        counts.dead(),
        counts.bytes());
  }
}
