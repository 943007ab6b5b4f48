package dev.evenkeel.client.internal.member;

import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.ConsumerOptions.Mode;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.settings.Setting;
import dev.evenkeel.settings.SettingValues;
import dev.evenkeel.settings.Settings;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;
import java.util.List;

/**
 * Where the messages of a consumer without a handler class go: to an address of the event bus. They
 * stand beside the {@link ConsumerOptions} in one JSON object.
 */
public final class AddressOptions extends SettingValues<AddressOptions> {
  /** Longest address. */
  static final int ADDRESS_CHARS_MAX = 1_000;

  /** What Evenkeel and Vert.x use themselves: messages there would be taken for requests. */
  private static final List<String> RESERVED = List.of("evenkeel", "__vertx");

  private static final long TIMEOUT_MILLIS_MIN = 100;

  private static final Settings SETTINGS = new Settings("consumer option");

  private static final Setting<String> ADDRESS =
      SETTINGS.text("address").label("ADDRESS").help("Event-bus address that gets the messages.");
  private static final Setting<Long> TIMEOUT =
      SETTINGS
          .time("addressTimeoutMillis")
          .usually(30_000L)
          .within(TIMEOUT_MILLIS_MIN, 3_600_000)
          .help("How long a message waits for its reply before it has failed.");

  private AddressOptions(JsonObject json) {
    super(SETTINGS, json);
  }

  /** All of them. */
  public static Settings settings() {
    return SETTINGS;
  }

  /**
   * Removes these options from a configuration, and leaves those of the consumer.
   *
   * @return null if it names no address
   * @throws RefusedException INVALID for a value of a wrong type, or an option of addresses without
   *     an address
   */
  public static AddressOptions takeFrom(JsonObject config) {
    JsonObject own = new JsonObject();
    for (String key : SETTINGS.byKey().keySet()) {
      Object value = config.remove(key);
      if (value != null) {
        own.put(key, value);
      }
    }
    AddressOptions options = new AddressOptions(own);
    if (options.get(ADDRESS) != null) {
      return options;
    }
    if (!own.isEmpty()) {
      throw Refusal.INVALID.error("%s is given, but no %s: add it", TIMEOUT, ADDRESS);
    }
    return null;
  }

  /** The address. */
  public String address() {
    return get(ADDRESS);
  }

  /**
   * The handler that sends the messages of a consumer to the address.
   *
   * @param vertx with the event bus
   * @throws RefusedException INVALID for an address that messages must not go to, or options that
   *     do not go together
   */
  public AddressHandler handler(Vertx vertx, ConsumerOptions consumer) {
    check(consumer);
    return new AddressHandler(vertx, address(), timeoutMillis(consumer), consumer.getGroup());
  }

  /**
   * Checks these options with those of the consumer. It does not check the latter.
   *
   * @throws RefusedException INVALID, saying what would be right
   */
  public void check(ConsumerOptions consumer) {
    checkAddress(address());
    check();
    Long timeout = given(TIMEOUT);
    if (timeout != null && timeout > longestWait(consumer)) {
      throw Refusal.INVALID.error(
          "%s is %d: at most %d is allowed, because a handover waits no longer for a reply"
              + " (lockTimeMillis)",
          TIMEOUT, timeout, longestWait(consumer));
    }
    if (consumer.isWorker()) {
      throw Refusal.INVALID.error(
          "worker is set for the %s '%s': leave it out, sending a message does not block",
          ADDRESS, address());
    }
  }

  private static void checkAddress(String address) {
    if (address.isBlank() || address.length() > ADDRESS_CHARS_MAX) {
      throw Refusal.INVALID.error(
          "the %s has %d characters: name an event-bus address of 1 to %d",
          ADDRESS, address.strip().length(), ADDRESS_CHARS_MAX);
    }
    if (address.chars().anyMatch(Character::isISOControl)) {
      throw Refusal.INVALID.error("the %s has control characters: name one without", ADDRESS);
    }
    for (String each : RESERVED) {
      if (address.equals(each) || address.startsWith(each + ".")) {
        throw Refusal.INVALID.error(
            "the %s '%s' begins with '%s', which is reserved: name another one",
            ADDRESS, address, each);
      }
    }
  }

  /** How long a message waits for its reply. */
  long timeoutMillis(ConsumerOptions consumer) {
    Long timeout = given(TIMEOUT);
    if (timeout != null) {
      return timeout;
    }
    long most = longestWait(consumer);
    if (consumer.getMode() == Mode.LEVEL) {
      // A member that finishes nothing for so long is set aside, and its attempts do not count.
      most = Math.min(most, consumer.getStallTimeoutMillis() * 4 / 5);
    }
    return Math.min(TIMEOUT.usual(), most);
  }

  /** With the lock time 0, no handover waits for any message. */
  private static long longestWait(ConsumerOptions consumer) {
    long lock = consumer.getLockTimeMillis();
    return lock == 0 ? TIMEOUT.usual() : Math.max(TIMEOUT_MILLIS_MIN, lock);
  }
}
