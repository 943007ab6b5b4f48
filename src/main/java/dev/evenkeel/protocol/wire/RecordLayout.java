package dev.evenkeel.protocol.wire;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Constructor;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The bytes of a public record: its components, in their order. */
final class RecordLayout<T> implements Codec<T> {
  private static final Map<Class<?>, Codec<?>> USUAL =
      Map.of(
          int.class, Codec.I32,
          long.class, Codec.I64,
          Long.class, Codec.nullable(Codec.VARLONG),
          boolean.class, Codec.BOOL,
          String.class, Codec.TEXT,
          byte[].class, Codec.BLOB);

  private final Class<T> type;
  private final MethodHandle constructor;
  private final List<MethodHandle> getters = new ArrayList<>();
  private final List<Codec<Object>> codecs = new ArrayList<>();

  @SuppressWarnings("unchecked")
  RecordLayout(Class<T> type, Codec<?>... codecs) {
    this.type = type;
    RecordComponent[] components = type.getRecordComponents();
    if (codecs.length != 0 && components.length != codecs.length) {
      throw new IllegalArgumentException(
          type + " has " + components.length + " components, not " + codecs.length);
    }
    try {
      MethodHandles.Lookup lookup = MethodHandles.publicLookup();
      Class<?>[] types = new Class<?>[components.length];
      for (int i = 0; i < components.length; i++) {
        types[i] = components[i].getType();
        MethodHandle getter = lookup.unreflect(components[i].getAccessor());
        getters.add(getter.asType(getter.type().generic()));
        Codec<?> codec = codecs.length == 0 ? usual(components[i].getGenericType()) : codecs[i];
        this.codecs.add((Codec<Object>) codec);
      }
      Constructor<T> canonical = type.getDeclaredConstructor(types);
      MethodHandle of = lookup.unreflectConstructor(canonical);
      constructor = of.asType(of.type().generic()).asSpreader(Object[].class, components.length);
    } catch (ReflectiveOperationException e) {
      throw new IllegalArgumentException(type + " is no public record", e);
    }
  }

  @SuppressWarnings({"unchecked", "rawtypes"})
  private static Codec<Object> usual(Type type) {
    if (type instanceof ParameterizedType list && list.getRawType() == List.class) {
      Type item = list.getActualTypeArguments()[0];
      return Codec.list(item == Long.class ? (Codec) Codec.I64 : usual(item));
    }
    Class<?> raw = (Class<?>) type;
    Codec known = USUAL.get(raw);
    if (known != null) {
      return known;
    }
    return raw.isEnum() ? Codec.constant((Class) raw) : new RecordLayout(raw);
  }

  /** The values of the components. */
  Object[] values(T record) {
    Object[] values = new Object[getters.size()];
    for (int i = 0; i < values.length; i++) {
      values[i] = call(getters.get(i), record);
    }
    return values;
  }

  boolean fit(Object[] values) {
    for (int i = 0; i < values.length; i++) {
      if (!codecs.get(i).fits(values[i])) {
        return false;
      }
    }
    return true;
  }

  @Override
  public boolean fits(T record) {
    return fit(values(record));
  }

  int level(Object[] values) {
    int level = Integer.MIN_VALUE;
    for (int i = 0; i < values.length; i++) {
      level = Math.max(level, codecs.get(i).level(values[i]));
    }
    return level;
  }

  @Override
  public int level(T record) {
    return level(values(record));
  }

  /** Writes the first components only. */
  void write(Bytes out, Object[] values, int count) {
    for (int i = 0; i < count; i++) {
      codecs.get(i).write(out, values[i]);
    }
  }

  @Override
  public void write(Bytes out, T record) {
    write(out, values(record), codecs.size());
  }

  /** Reads the first components only; the others are as in {@code values}. */
  T read(ByteReader in, Object[] values, int count) {
    for (int i = 0; i < count; i++) {
      values[i] = codecs.get(i).read(in);
    }
    return type.cast(call(constructor, values));
  }

  @Override
  public T read(ByteReader in) {
    return read(in, new Object[codecs.size()], codecs.size());
  }

  private static Object call(MethodHandle handle, Object argument) {
    try {
      return argument instanceof Object[] values
          ? (Object) handle.invokeExact(values)
          : (Object) handle.invokeExact(argument);
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new IllegalStateException("a record may not throw this", e);
    }
  }
}
