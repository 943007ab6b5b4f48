package dev.evenkeel.client.internal.spool.log;

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
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The bodies of records, field after field; see {@link RecordFormat} for what is around them. */
final class RecordBodies {
  /** Of a snapshot with an epoch that is being opened: programs before it know no such thing. */
  private static final int VERSION = 2;

  private static final int VERSION_WITHOUT_OPENING = 1;
  private static final int SNAPSHOT = 1;
  private static final int RUN = 2;
  private static final int FRAME = 3;
  private static final int ACKED = 4;
  private static final int OPENED = 5;
  private static final int OPENING = 6;

  private RecordBodies() {}

  static void write(Bytes out, SpoolRecord record) {
    if (record instanceof Frame frame) {
      out.u8(FRAME).i64(frame.number()).i32(frame.run()).i64(frame.spooledMillis());
      position(out, frame.position());
      out.i32(frame.items().size());
      for (Item item : frame.items()) {
        ByteBuffer batch = item.batch().bytes();
        if (item.dueMillis() == 0) {
          out.i32(item.shard());
        } else {
          out.i32(-1 - item.shard()).i64(item.dueMillis());
        }
        out.raw(batch.array(), batch.arrayOffset(), item.batch().length());
      }
    } else if (record instanceof Acked acked) {
      out.u8(ACKED).i64(acked.frame()).i64(acked.messages());
    } else if (record instanceof Opened opened) {
      out.u8(OPENED).i32(opened.run()).i64(opened.producerId()).i32(opened.epoch());
      sequences(out, opened.bases());
    } else if (record instanceof Opening opening) {
      opening(out.u8(OPENING), opening);
    } else if (record instanceof Run run) {
      out.u8(RUN).i32(run.number()).bool(run.fresh());
      source(out, run.source());
    } else if (record instanceof Snapshot snapshot) {
      Opening opening = snapshot.state().opening;
      out.u8(SNAPSHOT).u8(opening == null ? VERSION_WITHOUT_OPENING : VERSION);
      state(out, snapshot.state());
      if (opening != null) {
        opening(out, opening);
      }
    }
  }

  static SpoolRecord read(ByteReader in) {
    int type = in.u8();
    SpoolRecord record =
        switch (type) {
          case FRAME -> new Frame(in.i64(), in.i32(), in.i64(), position(in), items(in));
          case ACKED -> new Acked(in.i64(), in.i64());
          case OPENED -> new Opened(in.i32(), in.i64(), in.i32(), sequences(in));
          case OPENING -> opening(in);
          case RUN -> {
            int number = in.i32();
            boolean fresh = in.bool();
            yield new Run(number, source(in), fresh);
          }
          case SNAPSHOT -> {
            int version = in.u8();
            if (version < VERSION_WITHOUT_OPENING || version > VERSION) {
              throw new RefusedException(
                  Refusal.WRONG_VERSION,
                  "a spool of version " + version + ": this program writes " + VERSION);
            }
            SpoolState state = state(in);
            state.opening = version == VERSION ? opening(in) : null;
            yield new Snapshot(state);
          }
          default ->
              throw new RefusedException(
                  Refusal.WRONG_VERSION,
                  "a record of type " + type + ", which a later version of this program wrote");
        };
    in.end();
    return record;
  }

  private static List<Item> items(ByteReader in) {
    int count = in.count();
    List<Item> items = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
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
      items.add(new Item(shard, batch, dueMillis));
    }
    return items;
  }

  private static void position(Bytes out, SourcePosition position) {
    out.bool(position != null);
    if (position != null) {
      out.i64(position.bytes()).i64(position.lines()).i64(position.refused());
      out.bool(position.complete());
    }
  }

  private static SourcePosition position(ByteReader in) {
    return in.bool() ? new SourcePosition(in.i64(), in.i64(), in.i64(), in.bool()) : null;
  }

  private static void source(Bytes out, Source source) {
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

  private static void opening(Bytes out, Opening opening) {
    out.i32(opening.run()).i64(opening.producerId()).i32(opening.epoch());
    sequences(out, opening.bases());
  }

  private static Opening opening(ByteReader in) {
    return new Opening(in.i32(), in.i64(), in.i32(), sequences(in));
  }

  private static void sequences(Bytes out, Map<Integer, Long> byShard) {
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

  private static void state(Bytes out, SpoolState state) {
    SpoolState.Identity identity = state.identity;
    out.text(identity.topic()).i32(identity.topicId()).i64(identity.topicCreatedMillis());
    out.text(identity.producerName()).i64(identity.producerId());
    out.i32(state.run).i32(state.openRun).i32(state.epoch);
    sequences(out, state.bases);
    out.i32(state.ends.size());
    state.ends.forEach((run, ends) -> sequences(out.i32(run), ends));
    out.i64(state.lastFrame).i64(state.ackedFrame);
    out.i64(state.messages).i64(state.ackedMessages).i64(state.messagesBeforeSource);
    source(out, state.source);
    position(out, state.position);
  }

  private static SpoolState state(ByteReader in) {
    SpoolState state =
        new SpoolState(new SpoolState.Identity(in.text(), in.i32(), in.i64(), in.text(), in.i64()));
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
    state.position = position(in);
    return state;
  }
}
