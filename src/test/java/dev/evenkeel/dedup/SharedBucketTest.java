package dev.evenkeel.dedup;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.dedup.Step.Kind;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

class SharedBucketTest {
  private static final int MANY = 1_000;

  private final SharedBucket bucket = new SharedBucket();

  private static DedupKey key(int number) {
    return new DedupKey(number, -number);
  }

  private static Step step(Kind kind, int key, String member, long token) {
    SharedClaim claim =
        new SharedClaim(
            new Worker(member, token % 3, 31L * member.hashCode() + token), token, 100, 1L << 40);
    return new Step(kind, key(key), claim);
  }

  private static List<Step> sent(List<Step> steps) {
    return SharedCodec.steps(SharedCodec.steps(steps));
  }

  private List<StepReply> apply(int keysMax, Step... steps) {
    return SharedCodec.replies(SharedCodec.replies(bucket.apply(sent(List.of(steps)), 1, keysMax)))
        .replies();
  }

  @Test
  void stepsOfOneKeyInOneBatchFollowEachOther() {
    List<StepReply> replies =
        apply(
            MANY,
            step(Kind.ENQUEUE, 1, "a", 1),
            step(Kind.ENQUEUE, 1, "b", 1),
            step(Kind.ENQUEUE, 2, "a", 2),
            step(Kind.ENQUEUE, 1, "c", 1),
            step(Kind.DEQUEUE, 1, "a", 1),
            step(Kind.DEQUEUE, 2, "a", 2));
    assertThat(replies)
        .extracting(StepReply::answer)
        .containsExactly(Answer.ACCEPT, Answer.BLOCK, Answer.ACCEPT, Answer.DECLINE, null, null);
    assertThat(replies.get(4).departure()).isEqualTo(Departure.PASSED_ON);
    assertThat(replies.get(4).head().worker().member()).isEqualTo("b");
    assertThat(replies.get(5).departure()).isEqualTo(Departure.FREED);
    assertThat(bucket.keys()).isOne();
  }

  private List<KeyInFlight> heldSince(long millis) {
    List<KeyInFlight> held = bucket.heldSince(millis);
    assertThat(SharedCodec.inFlight(SharedCodec.inFlight(held))).isEqualTo(held);
    return held;
  }

  @Test
  void keysThatAreHeldForLongAreSeen() {
    apply(MANY, step(Kind.ENQUEUE, 1, "a", 1), step(Kind.ENQUEUE, 2, "b", 1));
    bucket.apply(List.of(step(Kind.ENQUEUE, 2, "c", 1), step(Kind.ENQUEUE, 3, "c", 2)), 9, MANY);
    assertThat(heldSince(0)).isEmpty();
    assertThat(heldSince(1))
        .containsExactly(
            new KeyInFlight(key(1), new KeyInFlight.Place("a", 1), 101, null),
            new KeyInFlight(
                key(2), new KeyInFlight.Place("b", 1), 101, new KeyInFlight.Place("c", 9)));
    assertThat(heldSince(9))
        .extracting(KeyInFlight::state)
        .containsExactly(State.PROCESS, State.BLOCK, State.PROCESS);
    assertThat(bucket.keys()).as("it only looks").isEqualTo(3);
  }

  @Test
  void howManyKeysItLooksAtDoesNotGrowWithThem() {
    for (int i = 0; i < 2 * SharedBucket.LOOKED_AT_MAX; i++) {
      long now = i < SharedBucket.LOOKED_AT_MAX ? 100 : 1;
      bucket.apply(List.of(step(Kind.ENQUEUE, i, "a", i)), now, 1_000_000);
    }
    assertThat(heldSince(1)).as("they were used too recently to be looked at").isEmpty();
    assertThat(heldSince(100)).hasSize(SharedBucket.HELD_MAX);
  }

  @Test
  void pastTheLimitTheKeyNotUsedForLongestGoesAndIsCounted() {
    apply(2, step(Kind.ENQUEUE, 1, "a", 1), step(Kind.ENQUEUE, 2, "a", 2));
    apply(2, step(Kind.ENQUEUE, 1, "b", 1));
    SharedBucket.Replies replies = bucket.apply(List.of(step(Kind.ENQUEUE, 3, "a", 3)), 1, 2);
    assertThat(replies.overflowed()).isOne();
    assertThat(SharedCodec.replies(SharedCodec.replies(replies)).overflowed()).isOne();
    assertThat(bucket.keys()).isEqualTo(2);
    assertThat(apply(9, step(Kind.DEQUEUE, 2, "a", 2)).get(0).departure())
        .isEqualTo(Departure.NOT_HEAD);
    assertThat(apply(9, step(Kind.DEQUEUE, 1, "a", 1)).get(0).departure())
        .isEqualTo(Departure.PASSED_ON);
  }

  @Test
  void theDeadAndTheOverdueAreSweptAndTheNextHeadIsNamed() {
    apply(
        MANY,
        step(Kind.ENQUEUE, 1, "dead", 1),
        step(Kind.ENQUEUE, 1, "b", 1),
        step(Kind.ENQUEUE, 2, "dead", 2));
    assertThat(bucket.members()).containsExactly("b", "dead");
    Set<String> left = new HashSet<>();
    List<SharedBucket.Swept> found = bucket.sweep("b"::equals, 50);
    List<SharedBucket.Swept> swept =
        SharedCodec.swept(SharedCodec.swept(found, bucket.members()), left);
    assertThat(left).containsExactly("b");
    assertThat(swept).extracting(SharedBucket.Swept::key).containsExactly(key(1), key(2));
    assertThat(swept.get(0).head().worker().member()).isEqualTo("b");
    assertThat(swept.get(1).head()).isNull();
    assertThat(bucket.keys()).isOne();
    assertThat(bucket.sweep("b"::equals, 149)).isEmpty();
    assertThat(bucket.sweep("b"::equals, 150)).hasSize(1);
    assertThat(bucket.keys()).isZero();
  }

  /** Also in the order of use, which decides what overflows later. */
  @Test
  void oneThatMovedGoesOnAsIfItHadNot() {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    SharedBucket moved = new SharedBucket();
    for (int round = 0; round < 200; round++) {
      List<Step> steps = new ArrayList<>();
      for (int i = random.nextInt(10); i >= 0; i--) {
        Kind kind = random.nextInt(3) == 0 ? Kind.DEQUEUE : Kind.ENQUEUE;
        steps.add(step(kind, random.nextInt(40), "m" + random.nextInt(3), random.nextInt(4)));
      }
      byte[] here = SharedCodec.replies(bucket.apply(sent(steps), round, 20));
      byte[] there = SharedCodec.replies(moved.apply(sent(steps), round, 20));
      assertThat(there).as("seed %d", seed).isEqualTo(here);
      moved = SharedBucket.ofBytes(moved.bytes());
      assertThat(moved.bytes()).as("seed %d", seed).isEqualTo(bucket.bytes());
    }
  }
}
