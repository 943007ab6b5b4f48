package dev.evenkeel.dispatcher.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.bus.Assignment;
import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.bus.Heartbeats;
import dev.evenkeel.protocol.GroupPolicy;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.wire.FeatureLevel;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A group in mode singleton without topics is an election: one member leads, and nobody reads. */
class ElectionGroupTest {
  private final Bench bench = Bench.withShards(3);
  private final Heartbeat a = candidate("a", 100);
  private final Heartbeat b = candidate("b", 200);
  private final Heartbeat c = candidate("c", 300);

  private Heartbeat candidate(String name, long born) {
    return Heartbeats.with(
        bench.beat(name, name + "1", born),
        "policy",
        GroupPolicy.of("singleton"),
        "topics",
        List.of());
  }

  private static Heartbeat resigned(Heartbeat beat, long term) {
    return beat.withWishes(beat.wishes().resignedAt(term));
  }

  private static Heartbeat handedOver(Heartbeat beat, long term) {
    return beat.withWishes(beat.wishes().handedOverAt(term));
  }

  /** What it is told after the heartbeat has had its effect. */
  private Assignment.Lead lead(Heartbeat beat) {
    bench.send(beat);
    return ((Assignment) bench.send(beat)).lead();
  }

  private static Assignment.Lead leads(long term) {
    return new Assignment.Lead(term, true, false);
  }

  private static Assignment.Lead ends(long term) {
    return new Assignment.Lead(term, true, true);
  }

  private String leader() {
    return bench.core.find("g").leader();
  }

  private long term() {
    return bench.log.groupLeases.get("g").term();
  }

  @Test
  void theFirstLeadsWithoutShardsAndTheOthersWait() {
    bench.send(a, b);
    assertThat(lead(a)).isEqualTo(leads(1));
    assertThat(lead(b)).isNull();
    assertThat(leader()).isEqualTo("a");
    assertThat(bench.log.groups()).hasSize(1);
    assertThat(bench.core.find("g").isElection()).isTrue();
    assertThat(bench.writes()).isEmpty();
  }

  /** The assignment is pushed: nobody waits for the next heartbeat. */
  @Test
  void theNextLeaderHearsOfItAtOnce() {
    bench.send(a, b, Bench.leaving(a));
    assertThat(bench.told.get("b1").lead()).isEqualTo(leads(2));
  }

  @Test
  void whoComesDoesNotTakeTheLeadAway() {
    bench.send(b, a).pass(10_000, a, b);
    assertThat(lead(b)).isEqualTo(leads(1));
  }

  @Test
  void theLeadersDeathMakesTheNextRegisteredLeadAtAHigherTerm() {
    bench.send(a, c, b);
    bench.pass(4_000, b, c);
    assertThat(term()).isEqualTo(1);
    bench.pass(2_000, b, c);
    assertThat(lead(b)).isEqualTo(leads(2));
    assertThat(lead(a)).as("back, and not the leader any more").isNull();
  }

  @Test
  void whoResignsHandsOverBeforeTheTermGrows() {
    bench.send(a, b, resigned(a, 1));
    assertThat(bench.told.get("a1").lead()).isEqualTo(ends(1));
    bench.pass(10_000, resigned(a, 1), b);
    assertThat(term()).as("its handover is awaited").isEqualTo(1);
    Heartbeat over = handedOver(resigned(a, 1), 1);
    assertThat(lead(over)).isNull();
    assertThat(lead(b)).isEqualTo(leads(2));
    bench.pass(10_000, over, b);
    assertThat(term()).isEqualTo(2);
    bench.pass(6_000, over);
    assertThat(lead(over)).as("nobody else is there").isEqualTo(leads(3));
  }

  @Test
  void whoResignsAloneHandsOverToItself() {
    bench.send(a);
    assertThat(lead(resigned(a, 1))).isEqualTo(ends(1));
    assertThat(lead(handedOver(resigned(a, 1), 1))).isEqualTo(leads(2));
    bench.pass(5_000, handedOver(resigned(a, 1), 1));
    assertThat(term()).isEqualTo(2);
  }

  /** It may come from a program that is wrong, or from before the cluster began anew. */
  @Test
  void aHandoverOfATermToComeEndsNoTerm() {
    bench.send(a, b);
    assertThat(lead(handedOver(a, 1_000_000))).isEqualTo(leads(1));
    bench.pass(5_000, handedOver(a, 1_000_000), b);
    assertThat(term()).isEqualTo(1);
  }

  @Test
  void aLateHeartbeatTakesNeitherAResignationNorAHandoverBack() {
    bench.send(a, b, resigned(a, 1));
    assertThat(lead(a)).isEqualTo(ends(1));
    bench.refuseNext = Refusal.UNAVAILABLE;
    bench.send(handedOver(resigned(a, 1), 1));
    assertThat(term()).isEqualTo(1);
    bench.pass(1_000, a, b);
    assertThat(lead(b)).isEqualTo(leads(2));
  }

  @Test
  void aHandoverIsWaitedForNoLongerThanTheLockTime() {
    bench.send(a, b, resigned(a, 1));
    bench.pass(49_000, resigned(a, 1), b);
    assertThat(term()).isEqualTo(1);
    bench.pass(2_000, resigned(a, 1), b);
    assertThat(lead(b)).isEqualTo(leads(2));
    assertThat(lead(a)).isNull();
  }

  @Test
  void aHandoverToWhoDiesIsCalledOff() {
    bench.send(a, b, a.asClosing());
    assertThat(bench.told.get("a1").lead()).isEqualTo(ends(1));
    bench.send(a, b, resigned(a, 1));
    bench.pass(6_000, a.asClosing());
    assertThat(term()).isEqualTo(1);
    bench.pass(48_000, a.asClosing());
    bench.send(c);
    bench.pass(48_000, a.asClosing(), c);
    assertThat(term()).as("the lock time begins again").isEqualTo(1);
    bench.pass(3_000, a.asClosing(), c);
    assertThat(lead(c)).isEqualTo(leads(2));
  }

  @Test
  void whoClosesIsFollowedWhenItHasLeft() {
    bench.send(a, b, a.asClosing());
    assertThat(term()).isEqualTo(1);
    bench.send(Bench.leaving(a.asClosing()));
    assertThat(bench.told.get("b1").lead()).isEqualTo(leads(2));
  }

  @Test
  void theNextDispatcherChangesNothing() {
    bench.send(a, b);
    bench.activate(List.of());
    bench.after(b).pass(3_000, b);
    assertThat(term()).as("nobody was heard but b, and the registry is empty").isEqualTo(1);
    assertThat(lead(a)).isEqualTo(leads(1));
    bench.pass(10_000, a, b);
    assertThat(lead(a)).isEqualTo(leads(1));
    bench.activate(List.of());
    bench.pass(7_000, b);
    assertThat(lead(b)).isEqualTo(leads(2));
  }

  @Test
  void theNextDispatcherAwaitsAHandoverThatHasBegun() {
    bench.send(a, b, resigned(a, 1));
    bench.activate(List.of());
    bench.send(b, resigned(a, 1)).pass(10_000, b, resigned(a, 1));
    assertThat(term()).isEqualTo(1);
    assertThat(lead(handedOver(resigned(a, 1), 1))).isNull();
    assertThat(lead(b)).isEqualTo(leads(2));
  }

  @Test
  void aTermThatWasNotKnownIsReadAndTheLeadTakenAgain() {
    bench.send(a, b);
    bench.log.apply(new MetaCommand.GrantGroupLease("g", "x", "x1", 1, 0), bench.now);
    bench.send(Bench.leaving(a));
    assertThat(lead(b)).as("x may be at work").isNull();
    bench.pass(4_000, b);
    assertThat(term()).isEqualTo(2);
    bench.pass(2_000, b);
    assertThat(lead(b)).isEqualTo(leads(3));
  }

  @Test
  void whoComesBackWhileAHigherTermIsAskedForLeadsNoMore() {
    bench.send(a, b);
    bench.refuseNext = Refusal.INDETERMINATE;
    bench.run(bench.core.expire("g", "a", bench.now));
    assertThat(((Assignment) bench.send(a)).lead()).as("b may have the next term").isNull();
    bench.pass(2_000, a, b);
    assertThat(lead(a)).isEqualTo(leads(2));
  }

  @Test
  void whoMayNotBeTheDispatcherAnyMoreLetsNobodyLead() {
    bench.send(a, b);
    bench.core.aloneIf(() -> false);
    assertThat(bench.refusal(a)).isEqualTo(Refusal.UNAVAILABLE);
    bench.run(bench.core.expire("g", "a", bench.now));
    bench.pass(3_000);
    assertThat(term()).as("another dispatcher may hear a").isEqualTo(1);
    bench.core.aloneIf(() -> true);
    bench.pass(2_000, b);
    assertThat(lead(b)).isEqualTo(leads(2));
  }

  private static MetaCommand.GrantGroupLease grant(List<DispatcherAction> actions) {
    return actions.stream()
        .filter(DispatcherAction.WriteMeta.class::isInstance)
        .map(action -> ((DispatcherAction.WriteMeta) action).command())
        .filter(MetaCommand.GrantGroupLease.class::isInstance)
        .map(MetaCommand.GrantGroupLease.class::cast)
        .findFirst()
        .orElseThrow();
  }

  /** Nobody would have waited until the leader surely begins nothing more. */
  @Test
  void theLateGrantOfAFormerDispatcherMakesNobodyLead() {
    bench.level = FeatureLevel.DISPATCHER_TERMS;
    bench.activate(List.of());
    bench.send(a, b);
    MetaCommand late = grant(bench.core.expire("g", "a", bench.now));
    bench.activate(List.of());
    bench.send(b);
    assertThat(lead(a)).isEqualTo(leads(1));
    bench.log.apply(late, bench.now);
    bench.activate(List.of());
    assertThat(lead(b)).as("a may be at work").isNull();
    assertThat(lead(a)).isEqualTo(leads(1));
    bench.send(Bench.leaving(a));
    assertThat(lead(b)).isEqualTo(leads(2));
  }

  @Test
  void nodesOfFormerVersionsAreNotToldTheDispatchersTerm() {
    bench.level = FeatureLevel.DISPATCHER_TERMS - 1;
    bench.activate(List.of());
    bench.send(a, b);
    assertThat(grant(bench.core.expire("g", "a", bench.now)).dispatcherTerm()).isZero();
  }

  @Test
  void theTermGrowsOnAfterTheGroupWasForgotten() {
    bench.send(a, b, Bench.leaving(a));
    bench.send(Bench.leaving(b));
    assertThat(term()).isEqualTo(2);
    bench.pass(20_000);
    long request = bench.forget(null, null);
    assertThat(bench.answer(request)).isInstanceOf(DispatcherAction.Forgotten.class);
    assertThat(bench.log.groups()).isEmpty();
    assertThat(lead(c)).isEqualTo(leads(3));
  }

  @Test
  void anElectionAndConsumersDoNotShareAGroup() {
    Heartbeat reader =
        Heartbeats.with(bench.beat("r", "r1", 400), "policy", GroupPolicy.of("singleton"));
    bench.send(a);
    assertThat(bench.refusal(reader)).isEqualTo(Refusal.GROUP_MISMATCH);
    assertThat(bench.refusal(bench.beat("s"))).isEqualTo(Refusal.GROUP_MISMATCH);
    assertThat(lead(a)).isEqualTo(leads(1));
    bench.send(Bench.leaving(a));
    bench.send(reader);
    assertThat(bench.owners()).isEqualTo("rrr");
    assertThat(bench.refusal(b)).isEqualTo(Refusal.GROUP_MISMATCH);
    bench.send(Bench.leaving(reader));
    assertThat(bench.send(b))
        .as("the group reads topics, also without members")
        .isInstanceOfSatisfying(
            DispatcherAction.Refuse.class,
            refused -> assertThat(refused.detail()).contains("reads topics", "delete the group"));
  }

  @Test
  void onlyModeSingletonHasNoTopics() {
    assertThat(bench.refusal(Heartbeats.with(bench.beat("z"), "topics", List.of())))
        .isEqualTo(Refusal.INVALID);
    assertThat(
            bench.refusal(
                Heartbeats.with(
                    a, "memberTimeoutMillis", Limits.MEMBER_TIMEOUT_MILLIS_DEFAULT + 1)))
        .isEqualTo(Refusal.INVALID);
    assertThat(bench.refusal(handedOver(bench.beat("z"), 1))).isEqualTo(Refusal.INVALID);
    assertThat(bench.refusal(handedOver(a, -1))).isEqualTo(Refusal.INVALID);
  }
}
