package dev.evenkeel.protocol.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.evenkeel.Fails;
import dev.evenkeel.Refused;
import dev.evenkeel.protocol.Compression;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.MalformedException;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Compressed batches: what goes in comes out, and nothing else does. */
class CompressedBatchTest {

  @Property(tries = 200)
  void whatGoesInComesOut(
      @ForAll("messages") List<Message> messages, @ForAll Compression compression) {
    Batch plain = build(messages, Compression.NONE);
    Batch batch = build(messages, compression);
    assertThat(batch.length()).isLessThanOrEqualTo(plain.length());
    if (!batch.isCompressed()) {
      assertThat(batch.bytes()).as("not smaller: as it is").isEqualTo(plain.bytes());
    } else {
      assertThat(batch.compression()).isEqualTo(compression);
      assertThat(batch.length()).isLessThan(plain.length());
    }
    assertThat(batch.unpackedLength()).isEqualTo(plain.length());
    batch.stamped(8, 9, 10);
    ByteBuffer direct = ByteBuffer.allocateDirect(3 + batch.length());
    direct.position(3).put(batch.bytes().duplicate()).position(3);
    for (ByteBuffer in : List.of(direct, direct.asReadOnlyBuffer(), batch.bytes().duplicate())) {
      Batch read = Batch.next(in).verified().checkMessages().requireLibrary();
      assertThat(read.producerId()).isEqualTo(8);
      assertThat(read.producerEpoch()).isEqualTo(9);
      assertThat(read.firstSequence()).isEqualTo(10);
      assertThat(read.count()).isEqualTo(messages.size());
      assertThat(read.firstTimestampMillis()).isEqualTo(plain.firstTimestampMillis());
      assertThat(read.maxTimestampMillis()).isEqualTo(plain.maxTimestampMillis());
      assertThat(in.hasRemaining()).isFalse();
      assertSame(messages, read(read));
    }
  }

  @Property(tries = 30)
  void aChangedByteIsRefused(
      @ForAll("messages") List<Message> messages,
      @ForAll Compression compression,
      @ForAll Random random) {
    Batch batch = build(messages, compression);
    for (int at = 0; at < batch.length(); at++) {
      byte[] bytes = batch.bytes().array().clone();
      bytes[at] ^= (byte) (1 << random.nextInt(8));
      Fails.with(RefusedException.class, () -> Batch.next(ByteBuffer.wrap(bytes)).verified());
    }
  }

  /** The flags say how to read the rest, so the checksum covers them too. */
  @Test
  void otherFlagsAreRefused() {
    for (Compression from : Compression.values()) {
      for (int flags = 0; flags < 256; flags++) {
        byte[] bytes = build(lines(50), from).bytes().array().clone();
        if (bytes[3] == flags) {
          continue;
        }
        bytes[3] = (byte) flags;
        Refused.with(
            bytes[3] >>> 2 == 0 && bytes[3] != 3 ? Refusal.CORRUPT : Refusal.WRONG_VERSION,
            () -> Batch.next(ByteBuffer.wrap(bytes)).verified());
      }
    }
  }

  /** Another program's mistake: the checksum is right, and the inside is not. */
  @Property(tries = 50)
  void aMalformedInsideIsRefusedOrHasAsManyMessages(
      @ForAll("messages") List<Message> messages,
      @ForAll Compression compression,
      @ForAll Random random) {
    Batch batch = build(messages, compression);
    for (int i = 0; i < 40; i++) {
      byte[] bytes = batch.bytes().array().clone();
      for (int change = 0; change < 3; change++) {
        int at = Batch.HEADER_BYTES + random.nextInt(bytes.length - Batch.HEADER_BYTES);
        bytes[at] = (byte) random.nextInt();
      }
      Batch changed = restamped(bytes);
      try {
        assertThat(read(changed.checkMessages())).hasSize(batch.count());
      } catch (RefusedException refused) {
        assertThat(refused.refusal()).isEqualTo(Refusal.INVALID);
      }
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"LZ4", "ZSTD"})
  void aStatedLengthThatCannotBeIsRefusedUnread(Compression compression) {
    Batch batch = build(lines(100), compression);
    for (int stated :
        new int[] {Integer.MIN_VALUE, -1, 0, 399, Limits.BATCH_BYTES_MAX + 1, Integer.MAX_VALUE}) {
      Batch changed = stating(batch, stated);
      assertThatThrownBy(changed::checkMessages)
          .isInstanceOf(MalformedException.class)
          .hasMessage(
              "malformed batch: unpacked, its 100 messages would have %d bytes: at most %d are"
                  + " allowed, and at least 4 a message are needed",
              stated, Limits.BATCH_BYTES_MAX);
      assertThat(changed.unpackedLength()).isEqualTo(changed.length());
      assertThatThrownBy(() -> read(changed)).isInstanceOf(MalformedException.class);
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"LZ4", "ZSTD"})
  void aBatchThatUnpacksToAnotherLengthThanItStatesIsRefused(Compression compression) {
    Batch batch = build(lines(100), compression);
    int right = batch.unpackedLength() - Batch.HEADER_BYTES;
    for (int stated : new int[] {400, right - 1, right + 1, Limits.BATCH_BYTES_MAX}) {
      Batch changed = stating(batch, stated);
      for (ThrowingCallable use :
          List.<ThrowingCallable>of(changed::checkMessages, () -> read(changed))) {
        Fails.with(MalformedException.class, use, "malformed batch: it ", String.valueOf(stated));
      }
    }
    assertThat(read(stating(batch, right))).hasSize(100);
  }

  /** 64 MiB of zeros, in a block that states 1 MiB. */
  @ParameterizedTest
  @EnumSource(names = {"LZ4", "ZSTD"})
  void aBombIsRefusedByWhatComesOut(Compression compression) {
    Compressor compressor = BatchPacker.compressor(compression);
    byte[] zeros = new byte[64 << 20];
    byte[] block = new byte[compressor.bytesMax(zeros.length)];
    int length = compressor.compress(zeros, 0, zeros.length, block, 0);
    Batch small = build(lines(100), compression);
    ByteBuffer bomb = ByteBuffer.allocate(BatchPacker.BLOCK_AT + length);
    bomb.put(small.bytes().slice(0, BatchPacker.BLOCK_AT)).put(block, 0, length);
    bomb.putInt(4, bomb.capacity()).putInt(Batch.HEADER_BYTES, 1 << 20);
    if (bomb.capacity() <= Limits.BATCH_BYTES_MAX) {
      Batch batch = restamped(bomb.array());
      assertThatThrownBy(batch::checkMessages).isInstanceOf(MalformedException.class);
      assertThatThrownBy(() -> read(batch)).isInstanceOf(MalformedException.class);
    } else {
      assertThatThrownBy(() -> restamped(bomb.array())).hasMessageContaining("batch of");
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"LZ4", "ZSTD"})
  void aReaderSkipsWhatCannotBeUnpackedOneOffsetAtATime(Compression compression) {
    Batch broken = stating(build(lines(3), compression), 13);
    BatchReader reader = broken.reader(40);
    for (long offset = 40; offset < 43; offset++) {
      assertThat(reader.hasNext()).isTrue();
      assertThat(reader.nextOffset()).isEqualTo(offset);
      assertThatThrownBy(reader::next).isInstanceOf(MalformedException.class);
      reader.giveUp();
    }
    assertThat(reader.hasNext()).isFalse();
  }

  @ParameterizedTest
  @EnumSource(names = {"LZ4", "ZSTD"})
  void aHeaderWithoutABlockIsRefused(Compression compression) {
    Batch whole = build(lines(3), compression);
    for (int length = Batch.HEADER_BYTES; length <= BatchPacker.BLOCK_AT; length++) {
      byte[] bytes = new byte[length];
      whole.bytes().get(0, bytes);
      ByteBuffer.wrap(bytes).putInt(4, length);
      assertThatThrownBy(() -> restamped(bytes).checkMessages())
          .isInstanceOf(MalformedException.class)
          .hasMessage("malformed batch: it is compressed and has %d bytes", length);
    }
  }

  @Test
  void aMessageAtItsLimitsIsCompressed() {
    Message message =
        new Message(new byte[Limits.KEY_BYTES_MAX], null, 0, new byte[Limits.PAYLOAD_BYTES_MAX]);
    for (Compression compression : List.of(Compression.LZ4, Compression.ZSTD)) {
      Batch batch = build(List.of(message), compression).checkMessages();
      assertThat(batch.length()).isLessThan(10_000);
      assertSame(List.of(message), read(batch));
    }
  }

  @Test
  void logLinesBecomeMuchSmaller() {
    int plain = build(lines(1_000), Compression.NONE).length();
    assertThat(build(lines(1_000), Compression.LZ4).length()).isLessThan(plain / 3);
    assertThat(build(lines(1_000), Compression.ZSTD).length()).isLessThan(plain / 4);
  }

  /** What was once written can be read for ever, whatever a later library would write. */
  @Test
  void batchesOfFormerBuildsAreRead() throws IOException {
    try (var golden = CompressedBatchTest.class.getResourceAsStream("/golden/batches.txt")) {
      assertThat(golden).isNotNull();
      var rows = new String(golden.readAllBytes(), StandardCharsets.UTF_8).lines().toList();
      assertThat(rows).hasSize(Compression.values().length);
      for (String row : rows) {
        String[] parts = row.split(" ");
        ByteBuffer bytes = ByteBuffer.wrap(HexFormat.of().parseHex(parts[1]));
        Batch batch = Batch.next(bytes).verified().checkMessages();
        assertThat(batch.compression()).isEqualTo(Compression.valueOf(parts[0]));
        assertThat(batch.producerId()).isEqualTo(77);
        assertSame(lines(5), read(batch));
        if (!batch.isCompressed()) {
          assertThat(batch.bytes()).isEqualTo(build(lines(5), Compression.NONE).bytes());
        }
      }
    }
  }

  private static Batch stating(Batch batch, int bytes) {
    byte[] changed = batch.bytes().array().clone();
    ByteBuffer.wrap(changed).putInt(Batch.HEADER_BYTES, bytes);
    return restamped(changed);
  }

  private static Batch restamped(byte[] bytes) {
    ByteBuffer changed = ByteBuffer.wrap(bytes);
    changed.putInt(Batch.CRC_AT, Batch.crc(changed));
    return Batch.next(changed).verified();
  }

  private static List<Message> read(Batch batch) {
    List<Message> messages = new ArrayList<>();
    for (BatchReader reader = batch.reader(0); reader.hasNext(); ) {
      messages.add(reader.next());
    }
    return messages;
  }

  private static void assertSame(List<Message> expected, List<Message> actual) {
    assertThat(actual).hasSameSizeAs(expected);
    for (int i = 0; i < expected.size(); i++) {
      assertThat(actual.get(i).key()).isEqualTo(expected.get(i).key());
      assertThat(actual.get(i).payload()).isEqualTo(expected.get(i).payload());
      assertThat(actual.get(i).timestampMillis()).isEqualTo(expected.get(i).timestampMillis());
      assertThat(actual.get(i).headers()).containsExactlyEntriesOf(expected.get(i).headers());
    }
  }

  static List<Message> lines(int count) {
    List<Message> lines = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      String line = "{\"level\":\"INFO\",\"order\":" + i * 37 + ",\"message\":\"order received\"}";
      byte[] key = ("c" + i % 7).getBytes(StandardCharsets.US_ASCII);
      Map<String, byte[]> headers = Map.of("source", new byte[] {1, 2, 3});
      lines.add(new Message(key, headers, 1_000 + i, line.getBytes(StandardCharsets.US_ASCII)));
    }
    return lines;
  }

  static Batch build(List<Message> messages, Compression compression) {
    BatchBuilder builder = new BatchBuilder(64, BatchPacker.of(compression));
    // The memory of a batch before must leave no trace.
    lines(20).forEach(builder::add);
    builder.build(1, 2, 3);
    builder.clear();
    messages.forEach(builder::add);
    return builder.build(77, 1, 5);
  }

  @Provide
  Arbitrary<List<Message>> messages() {
    Arbitrary<byte[]> random = Arbitraries.bytes().array(byte[].class).ofMaxSize(40);
    Arbitrary<byte[]> repeated =
        Arbitraries.strings()
            .withChars("ab")
            .ofMaxLength(200)
            .map(text -> text.getBytes(StandardCharsets.US_ASCII));
    var headers = Arbitraries.maps(Arbitraries.strings().ofMaxLength(6), random).ofMaxSize(2);
    return Combinators.combine(
            random.injectNull(0.3),
            headers,
            Arbitraries.longs(),
            Arbitraries.oneOf(random, repeated))
        .as(Message::new)
        .list()
        .ofMinSize(1)
        .ofMaxSize(20);
  }
}
