package dev.evenkeel.protocol;

import static dev.evenkeel.protocol.Refusal.INVALID;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Which messages a consumer wants, by their keys and headers. As texts, each of which is one
 * condition:
 *
 * <pre>
 * key=VALUE            the key is VALUE
 * key^=PREFIX          the key begins with PREFIX
 * header:NAME=VALUE    there is a header NAME, and its value is VALUE
 * header:NAME^=PREFIX  its value begins with PREFIX
 * </pre>
 *
 * Of the conditions on the key, or on one header, one must hold. If there are conditions on the key
 * and on headers, or on several headers, that goes for each of these. Values are compared as bytes
 * of UTF-8. A filter does not change.
 */
public final class MessageFilter {
  /** Most conditions: 1,000. */
  public static final int CONDITIONS_MAX = 1_000;

  /** Most bytes of all conditions: 64 KiB. */
  public static final int BYTES_MAX = 64 << 10;

  /** Takes every message. */
  public static final MessageFilter ALL = new MessageFilter(List.of());

  private static final String KEY = "key";
  private static final String HEADER = "header:";

  /**
   * The conditions on the key or on one header.
   *
   * @param header name of the header as UTF-8; null: the key
   * @param values one of which it may be; sorted as unsigned bytes
   * @param prefixes one of which it may begin with
   */
  public record Field(byte @Nullable [] header, byte[][] values, byte[][] prefixes) {

    /** Whether one of the conditions holds for the bytes {@code from} to {@code to}. */
    public boolean matches(byte[] bytes, int from, int to) {
      for (byte[] prefix : prefixes) {
        int end = from + prefix.length;
        if (end <= to && Arrays.equals(bytes, from, end, prefix, 0, prefix.length)) {
          return true;
        }
      }
      int low = 0;
      int high = values.length - 1;
      while (low <= high) {
        int middle = (low + high) >>> 1;
        byte[] value = values[middle];
        int order = Arrays.compareUnsigned(value, 0, value.length, bytes, from, to);
        if (order == 0) {
          return true;
        }
        if (order < 0) {
          low = middle + 1;
        } else {
          high = middle - 1;
        }
      }
      return false;
    }
  }

  private final List<String> texts;
  private final List<Field> fields;

  private MessageFilter(List<String> texts) {
    this.texts = texts;
    Map<String, List<String>> byName = new LinkedHashMap<>();
    for (String text : texts) {
      byName.computeIfAbsent(name(text), any -> new ArrayList<>()).add(text);
    }
    fields = byName.entrySet().stream().map(each -> field(each.getKey(), each.getValue())).toList();
  }

  /**
   * The filter that these texts stand for. Their order does not count.
   *
   * @throws RefusedException INVALID, saying what would be right
   */
  public static MessageFilter of(Collection<String> texts) {
    if (texts.isEmpty()) {
      return ALL;
    }
    long bytes = 0;
    for (String text : texts) {
      check(text);
      bytes += text.length();
    }
    if (texts.size() > CONDITIONS_MAX || bytes > BYTES_MAX) {
      throw INVALID.error(
          "a filter of %s conditions and %s letters: at most %s conditions and %s letters are"
              + " allowed",
          texts.size(), bytes, CONDITIONS_MAX, BYTES_MAX);
    }
    return new MessageFilter(List.copyOf(new TreeSet<>(texts)));
  }

  /** As {@link #of(Collection)}. */
  public static MessageFilter of(String... texts) {
    return of(Arrays.asList(texts));
  }

  private static void check(@Nullable String text) {
    String name = text == null || text.indexOf('=') < 0 ? "" : name(text);
    if (!name.equals(KEY) && !(name.startsWith(HEADER) && name.length() > HEADER.length())) {
      throw INVALID.error(
          "bad filter '%s': write key=VALUE, key^=PREFIX, header:NAME=VALUE or header:NAME^=PREFIX",
          Names.printable(String.valueOf(text)));
    }
  }

  private static boolean isPrefix(String text) {
    int equals = text.indexOf('=');
    return equals > 0 && text.charAt(equals - 1) == '^';
  }

  private static String name(String text) {
    return text.substring(0, text.indexOf('=') - (isPrefix(text) ? 1 : 0));
  }

  private static Field field(String name, List<String> conditions) {
    List<byte[]> values = new ArrayList<>();
    List<byte[]> prefixes = new ArrayList<>();
    for (String text : conditions) {
      byte[] value = utf8(text.substring(text.indexOf('=') + 1));
      (isPrefix(text) ? prefixes : values).add(value);
    }
    values.sort(Arrays::compareUnsigned);
    return new Field(
        name.equals(KEY) ? null : utf8(name.substring(HEADER.length())),
        values.toArray(byte[][]::new),
        prefixes.toArray(byte[][]::new));
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  /** Whether it takes every message. */
  public boolean isAll() {
    return fields.isEmpty();
  }

  /** The key and the headers that have conditions; empty if it takes every message. */
  public List<Field> fields() {
    return fields;
  }

  /** The conditions, sorted. */
  public List<String> texts() {
    return texts;
  }

  /** Whether the filter takes a message. */
  public boolean matches(Message message) {
    for (Field field : fields) {
      byte[] value =
          field.header == null
              ? message.key()
              : message.header(new String(field.header, StandardCharsets.UTF_8));
      if (value == null || !field.matches(value, 0, value.length)) {
        return false;
      }
    }
    return true;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof MessageFilter that && texts.equals(that.texts);
  }

  @Override
  public int hashCode() {
    return texts.hashCode();
  }

  /** The conditions, for people. */
  @Override
  public String toString() {
    return texts.isEmpty() ? "every message" : String.join(", ", texts);
  }
}
