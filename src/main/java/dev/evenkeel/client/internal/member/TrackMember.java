package dev.evenkeel.client.internal.member;

import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.Assignment;
import dev.evenkeel.bus.ClusterDirectory;
import dev.evenkeel.bus.Ending;
import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.bus.Link;
import dev.evenkeel.client.ClusterTrack;
import dev.evenkeel.client.CoordinatorOptions;
import dev.evenkeel.client.internal.consume.ConsumerCore;
import dev.evenkeel.client.internal.consume.SelfFence;
import dev.evenkeel.client.internal.level.StepClaim;
import dev.evenkeel.protocol.BuildVersion;
import dev.evenkeel.protocol.GroupPolicy;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.StartAt;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.Promise;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A track of a coordinator: a member of the group that the coordinator is. Its heartbeats say where
 * it stands, and their answers how far it may go. {@link StepClaim} decides; this class sends and
 * waits. Everything but {@link #move} happens on one context.
 */
final class TrackMember implements ClusterTrack, Ending, HeartbeatLoop.Port {
  private static final Logger LOG = LoggerFactory.getLogger(ClusterTrack.class);
  private static final long START_MILLIS_MAX = 60_000;
  private static final long HEARTBEAT_MILLIS_MAX = 1_000;

  /** As {@link ConsumerShell} waits for it. */
  private static final long REGISTER_MILLIS_MAX = 1_000;

  private final Link link;
  private final ClusterDirectory directory;
  private final CoordinatorOptions options;
  private final String name;
  private final String instance;
  private final String host;
  private final OwnContext context;
  private final StepClaim claim;
  private final HeartbeatLoop heartbeats;
  private final long bornMillis = System.currentTimeMillis();
  private final Promise<ClusterTrack> started = Promise.promise();
  private final Promise<Void> closed = Promise.promise();
  private final List<Promise<Void>> waiters = new ArrayList<>();
  private final java.util.function.Consumer<Link.State> onLink = this::linkChanged;
  private Link.Listening pushes;
  private long ticker = -1;
  private long startDeadlineMillis;
  private boolean begun;
  private boolean joining = true;
  private boolean leaving;
  private volatile boolean ended;
  private String lastRefusal;
  private volatile RefusedException why;
  private Handler<Throwable> onLost;

  TrackMember(
      Link link,
      ClusterDirectory directory,
      CoordinatorOptions options,
      String name,
      String instance,
      String host) {
    this.link = link;
    this.directory = directory;
    this.options = options;
    this.name = name;
    this.instance = instance;
    this.host = host;
    context = new OwnContext(link.vertx());
    claim =
        new StepClaim(
            options.getRange(), options.getMemberTimeoutMillis(), options.getIdleMillis());
    long reachMillis = options.getMemberTimeoutMillis() - SelfFence.MARGIN_MILLIS;
    heartbeats =
        new HeartbeatLoop(
            link,
            directory,
            context,
            Math.min(HEARTBEAT_MILLIS_MAX, reachMillis / 3),
            this,
            new SplittableRandom());
  }

  /** Takes part. Completes as {@code ClusterCoordinator.track} says. */
  Future<ClusterTrack> start() {
    context.run(
        () -> {
          startDeadlineMillis = Clock.millis() + START_MILLIS_MAX;
          link.onState(onLink);
          pushes = link.listen(Addresses.member(instance), body -> context.run(() -> pushed(body)));
          ticker =
              link.vertx().setPeriodic(ConsumerCore.TICK_MILLIS, id -> context.run(this::tick));
          pushes
              .registered()
              .timeout(REGISTER_MILLIS_MAX, TimeUnit.MILLISECONDS)
              .transform(registered -> directory.view())
              .onComplete(
                  done ->
                      context.run(
                          () -> {
                            begun = true;
                            heartbeat();
                          }));
        });
    return started.future();
  }

  // ---- Steps

  @Override
  public boolean move() {
    switch (claim.move(Clock.millis())) {
      case DONE -> {
        return true;
      }
      case DONE_REPORT -> {
        context.run(this::heartbeat);
        return true;
      }
      case WAITS_REPORT -> context.run(this::heartbeat);
      case STOPPED -> {
        // The Vert.x of a client that is closed takes nothing any more.
        if (!ended) {
          context.run(this::comeBack);
        }
      }
      case WAITS -> {}
    }
    return false;
  }

  private void comeBack() {
    long now = Clock.millis();
    if (!ended && claim.comesBack(now)) {
      heartbeat();
    }
    look();
  }

  @Override
  public Future<Void> ready() {
    if (ended) {
      return Future.failedFuture(gone());
    }
    Promise<Void> ready = Promise.promise();
    context.run(
        () -> {
          comeBack();
          long now = Clock.millis();
          if (ended) {
            ready.fail(gone());
          } else if (claim.mayMove(now)) {
            ready.complete();
          } else {
            waiters.add(ready);
            claim.asks(now);
            heartbeat();
          }
        });
    return ready.future();
  }

  private RefusedException gone() {
    return why != null ? why : Refusal.INVALID.error("%s was destroyed: ask for another one", this);
  }

  private void wake() {
    if (!waiters.isEmpty() && claim.mayMove(Clock.millis())) {
      List<Promise<Void>> all = List.copyOf(waiters);
      waiters.clear();
      all.forEach(Promise::tryComplete);
    }
  }

  @Override
  public long steps() {
    return claim.steps();
  }

  @Override
  public boolean isLost() {
    return claim.isLost();
  }

  // ---- Membership

  /** After the last heartbeat, another one would bring the track back. */
  private void heartbeat() {
    if (begun && !leaving && !ended) {
      heartbeats.hurry();
    }
  }

  @Override
  public Heartbeat heartbeat(boolean leave) {
    Heartbeat beat =
        new Heartbeat(
                options.getName(),
                name,
                instance,
                bornMillis,
                GroupPolicy.steps(options.getRange()),
                List.of(),
                StartAt.EARLIEST,
                link.clusterMember(),
                host,
                options.getMemberTimeoutMillis(),
                0)
            .ofTrack(claim.report(), claim.seen(), claim.steps(), BuildVersion.number(), leave)
            .atHome(link.home());
    return joining ? beat.asJoining() : beat;
  }

  @Override
  public void answered(long sentMillis, long topics, Assignment assignment) {
    if (ended) {
      return;
    }
    joining = false;
    claim.answered(sentMillis, Clock.millis());
    take(assignment);
  }

  private void pushed(Buffer body) {
    if (ended) {
      return;
    }
    try {
      take(Assignment.fromJson(new JsonObject(body)));
    } catch (RuntimeException e) {
      LOG.warn("{}: ignored a malformed assignment: {}", this, e.toString());
    }
  }

  private void take(Assignment assignment) {
    long now = Clock.millis();
    if (claim.take(assignment, now)) {
      heartbeat();
    }
    if (claim.isPlaced()) {
      started.tryComplete(this);
    }
    wake();
    look();
  }

  @Override
  public void refused(RefusedException refused) {
    Refusal reason = refused.refusal();
    boolean fatal =
        reason == Refusal.MEMBER_REPLACED
            || reason == Refusal.GROUP_MISMATCH
            || reason == Refusal.FENCED;
    if (fatal || !started.future().isComplete()) {
      claim.lose();
      lost(refused);
    } else if (!leaving && !refused.toString().equals(lastRefusal)) {
      lastRefusal = refused.toString();
      LOG.error("{}: the dispatcher refuses the heartbeat, retrying: {}", this, lastRefusal);
    }
  }

  private void linkChanged(Link.State state) {
    if (state == Link.State.CLOSED) {
      context.run(
          () -> {
            claim.lose();
            lost(Refusal.UNAVAILABLE.error("the connection was closed"));
          });
    }
  }

  private void tick() {
    if (ended || leaving) {
      return;
    }
    long now = Clock.millis();
    if (!started.future().isComplete() && now >= startDeadlineMillis) {
      claim.lose();
      lost(
          Refusal.UNAVAILABLE.error(
              "%s got no place within %d s: no dispatcher answers, or a track that stands still"
                  + " keeps the others from hearing of it",
              this, START_MILLIS_MAX / 1_000));
      return;
    }
    if (claim.tick(now)) {
      heartbeat();
    }
    look();
    if (begun && !ended) {
      heartbeats.tick();
    }
  }

  /** The claim may have found out that it is lost. */
  private void look() {
    if (claim.isLost() && !leaving) {
      Refusal reason = started.future().isComplete() ? Refusal.FENCED : Refusal.UNAVAILABLE;
      lost(
          reason.error(
              "%s has had no answer for %d ms: the others go on without it",
              this, options.getMemberTimeoutMillis() - SelfFence.MARGIN_MILLIS));
    }
  }

  // ---- Ends

  private void lost(RefusedException cause) {
    if (ended) {
      return;
    }
    why = cause;
    boolean isNew = started.tryFail(cause);
    // The others need not wait for it any longer: it has stopped.
    leave();
    if (!isNew) {
      LOG.warn("{} is lost: {}", this, cause.toString());
      tellLost();
    }
  }

  private void tellLost() {
    Handler<Throwable> handler = onLost;
    if (handler != null && why != null && started.future().succeeded()) {
      onLost = null;
      context.later(() -> handler.handle(why));
    }
  }

  @Override
  public ClusterTrack onLost(Handler<Throwable> handler) {
    context.run(
        () -> {
          onLost = handler;
          tellLost();
        });
    return this;
  }

  @Override
  public Future<Void> destroy() {
    claim.stop();
    if (!ended) {
      context.run(this::leave);
    }
    return closed.future();
  }

  private void leave() {
    if (leaving) {
      return;
    }
    leaving = true;
    ended = true;
    claim.stop();
    RefusedException gone = gone();
    started.tryFail(gone);
    waiters.forEach(each -> each.tryFail(gone));
    waiters.clear();
    link.offState(onLink);
    if (ticker >= 0) {
      link.vertx().cancelTimer(ticker);
    }
    if (pushes != null) {
      pushes.end();
    }
    // Nothing more is sent over a closed link, and the Vert.x may be about to close with it.
    boolean silent = joining && !begun || link.state() == Link.State.CLOSED;
    (silent ? Future.<Void>succeededFuture() : heartbeats.leave())
        .onComplete(done -> closed.tryComplete());
  }

  @Override
  public Future<Void> over() {
    return closed.future();
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public String toString() {
    return "track " + options.getName() + "/" + name;
  }
}
