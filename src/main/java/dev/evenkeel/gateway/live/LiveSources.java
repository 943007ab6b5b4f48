package dev.evenkeel.gateway.live;

import dev.evenkeel.api.ClusterStatusView;
import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.GroupQuestions;
import dev.evenkeel.bus.GroupScope;
import dev.evenkeel.cluster.SharedMaps;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.util.MonotonicClock;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.eventbus.DeliveryOptions;
import io.vertx.core.eventbus.MessageConsumer;
import io.vertx.core.json.JsonObject;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Asks for facts while somebody watches: the active dispatcher as often as {@link LookPlan} says,
 * the status of the cluster every second and, while no dispatcher answers, the shared maps every
 * second. Announced changes make it ask sooner. For use on one context.
 */
final class LiveSources {
  private static final long STATUS_MILLIS = 1_000;
  private static final long LOOK_TIMEOUT_MILLIS = 1_500;
  private static final long MAPS_MILLIS = 1_000;

  private final Vertx vertx;
  private final Supplier<Future<ClusterStatusView>> status;
  private final SharedMaps maps;
  private final LookPlan plan;
  private final List<MessageConsumer<Object>> announcements;

  /** What the watchers may see; the dispatcher looks at no more. */
  private GroupScope wanted = GroupScope.NONE;

  /** Facts that have not been applied to the state yet. */
  private List<Consumer<LiveState>> facts = new ArrayList<>();

  private boolean looked;
  private String tag;
  private String dispatcher;
  private long statusAtMillis;
  private boolean statusInFlight;
  private long mapsAtMillis;
  private boolean mapsInFlight;

  /** No dispatcher answers. */
  private boolean silent;

  private boolean stopped;

  /**
   * @param status asks for the status of the cluster
   * @param maps null: there are none
   */
  LiveSources(
      Vertx vertx, Supplier<Future<ClusterStatusView>> status, SharedMaps maps, long nowMillis) {
    this.vertx = vertx;
    this.status = status;
    this.maps = maps;
    mapsAtMillis = nowMillis;
    plan = new LookPlan(nowMillis);
    statusAtMillis = nowMillis;
    announcements =
        List.of(
            vertx.eventBus().consumer(Addresses.LEASE_CHANGES, message -> plan.hurry()),
            vertx.eventBus().consumer(Addresses.TOPIC_CHANGES, message -> plan.hurry()),
            vertx.eventBus().consumer(Addresses.ADMIN_CHANGES, message -> hurry()));
  }

  /**
   * Says what the watchers may see now. If that is more than before, nothing is {@link #looked}
   * until the dispatcher has answered about it.
   */
  void want(GroupScope scope) {
    if (!wanted.covers(scope)) {
      looked = false;
      plan.hurry();
    }
    wanted = scope;
  }

  private void hurry() {
    plan.hurry();
    // A status under way may have been read before the change, so another one follows.
    statusAtMillis = MonotonicClock.millis();
  }

  void stop() {
    stopped = true;
    announcements.forEach(MessageConsumer::unregister);
  }

  /** Whether the dispatcher was asked at least once, with any result. */
  boolean looked() {
    return looked;
  }

  boolean hasFacts() {
    return !facts.isEmpty();
  }

  /** Removes and returns the facts that have not been applied yet. */
  List<Consumer<LiveState>> takeFacts() {
    List<Consumer<LiveState>> taken = facts;
    facts = new ArrayList<>();
    return taken;
  }

  /** Notes which moves the state has, for the next question. */
  void setTag(String known) {
    tag = known;
  }

  /** Asks what is due. Call it every few 10 ms. */
  void tick(long nowMillis) {
    if (!statusInFlight && nowMillis >= statusAtMillis) {
      askStatus(nowMillis);
    }
    if (dispatcher != null && plan.due(nowMillis)) {
      look(nowMillis);
    }
    if (silent && maps != null && !mapsInFlight && nowMillis >= mapsAtMillis) {
      readMaps(nowMillis);
    }
  }

  private void readMaps(long nowMillis) {
    mapsInFlight = true;
    mapsAtMillis = nowMillis + MAPS_MILLIS;
    Instant asOf = Instant.now().truncatedTo(ChronoUnit.SECONDS);
    Future<Map<String, JsonObject>> ownership = maps.ownership().all();
    Future<Map<String, JsonObject>> registry = maps.registry().all();
    Future.all(ownership, registry)
        .onComplete(
            read -> {
              mapsInFlight = false;
              // The log judges: what a dispatcher has answered meanwhile counts.
              if (!stopped && silent && read.succeeded()) {
                facts.add(state -> state.mapsRead(ownership.result(), registry.result(), asOf));
              }
            });
  }

  private void askStatus(long nowMillis) {
    statusInFlight = true;
    statusAtMillis = nowMillis + STATUS_MILLIS;
    status
        .get()
        .onComplete(
            answer -> {
              statusInFlight = false;
              if (!stopped) {
                statusAnswered(answer.result());
              }
            });
  }

  /**
   * @param answer the status; null if there was no answer
   */
  private void statusAnswered(ClusterStatusView answer) {
    if (answer == null) {
      facts.add(LiveState::clusterSilent);
    } else {
      facts.add(state -> state.clusterKnown(answer));
      dispatcher = answer.dispatcher() == null ? dispatcher : answer.dispatcher();
    }
    if (dispatcher == null) {
      // There is no dispatcher to ask: that counts as an answer too.
      looked = true;
      silent = true;
    }
  }

  private void look(long nowMillis) {
    plan.begun(nowMillis);
    String asked = dispatcher;
    DeliveryOptions options = new DeliveryOptions().setSendTimeout(LOOK_TIMEOUT_MILLIS);
    GroupScope only = wanted;
    Buffer question = GroupQuestions.request(new GroupQuestions.Live(tag, only));
    vertx
        .eventBus()
        .<Buffer>request(Addresses.groups(asked), question, options)
        .map(reply -> Frames.answerBody(reply.body()))
        .onComplete(
            answer -> {
              long now = MonotonicClock.millis();
              plan.ended(now, answer.succeeded());
              if (stopped) {
                return;
              }
              silent = answer.failed();
              if (answer.succeeded()) {
                ByteBuffer body = answer.result();
                facts.add(state -> state.looked(asked, new JsonObject(Frames.copy(body)), now));
              } else {
                facts.add(LiveState::dispatcherSilent);
                elsewhere(answer.cause());
              }
              looked |= only.covers(wanted);
            });
  }

  /** Follows the refusal of a node that no longer has the dispatcher. */
  private void elsewhere(Throwable failure) {
    if (failure instanceof RefusedException.NotLeader elsewhere && elsewhere.leader() != null) {
      dispatcher = elsewhere.leader();
      plan.hurry();
    }
  }
}
