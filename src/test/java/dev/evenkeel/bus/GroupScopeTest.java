package dev.evenkeel.bus;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.api.Permission;
import dev.evenkeel.api.RecordJson;
import dev.evenkeel.gateway.access.Principal;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.Chars;
import net.jqwik.api.constraints.Size;
import net.jqwik.api.constraints.StringLength;
import org.junit.jupiter.api.Test;

/** Which groups and topics a question is about. */
class GroupScopeTest {
  private static final GroupScope SHOP = new GroupScope(List.of("pay", "shop*"), List.of("orders"));

  private static Principal user(String... may) {
    return new Principal("u", List.of(may).stream().map(Permission::parse).toList());
  }

  @Test
  void aPatternStandsForAllNamesThatBeginSo() {
    assertThat(SHOP.hasGroup("shop")).isTrue();
    assertThat(SHOP.hasGroup("shop-1")).isTrue();
    assertThat(SHOP.hasGroup("pay")).isTrue();
    assertThat(SHOP.hasGroup("pay-1")).isFalse();
    assertThat(SHOP.hasGroup("sho")).isFalse();
    assertThat(SHOP.hasTopic("orders")).isTrue();
    assertThat(SHOP.hasTopic("shop")).isFalse();
    assertThat(GroupScope.NONE.hasGroup("pay")).isFalse();
    assertThat(GroupScope.ALL.hasTopic("pay")).isTrue();
  }

  @Test
  void whatIsReadIsWhatWasWritten() {
    for (GroupScope each : List.of(SHOP, GroupScope.ALL, GroupScope.NONE)) {
      assertThat(RecordJson.of(GroupScope.class).read(RecordJson.json(each))).isEqualTo(each);
    }
  }

  @Test
  void aSumHasWhatEitherHas() {
    GroupScope sum = SHOP.plus(new GroupScope(List.of("a"), null));
    assertThat(sum).isEqualTo(new GroupScope(List.of("a", "pay", "shop*"), null));
    assertThat(sum.covers(SHOP)).isTrue();
    assertThat(SHOP.covers(sum)).isFalse();
    assertThat(SHOP.covers(GroupScope.NONE)).isTrue();
    assertThat(GroupScope.ALL.covers(SHOP)).isTrue();
    assertThat(SHOP.covers(GroupScope.ALL)).isFalse();
  }

  @Test
  void whoSeesEverythingAsksForAll() {
    assertThat(Principal.ANYBODY.scope()).isEqualTo(GroupScope.ALL);
    assertThat(user("view:*").scope()).isEqualTo(GroupScope.ALL);
    assertThat(user("group:*").scope()).isEqualTo(new GroupScope(null, List.of()));
    assertThat(Principal.NOBODY.scope()).isEqualTo(GroupScope.NONE);
  }

  /** Otherwise a list would lack what its reader may see. */
  @Property(tries = 300)
  void itHasExactlyWhatItsUserSees(
      @ForAll @Size(max = 4) List<@Chars({'a', 'b'}) @StringLength(min = 1, max = 2) String> names,
      @ForAll boolean pattern,
      @ForAll Permission.Kind kind,
      @ForAll @Chars({'a', 'b'}) @StringLength(min = 1, max = 3) String name) {
    Principal user =
        new Principal(
            "u",
            names.stream().map(each -> new Permission(kind, pattern ? each + "*" : each)).toList());
    assertThat(user.scope().hasGroup(name)).isEqualTo(user.seesGroup(name));
    assertThat(user.scope().hasTopic(name)).isEqualTo(user.seesTopic(name));
    TreeMap<String, Integer> all = new TreeMap<>(Map.of("a", 2, "b", 3, "ba", 4, "c", 5));
    all.put(name, 1);
    Map<String, Integer> seen = new TreeMap<>(all);
    seen.keySet().removeIf(each -> !user.seesGroup(each));
    assertThat(user.scope().named(all)).containsExactlyElementsOf(seen.values());
  }
}
