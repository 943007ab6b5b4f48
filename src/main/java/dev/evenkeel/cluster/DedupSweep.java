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
 * Removes the claims of dead members and of workers that take too long from one bucket. Returns the
 * keys that lost claims, or null if none did. The name of the class is part of the wire format.
 */
public final class DedupSweep
    implements EntryProcessor<Integer, DedupBucket, byte[]>, DataSerializable {
  private static final long serialVersionUID = 1;

  private String[] alive;
  private long nowMillis;
  private transient Set<String> aliveSet;

  /** For deserialization. */
  public DedupSweep() {}

  /**
   * @param alive ids of the live members
   * @param nowMillis time of the cluster's clock
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
