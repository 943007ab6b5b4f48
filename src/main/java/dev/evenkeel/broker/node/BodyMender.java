package dev.evenkeel.broker.node;

import dev.evenkeel.broker.machine.BodyRefs;
import dev.evenkeel.broker.machine.DataState;
import dev.evenkeel.broker.machine.SegmentBodies;
import dev.evenkeel.bus.BodyAnswer;
import dev.evenkeel.bus.BodyAnswer.Have;
import dev.evenkeel.log.LogGroup;
import dev.evenkeel.storage.segment.RecordHeader;
import dev.evenkeel.storage.segment.Segments;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Mends damaged bodies of one data log group: fetches them from the other nodes, and puts them into
 * the segment. What no node has any more is lost: it is logged, and readers pass it.
 *
 * <p>Any thread may call any method; the work is done on one thread of its own.
 */
public final class BodyMender {
  private static final Logger LOG = LoggerFactory.getLogger(BodyMender.class);
  private static final long ASK_SECONDS_MAX = 5;

  /** How long the mending of a segment waits until this node has applied what another one has. */
  private static final long APPLY_MILLIS_MAX = 5_000;

  private static final long APPLY_LOOK_MILLIS = 5;

  /** Bodies in memory at a time, in bytes; one more may come. */
  private static final long BYTES_MAX = 16L << 20;

  /** What became of a damaged body. */
  public enum Result {
    /** It is as it was written. It may never have been damaged, or nobody needs it any more. */
    SOUND,
    /** No node has it. */
    LOST,
    /** A node that may have it has not answered. It is asked again from time to time. */
    LATER
  }

  /** Asks other nodes. */
  public interface Replicas {
    /** What a node has of the body of an entry of this log group; fails if it does not answer. */
    CompletableFuture<BodyAnswer> ask(String node, String group, long index);
  }

  private final LogGroup log;
  private final DataState state;
  private final Supplier<List<String>> others;
  private final Replicas replicas;
  private final Executor executor;
  private final Runnable mended;
  private final ConcurrentSkipListMap<Long, CompletableFuture<Result>> due =
      new ConcurrentSkipListMap<>();
  private final Set<Long> later = new ConcurrentSkipListSet<>();

  /** Bodies that no node has, and how many messages each of them had. */
  private final Map<Long, Long> lost = new ConcurrentHashMap<>();

  private final AtomicBoolean scheduled = new AtomicBoolean();
  private final LongAdder damagedBodies = new LongAdder();
  private final LongAdder mendedBodies = new LongAdder();
  private final LongAdder lostMessages = new LongAdder();

  /**
   * @param others ids of the other nodes now
   * @param executor runs one task at a time, which may wait for disk and network
   * @param mended called when files have been replaced to which snapshots still refer, and when
   *     followers need a snapshot because a body is lost
   */
  BodyMender(
      LogGroup log,
      DataState state,
      Supplier<List<String>> others,
      Replicas replicas,
      Executor executor,
      Runnable mended) {
    this.log = log;
    this.state = state;
    this.others = others;
    this.replicas = replicas;
    this.executor = executor;
    this.mended = mended;
    if (state.bodies() instanceof SegmentBodies bodies) {
      bodies.onDamage(this::mend);
    }
  }

  /** Looks at the body of an entry, and mends it if it is damaged or missing. */
  public CompletableFuture<Result> mend(long index) {
    CompletableFuture<Result> result = due.computeIfAbsent(index, any -> new CompletableFuture<>());
    schedule();
    return result;
  }

  /** What this node has of the body of an entry, for another node. Waits for the disk. */
  public BodyAnswer have(long index) throws IOException {
    if (!(state.bodies() instanceof SegmentBodies bodies) || bodies.segments() == null) {
      return BodyAnswer.without(Have.MISSING, -1);
    }
    Segments segments = bodies.segments();
    ByteBuffer body = segments.readVerified(index);
    RecordHeader header = segments.header(index);
    // Asked last: whatever is missing was dropped by entries up to here.
    long applied = state.appliedIndex();
    if (body != null && header != null) {
      return new BodyAnswer(Have.WHOLE, applied, header.term(), body);
    }
    ByteBuffer part = segments.readPart(index);
    if (part != null && header != null) {
      return new BodyAnswer(Have.PART, applied, header.term(), part);
    }
    if (segments.length(index) == 0) {
      if (segments.isRestoring()) {
        throw new IOException("a snapshot takes the place of the bodies");
      }
      return BodyAnswer.without(Have.MISSING, applied);
    }
    mend(index);
    return BodyAnswer.without(Have.DAMAGED, applied);
  }

  /** Tries again what could not be mended because a node did not answer. */
  void again() {
    later.forEach(this::mend);
  }

  /** Looks again at what is lost: a node may have it now, or nobody may need it any more. */
  void lostAgain() {
    lost.keySet().forEach(this::mend);
  }

  /** Whether it is known that no node has the body of this entry. */
  public boolean isLost(long index) {
    return lost.containsKey(index);
  }

  /** Damaged or missing bodies that were found, since the node started. */
  public long damagedBodies() {
    return damagedBodies.sum();
  }

  /** Damaged bodies that were mended, since the node started. */
  public long mendedBodies() {
    return mendedBodies.sum();
  }

  /** Bodies that no node has. */
  public long lostBodies() {
    return lost.size();
  }

  /** Messages in bodies that no node has, and that are not dropped yet. */
  public long lostMessages() {
    return lost.values().stream().mapToLong(Long::longValue).sum();
  }

  /** Messages in bodies that no node had, since the node started. */
  public long lostMessagesTotal() {
    return lostMessages.sum();
  }

  private void schedule() {
    if (scheduled.compareAndSet(false, true)) {
      try {
        executor.execute(this::run);
      } catch (RejectedExecutionException stopping) {
        due.values().forEach(result -> result.complete(Result.LATER));
      }
    }
  }

  private void run() {
    scheduled.set(false);
    Set<String> silent = new HashSet<>();
    while (!due.isEmpty() && state.bodies() instanceof SegmentBodies bodies) {
      Segments segments = bodies.segments();
      long number = segments.numberOf(due.firstKey());
      NavigableSet<Long> indices = new TreeSet<>();
      for (long index : due.keySet()) {
        if (segments.numberOf(index) == number) {
          indices.add(index);
        }
      }
      try {
        new Round(segments, number, silent).run(indices);
      } catch (IOException | RuntimeException | Error e) {
        // Whatever it is, readers wait for a result.
        LOG.warn(
            "log group {}: damaged bodies cannot be mended now, and it will be tried again: {}",
            log.name(),
            e.toString());
        indices.forEach(index -> ended(index, Result.LATER));
      }
    }
  }

  private void ended(long index, Result result) {
    if (result == Result.LATER) {
      later.add(index);
    } else {
      later.remove(index);
    }
    if (result == Result.SOUND) {
      lost.remove(index);
    }
    CompletableFuture<Result> waiting = due.remove(index);
    if (waiting != null) {
      waiting.complete(result);
    }
  }

  /** Puts a new table beside a segment whose table is damaged. */
  void mendTable(long number) throws IOException {
    if (state.bodies() instanceof SegmentBodies bodies
        && bodies.segments().mend(number, new TreeMap<>(), any -> true)) {
      LOG.warn("log group {}: the damaged table of segment {} is mended", log.name(), number);
      mended.run();
    }
  }

  /** Mends bodies of one segment. */
  private final class Round {
    private final Segments segments;
    private final long number;
    private final Set<String> silent;
    private final NavigableMap<Long, Segments.Body> found = new TreeMap<>();
    private final Set<Long> nowhere = new TreeSet<>();
    private long bytes;
    private long waitMillis = APPLY_MILLIS_MAX;

    Round(Segments segments, long number, Set<String> silent) {
      this.segments = segments;
      this.number = number;
      this.silent = silent;
    }

    void run(NavigableSet<Long> indices) throws IOException {
      if (!segments.tableIsSound(number)) {
        mendTable(number);
      }
      for (long index : indices) {
        if (segments.readVerified(index) != null || segments.readPart(index) != null) {
          ended(index, Result.SOUND);
        } else if (bytes < BYTES_MAX) {
          seek(index);
        }
      }
      Set<Long> unneeded = settle();
      boolean drops = unneeded.stream().anyMatch(index -> segments.length(index) > 0);
      boolean done =
          found.isEmpty() && !drops
              || segments.mend(number, found, index -> !unneeded.contains(index));
      if (done && !found.isEmpty()) {
        mendedBodies.add(found.size());
        LOG.warn(
            "log group {}: {} damaged bodies of segment {} were fetched from other nodes and are"
                + " mended",
            log.name(),
            found.size(),
            number);
      }
      if (done && (drops || !found.isEmpty())) {
        mended.run();
      }
      Result result = done ? Result.SOUND : Result.LATER;
      found.keySet().forEach(index -> ended(index, result));
      unneeded.forEach(index -> ended(index, result));
    }

    private void seek(long index) throws IOException {
      RecordHeader own = segments.header(index);
      List<BodyAnswer> answers = new ArrayList<>();
      MendDecision decision = decide(index, own, answers);
      for (String other : others.get()) {
        if (decision.verdict() == MendDecision.Verdict.LATER && !silent.contains(other)) {
          ask(other, index, answers);
          decision = decide(index, own, answers);
        }
      }
      while (decision.awaitedIndex() >= 0 && awaitApplied(decision.awaitedIndex())) {
        decision = decide(index, own, answers);
      }
      if (!lost.containsKey(index) && !later.contains(index)) {
        damagedBodies.increment();
      }
      switch (decision.verdict()) {
        case REPLACE -> {
          BodyAnswer from = decision.from();
          bytes += from.body().remaining();
          boolean partial = from.have() == Have.PART;
          found.put(index, new Segments.Body(from.term(), index, List.of(from.body()), partial));
        }
        case LOST -> nowhere.add(index);
        case LATER -> {
          if (later.add(index)) {
            LOG.warn(
                "log group {}: the body of entry {} is damaged, and not every other node says"
                    + " what it has of it: they are asked again",
                log.name(),
                index);
            mended.run();
          }
          ended(index, Result.LATER);
        }
      }
    }

    private boolean awaitApplied(long index) {
      try {
        for (; state.appliedIndex() < index; waitMillis -= APPLY_LOOK_MILLIS) {
          if (waitMillis <= 0) {
            return false;
          }
          Thread.sleep(APPLY_LOOK_MILLIS);
        }
        return true;
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return false;
      }
    }

    private MendDecision decide(long index, RecordHeader own, List<BodyAnswer> answers) {
      return MendDecision.of(
          index, own, state.appliedIndex(), log.copy().firstIndex(), others.get().size(), answers);
    }

    private void ask(String other, long index, List<BodyAnswer> answers) {
      try {
        answers.add(replicas.ask(other, log.name(), index).get(ASK_SECONDS_MAX, TimeUnit.SECONDS));
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        silent.add(other);
      } catch (Exception noAnswer) {
        LOG.info(
            "log group {}: {} does not say what it has of entry {}: {}",
            log.name(),
            other,
            index,
            noAnswer.toString());
        silent.add(other);
      }
    }

    /** Tells the bodies that nobody needs from those that are lost. Returns the former. */
    private Set<Long> settle() {
      Set<Long> unneeded = new TreeSet<>();
      if (nowhere.isEmpty()) {
        return unneeded;
      }
      long first = log.copy().firstIndex();
      BodyRefs refs = state.read(store -> BodyRefs.of(store, nowhere));
      for (long index : nowhere) {
        if (!refs.needs(index) && index < first) {
          unneeded.add(index);
          continue;
        }
        if (!lost.containsKey(index)) {
          long messages =
              new LostBody(state, index, refs.in(index), refs.hasFailures(index)).log(log.name());
          lost.put(index, messages);
          lostMessages.add(messages);
          mended.run();
        }
        ended(index, Result.LOST);
      }
      return unneeded;
    }
  }
}
