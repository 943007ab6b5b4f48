package dev.evenkeel.gateway.access;

import dev.evenkeel.bus.GroupScope;
import dev.evenkeel.bus.LocalBroker;
import dev.evenkeel.bus.LocalObjects;
import dev.evenkeel.bus.LocalUsers;
import dev.evenkeel.bus.meters.MeterScope;
import dev.evenkeel.bus.meters.Meters;
import dev.evenkeel.bus.share.Shares;
import dev.evenkeel.gateway.access.oidc.KnownToken;
import dev.evenkeel.gateway.access.oidc.OidcNames;
import dev.evenkeel.gateway.access.oidc.OidcUser;
import dev.evenkeel.gateway.access.oidc.OidcUsers;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.util.tls.CertificateNames;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import javax.net.ssl.SSLPeerUnverifiedException;
import javax.net.ssl.SSLSession;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The users of the programs that connect to one node: those of a file, then those that the cluster
 * keeps. It looks every second whether they have changed. A file that cannot be used changes
 * nothing: the former users stay in force, and a metric tells.
 *
 * <p>Users that the cluster keeps count from the moment on in which this node, since its start, has
 * known all that was decided until then. If it hears of no changes later, because it is cut off,
 * the former ones stay in force.
 *
 * <p>{@link OidcUsers} knows users of an identity provider. Without a file of either kind,
 * everybody may do everything, and nothing else counts. Safe for use from any thread.
 */
public final class Access {
  private static final Logger LOG = LoggerFactory.getLogger(Access.class);
  private static final long LOOK_MILLIS = 1_000;

  private final Vertx vertx;

  /** Null: there is none. */
  private final Path file;

  private final AuditLog audit;
  private final LongAdder unknown;
  private final LongSupplier nowMillis;

  /** Those of the file and of the cluster. */
  private volatile Users users = Users.NONE;

  private volatile Users ofFile = Users.NONE;
  private List<Users.User> ofCluster = List.of();

  /** Of the cluster's users, see {@link LocalUsers#version}; null: they are not known yet. */
  private volatile Object version;

  /** Names that the file and the cluster have. */
  private Set<String> twice = Set.of();

  private volatile String problem;
  private String seen;

  /** Null: there are no users of an identity provider. */
  private OidcUsers oidc;

  Access(Vertx vertx, Path file, String node, MeterScope scope, LongSupplier nowMillis) {
    this.vertx = vertx;
    this.file = file;
    this.nowMillis = nowMillis;
    audit = new AuditLog(node, scope);
    unknown =
        scope.counter(
            "evenkeel.access.unauthenticated", "Requests and connections of nobody known");
    scope.gauge(
        "evenkeel.access.users.broken",
        "1: the users file cannot be used, and the former users stay in force",
        () -> problem == null ? 0 : 1);
    scope.gauge(
        "evenkeel.access.users.expires.seconds",
        "Seconds until the first user has no valid token any more; NaN: never",
        () -> {
          long now = nowMillis.getAsLong();
          Long first = users.nextEnd(now);
          return first == null ? Double.NaN : (first - now) / 1_000.0;
        });
    scope.gauge(
        "evenkeel.access.users.expired",
        "Users whose tokens have all expired",
        () -> users.ended(nowMillis.getAsLong()));
  }

  /**
   * The users of the programs that connect to a node; the same for all parts of a node.
   *
   * @param file path of the users file; null: there are none in a file
   * @param oidc path of the file that says which tokens of an identity provider count; null: none.
   *     Without both files, everybody may do everything
   * @return fails with {@code RefusedException} INVALID if a file cannot be used
   */
  public static Future<Access> of(Vertx vertx, String node, String file, String oidc) {
    Access present = LocalObjects.get(vertx, Access.class);
    if (present != null) {
      return Future.succeededFuture(present);
    }
    MeterScope scope = Meters.of(vertx).scope("access");
    Path path = file == null ? null : Path.of(file);
    Access access = new Access(vertx, path, node, scope, System::currentTimeMillis);
    Shares shares = Shares.of(vertx);
    shares.weigh(user -> access.users.share(user));
    shares.know(access::names);
    return (oidc == null
            ? Future.<OidcUsers>succeededFuture()
            : OidcUsers.open(vertx, Path.of(oidc), scope))
        .compose(opened -> open(vertx, access, opened));
  }

  private static Future<Access> open(Vertx vertx, Access access, OidcUsers oidc) {
    access.oidc = oidc;
    if (!access.hasUsers()) {
      LocalObjects.put(vertx, Access.class, access);
      return Future.succeededFuture(access);
    }
    return vertx
        .executeBlocking(
            () -> {
              access.read();
              return access;
            },
            false)
        .onSuccess(
            read -> {
              LocalObjects.put(vertx, Access.class, access);
              vertx.setPeriodic(LOOK_MILLIS, timer -> vertx.executeBlocking(access::look, false));
            });
  }

  /** Reads the file, if there is one. */
  synchronized void read() {
    if (file == null) {
      return;
    }
    String text = text(file);
    if (!text.equals(seen)) {
      ofFile = parse(file, text);
      join();
      // Not before: what cannot be used is tried again at each look. It may be half written.
      seen = text;
    }
  }

  /**
   * Looks at a users file before anything of a node runs.
   *
   * @throws RefusedException INVALID if it cannot be used
   */
  public static void check(Path file) {
    parse(file, text(file));
  }

  private static String text(Path file) {
    try {
      return Files.readString(file);
    } catch (NoSuchFileException e) {
      throw Refusal.INVALID.error("there is no users file %s: make it with 'user add'", file);
    } catch (IOException e) {
      throw Refusal.INVALID.error(
          "cannot read the users file %s (%s): make it with 'user add'", file, e);
    }
  }

  private static Users parse(Path file, String text) {
    try {
      return Users.parse(text);
    } catch (RefusedException e) {
      throw Refusal.INVALID.error("users file %s: %s", file, e.words());
    }
  }

  private void join() {
    users = ofFile.and(ofCluster);
    Set<String> both =
        ofCluster.stream()
            .map(Users.User::name)
            .filter(name -> ofFile.named(name) != null)
            .collect(Collectors.toSet());
    if (!both.equals(twice)) {
      twice = both;
      both.forEach(
          name ->
              LOG.warn(
                  "the user '{}' is in {} and in the cluster: what the file says counts",
                  name,
                  file));
    }
  }

  /** Looks at the users that the cluster keeps. */
  synchronized void look(LocalUsers local) {
    Object now = local.version();
    if (now != null && now != version) {
      ofCluster = local.all().stream().map(Users.User::of).toList();
      join();
      version = now;
    }
  }

  private Void look() {
    LocalBroker broker = LocalBroker.of(vertx);
    if (broker != null) {
      look(broker.users());
    }
    Users before = ofFile;
    try {
      read();
      problem = null;
    } catch (RefusedException e) {
      if (!e.words().equals(problem)) {
        LOG.error("the former users stay in force: {}", e.words());
      }
      problem = e.words();
    }
    if (ofFile != before) {
      LOG.info("{} has changed: it has {} users now", file, ofFile.all().size());
    }
    return null;
  }

  /** Whether there are users at all, so that requests need one. */
  public boolean hasUsers() {
    return file != null || oidc != null;
  }

  /** Whether tokens of an identity provider count, which are long. */
  public boolean takesLongTokens() {
    return oidc != null;
  }

  /**
   * The user of that name as it is now; where there are no users, whoever it is.
   *
   * @param name null: nobody in particular
   * @throws RefusedException UNAUTHENTICATED if there is no such user any more
   */
  public Principal named(String name) {
    if (name == null || !hasUsers()) {
      return Principal.ANYBODY;
    }
    if (isOfOidc(name)) {
      return principal(oidc.named(name));
    }
    Users.User user = users.named(name);
    if (user == null) {
      throw Refusal.UNAUTHENTICATED.error("the cluster has no user '%s' any more", name);
    }
    return user.principal();
  }

  /**
   * The groups and topics that a user may know of, or more than these.
   *
   * @param name null: nobody in particular
   */
  public GroupScope scope(String name) {
    try {
      return named(name).scope();
    } catch (RefusedException e) {
      // A user of the identity provider who has shown its token to another node.
      return GroupScope.ALL;
    }
  }

  /** Whether a name is that of a user of the identity provider, and of nobody else. */
  private boolean isOfOidc(String name) {
    return oidc != null && OidcNames.isOidc(name);
  }

  private static Principal principal(OidcUser user) {
    return new Principal(user.name(), user.may());
  }

  /** The users of the file. */
  public Users ofFile() {
    return ofFile;
  }

  /** Names of the users of the file and of the cluster. */
  public List<String> names() {
    return users.all().stream().map(Users.User::name).toList();
  }

  /** Whether a user of the file or of the cluster has a token with that id. */
  public boolean knowsToken(String id) {
    return users.knowsToken(id);
  }

  public AuditLog audit() {
    return audit;
  }

  /** What a program shows, for as long as its connection lives: its user may change meanwhile. */
  public final class Shown implements Caller {
    private final String token;
    private final String certificate;

    /** Whether the token is one for the identity provider's users. */
    private final boolean ofOidc;

    private Users of;

    /** Null: nobody of {@link #of}. */
    private Users.Found found;

    /** Of a token of the identity provider: what {@link #check} found. */
    private KnownToken known;

    private OidcUser user;
    private Principal principal;
    private RefusedException refused;

    private Shown(String token, String certificate) {
      this.token = token;
      this.certificate = certificate;
      ofOidc = oidc != null && OidcUsers.isToken(token);
    }

    @Override
    public synchronized boolean needsCheck() {
      if (!ofOidc || known != null) {
        return false;
      }
      known = oidc.known(token);
      return known == null;
    }

    @Override
    public Future<Void> check(String source) {
      return oidc.check(token, source)
          .transform(
              done -> {
                synchronized (this) {
                  known = done.result();
                  refused = done.failed() ? RefusedException.of(done.cause()) : null;
                }
                return Future.succeededFuture();
              });
    }

    @Override
    public synchronized Principal principal() {
      if (ofOidc) {
        return ofOidc();
      }
      Users now = users;
      if (now != of) {
        found = token != null ? now.ofToken(token) : now.ofCertificate(certificate);
        of = now;
      }
      if (!hasUsers()) {
        return Principal.ANYBODY;
      }
      try {
        if (found == null) {
          throw nobody();
        }
        Principal its = found.at(nowMillis.getAsLong());
        if (isOfOidc(its.name())) {
          throw Refusal.UNAUTHENTICATED.error(
              "names that begin with '%s' are of users of the identity provider: rename the user"
                  + " '%s'",
              OidcNames.PREFIX, its.name());
        }
        return its;
      } catch (RefusedException e) {
        if (e.refusal() == Refusal.UNAUTHENTICATED) {
          unknown.increment();
        }
        throw e;
      }
    }

    private RefusedException nobody() {
      return version == null && (certificate != null || Token.parse(token) != null)
          ? Refusal.UNAVAILABLE.error(
              "this node has started and does not know the users of the cluster yet: try again")
          : Refusal.UNAUTHENTICATED.error(words());
    }

    private Principal ofOidc() {
      try {
        if (known == null) {
          throw refused == null
              ? Refusal.UNAUTHENTICATED.error("the token was not checked")
              : refused;
        }
        OidcUser now = known.user();
        if (now != user) {
          user = now;
          principal = Access.principal(now);
        }
        return principal;
      } catch (RefusedException e) {
        unknown.increment();
        throw e;
      }
    }

    private String words() {
      if (token != null) {
        return "no user of the cluster has this token: it is wrong, or was removed";
      }
      return certificate == null
          ? "this cluster has users: show a token, or the certificate of one"
          : "no user of the cluster has the certificate '"
              + certificate
              + "', and there is no token";
    }
  }

  /**
   * @param token null: it shows none
   * @param session of its connection; null: not encrypted
   */
  public Caller caller(String token, SSLSession session) {
    return new Shown(token, token == null ? commonName(session) : null);
  }

  private static String commonName(SSLSession session) {
    try {
      return session != null
              && session.getPeerCertificates()[0] instanceof X509Certificate certificate
          ? CertificateNames.commonName(certificate)
          : null;
    } catch (SSLPeerUnverifiedException e) {
      return null;
    }
  }
}
