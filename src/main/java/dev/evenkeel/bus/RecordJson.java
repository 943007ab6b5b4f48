package dev.evenkeel.bus;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * Writes a public record as a JSON object, and reads it back. By default each component is a field
 * with its name, and a component that is a record puts its fields into the same object. The methods
 * declare other forms.
 *
 * <p>Reading throws a {@link NullPointerException} for a missing number or boolean, and a {@link
 * ClassCastException} for a field of the wrong type.
 */
final class RecordJson<T extends Record> {
  private static final Map<Class<?>, BiFunction<JsonObject, String, Object>> READERS =
      Map.of(
          String.class, JsonObject::getString,
          int.class, JsonObject::getInteger,
          long.class, JsonObject::getLong,
          Long.class, JsonObject::getLong,
          boolean.class, JsonObject::getBoolean);

  private record Form(BiConsumer<JsonObject, Object> write, Function<JsonObject, Object> read) {}

  private final Constructor<T> constructor;
  private final Map<String, RecordComponent> components = new LinkedHashMap<>();
  private final Map<String, Form> forms = new LinkedHashMap<>();

  RecordJson(Class<T> type) {
    for (RecordComponent each : type.getRecordComponents()) {
      components.put(each.getName(), each);
      forms.put(each.getName(), form(each.getName(), each.getType()));
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

  private static Form form(String name, Class<?> type) {
    if (type.isRecord()) {
      RecordJson<?> inner = new RecordJson<>(type.asSubclass(Record.class));
      return new Form(inner::writeTo, inner::read);
    }
    return new Form(
        (json, value) -> json.put(name, value),
        json -> {
          Object value = READERS.get(type).apply(json, name);
          return type.isPrimitive() ? Objects.requireNonNull(value, name) : value;
        });
  }

  /** Declares how the component is written and read. */
  @SuppressWarnings("unchecked")
  <V> RecordJson<T> form(
      String name, BiConsumer<JsonObject, V> write, Function<JsonObject, V> read) {
    Form form = new Form((json, value) -> write.accept(json, (V) value), read::apply);
    if (forms.replace(name, form) == null) {
      throw new IllegalArgumentException("no component " + name);
    }
    return this;
  }

  /** The component is an object; if it is null, the field is left out. */
  <V> RecordJson<T> object(
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
  <V> RecordJson<T> list(
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
  RecordJson<T> former(String name, Object value) {
    Form form = forms.get(name);
    return form(
        name, form.write, json -> json.getValue(name) == null ? value : form.read.apply(json));
  }

  /** The field is left out if the component has this value. */
  RecordJson<T> unless(String name, Object usual) {
    Form form = former(name, usual).forms.get(name);
    return form(
        name,
        (json, value) -> {
          if (!Objects.equals(value, usual)) {
            form.write.accept(json, value);
          }
        },
        form.read);
  }

  JsonObject write(T record) {
    JsonObject json = new JsonObject();
    writeTo(json, record);
    return json;
  }

  void writeTo(JsonObject json, Object record) {
    forms.forEach((name, form) -> form.write.accept(json, value(record, name)));
  }

  T read(JsonObject json) {
    return make(forms.values().stream().map(form -> form.read.apply(json)).toArray());
  }

  /** Reads the object at an index of an array. */
  T readItem(JsonArray array, int index) {
    return read(array.getJsonObject(index));
  }

  /** A copy of the record in which one component has another value. */
  T with(T record, String component, Object value) {
    return make(
        forms.keySet().stream()
            .map(name -> name.equals(component) ? value : value(record, name))
            .toArray());
  }

  private Object value(Object record, String name) {
    try {
      return components.get(name).getAccessor().invoke(record);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }

  private T make(Object[] values) {
    try {
      return constructor.newInstance(values);
    } catch (InvocationTargetException e) {
      throw e.getCause() instanceof RuntimeException cause ? cause : new IllegalStateException(e);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }
}
