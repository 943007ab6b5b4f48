package dev.evenkeel.cluster;

import com.hazelcast.core.ReadOnly;
import com.hazelcast.map.EntryProcessor;
import com.hazelcast.nio.ObjectDataInput;
import com.hazelcast.nio.ObjectDataOutput;
import com.hazelcast.nio.serialization.DataSerializable;
import dev.evenkeel.dedup.KeyInFlight;
import dev.evenkeel.dedup.SharedCodec;
import java.io.IOException;
import java.util.List;
import java.util.Map;

/**
 * Finds the keys of one bucket that are held for long, and changes nothing. Returns null if there
 * are none. The name of the class is part of the wire format.
 */
public final class DedupKeysLook
    implements EntryProcessor<Integer, DedupBucket, byte[]>, DataSerializable, ReadOnly {
  private static final long serialVersionUID = 1;

  private long sinceMillisMax;

  /** For deserialization. */
  public DedupKeysLook() {}

  /**
   * @param sinceMillisMax only keys that are held since this time or longer
   */
  DedupKeysLook(long sinceMillisMax) {
    this.sinceMillisMax = sinceMillisMax;
  }

  @Override
  public byte[] process(Map.Entry<Integer, DedupBucket> entry) {
    List<KeyInFlight> held = entry.getValue().bucket().heldSince(sinceMillisMax);
    return held.isEmpty() ? null : SharedCodec.inFlight(held);
  }

  @Override
  public void writeData(ObjectDataOutput out) throws IOException {
    out.writeLong(sinceMillisMax);
  }

  @Override
  public void readData(ObjectDataInput in) throws IOException {
    sinceMillisMax = in.readLong();
  }
}
