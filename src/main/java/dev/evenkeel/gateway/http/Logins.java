package dev.evenkeel.gateway.http;

import dev.evenkeel.api.Permission;
import dev.evenkeel.api.RecordJson;
import dev.evenkeel.api.UserView;
import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.ClusterInSight;
import dev.evenkeel.bus.LocalObjects;
import dev.evenkeel.bus.share.FairShare;
import dev.evenkeel.bus.share.Scarce;
import dev.evenkeel.bus.share.Shares;
import dev.evenkeel.gateway.access.Caller;
import dev.evenkeel.gateway.access.Principal;
import dev.evenkeel.protocol.ClusterNode;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.eventbus.DeliveryOptions;
import io.vertx.core.eventbus.ReplyException;
import io.vertx.core.eventbus.ReplyFailure;
import io.vertx.core.json.JsonObject;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The log-ins of browsers. Each has a random id that the browser keeps in a cookie, and the token
 * stays in the memory of the node at which it was made, which the id names. The other nodes ask
 * that one who has logged in, so it does not matter to which of them a proxy sends a request. A
 * log-in ends with its node.
 *
 * <p>For use on the context of the HTTP server.
 */
final class Logins {
  /** From the log-in to its end. */
  static final long MILLIS_MAX = 12 * 3_600_000L;

  /** From the last request to the end. An open page asks all the time. */
  static final long IDLE_MILLIS_MAX = 3_600_000;

  /** How long an answer of another node counts. */
  static final long FRESH_MILLIS = 1_000;

  /** How long it counts if the other node does not answer. */
  static final long STALE_MILLIS = 5_000;

  private static final int LOGINS_MAX = 2_000;

  /** Log-ins of other nodes that are remembered. */
  private static final int ELSEWHERE_MAX = 1_000;

  /** Questions to other nodes that wait for answers. */
  private static final int ASKED_MAX = 200;

  private static final long SWEEP_MILLIS = 60_000;
  private static final int SECRET_BYTES = 32;
  private static final Pattern FORM = Pattern.compile("([\\w.-]{1,120})\\.([\\w-]{43})");

  private static final SecureRandom RANDOM = new SecureRandom();

  private record Login(Caller caller, FairShare.Account account, long sinceMillis, long[] used) {}

  private final Vertx vertx;
  private final String node;
  private final List<String> formed;
  private final LongSupplier clock;
  private final FairShare share;

  /** In the order in which they were made. */
  private final Map<String, Login> here = new LinkedHashMap<>();

  /** In the order in which they were used. */
  private final Map<String, Elsewhere> elsewhere = new LinkedHashMap<>(16, 0.75f, true);

  private int asked;

  /** Of these, by where the requests come from. */
  private final Map<String, Integer> askedBySource = new HashMap<>();

  /**
   * @param node id of this node
   * @param formed ids of the nodes that have formed the cluster
   * @param clock milliseconds of a monotonic clock
   */
  Logins(Vertx vertx, String node, List<String> formed, LongSupplier clock) {
    this.vertx = vertx;
    this.node = node;
    this.formed = formed;
    this.clock = clock;
    share = Shares.of(vertx).divide(Scarce.LOGINS, LOGINS_MAX);
  }

  /** Answers other nodes from now on. */
  Future<Void> start() {
    vertx.setPeriodic(SWEEP_MILLIS, timer -> sweep());
    return vertx
        .eventBus()
        .<JsonObject>consumer(
            Addresses.logins(node), message -> message.reply(answer(message.body())))
        .completion();
  }

  private JsonObject answer(JsonObject question) {
    if (question.getString("ends") != null) {
      remove(question.getString("ends"));
      return new JsonObject();
    }
    try {
      return view(principalHere(question.getString("of", "")));
    } catch (RefusedException e) {
      return new JsonObject();
    }
  }

  /** A user, as the API shows one. */
  static JsonObject view(Principal principal) {
    return RecordJson.json(
        new UserView(
            principal.name(), principal.may().stream().map(Permission::toString).toList()));
  }

  /**
   * Logs somebody in. If the user has too many log-ins, its oldest ends.
   *
   * @param caller who has shown a token
   * @return the id
   * @throws RefusedException OVERLOADED if there are too many of others
   */
  String open(Caller caller, Principal principal) {
    FairShare.Account account = share.of(principal.name());
    if (!account.tryTake(1)) {
      here.entrySet().stream()
          .filter(each -> each.getValue().account() == account)
          .map(Map.Entry::getKey)
          .findFirst()
          .ifPresent(this::remove);
      account.take(1);
    }
    byte[] secret = new byte[SECRET_BYTES];
    RANDOM.nextBytes(secret);
    String id = node + "." + Base64.getUrlEncoder().withoutPadding().encodeToString(secret);
    long now = clock.getAsLong();
    here.put(id, new Login(caller, account, now, new long[] {now}));
    return id;
  }

  private void remove(String id) {
    Login ended = here.remove(id);
    if (ended != null) {
      ended.account().give(1);
    }
  }

  /** Ends those that are over. */
  void sweep() {
    List.copyOf(here.keySet()).stream()
        .filter(id -> isOver(here.get(id)))
        .toList()
        .forEach(this::remove);
  }

  private boolean isOver(Login login) {
    long now = clock.getAsLong();
    return now - login.sinceMillis() >= MILLIS_MAX || now - login.used()[0] >= IDLE_MILLIS_MAX;
  }

  /** Who has logged in here with that id. */
  private Principal principalHere(String id) {
    Login login = here.get(id);
    if (login == null || isOver(login)) {
      remove(id);
      throw ended();
    }
    login.used()[0] = clock.getAsLong();
    try {
      return login.caller().principal();
    } catch (RefusedException e) {
      remove(id);
      throw e;
    }
  }

  private static RefusedException ended() {
    return Refusal.UNAUTHENTICATED.error("the log-in of this browser has ended: log in again");
  }

  /** Who sends a request with this id in the cookie. */
  Caller caller(String id) {
    String at = nodeOf(id);
    if (at == null || at.equals(node)) {
      return new Here(id);
    }
    Elsewhere known = elsewhere.get(id);
    return known == null ? new Elsewhere(id, at) : known;
  }

  /** The node of a log-in, if this cluster has it; else null. */
  private String nodeOf(String id) {
    Matcher matcher = FORM.matcher(id);
    if (!matcher.matches()) {
      return null;
    }
    String at = matcher.group(1);
    return at.equals(node) || isNode(at) ? at : null;
  }

  private boolean isNode(String at) {
    ClusterInSight cluster = LocalObjects.get(vertx, ClusterInSight.class);
    List<ClusterNode> now = cluster == null ? List.of() : cluster.nodes().get();
    return now.isEmpty()
        ? formed.contains(at)
        : now.stream().anyMatch(each -> each.id().equals(at));
  }

  /**
   * Ends a log-in; does nothing if it has ended. The future does not fail.
   *
   * @param source where the request comes from, as {@code Strangers} counts it
   */
  Future<Void> end(String id, String source) {
    elsewhere.remove(id);
    String at = nodeOf(id);
    if (at == null || at.equals(node)) {
      remove(id);
      return Future.succeededFuture();
    }
    return ask(at, new JsonObject().put("ends", id), source)
        .transform(done -> Future.succeededFuture());
  }

  /** Whoever invents ids leaves room for the questions of others. */
  private Future<JsonObject> ask(String at, JsonObject question, String source) {
    int own = askedBySource.getOrDefault(source, 0);
    if (!FairShare.fits(own, asked, 1, ASKED_MAX, 1)) {
      return Future.failedFuture("too many questions wait for answers");
    }
    asked++;
    askedBySource.put(source, own + 1);
    return vertx
        .eventBus()
        .<JsonObject>request(
            Addresses.logins(at), question, new DeliveryOptions().setSendTimeout(STALE_MILLIS))
        .map(reply -> reply.body())
        .onComplete(
            done -> {
              asked--;
              askedBySource.computeIfPresent(source, (any, now) -> now == 1 ? null : now - 1);
            });
  }

  /** How many there are. */
  int count() {
    return here.size();
  }

  /** A log-in at this node. */
  private final class Here implements Caller {
    private final String id;

    Here(String id) {
      this.id = id;
    }

    @Override
    public boolean needsCheck() {
      return false;
    }

    @Override
    public Future<Void> check(String source) {
      return Future.succeededFuture();
    }

    @Override
    public Principal principal() {
      return principalHere(id);
    }
  }

  /** A log-in at another node, which says who it is. */
  private final class Elsewhere implements Caller {
    private final String id;
    private final String at;
    private Future<Void> asking;
    private String askedFrom = "";
    private Principal principal;
    private RefusedException refused;
    private long answeredMillis;

    Elsewhere(String id, String at) {
      this.id = id;
      this.at = at;
    }

    private boolean isOlder(long millis) {
      return principal == null || clock.getAsLong() - answeredMillis >= millis;
    }

    @Override
    public boolean needsCheck() {
      return refused == null && isOlder(FRESH_MILLIS);
    }

    @Override
    public Future<Void> check(String source) {
      if (asking == null) {
        askedFrom = source;
        Future<Void> question =
            ask(at, new JsonObject().put("of", id), source)
                .transform(
                    done -> {
                      asking = null;
                      if (done.succeeded()) {
                        answered(done.result());
                      } else if (done.cause() instanceof ReplyException failure
                          && failure.failureType() == ReplyFailure.NO_HANDLERS) {
                        answered(new JsonObject());
                      }
                      return Future.succeededFuture();
                    });
        asking = question.isComplete() ? null : question;
        return question;
      }
      return asking;
    }

    private void answered(JsonObject view) {
      String user = view.getString("user");
      if (user == null) {
        refused = ended();
        elsewhere.remove(id);
        return;
      }
      List<Permission> may =
          view.getJsonArray("may").stream().map(each -> Permission.parse((String) each)).toList();
      Principal now = new Principal(user, may);
      principal = now.equals(principal) ? principal : now;
      answeredMillis = clock.getAsLong();
      elsewhere.put(id, this);
      if (elsewhere.size() > ELSEWHERE_MAX) {
        elsewhere.remove(elsewhere.keySet().iterator().next());
      }
    }

    @Override
    public Principal principal() {
      if (needsCheck()) {
        // The live view asks all the time, and takes the answer before.
        check(askedFrom);
      }
      if (refused != null) {
        throw refused;
      }
      if (isOlder(STALE_MILLIS)) {
        throw Refusal.UNAVAILABLE.error(
            "the node '%s', at which this browser has logged in, does not answer: try again, or"
                + " log in again",
            at);
      }
      return principal;
    }
  }
}
