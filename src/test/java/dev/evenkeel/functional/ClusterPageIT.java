package dev.evenkeel.functional;

import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page.GetByRoleOptions;
import com.microsoft.playwright.options.AriaRole;
import com.microsoft.playwright.options.ColorScheme;
import dev.evenkeel.TestUsers;
import dev.evenkeel.Wait;
import dev.evenkeel.gateway.page.Browsers;
import dev.evenkeel.gateway.page.Visit;
import java.nio.file.Path;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What the page offers only in a cluster: a plan for a node that ends, and draining a node. */
@Tag("full")
class ClusterPageIT {
  private static final String GROUP = "readers";

  @TempDir Path directory;

  private static void go(Visit visit, Node node, String address) {
    visit.page().navigate(node.url() + "/#" + address);
  }

  private static Locator row(Visit visit, String table, String name) {
    return visit
        .table(table)
        .getByRole(AriaRole.ROW)
        .filter(
            new Locator.FilterOptions()
                .setHas(
                    visit
                        .page()
                        .getByRole(
                            AriaRole.ROWHEADER,
                            new GetByRoleOptions().setName(name).setExact(true))));
  }

  @Test
  @Timeout(900)
  void aNodeIsDrainedByThePageAndAPlanComesTrue() {
    TestUsers.assumeNone("the page would ask for a token, which other tests give it");
    try (Browsers browsers = Browsers.start();
        Growing cluster = new Growing(directory)) {
      for (String id : new String[] {"n2", "n3", "n4"}) {
        cluster.join(id);
      }
      Node first = cluster.node("n1");
      first.createTopic("lines", 6);
      cluster.consume("amber", "lines", GROUP);
      cluster.consume("birch", "lines", GROUP);
      Members members = new Members(first, GROUP);
      members.awaitCounts(Map.of("amber", 3, "birch", 3));
      try (Visit one = new Visit(browsers.browser(), ColorScheme.DARK, first.url());
          Visit other =
              new Visit(browsers.browser(), ColorScheme.LIGHT, cluster.node("n2").url())) {
        suppose(one, first);
        cluster.consume("cedar", "lines", GROUP);
        members.awaitCounts(Map.of("amber", 2, "birch", 2, "cedar", 2));
        drain(one, other, cluster);
        assertThat(one.errors()).isEmpty();
        assertThat(other.errors()).isEmpty();
      }
    }
  }

  /** One more consumer, and then the end of a node on which no consumer runs. */
  private static void suppose(Visit visit, Node node) {
    go(visit, node, "/groups/" + GROUP + "/plan");
    visit.sees(visit.page().getByText("Nothing is about to move now."));
    visit.page().getByLabel("consumers that join").fill("1");
    visit.page().keyboard().press("Enter");
    visit.sees(
        visit
            .page()
            .getByText("2 of 6 shards would move, and consumers would own 2 each; now 3 each."));
    visit.button("Begin anew").click();
    visit.sees(visit.page().getByText("Nothing is about to move now."));
    visit.page().getByLabel("node that ends").selectOption("n4");
    visit.button("Show the plan").click();
    visit.sees(
        visit
            .page()
            .getByText("0 of 6 shards would move, and consumers would own 3 each; now 3 each."));
  }

  private static void drain(Visit one, Visit other, Growing cluster) {
    go(one, cluster.node("n1"), "/cluster");
    go(other, cluster.node("n2"), "/cluster");
    one.button("Drain n4").click();
    one.reads(one.dialog(), "n4 gives its");
    one.page().keyboard().press("Enter");
    one.reads(one.dialog(), "n4 drains:");
    one.page().keyboard().press("Escape");
    other.reads(row(other, "Nodes", "n4"), Pattern.compile("drain(ing|ed)"));
    Wait.until("n4 keeps nothing", 300, () -> cluster.holding("n4").isEmpty());
    other.reads(row(other, "Nodes", "n4"), "drained");
    other.button("End the drain of n4").click();
    other.reads(other.dialog(), "n4 takes copies and leads again.");
    other.page().keyboard().press("Enter");
    other.reads(other.dialog(), "n4 keeps data again.");
    other.page().keyboard().press("Escape");
    one.sees(one.button("Drain n4"));
    cluster.awaitSettled();
  }
}
