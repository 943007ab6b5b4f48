package dev.evenkeel.broker.serve;

import static dev.evenkeel.protocol.Refusal.TOO_LARGE;

import dev.evenkeel.broker.state.LookBounds;
import dev.evenkeel.bus.Asker;
import dev.evenkeel.bus.share.FairShare;
import dev.evenkeel.bus.share.Scarce;
import dev.evenkeel.bus.share.Shares;
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
 * are unpacked on a worker thread, so that other requests do not wait for that, and users take
 * turns there.
 *
 * <p>Runs on one context.
 */
final class CompressedBatches {
  /** What is unpacked at once takes about 0.1 ms. */
  private static final int AT_ONCE_BYTES_MAX = 256 << 10;

  /** A batch takes as long as so many bytes, however small it is. */
  private static final int BATCH_BYTES_MIN = 2 << 10;

  /** Worker threads that unpack at a time. */
  private static final int TURNS_MAX = 2;

  private final Vertx vertx;
  private final FairShare share;
  private final LookQueue turns = new LookQueue(TURNS_MAX);

  CompressedBatches(Vertx vertx) {
    this.vertx = vertx;
    // Where there are users, one of them can have the largest request checked.
    share = Shares.of(vertx).divide(Scarce.UNPACKING, 2L * Limits.APPEND_UNPACKED_BYTES_MAX);
  }

  /**
   * Checks those batches that are compressed.
   *
   * @return fails INVALID if a batch cannot be read
   * @throws RefusedException INVALID too; TOO_LARGE if the batches have more than {@link
   *     Limits#APPEND_UNPACKED_BYTES_MAX}, OVERLOADED if the user has too much being unpacked
   */
  Future<Void> check(List<AppendBody.Item> items, Asker asker) {
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
    return later(compressed, bytes, asker);
  }

  private Future<Void> later(List<Batch> compressed, long bytes, Asker asker) {
    if (bytes > Limits.APPEND_UNPACKED_BYTES_MAX) {
      throw TOO_LARGE.error(
          "append of batches that have %d bytes when they are unpacked: at most %d are allowed",
          bytes, Limits.APPEND_UNPACKED_BYTES_MAX);
    }
    FairShare.Account account = share.of(asker.user());
    account.take(bytes);
    return check(compressed, 0, asker).onComplete(done -> account.give(bytes));
  }

  /** Checks the batches from one on, some in each turn. */
  private Future<Void> check(List<Batch> batches, int from, Asker asker) {
    LookBounds turn = new LookBounds();
    int end = from;
    while (end < batches.size() && turn.take(batches.get(end))) {
      end++;
    }
    int to = end;
    List<Batch> some = batches.subList(from, to);
    return turns
        .run(
            asker,
            () -> true,
            () ->
                vertx.<Void>executeBlocking(
                    () -> {
                      some.forEach(Batch::checkMessages);
                      return null;
                    },
                    false))
        .compose(
            done -> to == batches.size() ? Future.succeededFuture() : check(batches, to, asker));
  }
}
