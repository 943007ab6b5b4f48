package dev.evenkeel.cli;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/**
 * The arguments as the user gave them. Without a locale of UTF-8, as in cron, systemd and most
 * containers, Java replaces each byte that is not ASCII, so that a filter or a header would be
 * another one than the user wrote. Linux has the bytes, in {@code /proc}; where they are not to be
 * had, the command is refused.
 */
final class Arguments {
  private static final Path COMMAND_LINE = Path.of("/proc/self/cmdline");
  private static final String HELP = "set LC_ALL=C.UTF-8, or another locale of UTF-8";

  private Arguments() {}

  /**
   * The arguments of this process.
   *
   * @throws CommandFailure wrong usage, if they cannot be known
   */
  static String[] of(String[] args) {
    if (localeReadsAll() || isAscii(args)) {
      return args;
    }
    byte[] line;
    try {
      line = Files.readAllBytes(COMMAND_LINE);
    } catch (IOException e) {
      line = new byte[0];
    }
    return of(args, line);
  }

  /** Whether Java reads arguments, variables and names of files as they are. */
  static boolean localeReadsAll() {
    return readsAll(System.getProperty("sun.jnu.encoding", "UTF-8"));
  }

  /** Whether this character set has what is typed under it: all but that of no locale have. */
  static boolean readsAll(String name) {
    return !Charset.isSupported(name) || !Charset.forName(name).equals(StandardCharsets.US_ASCII);
  }

  /** What to do where {@link #localeReadsAll} says no. */
  static String help() {
    return HELP;
  }

  /**
   * @param args as Java gives them
   * @param line the command line of the process, which ends with the arguments: each ends with a
   *     zero byte
   */
  static String[] of(String[] args, byte[] line) {
    List<byte[]> words = new ArrayList<>();
    int from = 0;
    for (int i = 0; i < line.length; i++) {
      if (line[i] == 0) {
        words.add(Arrays.copyOfRange(line, from, i));
        from = i + 1;
      }
    }
    String[] read = new String[args.length];
    int first = words.size() - args.length;
    for (int i = 0; i < args.length; i++) {
      CommandFailure.refuseIf(
          first < 0 || !mayBe(args[i], words.get(first + i)),
          "this locale cannot read the argument '" + args[i] + "': " + HELP);
      try {
        read[i] =
            StandardCharsets.UTF_8
                .newDecoder()
                .decode(ByteBuffer.wrap(words.get(first + i)))
                .toString();
      } catch (CharacterCodingException e) {
        throw CommandFailure.usage("the argument '" + args[i] + "' is not UTF-8");
      }
    }
    return read;
  }

  /** Whether Java can have made this argument of these bytes: it makes one character of each. */
  private static boolean mayBe(String arg, byte[] word) {
    boolean same = arg.length() == word.length;
    for (int i = 0; same && i < word.length; i++) {
      same = word[i] < 0 ? arg.charAt(i) == '?' || arg.charAt(i) > 0x7F : arg.charAt(i) == word[i];
    }
    return same;
  }

  private static boolean isAscii(String[] args) {
    for (String arg : args) {
      if (!arg.chars().allMatch(c -> c < 0x80 && c != '?')) {
        return false;
      }
    }
    return true;
  }

  /**
   * Refuses environment variables with settings that Java could not read.
   *
   * @throws CommandFailure wrong usage
   */
  static void checkVariables(Map<String, String> environment) {
    environment.forEach(
        (name, value) -> {
          boolean setting =
              name.startsWith("EVENKEEL_")
                  && !MessageVariables.isOfOneMessage(name)
                  && !name.equals("EVENKEEL_JAVA_OPTS");
          CommandFailure.refuseIf(
              setting && value.indexOf('\uFFFD') >= 0 && !localeReadsAll(),
              "this locale cannot read the variable " + name + " (" + value + "): " + HELP);
        });
  }
}
