package dev.evenkeel.functional;

import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Closing;
import dev.evenkeel.client.Consumer;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.internal.EvenkeelClientImpl;
import dev.evenkeel.client.internal.session.Credentials;
import dev.evenkeel.client.internal.session.SessionLink;
import dev.evenkeel.protocol.ClusterDefaults;
import dev.evenkeel.protocol.HostPort;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A thousand sessions form one group, and one more moves no more shards than it must. */
@Tag("full")
@Timeout(600)
class ManyMembersIT {
  private static final int MEMBERS = Integer.getInteger("evenkeel.members", 1_000);
  private static final int SHARDS = 2 * MEMBERS;
  private static final String GROUP = "g";

  /** From when on the node tells of a blocked event loop, with a stack trace. */
  private static final int BLOCKED_MILLIS = 100;

  private static final Pattern BLOCKED = Pattern.compile("has been blocked for (\\d+) ms");
  private static final String DISPATCHER = "at app//dev.evenkeel.dispatcher.";

  @TempDir Path directory;

  /** One for all sessions; otherwise each would have threads of its own. */
  @Closing private final Vertx vertx = Vertx.vertx();

  private final List<Consumer> consumers = new CopyOnWriteArrayList<>();

  @Test
  void aThousandSessionsShareTheShardsOfATopic() {
    try (Node node = new Node(directory.resolve("node")).inJvm(jvm()).start()) {
      node.createTopic("t", SHARDS);
      long begin = System.nanoTime();
      List<Future<?>> joining = new ArrayList<>();
      times(MEMBERS, i -> joining.add(join(node, "m" + i)));
      // They are asked instead of the node, which would have to tell of all of them each time.
      eventually("all own their shards")
          .failFast(() -> joining.stream().anyMatch(Future::failed))
          .until(() -> spread().equals(Map.of(SHARDS / MEMBERS, MEMBERS)));
      double seconds = (System.nanoTime() - begin) / 1e9;
      System.out.printf("%d members own their shards after %.1f s%n", MEMBERS, seconds);

      Members members = new Members(node, GROUP);
      Map<Integer, String> before = members.await("the node, too", this::complete);
      joining.add(join(node, "late"));
      Map<Integer, String> after =
          members.await("the late one", owners -> complete(owners) && owners.containsValue("late"));
      assertThat(Members.moves(before, after))
          .as(() -> node.read("/api/rebalances?group=" + GROUP + "&limit=20"))
          .isEqualTo(1);
      assertThat(consumers).hasSize(MEMBERS + 1);
      System.out.println("event loops of the node blocked by, in ms: " + blocked(node));
    }
  }

  private static List<String> jvm() {
    List<String> options = new ArrayList<>(Jar.USUAL_OPTIONS);
    options.addAll(List.of("-Xmx1g", "-Devenkeel.blockedMillis=" + BLOCKED_MILLIS));
    return options;
  }

  private Future<?> join(Node node, String member) {
    var options = new ConsumerOptions().setTopics(List.of("t")).setGroup(GROUP).setMember(member);
    return SessionLink.connect(
            vertx,
            true,
            HostPort.parseAll(List.of(node.cluster())),
            ClusterDefaults.CLUSTER_NAME,
            ClusterDefaults.CONNECT_TIMEOUT_MILLIS,
            Credentials.NONE)
        .map(EvenkeelClientImpl::new)
        .compose(client -> client.consumer(options, delivery -> Future.succeededFuture()))
        .onSuccess(consumers::add);
  }

  /** How many members own how many shards, as they say themselves. */
  private Map<Integer, Integer> spread() {
    Map<Integer, Integer> spread = new HashMap<>();
    consumers.forEach(consumer -> spread.merge(consumer.ownedShards(), 1, Integer::sum));
    return spread;
  }

  private boolean complete(Map<Integer, String> owners) {
    return owners.size() == SHARDS;
  }

  private static ConditionFactory eventually(String what) {
    return Awaitility.await(what)
        .atMost(Duration.ofSeconds(240))
        .pollInterval(Duration.ofMillis(100));
  }

  /** How long event loops were blocked, by whether the dispatcher did it. */
  private static Map<String, List<Long>> blocked(Node node) {
    Map<String, List<Long>> blocked = new TreeMap<>();
    for (String told : node.process().err().split("(?m)^(?=\\d\\d:\\d\\d:\\d\\d\\.)")) {
      Matcher matcher = BLOCKED.matcher(told);
      if (matcher.find()) {
        blocked
            .computeIfAbsent(
                told.contains(DISPATCHER) ? "the dispatcher" : "others", none -> new ArrayList<>())
            .add(Long.parseLong(matcher.group(1)));
      }
    }
    blocked.values().forEach(Collections::sort);
    return blocked;
  }
}
