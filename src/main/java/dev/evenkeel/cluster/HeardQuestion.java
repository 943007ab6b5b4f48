package dev.evenkeel.cluster;

import com.hazelcast.cluster.Member;
import com.hazelcast.core.HazelcastInstance;
import com.hazelcast.core.HazelcastInstanceAware;
import com.hazelcast.nio.ObjectDataInput;
import com.hazelcast.nio.ObjectDataOutput;
import com.hazelcast.nio.serialization.DataSerializable;
import java.io.IOException;
import java.util.concurrent.Callable;

/**
 * Asks a node whether it still counts a process as a member of the cluster. The answer is the
 * number of nodes that vote, or 0 if the process is no member or this node does not vote. The name
 * of the class is part of the wire format.
 */
public final class HeardQuestion
    implements Callable<Integer>, DataSerializable, HazelcastInstanceAware {
  private String asker;
  private transient HazelcastInstance hazelcast;

  /** For deserialization. */
  public HeardQuestion() {}

  /**
   * @param asker id of the process as a member
   */
  HeardQuestion(String asker) {
    this.asker = asker;
  }

  @Override
  public void setHazelcastInstance(HazelcastInstance instance) {
    hazelcast = instance;
  }

  @Override
  public Integer call() {
    return answer(hazelcast, asker);
  }

  /** What the node of this Hazelcast answers. */
  static int answer(HazelcastInstance hazelcast, String asker) {
    HazelcastAutomata here =
        HazelcastAutomata.of(hazelcast.getCluster().getLocalMember().getAttribute(NodeList.ID));
    if (here == null) {
      return 0;
    }
    for (Member member : hazelcast.getCluster().getMembers()) {
      if (asker.equals(member.getAttribute(NodeList.ID))) {
        return here.voters();
      }
    }
    return 0;
  }

  @Override
  public void writeData(ObjectDataOutput out) throws IOException {
    out.writeString(asker);
  }

  @Override
  public void readData(ObjectDataInput in) throws IOException {
    asker = in.readString();
  }
}
