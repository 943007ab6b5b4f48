package dev.evenkeel.client.internal.spool.log;

import static dev.evenkeel.protocol.wire.Codec.BOOL;
import static dev.evenkeel.protocol.wire.Codec.I32;
import static dev.evenkeel.protocol.wire.Codec.I64;
import static dev.evenkeel.protocol.wire.Codec.TEXT;

import dev.evenkeel.client.Source;
import dev.evenkeel.client.SourcePosition;
import dev.evenkeel.client.internal.spool.log.SpoolRecord.Acked;
import dev.evenkeel.client.internal.spool.log.SpoolRecord.Frame;
import dev.evenkeel.client.internal.spool.log.SpoolRecord.Item;
import dev.evenkeel.client.internal.spool.log.SpoolRecord.Opened;
import dev.evenkeel.client.internal.spool.log.SpoolRecord.Opening;
import dev.evenkeel.client.internal.spool.log.SpoolRecord.Run;
import dev.evenkeel.client.internal.spool.log.SpoolRecord.Snapshot;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.wire.Batch;
import dev.evenkeel.protocol.wire.ByteReader;
import dev.evenkeel.protocol.wire.Bytes;
import dev.evenkeel.protocol.wire.Codec;
import dev.evenkeel.protocol.wire.Tagged;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;

/** The bytes of the bodies of records; {@link RecordFormat} describes what is around them. */
final class RecordBodies {
  /** The form of a state with an epoch that is being opened. Older programs do not know it. */
  private static final int VERSION = 2;

  private static final int VERSION_WITHOUT_OPENING = 1;

  private static final Codec<Map<Integer, Long>> SEQUENCES =
      Codec.of(RecordBodies::write, RecordBodies::sequences);
  private static final Codec<SourcePosition> POSITION =
      Codec.nullable(Codec.record(SourcePosition.class, I64, I64, I64, BOOL));
  private static final Codec<Source> SOURCE = Codec.of(RecordBodies::write, RecordBodies::source);
  private static final Codec<Item> ITEM = Codec.of(RecordBodies::write, RecordBodies::item);
  private static final Codec<Opening> OPENING =
      Codec.record(Opening.class, I32, I64, I32, SEQUENCES);
  private static final Codec<SpoolState.Identity> IDENTITY =
      Codec.record(SpoolState.Identity.class, TEXT, I32, I64, TEXT, I64);
  private static final Codec<SpoolState> STATE = Codec.of(RecordBodies::write, RecordBodies::state);

  static final Codec<SpoolRecord> RECORD =
      new Tagged<SpoolRecord>("type of spool record, which a later version of this program wrote:")
          .add(1, Snapshot.class, STATE)
          .add(2, Run.class, I32, BOOL, SOURCE)
          .add(3, Frame.class, I64, I32, I64, POSITION, Codec.list(ITEM))
          .add(4, Acked.class, I64, I64)
          .add(5, Opened.class, I32, I64, I32, SEQUENCES)
          .add(6, Opening.class, I32, I64, I32, SEQUENCES)
          .completeFor(SpoolRecord.class);

  private RecordBodies() {}

  private static void write(Bytes out, Item item) {
    ByteBuffer batch = item.batch().bytes();
    if (item.dueMillis() == 0) {
      out.i32(item.shard());
    } else {
      out.i32(-1 - item.shard()).i64(item.dueMillis());
    }
    out.raw(batch.array(), batch.arrayOffset(), item.batch().length());
  }

  private static Item item(ByteReader in) {
    int shard = in.i32();
    long dueMillis = 0;
    if (shard < 0) {
      shard = -1 - shard;
      dueMillis = in.i64();
      if (dueMillis <= 0) {
        throw new RefusedException(Refusal.INVALID, "a delayed batch due at " + dueMillis);
      }
    }
    ByteBuffer rest = in.rest();
    // Its own memory, so that one batch under way does not keep the whole frame.
    Batch batch = Batch.next(ByteBuffer.wrap(in.raw(Batch.next(rest).length())));
    return new Item(shard, batch, dueMillis);
  }

  private static void write(Bytes out, Source source) {
    out.text(source == null ? null : source.name());
    if (source != null) {
      out.blob(source.head());
    }
  }

  private static Source source(ByteReader in) {
    String name = in.text();
    if (name == null) {
      return null;
    }
    byte[] head = in.blob();
    return new Source(name, head == null ? new byte[0] : head);
  }

  private static void write(Bytes out, Map<Integer, Long> byShard) {
    out.i32(byShard.size());
    byShard.forEach((shard, sequence) -> out.i32(shard).i64(sequence));
  }

  private static Map<Integer, Long> sequences(ByteReader in) {
    Map<Integer, Long> byShard = new HashMap<>();
    for (int left = in.count(); left > 0; left--) {
      byShard.put(in.i32(), in.i64());
    }
    return byShard;
  }

  private static void write(Bytes out, SpoolState state) {
    out.u8(state.opening == null ? VERSION_WITHOUT_OPENING : VERSION);
    IDENTITY.write(out, state.identity);
    out.i32(state.run).i32(state.openRun).i32(state.epoch);
    SEQUENCES.write(out, state.bases);
    out.i32(state.ends.size());
    state.ends.forEach((run, ends) -> SEQUENCES.write(out.i32(run), ends));
    out.i64(state.lastFrame).i64(state.ackedFrame);
    out.i64(state.messages).i64(state.ackedMessages).i64(state.messagesBeforeSource);
    SOURCE.write(out, state.source);
    POSITION.write(out, state.position);
    if (state.opening != null) {
      OPENING.write(out, state.opening);
    }
  }

  private static SpoolState state(ByteReader in) {
    int version = in.u8();
    if (version < VERSION_WITHOUT_OPENING || version > VERSION) {
      throw new RefusedException(
          Refusal.WRONG_VERSION,
          "a spool of version " + version + ": this program writes " + VERSION);
    }
    SpoolState state = new SpoolState(IDENTITY.read(in));
    state.run = in.i32();
    state.openRun = in.i32();
    state.epoch = in.i32();
    state.bases = sequences(in);
    for (int left = in.count(); left > 0; left--) {
      state.ends.put(in.i32(), sequences(in));
    }
    state.lastFrame = in.i64();
    state.ackedFrame = in.i64();
    state.messages = in.i64();
    state.ackedMessages = in.i64();
    state.messagesBeforeSource = in.i64();
    state.source = source(in);
    state.position = POSITION.read(in);
    state.opening = version == VERSION ? OPENING.read(in) : null;
    return state;
  }
}
