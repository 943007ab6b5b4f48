package dev.evenkeel.client.internal.member;

import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.Assignment;
import dev.evenkeel.bus.Ending;
import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.bus.Link;
import dev.evenkeel.client.Candidate;
import dev.evenkeel.client.ElectionCareer;
import dev.evenkeel.client.LeaderContext;
import dev.evenkeel.client.internal.consume.ElectionCore;
import dev.evenkeel.client.internal.consume.ElectionCore.Call;
import dev.evenkeel.client.internal.consume.ElectionCore.Step;
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
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A running candidate: carries out what {@link ElectionCore} decides, and feeds it events. All of
 * it happens on one context.
 */
final class CandidateShell implements Candidate, Ending, HeartbeatLoop.Port {
  private static final Logger LOG = LoggerFactory.getLogger(Candidate.class);

  private static final long START_MILLIS_MAX = 60_000;
  private static final long TICK_MILLIS = 100;

  /** See {@link ConsumerShell}: the first heartbeat need not wait for longer. */
  private static final long REGISTER_MILLIS_MAX = 1_000;

  /** What a dispatcher says that has no elections. */
  private static final String FORMER_VERSION = "a member subscribes to at least one topic";

  private final MemberRun run;
  private final Link link;
  private final ElectionCareer career;
  private final String host;
  private final OwnContext context;
  private final ElectionCore core;
  private final Leaderships leaderships;
  private final HeartbeatLoop heartbeats;
  private final long bornMillis = System.currentTimeMillis();
  private final Promise<Candidate> started = Promise.promise();
  private final Promise<Void> closed = Promise.promise();
  private final java.util.function.Consumer<Link.State> onLink = this::linkChanged;

  /** As the application sees it; read from any thread. */
  private volatile LeaderContext leadership;

  /** The one before, which may be lost. */
  private LeaderContext former;

  private Long handedOverKnown;
  private Handler<Throwable> endHandler;
  private Throwable endCause;
  private Link.Listening pushes;
  private long ticker = -1;
  private long timer = -1;
  private long startDeadlineMillis;
  private long closeDeadlineMillis;
  private long lostSinceMillis;
  private boolean linkLost;
  private boolean begun;
  private boolean joining = true;
  private boolean closing;
  private boolean leaving;
  private boolean ended;
  private boolean turning;
  private String lastRefusal;

  /**
   * @param run of a member without a handler and topics
   * @param host the name of this machine, for people
   */
  CandidateShell(MemberRun run, ElectionCareer career, long pauseMillis, String host) {
    this.run = run;
    this.career = career;
    this.host = host;
    link = run.link();
    context = run.context();
    core = new ElectionCore(run.instance(), run.options().getMemberTimeoutMillis(), pauseMillis);
    leaderships =
        new Leaderships(
            run.options().getMember(),
            () -> context.run(this::resigned),
            () -> core.fence().mayStart(Clock.millis()));
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
          ticker = run.vertx().setPeriodic(TICK_MILLIS, id -> context.run(this::tick));
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

  // What the core decides

  /** Does everything that can be done now. */
  private void turn() {
    if (turning) {
      return;
    }
    turning = true;
    Step step;
    while ((step = core.next(Clock.millis())) != null) {
      call(step);
    }
    turning = false;
    if (ended) {
      return;
    }
    if (!Objects.equals(core.handedOverTerm(), handedOverKnown)) {
      handedOverKnown = core.handedOverTerm();
      LOG.info("{} has handed over term {}", this, handedOverKnown);
      if (!leaving) {
        heartbeats.hurry();
      }
    }
    setTimer();
    if (closing) {
      leaveIfDone();
    }
  }

  /** A pause may be shorter than a tick. */
  private void setTimer() {
    run.vertx().cancelTimer(timer);
    timer = -1;
    long waitMillis = core.dueMillis() - Clock.millis();
    if (waitMillis > 0 && waitMillis < TICK_MILLIS) {
      timer = run.vertx().setTimer(waitMillis, id -> context.run(this::turn));
    }
  }

  private void call(Step step) {
    LeaderContext of = leadership != null && leadership.term() == step.term() ? leadership : former;
    if (step.call() == Call.LOST) {
      LOG.warn("{} was lost without handing over", of);
      run.safely("lost", () -> career.lost(of));
      return;
    }
    if (step.call() != Call.EXECUTE) {
      LOG.info("{} {}", of, step.call() == Call.INAUGURATE ? "begins" : "hands over");
    }
    Future<Void> result;
    try {
      result =
          switch (step.call()) {
            case INAUGURATE -> career.inaugurate(of);
            case HAND_OVER -> career.handOver(of);
            default -> career.execute(of);
          };
      if (result == null) {
        throw new NullPointerException("the leader's work returned null instead of a future");
      }
    } catch (Throwable e) {
      result = Future.failedFuture(e);
    }
    // Later, so that work that ends at once leaves the event loop to others in between.
    result.onComplete(done -> context.later(() -> callEnded(step, of, done.cause())));
  }

  private void callEnded(Step step, LeaderContext of, Throwable failure) {
    if (failure != null) {
      LOG.error("{} of {} failed: {}", step.call(), of, failure.toString());
      LOG.debug("Where", failure);
    }
    core.ended(failure != null, Clock.millis());
    turn();
  }

  private void resigned() {
    Long term = leaderships.resignedTerm();
    if (!ended && term != null) {
      core.resign(term);
      showLead();
      turn();
      if (!leaving) {
        heartbeats.hurry();
      }
    }
  }

  // Membership

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
        Heartbeat.Wishes.NONE
            .resignedAt(leaderships.resignedTerm())
            .handedOverAt(core.handedOverTerm()),
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
    core.fence().answered(sentMillis - LoopClock.AGE_MILLIS_MAX);
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

  private Assignment.Lead lead;

  private void assigned(Assignment assignment) {
    if (!leaving && core.assigned(assignment, Clock.millis())) {
      lead = assignment.lead();
      showLead();
      turn();
    }
  }

  private void showLead() {
    Assignment.Lead shown = lead != null && core.handsOver() ? lead.asEnding() : lead;
    LeaderContext now = leaderships.changed(shown);
    if (now != leadership) {
      former = leadership;
      leadership = now;
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
    core.fence().link(up);
    if (up && begun && !leaving) {
      heartbeats.hurry();
    }
    turn();
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
    turn();
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
    core.end();
    lead = null;
    showLead();
    turn();
    ended = true;
    link.offState(onLink);
    run.vertx().cancelTimer(ticker);
    run.vertx().cancelTimer(timer);
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
    if (leaving || ended || !core.drained() && !givenUp) {
      return;
    }
    leaving = true;
    if (!core.drained()) {
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
    context.run(
        () -> {
          if (!closing && !ended) {
            closing = true;
            closeDeadlineMillis = Clock.millis() + run.options().getLockTimeMillis();
            core.close();
            showLead();
            turn();
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
    LeaderContext now = leadership;
    return now != null && now.isLeading();
  }

  @Override
  public LeaderContext leadership() {
    return leadership;
  }

  @Override
  public void resign() {
    LeaderContext now = leadership;
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
