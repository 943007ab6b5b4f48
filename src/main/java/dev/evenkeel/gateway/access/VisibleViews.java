package dev.evenkeel.gateway.access;

import dev.evenkeel.bus.ClusterView;
import dev.evenkeel.bus.ViewQuestion;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The parts of the view of the cluster that users may see. To read a view with many topics, and to
 * write it again, takes milliseconds: so the last view is read once for each user until it changes,
 * apart from the clock in it. Safe for use from any thread.
 */
final class VisibleViews {
  /** Smaller ones, without topics or with few of them, are read each time. */
  static final int KEPT_BYTES_MIN = 1_024;

  /** Most bytes of the parts of all users that are kept. */
  static final int KEPT_BYTES_MAX = 4 << 20;

  private static final String CLOCK = ",\"" + ViewQuestion.CLOCK + "\":";

  /** With all digits of a time, and the brace behind it. */
  private static final int CLOCK_BYTES_MAX = CLOCK.length() + 20;

  /** The last view up to its clock. */
  private byte[] whole = {};

  /** The part of it for each user, up to the clock. */
  private final Map<Principal, byte[]> parts = new HashMap<>();

  private long partsBytes;

  /** The part of a view that a user may see. */
  Buffer visible(Principal principal, Buffer view) {
    if (principal.seesAll()) {
      return view;
    }
    int clockAt = clockAt(view);
    if (clockAt < KEPT_BYTES_MIN) {
      return part(principal, view);
    }
    byte[] before = view.getBytes(0, clockAt);
    byte @Nullable [] part = known(principal, before);
    if (part == null) {
      byte[] made = part(principal, Buffer.buffer(before).appendByte((byte) '}')).getBytes();
      part = Arrays.copyOf(made, made.length - 1);
      keep(principal, before, part);
    }
    return Buffer.buffer(part.length + CLOCK_BYTES_MAX)
        .appendBytes(part)
        .appendBuffer(view, clockAt, view.length() - clockAt);
  }

  private synchronized byte @Nullable [] known(Principal principal, byte[] view) {
    if (!Arrays.equals(view, whole)) {
      whole = view;
      parts.clear();
      partsBytes = 0;
    }
    return parts.get(principal);
  }

  private synchronized void keep(Principal principal, byte[] view, byte[] part) {
    boolean fits = partsBytes + part.length <= KEPT_BYTES_MAX;
    // Another view may have come meanwhile.
    if (fits && Arrays.equals(view, whole) && parts.putIfAbsent(principal, part) == null) {
      partsBytes += part.length;
    }
  }

  /** Bytes that are kept. */
  synchronized long keptBytes() {
    return partsBytes;
  }

  /** Where the clock stands, if it is the last field; else -1. */
  private static int clockAt(Buffer view) {
    int from = Math.max(0, view.length() - CLOCK_BYTES_MAX);
    String tail = new String(view.getBytes(from, view.length()), StandardCharsets.ISO_8859_1);
    int at = tail.lastIndexOf(CLOCK);
    boolean last = at >= 0 && tail.substring(at + CLOCK.length()).matches("\\d+}");
    return last ? from + at : -1;
  }

  private static Buffer part(Principal principal, Buffer view) {
    JsonObject json = new JsonObject(view);
    for (String field : ClusterView.TOPICS) {
      if (json.getJsonArray(field) != null) {
        List<Object> topics =
            json.getJsonArray(field).stream()
                .filter(topic -> principal.seesTopic(((JsonObject) topic).getString("name")))
                .toList();
        json.put(field, new JsonArray(topics));
      }
    }
    return json.put(ClusterView.VISIBLE_TO, SessionRules.visibleTo(principal)).toBuffer();
  }
}
