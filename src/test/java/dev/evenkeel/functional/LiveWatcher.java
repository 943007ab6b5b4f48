package dev.evenkeel.functional;

import dev.evenkeel.TestUsers;
import dev.evenkeel.Wait;
import dev.evenkeel.gateway.live.MergePatches;
import io.vertx.core.json.JsonObject;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Predicate;

/** Watches a node's live view, and keeps every frame. */
final class LiveWatcher implements WebSocket.Listener, AutoCloseable {
  final List<JsonObject> frames = new CopyOnWriteArrayList<>();
  volatile int closeCode = -1;
  private final StringBuilder text = new StringBuilder();
  private final WebSocket socket;

  LiveWatcher(Node node) {
    this(URI.create(node.url().replace("http", "ws") + "/ws/live"));
  }

  LiveWatcher(URI uri) {
    socket =
        TestUsers.webSocket(HttpClient.newHttpClient(), TestUsers.token())
            .buildAsync(uri, this)
            .join();
  }

  @Override
  public CompletionStage<?> onText(WebSocket from, CharSequence data, boolean last) {
    text.append(data);
    if (last) {
      frames.add(new JsonObject(text.toString()));
      text.setLength(0);
    }
    from.request(1);
    return null;
  }

  @Override
  public CompletionStage<?> onClose(WebSocket from, int code, String reason) {
    closeCode = code;
    return null;
  }

  JsonObject first() {
    await("a first frame", frames -> true);
    return frames.get(0);
  }

  static Instant time(JsonObject frame) {
    return Instant.parse(frame.getString("time"));
  }

  /** The state that the frames make, those not later than {@code until}. */
  Map<String, Object> stateAt(Instant until) {
    Map<String, Object> state = null;
    for (JsonObject frame : frames) {
      if (time(frame).isAfter(until)) {
        break;
      }
      state = next(state, frame);
    }
    return state;
  }

  private static Map<String, Object> next(Map<String, Object> state, JsonObject frame) {
    if (frame.getString("type").equals("snapshot")) {
      return stateOf(frame);
    }
    MergePatches.apply(state, maps(frame.getJsonObject("patch")));
    return state;
  }

  static Map<String, Object> stateOf(JsonObject snapshot) {
    Map<String, Object> state = maps(snapshot);
    List.of("type", "seq", "time", "intervalMs").forEach(state::remove);
    return state;
  }

  /** A copy that holds plain maps. */
  private static Map<String, Object> maps(JsonObject json) {
    return new JsonObject(json.encode()).getMap();
  }

  /** Each state that was shown, in order. */
  List<JsonObject> states() {
    List<JsonObject> states = new ArrayList<>();
    Map<String, Object> state = null;
    for (JsonObject frame : frames) {
      state = next(state, frame);
      states.add(new JsonObject(new JsonObject(state).encode()));
    }
    return states;
  }

  /** Waits until some state that was shown is as wanted, and gives it. */
  JsonObject await(String what, Predicate<JsonObject> wanted) {
    JsonObject[] found = new JsonObject[1];
    Wait.until(
        what,
        () -> {
          found[0] = states().stream().filter(wanted).findFirst().orElse(null);
          return found[0] != null;
        });
    return found[0];
  }

  @Override
  public void close() {
    socket.abort();
  }
}
