package dev.evenkeel.bus.frame;

import dev.evenkeel.api.Default;
import dev.evenkeel.api.LeftOut;
import dev.evenkeel.api.RecordJson;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.json.JsonObject;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The first frame of a client, as JSON: {@code
 * {"versions":[1],"session":"…","cluster":"evenkeel","client":"…","token":"…"}}.
 *
 * @param versions protocol versions that the client speaks
 * @param session id of the session, of the form {@value #SESSION_FORM}, never used again after all
 *     its connections were lost. All connections of a session have the same
 * @param cluster name of the cluster that the client wants
 * @param client what the client is, for people: product and version
 * @param token which user's program it is; null: a certificate says so, or the cluster has no users
 * @param answerBytesMax the longest answer that the client reads, if it is longer than what the
 *     node reads itself; 0: unknown
 */
public record Hello(
    List<Integer> versions,
    String session,
    String cluster,
    @Default("") String client,
    @LeftOut @Nullable String token,
    @LeftOut int answerBytesMax) {
  /**
   * The longest answer that this client reads: some grow with what is in the cluster, such as the
   * names of all topics.
   */
  public static final int ANSWER_BYTES_MAX = 64 << 20;

  /** Nobody can guess an id of another session, or take it by mistake. */
  public static final String SESSION_FORM = "s-[0-9a-f]{32}";

  public JsonObject toJson() {
    return RecordJson.json(this);
  }

  /** Without the token, so that no log has it. */
  @Override
  public String toString() {
    return "Hello of " + session + ", " + client;
  }

  /**
   * @throws RefusedException INVALID if a field is missing or of the wrong type
   */
  public static Hello fromJson(JsonObject json) {
    return RecordJson.of(Hello.class).read(json);
  }
}
