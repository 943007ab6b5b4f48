package dev.evenkeel.client;

import dev.evenkeel.protocol.Nearest;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The values of options that a {@link Schema} declares, one declaration for each: its JSON key, its
 * type, its default and its bounds. A subclass adds a getter and a setter for each option. A null
 * in JSON stands for the default.
 *
 * @param <S> the subclass, which its setters return
 */
abstract class OptionValues<S extends OptionValues<S>> {
  /** One option. Only {@link Schema} makes it. */
  record Option<T>(
      int index,
      String name,
      T unset,
      Function<Object, T> fromJson,
      Function<T, Object> toJson,
      int itemsMax,
      long min,
      long max) {}

  private static final int ANY = Integer.MAX_VALUE;

  /** The options of one class, in the order of their JSON. */
  static final class Schema {
    private final String kind;
    private final String tooLow;
    private final String tooHigh;
    private final Map<String, Option<?>> options = new LinkedHashMap<>();

    /**
     * @param kind what an option is called in refusals
     * @param tooLow form of a refusal, from the option's name, its value, its minimum and maximum
     * @param tooHigh the same
     */
    Schema(String kind, String tooLow, String tooHigh) {
      this.kind = kind;
      this.tooLow = tooLow;
      this.tooHigh = tooHigh;
    }

    <T> Option<T> of(String name, T unset, Function<Object, T> fromJson, Function<T, Object> json) {
      return add(name, unset, fromJson, json, ANY, Long.MIN_VALUE, Long.MAX_VALUE);
    }

    Option<String> text(String name, String unset) {
      return of(name, unset, String.class::cast, text -> text);
    }

    Option<Boolean> flag(String name, boolean unset) {
      return of(name, unset, Boolean.class::cast, flag -> flag);
    }

    /** A number without bounds. */
    Option<Integer> integer(String name, Integer unset) {
      return integer(name, unset, Integer.MIN_VALUE, Integer.MAX_VALUE);
    }

    Option<Integer> integer(String name, Integer unset, int min) {
      return integer(name, unset, min, Integer.MAX_VALUE);
    }

    Option<Integer> integer(String name, Integer unset, int min, int max) {
      return add(name, unset, json -> Math.toIntExact(whole(json)), value -> value, ANY, min, max);
    }

    /** A number without bounds. */
    Option<Long> number(String name, Long unset) {
      return number(name, unset, Long.MIN_VALUE, Long.MAX_VALUE);
    }

    Option<Long> number(String name, Long unset, long min) {
      return number(name, unset, min, Long.MAX_VALUE);
    }

    Option<Long> number(String name, Long unset, long min, long max) {
      return add(name, unset, OptionValues::whole, value -> value, ANY, min, max);
    }

    /** A constant, in JSON by its name in small letters. */
    <E extends Enum<E>> Option<E> constant(String name, Class<E> type, E unset) {
      return of(name, unset, json -> constantOf(type, name, (String) json), OptionValues::word);
    }

    /** A rate, in JSON as {@link Rate#parse} reads it; by default none. */
    Option<Rate> rate(String name) {
      return of(name, null, json -> Rate.parse((String) json), Rate::toString);
    }

    Option<List<String>> texts(String name, List<String> unset) {
      return list(name, unset, String.class::cast, ANY, Long.MIN_VALUE, Long.MAX_VALUE);
    }

    Option<List<Long>> numbers(String name, List<Long> unset, int itemsMax, long min, long max) {
      return list(name, unset, OptionValues::whole, itemsMax, min, max);
    }

    private <T> Option<List<T>> list(
        String name, List<T> unset, Function<Object, T> element, int itemsMax, long min, long max) {
      return add(
          name,
          unset,
          json -> ((JsonArray) json).stream().map(element).toList(),
          list -> new JsonArray(new ArrayList<>(list)),
          itemsMax,
          min,
          max);
    }

    private <T> Option<T> add(
        String name,
        T unset,
        Function<Object, T> fromJson,
        Function<T, Object> toJson,
        int itemsMax,
        long min,
        long max) {
      Option<T> option =
          new Option<>(options.size(), name, unset, fromJson, toJson, itemsMax, min, max);
      options.put(name, option);
      return option;
    }
  }

  private final Schema schema;
  private final Object[] values;

  OptionValues(Schema schema) {
    this.schema = schema;
    values = schema.options.values().stream().map(Option::unset).toArray();
  }

  /**
   * @throws RefusedException INVALID for an unknown key or a value of a wrong type
   */
  OptionValues(Schema schema, JsonObject json) {
    this(schema);
    Nearest.requireKnown(schema.kind, json.fieldNames(), schema.options.keySet());
    for (String name : json.fieldNames()) {
      Object value = json.getValue(name);
      if (value != null) {
        Option<?> option = schema.options.get(name);
        try {
          values[option.index] = option.fromJson.apply(value);
        } catch (RefusedException refused) {
          throw bad(refused.getMessage());
        } catch (ClassCastException | ArithmeticException e) {
          throw bad(name + " is " + value + ", which has the wrong type");
        }
      }
    }
  }

  private static RefusedException bad(String what) {
    return new RefusedException(Refusal.INVALID, "bad configuration: " + what);
  }

  /**
   * These options as JSON, in the form that the constructor takes: all keys, with null for an
   * option that is not set and has no fixed default.
   */
  public final JsonObject toJson() {
    JsonObject json = new JsonObject();
    schema.options.values().forEach(option -> json.put(option.name, json(option)));
    return json;
  }

  private <T> Object json(Option<T> option) {
    T value = get(option);
    return value == null ? null : option.toJson.apply(value);
  }

  /**
   * Checks the bounds of every number. A consumer or producer does so when it starts; it then also
   * checks which options go together.
   *
   * @throws RefusedException INVALID for a value out of its bounds; the message names the bound
   */
  public final void check() {
    for (Option<?> option : schema.options.values()) {
      Object value = values[option.index];
      if (value instanceof Number number) {
        check(option.name, number.longValue(), option.min, option.max);
      } else if (value instanceof List<?> list) {
        check("number of " + option.name, list.size(), 0, option.itemsMax);
        for (Object each : list) {
          if (each instanceof Number number) {
            check(option.name, number.longValue(), option.min, option.max);
          }
        }
      }
    }
  }

  private void check(String name, long value, long min, long max) {
    if (value < min || value > max) {
      String form = value < min ? schema.tooLow : schema.tooHigh;
      throw new RefusedException(Refusal.INVALID, String.format(form, name, value, min, max));
    }
  }

  @SuppressWarnings("unchecked")
  final <T> T get(Option<T> option) {
    return (T) values[option.index];
  }

  final <T> T get(Option<T> option, T unset) {
    T value = get(option);
    return value == null ? unset : value;
  }

  @SuppressWarnings("unchecked")
  final <T> S set(Option<T> option, T value) {
    values[option.index] = value;
    return (S) this;
  }

  private static long whole(Object json) {
    return ((Number) json).longValue();
  }

  static String word(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT);
  }

  /**
   * The constant that a word stands for; a hyphen in it, as options of commands have it, stands for
   * an underscore.
   *
   * @throws RefusedException INVALID, with the words that are right
   */
  static <E extends Enum<E>> E constantOf(Class<E> type, String name, String word) {
    E[] all = type.getEnumConstants();
    for (E each : all) {
      if (each.name().equalsIgnoreCase(word.replace('-', '_'))) {
        return each;
      }
    }
    String most =
        Stream.of(all)
            .limit(all.length - 1L)
            .map(OptionValues::word)
            .collect(Collectors.joining(", "));
    throw new RefusedException(
        Refusal.INVALID,
        name + " '" + word + "': use " + most + " or " + word(all[all.length - 1]));
  }

  @Override
  public final boolean equals(Object other) {
    return other instanceof OptionValues<?> that
        && schema == that.schema
        && Arrays.equals(values, that.values);
  }

  @Override
  public final int hashCode() {
    return Arrays.hashCode(values);
  }

  @Override
  public final String toString() {
    return toJson().encode();
  }
}
