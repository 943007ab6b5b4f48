package dev.evenkeel.gateway.live;

import dev.evenkeel.api.ClusterStatusView;
import dev.evenkeel.api.GroupView;
import dev.evenkeel.api.RecordJson;
import io.vertx.core.json.JsonObject;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The state of the live view, and the state that watchers were sent last. It takes in facts, and
 * gives patches from the sent state to the present one. {@code nowMillis} is monotonic. Not safe
 * for use from several threads.
 */
public final class LiveState {
  private final Map<String, Object> server = new LinkedHashMap<>();
  private final LiveGroups liveGroups = new LiveGroups();
  private final LiveTopics liveTopics = new LiveTopics();
  private final MoveHistory moveHistory = new MoveHistory();
  private Map<String, Object> cluster = new LinkedHashMap<>();
  private Map<String, Object> topics = new LinkedHashMap<>();
  private static final RecordJson<GroupView> GROUP = RecordJson.of(GroupView.class);

  private Map<String, Object> groups = new LinkedHashMap<>();
  private Map<String, Object> moves = new LinkedHashMap<>();
  private String dispatcher;

  /** What the shared maps say, while no dispatcher answers; null: nothing is known of them. */
  private ByMap byMap;

  private String tag;
  private Map<String, Object> sent = new LinkedHashMap<>();

  /**
   * @param node id of this node
   */
  public LiveState(String node, String version) {
    server.put("node", node);
    server.put("version", version);
    sent = current();
  }

  /**
   * Takes an answer of the dispatcher of {@code node}.
   *
   * @param answer {@code {"facts":{"groups","topics"},"tag","moves"}}
   * @throws RuntimeException if a field is missing or of the wrong type
   */
  public void looked(String node, JsonObject answer, long nowMillis) {
    JsonObject facts = answer.getJsonObject("facts");
    List<GroupView> views =
        Json.objects(facts.getJsonArray("groups")).stream().map(GROUP::read).toList();
    groups = liveGroups.take(views, nowMillis);
    topics = liveTopics.take(Json.objects(facts.getJsonArray("topics")), nowMillis);
    if (answer.getJsonArray("moves") != null) {
      moves = moveHistory.take(Json.objects(answer.getJsonArray("moves")));
    }
    tag = answer.getString("tag");
    dispatcher = node;
    // The log has decided.
    byMap = null;
  }

  /** Names the known moves, for the next question; null before the first answer. */
  public String tag() {
    return tag;
  }

  /** Notes that no dispatcher answers. The known groups stay. */
  public void dispatcherSilent() {
    dispatcher = null;
  }

  /**
   * Takes what the shared maps say. It has no effect while a dispatcher answers.
   *
   * @param asOf when the maps were read
   */
  public void mapsRead(
      Map<String, JsonObject> ownership, Map<String, JsonObject> registry, Instant asOf) {
    if (dispatcher == null) {
      byMap = new ByMap(MapOwners.over(groups, ownership, registry), asOf.toString());
    }
  }

  private record ByMap(Map<String, Object> groups, String asOf) {}

  /** Takes the status of the cluster. */
  public void clusterKnown(ClusterStatusView status) {
    cluster = ClusterFacts.of(status);
  }

  public void clusterSilent() {
    cluster = ClusterFacts.unknown(cluster);
  }

  /** The present state, which counts as sent from now on. */
  Map<String, Object> advance() {
    sent = current();
    return sent;
  }

  /** The patch from the sent state to the present one, which counts as sent from now on. */
  public Map<String, Object> patch() {
    return MergePatch.diff(sent, advance());
  }

  /** The sent state, to which the next {@link #patch} applies. */
  public Map<String, Object> sent() {
    return sent;
  }

  private Map<String, Object> current() {
    Map<String, Object> clusterNow = new LinkedHashMap<>(cluster);
    Json.put(clusterNow, "dispatcher", dispatcher);
    if (byMap != null) {
      clusterNow.put("owners", Map.of("source", "map", "asOf", byMap.asOf()));
    }
    Map<String, Object> state = new LinkedHashMap<>();
    state.put("server", server);
    state.put("cluster", clusterNow);
    state.put("topics", topics);
    state.put("groups", byMap == null ? groups : byMap.groups());
    state.put("moves", moves);
    return state;
  }
}
