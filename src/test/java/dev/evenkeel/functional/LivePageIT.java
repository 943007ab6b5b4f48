package dev.evenkeel.functional;

import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.options.ColorScheme;
import dev.evenkeel.gateway.page.Browsers;
import dev.evenkeel.gateway.page.Visit;
import java.nio.file.Path;
import java.util.Map;
import java.util.regex.Pattern;
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
        visit.reads(visit.table("Topics"), "2,000");

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
        visit.reads(visit.table("Topics"), "4,000");
        assertThat(first.stop().status()).isZero();
        visit.sees(visit.page().getByText(Pattern.compile("^6 shards waiting$")));
        assertThat(visit.errors()).isEmpty();
        assertThat(visit.requests())
            .allMatch(url -> url.matches("(http|ws)://127\\.0\\.0\\.1:" + node.httpPort + "/.*"));
      }
    }
  }
}
