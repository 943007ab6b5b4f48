package dev.evenkeel.client.internal.spool;

import dev.evenkeel.client.Producer;
import dev.evenkeel.client.ProducerOptions;
import dev.evenkeel.client.internal.spool.log.SpoolIntake;
import dev.evenkeel.client.internal.spool.log.SpoolLog;
import dev.evenkeel.client.internal.spool.log.SpoolRecord;
import dev.evenkeel.client.internal.spool.log.SpoolSettings;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.io.IOException;
import java.util.List;
import java.util.function.Consumer;

/** Writes what was accepted, and forces it to the disk as the policy says. On the disk's thread. */
final class SpoolWriter {
  private final SpoolDisk disk;
  private final SpoolSettings settings;
  private final SpoolSender sender;
  private final Consumer<Throwable> onFailure;
  private boolean forceTimed;

  SpoolWriter(
      SpoolDisk disk, SpoolSettings settings, SpoolSender sender, Consumer<Throwable> onFailure) {
    this.disk = disk;
    this.settings = settings;
    this.sender = sender;
    this.onFailure = onFailure;
  }

  /**
   * @param spooled told when it is in the spool, or that it could not be written
   * @throws RefusedException UNAVAILABLE if the disk failed; nothing more can be written then
   */
  void write(
      SpoolLog log,
      SpoolIntake.Chunk<Promise<Producer.Position>> chunk,
      List<Promise<Void>> spooled) {
    try {
      log.append(chunk.frame());
      if (settings.fsync() == ProducerOptions.SpoolFsync.ALWAYS) {
        log.force();
      }
    } catch (IOException | RuntimeException e) {
      RefusedException why =
          new RefusedException(Refusal.UNAVAILABLE, "cannot write to the spool: " + e);
      spooled.forEach(promise -> promise.tryFail(why));
      chunk.tokens().forEach(batch -> batch.forEach(token -> token.value().tryFail(why)));
      throw why;
    }
    sender.offer(log, chunk.frame(), chunk.tokens());
    spooled.forEach(Promise::tryComplete);
    if (settings.fsync() == ProducerOptions.SpoolFsync.INTERVAL && !forceTimed) {
      forceTimed = true;
      disk.after(settings.fsyncMillis(), () -> disk.run(this::force).onFailure(onFailure::accept));
    }
  }

  /** The last thing that is written: what is acknowledged by now. From the context. */
  Future<Void> lastNote() {
    SpoolRecord.Acked acked = sender.acknowledged();
    return disk.run(
        log -> {
          log.acked(acked.frame(), acked.messages());
          log.force();
          return null;
        });
  }

  private Void force(SpoolLog log) throws IOException {
    forceTimed = false;
    log.force();
    return null;
  }
}
