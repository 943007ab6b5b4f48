package dev.evenkeel.cli;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import dev.evenkeel.api.TextOrBytes;
import java.io.IOException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;

/** Extracts the key of a line; null if the line has none. */
@FunctionalInterface
interface KeyExtractor {
  byte[] keyOf(byte[] line);

  /** No line has a key. */
  KeyExtractor NONE = line -> null;

  /**
   * The key is the first capture group of the first match. A line that is not UTF-8 is read as
   * Latin-1, so that the bytes of the key are those of the line.
   *
   * @throws CommandFailure if the expression is wrong or has no capture group
   */
  static KeyExtractor regex(String expression) {
    Pattern pattern;
    try {
      pattern = Pattern.compile(expression);
    } catch (PatternSyntaxException e) {
      throw CommandFailure.usage(
          "--key-regex '" + expression + "': " + e.getDescription() + " at " + e.getIndex());
    }
    Matcher matcher = pattern.matcher("");
    CommandFailure.refuseIf(
        matcher.groupCount() < 1,
        "--key-regex '"
            + expression
            + "' has no capture group: put the key's part in parentheses, such as '^(\\w+)'");
    return line -> {
      Charset charset = StandardCharsets.UTF_8;
      String text = TextOrBytes.textOrNull(line);
      if (text == null) {
        charset = StandardCharsets.ISO_8859_1;
        text = new String(line, charset);
      }
      matcher.reset(text);
      String key = matcher.find() ? matcher.group(1) : null;
      return key == null ? null : key.getBytes(charset);
    };
  }

  /** The key is a top-level field of the JSON object, if that is a string or a number. */
  static KeyExtractor jsonField(String field) {
    JsonFactory factory = new JsonFactory();
    return line -> {
      try (JsonParser parser = factory.createParser(line)) {
        if (parser.nextToken() != JsonToken.START_OBJECT) {
          return null;
        }
        while (parser.nextToken() == JsonToken.FIELD_NAME) {
          boolean wanted = parser.currentName().equals(field);
          JsonToken value = parser.nextToken();
          if (wanted) {
            boolean usable = value == JsonToken.VALUE_STRING || value != null && value.isNumeric();
            return usable ? parser.getText().getBytes(StandardCharsets.UTF_8) : null;
          }
          parser.skipChildren();
        }
        return null;
      } catch (IOException e) {
        // The line is not JSON, so it has no key.
        return null;
      }
    };
  }
}
