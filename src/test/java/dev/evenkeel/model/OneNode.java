package dev.evenkeel.model;

import dev.evenkeel.Evenkeel;
import dev.evenkeel.Futures;
import dev.evenkeel.TestUsers;
import dev.evenkeel.client.ClientOptions;
import dev.evenkeel.client.EvenkeelClient;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.testkit.EmbeddedNode;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.awaitility.Awaitility;

/** A node in this JVM. If it has users, every other connection belongs to a second one. */
final class OneNode implements Place {
  /** From one restart to the next: it happens to all that are played at the time. */
  private static final long CALM_NANOS = TimeUnit.SECONDS.toNanos(30);

  private static final String FIRST = "first";
  private static final String SECOND = "second";

  private final EmbeddedNode node;

  /** It has two, who may do the same. */
  private final boolean hasUsers;

  private final Vertx vertx = Vertx.vertx();
  private final AtomicInteger shocks = new AtomicInteger();
  private final List<Step> done = new CopyOnWriteArrayList<>();
  private final List<EvenkeelClient> clients;
  private final AtomicInteger connected = new AtomicInteger();
  private long calmUntilNanos = System.nanoTime();

  OneNode(boolean hasUsers) {
    this.hasUsers = hasUsers;
    node =
        EmbeddedNode.start(
            Map.of(), hasUsers ? Map.of(FIRST, TestUsers.ALL, SECOND, TestUsers.ALL) : Map.of());
    clients =
        List.of(
            Futures.await(Evenkeel.connect(options(0))),
            Futures.await(Evenkeel.connect(options(1))));
  }

  private static String user(int which) {
    return which % 2 == 0 ? FIRST : SECOND;
  }

  private ClientOptions options(int which) {
    return hasUsers ? node.clientOptions(user(which)) : node.clientOptions();
  }

  @Override
  public EvenkeelClient client(int which) {
    return clients.get(which % 2);
  }

  @Override
  public Future<EvenkeelClient> connect(Vertx own) {
    return Evenkeel.connect(own, options(connected.getAndIncrement()));
  }

  @Override
  public Vertx bus() {
    return node.vertx();
  }

  @Override
  public boolean keepsMaps() {
    return false;
  }

  @Override
  public String http(int which) {
    return node.http();
  }

  @Override
  public String token(int which) {
    return hasUsers ? node.token(user(which)) : null;
  }

  @Override
  public Vertx vertx() {
    return vertx;
  }

  @Override
  public Set<Step> faults() {
    return EnumSet.of(Step.EXPIRE, Step.RESTART_NODE);
  }

  @Override
  public int many() {
    return 20;
  }

  /** It has a way to give members up, which need not stand still for that. */
  @Override
  public void standStill(int client, CountDownLatch until) {
    throw new UnsupportedOperationException();
  }

  @Override
  public boolean expire(String group, String member, Consumer<CountDownLatch> standsStill) {
    try {
      node.expireMember(group, member);
      return true;
    } catch (RefusedException notThere) {
      return false;
    }
  }

  @Override
  public boolean expiresAtOnce() {
    return true;
  }

  @Override
  public void awaitReady() {
    for (EvenkeelClient each : clients) {
      Awaitility.await("a client is connected again")
          .ignoreExceptions()
          .until(() -> Futures.await(each.admin().topics()) != null);
    }
  }

  @Override
  public synchronized boolean fault(Step step, int a, int b) {
    if (System.nanoTime() - calmUntilNanos < 0) {
      return false;
    }
    shocks.incrementAndGet();
    node.restart();
    awaitReady();
    done.add(step);
    shocks.incrementAndGet();
    calmUntilNanos = System.nanoTime() + CALM_NANOS;
    return true;
  }

  @Override
  public List<Step> faultsDone() {
    return done;
  }

  @Override
  public int shocks() {
    return shocks.get();
  }

  @Override
  public void close() {
    clients.forEach(client -> Futures.await(client.close()));
    node.close();
    Futures.await(vertx.close());
  }
}
