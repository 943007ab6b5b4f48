package dev.evenkeel.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import dev.evenkeel.Closing;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** {@code quota}, against a node that has two. */
class QuotaCommandTest {
  private final List<String> changes = new ArrayList<>();
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  @Closing private final StubApi api = new StubApi("/api/quotas", this::answer);

  private void answer(HttpExchange exchange) throws IOException {
    String method = exchange.getRequestMethod();
    Object answer =
        new JsonArray()
            .add(
                JsonObject.of("kind", "topic", "name", "orders", "bytesPerSecond", 10 << 20)
                    .put("messages", null)
                    .put("periodMillis", null)
                    .put("usedBytesPerSecond", 5_000)
                    .put("usedMessagesPerSecond", 5))
            .add(
                JsonObject.of("kind", "group-rate", "name", "smtp")
                    .put("bytesPerSecond", null)
                    .put("messages", 30)
                    .put("periodMillis", 60_000)
                    .put("usedBytesPerSecond", 0)
                    .put("usedMessagesPerSecond", 1));
    if (!method.equals("GET")) {
      String change = StubApi.read(exchange);
      changes.add(change);
      String body = change.split(" ", 3)[2];
      answer = body.isEmpty() ? new JsonObject() : new JsonObject(body);
    }
    StubApi.answer(exchange, 200, answer);
  }

  private String quota(int status, String... args) {
    out.getBuffer().setLength(0);
    err.getBuffer().setLength(0);
    assertThat(api.run(out, err, "quota", args)).as("%s", err).isEqualTo(status);
    return status == 0 ? out.toString() : err.toString();
  }

  @Test
  void setsWhatIsGiven() {
    assertThat(quota(0, "set", "topic", "orders", "--bytes", "10MiB/s"))
        .isEqualTo("quota of topic orders: 10MiB bytes/s\n");
    assertThat(quota(0, "set", "producer", "p", "--bytes", "2MB", "--messages", "500"))
        .isEqualTo("quota of producer p: 2000000 bytes/s, 500/s messages\n");
    assertThat(quota(0, "set", "group-rate", "smtp", "--messages", "30/m"))
        .isEqualTo("quota of group-rate smtp: 30/m messages\n");
    assertThat(changes)
        .containsExactly(
            "PUT /api/quotas/topic/orders {\"bytesPerSecond\":10485760}",
            "PUT /api/quotas/producer/p"
                + " {\"bytesPerSecond\":2000000,\"messages\":500,\"periodMillis\":1000}",
            "PUT /api/quotas/group-rate/smtp {\"messages\":30,\"periodMillis\":60000}");
  }

  @Test
  void saysWhatWouldBeRight() {
    assertThat(quota(2, "set", "topic", "orders")).contains("--bytes or --messages");
    assertThat(quota(2, "set", "shard", "orders", "--bytes", "1")).contains("group-rate");
    assertThat(quota(2, "set", "topic", "orders", "--bytes", "much")).contains("10MiB/s");
    assertThat(quota(2, "set", "topic", "orders", "--messages", "much")).contains("30/m");
    assertThat(quota(2, "set", "topic", "orders", "--messages", "0")).contains("from 1 to");
    assertThat(changes).isEmpty();
  }

  @Test
  void listsAndClears() {
    assertThat(quota(0, "list").lines())
        .containsExactly(
            "KIND        NAME    BYTES/S  MESSAGES  USED BYTES/S  USED MESSAGES/S",
            "topic       orders  10MiB    -                 5000                5",
            "group-rate  smtp    -        30/m                 0                1");
    assertThat(new JsonArray(quota(0, "list", "--format", "json"))).hasSize(2);
    assertThat(quota(0, "clear", "topic", "orders"))
        .isEqualTo("cleared the quota of topic orders\n");
    assertThat(changes).containsExactly("DELETE /api/quotas/topic/orders ");
  }
}
