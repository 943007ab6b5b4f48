package dev.evenkeel.functional;

import static dev.evenkeel.Words.words;
import static org.assertj.core.api.Assertions.assertThat;

import com.deque.html.axecore.playwright.AxeBuilder;
import com.deque.html.axecore.results.Rule;
import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.AriaRole;
import com.microsoft.playwright.options.ColorScheme;
import dev.evenkeel.TestUsers;
import dev.evenkeel.Wait;
import dev.evenkeel.cli.CommandInJvm;
import dev.evenkeel.gateway.page.Browsers;
import dev.evenkeel.gateway.page.Visit;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The page of a real node in a real browser, while real consumers come, go, and are killed. */
class LivePageIT {
  private static final String GROUP = "readers";

  @TempDir Path directory;

  @Test
  @Timeout(600)
  void joinsLeavesCrashesAndARestartAreSeen() {
    TestUsers.assumeNone("the page would ask for a token, which other tests give it");
    Path input = Lines.write(directory.resolve("input.log"), 2000, 50);
    try (Browsers browsers = Browsers.start();
        Node node = new Node(directory.resolve("node")).start()) {
      node.createTopic("lines", 6);
      try (Visit visit =
              new Visit(browsers.browser(), ColorScheme.DARK, node.url() + "/#group=" + GROUP);
          Jar.Running first = node.consume("first", "lines", GROUP)) {
        // That programs start and join is waited for here, and not for as long as a page may take.
        Members members = new Members(node, GROUP);
        members.awaitCounts(Map.of("first", 6));
        visit.seesLive();
        visit.reads(visit.banner(), "n1");
        visit.sees(visit.lane("first", 6));
        visit.reads(visit.noOwner(), "every shard has one");
        TopicMessages.send(node, "lines", input, Lines.KEY_REGEX);
        seesMessages(visit, node, "2,000");

        try (Jar.Running second = node.consume("second", "lines", GROUP)) {
          members.awaitCounts(Map.of("first", 3, "second", 3));
          visit.sees(visit.lane("second", 3));
          visit.sees(visit.lane("first", 3));
          visit.reads(visit.table("Recent moves"), "member joined");
          assertThat(second.stop().status()).isZero();
        }
        visit.seesNoMore(visit.lane("second"));
        visit.sees(visit.lane("first", 6));
        visit.reads(visit.table("Recent moves"), "member left");

        try (Jar.Running third = node.consume("third", "lines", GROUP)) {
          members.awaitCounts(Map.of("first", 3, "third", 3));
          visit.sees(visit.lane("third", 3));
          third.kill();
          visit.seesNoMore(visit.lane("third"));
          visit.sees(visit.lane("first", 6));
          visit.reads(visit.table("Recent moves"), Pattern.compile("member (timed out|crashed)"));
        }

        // A handler of it ends only when the consumer does.
        String hanging = "while kill -0 $PPID 2>/dev/null; do sleep 0.2; done";
        try (Jar.Running fourth =
            node.consume("fourth", "lines", GROUP, "--stuck-timeout", "1s", "--exec", hanging)) {
          members.awaitCounts(Map.of("first", 3, "fourth", 3));
          visit.sees(visit.lane("fourth", 3));
          TopicMessages.send(node, "lines", input, Lines.KEY_REGEX);
          visit.reads(visit.lane("fourth"), "stuck on 3 shards");
          visit.sees(visit.lane("first", 6));
          visit.reads(visit.table("Recent moves"), "member stuck");
          fourth.kill();
          visit.seesNoMore(visit.lane("fourth"));
        }
        node.awaitConsumed(GROUP, 4_000);

        node.kill();
        visit.seesStale();
        visit.sees(visit.lane("first", 6));
        node.start();
        visit.seesLive();
        visit.sees(visit.lane("first", 6));
        seesMessages(visit, node, "4,000");
        assertThat(first.stop().status()).isZero();
        visit.sees(visit.page().getByText(Pattern.compile("^6 shards waiting$")));
        assertThat(visit.errors()).isEmpty();
        assertThat(visit.requests())
            .allMatch(url -> url.matches("(http|ws)://127\\.0\\.0\\.1:" + node.httpPort + "/.*"));
      }
    }
  }

  /**
   * The overview and the topic's own page tell of so many messages, and one finds back from them.
   */
  private static void seesMessages(Visit visit, Node node, String count) {
    Page page = visit.page();
    page.navigate(node.url() + "/#/");
    visit.reads(visit.table("Topics"), count);
    visit.reads(visit.table("Nodes"), Pattern.compile("up.*[MGT]iB"));
    visit.table("Topics").getByRole(AriaRole.LINK).click();
    visit.reads(visit.table("Shards"), "open");
    visit.reads(visit.region("Settings"), "off");
    visit.reads(visit.table("Groups that read it"), GROUP);
    page.goBack();
    page.goBack();
  }

  @Test
  @Tag("full")
  @Timeout(600)
  void aClusterWithUsersAsksForATokenAndShowsWhatItsUserMaySee() throws Exception {
    Path users = directory.resolve("users.json");
    String viewer = add(users, "viewer", "view:lines,view:readers");
    String producer = add(users, "sender", "produce:lines");
    try (Browsers browsers = Browsers.start();
        Node node = new Node(directory.resolve("node")).with("--users", users.toString()).start()) {
      String operator = add(users, "operator", "admin:*");
      Path file = Files.writeString(directory.resolve("operator"), operator);
      for (String topic : List.of("lines", "secrets")) {
        Wait.until(
            topic,
            () ->
                node.tryAdmin(words("topic create %s --shards 2 --token-file %s", topic, file))
                        .status()
                    == 0);
      }
      try (Visit visit = new Visit(browsers.browser(), ColorScheme.LIGHT, node.url())) {
        Page page = visit.page();
        Locator token = page.getByLabel("Token of a user");
        visit.sees(token);
        assertThat(
                new AxeBuilder(page)
                    .analyze().getViolations().stream()
                        .filter(rule -> List.of("serious", "critical").contains(rule.getImpact()))
                        .map(Rule::getHelp))
            .isEmpty();
        token.fill("ek_00000000_" + "0".repeat(64));
        page.keyboard().press("Enter");
        visit.reads(page.getByRole(AriaRole.ALERT), "no user of the cluster has this token");
        assertThat(page.locator("main").textContent()).doesNotContain("lines");

        token.fill(viewer);
        page.keyboard().press("Enter");
        visit.seesLive();
        visit.reads(visit.table("Topics"), "lines");
        assertThat(visit.table("Topics").textContent()).doesNotContain("secrets");
        visit.reads(visit.banner(), "viewer");
        assertThat(page.evaluate("document.cookie")).as("what scripts see").isEqualTo("");

        // It needs no other token after a reload, and none of it is left after the way out.
        page.reload();
        visit.seesLive();
        page.getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName("Log out")).click();
        visit.sees(token);
        assertThat(page.locator("main").textContent()).doesNotContain("lines");

        token.fill(producer);
        page.keyboard().press("Enter");
        visit.reads(page.locator("main"), "The user “sender” may see nothing here");
      }
    }
  }

  /** Adds a user, and gives its token. */
  private static String add(Path users, String name, String may) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    int status = CommandInJvm.run(out, err, "user", "add", users.toString(), name, "--may", may);
    assertThat(status).as(err.toString()).isZero();
    return out.toString().strip();
  }
}
