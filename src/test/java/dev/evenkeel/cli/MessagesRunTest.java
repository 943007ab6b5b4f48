package dev.evenkeel.cli;

import static dev.evenkeel.Loops.each;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpExchange;
import dev.evenkeel.Closing;
import dev.evenkeel.api.DescribeTopic.ShardDetail;
import dev.evenkeel.api.DescribeTopic.TopicDetail;
import dev.evenkeel.api.RecordJson;
import dev.evenkeel.api.TopicLimits;
import dev.evenkeel.api.TopicView;
import dev.evenkeel.protocol.StartAt;
import dev.evenkeel.protocol.TopicConfig;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** {@code topic messages}, against a node that has a topic in memory. */
class MessagesRunTest {
  /** A page of the node has at most so many messages. */
  private static final int PAGE = 2;

  private final List<List<JsonObject>> shards = new ArrayList<>();
  private final List<String> queries = new ArrayList<>();
  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();
  private volatile long start;
  private volatile long created = 1;
  private volatile int status = 200;
  private volatile boolean endsKnown = true;
  private volatile MessagesRun run;

  @Closing private final StubApi node = new StubApi("/api/topics/t", this::answer);

  private void answer(HttpExchange exchange) throws IOException {
    String query = exchange.getRequestURI().getQuery();
    Object answer;
    int now = status;
    synchronized (shards) {
      queries.add(String.valueOf(query));
      if (now != 200) {
        answer = new JsonObject().put("error", "UNAVAILABLE").put("message", "no leader");
      } else {
        answer = query == null ? topic() : page(exchange, query);
      }
    }
    if (answer instanceof JsonObject error && error.containsKey("error") && now == 200) {
      now = 400;
    }
    StubApi.answer(exchange, now, answer);
  }

  private JsonObject topic() {
    List<ShardDetail> list = new ArrayList<>();
    for (int i = 0; i < shards.size(); i++) {
      Long first = endsKnown ? (Long) start : null;
      Long end = endsKnown ? (Long) (long) shards.get(i).size() : null;
      list.add(new ShardDetail(i, false, List.of(), first, end, null, null, null, "d0", null));
    }
    TopicLimits limits = TopicLimits.of(TopicConfig.DEFAULT);
    TopicView topic = new TopicView("t", list.size(), limits, created, null);
    return RecordJson.json(new TopicDetail(topic, list, List.of()));
  }

  private Object page(HttpExchange exchange, String query) {
    Map<String, String> asked = new HashMap<>();
    each(query.split("&"), each -> asked.put(each.split("=")[0], each.split("=")[1]));
    List<JsonObject> shard = shards.get(Integer.parseInt(asked.get("shard")));
    long next = start;
    if (asked.containsKey("offset")) {
      next = Long.parseLong(asked.get("offset"));
    } else if (asked.containsKey("at")) {
      long at = Long.parseLong(asked.get("at"));
      while (next < shard.size() && shard.get((int) next).getLong("timestamp") < at) {
        next++;
      }
    }
    if (next < start || next > shard.size()) {
      return JsonObject.of("error", "OFFSET_OUT_OF_RANGE", "message", "there is no offset " + next);
    }
    long last = Math.min(next + Math.min(PAGE, Long.parseLong(asked.get("limit"))), shard.size());
    JsonArray page = new JsonArray();
    for (; next < last; next++) {
      JsonObject message = shard.get((int) next);
      if (!asked.containsKey("key") || asked.get("key").equals(message.getString("key"))) {
        page.add(message);
      }
    }
    if (asked.containsKey("key") || asked.containsKey("at")) {
      exchange.getResponseHeaders().add("evenkeel-next-offset", String.valueOf(next));
    }
    return page;
  }

  /** Adds messages with these timestamps, whose payloads are SHARD/OFFSET. */
  private void add(int shard, long... timestamps) {
    synchronized (shards) {
      while (shards.size() <= shard) {
        shards.add(new ArrayList<>());
      }
      List<JsonObject> messages = shards.get(shard);
      for (long timestamp : timestamps) {
        messages.add(
            new JsonObject()
                .put("shard", shard)
                .put("offset", messages.size())
                .put("key", "k" + timestamp % 2)
                .put("payload", shard + "/" + messages.size())
                .put("timestamp", timestamp)
                .put("headers", new JsonObject().put("h", "v")));
      }
    }
  }

  private static MessagesRun.Settings settings(Integer shard, Long offset, StartAt at) {
    return new MessagesRun.Settings("t", shard, offset, at, null, Long.MAX_VALUE, false, false);
  }

  private static MessagesRun.Settings key(String key, long limit) {
    return new MessagesRun.Settings("t", null, null, null, key, limit, false, false);
  }

  private List<String> print(MessagesRun.Settings settings) {
    return print(settings, out);
  }

  private List<String> print(MessagesRun.Settings settings, OutputStream output) {
    out.reset();
    HttpApi api = new HttpApi(node.url());
    run = new MessagesRun(api, settings, output, new PrintStream(err));
    run.run();
    return out.toString(StandardCharsets.UTF_8).lines().toList();
  }

  @Test
  void shardsAreMergedByTimestamp() {
    add(0, 10, 40, 20, 50, 90);
    add(1);
    add(2, 15, 45, 60);
    List<String> all = List.of("0/0", "2/0", "0/1", "0/2", "2/1", "0/3", "2/2", "0/4");
    assertThat(print(settings(null, null, null))).isEqualTo(all);
    endsKnown = false;
    assertThat(print(settings(null, null, null))).isEqualTo(all);
    endsKnown = true;
    assertThat(print(key(null, 3))).isEqualTo(all.subList(0, 3));
    assertThat(print(key("k1", 100))).containsExactly("2/0", "2/1");
    assertThat(print(key("none", 100))).isEmpty();
    assertThat(print(settings(2, null, null))).containsExactly("2/0", "2/1", "2/2");
    assertThat(print(settings(null, 2L, null))).containsExactly("0/2", "0/3", "2/2", "0/4");
    StartAt at = StartAt.timestamp(45);
    assertThat(print(settings(null, null, at))).containsExactly("2/1", "0/3", "2/2", "0/4");
    assertThat(print(settings(null, null, StartAt.timestamp(1_000)))).isEmpty();
    queries.clear();
    assertThat(print(settings(null, null, StartAt.LATEST))).isEmpty();
    assertThat(queries).as("only the ends are asked for").hasSize(1);
  }

  @Test
  void aLineHasTheKeysOfConsume() {
    add(0, 10);
    shards.get(0).get(0).put("key", null);
    shards
        .get(0)
        .add(
            new JsonObject(
                "{\"shard\":0,\"offset\":1,\"keyBase64\":\"/w==\",\"payloadBase64\":\"wwA=\","
                    + "\"timestamp\":20,\"headers\":{}}"));
    shards
        .get(0)
        .add(
            new JsonObject(
                "{\"shard\":0,\"offset\":2,\"key\":null,\"payload\":null,\"timestamp\":null,"
                    + "\"headers\":{},\"unreadable\":\"corrupt batch\"}"));
    String none = "\"member\":null,\"epoch\":null,\"attempt\":null,\"headers\":";
    var json = new MessagesRun.Settings("t", 0, null, null, null, Long.MAX_VALUE, false, true);
    assertThat(print(json))
        .containsExactly(
            "{\"topic\":\"t\",\"shard\":0,\"offset\":0,\"key\":null,\"payload\":\"0/0\",\"timestamp\":10,"
                + none
                + "{\"h\":\"v\"}}",
            "{\"topic\":\"t\",\"shard\":0,\"offset\":1,\"keyBase64\":\"/w==\",\"payloadBase64\":\"wwA=\","
                + "\"timestamp\":20,"
                + none
                + "{}}",
            "{\"topic\":\"t\",\"shard\":0,\"offset\":2,\"key\":null,\"payload\":null,\"timestamp\":null,"
                + none
                + "{},\"unreadable\":\"corrupt batch\"}");
    print(settings(null, null, null));
    assertThat(out.toByteArray()).isEqualTo(new byte[] {'0', '/', '0', '\n', (byte) 0xC3, 0, '\n'});
    assertThat(err.toString(StandardCharsets.UTF_8))
        .isEqualTo("evenkeel topic messages: t/0 offset 2 cannot be read: corrupt batch\n");
  }

  @Test
  void anOffsetThatTheShardDoesNotHaveIsRefused() {
    add(0, 1, 2);
    add(1, 3);
    assertThatThrownBy(() -> print(settings(1, 2L, null)))
        .hasMessage("there is no offset 2: shard 1 has 0..1");
    assertThat(print(settings(1, 1L, null))).isEmpty();
    start = 1;
    assertThatThrownBy(() -> print(settings(0, 0L, null)))
        .hasMessage("there is no offset 0: shard 0 has 1..2");
    assertThat(print(settings(null, 0L, null))).as("of each shard").containsExactly("0/1");
  }

  @Test
  void messagesThatAreDroppedMeanwhileAreSkipped() {
    add(0, 1, 2, 3, 4, 5);
    OutputStream dropping =
        new OutputStream() {
          @Override
          public void write(int b) {
            out.write(b);
            start = 4;
          }
        };
    assertThat(print(settings(null, null, null), dropping)).containsExactly("0/0", "0/1", "0/4");
    assertThat(err.toString(StandardCharsets.UTF_8))
        .isEqualTo(
            "evenkeel topic messages: shard 0: there is no offset 2; goes on at the first message"
                + " kept\n");
  }

  @Test
  void followingGoesOnAfterAnOutageAndInNewShardsAndTopics() {
    add(0, 1, 2);
    var follow = new MessagesRun.Settings("t", null, null, null, null, Long.MAX_VALUE, true, false);
    CompletableFuture<List<String>> printed = CompletableFuture.supplyAsync(() -> print(follow));
    await().until(() -> out.toString(StandardCharsets.UTF_8).equals("0/0\n0/1\n"));
    status = 503;
    add(1, 3);
    await().until(() -> err.toString(StandardCharsets.UTF_8).contains("tries again"));
    add(0, 4);
    status = 200;
    await().until(() -> out.toString(StandardCharsets.UTF_8).endsWith("1/0\n0/2\n"));
    synchronized (shards) {
      created = 2;
      shards.clear();
      add(0, 5);
    }
    await().until(() -> out.toString(StandardCharsets.UTF_8).endsWith("0/2\n0/0\n"));
    run.stop();
    assertThat(printed.join()).containsExactly("0/0", "0/1", "1/0", "0/2", "0/0");
    assertThat(err.toString(StandardCharsets.UTF_8))
        .isEqualTo("evenkeel topic messages: no leader; tries again until the node answers\n");
  }

  @Test
  void whatDoesNotPassEndsIt() {
    add(0, 1);
    status = 503;
    var follow = new MessagesRun.Settings("t", null, null, null, null, Long.MAX_VALUE, true, false);
    assertThatThrownBy(() -> print(follow)).as("at first").hasMessage("no leader");
    status = 200;
    CompletableFuture<List<String>> printed = CompletableFuture.supplyAsync(() -> print(follow));
    await().until(() -> out.size() > 0);
    status = 404;
    assertThatThrownBy(printed::join).hasRootCauseInstanceOf(HttpApi.Refused.class);
  }

  @Test
  void itEndsWhenNobodyReadsAndFailsWhenTheDiskIsFull() {
    add(0, 1);
    assertThat(print(settings(null, null, null), failing("Broken pipe"))).isEmpty();
    assertThatThrownBy(() -> print(settings(null, null, null), failing("No space left")))
        .hasMessage("cannot write the output: No space left");
  }

  private static OutputStream failing(String reason) {
    return new OutputStream() {
      @Override
      public void write(int b) throws IOException {
        throw new IOException(reason);
      }
    };
  }
}
