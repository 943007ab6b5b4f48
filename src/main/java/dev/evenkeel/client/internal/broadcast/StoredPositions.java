package dev.evenkeel.client.internal.broadcast;

import dev.evenkeel.client.Consumer;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.ConsumerOptions.OnDamagedOffsets;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.StartAt;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.Executor;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The positions of a consumer in mode broadcast, and the file that holds them. One write is under
 * way at a time; changes meanwhile go into the next. Everything but {@link #open} happens on the
 * consumer's context.
 */
public final class StoredPositions {
  private static final Logger LOG = LoggerFactory.getLogger(Consumer.class);

  private final Vertx vertx;
  private final OffsetsFile file;
  private final BroadcastPositions positions;

  /** Completes with the next write; null if nobody waits for it. */
  private Promise<Void> next;

  private boolean writing;
  private Promise<Void> closing;

  private StoredPositions(Vertx vertx, OffsetsFile file, BroadcastPositions positions) {
    this.vertx = vertx;
    this.file = file;
    this.positions = positions;
  }

  /**
   * Takes the directory for this consumer, and reads its offsets. Blocks.
   *
   * @param memberByDefault name of a member that has none yet
   * @throws RefusedException INVALID, saying how to fix it
   */
  public static StoredPositions open(Vertx vertx, ConsumerOptions options, String memberByDefault) {
    OffsetsFile file = OffsetsFile.open(Path.of(options.getOffsetsDirectory()), options.getGroup());
    try {
      return new StoredPositions(vertx, file, read(file, options, memberByDefault));
    } catch (IOException e) {
      file.close();
      throw new RefusedException(Refusal.INVALID, file.path() + " cannot be read: " + e);
    } catch (RuntimeException e) {
      file.close();
      throw e;
    }
  }

  private static BroadcastPositions read(
      OffsetsFile file, ConsumerOptions options, String memberByDefault) throws IOException {
    String asked = options.getMember();
    StartAt start = options.getStart();
    Offsets stored = null;
    try {
      stored = file.read();
    } catch (Offsets.DamagedException e) {
      start = replacement(file, options, e.getMessage());
    }
    if (stored == null) {
      return new BroadcastPositions(
          options.getGroup(), asked == null ? memberByDefault : asked, start);
    }
    if (!stored.group().equals(options.getGroup())) {
      throw new RefusedException(
          Refusal.INVALID,
          file.path() + " is of group " + stored.group() + ", not " + options.getGroup());
    }
    if (asked != null && !asked.equals(stored.member())) {
      throw new RefusedException(
          Refusal.INVALID,
          "%s is of member %s, not %s: use that name, or another directory for the offsets",
          file.path(),
          stored.member(),
          asked);
    }
    return new BroadcastPositions(stored, start);
  }

  /** Where to begin when the file is damaged. */
  private static StartAt replacement(OffsetsFile file, ConsumerOptions options, String why)
      throws IOException {
    OnDamagedOffsets then = options.getOnDamagedOffsets();
    if (then == OnDamagedOffsets.REFUSE) {
      throw new RefusedException(
          Refusal.INVALID,
          "the offsets file %s is damaged (%s): put a good copy in its place, or begin at earliest"
              + " or latest with %s",
          file.path(),
          why,
          ConsumerOptions.setter("onDamagedOffsets"));
    }
    Path aside = file.putAside();
    LOG.error(
        "the offsets file {} is damaged ({}): it is kept as {}, and group {} begins at {}",
        file.path(),
        why,
        aside.getFileName(),
        options.getGroup(),
        then == OnDamagedOffsets.EARLIEST ? "earliest" : "latest");
    return then == OnDamagedOffsets.EARLIEST ? StartAt.EARLIEST : StartAt.LATEST;
  }

  public BroadcastPositions positions() {
    return positions;
  }

  public Path path() {
    return file.path();
  }

  /**
   * Completes when the present positions are on disk. Fails with INVALID if they cannot be written.
   *
   * @param context runs what it gets on the consumer's context
   */
  public Future<Void> store(Executor context) {
    if (closing != null) {
      return Future.failedFuture(new RefusedException(Refusal.UNAVAILABLE, "it is closed"));
    }
    if (next == null) {
      next = Promise.promise();
    }
    Promise<Void> mine = next;
    if (!writing) {
      write(context);
    }
    return mine.future();
  }

  private void write(Executor context) {
    Promise<Void> promise = next;
    next = null;
    writing = true;
    Offsets offsets = positions.offsets();
    vertx
        .executeBlocking(
            () -> {
              file.write(offsets);
              return null;
            },
            false)
        .onComplete(
            written ->
                context.execute(
                    () -> {
                      writing = false;
                      if (next != null) {
                        write(context);
                      } else if (closing != null) {
                        unlock();
                      }
                      if (written.succeeded()) {
                        promise.complete();
                      } else {
                        promise.fail(
                            new RefusedException(
                                Refusal.INVALID,
                                file.path() + " cannot be written: " + written.cause()));
                      }
                    }));
  }

  /** Releases the directory, once the write under way is done. */
  public Future<Void> close() {
    if (closing == null) {
      closing = Promise.promise();
      if (!writing) {
        unlock();
      }
    }
    return closing.future();
  }

  private void unlock() {
    Promise<Void> promise = closing;
    vertx
        .executeBlocking(
            () -> {
              file.close();
              return null;
            },
            false)
        .onComplete(done -> promise.tryComplete());
  }
}
