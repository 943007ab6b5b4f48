package dev.evenkeel.gateway.access;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.api.Permission;
import dev.evenkeel.bus.ClusterView;
import dev.evenkeel.bus.ViewQuestion;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class VisibleViewsTest {
  private static final Principal ORDERS =
      new Principal("a", List.of(Permission.parse("consume:orders-*")));
  private static final Principal NOBODY = new Principal("b", List.of());

  private final VisibleViews views = new VisibleViews();

  /** A view of topics "orders-0", "secret-1", "orders-2" and so on. */
  private static JsonObject view(int topics, long clockMillis) {
    JsonArray all = new JsonArray();
    IntStream.range(0, topics)
        .mapToObj(i -> (i % 2 == 0 ? "orders-" : "secret-") + i)
        .forEach(name -> all.add(JsonObject.of("name", name, "shards", 3)));
    return JsonObject.of("cluster", "c", "topics", all, ViewQuestion.CLOCK, clockMillis);
  }

  private JsonObject seen(Principal principal, JsonObject view) {
    return new JsonObject(views.visible(principal, view.toBuffer()));
  }

  private static List<String> names(JsonObject view) {
    return view.getJsonArray("topics").stream()
        .map(each -> ((JsonObject) each).getString("name"))
        .toList();
  }

  @Test
  void eachUserSeesItsPartOfTheViewAsItIsNow() {
    for (int topics : new int[] {2, 100, 100, 101, 3, 100}) {
      for (long clock = 10; clock < 13; clock++) {
        JsonObject view = view(topics, clock);
        JsonObject seen = seen(ORDERS, view);
        assertThat(names(seen))
            .isEqualTo(names(view).stream().filter(each -> each.startsWith("orders")).toList());
        assertThat(seen.getLong(ViewQuestion.CLOCK)).isEqualTo(clock);
        assertThat(seen.getString("cluster")).isEqualTo("c");
        assertThat(seen.getInteger(ClusterView.VISIBLE_TO))
            .isNotEqualTo(0)
            .isNotEqualTo(seen(NOBODY, view).getInteger(ClusterView.VISIBLE_TO));
        assertThat(names(seen(NOBODY, view))).isEmpty();
        assertThat(seen(Principal.ANYBODY, view)).isEqualTo(view);
      }
    }
  }

  @Test
  void aUserWithOtherPermissionsSeesOtherTopics() {
    JsonObject view = view(100, 10);
    assertThat(names(seen(ORDERS, view))).hasSize(50);
    assertThat(names(seen(new Principal("a", List.of(Permission.parse("consume:*"))), view)))
        .hasSize(100);
    assertThat(names(seen(new Principal("a", List.of()), view))).isEmpty();
  }

  @Test
  void aViewWithoutAClockAtItsEndIsReadEachTime() {
    JsonObject view = view(100, 10);
    view.remove(ViewQuestion.CLOCK);
    assertThat(names(seen(ORDERS, view))).hasSize(50);
    view.put(ViewQuestion.CLOCK, 5).put("later", "},\"clockMillis\":7}");
    assertThat(names(seen(ORDERS, view))).hasSize(50);
    assertThat(seen(ORDERS, view).getLong(ViewQuestion.CLOCK)).isEqualTo(5);
    assertThat(views.keptBytes()).isZero();
  }

  @Test
  void theSamePartIsKeptOnceAndOnlyAsMuchAsThereIsRoomFor() {
    seen(ORDERS, view(100, 10));
    long one = views.keptBytes();
    assertThat(one).isGreaterThan(0);
    seen(ORDERS, view(100, 11));
    assertThat(views.keptBytes()).isEqualTo(one);
    Buffer large = view(20_000, 10).toBuffer();
    for (int i = 0; i < 10; i++) {
      Principal each = new Principal("u" + i, ORDERS.may());
      assertThat(names(new JsonObject(views.visible(each, large)))).hasSize(10_000);
      assertThat(views.keptBytes()).isLessThanOrEqualTo(VisibleViews.KEPT_BYTES_MAX);
    }
    assertThat(views.keptBytes()).isGreaterThan(VisibleViews.KEPT_BYTES_MAX / 2);
  }
}
