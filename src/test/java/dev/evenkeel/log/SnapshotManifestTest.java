package dev.evenkeel.log;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.evenkeel.Fails;
import dev.evenkeel.log.SnapshotManifest.Entry;
import dev.evenkeel.protocol.MalformedException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.Test;

class SnapshotManifestTest {
  private static final SnapshotManifest ONE =
      new SnapshotManifest(
          3,
          1_200,
          List.of(
              new Entry("position", 4, 0x5f3a09b1),
              new Entry("state/bodies/000000000004-0.seg", 67_108_864, -1)));

  @Test
  void isText() {
    assertThat(new String(ONE.encode(), StandardCharsets.US_ASCII))
        .isEqualTo(
            """
            snapshot 3 1200
            5f3a09b1 4 position
            ffffffff 67108864 state/bodies/000000000004-0.seg
            end 2
            """);
    assertThat(ONE.bytes()).isEqualTo(67_108_868);
  }

  @Provide
  Arbitrary<List<Entry>> files() {
    Arbitrary<String> part =
        Arbitraries.strings().alpha().numeric().withChars("-_").ofMinLength(1).ofMaxLength(12);
    var name = part.list().ofMinSize(1).ofMaxSize(3).map(parts -> String.join("/", parts));
    return Combinators.combine(
            name, Arbitraries.longs().between(0, Long.MAX_VALUE / 100), Arbitraries.integers())
        .as(Entry::new)
        .list()
        .uniqueElements(Entry::name)
        .ofMaxSize(20);
  }

  @Property
  void isReadAsItWasWritten(
      @ForAll @LongRange(min = 0) long term,
      @ForAll @LongRange(min = 0) long index,
      @ForAll("files") List<Entry> files) {
    SnapshotManifest manifest = new SnapshotManifest(term, index, files);
    assertThat(SnapshotManifest.decode(manifest.encode())).isEqualTo(manifest);
  }

  @Test
  void aPartOfItIsRefused() {
    byte[] whole = ONE.encode();
    for (int length = 0; length < whole.length; length++) {
      byte[] part = Arrays.copyOf(whole, length);
      Fails.with(MalformedException.class, () -> SnapshotManifest.decode(part));
    }
  }

  @Test
  void namesThatLeadElsewhereAreRefused() {
    for (String name :
        List.of("", "/etc/passwd", "../x", "a/../../x", "a//b", "a/", ".", "a\\b", "C:x", "a b")) {
      assertThatThrownBy(() -> new Entry(name, 0, 0)).isInstanceOf(MalformedException.class);
    }
    String twice = "snapshot 1 2\n00000000 1 a\n00000000 1 a\nend 2\n";
    assertThatThrownBy(() -> SnapshotManifest.decode(twice.getBytes(StandardCharsets.US_ASCII)))
        .hasMessageContaining("two files a");
  }
}
