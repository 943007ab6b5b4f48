package dev.evenkeel.functional;

import static dev.evenkeel.Words.words;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Evenkeel;
import dev.evenkeel.TestCertificates;
import dev.evenkeel.TestUsers;
import dev.evenkeel.Wait;
import dev.evenkeel.client.ClientOptions;
import dev.evenkeel.util.tls.TlsFiles;
import dev.evenkeel.util.tls.TlsIdentity;
import java.io.IOException;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutionException;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Applications and HTTP speak TLS with a node, and plain text gets nothing. A changed certificate
 * is taken up under load, and no acknowledgement is lost.
 */
@Timeout(300)
class TlsIT {
  private static final int MESSAGES = 5_000;
  private static final int RATE = 500;
  private static final String[] FILES = {"tls.crt", "tls.key", "ca.crt"};

  @TempDir Path directory;

  @Test
  void everythingThatConnectsSpeaksTls() throws Exception {
    Path certificates = Files.createDirectory(directory.resolve("certificates"));
    copy(TestCertificates.OURS.resolve("clients"), certificates);
    String ca = certificates.resolve("ca.crt").toString();
    try (Node node =
        new Node(directory.resolve("node")).with("--tls", certificates.toString()).start()) {
      String url = node.url().replace("http:", "https:");
      Jar.Result made =
          Jar.run(directory, words("topic create orders --shards 3 --http %s --ca %s", url, ca));
      assertThat(made.status()).as(made.toString()).isZero();
      refused(node, url);

      Path lines = Lines.write(directory.resolve("lines"), MESSAGES, 100);
      Jar.Running producer =
          node.produce("producer", lines, "orders", "--rate", String.valueOf(RATE), "--ca", ca);
      Jar.Running consumer =
          node.consume("one", "orders", "g", "--ca", ca, "--max", String.valueOf(MESSAGES));
      Wait.until("some messages have come", () -> !consumer.out().isEmpty());

      // Broken files change nothing, and then others come into force.
      Files.writeString(certificates.resolve("tls.key"), "no key");
      awaitMetric(url, ca, "evenkeel_tls_client_broken", 1);
      String foreign = TestCertificates.FOREIGN.resolve("clients/ca.crt").toString();
      copy(TestCertificates.FOREIGN.resolve("clients"), certificates);
      awaitMetric(url, foreign, "evenkeel_tls_client_broken", 0);
      Jar.Result sent =
          node.produce(
                  "more", Lines.write(directory.resolve("more"), 10, 1), "orders", "--ca", foreign)
              .await();
      assertThat(sent.err()).contains("acked 10 of 10");

      Jar.Result produced = producer.await();
      assertThat(produced.err()).contains("acked " + MESSAGES + " of " + MESSAGES);
      assertThat(consumer.await().status()).isZero();
    }
  }

  private void refused(Node node, String url) throws Exception {
    assertThat(refusal(node, null)).contains("speaks TLS").contains("ClientOptions.setCa");
    String foreign = TestCertificates.FOREIGN.resolve("clients/ca.crt").toString();
    assertThat(refusal(node, foreign)).contains("a certificate that is not trusted");
    Jar.Result list = Jar.run(directory, "topic", "list", "--http", url, "--ca", foreign);
    assertThat(list.status()).isEqualTo(1);
    assertThat(list.err()).contains("a certificate that is not trusted").contains("--ca FILE");
    Jar.Result plain = Jar.run(directory, "topic", "list", "--http", node.url());
    assertThat(plain.status()).isEqualTo(1);
    assertThat(plain.err()).contains("write https://");
    for (int port : new int[] {node.port, node.httpPort}) {
      try (Socket socket = new Socket("127.0.0.1", port)) {
        socket.setSoTimeout(60_000);
        socket
            .getOutputStream()
            .write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
        // Nothing but the alert that this is no TLS.
        assertThat(socket.getInputStream().readAllBytes()).hasSizeLessThan(10);
      } catch (IOException e) {
        // It may also be closed with what was sent unread.
        assertThat(e).hasMessageContaining("reset");
      }
    }
  }

  private static String refusal(Node node, String ca) throws Exception {
    ClientOptions options =
        new ClientOptions()
            .setSeeds(List.of(node.cluster()))
            .setConnectTimeoutMillis(5_000)
            .setCa(ca);
    try {
      Evenkeel.connect(options).toCompletionStage().toCompletableFuture().get();
      throw new AssertionError("connected");
    } catch (ExecutionException e) {
      return e.getCause().getMessage();
    }
  }

  private static void copy(Path from, Path to) throws IOException {
    for (String name : FILES) {
      Files.copy(from.resolve(name), to.resolve(name), StandardCopyOption.REPLACE_EXISTING);
    }
  }

  private static void awaitMetric(String url, String ca, String name, double value) {
    Awaitility.await(name + " " + value)
        .atMost(Duration.ofSeconds(60))
        .ignoreExceptions()
        .until(() -> metrics(url, ca).lines().anyMatch(line -> line.equals(name + " " + value)));
  }

  /** Over a new connection, which sees the certificate in force. */
  private static String metrics(String url, String ca) throws Exception {
    return HttpClient.newBuilder()
        .sslContext(TlsIdentity.open(TlsFiles.trusting(Path.of(ca))).context())
        .build()
        .send(
            TestUsers.request(URI.create(url + "/metrics")).build(),
            HttpResponse.BodyHandlers.ofString())
        .body();
  }
}
