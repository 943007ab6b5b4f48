package dev.evenkeel.protocol.wire;

import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import java.nio.ByteBuffer;
import java.util.LinkedHashMap;
import java.util.Map;

/** Bytes of what the state machine answers: a tag, then the fields. */
public final class ReplyCodec {
  private ReplyCodec() {}

  public static byte[] encode(Reply reply) {
    Bytes out = new Bytes();
    if (reply instanceof Reply.Done) {
      out.u8(0);
    } else if (reply instanceof Reply.Refused r) {
      out.u8(1).u8(r.refusal().ordinal()).text(r.detail());
    } else if (reply instanceof Reply.OfTopic r) {
      out.u8(2);
      RecordCodec.write(out, r.topic());
    } else if (reply instanceof Reply.OfGroup r) {
      out.u8(3);
      RecordCodec.write(out, r.group());
    } else if (reply instanceof Reply.OfLease r) {
      out.u8(4);
      RecordCodec.write(out, r.lease());
    } else if (reply instanceof Reply.OfGroupLease r) {
      out.u8(7);
      RecordCodec.write(out, r.lease());
    } else if (reply instanceof Reply.OfProducer r) {
      out.u8(5).i64(r.producerId()).i32(r.epoch());
    } else if (reply instanceof Reply.OfSequences r) {
      out.u8(6).i32(r.lastSequences().size());
      r.lastSequences()
          .forEach(
              (shard, sequence) -> {
                RecordCodec.write(out, shard);
                out.i64(sequence);
              });
    }
    if (reply instanceof Reply.OfOffsets r) {
      out.u8(8);
      RecordCodec.writeNumbers(out, r.offsets());
    } else if (reply instanceof Reply.OfNumber r) {
      out.u8(9).i64(r.number());
    } else if (reply instanceof Reply.OfDelivered r) {
      out.u8(20).i64(r.messages()).i64(r.lateMillis());
    }
    return out.toArray();
  }

  public static Reply decode(ByteBuffer bytes) {
    ByteReader in = new ByteReader(bytes);
    int tag = in.u8();
    return switch (tag) {
      case 0 -> Reply.DONE;
      case 1 -> new Reply.Refused(Refusal.ofCode(in.u8()), in.text());
      case 2 -> new Reply.OfTopic(RecordCodec.topic(in));
      case 3 -> new Reply.OfGroup(RecordCodec.group(in));
      case 4 -> new Reply.OfLease(RecordCodec.lease(in));
      case 5 -> new Reply.OfProducer(in.i64(), in.i32());
      case 6 -> sequences(in);
      case 7 -> new Reply.OfGroupLease(RecordCodec.groupLease(in));
      case 8 -> new Reply.OfOffsets(RecordCodec.numbers(in));
      case 9 -> new Reply.OfNumber(in.i64());
      case 20 -> new Reply.OfDelivered(in.i64(), in.i64());
      default -> throw new RefusedException(Refusal.WRONG_VERSION, "unknown reply " + tag);
    };
  }

  private static Reply sequences(ByteReader in) {
    int count = in.count();
    Map<Shard, Long> sequences = new LinkedHashMap<>();
    for (int i = 0; i < count; i++) {
      sequences.put(RecordCodec.shard(in), in.i64());
    }
    return new Reply.OfSequences(sequences);
  }
}
