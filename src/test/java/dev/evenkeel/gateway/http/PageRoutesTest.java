package dev.evenkeel.gateway.http;

import static dev.evenkeel.Futures.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Closing;
import dev.evenkeel.client.TopicSettings;
import dev.evenkeel.settings.Setting;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.client.HttpResponse;
import io.vertx.ext.web.client.WebClient;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The files of the live page over HTTP. */
class PageRoutesTest {
  @Closing private final Vertx vertx = Vertx.vertx();
  private final WebClient client = WebClient.create(vertx);
  private int port;

  @BeforeEach
  void start() throws Exception {
    WebVerticle web = new WebVerticle();
    await(
        vertx.deployVerticle(
            web, new DeploymentOptions().setConfig(new JsonObject().put("port", 0))));
    port = web.actualPort();
  }

  private HttpResponse<Buffer> call(HttpMethod method, String path) throws Exception {
    return await(client.request(method, port, "127.0.0.1", path).send());
  }

  private static Path files() throws URISyntaxException {
    return Path.of(PageRoutes.class.getResource("page/index.html").toURI()).getParent();
  }

  private static List<Path> sources(String... endings) throws Exception {
    try (Stream<Path> all = Files.walk(files())) {
      return all.filter(Files::isRegularFile)
          .filter(file -> Stream.of(endings).anyMatch(end -> file.toString().endsWith(end)))
          .toList();
    }
  }

  @Test
  void thePageAllowsItsOwnFilesOnly() throws Exception {
    HttpResponse<Buffer> page = call(HttpMethod.GET, "/");
    assertThat(page.statusCode()).isEqualTo(200);
    assertThat(page.getHeader("content-type")).isEqualTo("text/html; charset=utf-8");
    assertThat(page.getHeader("x-content-type-options")).isEqualTo("nosniff");
    assertThat(page.getHeader("cache-control")).isEqualTo("no-cache");
    assertThat(page.getHeader("content-security-policy"))
        .contains("default-src 'none'", "script-src 'self'", "connect-src 'self'")
        .doesNotContain("unsafe", "*", "http:", "https:", "data:");
  }

  @Test
  void everyFileHasItsTypeAndIsSent() throws Exception {
    for (Path file : sources(".js", ".css", ".svg", ".woff2")) {
      String path = "/assets/" + files().relativize(file);
      HttpResponse<Buffer> answer = call(HttpMethod.GET, path);
      assertThat(answer.statusCode()).as(path).isEqualTo(200);
      assertThat(answer.body().getBytes()).as(path).isEqualTo(Files.readAllBytes(file));
      assertThat(answer.getHeader("content-type"))
          .as(path)
          .matches("text/(javascript|css); charset=utf-8|image/svg\\+xml|font/woff2");
      assertThat(answer.getHeader("cache-control"))
          .isEqualTo(
              path.contains("/vendor/") ? "public, max-age=31536000, immutable" : "no-cache");
    }
  }

  /** Which the page has from nowhere else. */
  @Test
  void theSettingsOfATopicAreAScript() throws Exception {
    HttpResponse<Buffer> script = call(HttpMethod.GET, "/assets/js/topic-settings.js");
    assertThat(script.getHeader("content-type")).startsWith("text/javascript");
    String text = script.bodyAsString();
    assertThat(text).startsWith("export const TOPIC_SETTINGS = [{\"name\":\"retentionMillis\"");
    for (Setting<?> each : TopicSettings.settings().all()) {
      assertThat(text).contains(each.key(), each.help());
    }
    assertThat(text).contains("\"title\":\"max bytes a shard\",\"form\":\"SIZE|off\",\"usual\":-1");
  }

  @Test
  void anUnchangedFileIsNotSentAgain() throws Exception {
    String tag = call(HttpMethod.GET, "/").getHeader("etag");
    var again = await(client.get(port, "127.0.0.1", "/").putHeader("if-none-match", tag).send());
    assertThat(again.statusCode()).isEqualTo(304);
    assertThat(again.body()).isNull();
    assertThat(again.getHeader("etag")).isEqualTo(tag);
    HttpResponse<Buffer> other =
        await(client.get(port, "127.0.0.1", "/").putHeader("if-none-match", "\"x\"").send());
    assertThat(other.statusCode()).isEqualTo(200);
  }

  @Test
  void headAndWrongMethods() throws Exception {
    HttpResponse<Buffer> head = call(HttpMethod.HEAD, "/assets/js/main.js");
    assertThat(head.statusCode()).isEqualTo(200);
    assertThat(head.body()).isNull();
    assertThat(head.getHeader("content-type")).startsWith("text/javascript");
    for (String path : List.of("/", "/assets/js/main.js")) {
      HttpResponse<Buffer> post = call(HttpMethod.POST, path);
      assertThat(post.statusCode()).isEqualTo(405);
      assertThat(post.getHeader("allow")).isEqualTo("GET, HEAD");
      assertThat(post.bodyAsJsonObject().getString("error")).isEqualTo("METHOD_NOT_ALLOWED");
    }
  }

  @Test
  void nothingElseIsSent() throws Exception {
    for (String path :
        List.of(
            "/assets/",
            "/assets/js",
            "/assets/js/",
            "/assets/js/nowhere.js",
            "/assets/index.html",
            "/assets/vendor/README.md",
            "/assets/../page/index.html",
            "/assets/..%2f..%2fweb%2fopenapi.json",
            "/assets/js/../../WebVerticle.class",
            "/assets/js//main.js",
            "/assets/" + "a".repeat(300) + ".js")) {
      assertThat(call(HttpMethod.GET, path).statusCode()).as(path).isEqualTo(404);
    }
  }

  /** Comments and licences may name addresses; what is loaded may not. */
  @Test
  void noFileLoadsAnythingFromOutside() throws Exception {
    Pattern loads =
        Pattern.compile(
            "(?:\\b(?:from|import|src=|href=|fetch|WebSocket|url)\\s*\\(?\\s*['\"]|url\\()"
                + "\\s*((?:https?:|wss?:|ftp:)?//[^'\")\\s]+|data:[^'\")]+)");
    for (Path file : sources(".js", ".css", ".html", ".svg")) {
      Matcher matcher = loads.matcher(read(file));
      assertThat(matcher.find()).as(() -> file + " loads " + matcher.group(1)).isFalse();
    }
  }

  @Test
  void thePageHasNoScriptOrStyleOfItsOwnInside() throws Exception {
    String page = read(files().resolve("index.html"));
    assertThat(page).doesNotContain("style=", "<style", " on", "javascript:");
    assertThat(page).contains("<script type=\"module\" src=\"assets/js/main.js\"></script>");
  }

  private static String read(Path file) throws IOException {
    return Files.readString(file);
  }
}
