package dev.evenkeel.dispatcher.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.bus.LeaseChange;
import dev.evenkeel.model.DataCommand;
import dev.evenkeel.model.Refusal;
import dev.evenkeel.model.Reply;
import dev.evenkeel.model.Shard;
import dev.evenkeel.model.StartAt;
import java.util.List;
import org.junit.jupiter.api.Test;

class ResetTest {
  private final Bench bench = Bench.withShards(4);
  private final Heartbeat a = bench.beat("a");
  private final Heartbeat b = bench.beat("b");

  private void joined() {
    for (int i = 0; i < 4; i++) {
      bench.log.ends.put(new Shard(1, i), 100L);
    }
    bench.send(a);
    assertThat(bench.owners()).isEqualTo("aaaa");
  }

  private Action.Refuse refused(long request) {
    return (Action.Refuse) bench.answer(request);
  }

  private Action.ResetDone done(long request) {
    return (Action.ResetDone) bench.answer(request);
  }

  @Test
  void is_refused_while_a_member_owns_a_shard() {
    joined();
    Action.Refuse refuse = refused(bench.reset(false, 5, 0, 1));
    assertThat(refuse.refusal()).isEqualTo(Refusal.GROUP_ACTIVE);
    assertThat(refuse.detail()).contains("'a' owns shard t/0").contains("force");
    assertThat(bench.lease(0).epoch()).isEqualTo(1);
    assertThat(bench.reset(false, 5, 9)).isNotNegative();
  }

  @Test
  void a_group_whose_members_left_or_died_is_reset_at_once() {
    joined();
    bench.send(Bench.leaving(a));
    long request = bench.reset(false, 7, 0, 1, 2, 3);
    assertThat(done(request).leases().values())
        .allMatch(lease -> lease.committed() == 7 && lease.generation().number() == 1);
    bench.send(b);
    assertThat(bench.owners()).isEqualTo("bbbb");
    bench.pass(6_000);
    // It is dead, and nobody has taken over.
    assertThat(done(bench.reset(false, 3, 2)).leases().values())
        .allMatch(lease -> lease.committed() == 3 && !lease.owned());
  }

  @Test
  void by_force_the_owner_lets_go_first_and_gets_the_shard_again() {
    joined();
    long request = bench.reset(true, 5, 2);
    assertThat(bench.answer(request)).isNull();
    assertThat(bench.lease(2).drain()).isNotNull();
    assertThat(bench.lease(1).drain()).isNull();
    bench.pass(2_000, a);
    assertThat(bench.lease(2).drain()).as("it is not called off").isNotNull();
    bench.release(2);
    assertThat(done(request).leases().get(new Shard(1, 2)).committed()).isEqualTo(5);
    assertThat(bench.owners()).isEqualTo("aaaa");
    assertThat(bench.lease(2).epoch()).isEqualTo(3);
    assertThat(bench.told.get("a1").shards())
        .anyMatch(
            owned -> owned.shard().shard() == 2 && owned.epoch() == 3 && owned.committed() == 5);
    assertThat(bench.core.moves().recent("g", 1).get(0).cause()).isEqualTo(Cause.RESET);
  }

  @Test
  void an_owner_that_hangs_is_fenced_at_the_cap_and_who_asked_is_told_before() {
    joined();
    long epoch = bench.lease(2).epoch();
    long request = bench.reset(true, 5, 2);
    bench.pass(21_000, a);
    assertThat(done(request).leases()).containsEntry(new Shard(1, 2), null);
    assertThat(bench.lease(2).epoch()).isEqualTo(epoch);
    bench.pass(31_000, a);
    assertThat(bench.lease(2).epoch()).isEqualTo(epoch + 2);
    assertThat(bench.lease(2).generation().number()).isEqualTo(1);
    Reply late = bench.log.apply(new DataCommand.Release("g", new Shard(1, 2), epoch, 9, -1, null));
    assertThat(((Reply.Refused) late).refusal()).isEqualTo(Refusal.FENCED);
  }

  @Test
  void an_owner_that_dies_meanwhile_is_not_waited_for() {
    joined();
    bench.send(b);
    long request = bench.reset(true, 5, 0);
    bench.pass(6_000, b);
    assertThat(done(request).leases().get(new Shard(1, 0)).committed()).isEqualTo(5);
    assertThat(bench.owners()).isEqualTo("bbbb");
  }

  @Test
  void what_the_log_refuses_is_told_and_given_up() {
    joined();
    bench.send(Bench.leaving(a));
    long request = bench.reset(false, 101, 0, 1);
    assertThat(refused(request).refusal()).isEqualTo(Refusal.OFFSET_OUT_OF_RANGE);
    assertThat(refused(request).detail()).contains("t/0").contains("beyond the end");
    long epoch = bench.lease(0).epoch();
    bench.pass(10_000);
    assertThat(bench.lease(0).epoch()).isEqualTo(epoch);
    assertThat(done(bench.reset(false, 100, 0, 1)).leases()).hasSize(2);
  }

  @Test
  void a_lost_answer_is_found_out() {
    joined();
    bench.send(Bench.leaving(a));
    bench.loseNextAnswer = true;
    long request = bench.reset(false, 4, 0);
    bench.pass(10_000);
    assertThat(done(request).leases().get(new Shard(1, 0)).committed()).isEqualTo(4);
  }

  @Test
  void two_at_once_are_refused_and_who_waits_hears_of_the_end() {
    joined();
    long first = bench.reset(true, 5, 0);
    assertThat(refused(bench.reset(true, 6, 0, 1)).refusal()).isEqualTo(Refusal.OVERLOADED);
    bench.run(bench.core.stop(Refusal.NOT_LEADER, "n2"));
    assertThat(refused(first).refusal()).isEqualTo(Refusal.NOT_LEADER);
    assertThat(List.of(refused(first).detail())).containsExactly("n2");
  }

  @Test
  void a_shard_whose_grant_failed_before_it_was_reset_keeps_nobody_from_being_told() {
    joined();
    bench.send(b);
    bench.pass(4_750, b);
    // It times out now; the first of its shards is not granted on.
    bench.refuseNext = Refusal.UNAVAILABLE;
    bench.pass(250, b);
    int kept = bench.owners().indexOf('a');
    assertThat(kept).as(bench.owners()).isNotNegative();
    long request = bench.reset(false, 5, kept);
    bench.pass(2_000, b);
    assertThat(done(request).leases().get(new Shard(1, kept)).committed()).isEqualTo(5);
    assertThat(bench.owners()).isEqualTo("bbbb");
    assertThat(bench.told.get("b1").shards()).hasSize(4);
  }

  @Test
  void without_force_it_is_refused_also_to_one_who_came_to_own_the_shard_meanwhile() {
    joined();
    bench.send(Bench.leaving(a));
    bench.send(b);
    bench.send(Bench.leaving(b));
    bench.refuseNext = Refusal.UNAVAILABLE;
    long request = bench.reset(false, 5, 0);
    assertThat(bench.answer(request)).isNull();
    // Another dispatcher, which knows nothing of the reset, was faster.
    DataCommand grant =
        new DataCommand.Grant(
            "g", new Shard(1, 0), "b", "b2", bench.lease(0).epoch(), StartAt.EARLIEST);
    Reply.OfLease granted = (Reply.OfLease) bench.log.apply(grant);
    bench.run(bench.core.leaseChanged(LeaseChange.of(granted.lease()), bench.now));
    bench.pass(2_000, bench.beat("b", "b2", 200));
    assertThat(refused(request).refusal()).isEqualTo(Refusal.GROUP_ACTIVE);
    assertThat(refused(request).detail()).contains("'b' has come to own it");
    assertThat(bench.lease(0).epoch()).isEqualTo(granted.lease().epoch());
    assertThat(bench.owners()).isEqualTo("bbbb");
  }

  @Test
  void a_late_answer_to_a_reset_that_was_given_up_is_not_taken_for_the_next_one() {
    joined();
    bench.log.ends.put(new Shard(1, 1), 10L);
    bench.send(Bench.leaving(a));
    bench.lateShard = 0;
    long first = bench.reset(false, 50, 0, 1);
    assertThat(refused(first).refusal()).isEqualTo(Refusal.OFFSET_OUT_OF_RANGE);
    assertThat(bench.lease(0).committed()).isEqualTo(50);
    long second = bench.reset(false, 3, 0);
    bench.answerLate();
    bench.pass(2_000);
    assertThat(done(second).leases().get(new Shard(1, 0)).committed()).isEqualTo(3);
  }
}
