package dev.evenkeel.testkit;

import dev.evenkeel.client.Admin;
import dev.evenkeel.client.EvenkeelClient;
import dev.evenkeel.client.plain.PlainClient;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Function;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolutionException;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * Gives tests of JUnit 5 an {@link EmbeddedNode}.
 *
 * <pre>{@code
 * @ExtendWith(EvenkeelExtension.class)
 * class OrdersTest {
 *   @Test
 *   void ordersAreBilled(EmbeddedNode node, EvenkeelClient client) {
 *     node.createTopic("orders", 4);
 *     ...
 *     node.awaitConsumed("billing");
 *   }
 * }
 * }</pre>
 *
 * <p>The tests of a class share one node: it starts before the first of them, and stops after the
 * last. To set it up, or to have a node of its own for each test, register the extension as a
 * field: static for one node of the class, an instance field for one of each test.
 *
 * <pre>{@code
 * @RegisterExtension
 * static final EvenkeelExtension EVENKEEL = new EvenkeelExtension().withTopic("orders", 4);
 * }</pre>
 *
 * <p>Parameters of these types are injected: {@link EmbeddedNode}, {@link EvenkeelClient}, {@link
 * PlainClient} and {@link Admin}.
 */
public final class EvenkeelExtension
    implements BeforeAllCallback,
        AfterAllCallback,
        BeforeEachCallback,
        AfterEachCallback,
        ParameterResolver {
  private static final Map<Class<?>, Function<EmbeddedNode, Object>> PARAMETERS =
      Map.of(
          EmbeddedNode.class,
          node -> node,
          EvenkeelClient.class,
          EmbeddedNode::client,
          PlainClient.class,
          EmbeddedNode::plainClient,
          Admin.class,
          EmbeddedNode::admin);

  private final Map<String, String> settings = new HashMap<>();
  private final Map<String, Integer> topics = new LinkedHashMap<>();
  private final Map<String, String> users = new LinkedHashMap<>();
  private EmbeddedNode node;

  /** Classes under way that share the node: one, and those nested in it. */
  private int classes;

  /** For {@code @ExtendWith} and for fields. */
  public EvenkeelExtension() {}

  /** Creates a topic as soon as the node has started. */
  public EvenkeelExtension withTopic(String name, int shards) {
    topics.put(name, shards);
    return this;
  }

  /** Sets a setting of the node, as {@link EmbeddedNode#start(Map)} takes them. */
  public EvenkeelExtension withSetting(String key, String value) {
    settings.put(key, value);
    return this;
  }

  /** Adds a user of the node, as {@link EmbeddedNode#start(Map, Map)} takes them. */
  public EvenkeelExtension withUser(String name, String may) {
    users.put(name, may);
    return this;
  }

  /**
   * The node.
   *
   * @throws IllegalStateException outside of tests
   */
  public synchronized EmbeddedNode node() {
    if (node == null) {
      throw new IllegalStateException("the node runs during tests only");
    }
    return node;
  }

  /** A client that is connected to the node; it is closed with the node. */
  public EvenkeelClient client() {
    return node().client();
  }

  @Override
  public void beforeAll(ExtensionContext context) {
    classes++;
    start();
  }

  @Override
  public void beforeEach(ExtensionContext context) {
    if (classes == 0) {
      start();
    }
  }

  @Override
  public void afterEach(ExtensionContext context) {
    if (classes == 0) {
      stop();
    }
  }

  @Override
  public void afterAll(ExtensionContext context) {
    if (--classes == 0) {
      stop();
    }
  }

  private synchronized void start() {
    if (node == null) {
      node = EmbeddedNode.start(settings, users);
      topics.forEach(node::createTopic);
    }
  }

  private synchronized void stop() {
    EmbeddedNode last = node;
    node = null;
    if (last != null) {
      last.close();
    }
  }

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    return PARAMETERS.containsKey(parameter.getParameter().getType());
  }

  @Override
  public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
    EmbeddedNode now;
    synchronized (this) {
      now = node;
    }
    if (now == null) {
      throw new ParameterResolutionException(
          "the node has not started: an instance field gives its node to methods that run for each"
              + " test; make the field static for constructors and @BeforeAll");
    }
    return PARAMETERS.get(parameter.getParameter().getType()).apply(now);
  }
}
