package dev.evenkeel.gateway;

import static dev.evenkeel.Futures.await;
import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Options;
import dev.evenkeel.Refused;
import dev.evenkeel.Wait;
import dev.evenkeel.api.DeadLetterView;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.ConsumerStream.Finishing;
import dev.evenkeel.client.Delivery;
import dev.evenkeel.client.EvenkeelClient;
import dev.evenkeel.client.Producer;
import dev.evenkeel.client.ProducerOptions;
import dev.evenkeel.gateway.access.Access;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.testkit.EmbeddedNode;
import dev.evenkeel.testkit.EvenkeelExtension;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.eventbus.ReplyException;
import io.vertx.core.eventbus.ReplyFailure;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Requests for the messages of a session that wait for long, or whose callers go away. */
class SessionsApiTest {
  @RegisterExtension static final EvenkeelExtension EVENKEEL = new EvenkeelExtension();

  /** Longer than any of these tests: such a wait ends because of something else. */
  private static final int LONG_MILLIS = 15_000;

  /** Long enough for the next request. */
  private static final int STAYS_MILLIS = 10_000;

  private static final int MESSAGES = 6;
  private static final String POISON = "m1";

  private final Vertx vertx = Vertx.vertx();
  private final Context context = vertx.getOrCreateContext();
  private EvenkeelClient client;
  private String topic;
  private SessionsApi here;
  private SessionsApi there;
  private JsonObject session;

  @BeforeEach
  void open(EmbeddedNode node) {
    client = node.client();
    topic = "t-" + System.nanoTime();
    node.createTopic(topic, 1);
    there = run(() -> started(new SessionsApi(vertx, client)));
    openSession();
  }

  private void openSession() {
    here = run(() -> started(new SessionsApi(vertx, client)));
    JsonObject opened = (JsonObject) run(this::opening);
    session = new JsonObject().put("group", topic).put("session", opened.getValue("session"));
  }

  private Future<Object> opening() {
    return here.answer(
        new JsonObject()
            .put("action", "open")
            .put("group", topic)
            .put("order", "none")
            .put("topics", new JsonArray().add(topic)),
        null);
  }

  private static Future<SessionsApi> started(SessionsApi api) {
    return api.start().map(api);
  }

  @AfterEach
  void close() {
    run(() -> here.stop());
    run(() -> there.stop());
    await(vertx.close());
  }

  private <T> T run(Callable<Future<T>> call) {
    return await(begin(call));
  }

  private <T> Future<T> begin(Callable<Future<T>> call) {
    Promise<T> promise = Promise.promise();
    context.runOnContext(
        none -> {
          try {
            call.call().onComplete(promise);
          } catch (Exception e) {
            promise.fail(e);
          }
        });
    return promise.future();
  }

  /** The node of a session may have taken an acknowledgement, or closed it, before it went. */
  @ParameterizedTest
  @EnumSource(
      value = ReplyFailure.class,
      names = {"TIMEOUT", "RECIPIENT_FAILURE", "ERROR"})
  void whatBecameOfARequestIsUnknownIfTheNodeOfItsSessionDoesNotAnswer(ReplyFailure failure) {
    assertThat(OwnedByGateway.elsewhere("session", "s", new ReplyException(failure, -1, "gone")))
        .extracting(RefusedException::refusal)
        .isEqualTo(Refusal.INDETERMINATE);
    assertThat(
            OwnedByGateway.elsewhere("session", "s", new ReplyException(ReplyFailure.NO_HANDLERS)))
        .extracting(RefusedException::refusal)
        .isEqualTo(Refusal.UNKNOWN_SESSION);
    assertThat(
            OwnedByGateway.elsewhere(
                "session", "s", new ReplyException(failure, 1, "FENCED: too late")))
        .extracting(RefusedException::refusal)
        .isEqualTo(Refusal.FENCED);
  }

  @Test
  void aSessionThatIsBeingOpenedEndsWithItsNode() {
    Future<Object> opening = begin(this::opening);
    run(() -> here.stop());
    assertThat(RefusedException.of(failure(opening)).refusal()).isEqualTo(Refusal.UNAVAILABLE);
    Wait.until("nobody is a member", () -> await(client.admin().group(topic)).members().isEmpty());
  }

  private static Throwable failure(Future<?> refused) {
    return await(refused.<Throwable>map(done -> null).otherwise(why -> why));
  }

  private void send(int messages) {
    Producer producer = await(client.producer(new ProducerOptions().setTopic(topic)));
    times(messages, i -> await(producer.send("k", ("m" + i).getBytes(StandardCharsets.UTF_8))));
    await(producer.close());
  }

  private Future<List<JsonObject>> poll(SessionsApi by, String name, int max, int waitMillis) {
    JsonObject question =
        session.copy().put("action", "messages").put("max", max).put("waitMs", waitMillis);
    return begin(() -> by.answer(question, name))
        .map(
            answer ->
                ((JsonObject) answer)
                    .getJsonArray("messages").stream().map(JsonObject.class::cast).toList());
  }

  private List<JsonObject> got(SessionsApi by, String name, int messages) {
    List<JsonObject> got = new ArrayList<>();
    while (got.size() < messages) {
      got.addAll(await(poll(by, name, messages - got.size(), LONG_MILLIS)));
    }
    return got;
  }

  private void abandon(SessionsApi by, String name) {
    run(() -> by.answer(session.copy().put("action", "abandon"), name));
  }

  private SessionsApi by(String who) {
    return who.equals("here") ? here : there;
  }

  private static List<String> payloads(List<JsonObject> messages) {
    return messages.stream().map(each -> each.getString("payload")).toList();
  }

  private static List<String> expected(int from, int to) {
    return IntStream.range(from, to).mapToObj(i -> "m" + i).toList();
  }

  @ParameterizedTest
  @ValueSource(strings = {"here", "there"})
  void anAbandonedRequestWaitsNoLongerAndTheNextOneGetsTheMessages(String who) {
    Future<List<JsonObject>> gone = poll(by(who), "p1", 10, LONG_MILLIS);
    abandon(by(who), "p1");
    assertThat(await(gone)).isEmpty();
    send(3);
    assertThat(payloads(got(here, "p2", 3))).isEqualTo(expected(0, 3));
  }

  /** The answer was on its way to a caller who had gone. */
  @ParameterizedTest
  @ValueSource(strings = {"here", "there"})
  void whatAnAbandonedRequestWasGivenGoesToTheNextOneInOrder(String who) {
    send(6);
    List<JsonObject> first = got(by(who), "p1", 4);
    run(
        () ->
            here.answer(
                session
                    .copy()
                    .put("action", "results")
                    .put("done", new JsonArray().add(place(first.get(1)))),
                null));
    abandon(by(who), "p1");
    List<JsonObject> again = got(here, "p2", 5);
    assertThat(payloads(again)).containsExactly("m0", "m2", "m3", "m4", "m5");
    assertThat(again).allMatch(each -> each.getInteger("attempt") == 1);
    // Abandoned twice, or too late, it takes nothing from a later one.
    abandon(by(who), "p1");
    assertThat(await(poll(here, "p3", 10, 0))).isEmpty();
  }

  private JsonObject openingAt(String address) {
    return new JsonObject()
        .put("action", "open")
        .put("group", "at-" + topic)
        .put("topics", new JsonArray().add(topic))
        .put("address", address);
  }

  /** The node sends the messages of such a session, and nobody asks for them. */
  @Test
  void aSessionWithAnAddressIsSentItsMessages() {
    List<String> bodies = new CopyOnWriteArrayList<>();
    vertx
        .eventBus()
        .<Buffer>consumer(
            "billing.handle",
            message -> {
              bodies.add(message.body().toString());
              message.reply(null);
            });
    JsonObject opened = (JsonObject) run(() -> here.answer(openingAt("billing.handle"), null));
    JsonObject of =
        new JsonObject().put("group", "at-" + topic).put("session", opened.getValue("session"));
    send(3);
    Wait.until(() -> bodies.equals(expected(0, 3)));
    for (SessionsApi by : List.of(here, there)) {
      Refused.is(
          Refusal.INVALID,
          failure(begin(() -> by.answer(of.copy().put("action", "messages"), null))),
          "address 'billing.handle': reply there");
    }
    run(() -> there.answer(of.copy().put("action", "extend"), null));
    run(() -> there.answer(of.copy().put("action", "close"), null));
    Throwable gone = failure(begin(() -> here.answer(of.copy().put("action", "extend"), null)));
    Refused.is(Refusal.UNKNOWN_SESSION, gone);
    Wait.until(
        "nobody is a member", () -> await(client.admin().group("at-" + topic)).members().isEmpty());
  }

  /** Nobody asks for its messages, so no request is refused. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aSessionWithAnAddressEndsWhenItsUserMayNotHaveItAnyMore(
      boolean removed, @TempDir Path directory) throws IOException {
    Path users = directory.resolve("users.json");
    write(users, "shop", "group:*", "consume:*");
    await(Access.of(vertx, "n1", users.toString(), null));
    vertx.eventBus().<Buffer>consumer("billing.handle", message -> message.reply(null));
    JsonObject opening = openingAt("billing.handle").put("user", "shop");
    run(() -> here.answer(opening, null));
    send(2);
    Wait.until(() -> await(client.admin().group("at-" + topic)).shards().get(0).lag() == 0);
    if (removed) {
      write(users, "other", "group:*", "consume:*");
    } else {
      write(users, "shop", "group:*", "consume:others");
    }
    Wait.until(
        "nobody is a member", () -> await(client.admin().group("at-" + topic)).members().isEmpty());
    send(1);
    assertThat(await(client.admin().group("at-" + topic)).shards().get(0).lag()).isEqualTo(1);
  }

  private static void write(Path file, String user, String... may) throws IOException {
    JsonObject json = new JsonObject().put("name", user).put("may", new JsonArray(List.of(may)));
    Files.writeString(file, new JsonObject().put("users", new JsonArray().add(json)).encode());
  }

  @ParameterizedTest
  @ValueSource(strings = {"evenkeel.api.topics", "__vertx.reply.1", "evenkeel", "a\nb", ""})
  void aSessionNamesNoAddressOfTheSystem(String address) {
    Refused.is(
        Refusal.INVALID, failure(begin(() -> here.answer(openingAt(address), null))), "address");
  }

  private static JsonObject place(JsonObject message) {
    JsonObject place = new JsonObject();
    List.of("topic", "shard", "offset", "epoch").forEach(it -> place.put(it, message.getValue(it)));
    return place;
  }

  /** Another request may wait already when the node learns that the first one got no answer. */
  @Test
  void aRequestThatWaitsGetsWhatComesBack() {
    send(2);
    assertThat(payloads(got(here, "p1", 2))).isEqualTo(expected(0, 2));
    Future<List<JsonObject>> next = poll(here, "p2", 10, LONG_MILLIS);
    abandon(here, "p1");
    assertThat(payloads(await(next))).isEqualTo(expected(0, 2));
  }

  @Test
  void aRequestThatIsAbandonedBeforeItComesDoesNotWait() {
    abandon(here, "p1");
    assertThat(await(poll(here, "p1", 10, LONG_MILLIS))).isEmpty();
    send(1);
    assertThat(payloads(got(here, "p2", 1))).isEqualTo(expected(0, 1));
  }

  private ConsumerOptions ofGroup(String prefix) {
    return new ConsumerOptions().setGroup(prefix + topic).setTopics(List.of(topic));
  }

  /** A session that expires some time after its last request. */
  private PolledConsumer opened(ConsumerOptions options, int expiresMillis, Promise<Void> ended) {
    return run(
        () ->
            client.stream(options, Finishing.MANUAL)
                .compose(
                    stream -> {
                      Promise<PolledConsumer> made = Promise.promise();
                      context.runOnContext(
                          none ->
                              made.complete(
                                  new PolledConsumer(
                                      vertx,
                                      stream,
                                      options,
                                      null,
                                      expiresMillis,
                                      ended::tryComplete)));
                      return made.future();
                    }));
  }

  /** A session is alive as long as a request waits, and expires after the end of the last one. */
  @Test
  void aSessionDoesNotExpireWhileARequestWaits() {
    Promise<Void> ended = Promise.promise();
    PolledConsumer polled = opened(ofGroup("waits-"), 500, ended);
    Future<List<Delivery>> waits = begin(() -> polled.poll("p1", 10, LONG_MILLIS, false));
    // Long after it would have expired.
    await(vertx.timer(1_500, TimeUnit.MILLISECONDS));
    assertThat(ended.future().isComplete()).isFalse();
    assertThat(waits.isComplete()).isFalse();
    send(1);
    assertThat(await(waits)).hasSize(1);
    await(ended.future());
    Refused.saying(() -> polled.use(null), "without a request");
  }

  private static String payload(Delivery delivery) {
    return new String(delivery.message().payload(), StandardCharsets.UTF_8);
  }

  /** What consumers over HTTP have done that die of one message. */
  private final class Poisoned {
    final ConsumerOptions options;
    final List<String> consumed = new ArrayList<>();
    final List<Integer> attempts = new ArrayList<>();

    Poisoned(ConsumerOptions options) {
      this.options = options;
      send(MESSAGES);
    }

    List<DeadLetterView> letters() {
      return await(client.admin().deadLetters(options.getGroup(), null, 10));
    }

    boolean isOver() {
      return Set.copyOf(consumed).size() == MESSAGES - 1 && !letters().isEmpty();
    }

    /** The caller takes messages, says of all but the poison that they are done, and dies. */
    void takeAndDie() {
      Promise<Void> ended = Promise.promise();
      PolledConsumer polled = opened(options, 300, ended);
      boolean dies = false;
      while (!dies && !ended.future().isComplete() && !isOver()) {
        for (Delivery each : await(begin(() -> polled.poll("p", 3, 100, false)))) {
          if (payload(each).equals(POISON)) {
            attempts.add(each.attempt());
            dies = true;
          } else {
            consumed.add(payload(each));
            run(
                () -> {
                  polled.done(each);
                  return Future.succeededFuture();
                });
          }
        }
      }
      await(ended.future());
    }
  }

  /** A message that kills its consumer does not kill consumers over HTTP for ever. */
  @ParameterizedTest
  @ValueSource(strings = {"sharded", "level", "singleton"})
  void whatSessionsDieOfBecomesADeadLetterAndTheOthersAreConsumed(String mode) {
    Poisoned poisoned =
        new Poisoned(
            ofGroup("poisoned-")
                .setOrder(ConsumerOptions.Order.NONE)
                .setMode(ConsumerOptions.Mode.valueOf(mode.toUpperCase(Locale.ROOT)))
                .setCrashesMax(3)
                .setParallel(2));
    while (!poisoned.isOver()) {
      assertThat(poisoned.attempts).hasSizeLessThan(4);
      poisoned.takeAndDie();
    }
    assertThat(poisoned.attempts).hasSize(3).startsWith(1).endsWith(3);
    assertThat(poisoned.consumed).doesNotContain(POISON);
    assertThat(poisoned.letters())
        .singleElement()
        .satisfies(
            letter -> {
              assertThat(letter.payload().text()).isEqualTo(POISON);
              assertThat(letter.error()).contains("died 3 times while it was handled");
            });
  }

  private boolean isMoving(String group) {
    return await(client.admin().group(group)).shards().stream()
        .anyMatch(each -> each.drainDeadline() != null);
  }

  /**
   * Whoever has died is often back before the session expires, and is to get half of its shards.
   */
  @Test
  void itIsADeathAlsoForAShardThatIsToGoToAnother(EmbeddedNode node) {
    String both = "both-" + topic;
    node.createTopic(both, 2);
    Producer producer = await(client.producer(new ProducerOptions().setTopic(both)));
    for (String key : List.of("a", "b", "c", "d", "e", "f")) {
      await(producer.send(key, key.getBytes(StandardCharsets.UTF_8)));
    }
    var options = Options.group(both, both).setParallel(10).setOrder(ConsumerOptions.Order.NONE);
    Promise<Void> ended = Promise.promise();
    PolledConsumer died = opened(options.setMember("died"), 1_000, ended);
    List<Delivery> inHand = new ArrayList<>();
    while (inHand.size() < 6) {
      inHand.addAll(await(begin(() -> died.poll("p", 6, LONG_MILLIS, false))));
    }
    assertThat(inHand).extracting(Delivery::shard).contains(0, 1);
    // As long as a request waits, it does not expire.
    begin(() -> died.poll("stays", 1, LONG_MILLIS, false));
    PolledConsumer back = opened(options.setMember("back"), STAYS_MILLIS, Promise.promise());
    Future<List<Delivery>> waits = begin(() -> back.poll("p", 6, LONG_MILLIS, false));
    Awaitility.await().until(() -> isMoving(both));
    run(() -> abandoned(died, "stays"));
    await(ended.future());
    List<Delivery> again = new ArrayList<>(await(waits));
    while (again.stream().map(Delivery::shard).distinct().count() < 2) {
      again.addAll(await(begin(() -> back.poll("p", 6, LONG_MILLIS, false))));
    }
    for (int shard = 0; shard < 2; shard++) {
      int of = shard;
      assertThat(again.stream().filter(each -> each.shard() == of).findFirst())
          .hasValueSatisfying(each -> assertThat(each.attempt()).isEqualTo(2));
    }
    run(back::close);
  }

  /** Nobody has died of these. */
  @ParameterizedTest
  @ValueSource(strings = {"closed", "never got it", "stopped"})
  void whatIsGivenBackIsNotHeldAgainstAMessage(String how) {
    send(1);
    for (int i = 0; i < 2; i++) {
      if (how.equals("stopped")) {
        assertThat(got(here, "p" + i, 1)).allMatch(each -> each.getInteger("attempt") == 1);
        run(() -> here.stop());
        openSession();
        continue;
      }
      Promise<Void> ended = Promise.promise();
      boolean closes = how.equals("closed");
      PolledConsumer polled = opened(ofGroup("back-"), closes ? STAYS_MILLIS : 1_000, ended);
      List<Delivery> got = await(begin(() -> polled.poll("p", 1, LONG_MILLIS, false)));
      assertThat(got).hasSize(1).allMatch(each -> each.attempt() == 1);
      run(() -> closes ? polled.close() : abandoned(polled, "p"));
      await(ended.future());
    }
  }

  private static Future<Void> abandoned(PolledConsumer polled, String poll) {
    polled.abandon(poll);
    return Future.succeededFuture();
  }
}
