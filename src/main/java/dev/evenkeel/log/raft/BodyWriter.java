package dev.evenkeel.log.raft;

import dev.evenkeel.log.EntryBodies;
import dev.evenkeel.util.Daemon;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/**
 * Writes the bodies of one log group on a thread of its own, several at once, in the order in which
 * they come. After a failure it writes nothing any more: nobody knows then what is on disk.
 */
final class BodyWriter implements AutoCloseable {
  private static final int BATCH_BYTES_MAX = 4 << 20;
  private static final long CLOSE_MILLIS_MAX = 10_000;

  /**
   * Something to be done.
   *
   * @param body to be written; null: a force
   */
  private record Task(EntryBodies.Body body, CompletableFuture<Void> done) {
    boolean isForce() {
      return body == null;
    }

    int bytes() {
      return isForce() ? 0 : body.parts().stream().mapToInt(ByteBuffer::remaining).sum();
    }
  }

  private final EntryBodies bodies;
  private final Consumer<Throwable> failed;
  private final LinkedBlockingQueue<Task> queue = new LinkedBlockingQueue<>();
  private final Task end = new Task(null, new CompletableFuture<>());
  private final AtomicLong taken = new AtomicLong();
  private final Thread thread;

  /** Of those taken, how many are on disk. */
  private volatile long forced;

  private volatile IOException stopped;

  /** On the thread. */
  private long written;

  private boolean ended;

  /**
   * @param failed hears why nothing is written any more
   */
  BodyWriter(String group, EntryBodies bodies, Consumer<Throwable> failed) {
    this.bodies = bodies;
    this.failed = failed;
    thread = Daemon.start("log-bodies-" + group, this::run);
  }

  /** Completes {@code done} when the body can be read from its file; it may be lost by a crash. */
  void write(EntryBodies.Body body, CompletableFuture<Void> done) {
    taken.incrementAndGet();
    add(new Task(body, done));
  }

  /** Completes when everything that came before is on disk. */
  CompletableFuture<Void> force() {
    if (taken.get() == forced) {
      return CompletableFuture.completedFuture(null);
    }
    Task force = new Task(null, new CompletableFuture<>());
    add(force);
    return force.done();
  }

  private void add(Task task) {
    queue.add(task);
    // Looked at after adding: stop() sets it before it empties the queue.
    IOException reason = stopped;
    if (reason != null) {
      task.done().completeExceptionally(reason);
    }
  }

  private void run() {
    List<Task> batch = new ArrayList<>();
    try {
      while (!ended) {
        take(batch);
        carryOut(batch);
        batch.forEach(task -> task.done().complete(null));
        batch.clear();
      }
      stop(new IOException("the files of bodies are closed"), batch);
    } catch (Exception | Error e) {
      if (e instanceof InterruptedException) {
        Thread.currentThread().interrupt();
      }
      failed.accept(e);
      stop(new IOException("bodies of entries cannot be written: " + Refusals.reason(e), e), batch);
    }
  }

  /** Takes tasks up to the next force, or as many as belong into one write. */
  private void take(List<Task> batch) throws InterruptedException {
    long bytes = 0;
    for (Task task = queue.take(); task != null; task = queue.poll()) {
      ended = task == end;
      if (ended) {
        return;
      }
      batch.add(task);
      bytes += task.bytes();
      if (task.isForce() || bytes >= BATCH_BYTES_MAX) {
        return;
      }
    }
  }

  private void carryOut(List<Task> batch) throws IOException {
    List<EntryBodies.Body> some =
        batch.stream().filter(task -> !task.isForce()).map(Task::body).toList();
    if (!some.isEmpty()) {
      bodies.append(some);
      written += some.size();
    }
    if (some.size() < batch.size()) {
      bodies.force();
      forced = written;
    }
  }

  private void stop(IOException reason, List<Task> batch) {
    stopped = reason;
    batch.forEach(task -> task.done().completeExceptionally(reason));
    for (Task task = queue.poll(); task != null; task = queue.poll()) {
      task.done().completeExceptionally(reason);
    }
  }

  /** Waits until the thread has ended. What it has not written by then fails. */
  @Override
  public void close() {
    queue.add(end);
    try {
      thread.join(CLOSE_MILLIS_MAX);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
