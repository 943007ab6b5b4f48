package dev.evenkeel.broker.member;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.log.Follower;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

class LeaderBalancerTest {
  private static final List<String> NODES = List.of("n1", "n2", "n3");
  private static final List<String> GROUPS = List.of("meta", "d0", "d1", "d2");
  private static final LeaderBalancer.Node FULL = new LeaderBalancer.Node(true, Set.of());

  private final Map<String, String> leaders = new HashMap<>();
  private final Map<String, LeaderBalancer.Node> answers = new HashMap<>();
  private final Map<String, Follower> followers = new HashMap<>();
  private final Map<String, LeaderBalancer> deciders = new HashMap<>();

  LeaderBalancerTest() {
    GROUPS.forEach(group -> leaders.put(group, "n1"));
    NODES.forEach(
        node -> {
          answers.put(node, FULL);
          followers.put(node, new Follower(node, 100, 10));
          deciders.put(node, new LeaderBalancer());
        });
  }

  /** Runs for a while and gives what moved. */
  private List<String> run(long fromMillis, int seconds) {
    List<String> moves = new ArrayList<>();
    for (long now = fromMillis; now < fromMillis + seconds * 1_000L; now += 500) {
      for (String node : NODES) {
        if (answers.containsKey(node)) {
          var move = deciders.get(node).next(now, node, NODES, answers, groups(node));
          if (move != null) {
            moves.add(move.group() + ">" + move.node());
            leaders.put(move.group(), move.node());
          }
        }
      }
    }
    return moves;
  }

  private List<LeaderBalancer.Group> groups(String node) {
    List<LeaderBalancer.Group> groups = new ArrayList<>();
    for (String group : GROUPS) {
      boolean leads = node.equals(leaders.get(group));
      List<Follower> known =
          leads
              ? NODES.stream().filter(each -> !each.equals(node)).map(followers::get).toList()
              : List.of();
      groups.add(new LeaderBalancer.Group(group, leaders.get(group), leads, 100, known));
    }
    return groups;
  }

  @Test
  void eachNodeGetsItsShareAndThenItIsCalm() {
    assertThat(run(0, 60)).containsExactlyInAnyOrder("d0>n2", "d1>n3");
    assertThat(leaders).containsEntry("meta", "n1").containsEntry("d2", "n1");
    assertThat(run(60_000, 60)).isEmpty();
  }

  @Test
  void nothingMovesSoonAfterANodeCameBack() {
    run(0, 60);
    leaders.put("d0", "n1");
    answers.remove("n2");
    assertThat(run(60_000, 30)).isEmpty();
    answers.put("n2", FULL);
    assertThat(run(90_000, 4)).isEmpty();
    assertThat(run(94_000, 20)).containsExactly("d0>n2");
  }

  @Test
  void whoLagsOrIsSilentOrIsNotReadyGetsNothing() {
    followers.put("n2", new Follower("n2", 90, 10));
    followers.put("n3", new Follower("n3", 100, 5_000));
    assertThat(run(0, 60)).isEmpty();
    followers.put("n2", new Follower("n2", 100, 10));
    answers.put("n2", new LeaderBalancer.Node(false, Set.of()));
    assertThat(run(60_000, 60)).isEmpty();
  }

  @Test
  void whoHasNoDispatcherGivesMetaAwayWithoutWaitingForItsTurn() {
    answers.put("n1", new LeaderBalancer.Node(true, Set.of("meta")));
    answers.put("n2", new LeaderBalancer.Node(true, Set.of("meta")));
    assertThat(run(0, 2)).containsExactly("meta>n3");
  }

  @Test
  void whoShouldNotLeadGivesAllAwayAtOnceAndGetsItBackWhenItMay() {
    run(0, 60);
    answers.put("n1", new LeaderBalancer.Node(true, Set.copyOf(GROUPS)));
    assertThat(run(60_000, 2)).containsExactlyInAnyOrder("meta>n2", "d2>n3");
    assertThat(run(62_000, 60)).as("it gets nothing").isEmpty();
    answers.put("n1", FULL);
    assertThat(run(122_000, 60)).containsExactlyInAnyOrder("meta>n1", "d2>n1");
  }

  @Test
  void itsHomeTakesAGroupFirstElseWhoeverHasMost() {
    answers.put("n1", new LeaderBalancer.Node(true, Set.of("d0", "d1")));
    followers.put("n2", new Follower("n2", 101, 10));
    answers.put("n3", new LeaderBalancer.Node(true, Set.of("d1")));
    assertThat(run(0, 2)).containsExactly("d0>n2", "d1>n2");
  }

  @Test
  void noOneGetsWhatItShouldNotLead() {
    NODES.forEach(node -> answers.put(node, new LeaderBalancer.Node(true, Set.of("d0"))));
    assertThat(run(0, 60)).doesNotContain("d0>n2", "d0>n3");
    answers.put("n2", new LeaderBalancer.Node(false, Set.of()));
    followers.put("n3", new Follower("n3", 50, 10));
    answers.put("n3", FULL);
    assertThat(run(60_000, 60)).as("one stops, the other lags").isEmpty();
    followers.put("n3", new Follower("n3", 100, 10));
    assertThat(run(120_000, 2)).containsExactly("d0>n3");
  }

  @Test
  void whoHearsOfNobodyGivesToAFollowerButNotOften() {
    answers.put("n1", new LeaderBalancer.Node(true, Set.of("d0")));
    answers.remove("n2");
    answers.remove("n3");
    followers.put("n3", new Follower("n3", 100, 9_000));
    assertThat(run(0, 2)).containsExactly("d0>n2");
    leaders.put("d0", "n1");
    assertThat(run(2_000, 5)).isEmpty();
    assertThat(run(7_000, 5)).containsExactly("d0>n2");
  }

  @Test
  void theLeadDoesNotWanderWhileAllNodesAreCutOff() {
    answers.put("n1", new LeaderBalancer.Node(true, Set.of("d0")));
    answers.remove("n2");
    answers.remove("n3");
    int hour = 3_600;
    int moves = 0;
    for (int second = 0; second < hour; second++) {
      leaders.put("d0", "n1");
      moves += run(second * 1_000L, 1).size();
    }
    assertThat(moves).isBetween(10, 16);
    answers.put("n2", FULL);
    assertThat(run(hour * 1_000L, 1)).containsExactly("d0>n2");
    answers.remove("n2");
    leaders.put("d0", "n1");
    assertThat(run((hour + 1) * 1_000L, 1)).as("from the beginning").containsExactly("d0>n2");
  }

  private static Set<String> unfit(Random dice) {
    return dice.nextInt(3) > 0 ? Set.of() : Set.of(GROUPS.get(dice.nextInt(4)));
  }

  /** One group at a time, never to one that is not fit, and it comes to rest. */
  @Property(tries = 500)
  void movesAreFewAndFit(@ForAll long seed) {
    Random dice = new Random(seed);
    long now = 0;
    for (int episode = 0; episode < 10; episode++) {
      String node = NODES.get(dice.nextInt(3));
      if (dice.nextBoolean()) {
        answers.put(node, new LeaderBalancer.Node(dice.nextInt(4) > 0, unfit(dice)));
      }
      followers.put(
          node, new Follower(node, dice.nextBoolean() ? 100 : 50, dice.nextBoolean() ? 10 : 9_000));
      leaders.put(GROUPS.get(dice.nextInt(4)), NODES.get(dice.nextInt(3)));
      Map<String, String> before = Map.copyOf(leaders);
      List<String> moves = run(now, 90);
      assertThat(moves).hasSizeLessThanOrEqualTo(2 * GROUPS.size());
      for (String group : GROUPS) {
        String leader = leaders.get(group);
        if (!leader.equals(before.get(group))) {
          assertThat(answers.get(leader).serving()).isTrue();
          assertThat(answers.get(leader).unfit()).doesNotContain(group);
          assertThat(followers.get(leader)).isEqualTo(new Follower(leader, 100, 10));
        }
      }
      assertThat(run(now + 90_000, 30)).isEmpty();
      now += 120_000;
    }
  }

  @Test
  void whoDoesNotTakeAGroupOverIsNotAskedAgainAndAgain() {
    LeaderBalancer balancer = deciders.get("n1");
    // This node is to lose its vote in d0, which it leads.
    List<LeaderBalancer.Move> moves = new ArrayList<>();
    for (long now = 0; now < 100_000; now += 500) {
      LeaderBalancer.Move move =
          balancer.next(
              now, "n1", NODES, answers, groups("n1").subList(1, 2), group -> List.of("n2", "n3"));
      if (move != null) {
        moves.add(move);
        balancer.refused(move, now);
      }
    }
    assertThat(moves.stream().map(LeaderBalancer.Move::node).limit(3))
        .containsExactly("n2", "n3", "n2");
  }

  @Test
  void onlyAVoterGetsMeta() {
    List<LeaderBalancer.Group> meta = groups("n1").subList(0, 1);
    for (long now = 0; now < 30_000; now += 500) {
      var move = deciders.get("n1").next(now, "n1", NODES, answers, meta, group -> List.of("n3"));
      if (move != null) {
        assertThat(move.node()).isEqualTo("n3");
        return;
      }
    }
    throw new AssertionError("meta stays with a node that is to lose its vote");
  }
}
