package dev.evenkeel.client;

import dev.evenkeel.dedup.Answer;
import dev.evenkeel.dedup.Claim;
import dev.evenkeel.dedup.DedupFigures;
import dev.evenkeel.dedup.Departure;
import dev.evenkeel.dedup.LocalCoordinator;
import dev.evenkeel.dedup.ThreadClaims;
import dev.evenkeel.dedup.Ticket;
import dev.evenkeel.dedup.Worker;
import dev.evenkeel.protocol.Names;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.util.MonotonicClock;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

/** A dedup within one JVM. */
final class LocalDedup implements Dedup {
  private static final Worker WORKER = new Worker("", Worker.SERVICE, 0);
  private static final long TICK_MILLIS = 500;
  private static final long SPARE_MILLIS_MAX = 500;

  /** Keys are spread over parts with equal limits, but not equally. */
  private static final int KEYS_PER_CLAIM = 4;

  private final String name;
  private final int claimsMax;
  private final long timeoutMillis;
  private final LocalCoordinator<String> coordinator;
  private final ThreadClaims<LocalClaim> threads = new ThreadClaims<>();
  private final Set<LocalClaim> claims = ConcurrentHashMap.newKeySet();
  private final AtomicInteger inHand = new AtomicInteger();
  private final AtomicInteger working = new AtomicInteger();
  private final AtomicBoolean ticking = new AtomicBoolean();
  private final LongAdder lost = new LongAdder();
  private volatile boolean closed;

  LocalDedup(DedupOptions options) {
    DedupOptions own = new DedupOptions(options.toJson());
    own.check();
    name = own.getName() == null ? "local" : Names.check("dedup", own.getName());
    claimsMax = own.getClaimsMax();
    timeoutMillis = own.getTimeoutMillis();
    coordinator = new LocalCoordinator<>(claimsMax * KEYS_PER_CLAIM, timeoutMillis);
  }

  @Override
  public String name() {
    return name;
  }

  private LocalClaim begin(String key) {
    checkKey(key);
    if (inHand.incrementAndGet() > claimsMax) {
      inHand.decrementAndGet();
      throw Refusal.OVERLOADED.error(
          "dedup '%s' has %s claims in hand: give some back", name, claimsMax);
    }
    LocalClaim claim = new LocalClaim(coordinator.enQueue(key, WORKER, MonotonicClock.millis()));
    claims.add(claim);
    claim.ticket.turn().thenAccept(claim::turned);
    if (closed) {
      claim.end(closed());
      throw closed();
    }
    keepTicking();
    return claim;
  }

  /**
   * @throws RefusedException INVALID
   */
  static void checkKey(String key) {
    if (key == null || key.isEmpty()) {
      throw Refusal.INVALID.error("a claim needs a key");
    }
    int bytes = key.getBytes(StandardCharsets.UTF_8).length;
    if (bytes > DedupOptions.KEY_BYTES_MAX) {
      throw Refusal.INVALID.error(
          "a key of %s bytes: at most %s are allowed", bytes, DedupOptions.KEY_BYTES_MAX);
    }
  }

  private RefusedException closed() {
    return Refusal.UNAVAILABLE.error("dedup '%s' is closed", name);
  }

  /** Looks for claims that work for too long, while there are any. */
  private void keepTicking() {
    if (!claims.isEmpty() && ticking.compareAndSet(false, true)) {
      CompletableFuture.delayedExecutor(TICK_MILLIS, TimeUnit.MILLISECONDS)
          .execute(
              () -> {
                ticking.set(false);
                tick();
                keepTicking();
              });
    }
  }

  private void tick() {
    for (LocalClaim claim : claims) {
      claim.look();
    }
    coordinator.tick(MonotonicClock.millis());
  }

  @Override
  public boolean enQueue(String key) throws InterruptedException {
    if (Context.isOnEventLoopThread()) {
      throw new IllegalStateException(
          "enQueue waits, and must not be called on an event loop: use claim there");
    }
    return threads.enQueue(key, this::begin, () -> {});
  }

  @Override
  public boolean deQueue(String key) {
    return threads.deQueue(key);
  }

  @Override
  public Future<Optional<DedupClaim>> claim(String key) {
    LocalClaim claim;
    try {
      claim = begin(key);
    } catch (RefusedException e) {
      return Future.failedFuture(e);
    }
    Promise<Optional<DedupClaim>> promise = Promise.promise();
    claim.turn.whenComplete(
        (answer, failure) -> {
          if (failure != null) {
            promise.fail(failure);
          } else {
            promise.complete(answer == Answer.ACCEPT ? Optional.of(claim) : Optional.empty());
          }
        });
    return promise.future();
  }

  @Override
  public DedupCounts counts() {
    DedupFigures figures = coordinator.figures();
    return new DedupCounts(
        figures.accepted(),
        figures.blocked(),
        figures.declined(),
        lost.sum(),
        working.get(),
        inHand.get() - working.get());
  }

  @Override
  public Future<Void> close() {
    closed = true;
    claims.forEach(claim -> claim.end(closed()));
    return Future.succeededFuture();
  }

  private final class LocalClaim implements DedupClaim, ThreadClaims.Claim {
    final Ticket<String> ticket;
    final CompletableFuture<Answer> turn = new CompletableFuture<>();
    private final Promise<Void> lostKey = Promise.promise();
    private boolean atWork;
    private boolean over;
    private boolean isLost;
    private long sinceMillis;

    /** Whether it had the key when it gave it back; null until that begins. */
    private Future<Boolean> left;

    LocalClaim(Ticket<String> ticket) {
      this.ticket = ticket;
    }

    void turned(Answer answer) {
      if (closed) {
        end(closed());
        return;
      }
      synchronized (this) {
        if (over) {
          return;
        }
        if (answer == Answer.ACCEPT) {
          atWork = true;
          // Not the time of now: this thread may have been held up since it became the head.
          sinceMillis = ((Claim) ticket).sinceMillis();
          working.incrementAndGet();
        } else {
          over = true;
          claims.remove(this);
          inHand.decrementAndGet();
        }
      }
      turn.complete(answer);
    }

    @Override
    public CompletableFuture<Answer> turn() {
      return turn;
    }

    @Override
    public String key() {
      return ticket.key();
    }

    @Override
    public synchronized boolean isHeld() {
      return atWork && !over && !isLost && !overdue();
    }

    /** A little sooner than the automaton says so. */
    private boolean overdue() {
      long spare = Math.min(SPARE_MILLIS_MAX, timeoutMillis / 10);
      return MonotonicClock.millis() - sinceMillis >= timeoutMillis - spare;
    }

    /** Notes that its time is over. */
    void look() {
      synchronized (this) {
        if (!atWork || over || isLost || !overdue()) {
          return;
        }
        isLost = true;
        lost.increment();
      }
      lostKey.tryComplete();
    }

    @Override
    public Future<Boolean> giveBack() {
      return end(closed());
    }

    /**
     * @param why the failure of its turn, if that has not come
     */
    Future<Boolean> end(RefusedException why) {
      look();
      Promise<Boolean> leaving = Promise.promise();
      boolean held;
      synchronized (this) {
        if (left != null) {
          return left;
        }
        left = leaving.future();
        if (over) {
          // It was declined.
          leaving.complete(false);
          return left;
        }
        held = atWork && !isLost;
        over = true;
        if (atWork) {
          working.decrementAndGet();
        }
      }
      claims.remove(this);
      inHand.decrementAndGet();
      boolean[] had = {false};
      coordinator
          .deQueue(ticket, MonotonicClock.millis())
          .thenAccept(departure -> had[0] = departure != Departure.NOT_HEAD);
      leaving.complete(held && had[0]);
      turn.completeExceptionally(why);
      return leaving.future();
    }

    @Override
    public Future<Void> lost() {
      return lostKey.future();
    }
  }
}
