package dev.evenkeel.util.tls;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.evenkeel.TestCertificates;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Path;
import javax.net.ssl.SSLServerSocket;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.Test;

/** Only TLS 1.2 knows it. */
class RenegotiationTest {
  private static final Path CLIENTS = TestCertificates.OURS.resolve("clients");

  private static void echo(SSLServerSocket server) {
    try (SSLSocket socket = (SSLSocket) server.accept()) {
      for (int next = socket.getInputStream().read();
          next >= 0;
          next = socket.getInputStream().read()) {
        socket.getOutputStream().write(next);
      }
    } catch (IOException e) {
      // The client learns it.
    }
  }

  @Test
  void aClientGetsNoNewKeysForAnOpenConnection() throws Exception {
    TlsIdentity node = TlsIdentity.open(TlsFiles.in(CLIENTS));
    TlsIdentity client = TlsIdentity.open(TlsFiles.trusting(CLIENTS.resolve("ca.crt")));
    InetAddress here = InetAddress.getLoopbackAddress();
    try (SSLServerSocket server =
            (SSLServerSocket)
                node.context().getServerSocketFactory().createServerSocket(0, 1, here);
        SSLSocket socket =
            (SSLSocket)
                client.context().getSocketFactory().createSocket(here, server.getLocalPort())) {
      Thread thread = new Thread(() -> echo(server), "echo");
      thread.setDaemon(true);
      thread.start();
      socket.setEnabledProtocols(new String[] {"TLSv1.2"});
      socket.startHandshake();
      socket.getOutputStream().write(7);
      assertThat(socket.getInputStream().read()).isEqualTo(7);
      assertThatThrownBy(
              () -> {
                socket.startHandshake();
                socket.getOutputStream().write(8);
                socket.getInputStream().read();
              })
          .isInstanceOf(IOException.class);
    }
  }
}
