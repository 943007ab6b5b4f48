package dev.evenkeel.gateway;

import dev.evenkeel.Evenkeel;
import dev.evenkeel.api.ApiAddresses;
import dev.evenkeel.api.Operation;
import dev.evenkeel.api.Operations;
import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.Asker;
import dev.evenkeel.bus.ClusterDirectory;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.Link;
import dev.evenkeel.bus.LocalObjects;
import dev.evenkeel.bus.share.Shares;
import dev.evenkeel.bus.share.UserTurns;
import dev.evenkeel.client.Acks;
import dev.evenkeel.client.EvenkeelClient;
import dev.evenkeel.client.ProducerOptions;
import dev.evenkeel.client.internal.EvenkeelClientImpl;
import dev.evenkeel.client.internal.member.ServiceDedup;
import dev.evenkeel.cluster.ClusterMembers;
import dev.evenkeel.dedup.SharedAutomata;
import dev.evenkeel.gateway.access.ApiRules;
import dev.evenkeel.gateway.access.JsonSize;
import dev.evenkeel.gateway.access.ProduceQuestion;
import dev.evenkeel.protocol.Names;
import dev.evenkeel.protocol.Refusal;
import io.vertx.core.Future;
import io.vertx.core.MultiMap;
import io.vertx.core.Promise;
import io.vertx.core.VerticleBase;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.eventbus.Message;
import io.vertx.core.eventbus.MessageConsumer;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.Json;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.BiFunction;
import java.util.function.Supplier;

/**
 * Serves the {@code evenkeel.api} addresses for programs that do not use the client library: the
 * questions of all {@link Operations} that have an address. Bodies are JSON objects, or their text
 * as a string or a buffer; the answer has the same form as the request.
 *
 * <pre>
 * evenkeel.api.produce
 *   {"topic":"orders","key":"k1","payload":"hello"}       → {"shard":2,"offset":17}
 * evenkeel.api.topics
 *   {"action":"create","name":"orders","shards":4}        → {"name":"orders","shards":4,...}
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

  /** Most plans that this node asks for at a time. */
  private static final int PLANS_AT_ONCE_MAX = 2;

  /** Most plans that wait on this node; it refuses more with OVERLOADED. */
  private static final int PLANS_WAITING_MAX = 20;

  /** Buffer of each producer, of which there are up to {@link ProducerPool#PRODUCERS_MAX}. */
  private static final long BUFFER_BYTES = 4L << 20;

  /** With acks all, after this time the answer names the missing nodes. */
  private static final long ACKS_TIMEOUT_MILLIS = 5_000;

  private final List<MessageConsumer<Object>> consumers = new ArrayList<>();
  private EvenkeelClient ownClient;
  private volatile ProducerPool producers;
  private ClusterCalls calls;
  private SessionsApi sessions;
  private DedupApi dedups;
  private OpenedTracks tracks;
  private ElectionsApi elections;

  /** Plans for groups: the dispatcher makes few at a time. */
  private UserTurns plans;

  /** Null if the client is no member of the cluster. */
  private SessionDedup dedup;

  /** Written on the gateway's context, read from any thread. */
  private volatile int requests;

  @Override
  public Future<?> start() {
    Names.requireKnown("configuration key", config().fieldNames(), List.of());
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
    plans =
        new UserTurns(
            vertx,
            "plans",
            PLANS_AT_ONCE_MAX,
            PLANS_WAITING_MAX,
            (long) PLANS_WAITING_MAX * JsonSize.SETTINGS_BYTES_MAX,
            Shares.of(vertx)::weight);
    sessions = new SessionsApi(vertx, client);
    dedups = new DedupApi(vertx, client);
    tracks = new OpenedTracks(vertx, client);
    elections = new ElectionsApi(vertx, client);
    ProduceApi produce =
        new ProduceApi(
            producers,
            calls.majority(),
            System::currentTimeMillis,
            EvenkeelClientImpl.dueClockOf(client)::millis);
    String member = link.clusterMember();
    SharedAutomata automata = member == null ? null : ClusterMembers.shared(member);
    if (automata != null) {
      ClusterDirectory directory = EvenkeelClientImpl.directoryOf(client);
      dedup = new SessionDedup(automata, () -> ServiceDedup.known(directory));
      dedup.start(vertx);
    }
    ApiAnswers answers = new ApiAnswers();
    new TopicsApi(calls, new ReadyApi(calls)).serve(answers);
    new MessagesApi(calls).serve(answers);
    new DelayedApi(calls).serve(answers);
    new QuotasApi(calls).serve(answers);
    new SharesApi(link, calls).serve(answers);
    new UsersApi(vertx, calls).serve(answers);
    new GroupsApi(vertx, calls).serve(answers);
    new ClusterApi(link, calls).serve(answers);
    produce.serve(answers);
    vertx.setPeriodic(
        IDLE_CHECK_MILLIS,
        timer -> {
          producers.closeIdle(System.currentTimeMillis());
          dedups.closeIdle();
        });
    List<Future<?>> served =
        new ArrayList<>(
            List.of(sessions.start(), elections.start(), tracks.start(), dedups.start()));
    Map<String, BiFunction<JsonObject, String, Future<Object>>> owned =
        Map.of(
            ApiAddresses.SESSIONS, sessions::answer,
            ApiAddresses.ELECTIONS, elections::answer,
            ApiAddresses.COORDINATORS, tracks::answer,
            ApiAddresses.DEDUP, dedups::answer);
    Operations.all().stream()
        .map(Operation::address)
        .filter(Objects::nonNull)
        .distinct()
        .map(
            address ->
                serve(
                    address,
                    owned.containsKey(address)
                        ? (question, asked) ->
                            owned.get(address).apply(question, asked.get(Frames.POLL))
                        : (question, asked) ->
                            answers.answer(address, question, Asker.of(asked).user())))
        .forEach(served::add);
    return Future.all(served);
  }

  @Override
  public Future<?> stop() {
    List<Future<Void>> ended = new ArrayList<>();
    consumers.forEach(consumer -> ended.add(consumer.unregister()));
    if (sessions != null) {
      ended.add(sessions.stop());
      ended.add(dedups.stop());
      ended.add(tracks.stop());
      ended.add(elections.stop());
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

  /**
   * @param api answers a question, with the headers of the request
   */
  private Future<Void> serve(String address, BiFunction<JsonObject, MultiMap, Future<Object>> api) {
    MessageConsumer<Object> consumer = vertx.eventBus().consumer(address);
    consumers.add(consumer);
    consumer.handler(message -> handle(message, api));
    return consumer.completion();
  }

  private void handle(
      Message<Object> message, BiFunction<JsonObject, MultiMap, Future<Object>> api) {
    if (requests >= REQUESTS_MAX) {
      ApiErrors.fail(
          message,
          Refusal.OVERLOADED.error("%s requests are under way: try again later", REQUESTS_MAX));
      return;
    }
    requests = requests + 1;
    Future<Object> answer;
    boolean changes;
    try {
      JsonObject question = question(message);
      changes = ApiRules.changes(message.address(), question);
      MultiMap headers = message.headers();
      answer =
          isPlan(message.address(), question)
              ? plans.run(
                  headers.get(Frames.USER),
                  JsonSize.SETTINGS_BYTES_MAX,
                  () -> onContext(() -> api.apply(question, headers)))
              : api.apply(question, headers);
    } catch (RuntimeException e) {
      changes = false;
      answer = Future.failedFuture(e);
    }
    boolean published = changes;
    answer.onComplete(
        done -> {
          requests = requests - 1;
          if (done.failed()) {
            ApiErrors.fail(message, done.cause());
          } else {
            if (published) {
              vertx.eventBus().publish(Addresses.ADMIN_CHANGES, Buffer.buffer());
            }
            message.reply(inFormOf(message.body(), done.result()));
          }
        });
  }

  private static boolean isPlan(String address, JsonObject question) {
    return Operations.find(address, question.getValue(Operation.ACTION)) == Operations.PLAN_GROUP;
  }

  private Future<Object> onContext(Supplier<Future<Object>> task) {
    Promise<Object> done = Promise.promise();
    context.runOnContext(
        now -> {
          try {
            task.get().onComplete(done);
          } catch (RuntimeException e) {
            done.fail(e);
          }
        });
    return done.future();
  }

  /** The question of a request, which may be JSON or its text. */
  private static JsonObject question(Message<Object> message) {
    Object body = message.body();
    if (message.address().equals(ApiAddresses.PRODUCE)) {
      body = ProduceQuestion.of(body);
    }
    try {
      if (body instanceof JsonObject json) {
        return json;
      }
      if (body instanceof Buffer text) {
        JsonSize.check(message.address(), text);
        return new JsonObject(text);
      }
      if (body instanceof String text) {
        return new JsonObject(text);
      }
    } catch (DecodeException e) {
      String why = String.valueOf(e.getMessage());
      throw Refusal.INVALID.error("the body is not JSON: %s", why.lines().findFirst().orElse(why));
    } catch (ClassCastException e) {
      throw Refusal.INVALID.error("the body is JSON, but not an object");
    }
    throw Refusal.INVALID.error("send a JSON object, or its text as a string or buffer");
  }

  private static Object inFormOf(Object question, Object answer) {
    if (question instanceof Buffer) {
      return Json.encodeToBuffer(answer);
    }
    return question instanceof String ? Json.encode(answer) : answer;
  }
}
