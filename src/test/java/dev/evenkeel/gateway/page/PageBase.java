package dev.evenkeel.gateway.page;

import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.options.ColorScheme;
import com.microsoft.playwright.options.ReducedMotion;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;

/** A server, and a person who looks, a test. No test leaves an error behind. */
abstract class PageBase {
  private static Browsers browsers;
  FakeLive live;
  Visit visit;

  @BeforeAll
  static void startBrowser() {
    browsers = Browsers.shared();
  }

  @AfterEach
  void close() {
    List<String> errors = visit == null ? List.of() : visit.errors();
    if (visit != null) {
      visit.close();
    }
    if (live != null) {
      live.close();
    }
    assertThat(errors).isEmpty();
  }

  /** What {@code evenkeel.schemes} names, by default dark. */
  static List<ColorScheme> schemes() {
    return Stream.of(System.getProperty("evenkeel.schemes", "DARK").split(","))
        .map(ColorScheme::valueOf)
        .toList();
  }

  /** Visits the board of the first group, or the overview if there is none. */
  void visit(ColorScheme scheme, JsonObject state) {
    visit(scheme, ReducedMotion.NO_PREFERENCE, 1280, 800, state, board(state));
  }

  static String board(JsonObject state) {
    return state.getJsonObject("groups").fieldNames().stream()
        .findFirst()
        .map(group -> "#/groups/" + group)
        .orElse("");
  }

  void visit(
      ColorScheme scheme,
      ReducedMotion motion,
      int width,
      int height,
      JsonObject state,
      String hash) {
    visit(scheme, motion, width, height, new FakeLive(state), hash);
  }

  /** Visits a server whose answers are set. */
  void visit(
      ColorScheme scheme,
      ReducedMotion motion,
      int width,
      int height,
      FakeLive server,
      String hash) {
    live = server;
    visit = new Visit(browsers.browser(), scheme, motion, width, height, live.url() + hash);
    visit.seesLive();
    // What is to be loaded is there: afterwards a test may take the server away.
    visit.page().evaluate("() => document.fonts.ready.then(() => true)");
  }

  /** axe-core finds nothing serious in what is shown. */
  void assertNothingSerious() {
    Axe.assertNothingSerious(visit.page());
  }
}
