package dev.evenkeel.cli;

import dev.evenkeel.consumer.Delivery;
import io.vertx.core.Future;

/** What {@code consume} does with one message: prints it, or runs a command for it. */
@FunctionalInterface
interface MessageWork {
  Future<Void> handle(Delivery delivery);
}
