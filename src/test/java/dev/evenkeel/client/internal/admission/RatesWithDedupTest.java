package dev.evenkeel.client.internal.admission;

import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.Rate;
import dev.evenkeel.dedup.DedupKey;
import dev.evenkeel.dedup.LocalCoordinator;
import org.junit.jupiter.api.Test;

/** A message has its key while it waits for its rate. */
class RatesWithDedupTest {
  private final LocalCoordinator<DedupKey> coordinator = new LocalCoordinator<>(1_000, 60_000);
  private final RateGateTest.World world =
      new RateGateTest.World(
          new ConsumerOptions()
              .setOrder(ConsumerOptions.Order.NONE)
              .setDedup(ConsumerOptions.Dedup.KEY)
              .setKeyRate(new Rate(1, 1_000)),
          1,
          RateGate.KEYS_MAX,
          coordinator);

  @Test
  void whatComesWhileOneWaitsForItsRateIsDeclinedAllButOne() {
    times(5, i -> world.append(0, "a"));
    world.append(0, "b");
    world.turn();
    assertThat(RateGateTest.offsets(world)).as("one of each key").containsExactly(0L, 5L);
    assertThat(world.dedup.declined()).as("the second waits for the key").isEqualTo(3);
    long began = world.now;
    world.endAll();
    world.turn();
    assertThat(RateGateTest.offsets(world)).as("the second waits for its rate").hasSize(2);
    assertThat(coordinator.figures().processing()).as("and has the key").isEqualTo(1);
    world.append(0, "a");
    world.append(0, "a");
    world.turn();
    assertThat(world.dedup.declined()).isEqualTo(4);
    world.at(began + 999);
    assertThat(RateGateTest.offsets(world)).hasSize(2);
    world.at(began + 1_000);
    assertThat(RateGateTest.offsets(world)).containsExactly(0L, 5L, 1L);
    world.runOut();
    assertThat(RateGateTest.offsets(world)).containsExactly(0L, 5L, 1L, 6L);
    world.assertBounded("a", new Rate(1, 1_000));
    assertThat(world.core.consumed()).isEqualTo(world.messages());
    assertThat(coordinator.figures().processing() + coordinator.figures().waiting()).isZero();
  }

  @Test
  void aDeclinedMessageTakesNoToken() {
    world.append(0, "a");
    world.append(0, "a");
    world.append(0, "a");
    world.turn();
    world.at(world.now + 3_000);
    assertThat(world.dedup.declined()).isEqualTo(1);
    world.endAll();
    world.turn();
    assertThat(RateGateTest.offsets(world)).as("a token is there").containsExactly(0L, 1L);
  }

  @Test
  void aShardThatGoesTakesItsMessagesAlongAndTheirKeysAreFree() {
    world.append(0, "a");
    world.append(0, "a");
    world.turn();
    world.endAll();
    world.turn();
    assertThat(coordinator.figures().processing()).isEqualTo(1);
    world.loseAll();
    world.at(world.now + 100);
    world.dedup.tick(world.now);
    assertThat(coordinator.figures().processing()).isZero();
    world.at(world.now + 5_000);
    assertThat(world.begun).hasSize(1);
  }

  @Test
  void whoMayStartNothingGivesTheKeysBackAndAsksAgain() {
    world.append(0, "a");
    world.append(0, "a");
    world.turn();
    world.endAll();
    world.turn();
    world.core.link(false, world.now);
    world.dedup.tick(world.now);
    assertThat(coordinator.figures().processing()).isZero();
    world.now += 5_000;
    world.turn();
    assertThat(world.begun).hasSize(1);
    world.core.link(true, world.now);
    world.at(world.now);
    assertThat(RateGateTest.offsets(world)).containsExactly(0L, 1L);
  }
}
