package dev.evenkeel.client;

import dev.evenkeel.bus.ClusterDirectory;
import dev.evenkeel.bus.Link;
import dev.evenkeel.consumer.Consumer;
import dev.evenkeel.consumer.ConsumerHandler;
import dev.evenkeel.consumer.ConsumerOptions;
import io.vertx.core.Future;

/** How a client starts its consumers. */
@FunctionalInterface
interface ConsumerStart {
  Future<Consumer> start(
      Link link, ClusterDirectory directory, ConsumerOptions options, ConsumerHandler handler);
}
