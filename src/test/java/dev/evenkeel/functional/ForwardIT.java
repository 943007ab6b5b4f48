package dev.evenkeel.functional;

import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.TestUsers;
import dev.evenkeel.Wait;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The example of a service that answers first and forwards then: while the cluster is away it takes
 * what fits into its spool and refuses the rest early; killed and started again it loses nothing
 * that it accepted.
 */
@Tag("full")
class ForwardIT {
  private static final long SPOOL_BYTES = 32 << 20;
  private static final int ORDER_BYTES = 256 << 10;
  private static final Pattern LISTENING = Pattern.compile("listening on (\\d+)");

  @TempDir Path directory;

  private final HttpClient http = HttpClient.newHttpClient();
  private final Set<String> accepted = new HashSet<>();

  /** Without an answer. */
  private final Set<String> unsure = new HashSet<>();

  private int number;
  private int services;

  @Test
  @Timeout(600)
  void itRefusesEarlyAndLosesNothingThatItAccepted() throws Exception {
    try (Node node = new Node(directory.resolve("node")).start()) {
      node.createTopic("orders", 3);
      Jar.Running service = service(node);
      int port = port(service);
      times(20, i -> assertThat(status(post(port))).isEqualTo(202));
      node.kill();
      HttpResponse<String> last = post(port);
      for (int i = 0; (last == null || last.statusCode() == 202) && i < 1_000; i++) {
        last = post(port);
      }
      assertThat(status(last)).isEqualTo(429);
      assertThat(last.headers().firstValue("retry-after")).hasValue("1");
      assertThat(accepted.size() * (long) ORDER_BYTES).isGreaterThan(SPOOL_BYTES * 3 / 4);
      assertThat(service.process.isAlive()).isTrue();
      // With all of that in its spool.
      service.kill();

      node.start();
      try (Jar.Running next = service(node)) {
        int again = port(next);
        Wait.until("there is room again", 120, () -> status(post(again)) == 202);
        Wait.until("all is forwarded", 120, () -> get(again, "/status").contains("\"pending\":0,"));
        List<String> names =
            TopicMessages.read(node, "orders", 3).stream()
                .map(message -> message.getString("payload"))
                .map(order -> order.substring(0, order.indexOf(' ')))
                .toList();
        assertThat(names).doesNotHaveDuplicates().containsAll(accepted);
        accepted.addAll(unsure);
        assertThat(accepted).containsAll(names);
        assertThat(next.stop().status()).isIn(0, 143);
      }
    }
  }

  private Jar.Running service(Node node) {
    return Program.start(
        directory,
        "service-" + ++services,
        Program.clientClassPath(),
        "examples.ForwardExample",
        node.cluster(),
        directory.resolve("spool").toString(),
        String.valueOf(SPOOL_BYTES));
  }

  private static int port(Jar.Running service) {
    return Awaitility.await("it listens")
        .atMost(Duration.ofSeconds(120))
        .failFast(() -> assertThat(service.process.isAlive()).as(service.err()).isTrue())
        .until(
            () -> {
              Matcher line = LISTENING.matcher(service.out());
              return line.find() ? Integer.parseInt(line.group(1)) : null;
            },
            found -> found != null);
  }

  /**
   * Sends an order.
   *
   * @return null if the connection broke: who is refused before the body was read may see that
   *     before the answer
   */
  private HttpResponse<String> post(int port) throws InterruptedException {
    String name = "order-" + number++;
    String order = name + " " + "x".repeat(ORDER_BYTES);
    HttpRequest request =
        TestUsers.request(URI.create("http://127.0.0.1:" + port + "/orders/customer-" + number % 7))
            .POST(HttpRequest.BodyPublishers.ofString(order))
            .build();
    try {
      HttpResponse<String> answer = http.send(request, HttpResponse.BodyHandlers.ofString());
      if (answer.statusCode() == 202) {
        accepted.add(name);
      }
      return answer;
    } catch (IOException e) {
      unsure.add(name);
      return null;
    }
  }

  private static int status(HttpResponse<String> answer) {
    return answer == null ? 0 : answer.statusCode();
  }

  private String get(int port, String path) throws IOException, InterruptedException {
    return http.send(
            TestUsers.request(URI.create("http://127.0.0.1:" + port + path)).build(),
            HttpResponse.BodyHandlers.ofString())
        .body();
  }
}
