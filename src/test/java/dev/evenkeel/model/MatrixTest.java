package dev.evenkeel.model;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MatrixTest {
  @TempDir Path directory;

  private Path file() {
    return directory.resolve("model").resolve("matrix.csv");
  }

  private static Matrix matrix() {
    return new Matrix(List.of("cut", "join", "send"));
  }

  private List<String> written(Matrix matrix) throws IOException {
    matrix.write(file());
    return Files.readAllLines(file());
  }

  @Test
  void thereIsALineForEachPairFromTheBeginning() throws IOException {
    assertThat(written(matrix())).containsExactly("cut,join,0", "cut,send,0", "join,send,0");
  }

  @Test
  void whatHappensSeveralTimesInARunCountsOnce() throws IOException {
    Matrix matrix = matrix();
    matrix.add(List.of("send", "join"));
    matrix.add(List.of("cut", "send", "join", "send"));
    assertThat(written(matrix)).containsExactly("cut,join,1", "cut,send,1", "join,send,2");
  }

  @Test
  void whatWasCountedBeforeCanBeCountedOn() throws IOException {
    Matrix before = matrix();
    before.add(List.of("send", "join"));
    before.write(file());
    Matrix matrix = matrix();
    matrix.read(file());
    matrix.add(List.of("send", "join"));
    assertThat(written(matrix)).containsExactly("cut,join,0", "cut,send,0", "join,send,2");
  }

  @Test
  void theRarestPairsComeFirst() {
    Matrix matrix = matrix();
    matrix.add(List.of("send", "join"));
    matrix.add(List.of("send", "join"));
    matrix.add(List.of("send", "cut"));
    assertThat(matrix.below(2)).containsExactly("cut,join,0", "cut,send,1");
  }
}
