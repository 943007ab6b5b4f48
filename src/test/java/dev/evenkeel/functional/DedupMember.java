package dev.evenkeel.functional;

import dev.evenkeel.Options;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.Delivery;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;

/**
 * A consumer with dedup by payload, in a process of its own: {@code DedupMember HOST:PORT TOPIC
 * GROUP MEMBER WORK_MILLIS FILE TIMEOUT_MILLIS}, the last of which is after how much silence it
 * counts as dead. At begin and end of each handler it appends a line to FILE, which it shares with
 * the others, by one write: see {@link DedupCheck}. SIGTERM ends it in good order.
 */
public record DedupMember(String member, long workMillis, FileChannel file) {
  public static void main(String[] args) throws Exception {
    ConsumerOptions options =
        Options.member(args[2], args[3], args[1])
            .setMemberTimeoutMillis(Long.parseLong(args[6]))
            .setOrder(ConsumerOptions.Order.NONE)
            .setDedup(ConsumerOptions.Dedup.PAYLOAD);
    DedupMember work =
        new DedupMember(args[3], Long.parseLong(args[4]), ConsumerProcess.appending(args[5]));
    ConsumerProcess.run(args[0], options, vertx -> delivery -> work.handle(vertx, delivery));
  }

  private Future<Void> handle(Vertx vertx, Delivery delivery) {
    String key = new String(delivery.message().payload(), StandardCharsets.US_ASCII);
    append(DedupCheck.START, key);
    return ConsumerProcess.after(vertx, workMillis, () -> append(DedupCheck.END, key));
  }

  private void append(String what, String key) {
    ConsumerProcess.append(file, what + " " + key + " " + member);
  }
}
