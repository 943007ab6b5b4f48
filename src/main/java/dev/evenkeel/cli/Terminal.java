package dev.evenkeel.cli;

import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Collectors;

/**
 * What goes to a terminal. A control character there is a command, which can hide lines or type
 * text: those of keys, payloads, hosts and errors, which other users choose, are shown as escapes.
 * What goes to a pipe or a file stays as it is.
 */
final class Terminal {
  private static final int DELETE = 0x7F;

  /** In UTF-8, the first byte of the control characters from U+0080 to U+009F. */
  private static final int C1_LEAD = 0xC2;

  private Terminal() {}

  /**
   * Whether a file descriptor is a terminal.
   *
   * @param descriptor 1: standard output; 2: standard error
   */
  static boolean is(int descriptor) {
    Path link = Path.of("/proc/self/fd/" + descriptor);
    if (!Files.isSymbolicLink(link)) {
      // Java can only tell whether standard input and output are both a terminal.
      return System.console() != null;
    }
    try {
      String target = Files.readSymbolicLink(link).toString();
      return target.startsWith("/dev/pts/") || target.startsWith("/dev/tty");
    } catch (IOException e) {
      return false;
    }
  }

  /** Standard output for what users have written: with escapes if it is a terminal. */
  static OutputStream output(OutputStream out) {
    return is(1) ? escaping(out) : out;
  }

  /** Writes control characters other than the ends of lines and tabs as escapes. */
  static OutputStream escaping(OutputStream out) {
    return new FilterOutputStream(out) {
      private int last;

      @Override
      public void write(int b) throws IOException {
        int value = b & 0xFF;
        if (last == C1_LEAD && value >= 0x80 && value <= 0x9F) {
          out.write(escape(value).getBytes(StandardCharsets.US_ASCII));
        } else {
          if (last == C1_LEAD) {
            out.write(C1_LEAD);
          }
          if (value < ' ' && value != '\n' && value != '\t' || value == DELETE) {
            out.write(escape(value).getBytes(StandardCharsets.US_ASCII));
          } else if (value != C1_LEAD) {
            out.write(value);
          }
        }
        last = value;
      }

      @Override
      public void write(byte[] bytes, int offset, int length) throws IOException {
        for (int i = offset; i < offset + length; i++) {
          write(bytes[i]);
        }
      }
    };
  }

  private static String escape(int c) {
    return String.format("\\x%02x", c);
  }

  /** The text with all control characters, also ends of lines, as escapes. */
  static String visible(String text) {
    if (text == null || text.chars().noneMatch(Character::isISOControl)) {
      return text;
    }
    return text.chars().mapToObj(Terminal::visible).collect(Collectors.joining());
  }

  private static String visible(int c) {
    return switch (c) {
      case '\n' -> "\\n";
      case '\r' -> "\\r";
      case '\t' -> "\\t";
      default -> Character.isISOControl(c) ? escape(c) : String.valueOf((char) c);
    };
  }
}
