package dev.evenkeel.log.raft;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.log.SnapshotManifest;
import dev.evenkeel.log.SnapshotManifest.Entry;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class IncomingSnapshotTest {
  @TempDir Path temp;
  private IncomingSnapshot incoming;

  @BeforeEach
  void open() {
    incoming = new IncomingSnapshot(temp.resolve("incoming"));
  }

  private static Entry file(String name, String content) {
    CRC32C crc = new CRC32C();
    crc.update(content.getBytes(StandardCharsets.UTF_8));
    return new Entry(name, content.length(), (int) crc.getValue());
  }

  private static SnapshotManifest snapshot(long index, Entry... files) {
    return new SnapshotManifest(1, index, List.of(files));
  }

  /** What comes in one transfer; whether it makes the file whole. */
  private boolean receive(Entry file, String bytes) throws IOException {
    try (IncomingSnapshot.Part part = incoming.open(file)) {
      part.append(ByteBuffer.wrap(bytes.getBytes(StandardCharsets.UTF_8)));
      return part.length() == file.length() && part.finish();
    }
  }

  @Test
  void aFileGoesOnWhereItWas() throws IOException {
    Entry file = file("state/one", "hello");
    incoming.begin(snapshot(9, file));
    assertThat(receive(file, "he")).isFalse();
    // As after a restart.
    open();
    incoming.begin(snapshot(9, file));
    assertThat(incoming.bytesHere(file)).isEqualTo(2);
    assertThat(receive(file, "llo")).isTrue();
    assertThat(incoming.has(file)).isTrue();
    assertThat(incoming.bytesHere(file)).isEqualTo(5);
    incoming.complete();
    assertThat(incoming.whole().resolve("state/one")).hasContent("hello");
    assertThat(SnapshotChecksums.read(incoming.whole())).isEqualTo(snapshot(9, file));
  }

  @Test
  void aFileWithWrongBytesGoes() throws IOException {
    Entry file = file("one", "hello");
    incoming.begin(snapshot(9, file));
    receive(file, "he");
    assertThat(receive(file, "xxo")).isFalse();
    assertThat(incoming.has(file)).isFalse();
    assertThat(incoming.bytesHere(file)).isZero();
    assertThat(receive(file, "hello")).isTrue();
  }

  @Test
  void ofAnotherSnapshotOnlyEqualFilesStay() throws IOException {
    Entry stays = file("stays", "same");
    Entry changes = file("changes", "old");
    Entry goes = file("goes", "old");
    Entry partly = file("partly", "abcd");
    Entry partlyOther = file("partly-other", "abcd");
    incoming.begin(snapshot(9, stays, changes, goes, partly, partlyOther));
    receive(stays, "same");
    receive(changes, "old");
    receive(goes, "old");
    receive(partly, "ab");
    receive(partlyOther, "ab");

    Entry changed = file("changes", "new");
    Entry otherChanged = file("partly-other", "abce");
    incoming.begin(snapshot(12, stays, changed, partly, otherChanged));
    assertThat(incoming.has(stays)).isTrue();
    assertThat(incoming.has(changed)).isFalse();
    assertThat(incoming.bytesHere(partly)).isEqualTo(2);
    assertThat(incoming.bytesHere(otherChanged)).isZero();
    assertThat(temp.resolve("incoming/whole/goes")).doesNotExist();
  }

  @Test
  void withoutItsManifestNothingIsTrusted() throws IOException {
    Entry file = file("one", "hello");
    incoming.begin(snapshot(9, file));
    receive(file, "hello");
    Files.delete(temp.resolve("incoming/manifest"));
    incoming.begin(snapshot(9, file));
    assertThat(incoming.has(file)).isFalse();
  }

  @Test
  void anEmptyFileIsWholeAtOnce() throws IOException {
    Entry file = file("empty", "");
    incoming.begin(snapshot(9, file));
    assertThat(receive(file, "")).isTrue();
  }
}
