package dev.evenkeel.functional;

import dev.evenkeel.Options;
import dev.evenkeel.client.ConsumerHandler;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.Delivery;
import dev.evenkeel.client.ParentState;
import dev.evenkeel.client.ShardContext;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A consumer of {@link Lines}, in a process of its own, whose state is the number that each key of
 * a shard must come with next: {@code ReshardMember HOST:PORT TOPIC GROUP MEMBER FILE}. It appends
 * to FILE, which it shares with others:
 *
 * <pre>
 * B KEY N SHARD OFFSET EPOCH SENT NOW   a handler begins; with the times in milliseconds since 1970
 * E KEY N                               it has ended
 * X KEY N NEXT                          NEXT should have come
 * </pre>
 */
public final class ReshardMember implements ConsumerHandler {
  private final Vertx vertx;
  private final FileChannel file;
  private final Map<Integer, Map<String, Long>> nexts = new HashMap<>();

  private ReshardMember(Vertx vertx, FileChannel file) {
    this.vertx = vertx;
    this.file = file;
  }

  public static void main(String[] args) throws Exception {
    var options = Options.member(args[2], args[3], args[1]).setOrder(ConsumerOptions.Order.KEY);
    FileChannel file = ConsumerProcess.appending(args[4]);
    ConsumerProcess.run(args[0], options, vertx -> new ReshardMember(vertx, file));
  }

  @Override
  public Future<Void> onAssign(ShardContext shard, Buffer state) {
    Map<String, Long> next = new HashMap<>();
    if (state != null) {
      addAll(next, shard, state);
    }
    nexts.put(shard.shard(), next);
    return Future.succeededFuture();
  }

  @Override
  public Future<Void> onAssignFromParents(ShardContext shard, List<ParentState> parents) {
    note("gets", shard);
    Map<String, Long> next = new HashMap<>();
    parents.forEach(parent -> addAll(next, shard, parent.state()));
    nexts.put(shard.shard(), next);
    return Future.succeededFuture();
  }

  private static void addAll(Map<String, Long> next, ShardContext shard, Buffer state) {
    new JsonObject(state)
        .forEach(
            key -> {
              if (shard.hasKey(key.getKey())) {
                next.put(key.getKey(), ((Number) key.getValue()).longValue());
              }
            });
  }

  @Override
  public Future<Buffer> onRelease(ShardContext shard) {
    note("gives", shard);
    return Future.succeededFuture(
        new JsonObject(new HashMap<>(nexts.remove(shard.shard()))).toBuffer());
  }

  private static void note(String what, ShardContext shard) {
    System.out.println(System.currentTimeMillis() + " " + what + " " + shard.shard());
  }

  @Override
  public void onCommitted(String topic, int shard, long offset) {
    System.out.println(System.currentTimeMillis() + " committed " + shard + " to " + offset);
  }

  @Override
  public void onLost(ShardContext shard) {
    nexts.remove(shard.shard());
  }

  @Override
  public Future<Void> handle(Delivery delivery) {
    String text = new String(delivery.message().payload(), StandardCharsets.UTF_8);
    String[] words = text.split(" ");
    String name = words[0] + " " + words[1];
    ConsumerProcess.append(
        file,
        "B %s %d %d %d %d %d"
            .formatted(
                name,
                delivery.shard(),
                delivery.offset(),
                delivery.epoch(),
                delivery.message().timestampMillis(),
                System.currentTimeMillis()));
    long number = Long.parseLong(words[1]);
    Map<String, Long> next = nexts.get(delivery.shard());
    long expected = next.getOrDefault(words[0], 0L);
    if (expected != number) {
      ConsumerProcess.append(file, "X " + name + " " + expected);
    }
    next.put(words[0], number + 1);
    return number % 10 == 0
        ? vertx.timer(2).onSuccess(done -> ended(name)).mapEmpty()
        : Future.<Void>succeededFuture().onSuccess(done -> ended(name));
  }

  private void ended(String name) {
    ConsumerProcess.append(file, "E " + name);
  }
}
