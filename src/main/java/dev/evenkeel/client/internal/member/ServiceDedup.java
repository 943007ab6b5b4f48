package dev.evenkeel.client.internal.member;

import dev.evenkeel.bus.ClusterDirectory;
import dev.evenkeel.bus.Ending;
import dev.evenkeel.bus.Link;
import dev.evenkeel.bus.VertxLink;
import dev.evenkeel.client.Dedup;
import dev.evenkeel.client.DedupClaim;
import dev.evenkeel.client.DedupCounts;
import dev.evenkeel.client.DedupOptions;
import dev.evenkeel.dedup.Answer;
import dev.evenkeel.dedup.ClusteredCoordinator;
import dev.evenkeel.dedup.DedupFigures;
import dev.evenkeel.dedup.DedupKey;
import dev.evenkeel.dedup.DedupScope;
import dev.evenkeel.dedup.LeasedCoordinator;
import dev.evenkeel.dedup.SharedAutomata;
import dev.evenkeel.dedup.ThreadClaims;
import dev.evenkeel.protocol.Names;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.wire.FeatureLevel;
import io.vertx.core.Closeable;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.internal.VertxInternal;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * A dedup of all programs that use its name, over a link. While it has claims in hand, it looks
 * after them a few times a second. It ends with its Vert.x, and with its link.
 */
public final class ServiceDedup implements Dedup, Ending {
  private static final long TICK_MILLIS = 200;

  /** While it waits to be connected. */
  private static final long CONNECT_TICK_MILLIS = 20;

  private static final long CLOSE_MILLIS_MAX = 2_000;

  /** A cluster that has just begun does not know for a moment what its nodes read. */
  private static final long OLDER_MILLIS_MAX = 5_000;

  private static final String OLDER =
      "the cluster's nodes run an older version, without dedups by name";

  private final Link link;
  private final ClusterDirectory directory;
  private final VertxInternal vertx;
  private final String name;
  private final int claimsMax;
  private final Function<String, SharedAutomata> automataOf;
  private final DedupScope scope;
  private final LeasedCoordinator coordinator;
  private final ThreadClaims<ServiceClaim> threads = new ThreadClaims<>();
  private final AtomicBoolean ticking = new AtomicBoolean();
  private final Consumer<Link.State> onState = this::stateChanged;
  private final Closeable onVertxClose = this::vertxCloses;
  private final Promise<Void> over = Promise.promise();
  private volatile RefusedException closed;

  // Guarded by this.
  private String usedMember;
  private String permittedMember;
  private boolean asksPermission;

  /** Since when nodes are of an older version, as far as is known; null: they are not. */
  private Long olderSinceMillis;

  private long asksAgainMillis = Long.MIN_VALUE;

  private ServiceDedup(
      Link link,
      ClusterDirectory directory,
      DedupOptions options,
      Function<String, SharedAutomata> automataOf) {
    this.link = link;
    this.directory = directory;
    this.automataOf = automataOf;
    vertx = (VertxInternal) link.vertx();
    name = Names.check("dedup", options.getName());
    claimsMax = options.getClaimsMax();
    scope = DedupScope.ofService(name);
    coordinator =
        new LeasedCoordinator(
            NoAutomata.INSTANCE,
            ClusteredCoordinator.Settings.guarded(options.getTimeoutMillis()),
            Clock::millis);
  }

  /**
   * Makes one over a link; it connects when it is used first.
   *
   * @throws RefusedException INVALID
   */
  public static ServiceDedup over(Link link, ClusterDirectory directory, DedupOptions options) {
    return over(
        link,
        directory,
        options,
        connection ->
            link instanceof VertxLink
                ? Consumers.automata(link, connection)
                : LinkAutomata.ofService(link, connection, options.getName()));
  }

  /**
   * @param automataOf gives the automata for the link's {@link Link#clusterMember}, or null if
   *     there are none yet
   */
  static ServiceDedup over(
      Link link,
      ClusterDirectory directory,
      DedupOptions options,
      Function<String, SharedAutomata> automataOf) {
    DedupOptions own = new DedupOptions(options.toJson());
    own.check();
    ServiceDedup dedup = new ServiceDedup(link, directory, own, automataOf);
    link.onState(dedup.onState);
    dedup.vertx.addCloseHook(dedup.onVertxClose);
    return dedup;
  }

  /** Fails with WRONG_VERSION if not all nodes know dedups by name. */
  public static Future<Void> known(ClusterDirectory directory) {
    return directory
        .allRead(FeatureLevel.DEDUPS_BY_NAME)
        .compose(
            yes ->
                yes
                    ? Future.succeededFuture()
                    : Future.failedFuture(Refusal.WRONG_VERSION.error(OLDER)));
  }

  private void stateChanged(Link.State state) {
    if (state == Link.State.CLOSED) {
      close(Refusal.UNAVAILABLE.error("the client is closed"));
    }
  }

  private void vertxCloses(io.vertx.core.Completable<Void> done) {
    close(Refusal.UNAVAILABLE.error("the Vert.x is closed"));
    done.succeed();
  }

  @Override
  public String name() {
    return name;
  }

  /**
   * Asks for a key.
   *
   * @throws RefusedException as {@link Dedup} says
   */
  public ServiceClaim begin(String key) {
    DedupKey hash = hash(key);
    RefusedException why = closed;
    if (why != null) {
      throw why;
    }
    if (coordinator.claims() >= claimsMax) {
      throw Refusal.OVERLOADED.error(
          "dedup '%s' has %s claims in hand: give some back", name, claimsMax);
    }
    useAutomata();
    long work = ThreadLocalRandom.current().nextLong();
    ServiceClaim claim = new ServiceClaim(coordinator, coordinator.claim(hash, work | 1), key);
    keepTicking();
    return claim;
  }

  private DedupKey hash(String key) {
    if (key == null || key.isEmpty()) {
      throw Refusal.INVALID.error("a claim needs a key");
    }
    byte[] bytes = key.getBytes(StandardCharsets.UTF_8);
    if (bytes.length > DedupOptions.KEY_BYTES_MAX) {
      throw Refusal.INVALID.error(
          "a key of %s bytes: at most %s are allowed", bytes.length, DedupOptions.KEY_BYTES_MAX);
    }
    synchronized (scope) {
      return scope.key(bytes);
    }
  }

  @Override
  public boolean enQueue(String key) throws InterruptedException {
    if (Context.isOnEventLoopThread()) {
      throw new IllegalStateException(
          "enQueue waits, and must not be called on an event loop: use claim there");
    }
    return threads.enQueue(key, this::begin, this::tick);
  }

  @Override
  public boolean deQueue(String key) {
    return threads.deQueue(key);
  }

  @Override
  public Future<Optional<DedupClaim>> claim(String key) {
    ServiceClaim claim;
    try {
      claim = begin(key);
    } catch (RefusedException e) {
      return Future.failedFuture(e);
    }
    // Without a context: that of a closed Vert.x would never complete it.
    Promise<Optional<DedupClaim>> promise = Promise.promise();
    claim
        .turn()
        .whenComplete(
            (answer, failure) -> {
              if (failure != null) {
                promise.fail(failure);
              } else {
                promise.complete(answer == Answer.ACCEPT ? Optional.of(claim) : Optional.empty());
              }
            });
    return promise.future();
  }

  private void keepTicking() {
    if (coordinator.idle() || !ticking.compareAndSet(false, true)) {
      return;
    }
    boolean connected;
    synchronized (this) {
      connected = usedMember != null && usedMember.equals(link.clusterMember());
    }
    try {
      vertx.setTimer(connected ? TICK_MILLIS : CONNECT_TICK_MILLIS, timer -> ticked());
    } catch (RejectedExecutionException | IllegalStateException e) {
      close(Refusal.UNAVAILABLE.error("the Vert.x is closed"));
    }
  }

  private void ticked() {
    ticking.set(false);
    try {
      tick();
    } finally {
      // Without it, nobody would end the claims that wait.
      keepTicking();
    }
  }

  private void tick() {
    useAutomata();
    coordinator.tick();
  }

  /** Uses the automata of the link's present session or member. */
  private synchronized void useAutomata() {
    String member = link.clusterMember();
    if (member == null || member.equals(usedMember) || closed != null) {
      return;
    }
    if (!member.equals(permittedMember)) {
      askPermission(member);
      return;
    }
    SharedAutomata automata = automataOf.apply(member);
    if (automata != null) {
      coordinator.use(automata);
      usedMember = member;
    }
  }

  private void askPermission(String member) {
    if (asksPermission || Clock.millis() < asksAgainMillis) {
      return;
    }
    asksPermission = true;
    (link instanceof VertxLink ? known(directory) : LinkAutomata.question(link, member, name))
        .onComplete(
            answered -> {
              Refusal refusal =
                  answered.succeeded() ? null : RefusedException.of(answered.cause()).refusal();
              // Nodes of the former version do not know the question.
              boolean older = refusal == Refusal.INVALID || refusal == Refusal.WRONG_VERSION;
              boolean surely;
              synchronized (this) {
                asksPermission = false;
                permittedMember = refusal == null ? member : permittedMember;
                olderSinceMillis = refusal == null ? null : olderSinceMillis;
                surely = older && olderForLong(Clock.millis());
              }
              if (refusal == null) {
                useAutomata();
              } else if (refusal == Refusal.FORBIDDEN) {
                coordinator.refuse(RefusedException.of(answered.cause()));
              } else if (surely) {
                coordinator.refuse(Refusal.UNAVAILABLE.error(OLDER));
              }
            });
  }

  private boolean olderForLong(long nowMillis) {
    asksAgainMillis = nowMillis + TICK_MILLIS;
    if (olderSinceMillis == null) {
      olderSinceMillis = nowMillis;
    }
    return nowMillis - olderSinceMillis >= OLDER_MILLIS_MAX;
  }

  @Override
  public DedupCounts counts() {
    DedupFigures figures = coordinator.figures();
    return new DedupCounts(
        figures.accepted(),
        figures.blocked(),
        figures.declined(),
        figures.lost(),
        figures.processing(),
        figures.waiting());
  }

  @Override
  public Future<Void> close() {
    return close(Refusal.UNAVAILABLE.error("dedup '%s' is closed", name));
  }

  private Future<Void> close(RefusedException why) {
    synchronized (this) {
      if (closed != null) {
        return over.future();
      }
      closed = why;
    }
    coordinator
        .close(why)
        .orTimeout(CLOSE_MILLIS_MAX, TimeUnit.MILLISECONDS)
        .whenComplete((done, late) -> over.tryComplete());
    link.offState(onState);
    vertx.removeCloseHook(onVertxClose);
    return over.future();
  }

  @Override
  public Future<Void> over() {
    return over.future();
  }
}
