package dev.evenkeel.gateway.live;

import io.vertx.core.json.JsonObject;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What the live view shows, and what was told of it last. Facts come in; a patch that leads from
 * what was told to what is so now goes out. It has no clock: {@code nowMillis} is monotonic. Not
 * thread-safe.
 */
public final class LiveState {
  private final Map<String, Object> server = new LinkedHashMap<>();
  private final LiveGroups liveGroups = new LiveGroups();
  private final LiveTopics liveTopics = new LiveTopics();
  private final MoveHistory moveHistory = new MoveHistory();
  private Map<String, Object> cluster = new LinkedHashMap<>();
  private Map<String, Object> topics = new LinkedHashMap<>();
  private Map<String, Object> groups = new LinkedHashMap<>();
  private Map<String, Object> moves = new LinkedHashMap<>();
  private String dispatcher;
  private String tag;
  private Map<String, Object> told = new LinkedHashMap<>();

  /**
   * @param node the node that this is
   */
  public LiveState(String node, String version) {
    server.put("node", node);
    server.put("version", version);
    told = current();
  }

  /**
   * The dispatcher of {@code node} has answered.
   *
   * @param answer {@code {"facts":{"groups","topics"},"tag","moves"}}
   * @throws RuntimeException if a field is missing or of the wrong type
   */
  public void looked(String node, JsonObject answer, long nowMillis) {
    JsonObject facts = answer.getJsonObject("facts");
    groups = liveGroups.take(Json.objects(facts.getJsonArray("groups")), nowMillis);
    topics = liveTopics.take(Json.objects(facts.getJsonArray("topics")), nowMillis);
    if (answer.getJsonArray("moves") != null) {
      moveHistory.take(Json.objects(answer.getJsonArray("moves")));
      moves = moveHistory.state();
    }
    tag = answer.getString("tag");
    dispatcher = node;
  }

  /** Names the moves that are known, for the next question; null before the first answer. */
  public String tag() {
    return tag;
  }

  /** No dispatcher answers: what was known of the groups stays. */
  public void dispatcherSilent() {
    dispatcher = null;
  }

  /** The cluster's status as {@code evenkeel.api.cluster} answers it. */
  public void clusterKnown(JsonObject status) {
    cluster = ClusterFacts.of(status);
  }

  public void clusterSilent() {
    cluster = ClusterFacts.unknown(cluster);
  }

  /** What leads from what was told to what is so now, which counts as told from here on. */
  public Map<String, Object> patch() {
    Map<String, Object> now = current();
    Map<String, Object> patch = MergePatch.diff(told, now);
    told = now;
    return patch;
  }

  /** What was told: the state that the next {@link #patch} is to be applied to. */
  public Map<String, Object> told() {
    return told;
  }

  private Map<String, Object> current() {
    Map<String, Object> clusterNow = new LinkedHashMap<>(cluster);
    Json.put(clusterNow, "dispatcher", dispatcher);
    Map<String, Object> state = new LinkedHashMap<>();
    state.put("server", server);
    state.put("cluster", clusterNow);
    state.put("topics", topics);
    state.put("groups", groups);
    state.put("moves", moves);
    return state;
  }
}
