package dev.evenkeel.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.evenkeel.Refused;
import org.junit.jupiter.api.Test;

class GroupPolicyTest {
  private static GroupPolicy level(int range, String strategy, String dedup) {
    return new GroupPolicy("level", range, strategy, dedup);
  }

  private static void refuses(GroupPolicy policy, String text) {
    Refused.with(Refusal.INVALID, policy::check).hasMessage(text);
  }

  @Test
  void whatIsNotGivenIsAsTheModeHasIt() {
    assertThat(GroupPolicy.of("sharded")).isEqualTo(GroupPolicy.SHARDED);
    assertThat(GroupPolicy.of("level")).isEqualTo(level(100, "pull", "off"));
    assertThat(GroupPolicy.of("level", 7, "push", "key")).isEqualTo(level(7, "push", "key"));
    assertThat(GroupPolicy.of("sharded", 7, "push", null))
        .as("what makes no sense stays, to be refused")
        .isEqualTo(new GroupPolicy("sharded", 7, "push", "off"));
  }

  @Test
  void goodOnesPass() {
    for (GroupPolicy good :
        new GroupPolicy[] {
          GroupPolicy.SHARDED,
          GroupPolicy.of("level"),
          GroupPolicy.of("singleton"),
          level(1, "pull", "key"),
          level(1_000_000, "push", "payload")
        }) {
      assertThat(good.check()).isSameAs(good);
    }
  }

  @Test
  void othersAreRefusedWithWhatWouldBeRight() {
    refuses(level(0, "pull", "off"), "range of 0: it must be 1 to 1000000");
    refuses(level(1_000_001, "pull", "off"), "range of 1000001: it must be 1 to 1000000");
    refuses(level(5, "pul\n", "off"), "unknown strategy 'pul?': use pull or push");
    refuses(level(5, null, "off"), "unknown strategy 'null': use pull or push");
    refuses(level(5, "pull", "any"), "unknown dedup 'any': use off, key or payload");
    refuses(level(5, "pull", null), "unknown dedup 'null': use off, key or payload");
    refuses(
        GroupPolicy.of("sharded", 10, null, null),
        "a range of 10 in mode sharded: only mode level has one");
    refuses(
        GroupPolicy.of("sharded", null, "pull", null),
        "a strategy in mode sharded: only mode level has one");
    refuses(GroupPolicy.of(null), "a mode needs a name");
  }

  @Test
  void oneDifferenceIsNamed() {
    GroupPolicy group = level(10, "pull", "off");
    assertThat(group.differenceTo(level(10, "pull", "off"))).isNull();
    assertThat(group.differenceTo(GroupPolicy.SHARDED))
        .isEqualTo(
            "runs in mode level, not sharded: give all its members mode level, or stop the others"
                + " first");
    assertThat(group.differenceTo(level(20, "push", "off")))
        .startsWith("runs with range 10, not 20: give all its members range 10");
    assertThat(group.differenceTo(level(10, "push", "off")))
        .startsWith("runs with strategy pull, not push: give all its members strategy pull");
    assertThat(group.differenceTo(level(10, "pull", "key")))
        .startsWith("runs with dedup off, not key: give all its members dedup off");
  }

  @Test
  void holdersAreMembersOrDispatchers() {
    assertThat(Names.checkHolder("a")).isEqualTo("a");
    assertThat(Names.checkHolder("dispatcher@n1")).isEqualTo("dispatcher@n1");
    for (String bad : new String[] {null, "", "x@n1", "dispatcher@", "dispatcher@a b"}) {
      assertThatThrownBy(() -> Names.checkHolder(bad)).isInstanceOf(RefusedException.class);
    }
  }
}
