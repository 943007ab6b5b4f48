package dev.evenkeel.model;

import dev.evenkeel.Evenkeel;
import dev.evenkeel.Futures;
import dev.evenkeel.client.EvenkeelClient;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.testkit.EmbeddedNode;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.awaitility.Awaitility;

/** A node in this JVM. */
final class OneNode implements Place {
  /** From one restart to the next: it happens to all that are played at the time. */
  private static final long CALM_NANOS = TimeUnit.SECONDS.toNanos(30);

  private final EmbeddedNode node = EmbeddedNode.start();
  private final Vertx vertx = Vertx.vertx();
  private final AtomicInteger shocks = new AtomicInteger();
  private final List<Step> done = new CopyOnWriteArrayList<>();
  private final EvenkeelClient second;
  private long calmUntilNanos = System.nanoTime();

  OneNode() {
    second = Futures.await(Evenkeel.connect(node.clientOptions()));
  }

  @Override
  public EvenkeelClient client(int which) {
    return which % 2 == 0 ? node.client() : second;
  }

  @Override
  public Future<EvenkeelClient> connect(Vertx own) {
    return Evenkeel.connect(own, node.clientOptions());
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
    for (EvenkeelClient each : List.of(client(0), client(1))) {
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
    Futures.await(second.close());
    node.close();
    Futures.await(vertx.close());
  }
}
