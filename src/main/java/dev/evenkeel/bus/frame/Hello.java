package dev.evenkeel.bus.frame;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;

/**
 * The first frame of a client, as JSON: {@code
 * {"versions":[1],"session":"…","cluster":"evenkeel","client":"…"}}.
 *
 * @param versions protocol versions that the client speaks
 * @param session id of the session, of the form {@value #SESSION_FORM}, never used again after all
 *     its connections were lost. All connections of a session have the same
 * @param cluster name of the cluster that the client wants
 * @param client what the client is, for people: product and version
 */
public record Hello(List<Integer> versions, String session, String cluster, String client) {
  /** Nobody can guess an id of another session, or take it by mistake. */
  public static final String SESSION_FORM = "s-[0-9a-f]{32}";

  public JsonObject toJson() {
    return new JsonObject()
        .put("versions", new JsonArray(versions))
        .put("session", session)
        .put("cluster", cluster)
        .put("client", client);
  }

  /**
   * @throws ClassCastException or NullPointerException if a field is missing or of the wrong type
   */
  public static Hello fromJson(JsonObject json) {
    List<Integer> versions =
        json.getJsonArray("versions").stream().map(each -> ((Number) each).intValue()).toList();
    return new Hello(
        versions,
        json.getString("session"),
        json.getString("cluster"),
        json.getString("client", ""));
  }
}
