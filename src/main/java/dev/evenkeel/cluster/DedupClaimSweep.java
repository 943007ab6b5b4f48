package dev.evenkeel.cluster;

import com.hazelcast.map.EntryProcessor;
import com.hazelcast.nio.ObjectDataInput;
import com.hazelcast.nio.ObjectDataOutput;
import com.hazelcast.nio.serialization.DataSerializable;
import dev.evenkeel.dedup.SharedBucket;
import dev.evenkeel.dedup.SharedClaim;
import dev.evenkeel.dedup.SharedCodec;
import dev.evenkeel.dedup.Worker;
import java.io.IOException;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Removes the claims of processes that have ended and of workers that take too long from one
 * bucket. Returns the keys that lost claims and the processes of which nothing is known; nodes of
 * former versions return null if there are none of both. The name of the class is part of the wire
 * format.
 */
public final class DedupClaimSweep
    implements EntryProcessor<Integer, DedupBucket, byte[]>, DataSerializable {
  private static final long serialVersionUID = 1;

  /**
   * In the set of those that have ended, in front of a process whose services have ended, and in
   * front of the time from which on they may have begun anew. Nodes of former versions know no such
   * names.
   */
  private static final String SERVICES = "!";

  private Set<String> alive;
  private Set<String> ended;
  private long nowMillis;
  private transient long placedMillisMax = Long.MIN_VALUE;

  /** For deserialization. */
  public DedupClaimSweep() {}

  /**
   * @param alive ids of processes that are known to live
   * @param ended ids of processes that have ended
   * @param services those of them whose claims of services end, too
   * @param placedMillisMax only claims that have had their places since this time or longer
   * @param nowMillis time of the cluster's clock
   */
  DedupClaimSweep(
      Set<String> alive,
      Set<String> ended,
      Set<String> services,
      long placedMillisMax,
      long nowMillis) {
    this.alive = alive;
    this.ended = new HashSet<>(ended);
    services.forEach(each -> this.ended.add(SERVICES + each));
    if (!services.isEmpty()) {
      this.ended.add(SERVICES + SERVICES + placedMillisMax);
    }
    this.placedMillisMax = placedMillisMax;
    this.nowMillis = nowMillis;
  }

  @Override
  public byte[] process(Map.Entry<Integer, DedupBucket> entry) {
    SharedBucket bucket = entry.getValue().bucket();
    List<SharedBucket.Swept> swept = bucket.drop(this::hasEnded, nowMillis);
    if (!swept.isEmpty()) {
      entry.setValue(bucket.keys() == 0 ? null : entry.getValue());
    }
    Set<String> unknown = bucket.members();
    unknown.removeAll(alive);
    return SharedCodec.swept(swept, unknown);
  }

  private boolean hasEnded(SharedClaim claim) {
    Worker worker = claim.worker();
    return worker.isService()
        ? claim.sinceMillis() <= placedMillisMax && ended.contains(SERVICES + worker.member())
        : ended.contains(worker.member());
  }

  @Override
  public void writeData(ObjectDataOutput out) throws IOException {
    out.writeStringArray(alive.toArray(String[]::new));
    out.writeStringArray(ended.toArray(String[]::new));
    out.writeLong(nowMillis);
  }

  @Override
  public void readData(ObjectDataInput in) throws IOException {
    alive = Set.of(in.readStringArray());
    ended = Set.of(in.readStringArray());
    nowMillis = in.readLong();
    for (String each : ended) {
      if (each.startsWith(SERVICES + SERVICES)) {
        placedMillisMax = Long.parseLong(each.substring(2 * SERVICES.length()));
      }
    }
  }
}
