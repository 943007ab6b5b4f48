package dev.evenkeel.model;

import dev.evenkeel.client.Acks;
import dev.evenkeel.client.EvenkeelClient;
import dev.evenkeel.client.Producer;
import dev.evenkeel.client.ProducerOptions;
import dev.evenkeel.model.UserModel.Sent;
import dev.evenkeel.model.UserModel.Topic;
import dev.evenkeel.protocol.Compression;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.Future;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.LongSummaryStatistics;
import java.util.Map;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;
import java.util.function.IntSupplier;

/** Those who send messages, in each way that there is. */
final class Sender {
  /** How messages are sent. */
  enum Way {
    PLAIN,
    COMPRESSED,
    SPOOLED,
    OVER_HTTP,
    TO_ALL_REPLICAS,
    WITHOUT_WAITING,
    LARGE
  }

  private static final long DELIVERY_MILLIS = 20_000;

  /** What passes slower than a quota, because the machine is busy. */
  private static final long QUOTA_SLACK_MILLIS = 8_000;

  private static final int KEYS = 7;

  private final UserModel model;
  private final RunLog log;
  private final IntFunction<EvenkeelClient> clients;

  /** See {@link Place#shocks}. */
  private final IntSupplier shocks;

  private final Path directory;
  private final HttpUser http;

  /** By topic and way. */
  private final Map<String, Future<Producer>> producers = new HashMap<>();

  /** Of all messages. */
  final LongSummaryStatistics payloadBytes = new LongSummaryStatistics();

  private final Map<Topic, List<Future<?>>> underWay = new HashMap<>();
  private int made;
  private volatile boolean closed;

  Sender(
      UserModel model,
      RunLog log,
      IntFunction<EvenkeelClient> clients,
      IntSupplier shocks,
      HttpUser http,
      Path directory) {
    this.model = model;
    this.log = log;
    this.clients = clients;
    this.shocks = shocks;
    this.http = http;
    this.directory = directory;
  }

  private Future<Producer> producer(Topic topic, Way way) {
    return producers.computeIfAbsent(
        topic + " " + way,
        any -> {
          ProducerOptions options = new ProducerOptions().setTopic(topic.name).setLingerMillis(2);
          EvenkeelClient client = clients.apply(made++);
          if (way == Way.SPOOLED) {
            options.setSpool(directory.resolve("spool" + made).toString());
            return client.spoolingProducer(options, null).map(spooling -> spooling);
          }
          options.setDeliveryTimeoutMillis(DELIVERY_MILLIS);
          switch (way) {
            case COMPRESSED -> options.setCompression(Compression.ZSTD);
            case TO_ALL_REPLICAS -> options.setAcks(Acks.ALL);
            case WITHOUT_WAITING -> options.setAcks(Acks.NONE);
            default -> {}
          }
          return client.producer(options);
        });
  }

  boolean send(Topic topic, int count, int keys, Way way, long delayMillis) {
    String when = delayMillis > 0 ? " in " + delayMillis + " ms" : "";
    log.add("send " + count + " to " + topic + " " + way + when);
    Instant due = delayMillis > 0 ? Instant.now().plusMillis(delayMillis) : null;
    List<Sent> all = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      int key = (keys + i) % KEYS;
      all.add(
          model.sending(
              topic,
              key == KEYS - 1 ? null : "k" + key,
              i % 2 == 0 ? "a" : "b",
              way.name(),
              due == null ? 0 : due.toEpochMilli()));
    }
    all.forEach(sent -> payloadBytes.accept(Content.payload(sent, way == Way.LARGE).length));
    if (way == Way.OVER_HTTP) {
      overHttp(topic, all);
      return true;
    }
    int faults = shocks.getAsInt();
    Future<Producer> producer = producer(topic, way);
    // Else the messages of this call and those of the one before it would be sent by two threads.
    awaitStart(producer);
    for (Sent sent : all) {
      Message message = Content.of(sent, way == Way.LARGE);
      underWay(topic)
          .add(
              producer
                  .compose(by -> due == null ? by.send(message) : by.sendAt(message, due))
                  .onSuccess(at -> stored(sent, at.shard(), at.offset(), at.delayedId()))
                  .onFailure(why -> notSent(sent, RefusedException.of(why), faults))
                  .otherwiseEmpty());
    }
    return true;
  }

  private void stored(Sent sent, int shard, long offset, String delayedId) {
    if (sent.way.equals(Way.WITHOUT_WAITING.name())) {
      model.notStored(sent, true);
      return;
    }
    model.stored(sent, shard, offset, delayedId, System.currentTimeMillis());
  }

  private static void awaitStart(Future<Producer> producer) {
    try {
      producer
          .otherwiseEmpty()
          .toCompletionStage()
          .toCompletableFuture()
          .orTimeout(DELIVERY_MILLIS, TimeUnit.MILLISECONDS)
          .join();
    } catch (CompletionException late) {
      // Its messages say so.
    }
  }

  private List<Future<?>> underWay(Topic topic) {
    return underWay.computeIfAbsent(topic, any -> new ArrayList<>());
  }

  private List<Future<?>> all() {
    List<Future<?>> all = new ArrayList<>();
    underWay.values().forEach(all::addAll);
    return all;
  }

  /**
   * @param faults how many there had been when it was sent: without one, it is stored in time
   */
  private void notSent(Sent sent, RefusedException why, int faults) {
    Refusal refusal = why.refusal();
    boolean perhaps =
        refusal.retriable()
            || refusal == Refusal.INDETERMINATE
            || refusal == Refusal.REPLICAS_MISSING;
    model.notStored(sent, perhaps || sent.topic.deleted);
    boolean calm =
        faults % 2 == 0 && shocks.getAsInt() == faults || sent.way.equals(Way.SPOOLED.name());
    if ((!perhaps || calm) && !sent.topic.deleted && !closed) {
      model.fault(Promise.ANSWERS, "send of " + sent + ": " + why);
    }
  }

  private void overHttp(Topic topic, List<Sent> all) {
    JsonArray body = new JsonArray();
    for (Sent sent : all) {
      byte[] payload = Content.payload(sent, false);
      JsonObject headers = new JsonObject().put(Content.ID, "" + sent.id).put(Kind.TAG, sent.tag);
      JsonObject json = new JsonObject().put("headers", headers);
      json.put("timestamp", Content.timestampMillis(sent));
      json.put("payload", new String(payload, StandardCharsets.UTF_8));
      body.add(sent.key == null ? json : json.put("key", sent.key));
    }
    HttpResponse<String> answer =
        http.send(
            "POST", "/api/topics/" + topic + "/messages", new JsonObject().put("messages", body));
    if (answer != null && answer.statusCode() == 200) {
      JsonArray results = new JsonArray(answer.body());
      for (int i = 0; i < all.size(); i++) {
        JsonObject at = results.getJsonObject(i);
        stored(all.get(i), at.getInteger("shard"), at.getLong("offset"), null);
      }
      return;
    }
    boolean perhaps = answer == null || answer.statusCode() >= 500 || answer.statusCode() == 429;
    all.forEach(sent -> model.notStored(sent, perhaps || sent.topic.deleted));
    if (!perhaps && !topic.deleted) {
      model.fault(Promise.ANSWERS, "send over HTTP to " + topic + ": " + answer.body());
    }
  }

  /** The topic is about to go. */
  void forget(Topic topic) {
    for (Way way : Way.values()) {
      Future<Producer> producer = producers.remove(topic + " " + way);
      if (producer != null) {
        underWay(topic).add(producer.compose(Producer::close).otherwiseEmpty());
      }
    }
  }

  /**
   * Waits until what was sent to a topic has been answered.
   *
   * @param perSecond so many messages pass
   * @return false if that takes much longer than it may
   */
  boolean passes(Topic topic, long perSecond) {
    List<Future<?>> left = new ArrayList<>(underWay.getOrDefault(topic, List.of()));
    left.removeIf(Future::isComplete);
    try {
      Future.join(left)
          .otherwiseEmpty()
          .toCompletionStage()
          .toCompletableFuture()
          .orTimeout(QUOTA_SLACK_MILLIS + 2_000L * left.size() / perSecond, TimeUnit.MILLISECONDS)
          .join();
      return true;
    } catch (CompletionException late) {
      return false;
    }
  }

  /** Waits until everything has been answered. */
  void await() {
    try {
      Future.join(all())
          .otherwiseEmpty()
          .toCompletionStage()
          .toCompletableFuture()
          .orTimeout(2 * DELIVERY_MILLIS, TimeUnit.MILLISECONDS)
          .join();
    } catch (CompletionException late) {
      model.fault(Promise.ANSWERS, "not everything that was sent has an answer");
    }
  }

  Future<Void> close() {
    closed = true;
    List<Future<?>> closing = all();
    producers
        .values()
        .forEach(producer -> closing.add(producer.compose(Producer::close).otherwiseEmpty()));
    return Future.join(closing).mapEmpty();
  }
}
