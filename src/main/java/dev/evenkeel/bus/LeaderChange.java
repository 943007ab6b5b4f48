package dev.evenkeel.bus;

import dev.evenkeel.api.RecordJson;
import io.vertx.core.json.JsonObject;
import java.util.List;

/**
 * Says that a node leads a log group in a term. It is a hint: whoever misses it finds out by
 * asking.
 *
 * @param group number of the data group, or {@link ClusterView#META}
 */
public record LeaderChange(int group, String node, long term) {
  private static final RecordJson<LeaderChange> JSON = new RecordJson<>(LeaderChange.class);
  private static final RecordJson<News> NEWS =
      new RecordJson<>(News.class).list("leaders", Integer.MAX_VALUE, JSON::write, JSON::readItem);

  /**
   * An announcement of a broker.
   *
   * @param began true if the node has just begun to lead them, so that waiting requests can be
   *     tried again; false if it repeats what it said before
   */
  public record News(List<LeaderChange> leaders, boolean began) {
    public News {
      leaders = List.copyOf(leaders);
    }

    public JsonObject toJson() {
      return NEWS.write(this);
    }

    public static News fromJson(JsonObject json) {
      return NEWS.read(json);
    }
  }
}
