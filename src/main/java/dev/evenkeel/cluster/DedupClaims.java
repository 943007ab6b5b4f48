package dev.evenkeel.cluster;

import com.hazelcast.core.HazelcastInstance;
import com.hazelcast.core.HazelcastInstanceAware;
import com.hazelcast.map.EntryProcessor;
import com.hazelcast.nio.ObjectDataInput;
import com.hazelcast.nio.ObjectDataOutput;
import com.hazelcast.nio.serialization.DataSerializable;
import dev.evenkeel.protocol.wire.ByteReader;
import dev.evenkeel.protocol.wire.Bytes;
import java.io.IOException;
import java.util.Map;

/**
 * As {@link DedupSteps}, for claims of programs. The node that holds the bucket also says, after
 * the steps, what it would answer to a {@link HeardQuestion}. The name of the class is part of the
 * wire format.
 */
public final class DedupClaims
    implements EntryProcessor<Integer, DedupBucket, byte[]>,
        DataSerializable,
        HazelcastInstanceAware {
  private static final long serialVersionUID = 1;

  private byte[] steps;
  private long nowMillis;
  private int keysMax;
  private String asker;
  private transient HazelcastInstance hazelcast;

  /** For deserialization. */
  public DedupClaims() {}

  /**
   * As {@link DedupSteps}.
   *
   * @param asker id of the process as a member
   */
  DedupClaims(byte[] steps, long nowMillis, int keysMax, String asker) {
    this.steps = steps;
    this.nowMillis = nowMillis;
    this.keysMax = keysMax;
    this.asker = asker;
  }

  /**
   * What comes back.
   *
   * @param node id of the node that has carried out the steps
   * @param voters its answer to a {@link HeardQuestion}
   * @param replies of the steps
   */
  record Result(String node, int voters, byte[] replies) {
    static Result ofBytes(byte[] bytes) {
      ByteReader in = new ByteReader(bytes);
      return new Result(in.text(), in.i32(), in.raw(in.remaining()));
    }

    byte[] bytes() {
      return new Bytes(node.length() + 2 * Integer.BYTES + replies.length)
          .text(node)
          .i32(voters)
          .raw(replies)
          .toArray();
    }
  }

  @Override
  public void setHazelcastInstance(HazelcastInstance instance) {
    hazelcast = instance;
  }

  @Override
  public byte[] process(Map.Entry<Integer, DedupBucket> entry) {
    byte[] replies = DedupSteps.apply(entry, steps, nowMillis, keysMax);
    String node = hazelcast.getCluster().getLocalMember().getAttribute(NodeList.ID);
    int voters = HeardQuestion.answer(hazelcast, asker);
    return new Result(node, voters, replies).bytes();
  }

  @Override
  public void writeData(ObjectDataOutput out) throws IOException {
    out.writeByteArray(steps);
    out.writeLong(nowMillis);
    out.writeInt(keysMax);
    out.writeString(asker);
  }

  @Override
  public void readData(ObjectDataInput in) throws IOException {
    steps = in.readByteArray();
    nowMillis = in.readLong();
    keysMax = in.readInt();
    asker = in.readString();
  }
}
