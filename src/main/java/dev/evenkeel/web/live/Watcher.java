package dev.evenkeel.web.live;

import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.ServerWebSocket;

/** One who watches. What it does not read in time is not queued: it gets a snapshot later. */
final class Watcher {
  /** Bytes that wait to be sent; past it nothing is added until they are gone. */
  private static final int QUEUE_BYTES_MAX = 256 << 10;

  private static final Buffer PING = Buffer.buffer("evenkeel");

  private final ServerWebSocket socket;
  private long seq;
  private boolean needsSnapshot = true;
  private long pongMillis;

  Watcher(ServerWebSocket socket, long nowMillis) {
    this.socket = socket;
    pongMillis = nowMillis;
    socket.setWriteQueueMaxSize(QUEUE_BYTES_MAX);
    socket.pongHandler(pong -> pongMillis = LiveHub.nowMillis());
  }

  /** Whether a snapshot would be taken now. */
  boolean wantsSnapshot() {
    return needsSnapshot && ready();
  }

  private boolean ready() {
    return !socket.isClosed() && !socket.writeQueueFull();
  }

  /**
   * @param rest of the frame after its number
   */
  void snapshot(String rest) {
    if (wantsSnapshot()) {
      needsSnapshot = false;
      send("snapshot", rest);
    }
  }

  void change(String rest) {
    if (needsSnapshot) {
      return;
    }
    if (ready()) {
      send("change", rest);
    } else {
      needsSnapshot = true;
    }
  }

  private void send(String type, String rest) {
    // One frame: the limit of a frame's size is for what comes in.
    socket.writeFinalTextFrame("{\"type\":\"" + type + "\",\"seq\":" + ++seq + rest);
  }

  /** Asks for a sign of life. */
  void ping() {
    if (!socket.isClosed()) {
      socket.writePing(PING);
    }
  }

  /** When it last gave a sign of life, in monotonic milliseconds. */
  long pongMillis() {
    return pongMillis;
  }

  void close(short code, String reason) {
    if (!socket.isClosed()) {
      socket.close(code, reason);
    }
  }
}
