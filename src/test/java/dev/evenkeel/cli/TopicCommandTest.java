package dev.evenkeel.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import dev.evenkeel.Closing;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** {@code topic create}, {@code configure} and {@code list}, against a node that has topics. */
class TopicCommandTest {
  private final Map<String, JsonObject> topics = new TreeMap<>();
  private final List<String> changes = new ArrayList<>();
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  @Closing private final StubApi api = new StubApi("/api/topics", this::answer);

  @BeforeEach
  void start() {
    topics.put("orders", topic("orders", 4, 86_400_000L, -1L, -1L));
    topics.put("audit", topic("audit", 1, 604_800_000L, 2_592_000_000L, 1L << 30));
  }

  private static JsonObject topic(String name, int shards, long retention, long age, long bytes) {
    return new JsonObject()
        .put("name", name)
        .put("shards", shards)
        .put("retentionMillis", retention)
        .put("ageMillisMax", age)
        .put("shardBytesMax", bytes)
        .put("createdMillis", 1)
        .put("messages", 0)
        .put("bytes", null);
  }

  private void answer(HttpExchange exchange) throws IOException {
    String method = exchange.getRequestMethod();
    String name = exchange.getRequestURI().getPath().replaceFirst("^/api/topics/?", "");
    Object answer = name.isEmpty() ? new JsonArray(List.copyOf(topics.values())) : topics.get(name);
    if (!method.equals("GET")) {
      JsonObject body = new JsonObject(Buffer.buffer(exchange.getRequestBody().readAllBytes()));
      changes.add(method + " " + name + " " + body.encode());
      Object changed = name.isEmpty() ? topic("", 0, 0, 0, 0) : answer;
      answer = changed instanceof JsonObject topic ? topic.mergeIn(body) : null;
    }
    boolean known = answer != null;
    StubApi.answer(exchange, known ? 200 : 404, known ? answer : Map.of("message", "no topic"));
  }

  private String topic(int status, String... args) {
    out.getBuffer().setLength(0);
    assertThat(api.run(out, err, "topic", args)).as(err.toString()).isEqualTo(status);
    return out.toString();
  }

  @Test
  void theListShowsTheSettings() {
    assertThat(topic(0, "list"))
        .isEqualTo(
            """
            TOPIC   SHARDS  MESSAGES  BYTES  RETENTION  MAX AGE  MAX BYTES
            audit        1         0  -      7d         30d      1GiB
            orders       4         0  -      1d         off      off
            """);
  }

  @Test
  void onlyWhatIsNamedChanges() {
    assertThat(topic(0, "configure", "audit", "--retention", "3d"))
        .isEqualTo("topic audit: retention 3d, max age 30d, max bytes 1GiB a shard\n");
    assertThat(topic(0, "configure", "audit", "--max-age=off", "--max-shard-bytes=off"))
        .isEqualTo("topic audit: retention 3d, max age off, max bytes off\n");
    assertThat(changes)
        .containsExactly(
            "PATCH audit {\"retentionMillis\":259200000}",
            "PATCH audit {\"ageMillisMax\":-1,\"shardBytesMax\":-1}");
    assertThat(topic(0, "configure", "audit", "--max-age=1h", "--format=json"))
        .contains("\"ageMillisMax\" : 3600000");
    assertThat(topic(1, "configure", "none", "--max-age=1h")).isEmpty();
  }

  @Test
  void settingsAreCopied() {
    assertThat(topic(0, "configure", "orders", "--copy-from", "audit", "--retention=1h"))
        .isEqualTo("topic orders: retention 1h, max age 30d, max bytes 1GiB a shard\n");
    topic(0, "create", "more", "--copy-from", "audit");
    assertThat(out.toString()).isEqualTo("created topic more with 1 shards\n");
    topic(0, "create", "wide", "--copy-from", "audit", "--shards=12", "--max-age=off");
    topic(0, "create", "plain", "--shards=2");
    assertThat(changes)
        .containsExactly(
            "PATCH orders {\"retentionMillis\":3600000,\"ageMillisMax\":2592000000,"
                + "\"shardBytesMax\":1073741824}",
            "POST  {\"name\":\"more\",\"shards\":1,\"retentionMillis\":604800000,"
                + "\"ageMillisMax\":2592000000,\"shardBytesMax\":1073741824}",
            "POST  {\"name\":\"wide\",\"shards\":12,\"retentionMillis\":604800000,"
                + "\"ageMillisMax\":-1,\"shardBytesMax\":1073741824}",
            "POST  {\"name\":\"plain\",\"shards\":2}");
    changes.clear();
    topic(1, "create", "more", "--copy-from", "none");
    topic(1, "configure", "orders", "--copy-from", "none");
    assertThat(changes).isEmpty();
  }
}
