package dev.evenkeel.functional;

import java.io.IOException;
import java.net.Socket;
import javax.net.ssl.SSLContext;

/**
 * A port of a node on this machine, as a stranger finds it.
 *
 * @param tls null: the connection is plain
 */
public record Door(int port, SSLContext tls) {
  /** A node that takes this long to answer or to close a connection does neither. */
  private static final int PATIENCE_MILLIS = 60_000;

  public static Door plain(int port) {
    return new Door(port, null);
  }

  /** With TLS, the handshake comes with the first byte that is read or written. */
  Socket open() throws IOException {
    Socket socket =
        tls == null
            ? new Socket("127.0.0.1", port)
            : tls.getSocketFactory().createSocket("127.0.0.1", port);
    socket.setSoTimeout(PATIENCE_MILLIS);
    socket.setTcpNoDelay(true);
    return socket;
  }
}
