package dev.evenkeel.cluster;

import com.hazelcast.map.EntryProcessor;
import com.hazelcast.nio.ObjectDataInput;
import com.hazelcast.nio.ObjectDataOutput;
import com.hazelcast.nio.serialization.DataSerializable;
import dev.evenkeel.dedup.SharedBucket;
import dev.evenkeel.dedup.SharedCodec;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Takes away, from one bucket, claims of the dead and of those at work for too long. Gives the keys
 * that lost any, or null if none did.
 */
public final class DedupSweep
    implements EntryProcessor<Integer, DedupBucket, byte[]>, DataSerializable {
  private static final long serialVersionUID = 1;

  private String[] alive;
  private long nowMillis;
  private transient Set<String> aliveSet;

  /** To be read. */
  public DedupSweep() {}

  /**
   * @param nowMillis of the cluster's clock
   */
  DedupSweep(Set<String> alive, long nowMillis) {
    this.alive = alive.toArray(String[]::new);
    this.nowMillis = nowMillis;
    aliveSet = Set.copyOf(alive);
  }

  @Override
  public byte[] process(Map.Entry<Integer, DedupBucket> entry) {
    List<SharedBucket.Swept> swept = entry.getValue().bucket().sweep(aliveSet::contains, nowMillis);
    if (swept.isEmpty()) {
      return null;
    }
    entry.setValue(entry.getValue().bucket().keys() == 0 ? null : entry.getValue());
    return SharedCodec.swept(swept);
  }

  @Override
  public void writeData(ObjectDataOutput out) throws IOException {
    out.writeStringArray(alive);
    out.writeLong(nowMillis);
  }

  @Override
  public void readData(ObjectDataInput in) throws IOException {
    alive = in.readStringArray();
    nowMillis = in.readLong();
    aliveSet = Set.of(alive);
  }
}
