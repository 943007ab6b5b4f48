package dev.evenkeel.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.Test;

class ProcessIoTest {
  @Test
  void whatWasTakenBackDoesNotCount() {
    assertThat(
            ProcessIo.parse(
                """
                rchar: 323934931
                wchar: 323929600
                syscr: 632687
                syscw: 632675
                read_bytes: 0
                write_bytes: 323932160
                cancelled_write_bytes: 4096
                """))
        .isEqualTo(323_928_064);
  }

  @Property
  void theOrderOfTheLinesDoesNotMatter(
      @ForAll @LongRange(min = 0, max = 1L << 50) long written,
      @ForAll @LongRange(min = 0, max = 1L << 50) long cancelled) {
    String one = "write_bytes: " + written + "\n";
    String two = "cancelled_write_bytes: " + cancelled + "\n";
    assertThat(ProcessIo.parse("wchar: 7\n" + one + two)).isEqualTo(written - cancelled);
    assertThat(ProcessIo.parse(two + "wchar: 7\n" + one)).isEqualTo(written - cancelled);
  }

  @Test
  void aFigureThatIsNotThereIsUnknown() {
    assertThat(ProcessIo.parse("")).isNaN();
    assertThat(ProcessIo.parse("write_bytes: 1\n")).isNaN();
    assertThat(ProcessIo.parse("cancelled_write_bytes: 1\n")).isNaN();
    assertThat(ProcessIo.writtenBytes("no-process")).isNaN();
  }

  @Test
  void theSystemIsAsked() {
    if (Files.isReadable(Path.of("/proc/self/io"))) {
      assertThat(ProcessIo.writtenBytes("self")).isFinite();
    }
  }
}
