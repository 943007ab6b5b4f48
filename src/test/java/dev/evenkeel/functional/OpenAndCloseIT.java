package dev.evenkeel.functional;

import static dev.evenkeel.Futures.await;
import static dev.evenkeel.Loops.each;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.evenkeel.Closing;
import dev.evenkeel.Evenkeel;
import dev.evenkeel.TestUsers;
import dev.evenkeel.client.Admin;
import dev.evenkeel.client.Consumer;
import dev.evenkeel.client.ConsumerHandler;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.ConsumerStream;
import dev.evenkeel.client.Delivery;
import dev.evenkeel.client.EvenkeelClient;
import dev.evenkeel.client.LeaderCareer;
import dev.evenkeel.client.LeaderContext;
import dev.evenkeel.client.Producer;
import dev.evenkeel.client.ProducerOptions;
import dev.evenkeel.client.Rate;
import dev.evenkeel.client.Serde;
import dev.evenkeel.client.SpoolingProducer;
import dev.evenkeel.client.plain.PlainClient;
import dev.evenkeel.client.plain.PlainConsumer;
import dev.evenkeel.client.plain.PlainProducer;
import dev.evenkeel.dedup.LocalCoordinator;
import dev.evenkeel.dedup.Ticket;
import dev.evenkeel.dedup.Worker;
import dev.evenkeel.level.Coordinator;
import dev.evenkeel.level.Coordinators;
import dev.evenkeel.level.Track;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.MessageFilter;
import dev.evenkeel.protocol.QuotaKind;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.testkit.EmbeddedNode;
import io.vertx.core.Future;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.WebSocket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionTimeoutException;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/**
 * What is opened and closed leaves nothing behind, neither in a node nor in an application. The
 * node and its clients run in this JVM, so that one look at the heap covers both sides.
 *
 * <p>The table of {@link #things} has a row for each thing that can be opened. A class of which
 * there is one more object for each thing that was closed, or a thread or open file, is a leak.
 */
class OpenAndCloseIT {
  private interface Thing {
    /**
     * @param number another one each time
     */
    void openAndClose(int number) throws Exception;
  }

  private static final int ROUNDS = 10;
  private static final int ROUNDS_FULL = 50;
  private static final int ATTEMPTS = 3;

  /** What outlasts a thing does so until a wait for messages or a last attempt is over. */
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  /** How much of each thing logs, caches and histories may keep. */
  private static final long BYTES_KEPT_MAX = 24 << 10;

  private static final String TOPIC = "things";
  private static final String OTHER_TOPIC = "other-things";

  /** It takes some seconds to be sure that there is no such topic. */
  private static final String NO_TOPIC = "producer of no topic";

  private static final Pattern CLASSES =
      Pattern.compile("\\[*L?(dev\\.evenkeel|io\\.vertx|io\\.netty|com\\.hazelcast)\\.");

  /** Of these there may be more: each has a limit that is far above a few rounds. */
  private static final Pattern BOUNDED =
      Pattern.compile(
          String.join(
              "|",
              // Each log group remembers up to 20,000 producers, and those of a week.
              ".*\\.(ProducerRecord|ProducerShard|RecentSequences):.*",
              // The cache of the last messages, by bytes.
              ".*\\.(TailCache\\$.*|ShardTail|RecentBodies\\$Recent|Batch|Shard):.*",
              // The last 20,000 changes of topics.
              ".*\\.TopicChanges\\$Change:.*",
              // At most two for each lease that the dispatcher knows, with and without an owner:
              // what the log says now, and what the grant found. Leases are counted themselves.
              ".*\\.protocol\\.Crashes:.*",
              // The last 10,000 runs of members that ended, and the last moves of shards.
              ".*\\.(EndedRuns\\$Ending|MoveRecord|MoveRecord\\$Key|MoveHistory\\$Key):.*",
              // What the live view showed in the last seconds.
              ".*\\.Meter\\$Sample:.*",
              // 1,024 for each log group.
              ".*\\.DeletedRange:.*",
              // Topics that were deleted, by their ids.
              ".*\\.TopicRecord:.*",
              // Pools that make a thread for each task until they are full.
              "threads vert\\.x-(worker|internal-blocking).*",
              // Buffers of the engines that are used again.
              "io\\.netty\\.(util\\.internal\\.RefCnt|util\\.Recycler\\$|channel\\.ChannelOutboundBuffer\\$).*"));

  @TempDir static Path directory;
  @Closing private static EmbeddedNode node;
  private static EvenkeelClient client;
  private static PlainClient plain;
  private static HttpClient http;
  private static final AtomicInteger NUMBERS = new AtomicInteger();

  @BeforeAll
  static void start() {
    node = EmbeddedNode.start(Map.of(), TestUsers.ON ? Map.of("tester", TestUsers.ALL) : Map.of());
    client = node.client();
    plain = node.plainClient();
    http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    node.createTopic(TOPIC, 2);
    node.createTopic(OTHER_TOPIC, 2);
    node.createTopic("pattern-1", 2);
    send(client.producer(new ProducerOptions().setTopic(OTHER_TOPIC)), "k");
    send(client.producer(new ProducerOptions().setTopic(TOPIC)), "k");
  }

  private static void send(Future<Producer> opening, String key) {
    Producer producer = await(opening);
    await(producer.send(key, "x".getBytes(UTF_8)));
    await(producer.close());
  }

  private static ProducerOptions producer() {
    return new ProducerOptions().setTopic(TOPIC);
  }

  private static ConsumerOptions consumer(String group) {
    return new ConsumerOptions().setGroup(group).setTopics(List.of(TOPIC));
  }

  private static void consume(ConsumerOptions options, ConsumerHandler handler) {
    Consumer consumer = await(client.consumer(options, handler));
    await(consumer.close());
  }

  private static Future<Void> done(Delivery delivery) {
    return Future.succeededFuture();
  }

  private static final class Career implements LeaderCareer {
    @Override
    public Future<Void> inaugurate(LeaderContext context) {
      return Future.succeededFuture();
    }

    @Override
    public Future<Void> execute(Delivery message) {
      return Future.succeededFuture();
    }

    @Override
    public Future<Void> handOver(LeaderContext context) {
      return Future.succeededFuture();
    }
  }

  /** Null: the node has no users. */
  private static String token() {
    return TestUsers.ON ? node.token("tester") : null;
  }

  private static HttpResponse<String> http(String method, String path, JsonObject body)
      throws Exception {
    HttpRequest.Builder request =
        TestUsers.request(URI.create(node.http() + path), token())
            .method(
                method,
                body == null
                    ? HttpRequest.BodyPublishers.noBody()
                    : HttpRequest.BodyPublishers.ofString(body.encode()));
    if (body != null) {
      request.header("content-type", "application/json");
    }
    HttpResponse<String> answer = http.send(request.build(), HttpResponse.BodyHandlers.ofString());
    assertThat(answer.statusCode()).as(answer.body()).isBetween(200, 299);
    return answer;
  }

  private static String session(String group) throws Exception {
    String path = "/api/groups/" + group + "/sessions";
    var opened = http("POST", path, new JsonObject().put("topics", new JsonArray().add(TOPIC)));
    return path + "/" + new JsonObject(opened.body()).getString("session");
  }

  private static Map<String, Thing> things() {
    Map<String, Thing> things = new LinkedHashMap<>();
    things.put("producer", n -> send(client.producer(producer()), "k" + n));
    things.put("producer with a name", n -> send(client.producer(producer().setName("n")), "k"));
    things.put(
        NO_TOPIC,
        n ->
            assertThatThrownBy(
                    () ->
                        await(
                            client.producer(
                                producer().setTopic("none").setDeliveryTimeoutMillis(300))))
                .isInstanceOf(RefusedException.class));
    things.put(
        "typed producer",
        n -> {
          Producer made = await(client.producer(producer()));
          await(Serde.TEXT.producer(made).send("text"));
          await(made.close());
        });
    things.put(
        "spooling producer",
        n -> {
          SpoolingProducer spooling =
              await(
                  client.spoolingProducer(
                      producer().setSpool(directory.resolve("spool").toString()), null));
          await(spooling.send("k", "x".getBytes(UTF_8)));
          await(spooling.close());
        });
    for (ConsumerOptions.Mode mode : ConsumerOptions.Mode.values()) {
      if (mode != ConsumerOptions.Mode.SINGLETON) {
        things.put(
            "consumer " + mode,
            n -> {
              ConsumerOptions options = consumer("g-" + mode).setMode(mode);
              if (mode == ConsumerOptions.Mode.BROADCAST) {
                options.setOffsetsDirectory(directory.resolve("offsets").toString());
                // No release ends the waiting fetches of such a member.
                options.setFetchWaitMillis(100);
              }
              consume(options, OpenAndCloseIT::done);
            });
      }
    }
    things.put(
        "consumer with everything",
        n ->
            consume(
                consumer("g-all")
                    .setDedup(ConsumerOptions.Dedup.KEY)
                    .setRate(Rate.parse("100/s"))
                    .setKeyRate(Rate.parse("100/s"))
                    .setFilter(MessageFilter.of(List.of("key=k")))
                    .setWorker(true),
                OpenAndCloseIT::done));
    things.put(
        "subscription to another topic",
        n -> {
          Consumer consumer = await(client.consumer(consumer("g-two"), OpenAndCloseIT::done));
          await(consumer.subscribe(OTHER_TOPIC));
          await(consumer.unsubscribe(OTHER_TOPIC));
          await(consumer.close());
        });
    things.put(
        "dead letter",
        n -> {
          String group = "g-dead-" + n;
          ConsumerOptions options =
              consumer(group)
                  .setTopics(List.of(OTHER_TOPIC))
                  .setOnFailure(ConsumerOptions.OnFailure.DEAD_LETTER)
                  .setRetryDelaysMillis(List.of());
          Consumer consumer =
              await(client.consumer(options, any -> Future.failedFuture("it fails")));
          Awaitility.await().until(() -> !await(admin().deadLetters(group, null, 10)).isEmpty());
          await(consumer.close());
          await(admin().dropAll(group));
          await(admin().deleteGroup(group, false));
        });
    things.put(
        "consumer of a pattern",
        n -> consume(consumer("g-pattern").setTopics(List.of("pattern-*")), OpenAndCloseIT::done));
    things.put(
        "consumer that is replaced",
        n -> {
          ConsumerOptions options = consumer("g-replaced").setMember("m");
          Consumer first = await(client.consumer(options, OpenAndCloseIT::done));
          CompletableFuture<Throwable> ended = new CompletableFuture<>();
          first.onEnd(ended::complete);
          Consumer second = await(client.consumer(options, OpenAndCloseIT::done));
          ended.join();
          await(second.close());
        });
    things.put(
        "consumer that is refused",
        n -> {
          ConsumerOptions options = consumer("g-refused").setTopics(List.of("no-topic"));
          assertThatThrownBy(() -> await(client.consumer(options, OpenAndCloseIT::done)))
              .isInstanceOf(RefusedException.class);
        });
    things.put(
        "leader", n -> await(await(client.leader(consumer("g-leader"), new Career())).close()));
    things.put(
        "candidate",
        n -> await(await(client.election("e-java", context -> Future.succeededFuture())).close()));
    things.put(
        "stream",
        n -> {
          ConsumerStream stream =
              await(client.stream(consumer("g-stream"), ConsumerStream.Finishing.AUTOMATIC));
          stream.handler(delivery -> {});
          await(stream.close());
        });
    things.put(
        "plain producer and consumer",
        n -> {
          try (PlainProducer producer = plain.producer(producer())) {
            producer.send("k", "x".getBytes(UTF_8));
          }
          try (PlainConsumer consumer = plain.consumer(consumer("g-plain"))) {
            consumer.poll(Duration.ofMillis(1));
          }
        });
    things.put(
        "client",
        n -> {
          EvenkeelClient made = await(Evenkeel.connect(node.clientOptions()));
          send(made.producer(producer()), "k");
          await(
              made.consumer(
                  consumer("g-client").setDedup(ConsumerOptions.Dedup.KEY), OpenAndCloseIT::done));
          await(made.close());
        });
    things.put(
        "client with a Vert.x of its own",
        n -> {
          EvenkeelClient made = await(Evenkeel.connect(client.vertx(), node.clientOptions()));
          await(made.consumer(consumer("g-own"), OpenAndCloseIT::done));
          await(made.close());
        });
    things.put(
        "client of a member of the cluster",
        n -> {
          EvenkeelClient made = await(Evenkeel.with(node.vertx()));
          send(made.producer(producer()), "k");
          await(made.consumer(consumer("g-member"), OpenAndCloseIT::done));
          await(made.close());
        });
    things.put(
        "plain client",
        n -> {
          try (PlainClient made = Evenkeel.connectAndWait(node.clientOptions())) {
            made.producer(producer());
          }
        });
    things.put(
        "HTTP session",
        n -> {
          String path = session("g-http");
          http("GET", path + "/messages?waitMs=1", null);
          http("DELETE", path, null);
        });
    things.put(
        "HTTP candidate",
        n -> {
          String path = "/api/elections/e-http/candidates";
          var opened = http("POST", path, new JsonObject().put("member", "m"));
          String candidate = path + "/" + new JsonObject(opened.body()).getString("candidate");
          http("GET", candidate + "?waitMs=15000", null);
          http("DELETE", candidate, null);
        });
    things.put(
        "event stream",
        n -> {
          String path = session("g-events");
          HttpResponse<InputStream> events =
              http.send(
                  TestUsers.request(URI.create(node.http() + path + "/events"), token()).build(),
                  HttpResponse.BodyHandlers.ofInputStream());
          events.body().read();
          events.body().close();
          http("DELETE", path, null);
        });
    things.put(
        "live view",
        n -> {
          CompletableFuture<Void> come = new CompletableFuture<>();
          CompletableFuture<Void> closed = new CompletableFuture<>();
          WebSocket socket =
              TestUsers.webSocket(http, token())
                  .buildAsync(
                      URI.create(node.http().replace("http", "ws") + "/ws/live"),
                      new WebSocket.Listener() {
                        @Override
                        public CompletionStage<?> onText(
                            WebSocket from, CharSequence data, boolean last) {
                          come.complete(null);
                          from.request(1);
                          return null;
                        }

                        @Override
                        public CompletionStage<?> onClose(WebSocket from, int code, String reason) {
                          closed.complete(null);
                          return null;
                        }
                      })
                  .join();
          come.join();
          socket.sendClose(WebSocket.NORMAL_CLOSURE, "").join();
          closed.join();
        });
    things.put(
        "HTTP produce",
        n ->
            http(
                "POST",
                "/api/topics/" + TOPIC + "/messages",
                new JsonObject().put("payload", "x")));
    things.put(
        "topic",
        n -> {
          String topic = "topic-" + n;
          await(admin().createTopic(topic, 2));
          send(client.producer(new ProducerOptions().setTopic(topic)), "k");
          await(admin().reshard(topic, 3));
          await(admin().deleteTopic(topic));
        });
    things.put(
        "group",
        n -> {
          String group = "group-" + n;
          consume(consumer(group), OpenAndCloseIT::done);
          await(admin().pause(group));
          await(admin().resume(group));
          await(admin().deleteGroup(group, false));
        });
    things.put(
        "quota",
        n -> {
          String name = "quota-" + n;
          await(admin().setQuota(QuotaKind.TOPIC, name, 1_000L, null));
          await(admin().clearQuota(QuotaKind.TOPIC, name));
        });
    things.put(
        "delayed message",
        n -> {
          Producer producer = await(client.producer(producer()));
          Producer.Position position =
              await(
                  producer.send(
                      Message.builder("x".getBytes(UTF_8)).key("d").build(), Duration.ofHours(1)));
          await(producer.close());
          String id = await(admin().delayedMessages(TOPIC, null, null, 1)).messages().get(0).id();
          await(admin().cancelDelayed(TOPIC, id));
        });
    Coordinator coordinator = Coordinators.coordinator(10);
    things.put(
        "track of a coordinator",
        n -> {
          Track track = coordinator.track("t" + n);
          track.move();
          track.destroy();
        });
    LocalCoordinator<String> local = new LocalCoordinator<>(1_000, 60_000);
    things.put(
        "place in a queue",
        n -> {
          Ticket<String> ticket = local.enQueue("k" + n, new Worker("m", 0, n), n);
          await(local.deQueue(ticket, n));
        });
    return things;
  }

  private static Admin admin() {
    return client.admin();
  }

  /** Opens and closes each thing a number of times, all of them side by side. */
  private static void rounds(Map<String, Thing> things, int rounds) throws Exception {
    ExecutorService threads = Executors.newCachedThreadPool();
    try {
      List<java.util.concurrent.Future<?>> running = new ArrayList<>();
      things.forEach(
          (name, thing) -> running.add(threads.submit(() -> rounds(name, thing, rounds))));
      each(running, each -> each.get());
    } finally {
      threads.shutdown();
      assertThat(threads.awaitTermination(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
    }
  }

  private static Void rounds(String name, Thing thing, int rounds) {
    for (int i = 0; i < rounds; i++) {
      try {
        thing.openAndClose(NUMBERS.incrementAndGet());
      } catch (Throwable e) {
        throw new AssertionError("round " + i + " of '" + name + "'", e);
      }
    }
    return null;
  }

  private static LiveObjects leavesNothing(Map<String, Thing> things, int rounds) throws Exception {
    // The first rounds fill pools and caches.
    rounds(things, rounds);
    for (int attempt = 1; ; attempt++) {
      LiveObjects before = LiveObjects.now();
      rounds(things, rounds);
      try {
        Awaitility.await()
            .atMost(PATIENCE)
            // Each look stops everything for a moment.
            .pollInterval(Duration.ofSeconds(3))
            .untilAsserted(() -> assertThat(left(before, rounds)).isEmpty());
        return before;
      } catch (ConditionTimeoutException e) {
        // A pool that was not full yet is so in the end; a leak grows each time.
        if (attempt == ATTEMPTS) {
          throw e;
        }
      }
    }
  }

  /** What there is one more of for each round. */
  private static List<String> left(LiveObjects before, int rounds) {
    LiveObjects now = LiveObjects.now();
    List<String> left = new ArrayList<>(now.moreThan(before, CLASSES, rounds));
    left.removeIf(line -> BOUNDED.matcher(line).find());
    return left;
  }

  @Test
  void whatIsClosedLeavesNothingBehind() throws Exception {
    Map<String, Thing> things = things();
    things.remove(NO_TOPIC);
    leavesNothing(things, ROUNDS);
  }

  /** As above, each thing by itself and more often, and with the bytes that remain. */
  @Tag("full")
  @TestFactory
  Stream<DynamicTest> eachThingThatIsClosedLeavesNothingBehind() {
    return things().entrySet().stream()
        .map(
            each ->
                DynamicTest.dynamicTest(
                    each.getKey(),
                    () -> {
                      Map<String, Thing> thing = Map.of(each.getKey(), each.getValue());
                      LiveObjects before = leavesNothing(thing, ROUNDS_FULL);
                      long bytes = LiveObjects.now().bytes() - before.bytes();
                      // What engines do meanwhile may cost a megabyte once, but not each time.
                      for (int i = 1; i < ATTEMPTS && bytes >= ROUNDS_FULL * BYTES_KEPT_MAX; i++) {
                        before = leavesNothing(thing, ROUNDS_FULL);
                        bytes = LiveObjects.now().bytes() - before.bytes();
                      }
                      System.out.println(each.getKey() + ": " + bytes / ROUNDS_FULL + " bytes");
                      assertThat(bytes / ROUNDS_FULL).isLessThan(BYTES_KEPT_MAX);
                    }));
  }
}
