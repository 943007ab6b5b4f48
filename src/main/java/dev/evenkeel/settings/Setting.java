package dev.evenkeel.settings;

import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Told;
import io.vertx.core.json.EncodeException;
import io.vertx.core.json.JsonArray;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * One setting: all that is known of it beside its use. {@link Settings} makes it; the methods that
 * return it belong to its declaration.
 */
public final class Setting<T> implements Told {
  /** Larger numbers bind nobody. */
  private static final long NO_BOUND = 1L << 60;

  private final int index;
  private final String key;
  private final SettingType<T> type;
  private @Nullable T unset;
  private @Nullable T usual;
  private long min = Long.MIN_VALUE;
  private long max = Long.MAX_VALUE;
  private boolean zero;
  private int itemsMax = Integer.MAX_VALUE;
  private String option;
  private String label;
  private @Nullable String title;
  private String per = "";
  private String help = "";
  private String why = "";

  /** The setting that this one is like; null: none. */
  private @Nullable Setting<T> origin;

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

  /** The same under another key. */
  Setting<T> copy(int place, String name) {
    Setting<T> copy = new Setting<>(place, name, type);
    copy.unset = unset;
    copy.usual = usual;
    copy.min = min;
    copy.max = max;
    copy.zero = zero;
    copy.itemsMax = itemsMax;
    copy.label = label;
    copy.help = help;
    copy.why = why;
    copy.origin = this;
    return copy;
  }

  // ---- Its declaration

  /** The value that it has by default. */
  public Setting<T> unless(@Nullable T value) {
    unset = value;
    return this;
  }

  /** What counts while it is not set: the value is null then, so that one can see whether it is. */
  public Setting<T> usually(T value) {
    usual = value;
    return this;
  }

  /** The least and the largest value. */
  public Setting<T> within(long least, long most) {
    return from(least).to(most);
  }

  public Setting<T> from(long least) {
    min = least;
    return this;
  }

  public Setting<T> to(long most) {
    max = most;
    return this;
  }

  /** 0 is allowed, too, although the bounds leave it out. */
  public Setting<T> orZero() {
    zero = true;
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

  /** What people read before its value, if that is not its option without hyphens. */
  public Setting<T> title(String words) {
    title = words;
    return this;
  }

  /** What a value is counted for, such as {@code a shard}. */
  public Setting<T> per(String words) {
    per = " " + words;
    return this;
  }

  /** Why it has its bounds, for people whose value is out of them. */
  public Setting<T> because(String reason) {
    why = ": " + reason;
    return this;
  }

  /** What it is, for people: sentences without the default. */
  public Setting<T> help(String text) {
    help = text;
    return this;
  }

  // ---- What is known of it

  /** Its key in JSON. */
  @Override
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

  /** What people read before its value. */
  public String title() {
    return title == null ? option.substring(2).replace('-', ' ') : title;
  }

  /** Its title, with what it is counted for. */
  public String heading() {
    return title() + per;
  }

  public String help() {
    return help;
  }

  /** A value in JSON as people write it. */
  public String textOf(Object json) {
    return type.format().apply(fromJson(json));
  }

  /** The same, with what it is counted for. */
  public String phraseOf(Object json) {
    boolean off = json instanceof Number number && number.longValue() < 0;
    return textOf(json) + (off ? "" : per);
  }

  int index() {
    return index;
  }

  @Nullable Setting<T> origin() {
    return origin;
  }

  /** Whether people write several values of it, with commas between them. */
  public boolean isList() {
    return type.label().endsWith(",...");
  }

  /** The words of which a value is one; empty: it may be something else. */
  public List<String> words() {
    return type.label().matches("[a-z-]+(\\|[a-z-]+)+")
        ? List.of(type.label().split("\\|"))
        : List.of();
  }

  public boolean isFlag() {
    return type == SettingType.FLAG;
  }

  @Nullable T unset() {
    return unset;
  }

  /** The least number that is allowed. */
  public long min() {
    return min;
  }

  /** The largest number that is allowed. */
  public long max() {
    return max;
  }

  /** The most items of a list. */
  public int itemsMax() {
    return itemsMax;
  }

  /** What counts while it is not set; null: nothing does. */
  public @Nullable T usual() {
    return unset == null ? usual : unset;
  }

  /** Its default as people write it; null: it has none. */
  public @Nullable String usualText() {
    T value = usual();
    return value == null ? null : type.format().apply(value);
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
      throw Refusal.INVALID.error("%s is %s, which has the wrong type", this, json);
    }
  }

  /** The JSON of a value; null of null. */
  @Nullable Object toJson(@Nullable T value) {
    return value == null ? null : type.toJson().apply(value);
  }

  /**
   * Reads what people write. Bounds are checked for plain numbers only; see {@link #check}.
   *
   * @param raw a text, or what YAML made of it
   * @throws RefusedException INVALID, saying what is right
   */
  public T parse(@Nullable Object raw) {
    boolean plain = type.label().equals("N");
    T value;
    try {
      value = type.parse().apply(text(raw));
    } catch (ArithmeticException e) {
      throw plain ? Refusal.INVALID.error(wholeNumbers()) : e;
    } catch (RefusedException e) {
      throw Refusal.INVALID.error(plain ? wholeNumbers() : e.getMessage() + alsoRight());
    }
    if (plain && !allows(((Number) value).longValue())) {
      throw Refusal.INVALID.error(wholeNumbers());
    }
    return value;
  }

  private String text(@Nullable Object raw) {
    if (type == SettingType.OBJECTS && !(raw instanceof String)) {
      return objects(raw);
    }
    if (raw == null || raw instanceof List<?> && !isList()) {
      throw Refusal.INVALID.error("write one value");
    }
    return raw instanceof List<?> many
        ? many.stream().map(String::valueOf).collect(Collectors.joining(","))
        : String.valueOf(raw).trim();
  }

  /** The JSON of what YAML made of a list of objects. */
  private static String objects(@Nullable Object yaml) {
    try {
      return yaml instanceof List<?> list ? new JsonArray(list).encode() : "none";
    } catch (EncodeException | ClassCastException e) {
      return "none";
    }
  }

  private String alsoRight() {
    return (bounds().isEmpty() ? "" : ", " + bounds())
        + (isList() ? ", with commas between several" : "");
  }

  /** The bounds of a time or size, such as {@code from 1s to 1h}; empty: it has none. */
  public String bounds() {
    if (!isTime() && !isSize()) {
      return "";
    }
    boolean most = max < NO_BOUND && max != Integer.MAX_VALUE;
    String words =
        min > 0 && most
            ? "from " + text(min) + " to " + text(max)
            : min > 0 ? "at least " + text(min) : most ? "at most " + text(max) : "";
    return zero && min > 0 ? words + ", or 0" : words;
  }

  private String wholeNumbers() {
    return "write "
        + (zero ? "0, or " : "")
        + (max < Integer.MAX_VALUE
            ? "a whole number from " + min + " to " + max
            : "a whole number of at least " + min)
        + why;
  }

  /**
   * The JSON of what people write.
   *
   * @throws RefusedException INVALID, saying what is right
   */
  public Object jsonOf(String text) {
    return type.toJson().apply(parse(text));
  }

  private boolean allows(long value) {
    return zero && value == 0 || value >= min && value <= max;
  }

  /**
   * Checks the bounds of a value.
   *
   * @throws RefusedException INVALID if a number is out of its bounds
   */
  public void check(@Nullable Object value) {
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
    if (value < min && !allows(value)) {
      throw Refusal.INVALID.error(
          "%s is %s: at least %s is needed%s",
          this, told(value), told(min), (zero ? ", or 0" : "") + why);
    }
    if (value > max) {
      throw Refusal.INVALID.error(
          "%s is %s: at most %s is allowed%s", this, told(value), told(max), why);
    }
  }

  private Told told(long value) {
    return Told.as(Long.toString(value), text(value));
  }

  /** A number as people write it. */
  public String text(long value) {
    return isTime()
        ? SettingType.TIME.format().apply(value)
        : isSize() ? SettingType.SIZE.format().apply(value) : Long.toString(value);
  }

  private boolean isTime() {
    return type.label().startsWith("TIME");
  }

  private boolean isSize() {
    return type.label().startsWith("SIZE");
  }

  @Override
  public String toString() {
    return key;
  }
}
