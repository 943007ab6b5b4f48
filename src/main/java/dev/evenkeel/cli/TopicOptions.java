package dev.evenkeel.cli;

import dev.evenkeel.api.DescribeTopic;
import dev.evenkeel.api.Operations;
import dev.evenkeel.api.RecordJson;
import dev.evenkeel.api.TopicLimits;
import dev.evenkeel.api.TopicView;
import dev.evenkeel.client.TopicSettings;
import dev.evenkeel.protocol.TopicConfig;
import dev.evenkeel.settings.Setting;
import io.vertx.core.json.JsonObject;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** The settings of a topic: the options that set them, and how they are shown. */
@Command
final class TopicOptions {
  private final CommandOptions options = new CommandOptions();
  private final Map<String, Supplier<Object>> given = new LinkedHashMap<>();
  private final Supplier<String> copyFrom;

  TopicOptions() {
    for (Setting<?> setting : all()) {
      String help = "%s A new topic has %s.".formatted(setting.help(), setting.usualText());
      given.put(setting.key(), options.of(setting, help));
    }
    copyFrom =
        options.text(
            "--copy-from",
            "TOPIC",
            "Take the settings of this topic. Options beside this one change them.");
  }

  @Spec(Spec.Target.MIXEE)
  void addTo(CommandSpec command) {
    options.addTo(command);
  }

  /** The names of all of them, for a message. */
  static String names() {
    List<String> names = all().stream().map(each -> each.option()).toList();
    return String.join(", ", names) + " or --copy-from";
  }

  boolean areGiven() {
    return copyFrom.get() != null || given.values().stream().anyMatch(each -> each.get() != null);
  }

  /** The topic that {@code --copy-from} names; null: none. */
  TopicView original(HttpApi api) {
    CommandFailure.refuseIf(
        "".equals(copyFrom.get()), "--copy-from '': write the name of a topic, or leave it out");
    return copyFrom.get() == null
        ? null
        : api.read(Operations.DESCRIBE_TOPIC, new DescribeTopic(copyFrom.get())).topic();
  }

  /**
   * The settings as the API takes them.
   *
   * @param original the topic whose settings are copied; null: none
   */
  TopicLimits limits(TopicView original) {
    JsonObject json = original == null ? new JsonObject() : RecordJson.json(original.limits());
    given.forEach(
        (key, value) -> {
          if (value.get() != null) {
            json.put(key, value.get());
          }
        });
    return RecordJson.of(TopicLimits.class).read(json);
  }

  /** The titles of all of them, for a table. */
  static List<String> titles() {
    return all().stream().map(each -> each.title().toUpperCase(Locale.ROOT)).toList();
  }

  /** Their values in a topic, for a table. */
  static List<String> values(TopicView topic) {
    JsonObject json = whole(topic);
    return all().stream().map(each -> each.textOf(json.getValue(each.key()))).toList();
  }

  /** All settings of a topic, each with its title. */
  static String shown(TopicView topic, String form, String between) {
    JsonObject json = whole(topic);
    return all().stream()
        .map(each -> form.formatted(each.title(), each.phraseOf(json.getValue(each.key()))))
        .collect(Collectors.joining(between));
  }

  /** A node of a former version does not know all of them: to it, the others are as usual. */
  private static JsonObject whole(TopicView topic) {
    return RecordJson.json(TopicLimits.of(topic.limits().over(TopicConfig.DEFAULT)));
  }

  private static Collection<Setting<?>> all() {
    return TopicSettings.settings().all();
  }
}
