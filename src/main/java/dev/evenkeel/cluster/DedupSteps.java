package dev.evenkeel.cluster;

import com.hazelcast.map.EntryProcessor;
import com.hazelcast.nio.ObjectDataInput;
import com.hazelcast.nio.ObjectDataOutput;
import com.hazelcast.nio.serialization.DataSerializable;
import dev.evenkeel.dedup.SharedBucket;
import dev.evenkeel.dedup.SharedCodec;
import java.io.IOException;
import java.util.Map;

/**
 * Applies steps to the automata of one bucket, on the member that holds it; its backup does the
 * same with the same time. It is serialized by the name of its class, so that members with an
 * application's own Hazelcast configuration can read it too.
 */
public final class DedupSteps
    implements EntryProcessor<Integer, DedupBucket, byte[]>, DataSerializable {
  private static final long serialVersionUID = 1;

  private byte[] steps;
  private long nowMillis;
  private int keysMax;

  /** For deserialization. */
  public DedupSteps() {}

  /**
   * @param steps of {@link SharedCodec#steps(java.util.List)}
   * @param nowMillis time of the cluster's clock
   * @param keysMax most keys of the bucket
   */
  DedupSteps(byte[] steps, long nowMillis, int keysMax) {
    this.steps = steps;
    this.nowMillis = nowMillis;
    this.keysMax = keysMax;
  }

  @Override
  public byte[] process(Map.Entry<Integer, DedupBucket> entry) {
    return apply(entry, steps, nowMillis, keysMax);
  }

  static byte[] apply(
      Map.Entry<Integer, DedupBucket> entry, byte[] steps, long nowMillis, int keysMax) {
    DedupBucket kept = entry.getValue();
    DedupBucket value = kept == null ? new DedupBucket() : kept;
    SharedBucket.Replies replies =
        value.bucket().apply(SharedCodec.steps(steps), nowMillis, keysMax);
    if (value.bucket().keys() > 0) {
      entry.setValue(value);
    } else if (kept != null) {
      entry.setValue(null);
    }
    return SharedCodec.replies(replies);
  }

  @Override
  public void writeData(ObjectDataOutput out) throws IOException {
    out.writeByteArray(steps);
    out.writeLong(nowMillis);
    out.writeInt(keysMax);
  }

  @Override
  public void readData(ObjectDataInput in) throws IOException {
    steps = in.readByteArray();
    nowMillis = in.readLong();
    keysMax = in.readInt();
  }
}
