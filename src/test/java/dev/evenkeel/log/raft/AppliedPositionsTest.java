package dev.evenkeel.log.raft;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AppliedPositionsTest {
  @TempDir Path directory;

  private Map<String, AppliedPositions.Position> read(String text) throws Exception {
    Files.writeString(directory.resolve("applied"), text);
    return new AppliedPositions(directory).read();
  }

  @Test
  void whatIsIncompleteOrMakesNoSenseIsIgnored() throws Exception {
    assertThat(read("d0 2 90 80\n")).isEmpty();
    assertThat(read("d0 2 90\nend\n")).isEmpty();
    assertThat(read("d0 2 ninety 80\nend\n")).isEmpty();
    assertThat(read("")).isEmpty();
  }
}
