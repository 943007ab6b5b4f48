package dev.evenkeel.cli;

import static dev.evenkeel.Futures.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.evenkeel.Closing;
import dev.evenkeel.Evenkeel;
import dev.evenkeel.Fails;
import dev.evenkeel.TestCertificates;
import dev.evenkeel.client.ClientOptions;
import dev.evenkeel.client.EvenkeelClient;
import dev.evenkeel.client.internal.session.Credentials;
import dev.evenkeel.testkit.EmbeddedNode;
import dev.evenkeel.util.tls.TlsException;
import dev.evenkeel.util.tls.TlsFailures;
import dev.evenkeel.util.tls.TlsFiles;
import dev.evenkeel.util.tls.TlsIdentity;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.json.JsonObject;
import io.vertx.core.net.KeyCertOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Programs that run while certificates, authorities and tokens are replaced, or expire. */
class ReplacedCertificatesTest {
  private static final Path OURS = TestCertificates.OURS.resolve("clients");
  private static final Path FOREIGN = TestCertificates.FOREIGN.resolve("clients");

  @TempDir Path directory;
  @Closing private final Vertx vertx = Vertx.vertx();
  private Path certificates;

  @BeforeEach
  void copy() throws IOException {
    certificates = Files.createDirectories(directory.resolve("tls"));
    use(OURS);
  }

  private void use(Path from) throws IOException {
    for (String name : List.of("tls.crt", "tls.key", "ca.crt")) {
      Files.copy(
          from.resolve(name), certificates.resolve(name), StandardCopyOption.REPLACE_EXISTING);
    }
  }

  /** The client has its own copy, so that it is replaced later. */
  private Path authority(Path from) throws IOException {
    Path copy = directory.resolve("ca.crt");
    Files.copy(from.resolve("ca.crt"), copy, StandardCopyOption.REPLACE_EXISTING);
    return copy;
  }

  @Test
  void aRunningClientTakesUpAReplacedAuthority() throws IOException {
    Path ca = authority(OURS);
    try (EmbeddedNode node = EmbeddedNode.start(Map.of("tls", certificates.toString()))) {
      var options = new ClientOptions().setSeeds(List.of(node.address())).setCa(ca.toString());
      EvenkeelClient client = await(Evenkeel.connect(options));
      await(client.admin().createTopic("before", 1));
      use(FOREIGN);
      node.restart();
      authority(FOREIGN);
      await()
          .ignoreExceptions()
          .untilAsserted(() -> assertThat(await(client.admin().topics())).isNotEmpty());
      await(client.close());
    }
  }

  /** With the certificates as they are now. */
  private HttpServer server() throws TlsException {
    return server(0);
  }

  private HttpServer server(int port) throws TlsException {
    TlsIdentity identity = TlsIdentity.open(TlsFiles.in(certificates));
    HttpServer server =
        vertx
            .createHttpServer(
                new HttpServerOptions()
                    .setSsl(true)
                    .setKeyCertOptions(KeyCertOptions.wrap(identity.keyManager())))
            .requestHandler(
                request ->
                    request
                        .response()
                        .end(
                            new JsonObject()
                                .put("authorization", request.getHeader("authorization"))
                                .encode()));
    return await(server.listen(port, "127.0.0.1"));
  }

  /** Commands that watch, or wait for a drain, run for days. */
  @Test
  void aRunningCommandTakesUpAReplacedAuthorityAndToken() throws IOException, TlsException {
    Path ca = authority(OURS);
    Path token = Files.writeString(directory.resolve("token"), "ek_a_one\n");
    HttpServer first = server();
    int port = first.actualPort();
    ClientOptions files = new ClientOptions().setCa(ca.toString()).setTokenFile(token.toString());
    HttpApi api = new HttpApi("https://127.0.0.1:" + port, Credentials.of(files));
    assertThat(shown(api)).isEqualTo("Bearer ek_a_one");

    Files.writeString(token, "ek_a_second\n");
    await().untilAsserted(() -> assertThat(shown(api)).isEqualTo("Bearer ek_a_second"));

    await(first.close());
    use(FOREIGN);
    HttpServer second = server(port);
    assertThatThrownBy(() -> shown(api)).hasMessageContaining("certificate");
    authority(FOREIGN);
    await()
        .ignoreExceptions()
        .untilAsserted(() -> assertThat(shown(api)).isEqualTo("Bearer ek_a_second"));
    await(second.close());
  }

  /** What the server heard of who asks. */
  private static String shown(HttpApi api) {
    JsonObject heard = api.get("/");
    return heard.getString("authorization");
  }

  @Test
  void anAddressWithoutTlsOfANodeThatSpeaksItIsCalledThat() {
    byte[] alert = {21, 3, 3, 0, 2, 2, 10};
    int port =
        await(
                vertx
                    .createNetServer()
                    .connectHandler(
                        socket -> socket.handler(request -> socket.end(Buffer.buffer(alert))))
                    .listen(0, "127.0.0.1"))
            .actualPort();
    HttpApi api = new HttpApi("http://127.0.0.1:" + port);
    Fails.with(
        CommandFailure.class, () -> api.get("/"), "speaks TLS: write https://, and give --ca FILE");
  }

  @Test
  void anExpiredCertificateIsCalledExpired() throws Exception {
    DevCertificates authority = new DevCertificates(directory.resolve("store.p12"));
    authority.authority("authority");
    authority.certificate(
        "late", "dns:localhost,ip:127.0.0.1", certificates, "-startdate", "-10d", "-validity", "3");
    TlsIdentity late = TlsIdentity.open(TlsFiles.in(certificates));
    List<String> told = new CopyOnWriteArrayList<>();
    TlsIdentity checks = TlsIdentity.open(TlsFiles.trusting(certificates.resolve("ca.crt")));
    checks.onRefused((subject, why) -> told.add(subject + ": " + why));
    String expired = "the certificate for CN=late expired on " + late.expires();
    assertThatThrownBy(
            () ->
                checks
                    .trustManager()
                    .checkServerTrusted(new X509Certificate[] {late.certificate()}, "ECDHE_ECDSA"))
        .hasMessage(expired)
        .matches(TlsFailures::isAboutTime);
    assertThat(told).containsExactly("CN=late: " + expired);

    HttpServer server = server();
    String url = "https://127.0.0.1:" + server.actualPort();
    HttpApi api = new HttpApi(url, new Credentials(checks, null));
    assertThatThrownBy(() -> api.get("/")).hasMessageContaining(expired);
    ClientOptions options =
        new ClientOptions()
            .setSeeds(List.of("127.0.0.1:" + server.actualPort()))
            .setConnectTimeoutMillis(1_000)
            .setCa(certificates.resolve("ca.crt").toString());
    assertThatThrownBy(() -> await(Evenkeel.connect(options))).hasMessageContaining(expired);
  }
}
