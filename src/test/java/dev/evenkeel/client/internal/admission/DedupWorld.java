package dev.evenkeel.client.internal.admission;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.client.internal.consume.Task;
import dev.evenkeel.dedup.Answer;
import dev.evenkeel.dedup.Claim;
import dev.evenkeel.dedup.ClusteredCoordinator;
import dev.evenkeel.dedup.DedupKey;
import dev.evenkeel.dedup.Places;
import dev.evenkeel.dedup.SharedAutomata;
import dev.evenkeel.dedup.SharedBucket;
import dev.evenkeel.dedup.SharedCodec;
import dev.evenkeel.dedup.Step;
import dev.evenkeel.dedup.StepReply;
import dev.evenkeel.dedup.Worker;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BiConsumer;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.random.RandomGenerator;

/**
 * The map of automata that members of a {@link Simulation} share, over its network; it is cleared
 * at times. Keeps account of what runs and what was declined.
 */
final class DedupWorld {
  private final Map<DedupKey, byte[]> map = new HashMap<>();
  private final Map<String, SharedAutomata.Turns> turns = new HashMap<>();
  private final RandomGenerator random;
  private final LongSupplier now;
  private final BiConsumer<Long, Runnable> after;
  private final Predicate<Worker> comes;

  /**
   * How long a loss of the map, or a run without an answer, shows: the longest handler, and as long
   * for a handler to be free.
   */
  private static final long LOSS_MILLIS = 8_000;

  private static final int REPLY_MILLIS_MAX = 20;

  private final Map<String, Integer> working = new HashMap<>();
  private long overlapMillis = Long.MIN_VALUE / 2;
  private final Map<String, Long> lastDeclined = new HashMap<>();

  private final Map<String, DedupKey> keys = new HashMap<>();

  /** When a message was declined in favour of one that may not come. */
  private final Map<DedupKey, Long> inFavourOfOthers = new HashMap<>();

  /** When the last run that ended well began. */
  private final Map<String, Long> lastGoodRun = new HashMap<>();

  /** Until when nothing answers a member. */
  private final Map<String, Long> silentUntil = new HashMap<>();

  private final List<ClusteredCoordinator> coordinators = new ArrayList<>();
  private final long lossMillis;
  private final boolean silences;
  private long unguarded;
  long declined;
  long runs;
  boolean calm;

  /**
   * @param comes whether a waiting message is certain to be begun some time
   * @param waitMillis how long a message may wait once it has its key, besides for a handler
   */
  DedupWorld(
      RandomGenerator random,
      LongSupplier now,
      BiConsumer<Long, Runnable> after,
      Predicate<Worker> comes,
      long waitMillis) {
    this.random = random;
    this.now = now;
    this.after = after;
    this.comes = comes;
    lossMillis = LOSS_MILLIS + waitMillis;
    silences = random.nextBoolean();
  }

  ClusteredCoordinator coordinator(String member) {
    ClusteredCoordinator.Settings settings =
        silences
            ? new ClusteredCoordinator.Settings(60_000, 400, 2_000)
            : new ClusteredCoordinator.Settings(60_000, 2_000, 30_000);
    var made = new ClusteredCoordinator(new Seat(member), settings, now.getAsLong());
    coordinators.add(made);
    return made;
  }

  /** Whether nothing answers the member now. */
  private boolean silent(String member) {
    if (calm || !silences) {
      return false;
    }
    if (random.nextInt(200) == 0) {
      silentUntil.put(member, now.getAsLong() + random.nextInt(6_000));
    }
    return now.getAsLong() < silentUntil.getOrDefault(member, 0L);
  }

  void clear() {
    map.clear();
    overlapMillis = now.getAsLong();
  }

  /** A crash ends its handlers; nobody tells the automata. */
  void crashed(String member, List<Task> running) {
    turns.remove(member);
    running.forEach(task -> ended(task.message().keyText(), -1));
  }

  void sweep(Set<String> alive) {
    for (DedupKey key : List.copyOf(map.keySet())) {
      SharedBucket bucket = bucket(key);
      for (SharedBucket.Swept swept : bucket.sweep(alive::contains, now.getAsLong())) {
        if (swept.head() != null) {
          tell(key, swept.head());
        }
      }
      store(key, bucket);
    }
  }

  void started(String key) {
    if (key == null) {
      return;
    }
    runs++;
    long ahead = coordinators.stream().mapToLong(each -> each.figures().unguarded()).sum();
    if (ahead > unguarded) {
      unguarded = ahead;
      overlapMillis = now.getAsLong();
    }
    int atOnce = working.merge(key, 1, Integer::sum);
    if (now.getAsLong() - overlapMillis > lossMillis) {
      assertThat(atOnce).as("at work on " + key).isEqualTo(1);
    }
  }

  /**
   * @param began when the run began if it ended well, else -1
   */
  void ended(String key, long began) {
    if (key == null) {
      return;
    }
    if (working.merge(key, -1, Integer::sum) == 0) {
      working.remove(key);
    }
    if (began >= 0) {
      lastGoodRun.merge(key, began, Math::max);
    }
  }

  void declined(String text, DedupKey key) {
    assertThat(text).isNotNull();
    declined++;
    // It was decided when the step was done, and the answer took a while.
    lastDeclined.put(text, now.getAsLong() - REPLY_MILLIS_MAX);
    keys.put(text, key);
  }

  /**
   * A member that has lost a shard and does not know it, or that has it again and not yet given
   * back its former claims, may wait with a message that another owner has finished. If its handler
   * fails, or does not begin, the message does not come again.
   */
  private void decided(DedupKey key, Answer answer) {
    if (answer == Answer.DECLINE) {
      Worker waits = Places.tail(map.get(key));
      if (waits != null && !comes.test(waits)) {
        inFavourOfOthers.put(key, now.getAsLong());
      }
    }
  }

  /**
   * At the end: whatever was declined is done, by a run that began later. One that was declined in
   * favour of a message may depend on that in favour of which this was declined itself.
   */
  void check() {
    lastDeclined.forEach(
        (key, at) -> {
          long excused = inFavourOfOthers.getOrDefault(keys.get(key), -1L);
          assertThat(Math.max(excused, lastGoodRun.getOrDefault(key, -1L)))
              .as("good run of " + key + " after it was declined")
              .isGreaterThanOrEqualTo(at);
        });
    assertThat(map).isEmpty();
  }

  /** Each key has a bucket of its own. */
  private SharedBucket bucket(DedupKey key) {
    return SharedBucket.ofBytes(map.getOrDefault(key, new byte[0]));
  }

  private void store(DedupKey key, SharedBucket bucket) {
    if (bucket.keys() == 0) {
      map.remove(key);
    } else {
      map.put(key, bucket.bytes());
    }
  }

  private void tell(DedupKey key, Claim head) {
    if (calm || random.nextInt(5) > 0) {
      after.accept(
          (long) random.nextInt(20),
          () -> {
            SharedAutomata.Turns to = turns.get(head.worker().member());
            if (to != null) {
              to.head(key, head.token(), head.waitsUntilMillis());
            }
          });
    }
  }

  private final class Seat implements SharedAutomata {
    private final String member;

    Seat(String member) {
      this.member = member;
    }

    @Override
    public String member() {
      return member;
    }

    @Override
    public int listen(Turns listener) {
      turns.put(member, listener);
      return 1;
    }

    @Override
    public void forget(int number) {
      turns.remove(member);
    }

    @Override
    public long nowMillis() {
      return now.getAsLong();
    }

    @Override
    public CompletionStage<StepReply> step(Step step) {
      CompletableFuture<StepReply> reply = new CompletableFuture<>();
      byte[] bytes = SharedCodec.steps(List.of(step));
      // Of a silent member either what it sends is lost, or the answers.
      int fault = silent(member) ? random.nextInt(2) : calm ? 99 : random.nextInt(40);
      if (fault == 0) {
        after.accept(500L, () -> fail(reply));
        return reply;
      }
      // Steps of one process on one key keep their order.
      after.accept(
          5L,
          () -> {
            SharedBucket bucket = bucket(step.key());
            StepReply answer =
                bucket.apply(SharedCodec.steps(bytes), now.getAsLong(), 1).replies().get(0);
            store(step.key(), bucket);
            decided(step.key(), answer.answer());
            if (fault == 1) {
              after.accept(500L, () -> fail(reply));
            } else {
              after.accept(
                  (long) random.nextInt(REPLY_MILLIS_MAX),
                  () -> {
                    if (turns.containsKey(member)) {
                      reply.complete(answer);
                    }
                  });
            }
          });
      return reply;
    }

    private void fail(CompletableFuture<StepReply> reply) {
      if (turns.containsKey(member)) {
        reply.completeExceptionally(new IllegalStateException("lost"));
      }
    }

    @Override
    public CompletionStage<Void> heard() {
      return CompletableFuture.completedStage(null);
    }

    @Override
    public long silentMillisMax() {
      return 5_000;
    }

    @Override
    public void tell(DedupKey key, Claim head) {
      DedupWorld.this.tell(key, head);
    }
  }
}
