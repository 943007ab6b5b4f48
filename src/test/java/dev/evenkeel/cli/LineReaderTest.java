package dev.evenkeel.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class LineReaderTest {
  private static List<String> read(byte[] bytes, int max, int... cuts) {
    List<String> seen = new ArrayList<>();
    LineReader reader =
        new LineReader(
            max,
            new LineReader.Sink() {
              @Override
              public void line(long number, byte[] line) {
                seen.add(number + ":" + new String(line, StandardCharsets.ISO_8859_1));
              }

              @Override
              public void tooLong(long number, long size) {
                seen.add(number + "!" + size);
              }
            });
    int from = 0;
    for (int cut : cuts) {
      int to = Math.min(bytes.length, from + cut);
      reader.feed(bytes, from, to - from);
      from = to;
    }
    reader.feed(bytes, from, bytes.length - from);
    reader.end();
    return seen;
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.ISO_8859_1);
  }

  @Test
  void linesEndWithNewlineOrReturnAndNewline() {
    assertThat(read(bytes("a\nb\r\n\n\r\nc\rd\ne"), 10))
        .containsExactly("1:a", "2:b", "3:", "4:", "5:c\rd", "6:e");
    assertThat(read(bytes(""), 10)).isEmpty();
    assertThat(read(bytes("\n"), 10)).containsExactly("1:");
    assertThat(read(bytes("a\r"), 10)).containsExactly("1:a\r");
  }

  @Test
  void theLimitCountsWithoutTheLineEnd() {
    assertThat(read(bytes("123\r\n1234\n1234\r\n12\n"), 3))
        .containsExactly("1:123", "2!4", "3!4", "4:12");
    assertThat(read(bytes("123\r\n1234\n1234567\r\n12"), 3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1))
        .containsExactly("1:123", "2!4", "3!7", "4:12");
  }

  @Provide
  Arbitrary<byte[]> texts() {
    return Arbitraries.of((byte) 'a', (byte) 'b', (byte) '\r', (byte) '\n', (byte) 0xFF)
        .array(byte[].class)
        .ofMaxSize(60);
  }

  @Property
  void anySplitGivesTheSameLines(
      @ForAll("texts") byte[] text,
      @ForAll List<@IntRange(max = 9) Integer> cuts,
      @ForAll @IntRange(min = 1, max = 12) int max) {
    int[] pieces = cuts.stream().mapToInt(Integer::intValue).toArray();
    assertThat(read(text, max, pieces)).isEqualTo(read(text, max));
  }
}
