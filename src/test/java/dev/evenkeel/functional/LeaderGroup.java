package dev.evenkeel.functional;

import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Evenkeel;
import dev.evenkeel.Futures;
import dev.evenkeel.TestUsers;
import dev.evenkeel.client.EvenkeelClient;
import dev.evenkeel.client.Producer;
import dev.evenkeel.client.ProducerOptions;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import org.awaitility.Awaitility;

/**
 * The processes of a group in mode singleton, each {@code examples.LeaderExample}, and the database
 * to which its leaders write.
 */
final class LeaderGroup implements AutoCloseable {
  static final String TOPIC = "jobs";
  static final String GROUP = "boss";

  final FencedDatabase database = new FencedDatabase();
  private final Path directory;
  private final Node node;
  private final EvenkeelClient client;
  private final Producer producer;
  private final Map<String, Jar.Running> members = new LinkedHashMap<>();
  private final List<Future<?>> acks = new ArrayList<>();
  private final Set<String> sent = new HashSet<>();
  private int starts;

  LeaderGroup(Path directory, Node node) throws Exception {
    this.directory = directory;
    this.node = node;
    client = Futures.await(Evenkeel.connect(TestUsers.options().setSeeds(List.of(node.cluster()))));
    producer = Futures.await(client.producer(new ProducerOptions().setTopic(TOPIC)));
  }

  void start(String member) {
    members.put(
        member,
        Program.start(
                directory,
                member + "-" + ++starts,
                Program.clientClassPath(),
                "examples.LeaderExample",
                node.cluster(),
                TOPIC,
                GROUP,
                member,
                String.valueOf(database.port()))
            .inCrowd());
  }

  Jar.Running member(String name) {
    return members.get(name);
  }

  /** Sends so many messages more, each with a text of its own. */
  void send(int count) {
    times(count, i -> send("job-" + sent.size()));
  }

  void send(String text) {
    sent.add(text);
    acks.add(producer.send(null, text.getBytes(StandardCharsets.US_ASCII)));
  }

  JsonObject described() {
    HttpResponse<String> answer = node.get("/api/groups/" + GROUP);
    return answer.statusCode() == 200 ? new JsonObject(answer.body()) : null;
  }

  /** Waits until so many are registered, and one of them leads. */
  void awaitMembers(int count) {
    await(
        count + " members and a leader",
        () -> {
          JsonObject group = described();
          return group != null
              && group.getJsonArray("members").size() == count
              && group.getJsonArray("members").stream()
                  .allMatch(each -> ((JsonObject) each).getLong("lastHeartbeatMs") != null)
              && group.getJsonObject("singleton").getString("leader") != null
              && group.getString("status").equals("OK");
        });
  }

  /** Waits for the first row of a leader after {@code term}. */
  FencedDatabase.Row awaitLeaderAfter(long term) {
    await("a leader after term " + term, () -> database.firstAfter(term) != null);
    return database.firstAfter(term);
  }

  static void await(String what, Callable<Boolean> condition) {
    Awaitility.await(what)
        .atMost(Duration.ofSeconds(120))
        .pollInterval(Duration.ofMillis(20))
        .until(condition);
  }

  /** Waits until everything that was sent has become a row that was taken. */
  void awaitAllDone() throws Exception {
    Futures.await(Future.all(acks));
    await(
        "rows of all messages",
        () -> {
          Set<String> missing = new HashSet<>(sent);
          database.rows().stream()
              .filter(FencedDatabase.Row::taken)
              .forEach(row -> missing.remove(row.text()));
          return missing.isEmpty();
        });
  }

  /** No leader's rows lie among another's, and each begins with its inauguration. */
  void check() {
    Map<Long, String> members = new HashMap<>();
    for (FencedDatabase.Row row : database.rows()) {
      if (row.taken()) {
        if (!members.containsKey(row.term())) {
          assertThat(row.text()).as("the first row of a term: %s", row).isEqualTo("inaugurate");
        }
        assertThat(members.putIfAbsent(row.term(), row.member()))
            .as("the leader of a term: %s", row)
            .isIn(null, row.member());
      }
    }
  }

  void stopAll() {
    for (Jar.Running running : members.values()) {
      Jar.Result ended = running.stop();
      // 128 and the number of SIGTERM: a JVM says so after its hooks.
      assertThat(ended.status()).as(ended.toString()).isEqualTo(143);
    }
  }

  @Override
  public void close() throws Exception {
    // At once, held ones too.
    members.values().forEach(running -> running.process.destroyForcibly());
    database.close();
    Futures.await(client.close());
  }
}
