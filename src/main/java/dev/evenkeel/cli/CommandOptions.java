package dev.evenkeel.cli;

import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.settings.Setting;
import io.vertx.core.json.JsonArray;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import picocli.CommandLine;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/**
 * The options of a command, each declared in one expression. A declaration returns a supplier of
 * the value that the user gave, or else of the default; null if there is neither. The help of an
 * option with a default ends with {@code (default: ...)}, unless it names the default itself.
 */
public final class CommandOptions {
  private static final String DEFAULT = "${DEFAULT-VALUE}";

  private final List<OptionSpec> declared = new ArrayList<>();

  /** Adds the options to a command. */
  public CommandLine addTo(CommandLine command) {
    addTo(command.getCommandSpec());
    return command;
  }

  /** As {@link #addTo(CommandLine)}. */
  void addTo(CommandSpec command) {
    declared.forEach(command::addOption);
  }

  /** A switch: true if the user gave it. */
  public Supplier<Boolean> given(String name, String help) {
    return add(option(name, "", boolean.class, null, help).arity("0").defaultValue("false"));
  }

  public Supplier<String> text(String name, String label, String help) {
    return text(name, label, null, help);
  }

  public Supplier<String> text(String name, String label, String unset, String help) {
    return add(option(name, label, String.class, unset, help));
  }

  public Supplier<String> required(String name, String label, String help) {
    return add(option(name, label, String.class, null, help).required(true));
  }

  public Supplier<List<String>> texts(String name, String label, String unset, String help) {
    return list(name, label, String.class, null, unset, help);
  }

  /** An option that may be given several times; null: it is not given. */
  Supplier<List<String>> repeated(String name, String label, String help) {
    return add(option(name, label, List.class, null, help).auxiliaryTypes(String.class));
  }

  public Supplier<Path> directory(String name, String help) {
    return add(option(name, "DIR", Path.class, null, help));
  }

  public Supplier<Long> time(String name, String help) {
    return time(name, null, help);
  }

  /** Milliseconds of a time such as {@code 5s}. */
  public Supplier<Long> time(String name, String unset, String help) {
    return value(name, "TIME", Long.class, new OptionFormats.Time(), unset, help);
  }

  /** As {@link #time}, but above 0. */
  public Supplier<Long> someTime(String name, String unset, String help) {
    return value(name, "TIME", Long.class, OptionFormats::someTime, unset, help);
  }

  public Supplier<List<Long>> times(String name, String unset, String help) {
    return list(name, "TIME", Long.class, new OptionFormats.Time(), unset, help);
  }

  /** Bytes of a size such as {@code 64KiB}. */
  public Supplier<Long> size(String name, String unset, String help) {
    return value(name, "SIZE", Long.class, new OptionFormats.Size(), unset, help);
  }

  public Supplier<List<Long>> sizes(String name, String unset, String help) {
    return list(name, "SIZE", Long.class, new OptionFormats.Size(), unset, help);
  }

  public Supplier<Integer> integer(String name, String unset, long min, long max, String help) {
    return value(
        name,
        "N",
        Integer.class,
        text -> (int) OptionFormats.wholeNumber(text, min, max),
        unset,
        help);
  }

  public Supplier<Long> number(String name, String unset, long min, long max, String help) {
    return value(
        name, "N", Long.class, text -> OptionFormats.wholeNumber(text, min, max), unset, help);
  }

  /** A number of messages a second, above 0. */
  public Supplier<Double> perSecond(String name, String unset, long max, String help) {
    return value(name, "N", Double.class, text -> OptionFormats.rate(text, max), unset, help);
  }

  /** One of the words in the label, which stand for the constants of an enum. */
  public <E extends Enum<E>> Supplier<E> constant(
      String name, String label, Class<E> type, String unset, String help) {
    return value(name, label, type, text -> OptionFormats.constant(type, text), unset, help);
  }

  public <E extends Enum<E>> Supplier<List<E>> constants(
      String name, String label, Class<E> type, String unset, String help) {
    return list(name, label, type, text -> OptionFormats.constant(type, text), unset, help);
  }

  /** A value of any type, with its converter. */
  <T> Supplier<T> value(
      String name,
      String label,
      Class<T> type,
      ITypeConverter<T> converter,
      String unset,
      String help) {
    return add(option(name, label, type, unset, help).converters(converter));
  }

  private <T> Supplier<List<T>> list(
      String name,
      String label,
      Class<T> type,
      ITypeConverter<T> converter,
      String unset,
      String help) {
    OptionSpec.Builder option =
        option(name, label, List.class, unset, help).auxiliaryTypes(type).splitRegex(",");
    return add(converter == null ? option : option.converters(converter));
  }

  private static OptionSpec.Builder option(
      String name, String label, Class<?> type, String unset, String help) {
    return OptionSpec.builder(name)
        .type(type)
        .paramLabel(label)
        .defaultValue(unset)
        // Without this, a second parse would see the values of the first.
        .initialValue(null)
        .description(
            unset == null || help.contains(DEFAULT) ? help : help + " (default: " + DEFAULT + ").");
  }

  // ---- Settings

  /** An option for a setting of the library; gives its JSON, null if it is not given. */
  public Supplier<Object> of(Setting<?> setting) {
    return add(option(setting));
  }

  /** As {@link #of}, with a help that says what else there is to say. */
  Supplier<Object> of(Setting<?> setting, String help) {
    return add(option(setting, help));
  }

  /** As {@link #of}, but it must be given. */
  Supplier<Object> required(Setting<?> setting) {
    return add(option(setting).required(true));
  }

  /** As {@link #of}, but the option may stand alone, and then has this value. */
  Supplier<Object> optional(Setting<?> setting, String alone) {
    return add(option(setting).arity("0..1").fallbackValue(alone));
  }

  /** As {@link #of}, but the option may be given several times. */
  Supplier<List<String>> repeated(Setting<?> setting) {
    return repeated(setting.option(), setting.label(), setting.help());
  }

  /** A setting that is on if its option is given. */
  Supplier<Boolean> given(Setting<?> setting) {
    return given(setting.option(), setting.help());
  }

  private static OptionSpec.Builder option(Setting<?> setting) {
    String usual = setting.usualText();
    boolean says = usual == null || usual.isEmpty() || setting.help().contains("(default:");
    String help =
        says
            ? setting.help()
            : setting.help().replaceFirst("\\.$", "") + " (default: " + usual + ").";
    return option(setting, help);
  }

  private static OptionSpec.Builder option(Setting<?> setting, String help) {
    ITypeConverter<Object> converter = text -> json(setting, text);
    OptionSpec.Builder option =
        option(setting.option(), setting.label(), Object.class, null, help).converters(converter);
    List<String> words = setting.words();
    return words.isEmpty() ? option : option.completionCandidates(words);
  }

  /**
   * What the JSON of the setting holds. Picocli makes a text of each value; that of a {@link
   * JsonArray} would make a logger before the command has set the levels.
   */
  private static Object json(Setting<?> setting, String text) {
    try {
      Object json = setting.jsonOf(text);
      return json instanceof JsonArray array ? array.getList() : json;
    } catch (RefusedException e) {
      throw CommandFailure.usage(e.getMessage());
    }
  }

  private <T> Supplier<T> add(OptionSpec.Builder builder) {
    OptionSpec option = builder.build();
    declared.add(option);
    return option::getValue;
  }
}
