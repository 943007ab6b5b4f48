package dev.evenkeel.api;

import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Worded;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import java.util.function.LongFunction;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * How values of a Java type are written as JSON, and read from it.
 *
 * @param right what the JSON must be, for people, such as {@code a string}
 * @param absent what stands for a field that says nothing: null, false, 0 or empty
 * @param write gives the JSON of a value that is not null
 */
record JsonType(
    String right, @Nullable Object absent, Function<Object, Object> write, Reader reader) {
  /** Reads JSON that is not null. */
  private interface Reader {
    /**
     * @param path where the JSON is
     * @return null: the JSON is not what it must be
     * @throws RefusedException INVALID if a part of the JSON is not what it must be
     */
    @Nullable Object read(Object json, JsonPath path);
  }

  static final JsonType TEXT = plain(String.class, "a string");
  static final JsonType BASE64 =
      new JsonType("bytes as Base64", null, Object::toString, TextOrBytes::coded);
  private static final String ONE_OF = "one of ";
  private static final Map<String, Object> TRUTHS = Map.of("true", true, "false", false);
  private static final String WHOLE = "a whole number";

  private static final Map<Class<?>, JsonType> SIMPLE =
      Map.of(
          TextOrBytes.class,
              new JsonType(
                  "a string or {\"base64\": \"...\"}", null, TextOrBytes::write, TextOrBytes::read),
          boolean.class, plain(Boolean.class, "true or false").unless(false),
          Boolean.class, plain(Boolean.class, "true or false"),
          Double.class,
              simple("a number", json -> json instanceof Number n ? n.doubleValue() : null),
          Instant.class,
              new JsonType(
                  "a time such as 2026-01-31T12:00:00Z",
                  null,
                  Object::toString,
                  (json, path) -> instant(json)),
          JsonObject.class, plain(JsonObject.class, "an object"),
          JsonArray.class, plain(JsonArray.class, "an array"),
          Object.class, plain(Object.class, "a value"));

  /** The type of a component; null: its form is to be declared. */
  static @Nullable JsonType of(RecordComponent component) {
    if (component.isAnnotationPresent(AlsoNumber.class)) {
      return simple(
          "a string",
          json ->
              json instanceof String || json instanceof Integer || json instanceof Long
                  ? json.toString()
                  : null);
    }
    JsonType type = of(component.getGenericType(), component);
    return component.isAnnotationPresent(NotEmpty.class)
        ? Objects.requireNonNull(type).notEmpty()
        : type;
  }

  /** Whether values of a type are records, or lists or maps of them. */
  static boolean isOfRecords(Type type) {
    if (type instanceof ParameterizedType generic) {
      Type[] of = generic.getActualTypeArguments();
      return isOfRecords(of[of.length - 1]);
    }
    return ((Class<?>) type).isRecord();
  }

  private JsonType notEmpty() {
    return new JsonType(
        right.replaceFirst(",", " with one item at least,"),
        absent,
        write,
        (json, path) ->
            json instanceof JsonArray array && array.isEmpty() ? null : reader.read(json, path));
  }

  /**
   * @param component says more of the type, or of the items of the list or map that it is
   */
  private static @Nullable JsonType of(Type type, RecordComponent component) {
    if (type instanceof ParameterizedType generic) {
      Type[] of = generic.getActualTypeArguments();
      JsonType item = of(of[of.length - 1], component);
      if (item == null || of.length == 2 && of[0] != String.class) {
        return null;
      }
      return of.length == 2
          ? map(item)
          : generic.getRawType() == Set.class ? set(item) : list(item);
    }
    Bounds bounds = component.getAnnotation(Bounds.class);
    long min = bounds == null ? Long.MIN_VALUE : bounds.min();
    long max = bounds == null ? Long.MAX_VALUE : bounds.max();
    Class<?> plain = (Class<?>) type;
    if (plain == String.class) {
      Format format = component.getAnnotation(Format.class);
      return format != null
          ? plain(String.class, TEXT.right + ": " + format.value())
          : max == Long.MAX_VALUE ? TEXT : shortText(max);
    }
    if (plain == int.class || plain == Integer.class) {
      JsonType whole =
          whole(Math.max(min, Integer.MIN_VALUE), Math.min(max, Integer.MAX_VALUE), n -> (int) n);
      return plain.isPrimitive() ? whole.unless(0) : whole;
    }
    if (plain == long.class || plain == Long.class) {
      JsonType whole = whole(min, max, n -> n);
      return plain.isPrimitive() ? whole.unless(0L) : whole;
    }
    if (plain.isEnum()) {
      return words(plain.getEnumConstants());
    }
    if (plain.isRecord() && plain != TextOrBytes.class) {
      return record(RecordJson.of(plain.asSubclass(Record.class)));
    }
    return SIMPLE.get(plain);
  }

  private JsonType unless(Object value) {
    return new JsonType(right, value, write, reader);
  }

  private static JsonType simple(String right, Function<Object, Object> read) {
    return new JsonType(right, null, Function.identity(), (json, path) -> read.apply(json));
  }

  private static JsonType plain(Class<?> type, String right) {
    return simple(right, json -> type.isInstance(json) ? json : null);
  }

  private static JsonType shortText(long charsMax) {
    return simple(
        "a string of at most " + charsMax + " characters",
        json -> json instanceof String text && text.length() <= charsMax ? text : null);
  }

  private static @Nullable Object instant(Object json) {
    try {
      return json instanceof String text ? Instant.parse(text) : null;
    } catch (DateTimeException e) {
      return null;
    }
  }

  private static JsonType whole(long min, long max, LongFunction<Object> of) {
    String right =
        min <= Integer.MIN_VALUE && max >= Integer.MAX_VALUE
            ? WHOLE
            : WHOLE + " from " + min + " to " + max;
    return simple(
        right,
        json -> {
          long value = json instanceof Number number ? number.longValue() : 0;
          // (Some programs write every number as 100.0.)
          boolean whole =
              json instanceof Integer
                  || json instanceof Long
                  || json instanceof Double real && real == value;
          return whole && value >= min && value <= max ? of.apply(value) : null;
        });
  }

  private static JsonType words(Object[] constants) {
    Map<String, Object> words = new LinkedHashMap<>();
    for (Object each : constants) {
      words.put(word(each), each);
    }
    return new JsonType(
        ONE_OF + String.join(", ", words.keySet()),
        null,
        JsonType::word,
        (json, path) -> words.get(json));
  }

  private static String word(Object constant) {
    return constant instanceof Worded worded ? worded.word() : ((Enum<?>) constant).name();
  }

  private static JsonType record(RecordJson<?> form) {
    return new JsonType(
        "an object with " + String.join(", ", form.fields()),
        null,
        form::writeAny,
        (json, path) -> json instanceof JsonObject object ? form.read(object, path) : null);
  }

  private static JsonType list(JsonType of) {
    return new JsonType(
        "an array, and each item of it " + of.right,
        List.of(),
        value -> {
          JsonArray array = new JsonArray();
          ((Collection<?>) value).forEach(item -> array.add(of.write.apply(item)));
          return array;
        },
        (json, path) -> {
          if (!(json instanceof JsonArray array)) {
            return null;
          }
          List<Object> items = new ArrayList<>();
          // (Its iterator makes JsonObject of maps.)
          for (Object item : array) {
            items.add(of.part(item, path.item(items.size())));
          }
          return Collections.unmodifiableList(items);
        });
  }

  private static JsonType set(JsonType of) {
    JsonType list = list(of);
    return new JsonType(
        list.right,
        Set.of(),
        list.write,
        (json, path) ->
            list.reader.read(json, path) instanceof List<?> items ? Set.copyOf(items) : null);
  }

  private static JsonType map(JsonType of) {
    return new JsonType(
        "an object, and each value in it " + of.right,
        Map.of(),
        value -> {
          JsonObject object = new JsonObject();
          ((Map<?, ?>) value)
              .forEach((key, each) -> object.put((String) key, of.write.apply(each)));
          return object;
        },
        (json, path) -> {
          if (!(json instanceof JsonObject object)) {
            return null;
          }
          Map<String, Object> values = new LinkedHashMap<>();
          for (Map.Entry<String, Object> each : object) {
            String key = each.getKey();
            values.put(key, of.part(each.getValue(), path.field(key)));
          }
          return Collections.unmodifiableMap(values);
        });
  }

  /** Whether it is a whole number. */
  boolean isNumber() {
    return right.startsWith(WHOLE);
  }

  /** Reads an item of a list, or a value in a map. */
  private Object part(@Nullable Object json, JsonPath path) {
    Object value = json == null ? null : reader.read(json, path);
    if (value == null) {
      throw RecordJson.wrong("field", path.toString(), json, right);
    }
    return value;
  }

  /** Whether it is one of some words, of which later versions may have more. */
  boolean isWord() {
    return right.startsWith(ONE_OF);
  }

  /** Reads JSON that is not null; null: it is not what it must be. */
  @Nullable Object read(Object json, JsonPath path) {
    return reader.read(json, path);
  }

  /** Reads a text, such as that of a query parameter; null: it is not what it must be. */
  @Nullable Object ofText(String text) {
    return Stream.of(text, number(text), TRUTHS.get(text))
        .filter(Objects::nonNull)
        .map(json -> read(json, JsonPath.STRICT))
        .filter(Objects::nonNull)
        .findFirst()
        .orElse(null);
  }

  private static @Nullable Object number(String text) {
    try {
      return Long.valueOf(text);
    } catch (NumberFormatException e) {
      return null;
    }
  }
}
