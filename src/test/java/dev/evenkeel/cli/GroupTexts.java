package dev.evenkeel.cli;

import dev.evenkeel.api.GroupView;
import dev.evenkeel.api.ListGroups.GroupSummary;
import dev.evenkeel.api.RecordJson;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;

/** {@link GroupText} of the JSON of groups, which need not be whole. */
final class GroupTexts {
  private GroupTexts() {}

  private static GroupView view(JsonObject group) {
    JsonObject whole = group.copy();
    if (!whole.containsKey("failures")) {
      whole.put("failures", RecordJson.json(new GroupView.Failures(0, 0, 0, 0)));
    }
    for (Object each : whole.getJsonArray("shards", new JsonArray())) {
      JsonObject shard = (JsonObject) each;
      shard.put("shard", shard.getInteger("shard", 0));
    }
    return RecordJson.of(GroupView.class).read(whole);
  }

  static String of(JsonObject group) {
    return GroupText.of(view(group));
  }

  /** In the list of groups, or if the group lists its members, in its description. */
  static String status(JsonObject group) {
    if (group.getValue("members") instanceof JsonArray) {
      JsonObject detail = group.copy();
      if (!(detail.getValue("shards") instanceof JsonArray)) {
        detail.remove("shards");
      }
      return GroupText.status(view(detail));
    }
    JsonObject summary = new JsonObject().put("shards", 1).put("members", 1).mergeIn(group);
    return GroupText.status(RecordJson.of(GroupSummary.class).read(summary));
  }

  static String dedup(JsonObject group) {
    return GroupText.dedup(view(group));
  }

  static String rates(JsonObject group) {
    return GroupText.rates(view(group));
  }

  static String failures(JsonObject group) {
    return GroupText.failures(view(group));
  }

  static String breakers(JsonObject group) {
    return GroupText.breakers(view(group));
  }
}
