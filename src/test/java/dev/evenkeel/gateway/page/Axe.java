package dev.evenkeel.gateway.page;

import static org.assertj.core.api.Assertions.assertThat;

import com.deque.html.axecore.args.AxeRunOptions;
import com.deque.html.axecore.playwright.AxeBuilder;
import com.deque.html.axecore.results.Rule;
import com.microsoft.playwright.Page;
import java.util.List;
import java.util.Set;

/** Looks with axe-core for what keeps people from using a page. */
public final class Axe {
  private static final Set<String> BAD = Set.of("serious", "critical");

  private Axe() {}

  /** Fails, and names what was found. */
  public static void assertNothingSerious(Page page) {
    AxeRunOptions options = new AxeRunOptions();
    // Nobody reads what is in order.
    options.setResultTypes(List.of("violations"));
    List<String> found =
        new AxeBuilder(page)
                .options(options)
                // Takes long, and is never more than moderate.
                .disableRules(List.of("region"))
                // The page has no frames: no second page is needed to join what was found.
                .setLegacyMode(true)
                .analyze()
                .getViolations()
                .stream()
                .filter(rule -> BAD.contains(rule.getImpact()))
                .map(Axe::text)
                .toList();
    assertThat(found).isEmpty();
  }

  private static String text(Rule rule) {
    return rule.getId()
        + ": "
        + rule.getHelp()
        + rule.getNodes().stream()
            .limit(5)
            .map(node -> "\n  " + node.getHtml() + "\n  " + node.getFailureSummary())
            .toList();
  }
}
