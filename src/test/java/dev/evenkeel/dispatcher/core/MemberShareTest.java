package dev.evenkeel.dispatcher.core;

import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.bus.Assignment;
import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.bus.ShareUse;
import dev.evenkeel.dispatcher.ModelLog;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.wire.FeatureLevel;
import java.util.List;
import org.junit.jupiter.api.Test;

/** One user's members do not keep another's out. */
class MemberShareTest {
  private static final int HALF = DispatcherSettings.MEMBERS_MAX / 2;

  private final Bench bench = new Bench(new ModelLog().topic(1, "t", 1));

  MemberShareTest() {
    bench.level = FeatureLevel.NEWEST;
    bench.activate(List.of());
  }

  private Heartbeat beat(String user, String member) {
    return Bench.in(bench.beat(member), "broadcast", List.of("t"), null).ofUser(user, null);
  }

  private void fill(String user, int members) {
    times(members, i -> assertThat(joins(user, user + i)).isTrue());
  }

  private boolean joins(String user, String member) {
    return bench.send(beat(user, member)) instanceof Assignment;
  }

  @Test
  void aUserWhoJoinsWithAllItCanLeavesRoomForAnother() {
    fill("greedy", HALF);
    assertThat(bench.send(beat("greedy", "more")))
        .isInstanceOfSatisfying(
            DispatcherAction.Refuse.class,
            no -> {
              assertThat(no.refusal()).isEqualTo(Refusal.OVERLOADED);
              assertThat(no.detail())
                  .isEqualTo(
                      "the user 'greedy' has 5000 of the 10000 members of the cluster, and 5000 are"
                          + " taken: stop members that you do not need");
            });
    assertThat(joins("greedy", "greedy1")).as("a member goes on").isTrue();
    assertThat(joins("shop", "s1")).isTrue();
    assertThat(joins(null, "n1")).as("a member of the cluster").isTrue();
    bench.send(Bench.leaving(beat("greedy", "greedy7")));
    bench.send(Bench.leaving(beat("greedy", "greedy8")));
    bench.send(Bench.leaving(beat("greedy", "greedy9")));
    assertThat(joins("greedy", "again")).isTrue();
    assertThat(bench.core.memberUse())
        .containsExactly(
            new ShareUse("members", "greedy", HALF - 2, 2L * HALF),
            new ShareUse("members", "shop", 1, 2L * HALF));
  }

  @Test
  void aLargerShareIsMore() {
    bench.core.weigh(user -> user.equals("large") ? 3 : 1);
    fill("large", HALF * 3 / 2);
    assertThat(joins("large", "more")).isFalse();
    fill("shop", HALF / 4);
    assertThat(joins("shop", "more")).isFalse();
  }

  @Test
  void withoutUsersAllMayBeTaken() {
    times(2 * HALF, i -> assertThat(joins(null, "m" + i)).isTrue());
    assertThat(joins(null, "more")).isFalse();
  }

  /** The others may have come back before it. */
  @Test
  void aMemberThatWasThereReturnsToTheNextDispatcher() {
    fill("greedy", HALF);
    bench.activate(
        List.of(
            Bench.ghost(
                Bench.GROUP, "last", "last1", 1L, List.of("t"), null, "host", Long.MAX_VALUE)));
    fill("greedy", HALF);
    assertThat(joins("greedy", "more")).isFalse();
    assertThat(joins("greedy", "last")).isTrue();
  }

  @Test
  void aNewGroupIsTheUsers() {
    bench.send(beat("shop", "a"));
    assertThat(bench.metaWrites().get(0))
        .isInstanceOfSatisfying(
            MetaCommand.ByUser.class,
            by -> {
              assertThat(by.user()).isEqualTo("shop");
              assertThat(by.command()).isInstanceOf(MetaCommand.DeclareGroup.class);
            });
  }

  /** Otherwise names of groups alone could fill the memory. */
  @Test
  void nothingIsLeftOfAGroupThatIsTooMany() {
    bench.groupsFull = true;
    int before = bench.core.groupsKnown();
    assertThat(bench.send(beat("greedy", "a")))
        .isInstanceOfSatisfying(
            DispatcherAction.Refuse.class,
            no -> {
              assertThat(no.refusal()).isEqualTo(Refusal.TOO_LARGE);
              assertThat(no.detail()).isEqualTo("too many groups");
            });
    assertThat(bench.core.groupsKnown()).isEqualTo(before);
    bench.groupsFull = false;
    assertThat(joins("greedy", "a")).as("there is room again").isTrue();
    bench.groupsFull = true;
    assertThat(joins("greedy", "b")).as("the group is there").isTrue();
  }

  @Test
  void nodesOfTheFormerVersionGetCommandsThatTheyRead() {
    bench.level = FeatureLevel.TABLE_OWNERS - 1;
    bench.activate(List.of());
    bench.send(beat("shop", "a"));
    assertThat(bench.metaWrites().get(0)).isInstanceOf(MetaCommand.DeclareGroup.class);
  }
}
