package dev.evenkeel.bus;

import io.vertx.core.json.JsonObject;
import java.util.List;

/**
 * A node leads a log group in a term. A hint: who misses it finds out by asking.
 *
 * @param group number of the data group, or {@link ClusterView#META}
 */
public record LeaderChange(int group, String node, long term) {
  private static final RecordJson<LeaderChange> JSON = new RecordJson<>(LeaderChange.class);
  private static final RecordJson<News> NEWS =
      new RecordJson<>(News.class).list("leaders", Integer.MAX_VALUE, JSON::write, JSON::readItem);

  /**
   * What a broker announces.
   *
   * @param began the node has just begun to lead them, so that what waited may be tried; else it is
   *     repeated for those who missed it
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
