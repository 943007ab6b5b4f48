package dev.evenkeel.functional;

import static dev.evenkeel.Futures.await;
import static dev.evenkeel.Words.words;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Unchecked;
import dev.evenkeel.api.ApiAddresses;
import dev.evenkeel.api.EventBusPage;
import dev.evenkeel.api.EventBusPage.Row;
import dev.evenkeel.api.EventBusPage.Section;
import dev.evenkeel.api.Operation;
import dev.evenkeel.api.Operations;
import dev.evenkeel.api.ShownJson;
import dev.evenkeel.protocol.HostPort;
import examples.OwnVertxExample;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Sends every request of the page about JSON over the event bus to a cluster of three nodes, from a
 * clustered Vert.x without classes of Evenkeel. Each answer has the fields that the page shows.
 *
 * <p>A new section of the page needs its {@link PreparedRequests} here.
 */
class EventBusPageIT {
  private static final String NO_ACTION = "";

  private static final Map<String, Function<PageCluster, PreparedRequests>> PREPARED =
      Map.ofEntries(
          Map.entry(ApiAddresses.PRODUCE, PreparedRequests.asShown(NO_ACTION)),
          Map.entry(ApiAddresses.MESSAGES, PreparedRequests.asShown(NO_ACTION)),
          Map.entry(ApiAddresses.DELAYED, PreparedRequests.Delayed::new),
          Map.entry(
              ApiAddresses.TOPICS,
              PreparedRequests.asShown(words("create list get configure reshard delete ready"))),
          Map.entry(ApiAddresses.GROUPS, PreparedGroupRequests::new),
          Map.entry(ApiAddresses.SESSIONS, PreparedRequests.Sessions::new),
          Map.entry(
              ApiAddresses.ELECTIONS,
              PreparedRequests.opened(
                  "candidate", "open", words("watch resign handedOver abandon close"))),
          Map.entry(
              ApiAddresses.COORDINATORS,
              PreparedRequests.opened("track", "open", words("move destroy"))),
          Map.entry(
              ApiAddresses.DEDUP,
              PreparedRequests.opened("claim", "claim", words("await giveBack"))),
          Map.entry(ApiAddresses.QUOTAS, PreparedRequests.asShown(words("set list clear"))),
          Map.entry(ApiAddresses.SHARES, PreparedRequests.asShown(words("list"))),
          Map.entry(ApiAddresses.USERS, cluster -> new PreparedRequests.Users()),
          Map.entry(ApiAddresses.CLUSTER, PreparedRequests.Cluster::new));

  @TempDir static Path directory;
  private static Trio trio;
  private static Vertx vertx;
  private static PageCluster cluster;

  @BeforeAll
  static void start() {
    // Programs on the event bus are no users, but there are requests about users.
    Path users =
        Unchecked.get(() -> Files.writeString(directory.resolve("users"), "{\"users\":[]}"));
    trio = new Trio(directory, "--users", users.toString()).start();
    HostPort hazelcast = new HostPort("127.0.0.1", trio.node(1).hazelcastPort());
    vertx = await(OwnVertxExample.clusteredVertx(hazelcast.toString()));
    cluster = new PageCluster(trio, vertx.eventBus());
    cluster.ask(ApiAddresses.TOPICS, "{'action':'create','name':'orders','shards':4}");
    // At shard 2, where key k8 belongs, are the offsets that the page shows.
    for (int i = 0; i < 40; i++) {
      String key = i < 30 ? "k8" : "k" + (i - 30);
      cluster.ask(
          ApiAddresses.PRODUCE, "{'topic':'orders','key':'%s','payload':'hello'}".formatted(key));
    }
  }

  @AfterAll
  static void stop() {
    try (Trio ended = trio) {
      if (vertx != null) {
        await(vertx.close());
      }
    }
  }

  /** In the order of the page, but what takes nodes away comes last. */
  private static Stream<Section> sections() {
    return EventBusPage.sections().stream()
        .sorted(Comparator.comparing(each -> each.address().equals(ApiAddresses.CLUSTER)));
  }

  @ParameterizedTest
  @MethodSource("sections")
  void everyRequestGetsTheAnswerThatThePageShows(Section section) {
    assertThat(PREPARED)
        .as("EventBusPageIT does not know what the requests to %s need", section)
        .containsKey(section.address());
    PreparedRequests prepared = PREPARED.get(section.address()).apply(cluster);
    assertThat(section.rows()).isNotEmpty();
    for (Row row : section.rows()) {
      Object request = prepared.request(row);
      if (onlyAsks(row)) {
        // Some figures follow with the next heartbeat.
        cluster.untilAsserted(row.name(), () -> compare(prepared, row, request));
      } else {
        compare(prepared, row, request);
      }
    }
  }

  private static boolean onlyAsks(Row row) {
    return row.request() instanceof JsonObject request
        && Operations.of(row.address(), request).method() == Operation.Method.GET;
  }

  private static void compare(PreparedRequests prepared, Row row, Object request) {
    Object answer = cluster.ask(row.address(), request, row.headers());
    assertThat(ShownJson.differences(row.answer(), answer))
        .as("%s %s shows %s and gets %s", row.address(), request, row.answer(), answer)
        .isEmpty();
    prepared.answered(row, answer);
  }
}
