package dev.evenkeel.settings;

import dev.evenkeel.protocol.Durations;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * How values of a setting are written: in JSON for programs, and as text for people.
 *
 * @param label what stands for a value in the help of a command
 * @param fromJson throws ClassCastException or ArithmeticException for another type
 * @param parse reads what people write; fails INVALID, saying what is right
 * @param format writes a value as people do
 */
public record SettingType<T>(
    String label,
    Function<Object, T> fromJson,
    Function<T, Object> toJson,
    Function<String, T> parse,
    Function<T, String> format) {

  private static final String OFF = "off";

  public static final SettingType<String> TEXT = text("TEXT", text -> text, text -> text);
  public static final SettingType<Boolean> FLAG =
      new SettingType<>(
          "true|false", Boolean.class::cast, flag -> flag, SettingType::flag, String::valueOf);
  public static final SettingType<Long> WHOLE =
      new SettingType<>(
          "N", SettingType::whole, value -> value, SettingType::number, String::valueOf);

  /** Milliseconds, written as 200ms, 5s, 2m, 1h or 7d. */
  public static final SettingType<Long> TIME =
      new SettingType<>(
          "TIME", SettingType::whole, value -> value, SettingType::millis, Durations::format);

  /** Bytes, written as 4096, 64KiB, 512MiB or 1GiB. */
  public static final SettingType<Long> SIZE =
      new SettingType<>(
          "SIZE", SettingType::whole, value -> value, SettingType::bytes, ByteSizes::format);

  /** A list of objects, which people write as JSON, or as YAML in a file. */
  public static final SettingType<List<JsonObject>> OBJECTS =
      new SettingType<>(
          "JSON",
          json -> ((JsonArray) json).stream().map(JsonObject.class::cast).toList(),
          list -> new JsonArray(new ArrayList<>(list)),
          SettingType::objects,
          list -> list.isEmpty() ? "" : new JsonArray(new ArrayList<>(list)).encode());

  /** The same, or {@code off}, which is -1. */
  public static SettingType<Long> orOff(SettingType<Long> type) {
    return new SettingType<>(
        type.label + "|" + OFF,
        type.fromJson,
        type.toJson,
        text -> text.equals(OFF) ? -1L : parseOrOff(type, text),
        value -> value < 0 ? OFF : type.format.apply(value));
  }

  private static long parseOrOff(SettingType<Long> type, String text) {
    try {
      return type.parse.apply(text);
    } catch (RefusedException e) {
      throw Refusal.INVALID.error(e.getMessage() + "; or " + OFF);
    }
  }

  /** Something that is a text in JSON, too. */
  public static <T> SettingType<T> text(
      String label, Function<String, T> parse, Function<T, String> format) {
    return new SettingType<>(
        label, json -> parse.apply((String) json), format::apply, parse, format);
  }

  /** Something that is an object in JSON, and that people do not write. */
  public static <T> SettingType<T> json(Function<Object, T> from, Function<T, Object> to) {
    return new SettingType<>(
        "JSON",
        from,
        to,
        text -> {
          throw new UnsupportedOperationException("this setting has no form as text: " + text);
        },
        value -> String.valueOf(to.apply(value)));
  }

  /** One of the constants of an enum, in JSON by its name in small letters. */
  public static <E extends Enum<E>> SettingType<E> word(String name, Class<E> type) {
    String label =
        Stream.of(type.getEnumConstants())
            .map(SettingType::option)
            .collect(Collectors.joining("|"));
    return new SettingType<>(
        label,
        json -> constantOf(type, name, (String) json),
        SettingType::word,
        text -> constantOf(type, null, text),
        SettingType::option);
  }

  /** A list; people write commas between the items. */
  public SettingType<List<T>> list() {
    return new SettingType<>(
        label + ",...",
        json -> ((JsonArray) json).stream().map(fromJson).toList(),
        list -> new JsonArray(new ArrayList<>(list.stream().map(toJson).toList())),
        text ->
            Stream.of(text.split(",", -1))
                .map(String::trim)
                .filter(item -> this != TEXT || !item.isEmpty())
                .map(parse)
                .toList(),
        list -> list.stream().map(format).collect(Collectors.joining(",")));
  }

  /** The same for whole numbers that are an int. */
  public static SettingType<Integer> ofInt(SettingType<Long> type) {
    return new SettingType<>(
        type.label,
        json -> Math.toIntExact(whole(json)),
        value -> value,
        text -> Math.toIntExact(type.parse.apply(text)),
        value -> type.format.apply((long) value));
  }

  private static List<JsonObject> objects(String text) {
    try {
      return (text.isEmpty() ? new JsonArray() : new JsonArray(text))
          .stream().map(JsonObject.class::cast).toList();
    } catch (DecodeException | ClassCastException e) {
      throw Refusal.INVALID.error("write a list of objects, as YAML, or as JSON: [{\"key\": ...}]");
    }
  }

  private static boolean flag(String text) {
    if (!text.equals("true") && !text.equals("false")) {
      throw Refusal.INVALID.error("write true or false");
    }
    return Boolean.parseBoolean(text);
  }

  private static long number(String text) {
    try {
      return Long.parseLong(text);
    } catch (NumberFormatException e) {
      throw Refusal.INVALID.error("write a whole number");
    }
  }

  private static long millis(String text) {
    try {
      return Durations.parseMillis(text);
    } catch (RefusedException | ArithmeticException e) {
      throw Refusal.INVALID.error("write 200ms, 5s, 2m or 1h");
    }
  }

  private static long bytes(String text) {
    try {
      return ByteSizes.parse(text);
    } catch (IllegalArgumentException e) {
      throw Refusal.INVALID.error(e.getMessage());
    }
  }

  private static long whole(Object json) {
    return ((Number) json).longValue();
  }

  /** The word of a constant in JSON. */
  public static String word(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT);
  }

  /** The word of a constant on a command line. */
  private static String option(Enum<?> constant) {
    return word(constant).replace('_', '-');
  }

  /**
   * The constant that a word stands for; a hyphen in it stands for an underscore.
   *
   * @param name of the setting, for the message; null: the message does not name it
   * @throws RefusedException INVALID, with the words that are right
   */
  public static <E extends Enum<E>> E constantOf(
      Class<E> type, @Nullable String name, String word) {
    E[] all = type.getEnumConstants();
    for (E each : all) {
      if (each.name().equalsIgnoreCase(word.replace('-', '_'))) {
        return each;
      }
    }
    Function<E, String> form = name == null ? SettingType::option : SettingType::word;
    String most = Stream.of(all).limit(all.length - 1L).map(form).collect(Collectors.joining(", "));
    String right = "use " + most + " or " + form.apply(all[all.length - 1]);
    throw Refusal.INVALID.error(name == null ? right : name + " '" + word + "': " + right);
  }
}
