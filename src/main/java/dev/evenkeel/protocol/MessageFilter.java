package dev.evenkeel.protocol;

import static dev.evenkeel.protocol.Refusal.INVALID;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
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
 * of UTF-8. No condition is there twice. A filter does not change.
 */
public final class MessageFilter {
  /** Most conditions: 1,000. */
  public static final int CONDITIONS_MAX = 1_000;

  /** Most bytes of all conditions as UTF-8: 64 KiB. */
  public static final int BYTES_MAX = 64 << 10;

  /** Takes every message. */
  public static final MessageFilter ALL = new MessageFilter(List.of());

  /** Most conditions of a filter that are shown to people. */
  public static final int SHOWN_MAX = 20;

  /** Most characters of a condition that are shown. */
  private static final int SHOWN_CHARS_MAX = 300;

  private static final String KEY = "key";
  private static final String HEADER = "header:";

  /**
   * The conditions on the key or on one header.
   *
   * @param header name of the header as UTF-8; null: the key
   * @param values one of which it may be; sorted as unsigned bytes
   * @param prefixes one of which it may begin with; sorted as unsigned bytes, and none begins with
   *     another one
   */
  public record Field(byte @Nullable [] header, byte[][] values, byte[][] prefixes) {

    /** Whether one of the conditions holds for the bytes {@code from} to {@code to}. */
    public boolean matches(byte[] bytes, int from, int to) {
      // If they begin with a prefix, nothing else lies between that and them: all that begins with
      // it does, and no other prefix does so.
      byte[] prefix = floor(prefixes, bytes, from, to);
      byte[] value = floor(values, bytes, from, to);
      return prefix != null
              && prefix.length <= to - from
              && Arrays.equals(bytes, from, from + prefix.length, prefix, 0, prefix.length)
          || value != null && Arrays.equals(bytes, from, to, value, 0, value.length);
    }

    /** The last one that is not behind the bytes; null: there is none. */
    private static byte @Nullable [] floor(byte[][] sorted, byte[] bytes, int from, int to) {
      int low = 0;
      int high = sorted.length - 1;
      while (low <= high) {
        int middle = (low + high) >>> 1;
        byte[] each = sorted[middle];
        if (Arrays.compareUnsigned(each, 0, each.length, bytes, from, to) <= 0) {
          low = middle + 1;
        } else {
          high = middle - 1;
        }
      }
      return high < 0 ? null : sorted[high];
    }
  }

  private final List<String> texts;
  private final List<Field> fields;
  private final int hash;

  private MessageFilter(List<String> texts) {
    this.texts = texts;
    hash = texts.hashCode();
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
    check(texts);
    return new MessageFilter(List.copyOf(new TreeSet<>(texts)));
  }

  /** As {@link #of(Collection)}. */
  public static MessageFilter of(String... texts) {
    return of(Arrays.asList(texts));
  }

  /**
   * Checks the texts of a filter, in any order.
   *
   * @throws RefusedException INVALID, saying what would be right
   */
  public static void check(Collection<String> texts) {
    if (texts.size() > CONDITIONS_MAX) {
      throw INVALID.error(
          "a filter of %s conditions: at most %s are allowed; a prefix stands for many values",
          texts.size(), CONDITIONS_MAX);
    }
    Set<String> seen = new HashSet<>();
    long bytes = 0;
    for (String text : texts) {
      check(text);
      bytes += bytes(text);
      if (!seen.add(text)) {
        throw INVALID.error(
            "the filter has the condition '%s' twice: leave one of them out", shown(text));
      }
    }
    if (bytes > BYTES_MAX) {
      throw INVALID.error(
          "a filter of %s bytes as UTF-8: at most %s are allowed; use fewer conditions, or a prefix"
              + " for many values",
          bytes, BYTES_MAX);
    }
  }

  /** The length of a text as UTF-8. */
  private static long bytes(String text) {
    long bytes = 0;
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      // Each half of a pair counts two of its four bytes.
      bytes += c < 0x80 ? 1 : c < 0x800 || Character.isSurrogate(c) ? 2 : 3;
    }
    return bytes;
  }

  /** For messages: not longer than {@link #SHOWN_CHARS_MAX}. */
  private static String shown(@Nullable String text) {
    String all = String.valueOf(text);
    boolean fits = all.length() <= SHOWN_CHARS_MAX;
    return Names.printable(fits ? all : all.substring(0, SHOWN_CHARS_MAX) + "…");
  }

  private static void check(@Nullable String text) {
    String name = text == null || text.indexOf('=') < 0 ? "" : name(text);
    if (!name.equals(KEY) && !(name.startsWith(HEADER) && name.length() > HEADER.length())) {
      throw INVALID.error(
          "bad filter '%s': write key=VALUE, key^=PREFIX, header:NAME=VALUE or header:NAME^=PREFIX",
          shown(text));
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
    prefixes.sort(Arrays::compareUnsigned);
    return new Field(
        name.equals(KEY) ? null : utf8(name.substring(HEADER.length())),
        values.toArray(byte[][]::new),
        shortest(prefixes).toArray(byte[][]::new));
  }

  /** Without those that begin with another one. */
  private static List<byte[]> shortest(List<byte[]> sorted) {
    List<byte[]> shortest = new ArrayList<>();
    for (byte[] each : sorted) {
      byte[] last = shortest.isEmpty() ? null : shortest.get(shortest.size() - 1);
      boolean covered =
          last != null
              && last.length <= each.length
              && Arrays.equals(each, 0, last.length, last, 0, last.length);
      if (!covered) {
        shortest.add(each);
      }
    }
    return shortest;
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

  /**
   * The texts as they are shown: the first {@link #SHOWN_MAX}, shortened, and how many others there
   * are. The same list if all of it is shown.
   */
  public static List<String> shown(List<String> texts) {
    if (texts.size() <= SHOWN_MAX
        && texts.stream().allMatch(text -> text.length() <= SHOWN_CHARS_MAX)) {
      return texts;
    }
    List<String> shown = new ArrayList<>();
    texts.stream().limit(SHOWN_MAX).map(MessageFilter::shown).forEach(shown::add);
    if (texts.size() > SHOWN_MAX) {
      shown.add("… and " + (texts.size() - SHOWN_MAX) + " more");
    }
    return shown;
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
    return this == other
        || other instanceof MessageFilter that && hash == that.hash && texts.equals(that.texts);
  }

  @Override
  public int hashCode() {
    return hash;
  }

  /** The conditions, for people. */
  @Override
  public String toString() {
    return texts.isEmpty() ? "every message" : String.join(", ", texts);
  }
}
