package dev.evenkeel.client.internal.member;

import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.Assignment;
import dev.evenkeel.bus.Ending;
import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.bus.Link;
import dev.evenkeel.client.Candidate;
import dev.evenkeel.client.ElectionCareer;
import dev.evenkeel.client.LeaderContext;
import dev.evenkeel.protocol.BuildVersion;
import dev.evenkeel.protocol.GroupPolicy;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.Promise;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A running candidate: its heartbeats, its connection and its end. {@link ElectionWork} is what it
 * does while it leads. All of it happens on one context.
 */
final class CandidateShell implements Candidate, Ending, HeartbeatLoop.Port {
  private static final Logger LOG = LoggerFactory.getLogger(Candidate.class);

  private static final long START_MILLIS_MAX = 60_000;

  /** See {@link ConsumerShell}: the first heartbeat need not wait for longer. */
  private static final long REGISTER_MILLIS_MAX = 1_000;

  /** What a dispatcher says that has no elections. */
  private static final String FORMER_VERSION = "a member subscribes to at least one topic";

  private final MemberRun run;
  private final Link link;
  private final String host;
  private final OwnContext context;
  private final ElectionWork work;
  private final HeartbeatLoop heartbeats;
  private final long bornMillis = System.currentTimeMillis();
  private final Promise<Candidate> started = Promise.promise();
  private final Promise<Void> closed = Promise.promise();
  private final java.util.function.Consumer<Link.State> onLink = this::linkChanged;

  private Handler<Throwable> endHandler;
  private Throwable endCause;
  private Link.Listening pushes;
  private long ticker = -1;
  private long startDeadlineMillis;
  private long closeDeadlineMillis;
  private long lostSinceMillis;
  private boolean linkLost;
  private boolean begun;
  private boolean joining = true;
  private boolean closing;
  private boolean leaving;
  private boolean ended;
  private String lastRefusal;

  /**
   * @param run of a member without a handler and topics
   * @param host the name of this machine, for people
   */
  CandidateShell(MemberRun run, ElectionCareer career, long pauseMillis, String host) {
    this.run = run;
    this.host = host;
    link = run.link();
    context = run.context();
    work = new ElectionWork(run, career, pauseMillis, this::heartbeatNow, this::leaveIfDone);
    heartbeats =
        new HeartbeatLoop(
            link,
            run.directory(),
            context,
            run.options().getHeartbeatMillis(),
            this,
            new SplittableRandom());
  }

  Future<Candidate> start() {
    context.run(
        () -> {
          startDeadlineMillis = Clock.millis() + START_MILLIS_MAX;
          link.onState(onLink);
          linkState(link.state());
          if (ended) {
            return;
          }
          pushes =
              link.listen(
                  Addresses.member(run.instance()), body -> context.run(() -> pushed(body)));
          ticker = run.vertx().setPeriodic(ElectionWork.TICK_MILLIS, id -> context.run(this::tick));
          pushes
              .registered()
              .timeout(REGISTER_MILLIS_MAX, TimeUnit.MILLISECONDS)
              .transform(registered -> run.directory().view())
              .onComplete(done -> context.run(this::begin));
        });
    return started.future();
  }

  private void begin() {
    begun = true;
    if (!ended) {
      heartbeats.hurry();
    }
  }

  // Membership

  private void heartbeatNow() {
    // After the last heartbeat, another one would bring the member back.
    if (begun && !leaving && !ended) {
      heartbeats.hurry();
    }
  }

  @Override
  public long topicsChanges() {
    return 0;
  }

  @Override
  public Heartbeat heartbeat(boolean leave) {
    return new Heartbeat(
        run.options().getGroup(),
        run.options().getMember(),
        run.instance(),
        bornMillis,
        leave,
        closing,
        GroupPolicy.of(GroupPolicy.MODE_SINGLETON),
        List.of(),
        run.options().getStart(),
        link.clusterMember(),
        host,
        0,
        run.options().getMemberTimeoutMillis(),
        run.options().getLockTimeMillis(),
        Heartbeat.Wishes.NONE.resignedAt(work.resignedTerm()).handedOverAt(work.handedOverTerm()),
        List.of(),
        null,
        false,
        null,
        null,
        null,
        BuildVersion.number(),
        joining,
        null,
        link.home(),
        List.of());
  }

  @Override
  public void answered(long sentMillis, long topics, Assignment assignment) {
    if (ended) {
      return;
    }
    joining = false;
    work.fence().answered(sentMillis - LoopClock.AGE_MILLIS_MAX);
    assigned(assignment);
    started.tryComplete(this);
  }

  private void pushed(Buffer body) {
    if (ended) {
      return;
    }
    try {
      assigned(Assignment.fromJson(new JsonObject(body)));
    } catch (RuntimeException e) {
      LOG.warn("{}: ignored a malformed assignment: {}", this, e.toString());
    }
  }

  private void assigned(Assignment assignment) {
    if (!leaving) {
      work.assigned(assignment);
    }
  }

  @Override
  public void refused(RefusedException refused) {
    boolean fatal =
        refused.refusal() == Refusal.MEMBER_REPLACED || refused.refusal() == Refusal.GROUP_MISMATCH;
    RefusedException shown = inWords(refused);
    if (fatal || !started.future().isComplete()) {
      endBecause(shown);
    } else if (!leaving && !shown.toString().equals(lastRefusal)) {
      lastRefusal = shown.toString();
      LOG.error("{}: the dispatcher refuses the heartbeat, retrying: {}", this, lastRefusal);
    }
  }

  private static RefusedException inWords(RefusedException refused) {
    boolean former =
        refused.refusal() == Refusal.INVALID && refused.getMessage().contains(FORMER_VERSION);
    return former
        ? Refusal.INVALID.error(
            "the node with the dispatcher is of a former version, which has no elections: upgrade"
                + " all nodes first")
        : refused;
  }

  private void linkChanged(Link.State state) {
    context.run(() -> linkState(state));
  }

  private void linkState(Link.State state) {
    if (ended) {
      return;
    }
    boolean up = state == Link.State.CONNECTED;
    if (!up && !linkLost) {
      lostSinceMillis = Clock.millis();
    }
    linkLost = !up;
    work.fence().link(up);
    if (up) {
      heartbeatNow();
    }
    work.turn();
    if (state == Link.State.CLOSED) {
      endBecause(new RefusedException(Refusal.UNAVAILABLE, "the connection was closed"));
    }
  }

  private void tick() {
    if (ended) {
      return;
    }
    if (!started.future().isComplete() && Clock.millis() >= startDeadlineMillis) {
      endBecause(
          new RefusedException(
              Refusal.UNAVAILABLE,
              "no dispatcher answered within " + START_MILLIS_MAX / 1000 + " s"));
      return;
    }
    if (begun && !linkLost && !leaving) {
      heartbeats.tick();
    }
    work.turn();
  }

  // Ends

  private void endBecause(Throwable cause) {
    if (ended) {
      return;
    }
    end();
    if (!started.tryFail(cause)) {
      LOG.warn("{} has ended: {}", this, cause.toString());
      endCause = cause;
      callEndHandler();
    }
    closed.tryComplete();
  }

  private void end() {
    ended = true;
    work.end();
    link.offState(onLink);
    run.vertx().cancelTimer(ticker);
    if (pushes != null) {
      pushes.end();
    }
  }

  private void leaveIfDone() {
    long now = Clock.millis();
    boolean givenUp =
        now >= closeDeadlineMillis
            // By now the cluster counts us as dead.
            || linkLost && now - lostSinceMillis >= run.options().getMemberTimeoutMillis();
    if (!closing || leaving || ended || !work.drained() && !givenUp) {
      return;
    }
    leaving = true;
    if (!work.drained()) {
      LOG.warn("{}: closed without having handed over", this);
    }
    heartbeats
        .leave()
        .onComplete(
            done ->
                context.run(
                    () -> {
                      if (!ended) {
                        end();
                      }
                      closed.tryComplete();
                    }));
  }

  @Override
  public Future<Void> over() {
    return closed.future();
  }

  @Override
  public Future<Void> close() {
    if (closed.future().isComplete()) {
      // Its Vert.x may be closed, too.
      return closed.future();
    }
    context.run(
        () -> {
          if (!closing && !ended) {
            closing = true;
            closeDeadlineMillis = Clock.millis() + run.options().getLockTimeMillis();
            work.close();
          }
        });
    return closed.future();
  }

  // For the application

  @Override
  public String member() {
    return run.options().getMember();
  }

  @Override
  public boolean isLeading() {
    LeaderContext now = work.leadership();
    return now != null && now.isLeading();
  }

  @Override
  public LeaderContext leadership() {
    return work.leadership();
  }

  @Override
  public void resign() {
    LeaderContext now = work.leadership();
    if (now != null) {
      now.resign();
    }
  }

  @Override
  public Candidate onEnd(Handler<Throwable> handler) {
    context.run(
        () -> {
          endHandler = handler;
          callEndHandler();
        });
    return this;
  }

  private void callEndHandler() {
    if (endCause != null && endHandler != null) {
      Throwable cause = endCause;
      Handler<Throwable> handler = endHandler;
      endHandler = null;
      run.safely("onEnd", () -> handler.handle(cause));
    }
  }

  @Override
  public String toString() {
    return "candidate " + run.options().getGroup() + "/" + run.options().getMember();
  }
}
