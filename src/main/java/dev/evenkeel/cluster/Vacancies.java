package dev.evenkeel.cluster;

import io.vertx.core.Context;
import io.vertx.core.Vertx;
import io.vertx.core.eventbus.MessageConsumer;
import io.vertx.core.eventbus.ReplyException;
import io.vertx.core.eventbus.ReplyFailure;
import io.vertx.core.internal.VertxInternal;
import io.vertx.core.spi.cluster.RegistrationInfo;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * Refuses requests to the addresses of this node that nobody here serves: not yet, not any more, or
 * never. The others send to these addresses as soon as the node is a member, and the event bus
 * drops a request from elsewhere that has no handler: it would wait for its whole deadline.
 *
 * <p>Safe for use from any thread.
 */
final class Vacancies {
  private final Set<String> addresses;

  /** How many handlers serve an address. */
  private final Map<String, Integer> served = new HashMap<>();

  /** The handlers that refuse. */
  private final Map<String, MessageConsumer<Object>> refusing = new HashMap<>();

  private final Set<RegistrationInfo> ofRefusing = new HashSet<>();

  private Context context;
  private boolean placing;

  /**
   * @param addresses those that only this node serves
   */
  Vacancies(Set<String> addresses) {
    this.addresses = addresses;
  }

  /** Refuses from now on what nobody serves. */
  synchronized void begin(Vertx vertx) {
    // Not the caller's: the handlers of a verticle end with it.
    context = ((VertxInternal) vertx).createEventLoopContext();
    addresses.forEach(this::offer);
  }

  /**
   * A handler has been added.
   *
   * @return whether it is one of those that refuse, which only this node has to know
   */
  synchronized boolean added(String address, RegistrationInfo handler) {
    if (!addresses.contains(address)) {
      return false;
    }
    if (placing) {
      ofRefusing.add(handler);
      return true;
    }
    served.merge(address, 1, Integer::sum);
    MessageConsumer<Object> former = refusing.remove(address);
    if (former != null) {
      former.unregister();
    }
    return false;
  }

  /** A handler has been removed. See {@link #added}. */
  synchronized boolean removed(String address, RegistrationInfo handler) {
    if (!addresses.contains(address)) {
      return false;
    }
    if (ofRefusing.remove(handler)) {
      return true;
    }
    served.computeIfPresent(address, (key, handlers) -> handlers == 1 ? null : handlers - 1);
    if (context != null) {
      offer(address);
    }
    return false;
  }

  private void offer(String address) {
    context.runOnContext(
        none -> {
          synchronized (this) {
            if (!served.containsKey(address) && !refusing.containsKey(address)) {
              placing = true;
              try {
                refusing.put(
                    address,
                    ((VertxInternal) context.owner())
                        .eventBus()
                        .consumer(
                            address,
                            message ->
                                message.reply(
                                    new ReplyException(
                                        ReplyFailure.NO_HANDLERS,
                                        "nobody serves " + address + " on this node now"))));
              } finally {
                placing = false;
              }
            }
          }
        });
  }
}
