package dev.evenkeel.cluster;

import static dev.evenkeel.cluster.ClusterMembersTest.result;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import com.hazelcast.config.Config;
import com.hazelcast.core.Hazelcast;
import com.hazelcast.core.HazelcastInstance;
import com.hazelcast.core.HazelcastJsonValue;
import com.hazelcast.map.IMap;
import dev.evenkeel.TestPorts;
import dev.evenkeel.protocol.ClusterDefaults;
import dev.evenkeel.protocol.NodePorts;
import io.vertx.core.json.JsonObject;
import java.io.Serializable;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** A member of the cluster that is no node writes to the shared maps. */
class StrangersEntriesTest {
  private static final JsonObject OURS = new JsonObject().put("v", 1);

  /** Of a class that a node makes no objects of. */
  private record Theirs(String text) implements Serializable {}

  private final ListAppender<ILoggingEvent> logged = new ListAppender<>();
  private final Logger log = (Logger) LoggerFactory.getLogger(HazelcastTable.class);

  private ClusterMember node;
  private SharedTable table;
  private HazelcastInstance stranger;
  private IMap<Object, Object> map;

  @BeforeEach
  void join() {
    logged.start();
    log.setLevel(Level.WARN);
    log.addAppender(logged);
    int port = TestPorts.take(4);
    node = result(ClusterMembers.node(NodeSettings.lone(port)));
    table = node.ownership();
    Config config =
        TestHazelcast.lite(
            ClusterDefaults.CLUSTER_NAME, "127.0.0.1", "127.0.0.1:" + NodePorts.hazelcast(port));
    config.setClassLoader(StrangersEntriesTest.class.getClassLoader());
    config.getSerializationConfig().setJavaSerializationFilterConfig(null);
    stranger = Hazelcast.newHazelcastInstance(config);
    map = stranger.getMap(SharedMaps.OWNERSHIP);
  }

  @AfterEach
  void leave() {
    log.detachAppender(logged);
    log.setLevel(null);
    stranger.shutdown();
    result(node.close());
  }

  private List<String> warnings() {
    return logged.list.stream().map(ILoggingEvent::getFormattedMessage).toList();
  }

  @Test
  void areEmptyObjectsAndDoNotHideOthers() {
    result(table.put("ours", OURS));
    map.set("text", "hello");
    map.set("array", "[1]");
    map.set("null", "null");
    map.set("number", 5);
    map.set("json", new HazelcastJsonValue("{\"a\":1}"));
    map.set("object", new Theirs("x"));
    map.set(7, "{\"a\":1}");
    map.set(new Theirs("key"), "{\"a\":1}");
    JsonObject none = new JsonObject();
    assertThat(result(table.all()))
        .isEqualTo(
            Map.of(
                "ours", OURS, "text", none, "array", none, "null", none, "number", none, "json",
                none, "object", none));
    assertThat(warnings())
        .hasSize(7)
        .anySatisfy(
            text ->
                assertThat(text)
                    .startsWith(
                        "map evenkeel.ownership has an entry that no node wrote, at 'text': its"
                            + " text")
                    .contains("find out who writes to the map"));
    assertThat(result(table.all())).hasSize(7);
    assertThat(warnings()).as("it says so once").hasSize(7);

    for (String key : List.of("text", "array", "null", "number", "json", "object")) {
      result(table.put(key, OURS));
    }
    assertThat(result(table.all()).values()).hasSize(7).containsOnly(OURS);
    map.set("object", new Theirs("x"));
    result(table.all());
    result(table.remove("object"));
    assertThat(map.containsKey("object")).isFalse();
  }

  @Test
  void aNodeMakesNoObjectOfThem() {
    map.set("object", new Theirs("x"));
    IMap<Object, Object> nodes =
        Hazelcast.getAllHazelcastInstances().stream()
            .filter(each -> each != stranger)
            .filter(each -> each.getCluster().getMembers().size() == 2)
            .findFirst()
            .orElseThrow()
            .getMap(SharedMaps.OWNERSHIP);
    assertThat(map.get("object")).isEqualTo(new Theirs("x"));
    assertThatThrownBy(() -> nodes.get("object")).hasStackTraceContaining("Theirs");
  }

  @Test
  void everybodyReadsOursAsTexts() {
    result(table.put("ours", OURS));
    assertThat(map.get("ours")).isEqualTo("{\"v\":1}");
  }
}
