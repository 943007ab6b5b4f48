package dev.evenkeel.dispatcher;

import dev.evenkeel.api.RecordJson;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.dispatcher.core.MoveLog;
import dev.evenkeel.util.SteadyClock;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonArray;
import java.nio.charset.StandardCharsets;

/**
 * Answers live views: one answer has everything that a view shows. Questions within {@link
 * #SHARED_MILLIS} milliseconds share one read from the brokers, and the JSON is encoded outside of
 * the event loop. An answer leaves the moves out if the asker has them already, by the tag of its
 * last answer.
 *
 * <pre>
 * question  {"live": tag of the last answer, or null}
 * answer    {"facts":{"groups":[...],"topics":[...]},"tag":"...","moves":[newest first] or absent}
 * </pre>
 */
final class LiveLook {
  static final long SHARED_MILLIS = 90;
  static final int MOVES_MAX = 200;

  private final Vertx vertx;
  private final Activation activation;
  private final SteadyClock clock;
  private final String tagBegin;
  private Future<String> facts;
  private long factsMillis;
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
   */
  Future<Buffer> answer(String tag) {
    long nowMillis = clock.millis();
    boolean usable =
        facts != null && (!facts.isComplete() || nowMillis - factsMillis < SHARED_MILLIS);
    if (!usable || facts.failed()) {
      factsMillis = nowMillis;
      facts =
          activation
              .look(null, (core, reports) -> reports.everything())
              .compose(json -> vertx.executeBlocking(json::encode, false));
    }
    return facts.map(text -> framed(text, tag));
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
