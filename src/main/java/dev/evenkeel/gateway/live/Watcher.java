package dev.evenkeel.gateway.live;

import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.ServerWebSocket;

/** One who watches. What it does not read in time is not queued: it gets a snapshot later. */
final class Watcher {
  /** Characters that wait to be sent; past it nothing is added until they are gone. */
  private static final int QUEUED_MAX = 256 << 10;

  private static final Buffer PING = Buffer.buffer("evenkeel");

  private final ServerWebSocket socket;
  private long seq;
  private int queued;
  private boolean needsSnapshot = true;
  private long pongMillis;

  Watcher(ServerWebSocket socket, long nowMillis) {
    this.socket = socket;
    pongMillis = nowMillis;
    socket.pongHandler(pong -> pongMillis = LiveHub.nowMillis());
  }

  /** Whether a snapshot would be taken now. */
  boolean wantsSnapshot() {
    return needsSnapshot && ready();
  }

  private boolean ready() {
    // The socket's own queue is full only after 16 frames, of whatever size.
    return !socket.isClosed() && queued < QUEUED_MAX;
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
    String frame = "{\"type\":\"" + type + "\",\"seq\":" + ++seq + rest;
    int length = frame.length();
    queued += length;
    socket.writeFinalTextFrame(frame).onComplete(written -> queued -= length);
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
