package dev.evenkeel.gateway.access.oidc;

import dev.evenkeel.bus.meters.MeterScope;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.util.Daemon;
import dev.evenkeel.util.MonotonicClock;
import io.vertx.core.AsyncResult;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.internal.ContextInternal;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The users of an identity provider that show its tokens to one node. It looks every second whether
 * the file with the settings has changed, and now and then for new keys of the issuer. Whatever
 * cannot be read changes nothing: the former settings and keys stay in force, and a metric tells.
 *
 * <p>Tokens that the node has not seen before are checked on a thread of their own. Safe for use
 * from any thread.
 */
public final class OidcUsers {
  private static final Logger LOG = LoggerFactory.getLogger(OidcUsers.class);
  private static final long LOOK_MILLIS = 1_000;

  /** Least time between two readings of the keys, whoever causes them. */
  static final long READ_GAP_MILLIS = 10_000;

  private static final int PENDING_MAX = 256;

  /**
   * What tokens are checked against. It never changes.
   *
   * @param keys those of the issuer
   */
  record Rules(OidcSettings settings, IssuerKeys keys) {}

  private final Vertx vertx;
  private final Path file;
  private final LongSupplier clock;
  private final LongSupplier monotonic;

  /** Not of the verticle that comes first: its users are those of all parts of the node. */
  private final Executor checks = Daemon.pool("evenkeel-oidc", 1, 10, new LinkedBlockingQueue<>());

  private final PendingChecks pending = new PendingChecks(PENDING_MAX);
  private final KnownTokens known = new KnownTokens();
  private final LongAdder checked;

  private volatile Rules rules;

  /** Why the file or the keys cannot be used; null: they can. */
  private volatile String fileProblem;

  private volatile String keysProblem;

  // Guarded by this.
  private KeySource source;
  private Future<Void> reading;

  /** Of a monotonic clock; null: the keys were not read from this source. */
  private Long readMillis;

  private String seen;

  /**
   * @param clock says what time it is, in milliseconds since 1970
   * @param monotonic the milliseconds of a monotonic clock
   */
  OidcUsers(Vertx vertx, Path file, MeterScope scope, LongSupplier clock, LongSupplier monotonic) {
    this.vertx = vertx;
    this.file = file;
    this.clock = clock;
    this.monotonic = monotonic;
    checked =
        scope.counter(
            "evenkeel.access.oidc.checked",
            "Tokens of the OIDC issuer whose signature was checked");
    scope.gauge(
        "evenkeel.access.oidc.broken",
        "1: the OIDC file cannot be used, and the former one stays in force",
        () -> fileProblem == null ? 0 : 1);
    scope.gauge(
        "evenkeel.access.oidc.keys.failing",
        "1: the keys of the OIDC issuer could not be read, and the former ones stay in force",
        () -> keysProblem == null ? 0 : 1);
    scope.gauge("evenkeel.access.oidc.keys", "Keys of the OIDC issuer", () -> rules.keys().count());
  }

  /**
   * Reads the settings, and the keys of the issuer. If there are no keys, it goes on without: it
   * refuses all tokens until there are some.
   *
   * @param file path of the settings
   * @return fails with {@code RefusedException} INVALID if they cannot be used
   */
  public static Future<OidcUsers> open(Vertx vertx, Path file, MeterScope scope) {
    OidcUsers users =
        new OidcUsers(vertx, file, scope, System::currentTimeMillis, MonotonicClock::millis);
    return users
        .start()
        .map(users)
        .onSuccess(
            read ->
                vertx.setPeriodic(LOOK_MILLIS, timer -> vertx.executeBlocking(users::look, false)));
  }

  Future<Void> start() {
    return vertx
        .executeBlocking(
            () -> {
              read();
              return null;
            },
            false)
        .compose(read -> readKeys().transform(done -> Future.succeededFuture()));
  }

  // ---- settings and keys ----

  /**
   * Reads the file.
   *
   * @throws RefusedException INVALID if it cannot be used
   */
  synchronized void read() {
    String text;
    try {
      text = Files.readString(file);
    } catch (IOException e) {
      throw Refusal.INVALID.error("cannot read the OIDC file %s (%s)", file, e);
    }
    if (text.equals(seen)) {
      return;
    }
    OidcSettings settings;
    try {
      settings = OidcSettings.parse(text, file.toAbsolutePath().getParent());
    } catch (RefusedException e) {
      throw Refusal.INVALID.error("OIDC file %s: %s", file, e.words());
    }
    Rules before = rules;
    if (before == null || !settings.hasKeysOf(before.settings())) {
      KeySource former = source;
      source = new KeySource(vertx, settings);
      readMillis = null;
      reading = null;
      if (former != null) {
        former.close();
      }
    }
    boolean sameIssuer = before != null && settings.issuer().equals(before.settings().issuer());
    rules = new Rules(settings, sameIssuer ? before.keys() : IssuerKeys.NONE);
    // Not before: what cannot be used is tried again at each look. It may be half written.
    seen = text;
  }

  Void look() {
    Rules before = rules;
    try {
      read();
      fileProblem = null;
    } catch (RefusedException e) {
      if (!e.words().equals(fileProblem)) {
        LOG.error("the former OIDC settings stay in force: {}", e.words());
      }
      fileProblem = e.words();
    }
    if (rules.settings() != before.settings()) {
      LOG.info("{} has changed, and is in force", file);
    }
    synchronized (this) {
      long millis = keysProblem == null ? rules.settings().refreshMillis() : READ_GAP_MILLIS;
      if (readMillis == null || monotonic.getAsLong() - readMillis >= millis) {
        readKeys();
      }
    }
    return null;
  }

  /**
   * Reads the keys, unless that was done just now. Fails with UNAVAILABLE then, and if they cannot
   * be read.
   */
  synchronized Future<Void> readKeys() {
    if (reading != null) {
      return reading;
    }
    long now = monotonic.getAsLong();
    long leftMillis = readMillis == null ? 0 : readMillis + READ_GAP_MILLIS - now;
    if (leftMillis > 0) {
      return Future.failedFuture(
          Refusal.UNAVAILABLE.error(
              "the node asks for the keys of the issuer again in %s s: try again then",
              (leftMillis + 999) / 1_000));
    }
    readMillis = now;
    KeySource from = source;
    Promise<Void> promise = Promise.promise();
    reading = promise.future();
    from.read()
        .onComplete(
            read -> {
              tookKeys(from, read);
              if (read.succeeded()) {
                promise.complete();
              } else {
                promise.fail(
                    Refusal.UNAVAILABLE.error(
                        "the node cannot read the keys of the issuer at the moment: try again"));
              }
            });
    return promise.future();
  }

  private synchronized void tookKeys(KeySource from, AsyncResult<IssuerKeys> read) {
    if (from != source) {
      // The settings have changed meanwhile.
      return;
    }
    reading = null;
    if (read.failed()) {
      String why =
          read.cause() instanceof RefusedException refused
              ? refused.words()
              : read.cause().toString();
      if (keysProblem == null) {
        LOG.error(
            "cannot read the keys of the OIDC issuer from {}: {}. {}",
            from.name(),
            why,
            rules.keys().count() == 0
                ? "Until then, its tokens are refused"
                : "The former keys stay in force");
      }
      keysProblem = why;
      return;
    }
    if (keysProblem != null) {
      LOG.info("read the keys of the OIDC issuer from {}", from.name());
    }
    keysProblem = null;
    if (!read.result().isSame(rules.keys())) {
      rules = new Rules(rules.settings(), read.result());
    }
  }

  // ---- tokens ----

  /** Whether a text is a token for {@link #check}. */
  public static boolean isToken(String text) {
    return JwtToken.is(text);
  }

  /** A token that was checked before, or null. */
  public KnownToken known(String token) {
    return known.get(token);
  }

  /**
   * Checks a token. The future completes on the caller's context; it fails with UNAUTHENTICATED if
   * the token is not good, and with OVERLOADED or UNAVAILABLE if it cannot be checked now.
   *
   * @param source address that it comes from, as {@code Strangers} counts it
   */
  public Future<KnownToken> check(String token, String source) {
    Promise<KnownToken> promise = ((ContextInternal) vertx.getOrCreateContext()).promise();
    try {
      pending.take(source);
    } catch (RefusedException e) {
      promise.fail(e);
      return promise.future();
    }
    checked(token)
        .compose(
            good ->
                good != null
                    ? Future.succeededFuture(good)
                    // Its key is not known: the issuer may have a new one.
                    : readKeys().compose(read -> checked(token)).map(OidcUsers::signed))
        .onComplete(
            done -> {
              pending.give(source);
              promise.handle(done);
            });
    return promise.future();
  }

  private static KnownToken signed(KnownToken good) {
    if (good == null) {
      throw Refusal.UNAUTHENTICATED.error(
          "the token is signed with a key that its issuer does not publish: get a new one");
    }
    return good;
  }

  /** Null: no key is known that it may be signed with. */
  private Future<KnownToken> checked(String token) {
    Promise<KnownToken> promise = ((ContextInternal) vertx.getOrCreateContext()).promise();
    checks.execute(
        () -> {
          try {
            promise.complete(checkedHere(token));
          } catch (Throwable e) {
            promise.fail(e);
          }
        });
    return promise.future();
  }

  private KnownToken checkedHere(String token) {
    Rules now = rules;
    JwtToken jwt = JwtToken.parse(token);
    jwt.check(now.settings(), clock.getAsLong());
    IssuerKeys.Key key = now.keys().of(jwt.header());
    if (key == null) {
      return null;
    }
    checked.increment();
    jwt.verify(key);
    KnownToken good = new KnownToken(this, token, key.thumbprint());
    good.user();
    known.put(good);
    return good;
  }

  Rules rules() {
    return rules;
  }

  long nowMillis() {
    return clock.getAsLong();
  }

  /**
   * The user of that name, by the token that counts longest.
   *
   * @throws RefusedException UNAUTHENTICATED if there is no such user, or the token has expired
   */
  public OidcUser named(String name) {
    KnownToken token = known.of(name);
    if (token == null) {
      throw Refusal.UNAUTHENTICATED.error(
          "the user '%s' has shown no token to this node: send the token itself, or log in here",
          name);
    }
    return token.user();
  }
}
