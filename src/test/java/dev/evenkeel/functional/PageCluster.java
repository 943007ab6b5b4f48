package dev.evenkeel.functional;

import static dev.evenkeel.Futures.await;

import dev.evenkeel.Wait;
import io.vertx.core.eventbus.DeliveryOptions;
import io.vertx.core.eventbus.EventBus;
import io.vertx.core.eventbus.ReplyException;
import io.vertx.core.json.JsonObject;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.awaitility.core.ThrowingRunnable;

/** Three nodes, and the event bus of a program in their cluster. */
record PageCluster(Trio trio, EventBus bus) {
  private static final int SECONDS_MAX = 30;

  /**
   * @param json with ' for "
   */
  Object ask(String address, String json) {
    return ask(address, new JsonObject(json.replace('\'', '"')), Map.of());
  }

  JsonObject askObject(String address, JsonObject request) {
    return (JsonObject) ask(address, request, Map.of());
  }

  /** As often as the cluster says that it cannot serve now: all that is asked may be repeated. */
  Object ask(String address, Object request, Map<String, String> headers) {
    DeliveryOptions options = new DeliveryOptions();
    headers.forEach(options::addHeader);
    AtomicReference<Object> answer = new AtomicReference<>();
    untilAsserted(
        address + " answers",
        () -> {
          try {
            answer.set(await(bus.request(address, request, options)).body());
          } catch (ReplyException e) {
            String refused = "%s %s: %s".formatted(address, request, e.getMessage());
            if (e.getMessage().matches("(UNAVAILABLE|NOT_LEADER): .*")) {
              throw new AssertionError(refused, e);
            }
            throw new IllegalStateException(refused, e);
          }
        });
    return answer.get();
  }

  void untilAsserted(String what, ThrowingRunnable assertions) {
    Wait.untilAsserted(what, SECONDS_MAX, assertions);
  }
}
