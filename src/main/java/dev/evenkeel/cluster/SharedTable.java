package dev.evenkeel.cluster;

import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.util.Map;

/**
 * A map that all members share. It can be wrong or empty for a while, so it holds only hints and
 * caches. Never blocks the caller.
 */
public interface SharedTable {
  Future<Void> put(String key, JsonObject value);

  Future<Void> remove(String key);

  /**
   * All entries. One that is no JSON object, as only strangers write it, is there as an empty one.
   */
  Future<Map<String, JsonObject>> all();

  Future<Void> clear();
}
