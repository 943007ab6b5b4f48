package dev.evenkeel.seconduser;

import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.protocol.Compression;
import dev.evenkeel.protocol.GroupPolicy;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.StartAt;
import dev.evenkeel.protocol.wire.Batch;
import dev.evenkeel.protocol.wire.BatchBuilder;
import dev.evenkeel.protocol.wire.BatchPacker;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Requests that cost a node much. */
final class Evil {
  /** Long enough for an attack, and soon over for what comes behind it. */
  private static final long TIMEOUT_MILLIS = 8_000;

  private Evil() {}

  /** A batch of tiny messages. */
  static Batch batch(long producer, int epoch, int messages) {
    return batch(producer, epoch, messages, 1, null);
  }

  /** A batch of tiny messages that are equal, so that it packs well. */
  static Batch packed(int messages) {
    return batch(0, 0, messages, 1, BatchPacker.of(Compression.ZSTD));
  }

  private static Batch batch(
      long producer, int epoch, int messages, int payloadBytes, BatchPacker packer) {
    BatchBuilder builder = new BatchBuilder(64 + messages * 16, packer);
    long now = System.currentTimeMillis();
    for (int i = 0; i < messages; i++) {
      builder.add(new Message(null, Map.of(), now, new byte[payloadBytes]));
    }
    return builder.build(producer, epoch, 0);
  }

  static Batch large(int payloadBytes) {
    return batch(0, 0, 1, payloadBytes, null);
  }

  /** As many conditions as a filter may have, and as long as they may be. */
  static List<String> conditions(int salt) {
    List<String> conditions = new ArrayList<>();
    for (int i = 0; i < 1_000; i++) {
      conditions.add("key^=%04d%s%s".formatted(i, salt, "x".repeat(48)).substring(0, 55));
    }
    return conditions;
  }

  static JsonObject heartbeat(
      String group, String member, String session, GroupPolicy policy, List<String> topics) {
    return new Heartbeat(
            group,
            member,
            RawSession.newId().substring(2),
            System.currentTimeMillis(),
            policy,
            topics,
            StartAt.LATEST,
            session,
            "attack",
            TIMEOUT_MILLIS,
            1_000)
        .toJson();
  }

  static JsonObject withFilter(JsonObject heartbeat, int salt) {
    return heartbeat.put("filter", new JsonArray(conditions(salt)));
  }
}
