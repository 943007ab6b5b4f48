package dev.evenkeel.client.internal.spool.log;

import dev.evenkeel.client.Source;
import dev.evenkeel.client.SourcePosition;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.wire.Batch;
import dev.evenkeel.protocol.wire.BatchBuilder;
import dev.evenkeel.protocol.wire.Bytes;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** Spools and records for tests. */
final class Spools {
  static final SpoolState.Identity IDENTITY = new SpoolState.Identity("t", 3, 1_000, "", 7);

  private Spools() {}

  /** A batch of messages whose payloads are numbers. */
  static Batch batch(long firstSequence, int firstNumber, int count, int paddingBytes) {
    BatchBuilder builder = new BatchBuilder(64);
    for (int i = 0; i < count; i++) {
      byte[] payload = ByteBuffer.allocate(4 + paddingBytes).putInt(firstNumber + i).array();
      builder.add(new Message(new byte[] {1}, Map.of(), 5, payload));
    }
    return builder.build(0, 0, firstSequence);
  }

  /** The first number of a batch. */
  static int number(Batch batch) {
    return ByteBuffer.wrap(batch.reader(0).next().payload()).getInt();
  }

  static byte[] encode(List<SpoolRecord> records) {
    Bytes out = new Bytes();
    records.forEach(record -> RecordFormat.write(out, record));
    return out.toArray();
  }

  /** Any records, that need not follow from each other. */
  static List<SpoolRecord> anyRecords(Random random) {
    List<SpoolRecord> records = new ArrayList<>();
    for (int i = random.nextInt(6); i >= 0; i--) {
      records.add(anyRecord(random));
    }
    return records;
  }

  private static SpoolRecord anyRecord(Random random) {
    Source source =
        random.nextBoolean() ? null : new Source("/a/" + random.nextInt(9), new byte[] {1, 2});
    switch (random.nextInt(6)) {
      case 0:
        return new SpoolRecord.Run(random.nextInt(), random.nextBoolean(), source);
      case 1:
        return new SpoolRecord.Acked(random.nextLong(), random.nextLong());
      case 2:
        return new SpoolRecord.Opened(
            random.nextInt(), random.nextLong(), random.nextInt(), Map.of(4, random.nextLong()));
      case 3:
        return new SpoolRecord.Opening(
            random.nextInt(), random.nextLong(), random.nextInt(), Map.of(4, random.nextLong()));
      case 4:
        SpoolState state = SpoolState.fresh(IDENTITY);
        state.apply(new SpoolRecord.Run(1, true, source));
        state.apply(new SpoolRecord.Opened(1, 7, random.nextInt(5), Map.of(2, 9L)));
        state.apply(
            new SpoolRecord.Frame(
                1, 1, 5, null, List.of(new SpoolRecord.Item(2, batch(0, 0, 3, 0), 0))));
        if (random.nextBoolean()) {
          state.apply(new SpoolRecord.Opening(1, 7, 9, Map.of(2, 11L)));
        }
        return new SpoolRecord.Snapshot(state);
      default:
        List<SpoolRecord.Item> items = new ArrayList<>();
        for (int i = random.nextInt(4); i > 0; i--) {
          items.add(
              new SpoolRecord.Item(
                  random.nextInt(5),
                  batch(random.nextInt(100), 1, 1 + random.nextInt(5), random.nextInt(30)),
                  random.nextBoolean() ? 0 : 1 + random.nextInt(1_000)));
        }
        return new SpoolRecord.Frame(
            random.nextLong(),
            random.nextInt(),
            random.nextLong(),
            random.nextBoolean()
                ? null
                : new SourcePosition(random.nextLong(), 4, 1, random.nextBoolean()),
            items);
    }
  }
}
