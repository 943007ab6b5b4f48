package dev.evenkeel.gateway.http;

import dev.evenkeel.client.TopicSettings;
import dev.evenkeel.settings.Setting;
import dev.evenkeel.util.Sha256;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;

/**
 * Serves the live page at {@code /} and its files below {@code /assets/} from the jar. Its headers
 * forbid the browser to load anything from elsewhere or to run other scripts. One script is made:
 * it has the {@link TopicSettings}.
 *
 * <p>It reads each of the about eighty files once, on a worker thread, and keeps it. Browsers check
 * every file for a newer version by its ETag, so that a page never mixes files of two versions;
 * only the files in {@code vendor/} never change.
 */
public final class PageRoutes {
  private static final String POLICY =
      "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self';"
          + " connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

  private static final Map<String, String> TYPES =
      Map.of(
          "html", "text/html; charset=utf-8",
          "css", "text/css; charset=utf-8",
          "js", "text/javascript; charset=utf-8",
          "svg", "image/svg+xml",
          "woff2", "font/woff2");

  private static final String SETTINGS = "js/topic-settings.js";

  /**
   * Only plain names with an ending: no leading dot and no two dots in a row, so that no path leads
   * out of the directory, and no directory, which some class loaders would read.
   */
  private static final Pattern PATH =
      Pattern.compile("(\\w[\\w-]*(\\.[\\w-]+)*/)*\\w[\\w-]*(\\.[\\w-]+)+");

  private static final int PATH_CHARS_MAX = 200;

  private record PageFile(Buffer bytes, String type, String tag, boolean unchanging) {}

  private final Vertx vertx;
  private final Map<String, PageFile> known = new ConcurrentHashMap<>();

  public PageRoutes(Vertx vertx) {
    this.vertx = vertx;
  }

  /** Answers GET and HEAD at {@code /} and below {@code /assets/}. */
  public void mount(Router router) {
    router.routeWithRegex("/|/assets/.*").handler(this::answer);
  }

  private void answer(RoutingContext context) {
    HttpMethod method = context.request().method();
    if (method != HttpMethod.GET && method != HttpMethod.HEAD) {
      context.response().putHeader(HttpHeaders.ALLOW, "GET, HEAD");
      context.fail(405);
      return;
    }
    String path = context.request().path();
    String name = path.equals("/") ? "index.html" : path.substring("/assets/".length());
    // The page itself has only one address.
    if (name.length() > PATH_CHARS_MAX
        || !PATH.matcher(name).matches()
        || name.equals("index.html") != path.equals("/")) {
      context.fail(404);
      return;
    }
    file(name)
        .onSuccess(
            file -> {
              if (file == null) {
                context.fail(404);
              } else {
                send(context, file);
              }
            })
        .onFailure(context::fail);
  }

  private Future<PageFile> file(String name) {
    PageFile file = known.get(name);
    if (file != null) {
      return Future.succeededFuture(file);
    }
    return vertx.executeBlocking(
        () -> {
          PageFile read = read(name);
          if (read != null) {
            known.put(name, read);
          }
          return read;
        },
        false);
  }

  /** Reads a file of the jar; null if there is none. */
  private static PageFile read(String name) throws IOException {
    String type = TYPES.get(name.substring(name.lastIndexOf('.') + 1));
    if (type == null) {
      return null;
    }
    try (InputStream in =
        name.equals(SETTINGS)
            ? new ByteArrayInputStream(settings().getBytes(StandardCharsets.UTF_8))
            : PageRoutes.class.getResourceAsStream("page/" + name)) {
      if (in == null) {
        return null;
      }
      byte[] bytes = in.readAllBytes();
      return new PageFile(Buffer.buffer(bytes), type, tag(bytes), name.startsWith("vendor/"));
    }
  }

  private static String settings() {
    JsonArray all = new JsonArray();
    for (Setting<?> each : TopicSettings.settings().all()) {
      all.add(
          new JsonObject()
              .put("name", each.key())
              .put("title", each.heading())
              .put("form", each.label())
              .put("usual", each.usual())
              .put("help", each.help()));
    }
    return "export const TOPIC_SETTINGS = " + all.encode() + ";\n";
  }

  /** A weak ETag, because the same file may be sent plain or compressed. */
  private static String tag(byte[] bytes) {
    return "W/\"" + HexFormat.of().formatHex(Sha256.of(bytes), 0, 12) + "\"";
  }

  private static void send(RoutingContext context, PageFile file) {
    HttpServerResponse response = context.response();
    if (response.ended() || response.closed()) {
      return;
    }
    response
        .putHeader(HttpHeaders.ETAG, file.tag())
        .putHeader(HttpHeaders.VARY, "accept-encoding")
        .putHeader(
            HttpHeaders.CACHE_CONTROL,
            file.unchanging() ? "public, max-age=31536000, immutable" : "no-cache")
        .putHeader("content-security-policy", POLICY);
    String had = context.request().getHeader(HttpHeaders.IF_NONE_MATCH);
    if (had != null && (had.strip().equals("*") || had.contains(file.tag()))) {
      response.setStatusCode(304).end();
      return;
    }
    response.putHeader(HttpHeaders.CONTENT_TYPE, file.type());
    if (context.request().method() == HttpMethod.HEAD) {
      response.putHeader(HttpHeaders.CONTENT_LENGTH, String.valueOf(file.bytes().length())).end();
    } else {
      response.end(file.bytes());
    }
  }
}
