package dev.evenkeel.gateway.live;

import dev.evenkeel.bus.GroupScope;
import dev.evenkeel.gateway.access.Caller;
import dev.evenkeel.gateway.access.Principal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.util.MonotonicClock;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.ServerWebSocket;

/**
 * One watcher. If it does not read changes in time, they are not queued; it gets a snapshot later.
 */
final class Watcher {
  /** Most characters that wait to be sent; beyond it nothing is added until they are sent. */
  private static final int QUEUED_MAX = 256 << 10;

  private static final Buffer PING = Buffer.buffer("evenkeel");

  private final ServerWebSocket socket;
  private final Caller caller;
  private Principal principal;
  private Principal scope;

  /** What that sees. */
  private GroupScope sees = GroupScope.NONE;

  private long seq;
  private int queued;
  private boolean needsSnapshot = true;
  private long pongMillis;

  Watcher(ServerWebSocket socket, Caller caller, long nowMillis) {
    this.socket = socket;
    this.caller = caller;
    principal = Principal.NOBODY;
    scope = Principal.NOBODY;
    pongMillis = nowMillis;
    socket.pongHandler(pong -> pongMillis = MonotonicClock.millis());
  }

  /** Those who see everything share a scope. */
  private static Principal scopeOf(Principal principal) {
    return principal.seesAll() ? Principal.ANYBODY : principal;
  }

  /** The groups and topics that it sees. */
  GroupScope sees() {
    return sees;
  }

  /** Whose permissions say what it sees. */
  Principal scope() {
    return scope;
  }

  /**
   * Whether its user is there, and may see something. If the user may see or do something else now,
   * it begins anew.
   */
  boolean known() {
    try {
      Principal now = caller.principal();
      if (!now.equals(principal)) {
        principal = now;
        scope = scopeOf(now);
        sees = scope.scope();
        needsSnapshot = true;
      }
      return principal.seesNodes();
    } catch (RefusedException e) {
      return false;
    }
  }

  /** Whether it needs a snapshot and can take it now. */
  boolean wantsSnapshot() {
    return needsSnapshot && ready();
  }

  private boolean ready() {
    // The socket's own queue is full only after 16 frames of any size.
    return !socket.isClosed() && queued < QUEUED_MAX;
  }

  /**
   * @param rest the rest of the frame, after its number
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
    // One frame: the limit on the size of frames is for incoming ones.
    String frame = "{\"type\":\"" + type + "\",\"seq\":" + ++seq + rest;
    int length = frame.length();
    queued += length;
    socket.writeFinalTextFrame(frame).onComplete(written -> queued -= length);
  }

  /** Sends a ping. */
  void ping() {
    if (!socket.isClosed()) {
      socket.writePing(PING);
    }
  }

  /** When it last answered a ping, in monotonic milliseconds. */
  long pongMillis() {
    return pongMillis;
  }

  void close(short code, String reason) {
    if (!socket.isClosed()) {
      socket.close(code, reason);
    }
  }
}
