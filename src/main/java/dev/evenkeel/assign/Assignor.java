package dev.evenkeel.assign;

import dev.evenkeel.model.Shard;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Decides who shall own which shard. Deterministic: the same arguments give the same answer. */
public interface Assignor {

  /**
   * @param name of the member
   * @param topicIds topics it subscribes to
   */
  record Member(String name, Set<Integer> topicIds) {}

  /**
   * @param members live members, in any order
   * @param shards every shard to be owned, in any order
   * @param owners who owns what now; shards without an owner are absent
   * @return an owner for each shard that some member subscribes to
   */
  Map<Shard, String> assign(List<Member> members, List<Shard> shards, Map<Shard, String> owners);
}
