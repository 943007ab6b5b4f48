package dev.evenkeel.functional;

import static dev.evenkeel.Loops.each;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.protocol.wire.Mutants;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * Sends garbage, and mutants of what belongs to a port, each over a connection of its own. When
 * nothing more comes, the node must close the connection.
 */
final class PortAttack {
  private static final int GARBAGE_BYTES_MAX = 2_000;

  /** Connections that are open at a time: all are closed together, because some take seconds. */
  private static final int AT_ONCE = 50;

  private final Door door;
  private final List<byte[]> beginnings;
  private final Random random;

  /**
   * @param beginnings what programs send first that belong here
   */
  PortAttack(Door door, List<byte[]> beginnings, Random random) {
    this.door = door;
    this.beginnings = beginnings;
    this.random = random;
  }

  void send(int connections) throws IOException {
    for (int left = connections; left > 0; left -= AT_ONCE) {
      List<Socket> open = new ArrayList<>();
      for (int i = 0; i < Math.min(left, AT_ONCE); i++) {
        open.add(attack(next()));
      }
      each(open, each -> check(rest(each)));
    }
  }

  private byte[] next() {
    if (random.nextInt(4) == 0) {
      byte[] garbage = new byte[1 + random.nextInt(GARBAGE_BYTES_MAX)];
      random.nextBytes(garbage);
      return garbage;
    }
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    for (int i = random.nextInt(3); i >= 0; i--) {
      byte[] one = beginnings.get(random.nextInt(beginnings.size()));
      bytes.writeBytes(random.nextInt(4) == 0 ? one : Mutants.of(one, random));
    }
    return bytes.toByteArray();
  }

  private Socket attack(byte[] bytes) throws IOException {
    Socket socket = door.open();
    try {
      socket.getOutputStream().write(bytes);
    } catch (IOException e) {
      // The node has closed it already.
      assertThat(e).isNotInstanceOf(SocketTimeoutException.class);
    }
    return socket;
  }

  /** What comes back until the node closes the connection. */
  private byte[] rest(Socket socket) throws IOException {
    ByteArrayOutputStream answer = new ByteArrayOutputStream();
    try (socket) {
      socket.shutdownOutput();
      socket.getInputStream().transferTo(answer);
    } catch (SocketTimeoutException e) {
      throw new AssertionError("a connection to port " + door.port() + " stays open", e);
    } catch (IOException e) {
      // The node has closed it while something was on the way.
      return answer.toByteArray();
    }
    return answer.toByteArray();
  }

  private static void check(byte[] answer) {
    String text = new String(answer, StandardCharsets.ISO_8859_1);
    if (text.startsWith("HTTP/1.1 500") || text.contains("internal error")) {
      throw new AssertionError("a bug: " + text);
    }
  }
}
