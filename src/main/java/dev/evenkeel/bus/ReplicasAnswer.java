package dev.evenkeel.bus;

import static dev.evenkeel.protocol.wire.Codec.I64;
import static dev.evenkeel.protocol.wire.Codec.TEXTS;

import dev.evenkeel.protocol.wire.ByteReader;
import dev.evenkeel.protocol.wire.Bytes;
import dev.evenkeel.protocol.wire.Codec;
import java.util.List;

/**
 * Says which entries of a data group all its voters have on their disks.
 *
 * @param everywhere last entry that all voters are known to have, or -1
 * @param missing ids of the nodes that are not known to have the requested entry; empty: all have
 *     it
 */
public record ReplicasAnswer(long everywhere, List<String> missing) {
  public ReplicasAnswer {
    missing = List.copyOf(missing);
  }

  private static final Codec<ReplicasAnswer> CODEC = Codec.record(ReplicasAnswer.class, I64, TEXTS);

  public Bytes encode() {
    Bytes out = new Bytes(32);
    CODEC.write(out, this);
    return out;
  }

  /**
   * @throws dev.evenkeel.protocol.RefusedException if the bytes are malformed
   */
  public static ReplicasAnswer decode(ByteReader in) {
    return CODEC.read(in);
  }
}
