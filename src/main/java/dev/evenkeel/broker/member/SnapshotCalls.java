package dev.evenkeel.broker.member;

import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.MemberQuestions;
import dev.evenkeel.bus.MemberQuestions.OfGroup;
import dev.evenkeel.bus.VertxLink;
import dev.evenkeel.log.SnapshotManifest;
import dev.evenkeel.log.SnapshotSource;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;

/** The snapshots of another node, by requests to its membership address. */
record SnapshotCalls(CompletableFuture<Vertx> bus, String node) implements SnapshotSource {
  static final String FILES = "snapshotFiles";
  static final String READ = "snapshotRead";

  private static final long ANSWER_MILLIS_MAX = 10_000;

  @Override
  public CompletableFuture<SnapshotManifest> newest(String group) {
    return ask(FILES, new OfGroup(group))
        .thenApply(
            body -> {
              byte[] manifest = new byte[body.remaining()];
              body.get(manifest);
              return manifest.length == 0 ? null : SnapshotManifest.decode(manifest);
            });
  }

  @Override
  public CompletableFuture<ByteBuffer> read(Chunk chunk) {
    return ask(READ, chunk);
  }

  private CompletableFuture<ByteBuffer> ask(String action, Record question) {
    return bus.thenCompose(
        vertx ->
            VertxLink.send(
                    vertx,
                    Addresses.membership(node),
                    MemberQuestions.ask(action, question).toBuffer(),
                    ANSWER_MILLIS_MAX)
                .map(Frames::answerBody)
                .toCompletionStage());
  }

  /** Answers another node's {@link #FILES}: the manifest, or nothing if there is no snapshot. */
  static Future<Buffer> files(SnapshotSource own, OfGroup asked) {
    return Future.fromCompletionStage(own.newest(asked.group()))
        .map(manifest -> Frames.answer(manifest == null ? new byte[0] : manifest.encode()));
  }

  /** Answers another node's {@link #READ}: the bytes. */
  static Future<Buffer> read(SnapshotSource own, Chunk chunk) {
    return Future.fromCompletionStage(own.read(chunk)).map(bytes -> Frames.answer(bytes));
  }
}
