package dev.evenkeel.cli;

import dev.evenkeel.api.TextOrBytes;
import dev.evenkeel.protocol.Message;
import java.util.LinkedHashMap;
import java.util.Map;

/** Environment variables with the key and the headers of a message, for {@code consume --exec}. */
final class MessageVariables {
  private static final String KEY = "EVENKEEL_KEY";
  private static final String HEADER = "EVENKEEL_HEADER_";

  private MessageVariables() {}

  /** Whether another message may not have this variable, too. */
  static boolean isOfOneMessage(String name) {
    return name.equals(KEY) || name.startsWith(HEADER);
  }

  static Map<String, byte[]> of(Message message) {
    Map<String, byte[]> variables = new LinkedHashMap<>();
    if (message.hasKey()) {
      variables.put(KEY, message.key());
    }
    message
        .headers()
        .forEach(
            (name, value) -> {
              if (fits(value)) {
                variables.putIfAbsent(nameOf(name), value);
              }
            });
    return variables;
  }

  /** {@code trace-id} becomes {@code EVENKEEL_HEADER_TRACE_ID}. */
  private static String nameOf(String header) {
    StringBuilder name = new StringBuilder(HEADER);
    header
        .codePoints()
        .forEach(
            c -> {
              if (c >= 'a' && c <= 'z') {
                name.append((char) (c - 'a' + 'A'));
              } else {
                name.append(c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' ? (char) c : '_');
              }
            });
    return name.toString();
  }

  /** Whether a value can be in an environment. */
  private static boolean fits(byte[] value) {
    for (byte b : value) {
      if (b == 0) {
        return false;
      }
    }
    return TextOrBytes.textOrNull(value) != null;
  }
}
