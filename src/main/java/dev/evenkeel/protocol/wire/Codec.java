package dev.evenkeel.protocol.wire;

import static dev.evenkeel.protocol.Refusal.INVALID;
import static dev.evenkeel.protocol.Refusal.WRONG_VERSION;

import dev.evenkeel.protocol.MalformedException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Writes values of one type as bytes, and reads them back. Codecs of records name the codec of each
 * component, in order; see {@link #record}. What is written for every message or batch does not use
 * them.
 */
public interface Codec<T> {
  Codec<Integer> U8 = of(Bytes::u8, ByteReader::u8);
  Codec<Integer> I32 = of(Bytes::i32, ByteReader::i32);
  Codec<Long> I64 = of(Bytes::i64, ByteReader::i64);
  Codec<Long> VARLONG = of(Bytes::varlong, ByteReader::varlong);
  Codec<Boolean> BOOL = of(Bytes::bool, ByteReader::bool);

  /** May be null. */
  Codec<String> TEXT = of(Bytes::text, ByteReader::text);

  Codec<String> NEEDED_TEXT = of(Bytes::text, ByteReader::neededText);

  /** May be null. */
  Codec<byte[]> BLOB = of(Bytes::blob, ByteReader::blob);

  Codec<List<Integer>> INTS = list(I32);
  Codec<List<Long>> NUMBERS = list(I64);
  Codec<List<String>> TEXTS = list(NEEDED_TEXT);

  void write(Bytes out, T value);

  /**
   * @throws MalformedException if the bytes are no such value
   */
  T read(ByteReader in);

  /** Whether it can write this value; compare {@link Tagged}. */
  default boolean fits(T value) {
    return true;
  }

  /** The {@link FeatureLevel} that a node needs to read this value. */
  default int level(T value) {
    return FeatureLevel.FIRST;
  }

  default byte[] encode(T value) {
    Bytes out = new Bytes();
    write(out, value);
    return out.toArray();
  }

  /** Reads a value from the beginning of {@code bytes}. */
  default T decode(byte[] bytes) {
    return read(new ByteReader(bytes));
  }

  /** Reads a value that takes all of {@code bytes}. */
  default T decodeAll(ByteBuffer bytes) {
    ByteReader in = new ByteReader(bytes);
    T value = read(in);
    in.end();
    return value;
  }

  static <T> Codec<T> of(BiConsumer<Bytes, T> write, Function<ByteReader, T> read) {
    return of(write, read, any -> true);
  }

  static <T> Codec<T> of(
      BiConsumer<Bytes, T> write, Function<ByteReader, T> read, Predicate<T> fits) {
    return new Codec<>() {
      @Override
      public void write(Bytes out, T value) {
        write.accept(out, value);
      }

      @Override
      public T read(ByteReader in) {
        return read.apply(in);
      }

      @Override
      public boolean fits(T value) {
        return fits.test(value);
      }
    };
  }

  /**
   * The components of a record, one after another.
   *
   * @param components none: each as its type is usually written. Text and arrays may be null; a
   *     Long outside a list, too
   */
  static <T> Codec<T> record(Class<T> type, Codec<?>... components) {
    return new RecordLayout<>(type, components);
  }

  /**
   * The components of a record that got more of them at its end, version by version.
   *
   * @param type its first component is a long that is not negative
   * @param usual has the values of components that were not written
   * @param levels the {@link FeatureLevel} that reads each of the added components
   */
  static <T> Codec<T> grown(Class<T> type, T usual, List<Integer> levels) {
    return new GrownRecord<>(type, usual, levels);
  }

  /**
   * A component that this form does not have: only {@code value} fits, and no bytes stand for it.
   */
  static <T> Codec<T> absent(@Nullable T value) {
    return absent(value, other -> Objects.equals(value, other));
  }

  /** The same where {@code value} stands for more values. */
  static <T> Codec<T> absent(@Nullable T value, Predicate<T> fits) {
    return of((out, none) -> {}, in -> value, fits);
  }

  /** A byte says whether there is a value. */
  static <T> Codec<T> nullable(Codec<T> codec) {
    return of(
        (out, value) -> {
          out.bool(value != null);
          if (value != null) {
            codec.write(out, value);
          }
        },
        in -> in.bool() ? codec.read(in) : null,
        value -> value == null || codec.fits(value));
  }

  /** A count, then the items. */
  static <T> Codec<List<T>> list(Codec<T> item) {
    return new Codec<>() {
      @Override
      public void write(Bytes out, List<T> list) {
        out.i32(list.size());
        list.forEach(each -> item.write(out, each));
      }

      @Override
      public List<T> read(ByteReader in) {
        int count = in.count();
        List<T> items = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
          items.add(item.read(in));
        }
        return List.copyOf(items);
      }

      @Override
      public int level(List<T> list) {
        return list.stream().mapToInt(item::level).max().orElse(FeatureLevel.FIRST);
      }
    };
  }

  /** A count, then the entries. */
  static <K, V> Codec<Map<K, V>> map(Supplier<Map<K, V>> empty, Codec<K> key, Codec<V> value) {
    return of(
        (out, map) -> {
          out.i32(map.size());
          map.forEach(
              (k, v) -> {
                key.write(out, k);
                value.write(out, v);
              });
        },
        in -> {
          Map<K, V> map = empty.get();
          for (int count = in.count(); count > 0; count--) {
            map.put(key.read(in), value.read(in));
          }
          return map;
        });
  }

  /** One byte; the order of the constants is part of the format. */
  static <E extends Enum<E>> Codec<E> constant(Class<E> type) {
    E[] values = type.getEnumConstants();
    return of(
        (out, value) -> out.u8(value.ordinal()),
        in -> {
          int ordinal = in.u8();
          if (ordinal >= values.length) {
            throw new MalformedException(INVALID, "malformed record: no " + type + " " + ordinal);
          }
          return values[ordinal];
        });
  }

  /** The number of a form in front of the value. */
  static <T> Codec<T> form(String what, int form, Codec<T> codec) {
    return of(
        (out, value) -> codec.write(out.u8(form), value),
        in -> {
          checkForm(what, in.u8(), form, form);
          return codec.read(in);
        });
  }

  /**
   * @throws MalformedException WRONG_VERSION unless {@code form} is from {@code from} to {@code to}
   */
  static int checkForm(String what, int form, int from, int to) {
    if (form < from || form > to) {
      throw new MalformedException(
          WRONG_VERSION, what + " of form " + form + ": this node reads up to " + to);
    }
    return form;
  }
}
