package dev.evenkeel.chaos;

import dev.evenkeel.Evenkeel;
import dev.evenkeel.TestUsers;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.EvenkeelClient;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;

/**
 * Many clients in one process: {@code Crowd SEEDS TOPIC GROUP COUNT}. Each is a consumer of the
 * group by the name {@code mN}, and does nothing with its messages.
 */
public final class Crowd {
  private Crowd() {}

  public static void main(String[] args) {
    List<Future<?>> joining = new ArrayList<>();
    for (int i = 0; i < Integer.parseInt(args[3]); i++) {
      String member = "m" + i;
      ConsumerOptions options =
          new ConsumerOptions().setTopics(List.of(args[1])).setGroup(args[2]).setMember(member);
      Future<EvenkeelClient> client =
          Evenkeel.connect(
              TestUsers.options()
                  .setSeeds(List.of(args[0].split(",")))
                  .setConnectTimeoutMillis(1_000_000));
      joining.add(
          client.compose(made -> made.consumer(options, message -> Future.succeededFuture())));
    }
    Future.all(joining).onComplete(all -> System.out.println(all.succeeded() ? "joined" : all));
  }
}
