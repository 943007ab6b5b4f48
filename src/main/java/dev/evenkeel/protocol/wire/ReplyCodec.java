package dev.evenkeel.protocol.wire;

import static dev.evenkeel.protocol.wire.Codec.I32;
import static dev.evenkeel.protocol.wire.Codec.I64;
import static dev.evenkeel.protocol.wire.Codec.NUMBERS;
import static dev.evenkeel.protocol.wire.Codec.TEXT;
import static dev.evenkeel.protocol.wire.RecordCodec.SHARD;

import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import java.nio.ByteBuffer;
import java.util.LinkedHashMap;
import java.util.Map;

/** Bytes of what the state machine answers: a tag, then the fields. */
public final class ReplyCodec {
  private static final Codec<Refusal> REFUSAL =
      Codec.of((out, refusal) -> out.u8(refusal.ordinal()), in -> Refusal.ofCode(in.u8()));

  private static final Codec<Map<Shard, Long>> SEQUENCES =
      Codec.of(ReplyCodec::writeSequences, ReplyCodec::sequences);

  private static final Codec<Reply> OF_STEP =
      new Tagged<Reply>("reply to a step")
          .add(1, Reply.Refused.class, REFUSAL, TEXT)
          .add(4, Reply.OfLease.class, RecordCodec.LEASE);

  private static final Codec<Reply> REPLY =
      new Tagged<Reply>("reply")
          .add(0, Reply.Done.class)
          .add(1, Reply.Refused.class, REFUSAL, TEXT)
          .add(2, Reply.OfTopic.class, RecordCodec.TOPIC)
          .add(3, Reply.OfGroup.class, RecordCodec.GROUP)
          .add(4, Reply.OfLease.class, RecordCodec.LEASE)
          .add(5, Reply.OfProducer.class, I64, I32)
          .add(6, Reply.OfSequences.class, SEQUENCES)
          .add(7, Reply.OfGroupLease.class, RecordCodec.GROUP_LEASE)
          .add(8, Reply.OfOffsets.class, NUMBERS)
          .add(9, Reply.OfNumber.class, I64)
          .add(20, Reply.OfDelivered.class, I64, I64)
          .add(
              21,
              Reply.OfCommits.class,
              Codec.list(Codec.record(Reply.OfCommits.RefusedCommit.class, I32, REFUSAL, TEXT)))
          .add(22, Reply.OfSteps.class, Codec.list(OF_STEP))
          .completeFor(Reply.class);

  private ReplyCodec() {}

  public static byte[] encode(Reply reply) {
    return REPLY.encode(reply);
  }

  /**
   * @throws RefusedException INVALID or WRONG_VERSION
   */
  public static Reply decode(ByteBuffer bytes) {
    return REPLY.read(new ByteReader(bytes));
  }

  private static void writeSequences(Bytes out, Map<Shard, Long> sequences) {
    out.i32(sequences.size());
    sequences.forEach(
        (shard, sequence) -> {
          SHARD.write(out, shard);
          out.i64(sequence);
        });
  }

  private static Map<Shard, Long> sequences(ByteReader in) {
    int count = in.count();
    Map<Shard, Long> sequences = new LinkedHashMap<>();
    for (int i = 0; i < count; i++) {
      sequences.put(SHARD.read(in), in.i64());
    }
    return sequences;
  }
}
