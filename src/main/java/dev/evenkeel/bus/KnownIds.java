package dev.evenkeel.bus;

import dev.evenkeel.protocol.ProducerIds;
import dev.evenkeel.protocol.Quota;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.wire.FeatureLevel;
import java.util.Collection;

/**
 * Names for the ids that requests carry, from this node's copy of the meta log. Safe for use from
 * any thread.
 */
public interface KnownIds {
  /**
   * The name of a topic, in whatever state.
   *
   * @return null if the topic was deleted, or never existed
   * @throws RefusedException UNAVAILABLE if this node may not have heard of it yet
   */
  String topic(int id);

  /**
   * The name of a producer.
   *
   * @return null if it has none
   * @throws RefusedException UNAVAILABLE if this node may not have heard of it yet
   */
  String producer(long id);

  /**
   * Whether the name of a producer has been forgotten since it had that epoch: see {@link
   * dev.evenkeel.protocol.ProducerIds#isOfName}. False: it has not, or the id is of no name, or
   * this node may not have heard of it.
   */
  boolean isForgotten(long producer, int epoch);

  /** Names of the groups with a tag, see {@link ProducerIds}; a live view. */
  Collection<String> groups(int tag);

  /**
   * The rate that a group has, or null.
   *
   * @throws RefusedException UNAVAILABLE if this node does not know
   */
  Quota groupRate(String group);

  /** What all nodes read, see {@link FeatureLevel}. */
  int featureLevel();

  /** The refusal of a request with an id that the node does not know yet. */
  static RefusedException unheard(String what, long id) {
    return Refusal.UNAVAILABLE.error("this node does not know the %s %s yet: try again", what, id);
  }
}
