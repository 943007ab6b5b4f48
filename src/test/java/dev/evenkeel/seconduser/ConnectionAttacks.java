package dev.evenkeel.seconduser;

import static dev.evenkeel.seconduser.Attack.MEMBER;
import static dev.evenkeel.seconduser.Attack.NOBODY;
import static dev.evenkeel.seconduser.Attack.STRANGER;

import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.FetchRequest;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.Op;
import dev.evenkeel.bus.frame.FrameKind;
import dev.evenkeel.bus.frame.SessionFrame;
import dev.evenkeel.protocol.Shard;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import javax.net.ssl.SSLSocket;

/** Connections that cost the node something, whatever is asked over them. */
final class ConnectionAttacks {
  static final List<Attack> ALL =
      List.of(
          new Attack("silent-sockets", STRANGER, 4, 0, ConnectionAttacks::silent),
          new Attack("silent-sockets-of-http", STRANGER, 4, 0, ConnectionAttacks::silentHttp),
          new Attack("half-handshakes", STRANGER, 4, 0, ConnectionAttacks::halfHandshake),
          new Attack("handshakes-10", STRANGER, 4, 10, ConnectionAttacks::handshake),
          new Attack("handshakes-100", STRANGER, 4, 100, ConnectionAttacks::handshake),
          new Attack("renegotiations", STRANGER, 2, 100, ConnectionAttacks::renegotiate),
          new Attack("wrong-tokens", STRANGER, 4, 100, ConnectionAttacks::wrongToken),
          new Attack("sessions-of-a-moment", NOBODY, 4, 100, ConnectionAttacks::hello),
          new Attack("idle-sessions", NOBODY, 4, 0, ConnectionAttacks::idle),
          new Attack("half-frames", NOBODY, 4, 0, ConnectionAttacks::halfFrame),
          new Attack("deaf-sessions", MEMBER, 4, 0, ConnectionAttacks::deaf),
          new Attack("pings", NOBODY, 4, 20_000, lane -> lane.session().send(FrameKind.PING, 3)),
          new Attack("broken-frames", NOBODY, 4, 100, ConnectionAttacks::broken));

  private ConnectionAttacks() {}

  /** Of 2,400 in all. */
  private static void silent(Lane lane) throws IOException {
    if (!lane.full(600)) {
      lane.hold(lane.target().plain(lane.target().port()));
    }
  }

  private static void silentHttp(Lane lane) throws IOException {
    if (!lane.full(600)) {
      lane.hold(lane.target().plain(lane.target().httpPort()));
    }
  }

  private static void halfHandshake(Lane lane) throws IOException {
    if (!lane.full(300)) {
      int port = lane.turn % 2 == 0 ? lane.target().port() : lane.target().httpPort();
      // The head of a record with a handshake of 16 KiB, and its beginning.
      lane.hold(lane.target().plain(port))
          .getOutputStream()
          .write(new byte[] {22, 3, 1, 0x40, 0, 1, 0, 0x3f, (byte) 0xfc, 3, 3});
    }
  }

  private static void handshake(Lane lane) throws IOException {
    int port = lane.turn % 2 == 0 ? lane.target().port() : lane.target().httpPort();
    lane.target().open(port).close();
    lane.outcome().count("handshakes");
  }

  private static void renegotiate(Lane lane) throws IOException {
    SSLSocket socket = (SSLSocket) lane.target().tls().getSocketFactory().createSocket();
    try (socket) {
      socket.connect(new java.net.InetSocketAddress("127.0.0.1", lane.target().httpPort()));
      socket.setSoTimeout(5_000);
      socket.setEnabledProtocols(new String[] {"TLSv1.2"});
      socket.startHandshake();
      for (int i = 0; i < 50 && !lane.over(); i++) {
        socket.startHandshake();
        socket
            .getOutputStream()
            .write("GET /health/live HTTP/1.1\r\nHost: localhost\r\n".getBytes());
        socket.getOutputStream().write("\r\n".getBytes());
        socket.getInputStream().read();
        lane.outcome().count("renegotiated");
      }
    }
  }

  private static void wrongToken(Lane lane) throws IOException {
    String token = "ek_%08x_%s".formatted(lane.turn, "0".repeat(40));
    RawSession.open(lane.target(), token, RawSession.newId(), lane.outcome()).close();
  }

  private static void hello(Lane lane) throws IOException {
    lane.newSession().close();
    lane.outcome().count("welcomed");
  }

  /** Of 4,000 in all. */
  private static void idle(Lane lane) throws IOException {
    if (!lane.full(1_000)) {
      lane.hold(lane.newSession());
      lane.keepAlive();
    }
  }

  /** Together they would fill the heap. */
  private static void halfFrame(Lane lane) throws IOException {
    if (!lane.full(100)) {
      byte[] head = SessionFrame.requestHead(Addresses.VIEW, 1_000).getBytes();
      byte[] frame = RawSession.frame(FrameKind.REQUEST, 1, head, new byte[3 << 20]);
      lane.hold(lane.newSession()).sendRaw(Arrays.copyOf(frame, frame.length - 1));
    }
  }

  /** It asks for a mebibyte again and again, and reads nothing. */
  private static void deaf(Lane lane) throws IOException {
    if (!lane.full(25)) {
      RawSession session = lane.hold(lane.newSession());
      FetchRequest browse =
          FetchRequest.browse(
              new Shard(lane.target().topic("evil"), 0), 0, 1 << 20, Integer.MAX_VALUE, 0);
      byte[] request = Frames.request(Op.BROWSE, browse.encode()).getBytes();
      for (int i = 0; i < 200 && !lane.over(); i++) {
        session.request(Addresses.data(Lane.NODE), request);
      }
    }
  }

  private static void broken(Lane lane) throws IOException {
    try (RawSession session = lane.newSession()) {
      byte[] garbage = new byte[1 + lane.random.nextInt(4_000)];
      lane.random.nextBytes(garbage);
      session.sendRaw(garbage);
    }
  }
}
