package dev.evenkeel.dispatcher.core;

import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.assign.StickyAssignor;
import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.protocol.GroupPolicy;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.Refusal;
import java.util.ArrayList;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

/** The shards of a member that wished for a grace time wait for its next run. */
class StableMemberTest {
  private static final long GRACE_MILLIS = 30_000;

  private final Bench bench = Bench.withShards(6);
  private final Heartbeat a = bench.beat("a");
  private final Heartbeat c = bench.beat("c");
  private final Heartbeat b = stable(bench.beat("b"));
  private final Heartbeat next = stable(bench.beat("b", "b2", b.bornMillis() + 1));

  StableMemberTest() {
    bench.assignors.put("sticky", new StickyAssignor());
  }

  private static Heartbeat stable(Heartbeat beat) {
    return beat.withWishes(
        new Heartbeat.Wishes(
            null, null, 0, null, null, null, null, GRACE_MILLIS, null, Limits.CRASHES_MAX_DEFAULT));
  }

  private void twoEach() {
    bench.send(a, b);
    releaseDraining();
    bench.send(c);
    releaseDraining();
    assertThat(bench.owners().chars().sorted().toArray())
        .containsExactly('a', 'a', 'b', 'b', 'c', 'c');
    bench.clear();
  }

  private void releaseDraining() {
    for (int shard = 0; shard < 6; shard++) {
      if (bench.lease(shard).drain() != null) {
        bench.release(shard);
      }
    }
  }

  /** It closes as members do. */
  private void close(Heartbeat beat) {
    Heartbeat closing = beat.asClosing();
    bench.send(closing);
    for (int shard = 0; shard < 6; shard++) {
      if (beat.member().equals(bench.lease(shard).owner())) {
        bench.release(shard);
      }
    }
    bench.send(Bench.leaving(closing));
  }

  private List<Long> epochs() {
    List<Long> epochs = new ArrayList<>();
    times(6, shard -> epochs.add(bench.lease(shard).epoch()));
    return epochs;
  }

  private void comesBackTo(String before, List<Long> epochs) {
    bench.send(next);
    bench.pass(2_000, a, c, next).owned(before);
    for (int shard = 0; shard < 6; shard++) {
      long expected = epochs.get(shard) + (before.charAt(shard) == 'b' ? 1 : 0);
      assertThat(bench.lease(shard).epoch()).as("shard %s", shard).isEqualTo(expected);
    }
  }

  @Test
  void oneThatClosesGetsItsShardsBack() {
    twoEach();
    String before = bench.owners();
    List<Long> epochs = epochs();
    close(b);
    bench.pass(20_000, a, c);
    assertThat(bench.owners()).isEqualTo(before.replace('b', '-'));
    assertThat(epochs()).isEqualTo(epochs);
    comesBackTo(before, epochs);
    bench.by(Cause.BACK);
  }

  @Test
  void soDoesOneThatCrashed() {
    twoEach();
    String before = bench.owners();
    List<Long> epochs = epochs();
    bench.pass(20_000, a, c);
    assertThat(bench.core.find("g").members().live("b")).isNull();
    assertThat(epochs()).isEqualTo(epochs);
    comesBackTo(before, epochs);
  }

  @Test
  void afterItsTimeOthersGetThem() {
    twoEach();
    close(b);
    bench.pass(GRACE_MILLIS - 1_000, a, c);
    assertThat(bench.owners()).contains("-");
    bench.pass(2_000, a, c);
    assertThat(bench.owners()).doesNotContain("-").doesNotContain("b");
    bench.send(next);
    releaseDraining();
    bench.pass(2_000, a, c, next);
    releaseDraining();
    assertThat(bench.owners()).contains("b");
  }

  @Test
  void othersThatLeaveMeanwhileGiveItNothing() {
    twoEach();
    String before = bench.owners();
    close(b);
    close(c);
    bench.pass(5_000, a);
    assertThat(bench.owners()).isEqualTo(before.replace('b', '-').replace('c', 'a'));
    bench.send(next);
    bench.pass(2_000, a, next);
    releaseDraining();
    assertThat(bench.owners().chars().filter(each -> each == 'a').count())
        .as(bench.owners())
        .isEqualTo(3);
    for (int shard = 0; shard < 6; shard++) {
      if (before.charAt(shard) == 'b') {
        assertThat(bench.lease(shard).owner()).isEqualTo("b");
      }
    }
  }

  @Test
  void twoThatComeBackGetTheirOwn() {
    twoEach();
    String before = bench.owners();
    bench.send(stable(c));
    close(b);
    close(stable(c));
    bench.pass(5_000, a);
    assertThat(bench.owners()).isEqualTo(before.replace('b', '-').replace('c', '-'));
    Heartbeat nextC = stable(bench.beat("c", "c2", c.bornMillis() + 1));
    bench.send(nextC, next).pass(2_000, a, next, nextC).owned(before);
  }

  @Test
  void onlyMembersThatOwnShardsHaveAGrace() {
    Heartbeat level = stable(Bench.in(bench.beat("x"), GroupPolicy.MODE_LEVEL, List.of("t"), null));
    assertThat(bench.refusal(level)).isEqualTo(Refusal.INVALID);
    assertThat(
            bench.refusal(
                bench
                    .beat("x")
                    .withWishes(
                        new Heartbeat.Wishes(
                            null,
                            null,
                            0,
                            null,
                            null,
                            null,
                            null,
                            24 * 3_600_000L + 1,
                            null,
                            Limits.CRASHES_MAX_DEFAULT))))
        .isEqualTo(Refusal.INVALID);
  }

  @Property(tries = 25)
  void whateverHappensEveryShardEndsWithOneOwner(
      @ForAll @IntRange(min = 0, max = 1 << 20) int seed) {
    java.util.Random random = new java.util.Random(seed);
    Bench many = Bench.withShards(6);
    List<Heartbeat> live = new ArrayList<>();
    for (int step = 0; step < 30; step++) {
      String name = String.valueOf((char) ('a' + random.nextInt(4)));
      live.removeIf(each -> each.member().equals(name) && random.nextInt(3) == 0);
      if (random.nextBoolean()) {
        live.removeIf(each -> each.member().equals(name));
        Heartbeat beat = many.beat(name, name + step, step);
        live.add(random.nextBoolean() ? stable(beat) : beat);
        many.send(live.get(live.size() - 1));
      }
      many.pass(random.nextInt(8_000), live.toArray(Heartbeat[]::new));
      for (int shard = 0; shard < 6; shard++) {
        if (many.lease(shard) != null
            && random.nextBoolean()
            && many.lease(shard).drain() != null) {
          many.release(shard);
        }
      }
    }
    Heartbeat last = many.beat("z");
    live.add(last);
    many.send(last);
    many.pass(2 * GRACE_MILLIS, live.toArray(Heartbeat[]::new));
    many.pass(120_000, live.toArray(Heartbeat[]::new));
    assertThat(many.owners()).as("seed %s", seed).doesNotContain("-");
    for (int shard = 0; shard < 6; shard++) {
      String owner = many.lease(shard).owner();
      assertThat(live).as("seed %s", seed).anyMatch(each -> each.member().equals(owner));
    }
  }
}
