package dev.evenkeel.functional;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.TestCertificates;
import dev.evenkeel.Wait;
import dev.evenkeel.util.tls.TlsFiles;
import dev.evenkeel.util.tls.TlsIdentity;
import io.vertx.core.json.JsonObject;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A browser logs in once, whichever node of a cluster its requests reach. */
@Timeout(300)
class LoginsIT {
  @TempDir Path directory;
  private HttpClient http;

  private static URI uri(Node node, String path) {
    return URI.create(node.url().replace("http:", "https:") + path);
  }

  private HttpResponse<String> send(Node node, String method, String path, String cookie)
      throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(uri(node, path))
            .method(method, HttpRequest.BodyPublishers.noBody())
            .header("cookie", cookie)
            .header("origin", uri(node, "").toString())
            .build();
    return http.send(request, HttpResponse.BodyHandlers.ofString());
  }

  private int status(Node node, String cookie) throws Exception {
    return send(node, "GET", "/api/topics", cookie).statusCode();
  }

  private String logIn(Node node, String token) throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(uri(node, "/api/session"))
            .header("content-type", "application/json")
            .POST(
                HttpRequest.BodyPublishers.ofString(new JsonObject().put("token", token).encode()))
            .build();
    HttpResponse<String> entered = http.send(request, HttpResponse.BodyHandlers.ofString());
    assertThat(entered.statusCode()).as(entered.body()).isEqualTo(200);
    String cookie = entered.headers().firstValue("set-cookie").orElseThrow();
    return cookie.substring(0, cookie.indexOf(';'));
  }

  @Test
  void aLogInCountsAtEveryNodeUntilItsNodeStops() throws Exception {
    Path ca = TestCertificates.OURS.resolve("clients").resolve("ca.crt");
    http =
        HttpClient.newBuilder()
            .sslContext(TlsIdentity.open(TlsFiles.trusting(ca)).context())
            .build();
    try (SecuredTrio cluster = new SecuredTrio(directory, List.of()).start()) {
      Node first = cluster.nodes.get(0);
      Node second = cluster.nodes.get(1);
      String token = cluster.token("operator");
      String cookie = logIn(first, token);
      assertThat(send(second, "GET", "/api/session", cookie).body()).contains("operator");
      for (Node each : cluster.nodes) {
        assertThat(status(each, cookie)).isEqualTo(200);
      }
      assertThat(send(second, "DELETE", "/api/session", cookie).statusCode()).isEqualTo(200);
      assertThat(status(second, cookie)).isEqualTo(401);
      assertThat(status(first, cookie)).isEqualTo(401);
      // The third may remember it for a second.
      Wait.until(() -> status(cluster.nodes.get(2), cookie) == 401);

      String again = logIn(first, token);
      assertThat(status(second, again)).isEqualTo(200);
      first.process().close();
      Wait.until("the end of the log-in", () -> status(second, again) == 401);
      assertThat(status(second, logIn(second, token))).isEqualTo(200);
    }
  }
}
