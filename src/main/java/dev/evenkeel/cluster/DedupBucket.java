package dev.evenkeel.cluster;

import com.hazelcast.nio.ObjectDataInput;
import com.hazelcast.nio.ObjectDataOutput;
import com.hazelcast.nio.serialization.DataSerializable;
import dev.evenkeel.dedup.SharedBucket;
import java.io.IOException;

/**
 * A bucket of dedup automata, as a value of the shared map. It is serialized only when it moves to
 * another member.
 */
public final class DedupBucket implements DataSerializable {
  private SharedBucket bucket = new SharedBucket();

  SharedBucket bucket() {
    return bucket;
  }

  @Override
  public void writeData(ObjectDataOutput out) throws IOException {
    out.writeByteArray(bucket.bytes());
  }

  @Override
  public void readData(ObjectDataInput in) throws IOException {
    bucket = SharedBucket.ofBytes(in.readByteArray());
  }
}
