package dev.evenkeel.cluster;

/**
 * The maps in which the dispatcher tells everybody what it knows. The log decides; the maps may be
 * late, lost or wrong. Only dispatchers write to them.
 */
public interface SharedMaps {
  /** The names of the maps are a contract with other programs, like the keys and the entries. */
  String REGISTRY = "evenkeel.registry";

  String OWNERSHIP = "evenkeel.ownership";
  String DEDUP_KEYS = "evenkeel.dedup.keys";

  /** The consumer registry: "group/member" → JSON. */
  SharedTable registry();

  /** The owners of shards: "group/topic/shard" → JSON. */
  SharedTable ownership();

  /** The keys that deduplication holds for long: hash → JSON. */
  SharedTable dedupKeys();
}
