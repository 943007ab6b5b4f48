package dev.evenkeel.cluster;

import static dev.evenkeel.cluster.ClusterMembersTest.result;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.hazelcast.cluster.Member;
import com.hazelcast.config.Config;
import com.hazelcast.core.Hazelcast;
import com.hazelcast.core.HazelcastInstance;
import com.hazelcast.nio.ObjectDataInput;
import com.hazelcast.nio.ObjectDataOutput;
import com.hazelcast.nio.serialization.DataSerializable;
import dev.evenkeel.TestPorts;
import dev.evenkeel.protocol.ClusterDefaults;
import dev.evenkeel.protocol.NodePorts;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.Serializable;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A node makes no object of a class that it does not need, whoever names it. */
class AllowedClassesTest {
  private static final AtomicInteger CALLED = new AtomicInteger();
  private static final AtomicInteger MADE = new AtomicInteger();

  private ClusterMember node;
  private HazelcastInstance stranger;

  /** By Java serialization. */
  public static final class Serialized implements Callable<String>, Serializable {
    private static final long serialVersionUID = 1;

    private void readObject(ObjectInputStream in) throws IOException {
      MADE.incrementAndGet();
    }

    @Override
    public String call() {
      CALLED.incrementAndGet();
      return "called";
    }
  }

  /** By the name of its class. */
  public static final class Named implements Callable<String>, DataSerializable {
    public Named() {
      MADE.incrementAndGet();
    }

    @Override
    public String call() {
      CALLED.incrementAndGet();
      return "called";
    }

    @Override
    public void writeData(ObjectDataOutput out) {}

    @Override
    public void readData(ObjectDataInput in) {}
  }

  @BeforeEach
  void join() {
    int port = TestPorts.take(4);
    node = result(ClusterMembers.node(NodeSettings.lone(port)));
    Config config =
        TestHazelcast.lite(
            ClusterDefaults.CLUSTER_NAME, "127.0.0.1", "127.0.0.1:" + NodePorts.hazelcast(port));
    config.setClassLoader(AllowedClassesTest.class.getClassLoader());
    stranger = Hazelcast.newHazelcastInstance(config);
  }

  @AfterEach
  void leave() {
    stranger.shutdown();
    result(node.close());
  }

  @Test
  void whatAStrangerNamesIsNotMade() {
    refuses(new Serialized());
    refuses(new Named());
    assertThat(CALLED).hasValue(0);
  }

  private void refuses(Callable<String> canary) {
    MADE.set(0);
    assertThatThrownBy(
            () ->
                stranger
                    .getExecutorService("strangers")
                    .submitToMember(canary, theNode())
                    .get(30, TimeUnit.SECONDS))
        .hasStackTraceContaining(canary.getClass().getName());
    assertThat(MADE).as(canary.getClass().getSimpleName()).hasValue(0);
  }

  private Member theNode() {
    return stranger.getCluster().getMembers().stream()
        .filter(member -> !member.isLiteMember())
        .findFirst()
        .orElseThrow();
  }

  @Test
  void theProcessReadsExceptionsAndNothingElse() throws Exception {
    Exception why = new IllegalStateException("why", new IOException("because"));
    assertThat(read(why))
        .asInstanceOf(InstanceOfAssertFactories.THROWABLE)
        .hasRootCauseMessage("because");
    assertThat(read(new RefusedException(Refusal.INVALID, "x")))
        .isInstanceOf(RefusedException.class);
    MADE.set(0);
    assertThatThrownBy(() -> read(new Serialized())).hasMessageContaining("REJECTED");
    assertThat(MADE).hasValue(0);
  }

  private static Object read(Object written) throws IOException, ClassNotFoundException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
      out.writeObject(written);
    }
    ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()));
    in.setObjectInputFilter(AllowedClasses.ofProcess());
    return in.readObject();
  }
}
