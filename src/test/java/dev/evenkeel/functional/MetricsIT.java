package dev.evenkeel.functional;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.PrometheusText;
import dev.evenkeel.TestUsers;
import io.vertx.core.json.JsonArray;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The figures that a node serves are those of what was done, and all of them are documented. */
class MetricsIT {
  private static final int LINES = 5_000;
  private static final String TOPIC = "orders";
  private static final String GROUP = "readers";

  /** Served only where a log has followers. */
  private static final Set<String> OF_SEVERAL_NODES =
      Set.of("evenkeel_clock_skew_seconds", "evenkeel_log_follower_lag_entries");

  /** Served only where a group is in mode level. */
  private static final Set<String> OF_LEVEL_GROUPS =
      Set.of(
          "evenkeel_group_level_gap",
          "evenkeel_group_level_held_seconds",
          "evenkeel_group_level_range",
          "evenkeel_group_level_round",
          "evenkeel_group_level_set_aside_total");

  /** Served only where a group deduplicates, or has members that look for repetitions. */
  private static final Set<String> OF_DEDUP_GROUPS =
      Set.of(
          "evenkeel_group_dedup_accepted_total",
          "evenkeel_group_dedup_blocked_total",
          "evenkeel_group_dedup_declined_total",
          "evenkeel_group_dedup_evicted_total",
          "evenkeel_group_dedup_lost_total",
          "evenkeel_group_dedup_processing",
          "evenkeel_group_dedup_unguarded_total",
          "evenkeel_group_dedup_waiting",
          "evenkeel_group_repetition_share");

  private static final List<String> OF_TLS =
      Stream.of("client", "http", "peer")
          .flatMap(port -> Stream.of("expires_seconds", "broken").map(of -> port + "_" + of))
          .map(name -> "evenkeel_tls_" + name)
          .toList();

  /** Served only where users hold something. */
  private static final Set<String> OF_USERS = Set.of("evenkeel_share_held");

  /** Served only with tokens of an identity provider. */
  private static final Set<String> OF_OIDC =
      Set.of(
          "evenkeel_access_oidc_broken",
          "evenkeel_access_oidc_checked_total",
          "evenkeel_access_oidc_keys",
          "evenkeel_access_oidc_keys_failing");

  /** Served only where members have rates, or read in mode broadcast. */
  private static final Set<String> OF_PACED_GROUPS =
      Set.of(
          "evenkeel_group_rate_delayed_total",
          "evenkeel_group_rate_dropped_total",
          "evenkeel_group_rate_shards_waiting",
          "evenkeel_group_rate_waiting",
          "evenkeel_group_broadcast_lag_messages");

  @TempDir Path directory;
  private Node node;

  private PrometheusText figures() {
    HttpResponse<String> answer = node.get("/metrics");
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    assertThat(answer.headers().firstValue("content-type").orElseThrow())
        .startsWith("text/plain; version=0.0.4");
    return PrometheusText.parse(answer.body());
  }

  private static ConditionFactory eventually() {
    return Awaitility.await()
        .atMost(Duration.ofMinutes(3))
        .pollInterval(Duration.ofMillis(200))
        .pollDelay(Duration.ZERO)
        // A figure that is not there yet, an answer of another form while something changes.
        .ignoreExceptions();
  }

  private static Double lag(PrometheusText figures) {
    return figures.value("evenkeel_group_lag_messages", "group", GROUP, "topic", TOPIC);
  }

  private static Double members(PrometheusText figures) {
    return figures.value("evenkeel_group_members", "group", GROUP);
  }

  private static Double endOffset(PrometheusText figures) {
    return figures.value("evenkeel_topic_end_offset", "topic", TOPIC);
  }

  private static double acknowledged(PrometheusText figures) {
    return figures.value("evenkeel_append_messages_total");
  }

  @Test
  void figuresAgreeWithWhatWasDone() throws Exception {
    try (Node started = new Node(directory.resolve("node")).start()) {
      node = started;
      PrometheusText fresh = figures();
      assertThat(acknowledged(fresh)).isZero();
      assertThat(fresh.sum("evenkeel_log_leader")).as("three data groups and meta").isEqualTo(4);
      assertThat(fresh.value("evenkeel_dispatcher_active")).isEqualTo(1);
      assertThat(fresh.types).doesNotContainKey("evenkeel_group_lag_messages");

      node.createTopic(TOPIC, 4);
      Path input = Lines.write(directory.resolve("input.log"), LINES, 100);
      TopicMessages.send(node, TOPIC, input, null);
      eventually().untilAsserted(() -> assertThat(endOffset(figures())).isEqualTo((double) LINES));
      PrometheusText written = figures();
      assertThat(acknowledged(written)).isEqualTo(LINES);
      assertThat(written.value("evenkeel_append_seconds_count"))
          .isEqualTo(written.value("evenkeel_append_requests_total"));
      assertThat(written.value("evenkeel_append_entry_batches_sum"))
          .isEqualTo(written.value("evenkeel_append_batches_total"));
      assertThat(written.value("evenkeel_append_bytes_total")).isGreaterThan(Files.size(input));
      assertThat(written.value("evenkeel_topic_bytes", "topic", TOPIC))
          .isEqualTo(written.value("evenkeel_append_bytes_total"));

      consumeAndKill();
      loseAndAdd();
      theFormsAndThePage();

      node.kill();
      node.start();
      eventually().untilAsserted(() -> assertThat(endOffset(figures())).isEqualTo(LINES + 100.0));
      assertThat(acknowledged(figures())).as("counted since the start").isZero();
      eventually().untilAsserted(() -> assertThat(lag(figures())).isEqualTo(100));
      assertThat(node.stop().status()).isZero();
    }
  }

  /** Two consumers take everything; one is killed, and the other has its shards. */
  private void consumeAndKill() {
    try (Jar.Running a = node.consume("a", TOPIC, GROUP);
        Jar.Running b = node.consume("b", TOPIC, GROUP)) {
      eventually()
          .untilAsserted(
              () -> {
                assertThat(members(figures())).isEqualTo(2);
                assertThat(lag(figures())).isZero();
              });
      eventually()
          .until(
              () ->
                  node.shards(GROUP).stream()
                          .filter(shard -> "a".equals(shard.getString("owner")))
                          .filter(shard -> "OWNED".equals(shard.getString("state")))
                          .count()
                      == 2);
      // The dispatcher's figures are brought up to date a few times a second.
      eventually().untilAsserted(() -> assertBothAtWork(figures()));
      a.kill();
      eventually()
          .untilAsserted(
              () -> {
                PrometheusText one = figures();
                assertThat(members(one)).isEqualTo(1);
                assertThat(one.value("evenkeel_group_shards_unowned", "group", GROUP)).isZero();
                // More if the machine is so slow that members are taken for lost.
                assertThat(lost(one)).isGreaterThanOrEqualTo(2);
                assertThat(one.sum("evenkeel_dispatcher_moves_total"))
                    .isEqualTo(new JsonArray(node.get("/api/rebalances").body()).size());
              });
      assertThat(b.stop().status()).isZero();
    }
  }

  private static void assertBothAtWork(PrometheusText both) {
    assertThat(both.value("evenkeel_group_shards", "group", GROUP)).isEqualTo(4);
    for (String none : List.of("dead_letters", "retries_waiting", "retries_parked")) {
      assertThat(both.value("evenkeel_group_" + none, "group", GROUP)).as(none).isZero();
    }
    assertThat(both.value("evenkeel_group_breakers_open", "group", GROUP)).isZero();
    assertThat(both.value("evenkeel_group_committed_offset", "group", GROUP, "topic", TOPIC))
        .isEqualTo(LINES);
    assertThat(both.value("evenkeel_fetch_messages_total")).isGreaterThanOrEqualTo(LINES);
    assertThat(both.sum("evenkeel_dispatcher_moves_total")).isGreaterThanOrEqualTo(4);
    // The grants of one plan are joined, a command for each log group; a release may grant, too.
    assertThat(both.value("evenkeel_command_seconds_count", "command", "grant")).isPositive();
  }

  /** Moves for the sake of a member that was lost. */
  private static double lost(PrometheusText figures) {
    return figures.value("evenkeel_dispatcher_moves_total", "reason", "member crashed")
        + figures.value("evenkeel_dispatcher_moves_total", "reason", "member timed out");
  }

  /** Nobody consumes: what is produced is the lag. */
  private void loseAndAdd() {
    eventually().untilAsserted(() -> assertThat(members(figures())).isZero());
    for (int i = 0; i < 100; i++) {
      assertThat(
              node.post("/api/topics/" + TOPIC + "/messages", "{\"payload\":\"p\"}").statusCode())
          .isEqualTo(200);
    }
    assertThat(acknowledged(figures())).isEqualTo(LINES + 100);
    eventually().untilAsserted(() -> assertThat(lag(figures())).isEqualTo(100));
    eventually()
        .untilAsserted(
            () ->
                assertThat(figures().value("evenkeel_group_shards_unowned", "group", GROUP))
                    .isEqualTo(4));
    assertThat(figures().value("evenkeel_gateway_producers")).isEqualTo(1);
  }

  private void theFormsAndThePage() throws Exception {
    PrometheusText text = figures();
    PrometheusText open = PrometheusText.parseOpenMetrics(openMetrics());
    assertThat(acknowledged(open)).isEqualTo(acknowledged(text));
    assertThat(text.value("jvm_threads_live_threads")).isGreaterThan(10);
    assertThat(text.value("evenkeel_log_disk_bytes")).isPositive();
    assertThat(text.value("evenkeel_disk_free_bytes")).isPositive();
    assertThat(text.value("evenkeel_rocksdb_memtable_bytes")).isPositive();
    if (Files.exists(Path.of("/proc/self/status"))) {
      assertThat(text.value("process_resident_memory_bytes")).isGreaterThan(50 << 20);
    }
    if (Files.isReadable(Path.of("/proc/self/io"))) {
      assertThat(text.value("evenkeel_process_written_bytes")).isNotNegative().isFinite();
    }
    eventually()
        .untilAsserted(
            () ->
                assertThat(figures().value("evenkeel_event_loop_lag_seconds_count")).isPositive());
    Set<String> documented = documented();
    eventually().untilAsserted(() -> assertThat(documented).isEqualTo(served(figures())));
  }

  private static Set<String> served(PrometheusText text) {
    Set<String> served = new TreeSet<>();
    for (String name : text.types.keySet()) {
      boolean besideHistogram =
          name.endsWith("_max")
              && "histogram".equals(text.types.get(name.substring(0, name.length() - 4)));
      if (name.startsWith("evenkeel_") && !besideHistogram) {
        served.add(name);
      }
    }
    served.addAll(OF_SEVERAL_NODES);
    served.addAll(OF_LEVEL_GROUPS);
    served.addAll(OF_DEDUP_GROUPS);
    served.addAll(OF_PACED_GROUPS);
    served.addAll(OF_USERS);
    served.addAll(OF_OIDC);
    served.addAll(OF_TLS);
    return served;
  }

  private String openMetrics() throws IOException, InterruptedException {
    HttpRequest request =
        TestUsers.request(URI.create(node.url() + "/metrics"))
            .header("Accept", "application/openmetrics-text;version=1.0.0")
            .build();
    var answer = HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
    assertThat(answer.headers().firstValue("content-type").orElseThrow())
        .startsWith("application/openmetrics-text");
    return answer.body();
  }

  private static Set<String> documented() throws IOException {
    return Pattern.compile("(?m)^\\| `(evenkeel_\\w+)` \\|")
        .matcher(Files.readString(Path.of("src/site/markdown/operate/metrics.md")))
        .results()
        .map(match -> match.group(1))
        .collect(Collectors.toCollection(TreeSet::new));
  }
}
