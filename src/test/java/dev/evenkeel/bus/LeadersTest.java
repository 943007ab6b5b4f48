package dev.evenkeel.bus;

import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Refused;
import dev.evenkeel.protocol.Refusal;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

/** What is told of leaders comes late, twice and in any order; the latest term counts. */
class LeadersTest {
  private static final ClusterView NOTHING_KNOWN = view(null, 0, null, 0);

  @Property(tries = 200)
  void viewsAndAnnouncementsInAnyOrderLeadToTheLatestLeader(@ForAll long seed) {
    Random random = new Random(seed);
    // In each term at most one node leads, as Raft has it.
    List<String> leaders = new ArrayList<>();
    times(8, term -> leaders.add("n" + random.nextInt(3)));
    List<ClusterView> told = new ArrayList<>();
    for (int i = 0; i < 30; i++) {
      int term = 1 + random.nextInt(7);
      boolean known = random.nextBoolean() || i == 0;
      told.add(view(leaders.get(term), term, known ? leaders.get(term) : null, term));
    }
    told.add(view(leaders.get(7), 7, leaders.get(7), 7));
    Collections.shuffle(told, random);
    ClusterView current = NOTHING_KNOWN;
    for (ClusterView each : told) {
      current = each.notOlderThan(current);
    }
    assertThat(current.leader(ClusterView.META)).isEqualTo(leaders.get(7));
    assertThat(current.leader(0)).isEqualTo(leaders.get(7));
    assertThat(current.term(0)).isEqualTo(7);
  }

  @Test
  void aNodeThatKnowsOnlyTheTermDoesNotTakeTheLeaderAway() {
    ClusterView known = view("a", 3, "b", 4);
    ClusterView returned = view(null, 3, null, 4).notOlderThan(known);
    assertThat(returned.metaLeader()).isEqualTo("a");
    assertThat(returned.leader(0)).isEqualTo("b");
    ClusterView election = view(null, 4, null, 5).notOlderThan(known);
    assertThat(election.metaLeader()).isNull();
    assertThat(election.leader(0)).isNull();
  }

  @Test
  void termsTravelAndAViewWithoutThemCountsAsOld() {
    ClusterView view = view("a", 3, "b", 4);
    assertThat(ClusterView.fromJson(view.toJson())).isEqualTo(view);
    ClusterView old = Views.of("n", "x", List.of("x"), List.of("x"), List.of()).notOlderThan(view);
    assertThat(old.metaLeader()).isEqualTo("a");
    assertThat(old.leader(0)).isEqualTo("b");
    assertThat(view.leader(7)).isNull();
    assertThat(view.withLeader(7, "z", 9)).isSameAs(view);
  }

  @Test
  void requestsToAFormerLeaderFailAsSoonAsAnotherLeads() {
    LeaderWatch watch = new LeaderWatch();
    Promise<String> former = Promise.promise();
    Promise<String> other = Promise.promise();
    Promise<String> answered = Promise.promise();
    Future<String> toFormer = watch.whileLeads(0, "a", former.future());
    Future<String> toOther = watch.whileLeads(1, "a", other.future());
    Future<String> toAnswered = watch.whileLeads(0, "a", answered.future());
    answered.complete("in time");
    watch.leads(0, "a");
    assertThat(toFormer.isComplete()).isFalse();
    watch.leads(0, "b");
    assertThat(toFormer.failed()).isTrue();
    Refused.is(Refusal.INDETERMINATE, toFormer.cause());
    assertThat(toOther.isComplete()).isFalse();
    assertThat(toAnswered.result()).isEqualTo("in time");
    // An answer that comes later changes nothing.
    former.complete("too late");
    assertThat(toFormer.failed()).isTrue();
  }

  private static ClusterView view(String meta, long metaTerm, String data, long dataTerm) {
    List<String> leaders = new ArrayList<>();
    leaders.add(data);
    return Views.formed(
        "c",
        "n",
        meta,
        leaders,
        List.of("a", "b"),
        List.of(),
        metaTerm,
        List.of(dataTerm),
        true,
        7);
  }
}
