package dev.evenkeel.client.internal.spool;

import dev.evenkeel.client.internal.produce.EpochOpener;
import dev.evenkeel.client.internal.spool.log.SpoolRecord;
import dev.evenkeel.client.internal.spool.log.SpoolState;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import io.vertx.core.Future;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;

/**
 * Opens the epochs of the runs of a spool. To be used on the producer's context.
 *
 * <p>An epoch is opened in three steps. First the spool records what is acknowledged, and which
 * epoch is going to be opened; for that epoch fences the one before as soon as one data group knows
 * it. Then the data groups open it. Then the spool records that it is open, and batches may be sent
 * in it. If the program ends in between, the next one repeats the second step, see {@link #resume}.
 */
final class SpoolEpochs {
  private final EpochOpener opener;
  private final SpoolDisk disk;
  private final SpoolState.Identity identity;

  /** For each run that was there at the start, by shard, the sequence after its last. */
  private final Map<Integer, Map<Integer, Long>> formerEnds;

  /** Of the open run, by shard, the sequence after the last that the log has. */
  private final Map<Integer, Long> taken = new HashMap<>();

  /** What is in the log above that: batches by their first sequence, with the one after them. */
  private final Map<Integer, TreeMap<Long, Long>> takenAhead = new HashMap<>();

  /** Whether this program has used an epoch. Until then it takes over the name as at a start. */
  private boolean begun;

  private Map<Integer, Long> bases;
  private volatile long lostMessages;

  /**
   * @param state read here only
   */
  SpoolEpochs(EpochOpener opener, SpoolDisk disk, SpoolState state) {
    this.opener = opener;
    this.disk = disk;
    identity = state.identity();
    bases = state.bases();
    formerEnds = state.ends();
  }

  /** The sequence within the open run that is 0 in its epoch. */
  long base(int shard) {
    return bases.getOrDefault(shard, 0L);
  }

  /**
   * A batch of the open run is about to be sent: the log has all of its shard before the first one.
   */
  void sending(int shard, long firstSequence) {
    taken.putIfAbsent(shard, firstSequence);
    begun = true;
  }

  /**
   * A batch of the open run is in the log. Answers may come out of order; what counts is the end of
   * the unbroken part.
   */
  void taken(int shard, long firstSequence, long endSequence) {
    TreeMap<Long, Long> ahead = takenAhead.computeIfAbsent(shard, none -> new TreeMap<>());
    ahead.put(firstSequence, endSequence);
    long end = taken.getOrDefault(shard, firstSequence);
    while (!ahead.isEmpty() && ahead.firstKey() <= end) {
      end = Math.max(end, ahead.pollFirstEntry().getValue());
    }
    taken.put(shard, end);
  }

  /** Messages of earlier runs that the log has and the spool has lost. */
  long lostMessages() {
    return lostMessages;
  }

  /**
   * Opens the next epoch for a run.
   *
   * @param former the run that has the epoch now; it may be the same
   * @param acked all up to here is in the log; all of {@code former}, if that is another run
   */
  Future<EpochOpener.Opened> open(int former, int run, SpoolRecord.Acked acked, int epoch) {
    Future<Reply.OfProducer> claim =
        begun
            ? opener.claim(identity.producerId(), epoch)
            : opener.takeOver(identity.producerId(), epoch);
    return claim
        .compose(
            claimed -> {
              if (claimed.producerId() != identity.producerId()) {
                throw new RefusedException(
                    Refusal.PRODUCER_FENCED,
                    "the name of this spool's producer belongs to another one now");
              }
              Map<Integer, Long> known = run == former ? new HashMap<>(taken) : Map.of();
              SpoolRecord.Opening opening =
                  new SpoolRecord.Opening(run, claimed.producerId(), claimed.epoch(), known);
              return disk.run(
                  log -> {
                    log.acked(acked.frame(), acked.messages());
                    log.append(opening);
                    log.force();
                    return opening;
                  });
            })
        .compose(opening -> resume(former, opening));
  }

  /**
   * Opens an epoch that is recorded as being opened.
   *
   * @param former the run that has the epoch now
   */
  Future<EpochOpener.Opened> resume(int former, SpoolRecord.Opening opening) {
    begun = true;
    return opener
        .open(opening.producerId(), opening.epoch())
        .compose(opened -> record(former, opening, opened));
  }

  private Future<EpochOpener.Opened> record(
      int former, SpoolRecord.Opening opening, EpochOpener.Opened opened) {
    int run = opening.run();
    Map<Integer, Long> begin = run == former ? basesAfter(opening, opened) : Map.of();
    if (run != former) {
      lostMessages = lostMessages + lost(former, opened);
    }
    return disk.run(
            log -> {
              log.append(new SpoolRecord.Opened(run, opened.producerId(), opened.epoch(), begin));
              log.force();
              return opened;
            })
        .onSuccess(
            none -> {
              bases = new HashMap<>(begin);
              if (run != former) {
                taken.clear();
                takenAhead.clear();
              }
            });
  }

  /** Where the sequences continue of a run that gets a further epoch. */
  private Map<Integer, Long> basesAfter(SpoolRecord.Opening opening, EpochOpener.Opened opened) {
    Map<Integer, Long> next = new HashMap<>(bases);
    opening.bases().forEach((shard, end) -> next.merge(shard, end, Math::max));
    taken.forEach((shard, end) -> next.merge(shard, end, Math::max));
    opened
        .lastSequences()
        .forEach(
            (shard, last) -> {
              if (shard.topicId() == identity.topicId()) {
                next.merge(shard.shard(), base(shard.shard()) + last + 1, Math::max);
              }
            });
    return next;
  }

  private long lost(int run, EpochOpener.Opened opened) {
    long sum = 0;
    Map<Integer, Long> ends = formerEnds.getOrDefault(run, Map.of());
    for (Map.Entry<Shard, Long> each : opened.lastSequences().entrySet()) {
      int shard = each.getKey().shard();
      if (each.getKey().topicId() == identity.topicId()) {
        sum += Math.max(0, base(shard) + each.getValue() + 1 - ends.getOrDefault(shard, 0L));
      }
    }
    return sum;
  }
}
