package dev.evenkeel.storage;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class NativeLibraryTest {
  /** An error would pass all handlers and print its stack trace. */
  @Test
  void aDirectoryThatRunsNothingIsARefusal() {
    assertThat(NativeLibrary.unusable(new UnsatisfiedLinkError("Operation not permitted")))
        .hasMessageContaining(System.getProperty("java.io.tmpdir"))
        .hasMessageContaining("Operation not permitted")
        .hasMessageContaining("-Djava.io.tmpdir");
  }
}
