package dev.evenkeel.bus;

import dev.evenkeel.protocol.wire.ByteReader;
import dev.evenkeel.protocol.wire.Bytes;
import java.util.ArrayList;
import java.util.List;

/**
 * How far the disks of a data group's voters are.
 *
 * @param everywhere last entry that is known to be on all of them, or -1
 * @param missing ids of the nodes that are not known to have the entry that was asked for; empty:
 *     all have it
 */
public record ReplicasAnswer(long everywhere, List<String> missing) {
  public ReplicasAnswer {
    missing = List.copyOf(missing);
  }

  public Bytes encode() {
    Bytes out = new Bytes(32).i64(everywhere).i32(missing.size());
    missing.forEach(out::text);
    return out;
  }

  /**
   * @throws dev.evenkeel.protocol.RefusedException if the bytes are malformed
   */
  public static ReplicasAnswer decode(ByteReader in) {
    long everywhere = in.i64();
    int count = in.count();
    List<String> missing = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      missing.add(in.neededText());
    }
    return new ReplicasAnswer(everywhere, missing);
  }
}
