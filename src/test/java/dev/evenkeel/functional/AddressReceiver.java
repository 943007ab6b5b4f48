package dev.evenkeel.functional;

import examples.AddressExample;
import io.vertx.core.Future;
import io.vertx.core.MultiMap;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.eventbus.Message;
import java.util.stream.Stream;

/**
 * Listens at addresses of the event bus: {@code AddressReceiver HOST:PORT ADDRESS...}, with
 * Hazelcast of a node. It prints a line for each message: address, shard, offset, attempt and
 * payload. The payload says what it does at the first attempt; any other attempt it finishes.
 *
 * <p>It has no class of Evenkeel.
 */
public final class AddressReceiver {
  private AddressReceiver() {}

  public static void main(String[] args) {
    AddressExample.clusteredVertx(args[0])
        .compose(
            vertx ->
                Future.all(
                    Stream.of(args)
                        .skip(1)
                        .map(
                            address ->
                                vertx
                                    .eventBus()
                                    .<Buffer>consumer(address, message -> got(vertx, message))
                                    .completion())
                        .toList()))
        .onSuccess(listening -> System.out.println("listening"))
        .onFailure(
            failure -> {
              System.err.println("not in the cluster: " + failure);
              System.exit(1);
            });
  }

  private static void got(Vertx vertx, Message<Buffer> message) {
    MultiMap headers = message.headers();
    String attempt = headers.get("evenkeel-attempt");
    String payload = message.body().toString();
    System.out.printf(
        "%s %s %s %s %s%n",
        message.address(),
        headers.get("evenkeel-shard"),
        headers.get("evenkeel-offset"),
        attempt,
        payload);
    String what = attempt.equals("1") ? payload.substring(0, payload.indexOf('-')) : "";
    switch (what) {
      case "hang" -> {}
      case "slow" -> vertx.setTimer(4_500, late -> message.reply("too late"));
      case "fail" -> message.fail(7, "the first attempt of " + payload);
      case "throw" -> throw new IllegalStateException("as " + payload + " says");
      case "twice" -> {
        message.reply("done");
        message.reply("done again");
      }
      default -> message.reply(null);
    }
  }
}
