package dev.evenkeel.client.plain;

import dev.evenkeel.client.Consumer;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.ConsumerStream;
import dev.evenkeel.client.Delivery;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * A member of a group that is asked for messages. Its heartbeats do not depend on how often it is
 * asked: a program may work on a message for as long as it needs.
 *
 * <p>Each message must be ended with {@link #done} or {@link #fail}. At most {@link
 * ConsumerOptions#setParallel} messages are without an end at a time, and {@link #poll} waits for
 * their ends before it gives more. Messages come in the order of {@link ConsumerOptions#setOrder}:
 * with order SHARD, the next message of a shard comes when the one before it has ended.
 *
 * <p>If a shard goes to another member, its messages that have no end yet come again there, and to
 * end them here has no effect.
 */
public final class PlainConsumer implements AutoCloseable {
  private final ConsumerStream stream;
  private final int max;

  /** What has come. An empty entry wakes who waits. */
  private final LinkedBlockingQueue<Optional<Delivery>> come = new LinkedBlockingQueue<>();

  private volatile boolean closed;
  private volatile RefusedException ended;

  PlainConsumer(ConsumerStream stream, int max) {
    this.stream = stream;
    this.max = max;
    stream.pause();
    stream.exceptionHandler(
        why -> {
          ended = RefusedException.of(why);
          come.add(Optional.empty());
        });
    stream.handler(
        delivery -> {
          delivery.message().detach();
          come.add(Optional.of(delivery));
        });
  }

  /**
   * Waits for messages. Several threads may wait at once; each message goes to one of them.
   *
   * @param wait how long, if there is no message
   * @return as many as there are, up to {@link ConsumerOptions#setParallel}; empty if none came in
   *     time
   * @throws RefusedException if the consumer has ended by itself, with the reason that {@link
   *     Consumer#onEnd} gives; UNAVAILABLE if it is closed
   */
  public List<Delivery> poll(Duration wait) throws InterruptedException {
    requireOpen();
    stream.fetch(max);
    try {
      List<Optional<Delivery>> taken = new ArrayList<>();
      Optional<Delivery> first = come.poll(wait.toNanos(), TimeUnit.NANOSECONDS);
      if (first == null) {
        return List.of();
      }
      taken.add(first);
      come.drainTo(taken, max - 1);
      List<Delivery> messages = taken.stream().flatMap(Optional::stream).toList();
      if (messages.isEmpty()) {
        // Others who wait are to wake, too.
        come.add(Optional.empty());
        requireOpen();
      }
      return messages;
    } finally {
      stream.pause();
    }
  }

  private void requireOpen() {
    if (ended != null) {
      throw ended;
    }
    if (closed) {
      throw new RefusedException(Refusal.UNAVAILABLE, "the consumer is closed");
    }
  }

  /** The message is finished. */
  public void done(Delivery delivery) {
    stream.finish(delivery);
  }

  /** The message has failed: it is tried again, or becomes a dead letter, as the options say. */
  public void fail(Delivery delivery, Throwable cause) {
    stream.fail(delivery, cause);
  }

  /** Name, owned shards and the like. */
  public Consumer consumer() {
    return stream.consumer();
  }

  /** Waits for the ends of messages, releases every shard and leaves the group. */
  @Override
  public void close() {
    closed = true;
    come.add(Optional.empty());
    Await.onClose(stream.close());
  }
}
