package dev.evenkeel.cluster;

import com.hazelcast.cluster.MembershipEvent;
import com.hazelcast.config.Config;
import com.hazelcast.core.HazelcastInstance;
import com.hazelcast.core.HazelcastInstanceNotActiveException;
import com.hazelcast.core.LifecycleEvent;
import dev.evenkeel.protocol.HostPort;
import dev.evenkeel.util.Daemon;
import io.netty.channel.ConnectTimeoutException;
import io.vertx.core.Completable;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.eventbus.ReplyException;
import io.vertx.core.eventbus.ReplyFailure;
import io.vertx.core.net.NetClient;
import io.vertx.core.net.NetClientOptions;
import io.vertx.core.spi.cluster.NodeInfo;
import io.vertx.core.spi.cluster.RegistrationInfo;
import io.vertx.core.spi.cluster.RegistrationListener;
import io.vertx.core.spi.cluster.RegistrationUpdateEvent;
import io.vertx.spi.cluster.hazelcast.HazelcastClusterManager;
import java.net.ConnectException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;

/**
 * The cluster manager of nodes. Nodes reach each other by what the member list says: which nodes
 * there are, where their event bus listens, and so who serves the addresses of a node (see {@link
 * NodeAddresses}). When the list is right, the links are right, whatever a merge of two parts did
 * to the shared maps, and also while the maps answer nothing.
 *
 * <p>Only what the list cannot say is in the maps of vertx-hazelcast: where applications with a
 * Vert.x of their own and nodes of former versions listen, and the addresses of members and
 * sessions. Of these, an entry of somebody who is not in the list does not count. {@link
 * MapRegistrations} keeps the maps right.
 *
 * <p>Vert.x remembers where it has found an address. Whenever the list has changed, this makes it
 * forget all that.
 */
final class MemberListManager extends HazelcastClusterManager {
  private static final long LOOK_MILLIS = 1_000;
  private static final int CONNECT_MILLIS_MAX = 2_000;

  private final NodeAddresses addresses;
  private final Vacancies vacancies;
  private final MapRegistrations maps = new MapRegistrations();

  /** What vertx-hazelcast does with its maps when a member leaves. That may wait for the maps. */
  private final ExecutorService cleaning =
      Daemon.pool("evenkeel-registrations", 1, 10, new LinkedBlockingQueue<>());

  /** What Vert.x may remember. */
  private final AskedAddresses asked = new AskedAddresses();

  /** Where the event bus of other members listens, which no id ever changes. From the maps. */
  private final Map<String, NodeInfo> found = new ConcurrentHashMap<>();

  private RegistrationListener listener;

  /** The list that Vert.x heard of last. Guarded by this object's lock {@code looked}. */
  private NodeList known;

  private final Object looked = new Object();
  private Vertx vertx;

  /** Null after the end. */
  private volatile NetClient knocking;

  /** Without TLS: Vert.x makes the instance. */
  MemberListManager(Config config, NodeAddresses addresses) {
    super(config);
    this.addresses = addresses;
    vacancies = new Vacancies(addresses.own());
  }

  /** On an instance that is there. */
  MemberListManager(HazelcastInstance hazelcast, NodeAddresses addresses) {
    super(hazelcast);
    this.addresses = addresses;
    vacancies = new Vacancies(addresses.own());
  }

  @Override
  public void init(Vertx vertx) {
    super.init(vertx);
    this.vertx = vertx;
    knocking = vertx.createNetClient(new NetClientOptions().setConnectTimeout(CONNECT_MILLIS_MAX));
  }

  /**
   * The client is closed and forgotten: a client that somebody still holds keeps Vert.x and
   * everything of it in the memory, for the day when the client itself is collected.
   */
  @Override
  public void leave(Completable<Void> promise) {
    NetClient client = knocking;
    knocking = null;
    if (client != null) {
      client.close();
    }
    super.leave(promise);
  }

  /** Call it once, when Vert.x has started. */
  void begin() {
    vacancies.begin(vertx);
    maps.begin(vertx, getHazelcastInstance());
    vertx.setPeriodic(LOOK_MILLIS, timer -> look());
  }

  private NodeList now() {
    try {
      return NodeList.of(getHazelcastInstance().getCluster().getMembers());
    } catch (HazelcastInstanceNotActiveException e) {
      return NodeList.of(List.of());
    }
  }

  /** Makes Vert.x forget where it has found addresses if the list has changed. Never blocks. */
  private void look() {
    NodeList list = now();
    synchronized (looked) {
      if (!list.equals(known)) {
        known = list;
        asked.listChanged();
      }
      found.keySet().retainAll(list.ids());
      asked.forgetOutdated(listener);
    }
  }

  // Where nodes listen

  @Override
  public void setNodeInfo(NodeInfo info, Completable<Void> promise) {
    maps.node(info);
    if (addresses.node() == null) {
      super.setNodeInfo(info, promise);
    } else {
      super.setNodeInfo(info, (done, failure) -> {});
      promise.succeed();
    }
  }

  @Override
  public NodeInfo getNodeInfo() {
    return maps.node();
  }

  /**
   * Looks whether somebody listens there, and fails with a {@link ReplyException} if not:
   * NO_HANDLERS if there is no such member or the connection is refused, else TIMEOUT. Vert.x hands
   * this failure to the requests that wait for the connection. After a failure of another kind,
   * which is what it makes of a connection that fails later, they would wait for their whole
   * deadline.
   */
  @Override
  public void getNodeInfo(String id, Completable<NodeInfo> promise) {
    NodeList list = now();
    NodeInfo listed = list.infoOfId().getOrDefault(id, found.get(id));
    Future<NodeInfo> info;
    if (listed != null) {
      info = Future.succeededFuture(listed);
    } else if (list.ids().contains(id)) {
      info =
          Future.<NodeInfo>future(asking -> super.getNodeInfo(id, asking))
              .onSuccess(read -> found.put(id, read));
    } else {
      info =
          Future.failedFuture(
              new ReplyException(
                  ReplyFailure.NO_HANDLERS, "the member '" + id + "' is not in the cluster"));
    }
    info.compose(this::knock).onComplete(promise);
  }

  private Future<NodeInfo> knock(NodeInfo info) {
    NetClient client = knocking;
    if (client == null) {
      return Future.failedFuture(
          new ReplyException(ReplyFailure.NO_HANDLERS, "this node has left the cluster"));
    }
    return client
        .connect(info.port(), info.host())
        .compose(socket -> socket.close().otherwiseEmpty().map(info))
        .recover(
            failure ->
                Future.failedFuture(
                    new ReplyException(
                        isRefused(failure) ? ReplyFailure.NO_HANDLERS : ReplyFailure.TIMEOUT,
                        "no connection to %s: %s"
                            .formatted(
                                new HostPort(info.host(), info.port()), failure.getMessage()))));
  }

  private static boolean isRefused(Throwable failure) {
    return failure instanceof ConnectException && !(failure instanceof ConnectTimeoutException);
  }

  // Who serves which address

  @Override
  public void registrationListener(RegistrationListener listener) {
    this.listener = listener;
    super.registrationListener(new OfMaps());
  }

  /** What vertx-hazelcast finds in the maps when an entry of an address has changed. */
  private final class OfMaps implements RegistrationListener {
    @Override
    public boolean wantsUpdatesFor(String address) {
      return listener.wantsUpdatesFor(address) && byList(address, now()) == null;
    }

    @Override
    public void registrationsUpdated(RegistrationUpdateEvent event) {
      NodeList list = now();
      listener.registrationsUpdated(
          new RegistrationUpdateEvent(
              event.address(), counting(event.address(), event.registrations(), list)));
      if (!now().equals(list)) {
        AskedAddresses.forget(listener, event.address());
      }
    }

    @Override
    public void registrationsLost() {
      asked.listChanged();
      look();
      listener.registrationsLost();
    }
  }

  @Override
  public void getRegistrations(String address, Completable<List<RegistrationInfo>> promise) {
    long number = asked.add(address);
    NodeList list = now();
    List<RegistrationInfo> listed = byList(address, list);
    if (listed != null) {
      promise.succeed(listed);
      return;
    }
    Future.<List<RegistrationInfo>>future(reading -> super.getRegistrations(address, reading))
        .recover(
            failure ->
                addresses.everyNode().test(address)
                    ? Future.succeededFuture(List.of())
                    : Future.failedFuture(failure))
        .onComplete(
            read -> {
              if (number != asked.number()) {
                // Who waits for this answer would be sent to where somebody was.
                getRegistrations(address, promise);
              } else if (read.succeeded()) {
                promise.succeed(counting(address, read.result(), now()));
              } else {
                promise.fail(read.cause());
              }
            });
  }

  /** Null: the list does not say it. */
  private List<RegistrationInfo> byList(String address, NodeList list) {
    String node = addresses.nodeOf().apply(address);
    if (node == null) {
      return null;
    }
    String id = list.idOfNode().get(node);
    if (id != null) {
      return List.of(new RegistrationInfo(id, 0, false));
    }
    return list.allNamed() ? List.of() : null;
  }

  /** Those of the registrations that count, and the nodes that the address is for anyway. */
  private List<RegistrationInfo> counting(
      String address, List<RegistrationInfo> read, NodeList list) {
    List<RegistrationInfo> counting = new ArrayList<>(read);
    counting.removeIf(each -> !each.localOnly() && !list.ids().contains(each.nodeId()));
    if (addresses.everyNode().test(address)) {
      counting.removeIf(each -> list.infoOfId().containsKey(each.nodeId()));
      list.infoOfId().keySet().forEach(id -> counting.add(new RegistrationInfo(id, 0, false)));
    }
    return counting;
  }

  @Override
  public void addRegistration(
      String address, RegistrationInfo registration, Completable<Void> promise) {
    if (vacancies.added(address, registration)) {
      promise.succeed();
      return;
    }
    maps.added(address, registration);
    boolean listed = addresses.own().contains(address);
    super.addRegistration(address, registration, listed ? (done, failure) -> {} : promise);
    if (listed) {
      promise.succeed();
    }
  }

  @Override
  public void removeRegistration(
      String address, RegistrationInfo registration, Completable<Void> promise) {
    if (vacancies.removed(address, registration)) {
      promise.succeed();
      return;
    }
    maps.removed(address, registration);
    super.removeRegistration(address, registration, promise);
  }

  // Changes

  @Override
  public void memberAdded(MembershipEvent event) {
    maps.membersChanged();
    look();
  }

  @Override
  public void memberRemoved(MembershipEvent event) {
    maps.membersChanged();
    look();
    cleaning.execute(() -> super.memberRemoved(event));
  }

  @Override
  public void stateChanged(LifecycleEvent event) {
    if (event.getState() == LifecycleEvent.LifecycleState.MERGED) {
      maps.membersChanged();
      asked.listChanged();
      look();
    }
    cleaning.execute(() -> super.stateChanged(event));
  }
}
