package dev.evenkeel.gateway.access;

import dev.evenkeel.api.ApiAddresses;
import dev.evenkeel.api.Operation;
import dev.evenkeel.api.Operations;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.buffer.Buffer;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * How large questions as JSON may be, whichever way they come. They are checked before they are
 * parsed, because a value takes much more memory and time than its text.
 */
public final class JsonSize {
  /** Most values of one question: a thousand messages with all their headers. */
  public static final int VALUES_MAX = 100_000;

  /** Largest question with settings, in bytes. */
  public static final int SETTINGS_BYTES_MAX = 64 << 10;

  /** Largest question with names of dead letters, in bytes: thousands of names. */
  public static final int NAMES_BYTES_MAX = 1 << 20;

  /**
   * Largest question with messages, in bytes: enough for one payload at its limit, even if every
   * byte is escaped.
   */
  public static final int MESSAGES_BYTES_MAX = 8 << 20;

  /** From this size on, in bytes, JSON is parsed outside of the event loops. */
  public static final int HEAVY_BYTES = 64 << 10;

  private static final Map<String, Integer> BYTES_MAX =
      Operations.all().stream()
          .filter(each -> each.address() != null)
          .collect(
              Collectors.toUnmodifiableMap(
                  each -> String.valueOf(each.address()), JsonSize::bytesMax, Math::max));

  private JsonSize() {}

  /** Most bytes of a question, as JSON. */
  public static int bytesMax(Operation<?, ?> operation) {
    if (ApiAddresses.PRODUCE.equals(operation.address())) {
      return MESSAGES_BYTES_MAX;
    }
    return operation.hasLargeBody() ? NAMES_BYTES_MAX : SETTINGS_BYTES_MAX;
  }

  /**
   * Checks a question to an {@code evenkeel.api} address.
   *
   * @throws RefusedException TOO_LARGE, with the limit
   */
  public static void check(String address, Buffer question) {
    int bytesMax = BYTES_MAX.getOrDefault(address, SETTINGS_BYTES_MAX);
    if (question.length() > bytesMax) {
      throw Refusal.TOO_LARGE.error(
          "a question of %s bytes to '%s': at most %s", question.length(), address, bytesMax);
    }
    if (hasTooManyValues(question)) {
      throw Refusal.TOO_LARGE.error("the question has more than %s JSON values", VALUES_MAX);
    }
  }

  /** Whether there are more than {@link #VALUES_MAX} values, in one JSON text or in lines of it. */
  public static boolean hasTooManyValues(Buffer text) {
    int length = text.length();
    if (length <= VALUES_MAX) {
      return false;
    }
    int values = 0;
    boolean inText = false;
    for (int i = 0; i < length; i++) {
      byte next = text.getByte(i);
      if (next == '"') {
        inText = !inText;
      } else if (inText && next == '\\') {
        i++;
      } else if (!inText && (next == ',' || next == '{' || next == '[' || next == '\n')) {
        values++;
      }
    }
    return values > VALUES_MAX;
  }
}
