package dev.evenkeel.dispatcher.core;

import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.dispatcher.DispatcherOptions;
import dev.evenkeel.dispatcher.ModelLog;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.Shard;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** 10,000 shards and 1,000 members: the core asks for what is needed, and for nothing twice. */
class LargeGroupTest {
  private static final int SHARDS = 10_000;
  private static final int MEMBERS = 1_000;

  private final ModelLog log = new ModelLog().topic(1, "t", SHARDS);
  private final Bench beats = new Bench(log);
  private final ArrayDeque<DispatcherAction> todo = new ArrayDeque<>();
  private final DispatcherCore core = Bench.core(DispatcherOptions.DEFAULTS, 1, Set.of());
  private long now = 1_000_000;
  private long requests;
  private int grants;
  private int drains;
  private int answers;

  /** As in a shell: what one answer wants comes after what was wanted before. */
  private void run(List<DispatcherAction> actions) {
    todo.addAll(actions);
    while (!todo.isEmpty()) {
      act(todo.poll());
    }
  }

  private void act(DispatcherAction action) {
    if (action instanceof DispatcherAction.Write a) {
      grants += a.command() instanceof DataCommand.Grant ? 1 : 0;
      drains += a.command() instanceof DataCommand.SetDrain ? 1 : 0;
      todo.addAll(core.answered(a, log.apply(a.command()), now));
    } else if (action instanceof DispatcherAction.PlanShards a) {
      todo.addAll(core.answered(a, a.plan(), now));
    } else if (action instanceof DispatcherAction.WriteMeta a) {
      todo.addAll(core.answered(a, log.apply(a.command(), now), now));
    } else if (action instanceof DispatcherAction.ReadView a) {
      todo.addAll(core.answered(a, List.copyOf(log.topics), now));
    } else if (action instanceof DispatcherAction.ReadLeases a) {
      todo.addAll(core.answered(a, log.statuses(a.group()), now));
    } else if (action instanceof DispatcherAction.ReadGroups a) {
      todo.addAll(core.answered(a, log.groups(), now));
    } else if (action instanceof DispatcherAction.Answer) {
      answers++;
    }
  }

  private Heartbeat beat(int member) {
    return beats.beat("m" + member);
  }

  private void beatAll() {
    times(MEMBERS, member -> run(core.heartbeat(requests++, beat(member), now)));
  }

  private Map<String, Integer> counts() {
    Map<String, Integer> counts = new HashMap<>();
    for (int shard = 0; shard < SHARDS; shard++) {
      Lease lease = log.lease("g", new Shard(1, shard));
      counts.merge(lease.owner(), 1, Integer::sum);
    }
    return counts;
  }

  @Test
  void eachStepIsTakenOnce() {
    run(core.recover(log.topics, List.of(), log.statuses(null), List.of(), now));
    beatAll();
    assertThat(grants).isZero();
    now = core.dueMillis();
    run(core.wake(now));
    assertThat(grants).isEqualTo(SHARDS);
    assertThat(drains).isZero();
    assertThat(counts()).hasSize(MEMBERS).allSatisfy((name, n) -> assertThat(n).isEqualTo(10));

    while (core.pushesDue()) {
      assertThat(core.pushes()).hasSizeLessThanOrEqualTo(Assignments.PUSHES_MAX);
    }
    for (int second = 0; second < 4; second++) {
      now += 1_000;
      beatAll();
      run(core.tick(now));
    }
    assertThat(answers).isEqualTo(5 * MEMBERS);
    assertThat(core.pushes()).isEmpty();
    assertThat(grants + drains).isEqualTo(SHARDS);

    // A new dispatcher, and every member returns to it.
    DispatcherCore next = Bench.core(DispatcherOptions.DEFAULTS, 2, Set.of());
    var first = next.recover(log.topics, log.groups(), log.statuses(null), List.of(), now);
    assertThat(first).noneMatch(DispatcherAction.Write.class::isInstance);
    for (int member = 0; member < MEMBERS; member++) {
      assertThat(next.heartbeat(member, beat(member), now))
          .noneMatch(DispatcherAction.Write.class::isInstance);
    }
    assertThat(next.wake(now + 100)).noneMatch(DispatcherAction.Write.class::isInstance);

    // One member goes, some time after the last plan: only what the assignor moves is asked for.
    now += 1_000;
    int before = grants;
    run(core.heartbeat(requests++, Bench.leaving(beat(MEMBERS - 1)), now));
    assertThat(grants - before).isEqualTo(10 * 1);
  }
}
