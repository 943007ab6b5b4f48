package dev.evenkeel.broker.serve;

import static dev.evenkeel.protocol.Refusal.OVERLOADED;
import static dev.evenkeel.protocol.Refusal.TOO_LARGE;

import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.wire.AppendBody;
import dev.evenkeel.protocol.wire.Batch;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.ArrayList;
import java.util.List;

/**
 * Unpacks compressed batches to check the messages in them. Few bytes are unpacked at once. More
 * are unpacked on a worker thread, so that other requests do not wait for that.
 *
 * <p>Runs on one context.
 */
final class CompressedBatches {
  /** What is unpacked at once takes about 0.1 ms. */
  private static final int AT_ONCE_BYTES_MAX = 256 << 10;

  /** A batch takes as long as so many bytes, however small it is. */
  private static final int BATCH_BYTES_MIN = 2 << 10;

  private final Vertx vertx;
  private long unpackingBytes;

  CompressedBatches(Vertx vertx) {
    this.vertx = vertx;
  }

  /**
   * Checks those batches that are compressed.
   *
   * @return fails INVALID if a batch cannot be read
   * @throws RefusedException INVALID too; TOO_LARGE if the batches have more than {@link
   *     Limits#APPEND_UNPACKED_BYTES_MAX}, OVERLOADED if they have more together with those that
   *     are being unpacked
   */
  Future<Void> check(List<AppendBody.Item> items) {
    List<Batch> compressed = new ArrayList<>();
    long bytes = 0;
    long cost = 0;
    for (AppendBody.Item item : items) {
      if (item.batch().isCompressed()) {
        compressed.add(item.batch());
        int unpacked = item.batch().unpackedLength();
        bytes += unpacked;
        cost += Math.max(unpacked, BATCH_BYTES_MIN);
      }
    }
    if (cost <= AT_ONCE_BYTES_MAX) {
      compressed.forEach(Batch::checkMessages);
      return Future.succeededFuture();
    }
    return later(compressed, bytes);
  }

  private Future<Void> later(List<Batch> compressed, long bytes) {
    if (bytes > Limits.APPEND_UNPACKED_BYTES_MAX) {
      throw TOO_LARGE.error(
          "append of batches that have %d bytes when they are unpacked: at most %d are allowed",
          bytes, Limits.APPEND_UNPACKED_BYTES_MAX);
    }
    if (unpackingBytes + bytes > Limits.APPEND_UNPACKED_BYTES_MAX) {
      throw OVERLOADED.error(unpackingBytes + " bytes of compressed batches are being checked");
    }
    unpackingBytes += bytes;
    return vertx
        .<Void>executeBlocking(
            () -> {
              compressed.forEach(Batch::checkMessages);
              return null;
            },
            false)
        .onComplete(done -> unpackingBytes -= bytes);
  }
}
