package dev.evenkeel.client.internal.broadcast;

import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

class OffsetsTest {
  private static Offsets random(long seed) {
    Random random = new Random(seed);
    List<Offsets.Topic> topics = new ArrayList<>();
    int count = random.nextInt(4);
    for (int i = 0; i < count; i++) {
      TreeMap<Integer, Long> next = new TreeMap<>();
      int shards = random.nextInt(6);
      times(shards, shard -> next.put(shard, random.nextLong() >>> 1 + random.nextInt(62)));
      topics.add(new Offsets.Topic("topic." + i, random.nextInt(1_000_000), next));
    }
    return new Offsets("c-" + random.nextInt(), "group_1", "web-7", topics);
  }

  @Property(tries = 200)
  void whatIsWrittenIsRead(@ForAll long seed) throws Offsets.DamagedException {
    Offsets offsets = random(seed);
    assertThat(Offsets.decode(offsets.encode())).isEqualTo(offsets);
  }

  @Property(tries = 10)
  void everyTruncationIsNoticed(@ForAll long seed) {
    byte[] bytes = random(seed).encode();
    for (int length = 0; length < bytes.length; length++) {
      byte[] cut = Arrays.copyOf(bytes, length);
      assertThatThrownBy(() -> Offsets.decode(cut))
          .as("cut to %s", length)
          .isInstanceOf(Offsets.DamagedException.class);
    }
  }

  @Property(tries = 10)
  void everyFlippedBitIsNoticed(@ForAll long seed) {
    byte[] bytes = random(seed).encode();
    for (int bit = 0; bit < bytes.length * 8; bit++) {
      byte[] flipped = bytes.clone();
      flipped[bit / 8] ^= (byte) (1 << bit % 8);
      assertThatThrownBy(() -> Offsets.decode(flipped))
          .as("bit %s", bit)
          .isInstanceOf(Offsets.DamagedException.class);
    }
  }

  @Property(tries = 200)
  void bytesAfterTheEndAreNoticed(@ForAll long seed, @ForAll byte more) {
    byte[] bytes = random(seed).encode();
    byte[] longer = Arrays.copyOf(bytes, bytes.length + 1);
    longer[bytes.length] = more;
    assertThatThrownBy(() -> Offsets.decode(longer)).isInstanceOf(Offsets.DamagedException.class);
  }

  @Example
  void aChecksumThatFitsDoesNotMakeAnotherFormRight() {
    // As a program that pads numbers would write it, with the right checksum.
    String body = "evenkeel-offsets 1\ncluster c\ngroup g\nmember m\ntopic t 1\n0 07\n";
    java.util.zip.CRC32C crc = new java.util.zip.CRC32C();
    crc.update(body.getBytes(StandardCharsets.UTF_8));
    String text = body + String.format("crc32c %08x%n", crc.getValue());
    assertThatThrownBy(() -> Offsets.decode(text.getBytes(StandardCharsets.UTF_8)))
        .isInstanceOf(Offsets.DamagedException.class)
        .hasMessageContaining("not as it was written");
  }

  @Example
  void aPersonCanReadIt() {
    TreeMap<Integer, Long> next = new TreeMap<>();
    next.put(0, 17L);
    next.put(1, 4L);
    Offsets offsets = new Offsets("c", "g", "m", List.of(new Offsets.Topic("t", 3, next)));
    assertThat(new String(offsets.encode(), StandardCharsets.UTF_8))
        .startsWith(
            "evenkeel-offsets 1\ncluster c\ngroup g\nmember m\ntopic t 3\n0 17\n1 4\ncrc32c ");
  }
}
