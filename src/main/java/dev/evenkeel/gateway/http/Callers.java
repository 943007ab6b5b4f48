package dev.evenkeel.gateway.http;

import dev.evenkeel.api.ApiAddresses;
import dev.evenkeel.api.Operation;
import dev.evenkeel.api.Operations;
import dev.evenkeel.api.RecordJson;
import dev.evenkeel.api.UserView;
import dev.evenkeel.gateway.Strangers;
import dev.evenkeel.gateway.access.Access;
import dev.evenkeel.gateway.access.ApiRules;
import dev.evenkeel.gateway.access.Caller;
import dev.evenkeel.gateway.access.Principal;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.Future;
import io.vertx.core.http.Cookie;
import io.vertx.core.http.CookieSameSite;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import javax.net.ssl.SSLSession;

/**
 * Finds out who sends a request: by a token in the header {@code Authorization} or in a cookie, or
 * by the certificate of the connection. Where there are users, everything needs one of them, except
 * the page with its files, the description of the API, the health, and {@code /api/session}.
 *
 * <p>{@code POST /api/session {"token"}} begins one of the {@link Logins}, whose id is in a cookie
 * that scripts cannot read and other pages cannot use; {@code DELETE} ends it, and {@code GET} says
 * who is asking.
 */
record Callers(Access access, Logins logins, RequestBodies bodies, Connections connections) {
  private static final String COOKIE = "evenkeel-session";

  /** A browser takes it with TLS only, for all paths, and from this host only: see RFC 6265bis. */
  private static final String TLS_COOKIE = "__Host-evenkeel-session";

  /** It had the token itself, in former versions. */
  private static final String FORMER_COOKIE = "evenkeel-token";

  private static final String BEARER = "bearer ";
  private static final String CALLER = "evenkeel.caller";
  private static final String VIA = "http";
  private static final Pattern PAGE = Pattern.compile("/|/assets/[\\w./-]*");

  /** The paths at which some operation needs no user. */
  private static final Set<String> OPEN =
      Operations.all().stream()
          .filter(Operation::isOpen)
          .map(Operation::path)
          .collect(Collectors.toUnmodifiableSet());

  private static final int BODY_BYTES_MAX = (4 << 10) + Limits.TOKEN_CHARS_MAX;

  /** Comes before all other routes. */
  void mount(Router router) {
    router.route().handler(this::identify);
    JsonRoutes.route(router, Operations.WHO_AM_I).handler(this::who);
    JsonRoutes.route(router, Operations.LOG_IN)
        .handler(bodies.upTo(BODY_BYTES_MAX))
        .handler(this::enter);
    JsonRoutes.route(router, Operations.LOG_OUT).handler(this::leave);
  }

  /** Only paths in the form in which the routes have them, so that none leads elsewhere. */
  private static boolean isOpen(String path) {
    return OPEN.contains(path) || PAGE.matcher(path).matches() && !path.contains("..");
  }

  private void identify(RoutingContext context) {
    HttpServerRequest request = context.request();
    Caller caller = caller(request);
    context.put(CALLER, caller);
    if (cookieWithoutOrigin(request)) {
      Api.fail(
          context,
          new ApiFailure(
              403,
              "FORBIDDEN",
              "a change with the cookie needs the header Origin, which browsers send: other"
                  + " programs send the token in the header Authorization"));
      return;
    }
    if (!caller.needsCheck()) {
      identified(context, caller);
      return;
    }
    request.pause();
    caller
        .check(Strangers.source(request.remoteAddress()))
        .onComplete(
            done -> {
              request.resume();
              identified(context, caller);
            });
  }

  private void identified(RoutingContext context, Caller caller) {
    HttpServerRequest request = context.request();
    if (!isOpen(request.path())) {
      try {
        Principal principal = caller.principal();
        if (principal.bound()) {
          connections.identified(request.connection(), principal.name());
        }
      } catch (RefusedException e) {
        if (e.refusal() == Refusal.OVERLOADED) {
          Api.fail(context, e);
          return;
        }
        denied(context, null, request.method() + " " + request.path(), e);
        if (e.refusal() == Refusal.UNAUTHENTICATED) {
          context.response().putHeader("www-authenticate", "Bearer");
        }
        Api.fail(context, e);
        return;
      }
    }
    context.next();
  }

  /**
   * Whether a request may come from a page of others: it would change something, it is allowed by
   * the cookie alone, and no {@code Origin} says which page it is from. {@link Guard} compares
   * those that are there.
   */
  private static boolean cookieWithoutOrigin(HttpServerRequest request) {
    return !Guard.isSafe(request.method())
        && request.getHeader(HttpHeaders.ORIGIN) == null
        && request.getHeader(HttpHeaders.AUTHORIZATION) == null
        && login(request) != null;
  }

  private static SSLSession session(HttpServerRequest request) {
    return request.isSSL() ? request.sslSession() : null;
  }

  private Caller caller(HttpServerRequest request) {
    String header = request.getHeader(HttpHeaders.AUTHORIZATION);
    if (header != null) {
      boolean bearer = header.regionMatches(true, 0, BEARER, 0, BEARER.length());
      String token = bearer ? header.substring(BEARER.length()).strip() : header;
      return access.caller(token, session(request));
    }
    String login = login(request);
    return login != null && access.hasUsers()
        ? logins.caller(login)
        : access.caller(null, session(request));
  }

  private static String cookieName(HttpServerRequest request) {
    return request.isSSL() ? TLS_COOKIE : COOKIE;
  }

  /** The id of the log-in of a browser, or null. */
  private static String login(HttpServerRequest request) {
    Cookie cookie = request.getCookie(cookieName(request));
    return cookie == null || cookie.getValue().isEmpty() ? null : cookie.getValue();
  }

  /** Who sends a request, for as long as its connection lives. */
  static Caller caller(RoutingContext context) {
    return context.get(CALLER);
  }

  /**
   * Who sends a request.
   *
   * @throws RefusedException UNAUTHENTICATED
   */
  static Principal principal(RoutingContext context) {
    return caller(context).principal();
  }

  /** The name of whoever sends a request; null: unknown. */
  static String user(RoutingContext context) {
    try {
      return principal(context).name();
    } catch (RefusedException unauthenticated) {
      return null;
    }
  }

  /**
   * Checks a question to an {@code evenkeel.api} address.
   *
   * @throws RefusedException UNAUTHENTICATED or FORBIDDEN, after it was noted
   */
  void check(RoutingContext context, String address, JsonObject question) {
    Principal principal = principal(context);
    try {
      ApiRules.check(principal, address, question);
    } catch (RefusedException e) {
      denied(context, principal, ApiRules.words(address, question), e);
      throw e;
    }
  }

  /**
   * The refusal of something that needs another permission, after it was noted.
   *
   * @param needed the permission
   */
  RefusedException refusal(RoutingContext context, String action, String needed) {
    Principal principal = principal(context);
    RefusedException refused = principal.denied(needed);
    denied(context, principal, action, refused);
    return refused;
  }

  private void denied(
      RoutingContext context, Principal principal, String action, RefusedException refused) {
    access
        .audit()
        .denied(
            principal == null ? null : principal.name(),
            source(context),
            VIA,
            action,
            refused.words());
  }

  /** Notes the end of an administrative act, or of messages that a person sent from a page. */
  void acted(
      RoutingContext context,
      Principal principal,
      String address,
      JsonObject question,
      Throwable failure) {
    boolean sent =
        address.equals(ApiAddresses.PRODUCE)
            && context.request().getHeader(HttpHeaders.ORIGIN) != null;
    if (sent || ApiRules.changes(address, question)) {
      access
          .audit()
          .acted(
              principal.name(),
              source(context),
              VIA,
              ApiRules.words(address, question),
              failure == null ? null : ApiFailure.of(failure).getMessage());
    }
  }

  private static String source(RoutingContext context) {
    return context.request().remoteAddress() == null
        ? null
        : context.request().remoteAddress().hostAddress();
  }

  private void who(RoutingContext context) {
    Requests.query(context);
    Api.send(context, 200, Logins.view(principal(context)));
  }

  private void enter(RoutingContext context) {
    Requests.query(context);
    String token = Operations.LOG_IN.question(Requests.object(context)).token().strip();
    Caller caller = access.caller(token, null);
    if (!caller.needsCheck()) {
      entered(context, caller);
      return;
    }
    caller
        .check(Strangers.source(context.request().remoteAddress()))
        .onComplete(done -> entered(context, caller));
  }

  private void entered(RoutingContext context, Caller caller) {
    Principal principal;
    try {
      principal = caller.principal();
      if (access.hasUsers()) {
        // Whoever logs in anew has no use for the log-in before.
        endLogin(context.request());
        // No Max-Age: the browser forgets it when it is closed.
        put(context, cookieName(context.request()), logins.open(caller, principal));
      }
    } catch (RefusedException e) {
      denied(context, null, "log in", e);
      Api.fail(context, e);
      return;
    }
    Api.send(context, 200, Logins.view(principal));
  }

  private void leave(RoutingContext context) {
    endLogin(context.request())
        .onComplete(
            done -> {
              // Not before: the request has the cookies of its answer, too.
              put(context, cookieName(context.request()), null);
              Api.send(context, 200, RecordJson.json(new UserView(null, null)));
            });
  }

  private Future<Void> endLogin(HttpServerRequest request) {
    String login = login(request);
    return login == null
        ? Future.succeededFuture()
        : logins.end(login, Strangers.source(request.remoteAddress()));
  }

  /**
   * Puts a cookie into the answer, and removes the one of former versions.
   *
   * @param value null: removes it
   */
  private static void put(RoutingContext context, String name, String value) {
    HttpServerRequest request = context.request();
    if (request.getCookie(FORMER_COOKIE) != null) {
      context.response().addCookie(cookie(request, FORMER_COOKIE, "").setMaxAge(0));
    }
    Cookie cookie = cookie(request, name, value == null ? "" : value);
    context.response().addCookie(value == null ? cookie.setMaxAge(0) : cookie);
  }

  private static Cookie cookie(HttpServerRequest request, String name, String value) {
    return Cookie.cookie(name, value)
        .setPath("/")
        .setHttpOnly(true)
        // A browser would not send it back over a plain connection, which only loopback has.
        .setSecure(request.isSSL())
        .setSameSite(CookieSameSite.STRICT);
  }
}
