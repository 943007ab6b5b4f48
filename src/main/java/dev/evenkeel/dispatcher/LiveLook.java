package dev.evenkeel.dispatcher;

import dev.evenkeel.api.RecordJson;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.GroupScope;
import dev.evenkeel.dispatcher.core.MoveLog;
import dev.evenkeel.util.SteadyClock;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonArray;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Answers live views: one answer has everything that a view shows. Questions within {@link
 * #SHARED_MILLIS} milliseconds share one read from the brokers, and the JSON is encoded outside of
 * the event loop. An answer leaves the moves out if the asker has them already, by the tag of its
 * last answer.
 *
 * <pre>
 * question  {"live": tag of the last answer, or null, "only": scope, or absent}
 * answer    {"facts":{"groups":[...],"topics":[...]},"tag":"...","moves":[newest first] or absent}
 * </pre>
 */
final class LiveLook {
  static final long SHARED_MILLIS = 90;
  static final int MOVES_MAX = 200;

  private static final int SCOPES_MAX = 16;

  private record Facts(Future<String> text, long sinceMillis) {
    boolean usable(long nowMillis) {
      return !text.failed() && (!text.isComplete() || nowMillis - sinceMillis < SHARED_MILLIS);
    }
  }

  private final Vertx vertx;
  private final Activation activation;
  private final SteadyClock clock;
  private final String tagBegin;

  /** By scope: each node asks for what its watchers see. */
  private final Map<GroupScope, Facts> facts = new LinkedHashMap<>();

  private String moves;
  private long movesRevision = -1;

  LiveLook(Vertx vertx, Activation activation, SteadyClock clock) {
    this.vertx = vertx;
    this.activation = activation;
    this.clock = clock;
    // Of two activations, even in one term, each has moves of its own.
    tagBegin = activation.term() + "." + clock.millis() + ".";
  }

  /**
   * @param tag of the moves that the asker has, or null
   * @param scope of groups and topics; moves are those of all groups
   */
  Future<Buffer> answer(String tag, GroupScope scope) {
    long nowMillis = clock.millis();
    Facts present = facts.get(scope);
    if (present == null || !present.usable(nowMillis)) {
      facts.values().removeIf(each -> !each.usable(nowMillis));
      if (facts.size() >= SCOPES_MAX) {
        facts.remove(facts.keySet().iterator().next());
      }
      present = new Facts(read(scope), nowMillis);
      facts.put(scope, present);
    }
    return present.text().map(text -> framed(text, tag));
  }

  private Future<String> read(GroupScope scope) {
    return activation
        .looks(scope)
        .compose(seen -> vertx.executeBlocking(() -> seen.everything().encode(), false));
  }

  private Buffer framed(String text, String tag) {
    MoveLog log = activation.core().moves();
    String now = tagBegin + log.revision();
    StringBuilder answer = new StringBuilder(text.length() + 64);
    answer.append("{\"facts\":").append(text).append(",\"tag\":\"").append(now).append('"');
    if (!now.equals(tag)) {
      answer.append(",\"moves\":").append(moves(log));
    }
    return Frames.answer(answer.append('}').toString().getBytes(StandardCharsets.UTF_8));
  }

  private String moves(MoveLog log) {
    if (movesRevision != log.revision()) {
      JsonArray array = new JsonArray();
      log.recentOfEach(MOVES_MAX)
          .forEach(move -> array.add(RecordJson.json(GroupReports.move(move))));
      moves = array.encode();
      movesRevision = log.revision();
    }
    return moves;
  }
}
