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
 * Steps of automata of one bucket, where it lies; on its backup the same again, with the same time.
 * Serialized by its class's name, so that members whose configuration is not ours know it, too.
 */
public final class DedupSteps
    implements EntryProcessor<Integer, DedupBucket, byte[]>, DataSerializable {
  private static final long serialVersionUID = 1;

  private byte[] steps;
  private long nowMillis;
  private int keysMax;

  /** To be read. */
  public DedupSteps() {}

  /**
   * @param steps of {@link SharedCodec#steps(java.util.List)}
   * @param nowMillis of the cluster's clock
   * @param keysMax of the bucket
   */
  DedupSteps(byte[] steps, long nowMillis, int keysMax) {
    this.steps = steps;
    this.nowMillis = nowMillis;
    this.keysMax = keysMax;
  }

  @Override
  public byte[] process(Map.Entry<Integer, DedupBucket> entry) {
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
