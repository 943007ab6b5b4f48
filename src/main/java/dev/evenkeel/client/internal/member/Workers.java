package dev.evenkeel.client.internal.member;

import dev.evenkeel.client.ConsumerHandler;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.ConsumerOptions.WorkerThreads;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.internal.ContextInternal;
import java.lang.reflect.Method;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

/**
 * Threads on which the code of an application may block. Messages have as many as there may be
 * messages at work, so none waits for a thread. What begins and ends shards has its own, as many,
 * so that many shards at once do not keep messages from theirs.
 */
final class Workers {
  /** The first version of Java whose virtual threads may block in synchronized code. */
  private static final int VIRTUAL_SYNCHRONIZED_FEATURE_MIN = 24;

  /** The first version of Java with virtual threads. */
  static final int VIRTUAL_FEATURE_MIN = 21;

  private static final long IDLE_SECONDS = 10;

  private final ExecutorService messages;
  private final ExecutorService shards;

  /**
   * @param consumer names the threads
   */
  Workers(ConsumerOptions options, String consumer) {
    messages = executor(options, consumer);
    shards = executor(options, consumer + "/shards");
  }

  private static ExecutorService executor(ConsumerOptions options, String name) {
    WorkerThreads kind = options.getWorkerThreads();
    boolean virtual =
        kind == WorkerThreads.VIRTUAL
            || kind == WorkerThreads.AUTO
                && Runtime.version().feature() >= VIRTUAL_SYNCHRONIZED_FEATURE_MIN;
    return virtual ? virtualThreads(name) : platformThreads(options.getParallel(), name);
  }

  private static ExecutorService platformThreads(int max, String name) {
    AtomicInteger made = new AtomicInteger();
    ThreadFactory threads =
        task -> {
          Thread thread = new Thread(task, name + "-" + made.incrementAndGet());
          thread.setDaemon(true);
          return thread;
        };
    ThreadPoolExecutor executor =
        new ThreadPoolExecutor(
            max, max, IDLE_SECONDS, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), threads);
    executor.allowCoreThreadTimeOut(true);
    return executor;
  }

  /** By reflection, because the code must also run where there are none. */
  private static ExecutorService virtualThreads(String name) {
    try {
      Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
      Class<?> type = Class.forName("java.lang.Thread$Builder");
      Object named =
          type.getMethod("name", String.class, long.class).invoke(builder, name + "-", 1L);
      Object factory = type.getMethod("factory").invoke(named);
      Method perTask = Executors.class.getMethod("newThreadPerTaskExecutor", ThreadFactory.class);
      return (ExecutorService) perTask.invoke(null, factory);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }

  /** The same handler, which runs on these threads. */
  ConsumerHandler running(ConsumerHandler handler) {
    return handler instanceof LeaderHandler leader
        ? leader.on(this)
        : new WorkerHandler(handler, this);
  }

  /** Runs code that handles messages. */
  <T> Future<T> message(Supplier<Future<T>> code) {
    return on(messages, code);
  }

  /** Runs code that begins or ends a shard or a leadership. */
  <T> Future<T> shard(Supplier<Future<T>> code) {
    return on(shards, code);
  }

  private static <T> Future<T> on(ExecutorService threads, Supplier<Future<T>> code) {
    Promise<T> promise = Promise.promise();
    Runnable call = () -> call(code, promise);
    ContextInternal current = ContextInternal.current();
    // Only the duplicate for one message holds something that its handler needs: a span.
    boolean ofMessage = current != null && current.isDuplicate();
    try {
      threads.execute(ofMessage ? () -> current.dispatch(call) : call);
    } catch (RejectedExecutionException e) {
      promise.fail(e);
    }
    return promise.future();
  }

  private static <T> void call(Supplier<Future<T>> code, Promise<T> promise) {
    try {
      Future<T> result = code.get();
      if (result == null) {
        promise.complete();
      } else {
        result.onComplete(promise);
      }
    } catch (Throwable e) {
      promise.fail(e);
    }
  }

  /** Lets what runs end, and starts nothing more. */
  void close() {
    messages.shutdown();
    shards.shutdown();
  }
}
