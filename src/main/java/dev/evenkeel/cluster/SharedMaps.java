package dev.evenkeel.cluster;

/**
 * The maps in which the dispatcher tells everybody what it knows. The log decides; the maps may be
 * late, lost or wrong. Only dispatchers write to them.
 */
public interface SharedMaps {
  /** The consumer registry: "group/member" → JSON. */
  SharedTable registry();

  /** The owners of shards: "group/topic/shard" → JSON. */
  SharedTable ownership();
}
