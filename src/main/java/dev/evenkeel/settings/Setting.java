package dev.evenkeel.settings;

import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Told;
import java.util.List;
import java.util.Locale;

/**
 * One setting: all that is known of it beside its use. {@link Settings} makes it; the methods that
 * return it belong to its declaration.
 */
public final class Setting<T> implements Told {
  private final int index;
  private final String key;
  private final SettingType<T> type;
  private T unset;
  private T usual;
  private long min = Long.MIN_VALUE;
  private long max = Long.MAX_VALUE;
  private int itemsMax = Integer.MAX_VALUE;
  private String option;
  private String label;
  private String help = "";

  Setting(int index, String key, SettingType<T> type) {
    this.index = index;
    this.key = key;
    this.type = type;
    option = "--" + hyphenated(key).replaceFirst("-millis$", "");
    label = type.label();
  }

  private static String hyphenated(String key) {
    return key.replaceAll("([A-Z])", "-$1").toLowerCase(Locale.ROOT);
  }

  // ---- Its declaration

  /** The value that it has by default. */
  public Setting<T> unless(T value) {
    unset = value;
    return this;
  }

  /** What counts while it is not set: the value is null then, so that one can see whether it is. */
  public Setting<T> usually(T value) {
    usual = value;
    return this;
  }

  public Setting<T> from(long least) {
    min = least;
    return this;
  }

  public Setting<T> to(long most) {
    max = most;
    return this;
  }

  /** The most items of a list. */
  public Setting<T> items(int most) {
    itemsMax = most;
    return this;
  }

  /** Its option of commands, if that is not its key with hyphens, without {@code Millis}. */
  public Setting<T> option(String name) {
    option = name;
    return this;
  }

  /** What stands for a value in the help of commands. */
  public Setting<T> label(String word) {
    label = word;
    return this;
  }

  /** What it is, for people: sentences without the default. */
  public Setting<T> help(String text) {
    help = text;
    return this;
  }

  // ---- What is known of it

  /** Its key in JSON. */
  public String key() {
    return key;
  }

  /** Its option of commands. */
  public String option() {
    return option;
  }

  public String label() {
    return label;
  }

  public String help() {
    return help;
  }

  int index() {
    return index;
  }

  T unset() {
    return unset;
  }

  /** What counts while it is not set; null: nothing does. */
  public T usual() {
    return unset == null ? usual : unset;
  }

  /** Its default as people write it; null: it has none. */
  public String usualText() {
    return usual() == null ? null : type.format().apply(usual());
  }

  /** Its name in refusals. */
  @Override
  public String ofPrograms() {
    return key;
  }

  @Override
  public String ofCommands() {
    return option;
  }

  /**
   * Its name in advice: the setter, or the option.
   *
   * @param owner class with the setter
   */
  public Told setter(Class<?> owner) {
    String name = Character.toUpperCase(key.charAt(0)) + key.substring(1);
    return Told.as(owner.getSimpleName() + ".set" + name, option);
  }

  /** Reads JSON that is not null. */
  T fromJson(Object json) {
    try {
      return type.fromJson().apply(json);
    } catch (ClassCastException | ArithmeticException e) {
      throw Refusal.INVALID.error("%s is %s, which has the wrong type", key, json);
    }
  }

  /** The JSON of a value; null of null. */
  Object toJson(T value) {
    return value == null ? null : type.toJson().apply(value);
  }

  /**
   * The JSON of what people write.
   *
   * @throws RefusedException INVALID, saying what is right
   */
  public Object jsonOf(String text) {
    T value;
    try {
      value = type.parse().apply(text);
    } catch (RefusedException | ArithmeticException e) {
      throw type.label().equals("N") ? Refusal.INVALID.error(wholeNumbers()) : e;
    }
    if (value instanceof Number number && type.label().equals("N") && !allows(number.longValue())) {
      throw Refusal.INVALID.error(wholeNumbers());
    }
    return type.toJson().apply(value);
  }

  private String wholeNumbers() {
    return max < Integer.MAX_VALUE
        ? "write a whole number from " + min + " to " + max
        : "write a whole number of at least " + min;
  }

  private boolean allows(long value) {
    return value >= min && value <= max;
  }

  /**
   * @throws RefusedException INVALID if a number is out of its bounds
   */
  void check(Object value) {
    if (value instanceof Number number) {
      check(number.longValue());
    } else if (value instanceof List<?> list) {
      if (list.size() > itemsMax) {
        throw Refusal.INVALID.error(
            "number of %s is %s: at most %s is allowed", this, list.size(), itemsMax);
      }
      for (Object each : list) {
        if (each instanceof Number number) {
          check(number.longValue());
        }
      }
    }
  }

  private void check(long value) {
    if (value < min) {
      throw Refusal.INVALID.error(
          "%s is %s: at least %s is needed", this, told(value), told(min));
    }
    if (value > max) {
      throw Refusal.INVALID.error(
          "%s is %s: at most %s is allowed", this, told(value), told(max));
    }
  }

  private Told told(long value) {
    String text =
        switch (label) {
          case "TIME", "TIME,..." -> SettingType.TIME.format().apply(value);
          case "SIZE" -> SettingType.SIZE.format().apply(value);
          default -> Long.toString(value);
        };
    return Told.as(Long.toString(value), text);
  }

  @Override
  public String toString() {
    return key;
  }
}
