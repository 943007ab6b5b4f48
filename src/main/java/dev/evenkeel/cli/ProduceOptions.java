package dev.evenkeel.cli;

import dev.evenkeel.client.Acks;
import dev.evenkeel.client.ProducerOptions;
import dev.evenkeel.protocol.Names;
import dev.evenkeel.settings.Setting;
import io.vertx.core.json.JsonObject;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/** The options of {@code produce} about acknowledgements, compression and the spool. */
final class ProduceOptions {
  /** Those that need a spool. */
  private static final List<String> OF_SPOOL = List.of("spoolLimitBytes", "spoolFsync");

  final CommandOptions flags = new CommandOptions();

  /** The values by their keys in the JSON of {@link ProducerOptions}; null: not given. */
  private final Map<String, Supplier<?>> values = new LinkedHashMap<>();

  private final Supplier<Boolean> restart;
  private final Supplier<Boolean> resend;

  ProduceOptions() {
    List.of("name", "deliveryTimeoutMillis", "acks", "acksTimeoutMillis", "compression", "spool")
        .forEach(key -> values.put(key, flags.of(of(key))));
    OF_SPOOL.forEach(key -> values.put(key, flags.of(of(key))));
    restart = flags.given(of("spoolRestart"));
    resend = flags.given(of("spoolResend"));
  }

  private static Setting<?> of(String key) {
    return ProducerOptions.settings().of(key);
  }

  private Object given(String key) {
    return values.get(key).get();
  }

  boolean isGiven() {
    return given("spool") != null;
  }

  /** Whether a line counts as acknowledged once it is sent. */
  boolean acksNone() {
    return "none".equals(given("acks"));
  }

  /**
   * The options that were given, and the library's defaults.
   *
   * @throws CommandFailure for wrong usage
   */
  ProducerOptions options() {
    JsonObject json = new JsonObject();
    values.forEach((key, value) -> json.put(key, value.get()));
    ProducerOptions options = new ProducerOptions(json);
    OptionFormats.checked(options::check);
    CommandFailure.refuseIf(
        given("acksTimeoutMillis") != null && options.getAcks() != Acks.ALL,
        "--acks-timeout: only with --acks all");
    if (isGiven()) {
      CommandFailure.refuseIf(
          options.getAcks() != Acks.MAJORITY,
          "--acks %s: with --spool it is majority; leave one of the two out"
              .formatted(options.getAcks().text()));
      CommandFailure.refuseIf(options.getSpool().isEmpty(), "--spool '': it must be a directory");
      options.setSpoolRestart(restart.get()).setSpoolResend(resend.get());
    } else {
      for (String key : OF_SPOOL) {
        CommandFailure.refuseIf(given(key) != null, of(key).option() + ": only with --spool DIR");
      }
      CommandFailure.refuseIf(
          restart.get(), of("spoolRestart").option() + ": only with --spool DIR");
      CommandFailure.refuseIf(resend.get(), of("spoolResend").option() + ": only with --spool DIR");
    }
    if (!options.getName().isEmpty()) {
      OptionFormats.checked(() -> Names.check("producer", options.getName()));
    }
    return options;
  }
}
