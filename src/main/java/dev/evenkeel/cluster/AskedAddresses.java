package dev.evenkeel.cluster;

import io.vertx.core.spi.cluster.RegistrationListener;
import io.vertx.core.spi.cluster.RegistrationUpdateEvent;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The addresses that Vert.x has asked for and may remember, each with the number of the member list
 * that said who serves it. What an older list said has to be forgotten.
 *
 * <p>Safe for use from any thread.
 */
final class AskedAddresses {
  private final Map<String, Long> asked = new ConcurrentHashMap<>();
  private final AtomicLong number = new AtomicLong();

  /**
   * Vert.x asks for an address. Call it before you look at the member list.
   *
   * @return the number of the list
   */
  long add(String address) {
    long list = number();
    asked.put(address, list);
    return list;
  }

  /** The number of the member list now. */
  long number() {
    return number.get();
  }

  /** Whatever was asked for until now is outdated. */
  void listChanged() {
    number.incrementAndGet();
  }

  /** How many addresses Vert.x may remember. */
  int size() {
    return asked.size();
  }

  /** Makes Vert.x forget what an older list said. */
  void forgetOutdated(RegistrationListener vertx) {
    long list = number();
    asked.forEach(
        (address, said) -> {
          if (said != list) {
            asked.remove(address, said);
            forget(vertx, address);
          } else if (!vertx.wantsUpdatesFor(address)) {
            asked.remove(address);
            if (vertx.wantsUpdatesFor(address)) {
              // Vert.x has asked for it again meanwhile.
              forget(vertx, address);
            }
          }
        });
  }

  /** To Vert.x 5, an update without registrations means that it has to ask again. */
  static void forget(RegistrationListener vertx, String address) {
    vertx.registrationsUpdated(new RegistrationUpdateEvent(address, List.of()));
  }
}
