package dev.evenkeel.protocol;

/**
 * A topic as the meta log holds it.
 *
 * @param id unique number, never used again
 * @param name what users call it
 * @param shards how many shards it has
 * @param createdMillis milliseconds since 1970
 */
public record TopicInfo(
    int id, String name, int shards, TopicConfig config, State state, long createdMillis) {

  /** CREATING → ACTIVE → DELETING → gone. */
  public enum State {
    /** Recorded, but not every log group has opened its shards yet. */
    CREATING,
    ACTIVE,
    /** Refuses everything, while log groups drop its shards. */
    DELETING
  }

  public TopicInfo inState(State next) {
    return new TopicInfo(id, name, shards, config, next, createdMillis);
  }

  public TopicInfo configured(TopicConfig next) {
    return new TopicInfo(id, name, shards, next, state, createdMillis);
  }
}
