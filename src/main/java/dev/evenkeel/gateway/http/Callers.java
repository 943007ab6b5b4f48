package dev.evenkeel.gateway.http;

import dev.evenkeel.api.ApiAddresses;
import dev.evenkeel.api.Operation;
import dev.evenkeel.api.Operations;
import dev.evenkeel.api.Permission;
import dev.evenkeel.api.RecordJson;
import dev.evenkeel.api.UserView;
import dev.evenkeel.gateway.Strangers;
import dev.evenkeel.gateway.access.Access;
import dev.evenkeel.gateway.access.ApiRules;
import dev.evenkeel.gateway.access.Principal;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
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
 * <p>{@code POST /api/session {"token"}} puts the token into a cookie that scripts cannot read and
 * other pages cannot use, {@code DELETE} removes it, and {@code GET} says who is asking.
 */
record Callers(Access access, RequestBodies bodies, Connections connections) {
  private static final String COOKIE = "evenkeel-token";
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
    JsonRoutes.route(router, Operations.LOG_OUT).handler(Callers::leave);
  }

  /** Only paths in the form in which the routes have them, so that none leads elsewhere. */
  private static boolean isOpen(String path) {
    return OPEN.contains(path) || PAGE.matcher(path).matches() && !path.contains("..");
  }

  private void identify(RoutingContext context) {
    HttpServerRequest request = context.request();
    Access.Caller caller = access.caller(token(request), session(request));
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

  private void identified(RoutingContext context, Access.Caller caller) {
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
        && request.getCookie(COOKIE) != null;
  }

  private static SSLSession session(HttpServerRequest request) {
    return request.isSSL() ? request.sslSession() : null;
  }

  private static String token(HttpServerRequest request) {
    String header = request.getHeader(HttpHeaders.AUTHORIZATION);
    if (header != null) {
      return header.regionMatches(true, 0, BEARER, 0, BEARER.length())
          ? header.substring(BEARER.length()).strip()
          : header;
    }
    Cookie cookie = request.getCookie(COOKIE);
    return cookie == null ? null : cookie.getValue();
  }

  /** Who sends a request, for as long as its connection lives. */
  static Access.Caller caller(RoutingContext context) {
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
    Api.send(context, 200, json(principal(context)));
  }

  private static JsonObject json(Principal principal) {
    return RecordJson.json(
        new UserView(
            principal.name(), principal.may().stream().map(Permission::toString).toList()));
  }

  private void enter(RoutingContext context) {
    Requests.query(context);
    String token = Operations.LOG_IN.question(Requests.object(context)).token().strip();
    Access.Caller caller = access.caller(token, null);
    if (!caller.needsCheck()) {
      entered(context, token, caller);
      return;
    }
    caller
        .check(Strangers.source(context.request().remoteAddress()))
        .onComplete(done -> entered(context, token, caller));
  }

  private void entered(RoutingContext context, String token, Access.Caller caller) {
    Principal principal;
    try {
      principal = caller.principal();
    } catch (RefusedException e) {
      denied(context, null, "log in", e);
      Api.fail(context, e);
      return;
    }
    // Without users any text is a token, and not every text is a cookie.
    if (access.hasUsers()) {
      // No Max-Age: the browser forgets it when it is closed.
      context.response().addCookie(cookie(context, token));
    }
    Api.send(context, 200, json(principal));
  }

  private static void leave(RoutingContext context) {
    context.response().addCookie(cookie(context, "").setMaxAge(0));
    Api.send(context, 200, RecordJson.json(new UserView(null, null)));
  }

  private static Cookie cookie(RoutingContext context, String value) {
    return Cookie.cookie(COOKIE, value)
        .setPath("/")
        .setHttpOnly(true)
        // A browser would not send it back over a plain connection, which only loopback has.
        .setSecure(context.request().isSSL())
        .setSameSite(CookieSameSite.STRICT);
  }
}
