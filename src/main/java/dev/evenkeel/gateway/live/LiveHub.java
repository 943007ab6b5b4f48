package dev.evenkeel.gateway.live;

import dev.evenkeel.api.ClusterStatusView;
import dev.evenkeel.bus.GroupScope;
import dev.evenkeel.cluster.SharedMaps;
import dev.evenkeel.gateway.access.Caller;
import dev.evenkeel.gateway.access.Principal;
import dev.evenkeel.protocol.BuildVersion;
import dev.evenkeel.util.MonotonicClock;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.ServerWebSocket;
import io.vertx.core.json.JsonObject;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends the live view of one node to all watchers. They share one state, which lives while somebody
 * watches and {@link #LINGER_MILLIS} longer. A worker thread updates it, one step at a time, and
 * makes the text of each change once for all.
 *
 * <p>For use on the context of the HTTP server.
 */
public final class LiveHub {
  /** Most watchers of one node at once. */
  public static final int WATCHERS_MAX = 256;

  private static final Logger LOG = LoggerFactory.getLogger(LiveHub.class);
  private static final short GOING_AWAY = 1001;
  private static final short POLICY = 1008;
  private static final long TICK_MILLIS = 25;
  private static final long LINGER_MILLIS = 5_000;
  private static final long PING_MILLIS = 20_000;

  /** A watcher that was silent for this time is gone. */
  private static final long SILENT_MILLIS_MAX = 60_000;

  /** Least time between two changes: there are at most ten in any second. */
  private static final long CHANGE_GAP_MILLIS = 110;

  /** After this time without a change, an empty one tells that all is well. */
  private static final long QUIET_MILLIS_MAX = 1_000;

  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSS'Z'").withZone(ZoneOffset.UTC);

  /**
   * The result of one step.
   *
   * @param sent for each kind of watchers
   */
  private record Step(Map<Principal, Sent> sent, String tag) {}

  /**
   * What watchers get who may see the same.
   *
   * @param patch JSON of the patch; null: nothing changed
   * @param state JSON of the state; null: nobody wants a snapshot
   */
  private record Sent(String patch, String state) {}

  private final Vertx vertx;
  private final Supplier<Future<ClusterStatusView>> status;
  private final SharedMaps maps;
  private final String node;
  private final String version;
  private final Set<Watcher> watchers = new LinkedHashSet<>();
  private int expected;
  private Run run;
  private boolean stopped;

  /**
   * @param node the node's id
   * @param status asks for the status of the cluster
   * @param maps says who owns what while no dispatcher answers; null: nobody does
   */
  public LiveHub(
      Vertx vertx, String node, Supplier<Future<ClusterStatusView>> status, SharedMaps maps) {
    this.vertx = vertx;
    this.node = node;
    this.status = status;
    this.maps = maps;
    version = BuildVersion.number();
  }

  /** Reserves a place for one more watcher. If it gives true, call {@link #accept}. */
  public boolean expect() {
    if (stopped || watchers.size() + expected >= WATCHERS_MAX) {
      return false;
    }
    expected++;
    return true;
  }

  /**
   * Takes the place that {@link #expect} reserved.
   *
   * @param socket of the watcher; null: it did not come
   * @param caller who watches
   */
  public void accept(ServerWebSocket socket, Caller caller) {
    expected--;
    if (socket == null || socket.isClosed()) {
      return;
    }
    Watcher watcher = new Watcher(socket, caller, MonotonicClock.millis());
    if (stopped) {
      watcher.close(GOING_AWAY, "the node stops");
      return;
    }
    if (!watcher.known()) {
      watcher.close(POLICY, "the user was removed");
      return;
    }
    watchers.add(watcher);
    // Watchers have nothing to send; whatever they send is dropped.
    socket.exceptionHandler(failure -> LOG.debug("a watcher failed: {}", failure.toString()));
    socket.closeHandler(gone -> watchers.remove(watcher));
    if (run == null) {
      run = new Run();
    }
  }

  /** Closes the sockets of all watchers. */
  public void stop() {
    stopped = true;
    if (run != null) {
      run.end();
    }
    List.copyOf(watchers).forEach(watcher -> watcher.close(GOING_AWAY, "the node stops"));
  }

  /** The time from the first watcher until a while after the last one. */
  private final class Run {
    private final LiveState state = new LiveState(node, version);
    private final LiveSources sources =
        new LiveSources(vertx, status, maps, MonotonicClock.millis());
    private final long timer = vertx.setPeriodic(TICK_MILLIS, id -> tick());
    private boolean stepping;
    private long changedMillis = MonotonicClock.millis() - QUIET_MILLIS_MAX;
    private long watchedMillis = MonotonicClock.millis();
    private long pingedMillis = MonotonicClock.millis();

    void end() {
      vertx.cancelTimer(timer);
      sources.stop();
      run = null;
    }

    private void tick() {
      long now = MonotonicClock.millis();
      if (!watchers.isEmpty()) {
        watchedMillis = now;
      } else if (now - watchedMillis >= LINGER_MILLIS && !stepping) {
        end();
        return;
      }
      pingAll(now);
      List.copyOf(watchers).stream()
          .filter(watcher -> !watcher.known())
          .forEach(watcher -> watcher.close(POLICY, "the user was removed"));
      if (!watchers.isEmpty()) {
        sources.want(
            watchers.stream()
                .map(Watcher::sees)
                .distinct()
                .reduce(GroupScope.NONE, GroupScope::plus));
      }
      sources.tick(now);
      if (!stepping && sources.looked()) {
        stepIfDue(now);
      }
    }

    private void pingAll(long now) {
      if (now - pingedMillis < PING_MILLIS) {
        return;
      }
      pingedMillis = now;
      for (Watcher watcher : List.copyOf(watchers)) {
        if (now - watcher.pongMillis() >= SILENT_MILLIS_MAX) {
          watcher.close(GOING_AWAY, "no answer to pings");
        } else {
          watcher.ping();
        }
      }
    }

    private void stepIfDue(long now) {
      long sinceChange = now - changedMillis;
      boolean quiet = sinceChange >= QUIET_MILLIS_MAX;
      boolean change = quiet || sinceChange >= CHANGE_GAP_MILLIS && sources.hasFacts();
      Map<Principal, Boolean> wanted = new HashMap<>();
      watchers.forEach(
          watcher -> wanted.merge(watcher.scope(), watcher.wantsSnapshot(), Boolean::logicalOr));
      if (!change && !wanted.containsValue(true)) {
        return;
      }
      List<Consumer<LiveState>> taken = change ? sources.takeFacts() : List.of();
      stepping = true;
      vertx
          .executeBlocking(() -> step(taken, change, quiet, wanted))
          .onComplete(
              done -> {
                stepping = false;
                if (done.succeeded()) {
                  send(done.result());
                } else {
                  LOG.error("the live view could not be made", done.cause());
                }
              });
    }

    /** Runs on a worker thread, one step after another. */
    private Step step(
        List<Consumer<LiveState>> taken,
        boolean change,
        boolean quiet,
        Map<Principal, Boolean> wanted) {
      for (Consumer<LiveState> fact : taken) {
        try {
          fact.accept(state);
        } catch (RuntimeException e) {
          LOG.warn("the live view cannot read an answer: {}", e.toString());
        }
      }
      Map<String, Object> before = state.sent();
      Map<String, Object> after = change ? state.advance() : before;
      Map<Principal, Sent> sent = new HashMap<>();
      wanted.forEach(
          (scope, snapshot) -> {
            Map<String, Object> visible = Visible.to(scope, after);
            String patch = null;
            if (change) {
              JsonObject difference =
                  new JsonObject(MergePatch.diff(Visible.to(scope, before), visible));
              // Who sees a part hears of each change, so that what it does not see is no silence.
              boolean told = quiet || scope.bound() || !difference.isEmpty();
              patch = told ? difference.encode() : null;
            }
            sent.put(scope, new Sent(patch, snapshot ? new JsonObject(visible).encode() : null));
          });
      return new Step(sent, state.tag());
    }

    private void send(Step step) {
      sources.setTag(step.tag());
      if (watchers.isEmpty()) {
        changedMillis = MonotonicClock.millis();
      }
      step.sent().forEach(this::send);
    }

    private void send(Principal scope, Sent sent) {
      String time = ",\"time\":\"" + TIME.format(Instant.now()) + '"';
      List<Watcher> same =
          watchers.stream().filter(watcher -> watcher.scope().equals(scope)).toList();
      if (sent.patch() != null) {
        changedMillis = MonotonicClock.millis();
        String rest = time + ",\"patch\":" + sent.patch() + '}';
        same.forEach(watcher -> watcher.change(rest));
      }
      if (sent.state() != null) {
        String begin = time + ",\"intervalMs\":" + LookPlan.INTERVAL_MILLIS + ',';
        String rest = begin + sent.state().substring(1);
        same.forEach(watcher -> watcher.snapshot(rest));
      }
    }
  }
}
