package dev.evenkeel.api;

import dev.evenkeel.protocol.Names;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Writes a public record as a JSON object, and reads it back. Each component is a field with its
 * name; its Java type and its annotations say the form: {@link Bounds}, {@link NotEmpty}, {@link
 * AlsoNumber}, {@link Default}, {@link LeftOut}, {@link Inline} and {@link Nullable}. The methods
 * declare other forms.
 *
 * <p>Reading ignores fields that the record does not have, so that later versions may add some, and
 * takes a word that it does not know for null. It throws a {@link RefusedException} INVALID for a
 * field that is missing, or of the wrong type. A list or map that is missing is empty.
 */
public final class RecordJson<T extends Record> {
  /** Most characters of a wrong value that a message shows. */
  private static final int SHOWN_MAX = 60;

  private static final Map<Class<?>, RecordJson<?>> OF = new ConcurrentHashMap<>();

  private record Form(
      BiConsumer<JsonObject, Object> write, BiFunction<JsonObject, JsonPath, Object> read) {}

  private final Constructor<T> constructor;
  private final Map<String, RecordComponent> components = new LinkedHashMap<>();
  private final Map<String, Form> forms = new LinkedHashMap<>();
  private final List<String> fields = new ArrayList<>();
  private final Map<String, JsonType> types = new LinkedHashMap<>();

  /** The fields that hold contents of messages. */
  private final Set<String> contents = new HashSet<>();

  /** What questions need: of each entry, one field. */
  private final List<List<String>> needed = new ArrayList<>();

  private @Nullable String caller;

  public RecordJson(Class<T> type) {
    for (RecordComponent each : type.getRecordComponents()) {
      components.put(each.getName(), each);
      forms.put(each.getName(), form(each));
    }
    try {
      constructor =
          type.getDeclaredConstructor(
              Stream.of(type.getRecordComponents())
                  .map(RecordComponent::getType)
                  .toArray(Class<?>[]::new));
    } catch (NoSuchMethodException e) {
      throw new IllegalArgumentException(e);
    }
  }

  /** The form of a record that has no other than its components declare. */
  @SuppressWarnings("unchecked")
  public static <T extends Record> RecordJson<T> of(Class<T> type) {
    // (Not computeIfAbsent: a record may have others as components.)
    RecordJson<?> known = OF.get(type);
    if (known == null) {
      known = new RecordJson<>(type);
      OF.put(type, known);
    }
    return (RecordJson<T>) known;
  }

  /** A record in the form of its components. */
  public static JsonObject json(Record record) {
    return of(record.getClass()).writeAny(record);
  }

  /** Records in the form of their components. */
  public static JsonArray json(List<? extends Record> records) {
    JsonArray array = new JsonArray();
    records.forEach(each -> array.add(json(each)));
    return array;
  }

  private @Nullable Form form(RecordComponent component) {
    if (component.isAnnotationPresent(Inline.class)) {
      RecordJson<?> inner = of(component.getType().asSubclass(Record.class));
      fields.addAll(inner.fields);
      types.putAll(inner.types);
      contents.addAll(inner.contents);
      caller = inner.caller == null ? caller : inner.caller;
      boolean perhaps = mayBeNull(component);
      return new Form(
          (json, value) -> {
            if (!perhaps || value != null) {
              inner.writeTo(json, value);
            }
          },
          (json, path) ->
              perhaps && inner.isAbsent(json, path.strict()) ? null : inner.make(json, path));
    }
    String name = component.getName();
    if (component.getType() == TextOrBytes.class) {
      return textOrBytes(name, mayBeNull(component));
    }
    fields.add(name);
    if (component.isAnnotationPresent(Caller.class)) {
      caller = name;
    }
    JsonType type = JsonType.of(component);
    if (type == null) {
      // Its form is to be declared.
      return null;
    }
    types.put(name, type);
    if (JsonType.isOfRecords(component.getGenericType())) {
      contents.add(name);
    }
    boolean leftOut = component.isAnnotationPresent(LeftOut.class);
    boolean perhaps = mayBeNull(component);
    Object absent = absent(component, type);
    boolean isNeeded = absent == null && !perhaps;
    if (isNeeded) {
      needed.add(List.of(name));
    }
    boolean always = isNeeded && component.getType().isPrimitive();
    // What former versions do not write is empty.
    Object lenient = isNeeded ? type.absent() : absent;
    return new Form(
        (json, value) -> {
          if (!leftOut || value != null && (perhaps || !value.equals(type.absent()))) {
            json.put(name, value == null ? null : type.write().apply(value));
          }
        },
        (json, path) -> {
          Object value = json.getValue(name);
          JsonPath at = path.field(name);
          if (value == null) {
            if (always || isNeeded && path.strict()) {
              throw Refusal.INVALID.error(
                  "the field '%s' is missing: it must be %s", at, type.right());
            }
            return lenient;
          }
          Object read = type.read(value, at);
          if (read == null && (path.strict() || !type.isWord())) {
            throw wrong("field", at.toString(), value, type.right());
          }
          return read;
        });
  }

  /** Whether none of its fields is there or, in a question, not all that it needs. */
  private boolean isAbsent(JsonObject json, boolean strict) {
    return strict
        ? needed.stream().anyMatch(names -> names.stream().noneMatch(json::containsKey))
        : fields.stream().noneMatch(json::containsKey);
  }

  private Form textOrBytes(String name, boolean mayBeNull) {
    String coded = TextOrBytes.coded(name);
    if (!mayBeNull) {
      needed.add(List.of(name, coded));
    }
    fields.addAll(List.of(name, coded));
    contents.addAll(List.of(name, coded));
    types.put(name, JsonType.TEXT);
    types.put(coded, JsonType.BASE64);
    return new Form(
        (json, value) -> {
          TextOrBytes of = (TextOrBytes) value;
          boolean isText = of == null || of.text() != null;
          json.put(isText ? name : coded, of == null ? null : of.toString());
        },
        (json, path) -> {
          Object text = json.getValue(name);
          Object base64 = json.getValue(coded);
          if (text != null && base64 != null) {
            throw Refusal.INVALID.error(
                "give either %s or %s, not both", path.field(name), path.field(coded));
          }
          JsonPath at = path.field(base64 == null ? name : coded);
          Object value = base64 == null ? text : base64;
          JsonType type = base64 == null ? JsonType.TEXT : JsonType.BASE64;
          if (value == null) {
            if (path.strict() && !mayBeNull) {
              throw Refusal.INVALID.error(
                  "the field '%s' (or '%s') is missing", at, path.field(coded));
            }
            return null;
          }
          Object read = type.read(value, at);
          if (read == null) {
            throw wrong("field", at.toString(), value, type.right());
          }
          return base64 == null ? TextOrBytes.of((String) text) : read;
        });
  }

  /** Whether there is nothing wrong with a null in the component. */
  static boolean mayBeNull(RecordComponent component) {
    return component.getAnnotatedType().isAnnotationPresent(Nullable.class);
  }

  /** What the component is if its field is missing; null: nothing, or it may not be missing. */
  private static @Nullable Object absent(RecordComponent component, JsonType type) {
    Default given = component.getAnnotation(Default.class);
    if (given != null) {
      return Objects.requireNonNull(type.ofText(given.value()), component::toString);
    }
    boolean says =
        component.isAnnotationPresent(LeftOut.class) || component.getType() == boolean.class;
    return says && !mayBeNull(component) ? type.absent() : null;
  }

  /**
   * @param right what the value must be
   */
  static RefusedException wrong(String what, String field, @Nullable Object value, String right) {
    String shown = value instanceof String ? "'" + value + "'" : String.valueOf(value);
    return Refusal.INVALID.error(
        "the %s '%s' is %s: it must be %s", what, shortened(field), shortened(shown), right);
  }

  private static String shortened(String text) {
    return text.length() > SHOWN_MAX ? text.substring(0, SHOWN_MAX) + "…" : text;
  }

  /** Declares how the component is written and read. */
  @SuppressWarnings("unchecked")
  public <V> RecordJson<T> form(
      String name, BiConsumer<JsonObject, V> write, Function<JsonObject, V> read) {
    if (!components.containsKey(name)) {
      throw new IllegalArgumentException("no component " + name);
    }
    forms.put(
        name,
        new Form((json, value) -> write.accept(json, (V) value), (json, path) -> read.apply(json)));
    return this;
  }

  /** The component is an object; if it is null, the field is left out. */
  public <V> RecordJson<T> object(
      String name, Function<V, JsonObject> write, Function<JsonObject, V> read) {
    return this.<V>form(
            name,
            (json, value) -> json.put(name, write.apply(value)),
            json -> read.apply(json.getJsonObject(name)))
        .unless(name, null);
  }

  /**
   * The component is an array.
   *
   * @param max how many items are read; it ignores the others
   * @param read reads the item at an index
   */
  public <V> RecordJson<T> list(
      String name, int max, Function<V, Object> write, BiFunction<JsonArray, Integer, V> read) {
    return this.<List<V>>form(
        name,
        (json, items) -> {
          JsonArray array = new JsonArray();
          items.forEach(item -> array.add(write.apply(item)));
          json.put(name, array);
        },
        json -> {
          JsonArray array = json.getJsonArray(name);
          List<V> items = new ArrayList<>();
          for (int i = 0; i < Math.min(array.size(), max); i++) {
            items.add(read.apply(array, i));
          }
          return Collections.unmodifiableList(items);
        });
  }

  /**
   * The field may be missing, as former builds do not send it. Then the component has this value.
   */
  public RecordJson<T> former(String name, @Nullable Object value) {
    Form form = Objects.requireNonNull(forms.get(name));
    forms.put(
        name,
        new Form(
            form.write,
            (json, path) -> json.getValue(name) == null ? value : form.read.apply(json, path)));
    return this;
  }

  /** As {@link #former(String, Object)}, for all fields: the record has their values. */
  public RecordJson<T> former(T usual) {
    components.keySet().forEach(name -> former(name, value((Object) usual, name)));
    return this;
  }

  /** The field is left out if the component has this value. */
  public RecordJson<T> unless(String name, @Nullable Object usual) {
    Form form = Objects.requireNonNull(former(name, usual).forms.get(name));
    forms.put(
        name,
        new Form(
            (json, value) -> {
              if (!Objects.equals(value, usual)) {
                form.write.accept(json, value);
              }
            },
            form.read));
    return this;
  }

  public JsonObject write(T record) {
    return writeAny(record);
  }

  JsonObject writeAny(Object record) {
    JsonObject json = new JsonObject();
    writeTo(json, record);
    return json;
  }

  public void writeTo(JsonObject json, Object record) {
    forms.forEach((name, form) -> form.write.accept(json, value(record, name)));
  }

  public T read(JsonObject json) {
    return read(json, JsonPath.LENIENT);
  }

  /**
   * Reads what an untrusted program has sent. Refuses fields that the record does not have, with
   * the name that may have been meant, and needs all that may not be null.
   *
   * @param others fields that are not of the record
   * @throws RefusedException INVALID
   */
  public T readStrictly(JsonObject json, String... others) {
    return read(json, JsonPath.STRICT, others);
  }

  /** Reads what is at a place in other JSON. */
  T read(JsonObject json, JsonPath path, String... others) {
    List<String> known = Stream.concat(Stream.of(others), fields.stream()).toList();
    if (path.strict() && !known.containsAll(json.fieldNames())) {
      Names.requireKnown("field", at(path, json.fieldNames()), at(path, known));
    }
    return make(json, path);
  }

  private static List<String> at(JsonPath path, Collection<String> names) {
    return names.stream().map(each -> path.field(each).toString()).toList();
  }

  private T make(JsonObject json, JsonPath path) {
    return make(forms.values().stream().map(form -> form.read.apply(json, path)).toArray());
  }

  /** Reads the object at an index of an array. */
  public T readItem(JsonArray array, int index) {
    return read(array.getJsonObject(index));
  }

  /** A copy of the record in which one component has another value. */
  public T with(T record, String component, @Nullable Object value) {
    return make(
        forms.keySet().stream()
            .map(name -> name.equals(component) ? value : value(record, name))
            .toArray());
  }

  /** The field of the {@link Caller}; null: there is none. */
  public @Nullable String caller() {
    return caller;
  }

  /** Whether a field holds contents of messages, or records that may. */
  boolean isContent(String field) {
    return contents.contains(field);
  }

  /** Whether a field is a whole number. */
  boolean isNumber(String field) {
    return Objects.requireNonNull(types.get(field)).isNumber();
  }

  /** The names of all fields, in order. */
  public List<String> fields() {
    return Collections.unmodifiableList(fields);
  }

  /**
   * The JSON of a field that is given as a text, such as a parameter of a query.
   *
   * @param where says where the text is, for the message
   * @throws RefusedException INVALID if the field cannot have that value
   */
  public Object ofText(String where, String field, String text) {
    JsonType type = Objects.requireNonNull(types.get(field));
    Object value = type.ofText(text);
    if (value == null) {
      throw wrong(where, field, text, type.right());
    }
    return type.write().apply(value);
  }

  /** A component of a record. */
  public static @Nullable Object value(Record record, String component) {
    return of(record.getClass()).value((Object) record, component);
  }

  private @Nullable Object value(Object record, String name) {
    try {
      return Objects.requireNonNull(components.get(name)).getAccessor().invoke(record);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }

  private T make(@Nullable Object[] values) {
    try {
      return constructor.newInstance(values);
    } catch (InvocationTargetException e) {
      throw e.getCause() instanceof RuntimeException cause ? cause : new IllegalStateException(e);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }
}
