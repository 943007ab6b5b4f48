package dev.evenkeel.gateway.live;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.json.JsonObject;
import java.util.LinkedHashMap;
import java.util.Map;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

class MergePatchTest {
  @Provide
  static Arbitrary<Map<String, Object>> states() {
    return object(3);
  }

  private static Arbitrary<Map<String, Object>> object(int depth) {
    Arbitrary<Object> scalars = Arbitraries.<Object>of(0L, 1L, 2.5, true, false, "", "x", "null");
    Arbitrary<Object> values =
        depth == 0
            ? scalars
            : Arbitraries.frequencyOf(
                net.jqwik.api.Tuple.of(2, scalars),
                net.jqwik.api.Tuple.of(3, object(depth - 1).map(inner -> (Object) inner)));
    return Arbitraries.maps(Arbitraries.of("a", "b", "c", "d"), values).ofMaxSize(4);
  }

  @Property
  void aPatchLeadsFromOneStateToTheOther(
      @ForAll("states") Map<String, Object> before, @ForAll("states") Map<String, Object> after) {
    Map<String, Object> target = new LinkedHashMap<>(before);
    MergePatches.apply(target, MergePatch.diff(before, after));
    assertThat(target).isEqualTo(after);
  }

  @Property
  void itLeadsThereAlsoAsTheTextThatIsSent(
      @ForAll("states") Map<String, Object> before, @ForAll("states") Map<String, Object> after) {
    Map<String, Object> target = new LinkedHashMap<>(before);
    String text = new JsonObject(MergePatch.diff(before, after)).encode();
    MergePatches.apply(target, new JsonObject(text).getMap());
    assertThat(new JsonObject(target)).isEqualTo(new JsonObject(after));
  }

  @Property
  void equalStatesNeedNoPatch(@ForAll("states") Map<String, Object> state) {
    assertThat(MergePatch.diff(state, new LinkedHashMap<>(state))).isEmpty();
  }

  /** The example of RFC 7396, section 3, without its array. */
  @Example
  void exampleOfTheStandard() {
    Map<String, Object> target =
        new JsonObject(
                "{\"title\":\"Goodbye!\",\"author\":{\"givenName\":\"John\",\"familyName\":\"Doe\"},\"content\":\"This"
                    + " will be unchanged\"}")
            .getMap();
    MergePatches.apply(
        target,
        new JsonObject(
                "{\"title\":\"Hello!\",\"phoneNumber\":\"+01-123-456-7890\",\"author\":{\"familyName\":null}}")
            .getMap());
    assertThat(new JsonObject(target))
        .isEqualTo(
            new JsonObject(
                "{\"title\":\"Hello!\",\"author\":{\"givenName\":\"John\"},\"content\":\"This will"
                    + " be unchanged\",\"phoneNumber\":\"+01-123-456-7890\"}"));
  }
}
