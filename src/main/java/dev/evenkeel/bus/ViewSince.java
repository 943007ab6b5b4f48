package dev.evenkeel.bus;

import dev.evenkeel.api.RecordJson;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonObject;

/**
 * What a question for a view of the cluster says of the view that the asker has. The answer then
 * names only the topics that have changed since: with many topics, a view of all is large. A broker
 * that does not know what has changed, or is of a former version, answers with all topics.
 *
 * @param cluster the cluster's id
 * @param metaIndex {@link ClusterView#metaIndex}
 * @param visibleTo {@link ClusterView#visibleTo}
 */
public record ViewSince(String cluster, long metaIndex, int visibleTo) {
  private static final RecordJson<ViewSince> JSON =
      new RecordJson<>(ViewSince.class).unless(ClusterView.VISIBLE_TO, 0);

  /**
   * The question of somebody who has this view.
   *
   * @param known null: none
   */
  public static Buffer question(ClusterView known) {
    return known == null || !known.caughtUp() || known.metaIndex() < 0
        ? Buffer.buffer()
        : JSON.write(new ViewSince(known.cluster(), known.metaIndex(), known.visibleTo()))
            .toBuffer();
  }

  /** What a question says; null: it asks for all topics. */
  public static ViewSince of(Buffer question) {
    if (question == null || question.length() == 0) {
      return null;
    }
    try {
      ViewSince since = JSON.read(new JsonObject(question));
      return since.cluster() == null ? null : since;
    } catch (DecodeException | ClassCastException | RefusedException e) {
      return null;
    }
  }
}
