package dev.evenkeel.gateway;

import dev.evenkeel.Evenkeel;
import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.Link;
import dev.evenkeel.bus.LocalObjects;
import dev.evenkeel.client.Acks;
import dev.evenkeel.client.EvenkeelClient;
import dev.evenkeel.client.ProducerOptions;
import dev.evenkeel.client.internal.EvenkeelClientImpl;
import dev.evenkeel.cluster.ClusterMembers;
import dev.evenkeel.dedup.SharedAutomata;
import dev.evenkeel.gateway.access.ApiRules;
import dev.evenkeel.gateway.access.ProduceQuestion;
import dev.evenkeel.protocol.Nearest;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.eventbus.Message;
import io.vertx.core.eventbus.MessageConsumer;
import io.vertx.core.json.Json;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/**
 * Serves the {@code evenkeel.api} addresses for programs that do not use the client library. Bodies
 * are JSON objects, or their text as a string or a buffer; the answer has the same form as the
 * request.
 *
 * <pre>
 * evenkeel.api.produce
 *   {"topic":"orders","key":"k1","payload":"hello"}       → {"shard":2,"offset":17}
 *   {"topic":"orders","payloadBase64":"/wA=","headers":{"h":"v"}}
 *   {"topic":"orders","payload":"later","deliverAfterMs":5000}
 *       → {"shard":2,"offset":null,"deliverAt":1795187621828,"delayedId":"2-1795187621830-17-0"}
 *   {"topic":"orders","messages":[{"key":"k1","payload":"a"},{"payload":"b"}]}
 *       → {"results":[{"shard":2,"offset":18},{"error":"OVERLOADED","message":"..."}]}
 *   [{"topic":"orders","key":"k1","payload":"a"},{"topic":"orders","payload":"b"}]
 *       → the same
 *   {"topic":"orders","payload":"hello","acks":"all"}     → {"shard":2,"offset":19}, or if after 5 s
 *       not every replica has it → {"shard":2,"offset":19,"missing":["n3"]}
 *   {"topic":"orders","payload":"hello","acks":"none"}    → {"shard":2,"offset":null} once it is sent
 *
 * evenkeel.api.topics
 *   {"action":"list"}                                     → [{"name":"orders","shards":4,...}]
 *   {"action":"get","name":"orders"}                      → {"name":"orders",...,"shardList":[...]}
 *   {"action":"create","name":"orders","shards":4,"retentionMillis":86400000}
 *   {"action":"configure","name":"orders","retentionMillis":3600000}
 *   {"action":"reshard","name":"orders","shards":12}
 *   {"action":"delete","name":"orders"}                   → {"name":"orders","deleted":true}
 *   {"action":"ready"}                                    → {"ready":true}, or UNAVAILABLE and why
 *
 * evenkeel.api.messages
 *   {"topic":"orders","shard":2,"offset":17,"limit":10}
 *       → [{"shard":2,"offset":17,"key":"k1","payload":"hello","timestamp":0,"headers":{}}]
 *   {"topic":"orders","shard":2,"at":"2026-01-31T12:00:00Z","key":"k1","page":true}
 *       → {"messages":[...],"nextOffset":40}
 *
 * evenkeel.api.delayed: delayed messages of a topic
 *   {"action":"list","topic":"orders","key":"k1","limit":100}
 *       → {"messages":[{"id":"2-1795187621830-17-0","shard":2,"due":...,"payload":...}],"next":null}
 *   {"action":"get","topic":"orders","id":"2-1795187621830-17-0"}
 *   {"action":"cancel","topic":"orders","id":"2-1795187621830-17-0"} → {"id":...,"cancelled":true}
 *
 * evenkeel.api.groups
 *   {"action":"list"}  {"action":"get","group":"g"}  {"action":"rebalances","group":"g"}
 *   {"action":"dead-letters","group":"g","after":"orders/2/17","limit":100}
 *   {"action":"dead-letter","group":"g","deadLetter":"orders/2/17"}
 *   {"action":"retries","group":"g","after":"orders/2/17","limit":100}
 *   {"action":"replay","group":"g","deadLetters":["orders/2/17"]}   → {"group":"g","count":1}
 *   {"action":"drop","group":"g","all":true}                        → {"group":"g","count":3}
 *   {"action":"reset","group":"g","to":"earliest","topic":"orders","shard":2,"force":true}
 *       → {"group":"g","dryRun":false,"shards":[{"topic","shard","from","to","state",...}]}
 *   {"action":"delete","group":"g","topic":"orders","dryRun":true}
 *       → {"group":"g","topic":"orders","dryRun":true,"refused":null,"shards":[{"topic",...}]}
 *   {"action":"pause","group":"g","topic":"orders","shard":2}  {"action":"resume","group":"g"}
 *       → {"group":"g","topic":"orders","shard":2,"paused":true}
 *
 * evenkeel.api.cluster
 *   {"action":"status"}                                   → {"cluster":...,"nodes":[...],...}
 *   {"action":"replace","node":"n2"}    → {"node":"n2","state":"RUNNING|DONE|FAILED",
 *                                          "groups":{"meta":"WAITING|REMOVED|ADDED"},"message":null}
 *   {"action":"replacement","node":"n2"}  the state of the last replacement; NONE if there was none
 *
 * evenkeel.api.quotas
 *   {"action":"list"}                   → [{"kind":"topic","name":"orders","bytesPerSecond":...}]
 *   {"action":"set","kind":"topic","name":"orders","bytesPerSecond":1000000,"messages":100}
 *   {"action":"clear","kind":"topic","name":"orders"}
 *
 * evenkeel.api.sessions: members of groups, see {@link SessionsApi}
 *   {"action":"open","group":"g","topics":["orders"]}     → {"session","member","expiresMs"}
 *   {"action":"messages","group":"g","session":"...","max":32,"waitMs":15000} → {"messages":[...]}
 *   {"action":"results","group":"g","session":"...","done":[{"topic","shard","offset","epoch"}],
 *       "failed":[{..., "error"}]}                        → {"refused":[{..., "reason"}]}
 *   {"action":"abandon","group":"g","session":"..."} with the header "poll" of an earlier request
 *       for messages: its caller has gone, and the next request gets what it was given
 *   {"action":"extend",...}  {"action":"close",...}
 * </pre>
 *
 * Keys and payloads that are not UTF-8 are in {@code keyBase64} and {@code payloadBase64}; a header
 * that is not UTF-8 is {@code {"base64":"..."}}. {@code shardBytesMax} and {@code ageMillisMax} of
 * -1 mean that the limit is off. A failure has the code 1 + the number of its {@link Refusal}, and
 * the text {@code REFUSAL: what was wrong}.
 *
 * <p>It also carries out the dedup steps of sessions, see {@link Addresses#DEDUP_STEPS}.
 *
 * <p>It takes no configuration. It uses the {@link EvenkeelClient} in {@link LocalObjects}, or
 * makes its own over the Vert.x that it is deployed on, which must be clustered by Hazelcast then.
 */
public final class GatewayVerticle extends VerticleBase {
  private static final long IDLE_CHECK_MILLIS = 10_000;

  /** Most requests under way at once; it refuses more with OVERLOADED. */
  static final int REQUESTS_MAX = 10_000;

  /** Buffer of each producer, of which there are up to {@link ProducerPool#PRODUCERS_MAX}. */
  private static final long BUFFER_BYTES = 4L << 20;

  /** With acks all, after this time the answer names the missing nodes. */
  private static final long ACKS_TIMEOUT_MILLIS = 5_000;

  private final List<MessageConsumer<Object>> consumers = new ArrayList<>();
  private EvenkeelClient ownClient;
  private volatile ProducerPool producers;
  private ClusterCalls calls;
  private SessionsApi sessions;

  /** Null if the client is no member of the cluster. */
  private SessionDedup dedup;

  /** Written on the gateway's context, read from any thread. */
  private volatile int requests;

  @Override
  public Future<?> start() {
    Nearest.requireKnown("configuration key", config().fieldNames(), List.of());
    EvenkeelClient shared = LocalObjects.get(vertx, EvenkeelClient.class);
    if (shared != null) {
      return begin(shared);
    }
    return Evenkeel.with(vertx).onSuccess(client -> ownClient = client).compose(this::begin);
  }

  private Future<?> begin(EvenkeelClient client) {
    Link link = EvenkeelClientImpl.linkOf(client);
    producers = new ProducerPool((topic, acks) -> client.producer(gatewayOptions(topic, acks)));
    calls = new ClusterCalls(link);
    sessions = new SessionsApi(vertx, client);
    ProduceApi produce =
        new ProduceApi(
            producers,
            calls.majority(),
            System::currentTimeMillis,
            EvenkeelClientImpl.dueClockOf(client)::millis);
    String member = link.clusterMember();
    SharedAutomata automata = member == null ? null : ClusterMembers.shared(member);
    if (automata != null) {
      dedup = new SessionDedup(automata);
      dedup.start(vertx);
    }
    ApiAnswers answers = new ApiAnswers();
    new TopicsApi(calls, new ReadyApi(calls)).serve(answers);
    new MessagesApi(calls).serve(answers);
    new DelayedApi(calls).serve(answers);
    new QuotasApi(calls).serve(answers);
    new GroupsApi(calls).serve(answers);
    new ClusterApi(link, calls).serve(answers);
    vertx.setPeriodic(IDLE_CHECK_MILLIS, timer -> producers.closeIdle(System.currentTimeMillis()));
    return Future.all(
        List.of(
            serveMessages(
                Addresses.API_PRODUCE,
                message -> produce.answer(JsonFields.object(ProduceQuestion.of(message.body())))),
            serve(Addresses.API_TOPICS, answers),
            serve(Addresses.API_MESSAGES, answers),
            serve(Addresses.API_DELAYED, answers),
            serve(Addresses.API_GROUPS, answers),
            serve(Addresses.API_CLUSTER, answers),
            serve(Addresses.API_QUOTAS, answers),
            serveMessages(
                Addresses.API_SESSIONS,
                message ->
                    sessions.answer(
                        JsonFields.object(message.body()), message.headers().get(Frames.POLL))),
            sessions.start()));
  }

  @Override
  public Future<?> stop() {
    List<Future<Void>> ended = new ArrayList<>();
    consumers.forEach(consumer -> ended.add(consumer.unregister()));
    if (sessions != null) {
      ended.add(sessions.stop());
    }
    if (dedup != null) {
      ended.add(dedup.stop());
    }
    return Future.join(ended)
        .transform(
            done -> {
              calls.close();
              return producers.close();
            })
        .eventually(() -> ownClient == null ? Future.succeededFuture() : ownClient.close());
  }

  /** A caller waits for each answer, so a batch does not linger. */
  private static ProducerOptions gatewayOptions(String topic, Acks acks) {
    return new ProducerOptions()
        .setTopic(topic)
        .setAcks(acks)
        .setAcksTimeoutMillis(ACKS_TIMEOUT_MILLIS)
        .setLingerMillis(0)
        .setBufferBytes(BUFFER_BYTES)
        .setDeliveryTimeoutMillis(20_000)
        .setQuotaTimeoutMillis(0)
        .setDiskFullTimeoutMillis(0)
        .setOnFull(ProducerOptions.OnFull.FAIL);
  }

  /** Number of requests under way. Safe for use from any thread. */
  public int requestsUnderWay() {
    return requests;
  }

  /** Number of open producers. Safe for use from any thread. */
  public int producersOpen() {
    ProducerPool pool = producers;
    return pool == null ? 0 : pool.size();
  }

  private Future<Void> serve(String address, Function<JsonObject, Future<Object>> api) {
    return serveMessages(address, message -> api.apply(JsonFields.object(message.body())));
  }

  private Future<Void> serve(String address, ApiAnswers answers) {
    return serve(address, question -> answers.answer(address, question));
  }

  private Future<Void> serveMessages(
      String address, Function<Message<Object>, Future<Object>> api) {
    MessageConsumer<Object> consumer = vertx.eventBus().consumer(address);
    consumers.add(consumer);
    consumer.handler(message -> handle(message, api));
    return consumer.completion();
  }

  private void handle(Message<Object> message, Function<Message<Object>, Future<Object>> api) {
    if (requests >= REQUESTS_MAX) {
      ApiErrors.fail(
          message,
          new RefusedException(
              Refusal.OVERLOADED, REQUESTS_MAX + " requests are under way: try again later"));
      return;
    }
    requests = requests + 1;
    Future<Object> answer;
    try {
      answer = api.apply(message);
    } catch (RuntimeException e) {
      answer = Future.failedFuture(e);
    }
    answer.onComplete(
        done -> {
          requests = requests - 1;
          if (done.failed()) {
            ApiErrors.fail(message, done.cause());
          } else {
            if (ApiRules.changes(message.address(), JsonFields.object(message.body()))) {
              vertx.eventBus().publish(Addresses.ADMIN_CHANGES, Buffer.buffer());
            }
            message.reply(inFormOf(message.body(), done.result()));
          }
        });
  }

  private static Object inFormOf(Object question, Object answer) {
    if (question instanceof Buffer) {
      return Json.encodeToBuffer(answer);
    }
    return question instanceof String ? Json.encode(answer) : answer;
  }
}
