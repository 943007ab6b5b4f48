package dev.evenkeel.client.internal.member;

import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.protocol.Names;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;

/**
 * The configuration of a consumer that is not started by code: its options, and who gets its
 * messages.
 *
 * @param handler name of a class; null: there is an address
 * @param address null: there is a handler
 */
public record ConsumerConfig(String handler, AddressOptions address, ConsumerOptions options) {
  private static final String HANDLER = "handler";

  /**
   * @throws RefusedException INVALID for an unknown key, a value of a wrong type, or if there is
   *     not exactly one of handler and address
   */
  public static ConsumerConfig of(JsonObject json) {
    List<String> known = new ArrayList<>(List.of(HANDLER));
    known.addAll(AddressOptions.settings().byKey().keySet());
    known.addAll(ConsumerOptions.settings().byKey().keySet());
    Names.requireKnown("consumer option", json.fieldNames(), known);
    JsonObject rest = json.copy();
    Object handler = rest.remove(HANDLER);
    AddressOptions address = AddressOptions.takeFrom(rest);
    if (handler != null && !(handler instanceof String)) {
      throw Refusal.INVALID.error("bad configuration: handler is %s: write a name", handler);
    }
    if (handler == null && address == null) {
      throw Refusal.INVALID.error(
          "the configuration needs 'handler', the name of a ConsumerHandler class, or 'address', an"
              + " address of the event bus");
    }
    if (handler != null && address != null) {
      throw Refusal.INVALID.error(
          "the configuration has 'handler' and 'address': only one of them gets the messages, leave"
              + " the other out");
    }
    return new ConsumerConfig((String) handler, address, new ConsumerOptions(rest));
  }

  /**
   * Checks everything that can be checked before the consumer starts, except its handler class.
   *
   * @throws RefusedException INVALID, saying what would be right
   */
  public void check() {
    OptionsCheck.check(options);
    if (address != null) {
      OptionsCheck.check(options, address.handler(null, options));
    }
  }
}
