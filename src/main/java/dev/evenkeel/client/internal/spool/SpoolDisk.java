package dev.evenkeel.client.internal.spool;

import dev.evenkeel.client.ProducerOptions;
import dev.evenkeel.client.internal.spool.log.SpoolLog;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.internal.ContextInternal;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The thread that does all disk work of one spool, and the files that it has open. */
final class SpoolDisk {
  private static final Logger LOG = LoggerFactory.getLogger(SpoolDisk.class);

  private static final long SEGMENT_BYTES_MAX = 64L << 20;
  private static final int SEGMENTS_MIN = 8;

  /** A task for the thread. */
  interface Work<R> {
    R with(SpoolLog log) throws IOException;
  }

  private final ContextInternal context;
  private final Path directory;
  private final long segmentBytes;
  private final ScheduledThreadPoolExecutor thread;

  // Of the thread.
  private DirectoryStorage storage;
  private SpoolLog log;

  SpoolDisk(ContextInternal context, ProducerOptions options) {
    this.context = context;
    directory = Path.of(options.getSpool());
    segmentBytes = Math.min(SEGMENT_BYTES_MAX, options.getSpoolLimitBytes() / SEGMENTS_MIN);
    thread =
        new ScheduledThreadPoolExecutor(
            1,
            task -> {
              Thread made = new Thread(task, "evenkeel-spool");
              made.setDaemon(true);
              return made;
            });
    thread.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
  }

  /**
   * Takes the lock and reads what is there.
   *
   * @param restart drop it instead
   */
  Future<SpoolLog> open(boolean restart) {
    return run(
        none -> {
          storage = new DirectoryStorage(directory);
          if (restart) {
            for (String name : storage.names()) {
              if (name.endsWith(SpoolLog.SUFFIX)) {
                storage.delete(name);
              }
            }
          }
          log = SpoolLog.open(storage, segmentBytes);
          return log;
        });
  }

  /** The future completes on the producer's context. */
  <R> Future<R> run(Work<R> work) {
    Promise<R> promise = context.promise();
    try {
      thread.execute(
          () -> {
            try {
              promise.complete(work.with(log));
            } catch (RefusedException refused) {
              promise.fail(refused);
            } catch (IOException e) {
              promise.fail(failed(e));
            } catch (RuntimeException e) {
              LOG.error("the spool {} failed", directory, e);
              promise.fail(failed(e));
            }
          });
    } catch (RejectedExecutionException e) {
      promise.fail(new RefusedException(Refusal.UNAVAILABLE, "the producer is closed"));
    }
    return promise.future();
  }

  /** Runs something on the thread after a while, if it has not ended by then. */
  void after(long millis, Runnable task) {
    try {
      thread.schedule(task, millis, TimeUnit.MILLISECONDS);
    } catch (RejectedExecutionException e) {
      LOG.trace("closed meanwhile", e);
    }
  }

  private RefusedException failed(Exception e) {
    return new RefusedException(Refusal.UNAVAILABLE, "the spool " + directory + " failed: " + e);
  }

  /** Closes the files after all earlier tasks, and ends the thread. */
  Future<Void> close() {
    Future<Void> closed =
        run(
            none -> {
              if (storage != null) {
                storage.close();
              }
              return null;
            });
    thread.shutdown();
    return closed;
  }
}
