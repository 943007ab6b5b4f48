package dev.evenkeel.functional;

import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.frame.FrameKind;
import dev.evenkeel.bus.frame.Hello;
import dev.evenkeel.bus.frame.SessionFrame;
import dev.evenkeel.protocol.Refusal;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;
import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * A connection to a client port that sends whatever bytes it is given. It fails if an answer tells
 * of a bug, or if the node neither answers nor closes the connection.
 */
final class BadClient implements AutoCloseable {
  private static final int ANSWER_BYTES_MAX = 8 << 20;

  private final Socket socket;
  private final DataInputStream in;
  private final Map<FrameKind, Integer> received = new EnumMap<>(FrameKind.class);

  /** Correlations of pushes whose senders wait for an answer. */
  private final List<Integer> asked = new ArrayList<>();

  private boolean closed;
  private int pings = 0x4000_0000;

  private BadClient(Socket socket) throws IOException {
    this.socket = socket;
    in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
  }

  static BadClient open(Door door) throws IOException {
    return new BadClient(door.open());
  }

  /** One that was welcomed. */
  static BadClient welcomed(Door door, Hello hello) throws IOException {
    BadClient client = open(door);
    client.send(frame(FrameKind.HELLO, 0, hello.toJson().toBuffer().getBytes()));
    SessionFrame answer = client.next();
    if (answer == null || answer.kind() != FrameKind.WELCOME) {
      throw new AssertionError("not welcomed: " + answer);
    }
    return client;
  }

  static byte[] frame(FrameKind kind, int correlation, byte[]... parts) {
    int length = SessionFrame.HEAD_BYTES - 4;
    for (byte[] part : parts) {
      length += part.length;
    }
    ByteBuffer frame = ByteBuffer.allocate(4 + length);
    frame.putInt(length).put((byte) SessionFrame.VERSION).put((byte) kind.code());
    frame.putInt(correlation);
    for (byte[] part : parts) {
      frame.put(part);
    }
    return frame.array();
  }

  boolean isClosed() {
    return closed;
  }

  /** How many frames of each kind have come. */
  Map<FrameKind, Integer> received() {
    return received;
  }

  /** Correlations of pushes whose senders wait for an answer; they are given once. */
  List<Integer> takeAsked() {
    List<Integer> taken = List.copyOf(asked);
    asked.clear();
    return taken;
  }

  void send(byte[] bytes) {
    try {
      socket.getOutputStream().write(bytes);
    } catch (IOException e) {
      closed = true;
    }
  }

  /** Waits until the node has read everything, or has closed the connection. */
  void settle() {
    int number = ++pings;
    send(frame(FrameKind.PING, number));
    for (SessionFrame frame = next(); frame != null; frame = next()) {
      if (frame.kind() == FrameKind.PONG && frame.correlation() == number) {
        return;
      }
    }
  }

  /** The answer to a request, or its refusal as {@code RefusedException}. */
  Buffer ask(String address, byte[] body) {
    int number = ++pings;
    send(
        frame(
            FrameKind.REQUEST, number, SessionFrame.requestHead(address, 30_000).getBytes(), body));
    for (SessionFrame frame = next(); frame != null; frame = next()) {
      if (frame.correlation() == number && frame.kind() == FrameKind.REFUSAL) {
        throw frame.refused();
      }
      if (frame.correlation() == number && frame.kind() == FrameKind.ANSWER) {
        return frame.body();
      }
    }
    throw new AssertionError("the node has closed the connection");
  }

  /** The number of a topic. */
  int idOf(String topic) {
    return ask(Addresses.VIEW, new byte[0]).toJsonObject().getJsonArray("topics").stream()
        .map(JsonObject.class::cast)
        .filter(each -> each.getString("name").equals(topic))
        .mapToInt(each -> each.getInteger("id"))
        .findFirst()
        .orElseThrow();
  }

  /** Sends no more, and waits until the node has closed the connection. */
  void end() {
    try {
      socket.shutdownOutput();
    } catch (IOException e) {
      closed = true;
    }
    while (next() != null) {
      continue;
    }
  }

  /** Null: the node has closed the connection. */
  private SessionFrame next() {
    try {
      int length = in.readInt();
      if (length < 6 || length > ANSWER_BYTES_MAX) {
        throw new AssertionError("a frame of " + length + " bytes");
      }
      in.readUnsignedByte();
      FrameKind kind = FrameKind.ofCode(in.readUnsignedByte());
      int correlation = in.readInt();
      byte[] body = in.readNBytes(length - 6);
      SessionFrame frame = new SessionFrame(kind, correlation, Buffer.buffer(body));
      received.merge(kind, 1, Integer::sum);
      if (kind == FrameKind.PUSH && correlation != 0) {
        asked.add(correlation);
      }
      check(frame, body);
      return frame;
    } catch (SocketTimeoutException e) {
      throw new AssertionError("the node neither answers nor closes the connection", e);
    } catch (IOException e) {
      closed = true;
      return null;
    }
  }

  private static void check(SessionFrame frame, byte[] body) {
    boolean bug =
        switch (frame.kind()) {
          case REFUSAL -> body.length > 0 && body[0] == Refusal.INTERNAL.ordinal();
          case ANSWER ->
              body.length > 1 && body[0] == 1 && body[1] == 1 + Refusal.INTERNAL.ordinal();
          default -> false;
        };
    String text = new String(body, StandardCharsets.ISO_8859_1);
    if (bug || text.contains("internal error")) {
      throw new AssertionError("a bug: " + frame.kind() + " " + text);
    }
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
