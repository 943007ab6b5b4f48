package dev.evenkeel.gateway.http;

import io.netty.handler.codec.http.TooLongHttpHeaderException;
import io.netty.handler.codec.http.TooLongHttpLineException;
import io.vertx.core.Handler;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.net.HostAndPort;
import java.net.URI;
import java.util.Locale;
import java.util.Set;

/**
 * Sees every request first, and refuses those that a foreign page may have made a browser send.
 *
 * <ul>
 *   <li>The header {@code Host} must name this node: see {@link HostNames}.
 *   <li>Requests that change something, and WebSockets, must not come from a page of another host
 *       or port. Programs other than browsers send no {@code Origin}.
 *   <li>Requests that change something must not have a content type that forms can have, because
 *       some browsers send forms without {@code Origin}.
 * </ul>
 */
record Guard(HostNames names, Connections connections, Handler<HttpServerRequest> next)
    implements Handler<HttpServerRequest> {
  private static final Set<HttpMethod> SAFE =
      Set.of(HttpMethod.GET, HttpMethod.HEAD, HttpMethod.OPTIONS);

  private static final Set<String> FORM_TYPES =
      Set.of("text/plain", "application/x-www-form-urlencoded", "multipart/form-data");

  /**
   * A day, and no years: it holds for every port of the host, also those of other programs there.
   */
  private static final String HSTS = "max-age=86400";

  private static final int SHOWN_CHARS_MAX = 100;

  @Override
  public void handle(HttpServerRequest request) {
    putHeaders(request);
    connections.received(request);
    ApiFailure overload = connections.refusal(request.connection());
    if (overload != null && NodeRoutes.isHealth(request.path())) {
      request
          .response()
          .putHeader(HttpHeaders.CONNECTION, HttpHeaders.CLOSE)
          .endHandler(ended -> request.connection().close());
      overload = null;
    }
    ApiFailure refusal = overload == null ? refusal(request) : overload;
    if (refusal == null) {
      next.handle(request);
      return;
    }
    Api.send(request.response(), refusal);
    if (overload != null) {
      request.connection().close();
    }
  }

  /** Answers what is not HTTP, or has too long a head. */
  void malformed(HttpServerRequest request) {
    Throwable cause = request.decoderResult().cause();
    putHeaders(request);
    ApiFailure failure;
    if (cause instanceof TooLongHttpLineException) {
      failure = new ApiFailure(414, "URI_TOO_LONG", "the path and query are too long");
    } else if (cause instanceof TooLongHttpHeaderException) {
      failure = new ApiFailure(431, "HEADERS_TOO_LARGE", "the headers are too large");
    } else {
      failure = ApiFailure.invalid("this is not a valid HTTP request");
    }
    Api.send(request.response(), failure);
    request.connection().close();
  }

  private static void putHeaders(HttpServerRequest request) {
    HttpServerResponse response = request.response();
    if (request.isSSL()) {
      response.putHeader("strict-transport-security", HSTS);
    }
    response
        .putHeader("x-content-type-options", "nosniff")
        .putHeader("x-frame-options", "DENY")
        .putHeader("referrer-policy", "no-referrer");
  }

  /** Why a request is refused; null: it is not. */
  private ApiFailure refusal(HttpServerRequest request) {
    ApiFailure host = hostRefusal(request);
    if (host != null) {
      return host;
    }
    boolean safe = isSafe(request.method());
    String origin = request.getHeader(HttpHeaders.ORIGIN);
    if ((!safe || upgrades(request)) && !sameOrigin(origin, request.authority(), request.isSSL())) {
      return new ApiFailure(
          403,
          "FORBIDDEN",
          "only pages of this node may do this: the Origin is '%s', and the Host is '%s'"
              .formatted(shown(origin), shown(request.getHeader(HttpHeaders.HOST))));
    }
    String type = Requests.contentType(request);
    if (!safe && FORM_TYPES.contains(type)) {
      return new ApiFailure(
          415,
          "forms can send '"
              + type
              + "', so it is refused: send content-type: application/json, or for a plain payload"
              + " application/octet-stream");
    }
    return null;
  }

  private ApiFailure hostRefusal(HttpServerRequest request) {
    int hosts = request.headers().getAll(HttpHeaders.HOST).size();
    if (hosts == 0 && request.version() == HttpVersion.HTTP_1_0) {
      // Some health checks. Browsers always send it.
      return null;
    }
    HostAndPort authority = request.authority();
    if (hosts != 1 || authority == null) {
      return ApiFailure.invalid("a request needs one Host header, with a host name or address");
    }
    if (!names.allow(authority.host())) {
      return new ApiFailure(
          421,
          "MISDIRECTED_REQUEST",
          "the Host '%s' is no name of this node: add it to the setting http-names, or use an IP"
                  .formatted(shown(authority.host()))
              + " address");
    }
    return null;
  }

  /** Whether requests of a method change nothing. */
  static boolean isSafe(HttpMethod method) {
    return SAFE.contains(method);
  }

  private static boolean upgrades(HttpServerRequest request) {
    return request.headers().contains(HttpHeaders.UPGRADE);
  }

  private static String shown(String header) {
    return header == null || header.length() <= SHOWN_CHARS_MAX
        ? header
        : header.substring(0, SHOWN_CHARS_MAX) + "…";
  }

  /**
   * @param origin the origin of the page, as a browser sends it; null from other programs
   * @param authority host and port of the request, or null
   * @param encrypted whether the request came with TLS: then the page did, too
   */
  static boolean sameOrigin(String origin, HostAndPort authority, boolean encrypted) {
    if (origin == null) {
      return true;
    }
    try {
      URI page = URI.create(origin);
      if (page.getHost() == null || authority == null) {
        return false;
      }
      boolean https = "https".equalsIgnoreCase(page.getScheme());
      if (encrypted && !https) {
        return false;
      }
      int usual = https ? 443 : 80;
      int pagePort = page.getPort() < 0 ? usual : page.getPort();
      int port = authority.port() <= 0 ? usual : authority.port();
      return page.getHost()
              .toLowerCase(Locale.ROOT)
              .equals(authority.host().toLowerCase(Locale.ROOT))
          && pagePort == port;
    } catch (IllegalArgumentException e) {
      return false;
    }
  }
}
