package dev.evenkeel.client.internal.member;

import static dev.evenkeel.client.internal.member.MemberBench.check;
import static dev.evenkeel.client.internal.member.MemberBench.refused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import dev.evenkeel.client.ConsumerHandler;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.ConsumerOptions.DeliveryPolicy;
import dev.evenkeel.client.ContextHandler;
import dev.evenkeel.client.Delivery;
import dev.evenkeel.client.MessageContext;
import dev.evenkeel.client.ShardContext;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import java.util.List;
import org.junit.jupiter.api.Test;

class DeliveryOptionsTest {
  private static final ConsumerHandler PLAIN = delivery -> Future.succeededFuture();
  private static final ContextHandler RELAY = (delivery, context) -> Future.succeededFuture();

  /** Makes use of state, and gives some through its context. */
  private static class Keeping implements ContextHandler {
    @Override
    public Future<Void> handle(Delivery delivery, MessageContext context) {
      return Future.succeededFuture();
    }

    @Override
    public Future<Void> onAssign(ShardContext shard, Buffer state) {
      return Future.succeededFuture();
    }
  }

  private static ConsumerOptions options(DeliveryPolicy delivery) {
    return new ConsumerOptions().setGroup("g").setTopics(List.of("t")).setDelivery(delivery);
  }

  @Test
  void whatMakesSenseIsTaken() {
    assertThatCode(
            () -> {
              check(options(DeliveryPolicy.AT_MOST_ONCE), PLAIN);
              check(options(DeliveryPolicy.AT_LEAST_ONCE), PLAIN);
              check(options(DeliveryPolicy.AT_LEAST_ONCE), RELAY);
              check(
                  options(DeliveryPolicy.EFFECTIVELY_ONCE).setOrder(ConsumerOptions.Order.KEY),
                  RELAY);
              check(options(DeliveryPolicy.EFFECTIVELY_ONCE), new Keeping());
            })
        .doesNotThrowAnyException();
    assertThat(options(DeliveryPolicy.AT_MOST_ONCE).getRetryDelaysMillis()).isEmpty();
    assertThat(new ConsumerOptions().getDelivery()).isEqualTo(DeliveryPolicy.AT_LEAST_ONCE);
  }

  @Test
  void whatMakesNoneIsRefused() {
    ConsumerOptions most = options(DeliveryPolicy.AT_MOST_ONCE);
    refused("only mode sharded", most.setMode(ConsumerOptions.Mode.LEVEL), PLAIN);
    most = options(DeliveryPolicy.AT_MOST_ONCE);
    refused("nothing is tried again", most.setRetryDelaysMillis(List.of(1L)), PLAIN);
    most = options(DeliveryPolicy.AT_MOST_ONCE);
    refused("nothing is tried again", most.setOnFailure(ConsumerOptions.OnFailure.STOP), PLAIN);
    refused("would be lost", options(DeliveryPolicy.AT_MOST_ONCE), RELAY);
    most = options(DeliveryPolicy.AT_MOST_ONCE);
    refused("dedup finishes", most.setDedup(ConsumerOptions.Dedup.KEY), PLAIN);
    refused("must publish", options(DeliveryPolicy.EFFECTIVELY_ONCE), PLAIN);
    refused(
        "use order shard",
        options(DeliveryPolicy.EFFECTIVELY_ONCE).setOrder(ConsumerOptions.Order.NONE),
        new Keeping());
    refused(
        "without dedup",
        options(DeliveryPolicy.AT_LEAST_ONCE).setDedup(ConsumerOptions.Dedup.KEY),
        RELAY);
    refused(
        "mode sharded",
        options(DeliveryPolicy.AT_LEAST_ONCE).setMode(ConsumerOptions.Mode.LEVEL),
        RELAY);
    refused(
        "use effectively-once",
        options(DeliveryPolicy.AT_MOST_ONCE),
        new ConsumerHandler() {
          @Override
          public Future<Void> handle(Delivery delivery) {
            return Future.succeededFuture();
          }

          @Override
          public Future<Void> onAssign(ShardContext shard, Buffer state) {
            return Future.succeededFuture();
          }
        });
  }
}
