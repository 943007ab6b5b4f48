package dev.evenkeel.bus;

import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.ShardGroups;
import dev.evenkeel.protocol.wire.FeatureLevel;
import dev.evenkeel.util.MonotonicClock;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.internal.ContextInternal;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the latest {@link ClusterView} that this program knows, which may be a little old. It asks
 * for another view every {@link #REFRESH_MILLIS}, when topics change, when the link is connected
 * again, and when {@link #refresh} is called. It notes a leader at once when a broker announces one
 * or a refusal names one; of two leaders of a log group, the one of the later term counts.
 *
 * <p>Safe for use from any thread. Futures complete on the caller's own context if it has one.
 */
public final class ClusterDirectory implements LeaderClient.Leaders {
  /** Time between two refreshes when nothing else asks for one. */
  public static final long REFRESH_MILLIS = 5_000;

  /** Most names of topics that are known to be missing. */
  private static final int MISSING_MAX = 1_000;

  private static final Logger LOG = LoggerFactory.getLogger(ClusterDirectory.class);

  /** Longest wait for an answer. */
  private static final long REQUEST_TIMEOUT_MILLIS = 2_000;

  /** A node that has owed an answer for longer than this is probed. */
  private static final long SILENCE_MILLIS = 2_000;

  private final Link link;
  private final Link.Listening topicChanges;
  private final Link.Listening leaderChanges;
  private final LeaderWatch watch = new LeaderWatch();
  private final Consumer<Link.State> onLink = this::linkChanged;
  private final List<Runnable> onLeaders = new CopyOnWriteArrayList<>();
  private final long timer;
  private final long probeTimer;

  /** Nodes whose probe is under way. */
  private final Set<String> probed = ConcurrentHashMap.newKeySet();

  private final DueClock dueClock = new DueClock();
  private volatile ClusterView current;
  private volatile ShardGroups groups = ShardGroups.UNKNOWN;
  private volatile boolean closed;

  /** The request under way, or null. Guarded by this. */
  private Promise<ClusterView> asking;

  /** Topics that the newest view did not have when it was asked for them. */
  private final Set<String> missing = ConcurrentHashMap.newKeySet();

  /** Something changed after the request was sent, so its answer may be too old. */
  private boolean askAgain;

  public ClusterDirectory(Link link) {
    this(link, SILENCE_MILLIS);
  }

  /**
   * @param silenceMillis a node that has owed an answer for longer than this is probed
   */
  ClusterDirectory(Link link, long silenceMillis) {
    this.link = link;
    probeTimer = link.vertx().setPeriodic(silenceMillis, id -> probeSilentNodes(silenceMillis));
    topicChanges = link.listen(Addresses.TOPIC_CHANGES, body -> changed());
    leaderChanges = link.listen(Addresses.LEADER_CHANGES, this::announced);
    timer =
        link.vertx()
            .setPeriodic(
                REFRESH_MILLIS,
                id -> {
                  refresh();
                  if (link instanceof VertxLink) {
                    keepAddressesKnown();
                  }
                });
    link.onState(onLink);
  }

  private void linkChanged(Link.State state) {
    if (state == Link.State.CONNECTED) {
      changed();
    }
  }

  /** The clock by which delayed messages are due. */
  public DueClock dueClock() {
    return dueClock;
  }

  /** The latest view, or null before the first answer. */
  public ClusterView current() {
    return current;
  }

  /** The latest view; before the first answer, that answer. Fails like {@link #refresh()}. */
  public Future<ClusterView> view() {
    ClusterView view = current;
    return view != null ? Future.succeededFuture(view) : refresh();
  }

  /**
   * Asks any broker for its view. At most one request is under way at a time; callers in the
   * meantime share its answer. Fails with {@code RefusedException} UNAVAILABLE or INDETERMINATE,
   * and the former view stays.
   */
  @Override
  public Future<ClusterView> refresh() {
    if (closed) {
      return Future.failedFuture(
          new RefusedException(Refusal.UNAVAILABLE, "the cluster directory is closed"));
    }
    Promise<ClusterView> mine = null;
    Promise<ClusterView> shared;
    synchronized (this) {
      if (asking == null) {
        asking = Promise.promise();
        mine = asking;
      }
      shared = asking;
    }
    Future<ClusterView> result = here(shared.future());
    if (mine != null) {
      ask(mine);
    }
    return result;
  }

  /**
   * Whether every node of the cluster has said that it reads a {@link FeatureLevel}: once it is so,
   * it stays so. Fails like {@link #refresh()}.
   */
  public Future<Boolean> allRead(int level) {
    ClusterView view = current;
    return view != null && view.featureLevel() >= level
        ? Future.succeededFuture(true)
        : refresh().map(next -> next.featureLevel() >= level);
  }

  /**
   * As {@link #refresh}, but the question is asked after this call: the broker that answers shows
   * every change that it had applied by then.
   */
  public Future<ClusterView> askAnew() {
    Future<ClusterView> underWay;
    synchronized (this) {
      underWay = asking == null ? null : asking.future();
    }
    return underWay == null ? refresh() : here(underWay.transform(any -> refresh()));
  }

  /**
   * As {@link #refresh}, but with what was just created and deleted, too: the view of the leader of
   * the meta group if it is found, else the newest of the views that were seen.
   */
  public Future<ClusterView> newest() {
    return askAnew().compose(view -> newest(view, 2 * view.nodes().size()));
  }

  /** The event bus asks the brokers in turn, so the leader answers before long. */
  private Future<ClusterView> newest(ClusterView seen, int triesLeft) {
    return triesLeft == 0 || seen.node().equals(seen.metaLeader())
        ? Future.succeededFuture(seen)
        : refresh().compose(next -> newest(next, triesLeft - 1)).otherwise(seen);
  }

  /**
   * Why a topic that the view does not have cannot be used now: UNKNOWN_TOPIC if the newest view
   * was asked for it since the last call and does not have it, either; else UNAVAILABLE, and it is
   * asked.
   */
  public RefusedException missing(String topic) {
    ClusterView view = current;
    if (view != null && missing.remove(topic)) {
      return view.missing(topic);
    }
    newest().onSuccess(seen -> askedFor(topic, seen));
    return view == null
        ? Refusal.UNAVAILABLE.error("the topics are not known yet: try again")
        : Refusal.UNAVAILABLE.error(
            "there is no topic '%s' as far as is known here: try again", topic);
  }

  private void askedFor(String topic, ClusterView seen) {
    if (seen.topic(topic) == null) {
      if (missing.size() >= MISSING_MAX) {
        missing.clear();
      }
      missing.add(topic);
    }
  }

  private static <T> Future<T> here(Future<T> future) {
    ContextInternal context = ContextInternal.current();
    if (context == null) {
      return future;
    }
    Promise<T> here = context.promise();
    future.onComplete(here);
    return here.future();
  }

  private void ask(Promise<ClusterView> promise) {
    ViewQuestion.ask(link, current, dueClock)
        .onComplete(
            answered -> {
              boolean again;
              synchronized (this) {
                asking = null;
                again = askAgain;
                askAgain = false;
              }
              if (answered.succeeded()) {
                change(
                    known ->
                        known == null ? answered.result() : answered.result().notOlderThan(known));
                if (!answered.result().places().isEmpty()) {
                  link.nodesAre(answered.result().places());
                }
                promise.complete(current);
              } else {
                promise.fail(answered.cause());
              }
              if (again) {
                refresh();
              }
            });
  }

  private void changed() {
    synchronized (this) {
      askAgain = asking != null;
    }
    if (!closed) {
      refresh();
    }
  }

  /** The leader of a shard, or null if unknown. */
  public String leaderOf(Shard shard) {
    return groups.known() ? leader(groups.of(shard)) : null;
  }

  /** Which data group holds which shard. */
  @Override
  public ShardGroups shardGroups() {
    return groups;
  }

  @Override
  public int dataGroups() {
    ClusterView view = current;
    return view == null ? 0 : view.dataLeaders().size();
  }

  @Override
  public String leader(int group) {
    ClusterView view = current;
    return view == null ? null : view.leader(group);
  }

  /**
   * Notes the leader of a log group that a node has named.
   *
   * @param node the leader's id; null if there is none now
   */
  @Override
  public void leaderHint(int group, String node) {
    change(view -> view == null ? null : view.withLeader(group, node, view.term(group)));
  }

  private void announced(Buffer body) {
    LeaderChange.News news;
    try {
      news = LeaderChange.News.fromJson(new JsonObject(body));
    } catch (RuntimeException e) {
      LOG.debug("unreadable announcement of a leader: {}", e.toString());
      return;
    }
    news.leaders().forEach(leader -> change(view -> announced(view, leader)));
    if (news.began()) {
      onLeaders.forEach(Runnable::run);
    }
  }

  private static ClusterView announced(ClusterView view, LeaderChange leader) {
    int group = leader.group();
    boolean known =
        view == null
            || leader.term() < view.term(group)
            || leader.term() == view.term(group) && leader.node().equals(view.leader(group));
    return known ? view : view.withLeader(group, leader.node(), leader.term());
  }

  /**
   * Sends every node an empty request to each of its addresses, which it refuses. The event bus
   * then knows where these addresses are. It would take long to find that out only after a change
   * of leaders, because the node that hangs may hold that part of the map.
   */
  private void keepAddressesKnown() {
    ClusterView view = current;
    if (view == null || closed) {
      return;
    }
    for (String node : view.nodes()) {
      for (String address :
          List.of(Addresses.data(node), Addresses.control(node), Addresses.dispatcher(node))) {
        link.request(address, Buffer.buffer(), REQUEST_TIMEOUT_MILLIS);
      }
    }
  }

  /**
   * Probes the nodes that have owed an answer for long. Nothing else tells whether they are alive:
   * heartbeats go to one node only.
   */
  private void probeSilentNodes(long silenceMillis) {
    long now = MonotonicClock.millis();
    for (String node : watch.awaited(now - silenceMillis)) {
      if (!closed && probed.add(node)) {
        link.request(Addresses.data(node), Buffer.buffer(), REQUEST_TIMEOUT_MILLIS)
            .onComplete(
                answered -> {
                  probed.remove(node);
                  if (answered.failed()) {
                    watch.silent(node, now);
                  }
                });
      }
    }
  }

  /**
   * Adds a handler that runs, on any thread, when a node announces that it leads: a request that
   * waits for a leader may be tried again at once.
   */
  public void onLeader(Runnable handler) {
    onLeaders.add(handler);
  }

  /** Removes a handler that {@link #onLeader} added. */
  public void offLeader(Runnable handler) {
    onLeaders.remove(handler);
  }

  /**
   * The outcome of a request to the leader of a data group or of {@link ClusterView#META}, or
   * INDETERMINATE as soon as another one leads or the leader answers nothing any more.
   */
  @Override
  public <T> Future<T> whileLeads(int group, String node, Future<T> request) {
    return watch.whileLeads(group, node, request);
  }

  private void change(UnaryOperator<ClusterView> change) {
    ClusterView before;
    ClusterView after;
    synchronized (this) {
      before = current;
      after = change.apply(before);
      if (after != null && (before == null || before.topics() != after.topics())) {
        groups = after.shardGroups();
      }
      current = after;
    }
    if (before == null || before == after) {
      return;
    }
    for (int group = ClusterView.META; group < after.dataLeaders().size(); group++) {
      String leader = after.leader(group);
      if (leader != null && !leader.equals(before.leader(group))) {
        watch.leads(group, leader);
      }
    }
  }

  public void close() {
    closed = true;
    link.offState(onLink);
    link.vertx().cancelTimer(timer);
    link.vertx().cancelTimer(probeTimer);
    topicChanges.end();
    leaderChanges.end();
  }
}
