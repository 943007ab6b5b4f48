package dev.evenkeel.client.internal;

import dev.evenkeel.api.Operation;
import dev.evenkeel.bus.Link;
import dev.evenkeel.client.Admin;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.Json;
import io.vertx.core.json.JsonObject;

/** Asks the {@code evenkeel.api} addresses, as HTTP does. */
final class AdminCalls implements Admin {
  /** Longer than any wait behind the addresses. */
  private static final long TIMEOUT_MILLIS = 30_000;

  private final Link link;

  AdminCalls(Link link) {
    this.link = link;
  }

  private Future<Buffer> ask(String address, JsonObject question) {
    return link.request(address, question.toBuffer(), TIMEOUT_MILLIS);
  }

  @Override
  public <Q extends Record, A> Future<A> ask(Operation<Q, A> operation, Q question) {
    return ask(operation.address(), operation.ask(question))
        .map(Json::decodeValue)
        .map(operation::readAnswer);
  }
}
