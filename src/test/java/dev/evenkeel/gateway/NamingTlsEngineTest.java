package dev.evenkeel.gateway;

import static dev.evenkeel.Loops.each;
import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Futures;
import dev.evenkeel.TestCertificates;
import dev.evenkeel.Wait;
import dev.evenkeel.util.tls.TlsFiles;
import dev.evenkeel.util.tls.TlsIdentity;
import io.vertx.core.Vertx;
import io.vertx.core.net.KeyCertOptions;
import io.vertx.core.net.NetServer;
import io.vertx.core.net.NetServerOptions;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import javax.net.ssl.SSLSocket;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class NamingTlsEngineTest {
  private static final int BEGINNING_MAX = 3;
  private static final Path CLIENTS = TestCertificates.OURS.resolve("clients");

  private final Vertx vertx = Vertx.vertx();
  private final List<String> failed = new CopyOnWriteArrayList<>();
  private final List<Socket> sockets = new ArrayList<>();
  private NetServer server;

  @BeforeEach
  void start() throws Exception {
    TlsIdentity identity = TlsIdentity.open(TlsFiles.in(CLIENTS));
    server =
        vertx
            .createNetServer(
                new NetServerOptions()
                    .setSsl(true)
                    .setSslEngineOptions(
                        new NamingTlsEngine(BEGINNING_MAX, (source, why) -> failed.add(source)))
                    .setKeyCertOptions(KeyCertOptions.wrap(identity.keyManager())))
            .exceptionHandler(failure -> {})
            .connectHandler(socket -> socket.end(io.vertx.core.buffer.Buffer.buffer("hello")));
    Futures.await(server.listen(0, "127.0.0.1"));
  }

  @AfterEach
  void stop() throws Exception {
    each(sockets, socket -> socket.close());
    Futures.await(vertx.close());
  }

  private Socket plain() throws Exception {
    Socket socket = new Socket("127.0.0.1", server.actualPort());
    socket.setSoTimeout(60_000);
    sockets.add(socket);
    return socket;
  }

  private String encrypted() throws Exception {
    try (SSLSocket socket =
        (SSLSocket)
            TlsIdentity.open(TlsFiles.trusting(CLIENTS.resolve("ca.crt")))
                .context()
                .getSocketFactory()
                .createSocket("127.0.0.1", server.actualPort())) {
      socket.setSoTimeout(60_000);
      return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  @Test
  void whoDoesNotBeginTlsIsNamedAndToldThatItIsSpokenHere() throws Exception {
    assertThat(encrypted()).isEqualTo("hello");
    assertThat(failed).isEmpty();
    Socket plain = plain();
    plain.getOutputStream().write("GET / HTTP/1.1\r\n\r\n".getBytes(StandardCharsets.UTF_8));
    Awaitility.await().untilAsserted(() -> assertThat(failed).containsExactly("127.0.0.1"));
    // A fatal alert: unexpected message.
    assertThat(plain.getInputStream().readAllBytes()).containsExactly(21, 3, 3, 0, 2, 2, 10);
  }

  @Test
  void whileManyAreBeginningOthersAreClosed() throws Exception {
    times(BEGINNING_MAX, i -> plain());
    // Which of them is one too many depends on the order in which they are taken.
    plain();
    Wait.untilAsserted(30, () -> assertThat(failed).hasSize(1));
    each(sockets, socket -> socket.close());
    Wait.untilAsserted(30, () -> assertThat(failed).hasSize(BEGINNING_MAX + 1));
    assertThat(encrypted()).isEqualTo("hello");
  }
}
