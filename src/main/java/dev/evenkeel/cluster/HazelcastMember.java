package dev.evenkeel.cluster;

import com.hazelcast.cluster.Member;
import com.hazelcast.cluster.MembershipEvent;
import com.hazelcast.cluster.MembershipListener;
import com.hazelcast.config.TcpIpConfig;
import com.hazelcast.core.HazelcastInstance;
import com.hazelcast.core.HazelcastInstanceNotActiveException;
import com.hazelcast.core.LifecycleEvent.LifecycleState;
import com.hazelcast.partition.Partition;
import dev.evenkeel.protocol.HostPort;
import dev.evenkeel.util.Daemon;
import dev.evenkeel.util.MonotonicClock;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.internal.VertxInternal;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.function.IntSupplier;

/** A {@link ClusterMember} over a clustered Vert.x and the Hazelcast instance behind it. */
final class HazelcastMember implements ClusterMember {
  private static final long LOOK_MILLIS = 1_000;

  private final Vertx vertx;
  private final HazelcastInstance hazelcast;
  private final String id;
  private final boolean ours;
  private final HazelcastInstance own;
  private final HazelcastMaps maps;
  private final HazelcastAutomata dedup;
  private final List<Consumer<Change>> handlers = new CopyOnWriteArrayList<>();
  private final Promise<String> unfit = Promise.promise();
  private volatile boolean closing;

  /**
   * Blocks while Hazelcast makes the maps.
   *
   * @param ours whether {@link #close()} closes the Vert.x
   * @param own the instance that {@link #close()} shuts down, too; null: Vert.x does that
   */
  HazelcastMember(
      Vertx vertx, HazelcastInstance hazelcast, String id, boolean ours, HazelcastInstance own) {
    this.own = own;
    this.vertx = vertx;
    this.hazelcast = hazelcast;
    this.id = id;
    this.ours = ours;
    maps = new HazelcastMaps(vertx, hazelcast);
    dedup = HazelcastAutomata.join(vertx, hazelcast, id);
    UUID membership = hazelcast.getCluster().addMembershipListener(new Listener());
    UUID lifecycle =
        hazelcast
            .getLifecycleService()
            .addLifecycleListener(
                event -> {
                  LifecycleState state = event.getState();
                  if (state == LifecycleState.SHUTDOWN) {
                    HazelcastAutomata.leave(id);
                  }
                  if (state == LifecycleState.SHUTDOWN || state == LifecycleState.MERGE_FAILED) {
                    announce(new Change(id, true, 0));
                  }
                });
    if (!ours) {
      ((VertxInternal) vertx)
          .addCloseHook(
              closing -> {
                forget(membership, lifecycle);
                closing.succeed();
              });
    }
  }

  /**
   * The Vert.x of an application closes. The Hazelcast instance may be the application's, too, and
   * outlive it.
   */
  private void forget(UUID membership, UUID lifecycle) {
    HazelcastAutomata.forget(dedup);
    try {
      hazelcast.getCluster().removeMembershipListener(membership);
      hazelcast.getLifecycleService().removeLifecycleListener(lifecycle);
    } catch (HazelcastInstanceNotActiveException e) {
      // Its listeners have ended with it.
    }
  }

  /**
   * Begins to check once a second whether all partitions have owners. If partitions stay without
   * owners, it ends this member.
   */
  HazelcastMember watched(PartitionWatch watch) {
    vertx.setPeriodic(LOOK_MILLIS, timer -> look(timer, watch));
    return this;
  }

  private void look(long timer, PartitionWatch watch) {
    if (!hazelcast.getLifecycleService().isRunning()) {
      vertx.cancelTimer(timer);
      if (!closing) {
        unfit.tryComplete("its member of the shared maps has ended");
      }
      return;
    }
    if (watch.mayLook(MonotonicClock.millis())) {
      vertx
          .executeBlocking(this::complete, false)
          .onComplete(
              complete -> {
                watch.looked(complete.succeeded() ? complete.result() : null);
                judge(timer, watch);
              });
    } else {
      judge(timer, watch);
    }
  }

  private void judge(long timer, PartitionWatch watch) {
    if (watch.stuck(oldest(), MonotonicClock.millis()) && vertx.cancelTimer(timer)) {
      end("parts of the shared maps had no owner for long");
    }
  }

  /** Whether every partition has an owner. */
  private boolean complete() {
    for (Partition partition : hazelcast.getPartitionService().getPartitions()) {
      if (partition.getOwner() == null) {
        return false;
      }
    }
    return true;
  }

  private boolean oldest() {
    Collection<Member> members = hazelcastMembers();
    return !members.isEmpty() && members.iterator().next().localMember();
  }

  /**
   * Terminates this member. Calls that wait for the maps fail, and the others see it leave at once.
   */
  private void end(String why) {
    Daemon.start(
        "evenkeel-member-end",
        () -> {
          hazelcast.getLifecycleService().terminate();
          unfit.tryComplete(why);
        });
  }

  @Override
  public Future<String> unfit() {
    return unfit.future();
  }

  @Override
  public Vertx vertx() {
    return vertx;
  }

  @Override
  public String id() {
    return id;
  }

  @Override
  public Set<String> members() {
    return NodeList.of(hazelcastMembers()).ids();
  }

  @Override
  public String nodeOf(String member) {
    return NodeList.of(hazelcastMembers()).idOfNode().entrySet().stream()
        .filter(each -> each.getValue().equals(member))
        .map(Map.Entry::getKey)
        .findFirst()
        .orElse(null);
  }

  @Override
  public Set<String> nodes() {
    NodeList list = NodeList.of(hazelcastMembers());
    return list.allNamed() ? list.idOfNode().keySet() : null;
  }

  @Override
  public int dataMembers() {
    return dataMembers(hazelcastMembers());
  }

  @Override
  public void voters(IntSupplier voters) {
    dedup.voters(voters);
  }

  private Collection<Member> hazelcastMembers() {
    try {
      return hazelcast.getCluster().getMembers();
    } catch (HazelcastInstanceNotActiveException e) {
      return List.of();
    }
  }

  private static int dataMembers(Collection<Member> members) {
    return (int) members.stream().filter(member -> !member.isLiteMember()).count();
  }

  /** Hazelcast looks there whenever it joins. */
  @Override
  public void know(HostPort node) {
    TcpIpConfig join = hazelcast.getConfig().getAdvancedNetworkConfig().getJoin().getTcpIpConfig();
    String address = node.hazelcast().toString();
    if (!join.getMembers().contains(address)) {
      List<String> members = new ArrayList<>(join.getMembers());
      members.add(address);
      join.setMembers(members);
    }
  }

  @Override
  public void onChange(Consumer<Change> handler) {
    handlers.add(handler);
  }

  @Override
  public void offChange(Consumer<Change> handler) {
    handlers.remove(handler);
  }

  private void announce(Change change) {
    handlers.forEach(handler -> handler.accept(change));
  }

  @Override
  public SharedTable registry() {
    return maps.registry();
  }

  @Override
  public SharedTable ownership() {
    return maps.ownership();
  }

  @Override
  public SharedTable dedupKeys() {
    return maps.dedupKeys();
  }

  @Override
  public ClusterAutomata dedup() {
    return dedup;
  }

  @Override
  public Future<Void> close() {
    closing = true;
    handlers.clear();
    maps.close();
    if (ours) {
      HazelcastAutomata.leave(id);
    }
    Future<Void> closed = ours ? vertx.close() : Future.succeededFuture();
    return own == null ? closed : closed.eventually(this::shutDown);
  }

  /** Vert.x has ended by then, and with it the threads that it would give for this. */
  private Future<Void> shutDown() {
    Promise<Void> promise = Promise.promise();
    Daemon.start(
        "evenkeel-member-close",
        () -> {
          own.shutdown();
          promise.complete();
        });
    return promise.future();
  }

  private final class Listener implements MembershipListener {
    @Override
    public void memberAdded(MembershipEvent event) {
      changed(event, false);
    }

    @Override
    public void memberRemoved(MembershipEvent event) {
      changed(event, true);
    }

    private void changed(MembershipEvent event, boolean left) {
      String member = event.getMember().getAttribute(NodeList.ID);
      announce(new Change(member, left, dataMembers(event.getMembers())));
    }
  }
}
