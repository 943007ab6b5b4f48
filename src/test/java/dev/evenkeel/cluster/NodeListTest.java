package dev.evenkeel.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import com.hazelcast.cluster.Address;
import com.hazelcast.cluster.Member;
import com.hazelcast.cluster.impl.MemberImpl;
import com.hazelcast.config.Config;
import com.hazelcast.version.MemberVersion;
import dev.evenkeel.protocol.HostPort;
import java.net.UnknownHostException;
import java.util.List;
import org.junit.jupiter.api.Test;

class NodeListTest {
  private static Member member(String node, String id, long begunMillis)
      throws UnknownHostException {
    Config config = new Config();
    NodeList.announce(config, node, new HostPort("127.0.0.1", 1), begunMillis);
    config.getMemberAttributeConfig().setAttribute(NodeList.ID, id);
    return new MemberImpl.Builder(new Address("127.0.0.1", 5701))
        .version(MemberVersion.UNKNOWN)
        .attributes(config.getMemberAttributeConfig().getAttributes())
        .build();
  }

  /** A process that was cut off joins again after the one that has taken its place. */
  @Test
  void ofTwoProcessesOfOneNodeTheOneThatBeganLaterCounts() throws UnknownHostException {
    Member former = member("n1", "former", 1_000);
    Member present = member("n1", "present", 2_000);
    Member other = member("n2", "other", 500);
    for (List<Member> members :
        List.of(List.of(former, other, present), List.of(present, other, former))) {
      NodeList list = NodeList.of(members);
      assertThat(list.idOfNode()).containsEntry("n1", "present").containsEntry("n2", "other");
      assertThat(list.ids()).contains("former");
    }
  }
}
