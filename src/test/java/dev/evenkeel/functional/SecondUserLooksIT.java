package dev.evenkeel.functional;

import static dev.evenkeel.Futures.await;
import static dev.evenkeel.Loops.times;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Evenkeel;
import dev.evenkeel.Wait;
import dev.evenkeel.broker.Bombs;
import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.ClusterView;
import dev.evenkeel.bus.FetchAnswer;
import dev.evenkeel.bus.FetchRequest;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.Link;
import dev.evenkeel.bus.Op;
import dev.evenkeel.client.Admin;
import dev.evenkeel.client.Consumer;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.EvenkeelClient;
import dev.evenkeel.client.Producer;
import dev.evenkeel.client.ProducerOptions;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.MessageFilter;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.AppendBody;
import dev.evenkeel.protocol.wire.AppendResults;
import dev.evenkeel.protocol.wire.Batch;
import dev.evenkeel.protocol.wire.Bytes;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A user with a topic of its own fills it with batches that unpack to much, looks into them, and
 * lets fetches with large filters wait. Others go on as before.
 */
@Timeout(300)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class SecondUserLooksIT {
  private static final int BOMBS = 200;
  private static final long MESSAGES = (long) BOMBS * Limits.BATCH_MESSAGES_MAX;

  @TempDir static Path directory;
  private NodeWithUsers node;
  private Shard mine;
  private Shard orders;

  @BeforeAll
  void start() throws Exception {
    node =
        new NodeWithUsers(directory)
            .user("shop", "produce:*,consume:*,group:*,view:*,admin:*")
            .user("mallory", "view:mine,produce:mine,consume:mine,group:mine")
            .start();
    EvenkeelClient client = await(Evenkeel.connect(node.options("shop")));
    Admin admin = client.admin();
    await(admin.createTopic("mine", 1));
    await(admin.createTopic("orders", 1));
    Producer producer = await(client.producer(new ProducerOptions().setTopic("orders")));
    for (int i = 0; i < 100; i++) {
      await(producer.send("k" + i, ("order " + i).getBytes(UTF_8)));
    }
    await(client.close());
    Link link = await(Evenkeel.link(node.options("shop")));
    ClusterView view =
        ClusterView.fromJson(
            await(link.request(Addresses.VIEW, Buffer.buffer(), 10_000)).toJsonObject());
    mine = new Shard(view.topic("mine").id(), 0);
    orders = new Shard(view.topic("orders").id(), 0);
    link.close();
    Link mallory = await(Evenkeel.link(node.options("mallory")));
    Batch bomb = Bombs.ofMessages(0, 0);
    for (int i = 0; i < BOMBS; i += 100) {
      Bytes body = new Bytes();
      times(100, any -> AppendBody.write(body, mine, bomb));
      AppendResults results =
          AppendResults.decode(
              Frames.answerBody(
                  await(
                      mallory.request(
                          Addresses.data("n1"), Frames.request(Op.APPEND, body), 60_000))));
      assertThat(results.results()).hasSize(100).allMatch(AppendResults.Result::ok);
    }
    mallory.close();
  }

  @AfterAll
  void stop() {
    node.close();
  }

  private static Future<FetchAnswer> browse(
      Link link, Shard shard, long offset, int wait, List<String> conditions) {
    FetchRequest request =
        FetchRequest.browse(shard, offset, 1 << 20, 1 << 20, wait)
            .with(MessageFilter.of(conditions));
    return link.request(Addresses.data("n1"), Frames.request(Op.BROWSE, request.encode()), 60_000)
        .map(answer -> FetchAnswer.decode(Frames.answerBody(answer), true));
  }

  private HttpRequest search(String user, String topic, String key) throws Exception {
    return HttpRequest.newBuilder(
            URI.create(node.url() + "/api/topics/" + topic + "/messages?key=" + key))
        .header("authorization", "Bearer " + node.token(user))
        .build();
  }

  @Test
  void looksIntoMillionsOfMessagesLeaveTheLooksOfOthersTheirTurns() throws Exception {
    Link mallory = await(Evenkeel.link(node.options("mallory")));
    Link shop = await(Evenkeel.link(node.options("shop")));
    HttpClient http = node.http();
    List<Future<FetchAnswer>> looks = new ArrayList<>();
    times(40, i -> looks.add(browse(mallory, mine, 0, 15_000, List.of("key=none" + i))));
    List<CompletableFuture<HttpResponse<String>>> searches = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      searches.add(
          http.sendAsync(search("mallory", "mine", "none"), HttpResponse.BodyHandlers.ofString()));
    }
    for (int i = 0; i < 20; i++) {
      assertThat(await(browse(shop, orders, 0, 15_000, List.of("key=k" + i))).batches())
          .isNotEmpty();
      assertThat(
              http.send(search("shop", "orders", "k" + i), HttpResponse.BodyHandlers.ofString())
                  .body())
          .contains("order " + i + "\"");
    }
    assertThat(looks.stream().filter(Future::isComplete))
        .as("the others' looks have not waited for the end of these")
        .isEmpty();
    for (CompletableFuture<HttpResponse<String>> each : searches) {
      HttpResponse<String> answer = each.get();
      assertThat(answer.statusCode()).isEqualTo(200);
      long next = answer.headers().firstValueAsLong("evenkeel-next-offset").orElseThrow();
      assertThat(next).isBetween(1L, MESSAGES);
    }
    mallory.close();
    shop.close();
  }

  @Test
  void aSearchOfMillionsOfMessagesComesToItsEndInPages() throws Exception {
    HttpClient http = node.http();
    long offset = 0;
    long next = 0;
    do {
      offset = next;
      HttpResponse<String> answer =
          http.send(
              HttpRequest.newBuilder(
                      URI.create(
                          node.url() + "/api/topics/mine/messages?key=none&offset=" + offset))
                  .header("authorization", "Bearer " + node.token("mallory"))
                  .build(),
              HttpResponse.BodyHandlers.ofString());
      assertThat(answer.statusCode()).isEqualTo(200);
      assertThat(answer.body().strip()).isEqualTo("[]");
      next = answer.headers().firstValueAsLong("evenkeel-next-offset").orElseThrow();
    } while (next > offset);
    assertThat(next).isEqualTo(MESSAGES);
  }

  @Test
  void aConsumerReadsThem() {
    EvenkeelClient client = await(Evenkeel.connect(node.options("mallory")));
    AtomicLong got = new AtomicLong();
    Consumer consumer =
        await(
            client.consumer(
                new ConsumerOptions().setGroup("mine").setTopics(List.of("mine")),
                delivery -> {
                  got.incrementAndGet();
                  return Future.succeededFuture();
                }));
    Wait.until("messages of many batches", () -> got.get() > 5L * Limits.BATCH_MESSAGES_MAX);
    await(consumer.close());
    await(client.close());
  }

  private long heldBytes(String user) {
    return node.metrics("shop")
        .filter(line -> line.contains("kind=\"fetch-bytes\"") && line.contains('"' + user + '"'))
        .mapToLong(line -> (long) Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
        .sum();
  }

  @Test
  void largeFiltersThatWaitLeaveRoomForOthersAndGoWithTheirConnection() throws Exception {
    List<Link> links = new ArrayList<>();
    List<Future<FetchAnswer>> waiting = new ArrayList<>();
    int refused = 0;
    for (int l = 0; l < 4; l++) {
      Link link = await(Evenkeel.link(node.options("mallory")));
      links.add(link);
      for (int f = 0; f < 200; f++) {
        List<String> conditions = new ArrayList<>();
        for (int c = 0; c < 1_000; c++) {
          conditions.add("key=" + l + "." + f + "." + c);
        }
        waiting.add(browse(link, mine, MESSAGES, 15_000, conditions));
      }
    }
    Wait.until("some are refused", () -> waiting.stream().anyMatch(Future::failed));
    for (Future<FetchAnswer> each : waiting) {
      if (each.failed()) {
        refused++;
        assertThat(((RefusedException) each.cause()).refusal()).isEqualTo(Refusal.OVERLOADED);
        assertThat(each.cause()).hasMessageContaining("the user 'mallory'");
      }
    }
    assertThat(refused).isLessThan(waiting.size());
    assertThat(heldBytes("mallory")).isPositive();
    Link shop = await(Evenkeel.link(node.options("shop")));
    Future<FetchAnswer> waits = browse(shop, orders, 100, 15_000, List.of("key=new"));
    EvenkeelClient client = await(Evenkeel.connect(node.options("shop")));
    Producer producer = await(client.producer(new ProducerOptions().setTopic("orders")));
    await(producer.send("new", "one".getBytes(UTF_8)));
    assertThat(await(waits).batches()).isNotEmpty();
    links.forEach(Link::close);
    Wait.until("nothing is held for who has left", () -> heldBytes("mallory") == 0);
    await(client.close());
    shop.close();
  }
}
