package dev.evenkeel.functional;

import static dev.evenkeel.Loops.each;

import dev.evenkeel.TestUsers;
import dev.evenkeel.bus.frame.FrameKind;
import dev.evenkeel.bus.frame.Hello;
import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * Connections to the client port and to HTTP that say nothing, or one byte in each turn. One that
 * the node has closed is opened again.
 */
final class SlowConnections implements AutoCloseable {
  /** The long form opens as many as the machine allows. */
  private static final int WANTED = Integer.getInteger("evenkeel.slowConnections", 500);

  /** Of a node, and of this JVM, besides the connections. */
  private static final int OTHER_FILES = 4_000;

  private static final class Slow {
    final int port;
    final byte[] bytes;
    Socket socket;
    int sent;

    Slow(int port, byte[] bytes) {
      this.port = port;
      this.bytes = bytes;
    }
  }

  private final List<Slow> all = new ArrayList<>();
  private int opened;

  SlowConnections(Node node) throws IOException {
    byte[] http =
        ("POST /api/topics/abused/messages HTTP/1.1\r\nHost: localhost\r\n"
                + TestUsers.header()
                + "Content-Length: 5000"
                + "\r\nContent-Type: application/octet-stream\r\n\r\n"
                + "x".repeat(5_000))
            .getBytes(StandardCharsets.US_ASCII);
    for (int i = 0; i < Math.min(WANTED, Footprint.filesMax() - OTHER_FILES); i++) {
      Hello hello =
          new Hello(List.of(1), "s-%032x".formatted(i), "evenkeel", "slow", TestUsers.token(), 0);
      byte[] first = BadClient.frame(FrameKind.HELLO, 0, hello.toJson().toBuffer().getBytes());
      all.add(
          switch (i % 4) {
            case 0 -> new Slow(node.port, new byte[0]);
            case 1 -> new Slow(node.port, first);
            case 2 -> new Slow(node.httpPort, new byte[0]);
            default -> new Slow(node.httpPort, http);
          });
    }
  }

  int size() {
    return all.size();
  }

  void turn() throws IOException {
    for (Slow each : all) {
      if (each.socket == null || !send(each)) {
        close(each);
        each.socket = Door.plain(each.port).open();
        each.sent = 0;
        opened++;
      }
    }
  }

  /** Whether the connection may still be open. */
  private static boolean send(Slow each) {
    try {
      if (each.socket.getInputStream().available() > 0) {
        return false;
      }
      if (each.sent < each.bytes.length) {
        each.socket.getOutputStream().write(each.bytes, each.sent++, 1);
      }
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  private static void close(Slow each) throws IOException {
    if (each.socket != null) {
      each.socket.close();
    }
  }

  @Override
  public void close() throws IOException {
    each(all, each -> close(each));
  }

  @Override
  public String toString() {
    return all.size() + " slow connections, opened " + opened + " times";
  }
}
