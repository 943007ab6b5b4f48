package dev.evenkeel.seconduser;

import dev.evenkeel.util.tls.TlsFiles;
import dev.evenkeel.util.tls.TlsIdentity;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Path;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;

/**
 * What an attacker knows: the ports of the node, tokens of its users, and numbers of topics. It
 * comes from an address of its own, as another machine would.
 */
final class Target {
  /** Any address of the loopback network, on Linux; elsewhere there may be one only. */
  private static final String SOURCE =
      System.getProperty("os.name").equals("Linux") ? "127.0.0.2" : "127.0.0.1";

  private static final int PATIENCE_MILLIS = 30_000;

  private final JsonObject json;
  private final SSLContext tls;

  /**
   * @param json as {@link #describe} makes it
   */
  Target(JsonObject json) throws Exception {
    this.json = json;
    tls = TlsIdentity.open(TlsFiles.trusting(Path.of(json.getString("ca")))).context();
  }

  /**
   * @param tokens files with tokens, by user
   * @param topics numbers of topics, by name
   * @param sessions ids of sessions of the honest user
   */
  static JsonObject describe(
      int port, int httpPort, String ca, JsonObject tokens, JsonObject topics, String sessions) {
    return JsonObject.of(
            "port", port, "httpPort", httpPort, "ca", ca, "tokens", tokens, "topics", topics)
        .put("sessions", sessions);
  }

  String ca() {
    return json.getString("ca");
  }

  int port() {
    return json.getInteger("port");
  }

  int httpPort() {
    return json.getInteger("httpPort");
  }

  String tokenFile(String user) {
    return json.getJsonObject("tokens").getString(user);
  }

  int topic(String name) {
    return json.getJsonObject("topics").getInteger(name);
  }

  /** A session of the honest user; null: none is known. */
  String session() {
    return json.getString("sessions");
  }

  SSLContext tls() {
    return tls;
  }

  Socket plain(int port) throws IOException {
    Socket socket = new Socket();
    boolean done = false;
    try {
      socket.bind(new InetSocketAddress(InetAddress.getByName(SOURCE), 0));
      socket.setTcpNoDelay(true);
      socket.setSoTimeout(PATIENCE_MILLIS);
      socket.connect(new InetSocketAddress("127.0.0.1", port), PATIENCE_MILLIS);
      done = true;
      return socket;
    } finally {
      if (!done) {
        socket.close();
      }
    }
  }

  /** With the handshake done. */
  SSLSocket open(int port) throws IOException {
    Socket plain = plain(port);
    boolean done = false;
    try {
      SSLSocket socket =
          (SSLSocket) tls.getSocketFactory().createSocket(plain, "localhost", port, true);
      socket.startHandshake();
      done = true;
      return socket;
    } finally {
      if (!done) {
        plain.close();
      }
    }
  }
}
