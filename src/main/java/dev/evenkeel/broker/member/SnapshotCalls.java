package dev.evenkeel.broker.member;

import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.VertxLink;
import dev.evenkeel.log.SnapshotManifest;
import dev.evenkeel.log.SnapshotSource;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;

/** The snapshots of another node, by requests to its membership address. */
record SnapshotCalls(CompletableFuture<Vertx> bus, String node) implements SnapshotSource {
  static final String FILES = "snapshotFiles";
  static final String READ = "snapshotRead";

  private static final long ANSWER_MILLIS_MAX = 10_000;

  @Override
  public CompletableFuture<SnapshotManifest> newest(String group) {
    return ask(new JsonObject().put("action", FILES).put("group", group))
        .thenApply(
            body -> {
              byte[] manifest = new byte[body.remaining()];
              body.get(manifest);
              return manifest.length == 0 ? null : SnapshotManifest.decode(manifest);
            });
  }

  @Override
  public CompletableFuture<ByteBuffer> read(Chunk chunk) {
    return ask(
        new JsonObject()
            .put("action", READ)
            .put("group", chunk.group())
            .put("term", chunk.term())
            .put("index", chunk.index())
            .put("file", chunk.file())
            .put("offset", chunk.offset())
            .put("bytes", chunk.bytes()));
  }

  private CompletableFuture<ByteBuffer> ask(JsonObject question) {
    return bus.thenCompose(
        vertx ->
            VertxLink.send(
                    vertx, Addresses.membership(node), question.toBuffer(), ANSWER_MILLIS_MAX)
                .map(Frames::answerBody)
                .toCompletionStage());
  }

  /** Answers another node's {@link #FILES}: the manifest, or nothing if there is no snapshot. */
  static Future<Buffer> files(SnapshotSource own, JsonObject question) {
    return Future.fromCompletionStage(own.newest(question.getString("group", "")))
        .map(manifest -> Frames.answer(manifest == null ? new byte[0] : manifest.encode()));
  }

  /** Answers another node's {@link #READ}: the bytes. */
  static Future<Buffer> read(SnapshotSource own, JsonObject question) {
    Chunk chunk =
        new Chunk(
            question.getString("group", ""),
            question.getLong("term", -1L),
            question.getLong("index", -1L),
            question.getString("file", ""),
            question.getLong("offset", -1L),
            question.getInteger("bytes", 0));
    return Future.fromCompletionStage(own.read(chunk)).map(bytes -> Frames.answer(bytes));
  }
}
