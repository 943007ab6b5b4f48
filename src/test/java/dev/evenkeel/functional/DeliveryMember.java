package dev.evenkeel.functional;

import dev.evenkeel.Options;
import dev.evenkeel.Unchecked;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.ContextHandler;
import dev.evenkeel.client.Delivery;
import dev.evenkeel.client.MessageContext;
import dev.evenkeel.client.ShardContext;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * A consumer of numbers, in a process of its own, which is meant to die: {@code DeliveryMember
 * HOST:PORT TOPIC GROUP MEMBER POLICY OUT FILE DIES_AT DIES_MICROS}. It appends a line to FILE when
 * a handler begins. As its handler number DIES_AT (from 1; 0: never) has begun, it lets DIES_MICROS
 * go by and sends itself SIGKILL; with 0 microseconds surely before that handler has ended. With
 * effectively-once it adds the numbers of each shard up, keeps the sum as the shard's state, and
 * publishes offset, number and sum to topic OUT.
 */
public final class DeliveryMember {
  /** What the system gives as exit status of a process that SIGKILL ended. */
  static final int KILLED = 137;

  private final String out;
  private final FileChannel file;
  private final long diesAt;
  private final long diesMicros;
  private final AtomicLong begun = new AtomicLong();

  private DeliveryMember(String out, FileChannel file, long diesAt, long diesMicros) {
    this.out = out;
    this.file = file;
    this.diesAt = diesAt;
    this.diesMicros = diesMicros;
  }

  public static void main(String[] args) throws Exception {
    ConsumerOptions.DeliveryPolicy delivery = ConsumerOptions.DeliveryPolicy.valueOf(args[4]);
    ConsumerOptions options =
        Options.member(args[2], args[3], args[1]).setCommitMillis(300).setDelivery(delivery);
    DeliveryMember work =
        new DeliveryMember(
            args[5],
            ConsumerProcess.appending(args[6]),
            Long.parseLong(args[7]),
            Long.parseLong(args[8]));
    ConsumerProcess.run(
        args[0],
        options,
        vertx ->
            delivery == ConsumerOptions.DeliveryPolicy.EFFECTIVELY_ONCE
                ? work.new Adder(vertx)
                : message -> {
                  work.begin(message);
                  return pause(vertx, message);
                });
  }

  private void begin(Delivery delivery) {
    ConsumerProcess.append(file, delivery.shard() + " " + delivery.offset() + " x");
    if (begun.incrementAndGet() != diesAt) {
      return;
    }
    if (diesMicros == 0) {
      kill();
    }
    new Thread(
            () -> {
              LockSupport.parkNanos(TimeUnit.MICROSECONDS.toNanos(diesMicros));
              kill();
            })
        .start();
  }

  /** SIGKILL to itself; does not return. */
  private static void kill() {
    Unchecked.run(
        () ->
            new ProcessBuilder("kill", "-9", String.valueOf(ProcessHandle.current().pid()))
                .start()
                .waitFor());
  }

  /** Some handlers end later, so that a kill finds them at work. */
  private static Future<Void> pause(Vertx vertx, Delivery delivery) {
    return delivery.offset() % 2 == 0 ? vertx.timer(3).mapEmpty() : Future.succeededFuture();
  }

  private final class Adder implements ContextHandler {
    private final Vertx vertx;
    private final Map<Integer, Long> sums = new HashMap<>();

    Adder(Vertx vertx) {
      this.vertx = vertx;
    }

    @Override
    public Future<Void> onAssign(ShardContext shard, Buffer state) {
      sums.put(shard.shard(), state == null ? 0 : Long.parseLong(state.toString()));
      return Future.succeededFuture();
    }

    @Override
    public Future<Void> handle(Delivery delivery, MessageContext context) {
      begin(delivery);
      String number = new String(delivery.message().payload(), StandardCharsets.US_ASCII);
      long sum = sums.merge(delivery.shard(), Long.parseLong(number), Long::sum);
      context.publish(out, null, Buffer.buffer(delivery.offset() + " " + number + " " + sum));
      context.commit(Buffer.buffer(Long.toString(sum)));
      return pause(vertx, delivery);
    }
  }
}
