package dev.evenkeel.cli;

import dev.evenkeel.client.Delivery;
import io.vertx.core.Future;

/** What {@code consume} does with one message: prints it, or runs a command for it. */
@FunctionalInterface
interface MessageWork {
  Future<Void> handle(Delivery delivery);
}
