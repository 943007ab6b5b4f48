package dev.evenkeel.api;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.api.EventBusPage.Row;
import dev.evenkeel.api.EventBusPage.Section;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The page about JSON over the event bus has every address and action, and no others. */
class EventBusPageTest {
  private static List<Row> rows() {
    return EventBusPage.sections().stream().flatMap(each -> each.rows().stream()).toList();
  }

  @Test
  void itNamesEveryAddressAndActionAndNoOthers() {
    Set<String> onPage =
        rows().stream().map(Row::name).collect(Collectors.toCollection(TreeSet::new));
    Set<String> known =
        Operations.all().stream()
            .filter(each -> each.address() != null)
            .map(
                each ->
                    each.action() == null ? each.address() : each.address() + " " + each.action())
            .collect(Collectors.toCollection(TreeSet::new));
    assertThat(without(known, onPage)).as("missing in %s", EventBusPage.PAGE).isEmpty();
    assertThat(without(onPage, known)).as("in %s, but not there", EventBusPage.PAGE).isEmpty();
  }

  private static Set<String> without(Set<String> all, Set<String> others) {
    Set<String> left = new TreeSet<>(all);
    left.removeAll(others);
    return left;
  }

  @Test
  void eachAddressHasOneSection() {
    assertThat(EventBusPage.sections()).extracting(Section::address).doesNotHaveDuplicates();
  }

  @ParameterizedTest
  @MethodSource("rows")
  void aRequestIsReadAndItsAnswerIsJson(Row row) {
    if (row.request() instanceof JsonArray many) {
      many.forEach(
          each -> Operations.of(row.address(), (JsonObject) each).question((JsonObject) each));
    } else {
      Operations.of(row.address(), row.object()).question(row.object());
    }
    assertThat(ShownJson.differences(row.answer(), new JsonObject())).isNotNull();
  }

  @Test
  void aSectionHasItsTable() {
    List<Section> sections =
        EventBusPage.sections(
            """
            # Page

            ### One

            The address is `evenkeel.api.one`. See.

            | request | answer |
            |---|---|
            | `{"action":"a"}` with the header `poll: p` | `{"b":1}`, with `"c":2` if so |
            | `{"action":"b"}` | `[...]` |

            ## Else

            | `no` | table |
            """);
    assertThat(sections).hasSize(1);
    assertThat(sections.get(0).rows())
        .extracting(Row::name)
        .containsExactly("evenkeel.api.one a", "evenkeel.api.one b");
    Row first = sections.get(0).rows().get(0);
    assertThat(first.headers()).containsOnly(org.assertj.core.api.Assertions.entry("poll", "p"));
    assertThat(first.answer()).isEqualTo("{\"b\":1}");
  }
}
