package dev.evenkeel.dispatcher.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.protocol.Commands;
import dev.evenkeel.protocol.Drain;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.Shard;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class ShardStepTest {
  private static final Lease OWNED =
      Commands.lease("g", new Shard(1, 0), 3, "a", "a1", 0, -1, null, null);

  private static final Drain.Heir FIRST_RUN = new Drain.Heir("b1", 5_000);
  private static final Drain.Heir SECOND_RUN = new Drain.Heir("b2", 5_000);

  private static ShardStep alive(Lease lease, String target, long now) {
    return alive(lease, target, null, now);
  }

  private static ShardStep alive(Lease lease, String target, Drain.Heir heir, long now) {
    return ShardStep.next(
        lease, ShardStep.Owner.ALIVE, target, target != null, heir, true, 50, now);
  }

  @Test
  void theDrainNamesTheRunThatTheReleaseGrantsTheShardTo() {
    assertThat(alive(OWNED, "b", FIRST_RUN, 100))
        .isEqualTo(new ShardStep.DrainTo(new Drain("b", 150, FIRST_RUN)));
    Lease draining = OWNED.draining(new Drain("b", 150, FIRST_RUN));
    assertThat(alive(draining, "b", FIRST_RUN, 120)).isEqualTo(new ShardStep.Wait(150));
    assertThat(alive(draining, "b", FIRST_RUN, 150)).isEqualTo(new ShardStep.GrantTo("b", true));
    assertThat(alive(draining, "a", null, 120)).isEqualTo(new ShardStep.DrainTo(null));
  }

  @Test
  void anotherRunOfTheNextOwnerTakesItsPlaceInTheDrain() {
    Lease draining = OWNED.draining(new Drain("b", 150, FIRST_RUN));
    assertThat(alive(draining, "b", SECOND_RUN, 120))
        .isEqualTo(new ShardStep.DrainTo(new Drain("b", 150, SECOND_RUN)));
    assertThat(alive(draining, "b", null, 120))
        .isEqualTo(new ShardStep.DrainTo(new Drain("b", 150)));
    assertThat(alive(draining, null, null, 120))
        .isEqualTo(new ShardStep.DrainTo(new Drain("", 150)));
  }

  /** A log that cannot have one would leave it out again and again. */
  @Test
  void aDrainWithoutAnHeirIsLeftAsItIs() {
    Lease draining = OWNED.draining(new Drain("b", 150));
    assertThat(alive(draining, "b", FIRST_RUN, 120)).isEqualTo(new ShardStep.Wait(150));
  }

  @Test
  void aShardThatIsToBeResetGoesToNobody() {
    Lease draining = OWNED.draining(new Drain("b", 150, FIRST_RUN));
    assertThat(ShardStep.reset(draining, ShardStep.Owner.ALIVE, true, 50, 0, 100))
        .isEqualTo(new ShardStep.DrainTo(new Drain("b", 150)));
  }

  @Test
  void livingOwnerIsAskedFirstAndOverruledAfterTheDeadline() {
    assertThat(alive(OWNED, "b", 100)).isEqualTo(new ShardStep.DrainTo(new Drain("b", 150)));
    Lease draining = OWNED.draining(new Drain("b", 150));
    assertThat(alive(draining, "b", 149)).isEqualTo(new ShardStep.Wait(150));
    assertThat(alive(draining, "b", 150)).isEqualTo(new ShardStep.GrantTo("b", true));
  }

  @Test
  void aDeadlineOfAClockThatWasAheadIsBroughtBack() {
    Lease draining = OWNED.draining(new Drain("b", 3_600_150));
    Drain bounded = new Drain("b", 150);
    assertThat(alive(draining, "b", 100)).isEqualTo(new ShardStep.DrainTo(bounded));
    assertThat(alive(draining, "c", 100)).isEqualTo(new ShardStep.DrainTo(new Drain("c", 150)));
    assertThat(alive(OWNED.draining(bounded), "b", 120)).isEqualTo(new ShardStep.Wait(150));
    assertThat(ShardStep.reset(draining, ShardStep.Owner.ALIVE, true, 50, 0, 100))
        .isEqualTo(new ShardStep.DrainTo(bounded));
  }

  @Test
  void shardThatNobodyWantsIsDrainedToAnybody() {
    assertThat(alive(OWNED, null, 100)).isEqualTo(new ShardStep.DrainTo(new Drain("", 150)));
    Lease draining = OWNED.draining(new Drain("", 150));
    assertThat(alive(draining, null, 149)).isEqualTo(new ShardStep.Wait(150));
    assertThat(alive(draining, null, 150)).isEqualTo(ShardStep.IDLE);
  }

  @Property
  void unheardOwnersAreLeftAloneAndOnlyTheLivingGetShards(
      @ForAll @IntRange(max = 3) int ownerIndex,
      @ForAll @IntRange(max = 2) int targetIndex,
      @ForAll @IntRange(max = 2) int drainIndex,
      @ForAll boolean targetLive,
      @ForAll boolean settled,
      @ForAll @IntRange(max = 300) int now) {
    ShardStep.Owner owner = ShardStep.Owner.values()[ownerIndex];
    String target = new String[] {null, "a", "b"}[targetIndex];
    Drain drain = new Drain[] {null, new Drain("b", 150), new Drain("c", 150)}[drainIndex];
    boolean live = target != null && targetLive;
    Lease lease = owner == ShardStep.Owner.NONE ? null : OWNED.draining(drain);

    ShardStep step = ShardStep.next(lease, owner, target, live, null, settled, 50, now);

    if (owner == ShardStep.Owner.UNHEARD || owner == ShardStep.Owner.ALIVE && !settled) {
      assertThat(step).isEqualTo(ShardStep.IDLE);
    }
    if (step instanceof ShardStep.GrantTo grant) {
      assertThat(live).isTrue();
      assertThat(grant.member()).isEqualTo(target);
      if (owner == ShardStep.Owner.ALIVE) {
        assertThat(now).isGreaterThanOrEqualTo(150);
        assertThat(grant.capped()).isTrue();
      }
    }
    if (step instanceof ShardStep.DrainTo) {
      assertThat(owner).isEqualTo(ShardStep.Owner.ALIVE);
    }
  }
}
