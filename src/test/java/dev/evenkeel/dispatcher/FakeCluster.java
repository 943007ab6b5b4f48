package dev.evenkeel.dispatcher;

import dev.evenkeel.Partial;
import dev.evenkeel.cluster.ClusterAutomata;
import dev.evenkeel.cluster.ClusterMember;
import dev.evenkeel.cluster.SharedTable;
import dev.evenkeel.dedup.KeyInFlight;
import dev.evenkeel.log.Elections;
import dev.evenkeel.log.Leadership;
import dev.evenkeel.log.LogGroup;
import dev.evenkeel.log.LogNode;
import dev.evenkeel.log.LogSettings;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.Stream;

/** A cluster of one node and any clients, in memory. */
final class FakeCluster implements ClusterMember {
  private final Automata dedup = new Automata();
  private final Vertx vertx;
  private final Set<String> members = ConcurrentHashMap.newKeySet();
  private final List<Consumer<Change>> handlers = new CopyOnWriteArrayList<>();
  private final Table registry = new Table();
  private final Table ownership = new Table();
  private final Table dedupKeys = new Table();

  public FakeCluster(Vertx vertx) {
    this.vertx = vertx;
    members.add("node");
  }

  @Override
  public Vertx vertx() {
    return vertx;
  }

  @Override
  public String id() {
    return "node";
  }

  @Override
  public Set<String> members() {
    return Set.copyOf(members);
  }

  /** No node is ever down and missing. */
  @Override
  public Set<String> nodes() {
    return Set.of();
  }

  @Override
  public int dataMembers() {
    return 1;
  }

  @Override
  public void onChange(Consumer<Change> handler) {
    handlers.add(handler);
  }

  @Override
  public void offChange(Consumer<Change> handler) {
    handlers.remove(handler);
  }

  int handlers() {
    return handlers.size();
  }

  void came(String member) {
    members.add(member);
    handlers.forEach(handler -> handler.accept(new Change(member, false, 1)));
  }

  void left(String member) {
    members.remove(member);
    handlers.forEach(handler -> handler.accept(new Change(member, true, 1)));
  }

  @Override
  public SharedTable registry() {
    return registry;
  }

  @Override
  public SharedTable ownership() {
    return ownership;
  }

  @Override
  public SharedTable dedupKeys() {
    return dedupKeys;
  }

  /** The keys that are held for long. */
  void held(List<KeyInFlight> keys) {
    dedup.held = keys;
  }

  /** How often it was swept, and how often it was asked for these keys. */
  int sweeps() {
    return dedup.sweeps.get();
  }

  int looks() {
    return dedup.looks.get();
  }

  @Override
  public ClusterAutomata dedup() {
    return Partial.of(ClusterAutomata.class, dedup);
  }

  /** Who was alive at the last sweep, or null before the first. */
  Set<String> sweptLast() {
    return dedup.alive;
  }

  /** Whose claims are in the map. */
  Set<String> claimants() {
    return dedup.claimants;
  }

  /** Whose claims of services are in the map. */
  Set<String> serviceClaimants() {
    return dedup.serviceClaimants;
  }

  private static final class Automata {
    final Set<String> claimants = ConcurrentHashMap.newKeySet();
    final Set<String> serviceClaimants = ConcurrentHashMap.newKeySet();
    volatile Set<String> alive;
    final AtomicInteger sweeps = new AtomicInteger();
    final AtomicInteger looks = new AtomicInteger();
    volatile List<KeyInFlight> held = List.of();

    CompletionStage<List<KeyInFlight>> heldFor(long heldMillisMin) {
      looks.incrementAndGet();
      return CompletableFuture.completedStage(held);
    }

    String member() {
      return "n1";
    }

    long nowMillis() {
      return System.currentTimeMillis();
    }

    CompletionStage<ClusterAutomata.Sweep> sweep(
        Set<String> living, Set<String> ended, Set<String> services, long placedMillisMax) {
      sweeps.incrementAndGet();
      alive = Set.copyOf(living);
      int before = claimants.size() + serviceClaimants.size();
      claimants.removeAll(ended);
      serviceClaimants.removeAll(services);
      Set<String> unknown = new HashSet<>(claimants);
      unknown.addAll(serviceClaimants);
      unknown.removeAll(living);
      return CompletableFuture.completedStage(
          new ClusterAutomata.Sweep(
              before - claimants.size() - serviceClaimants.size(),
              unknown,
              before > 0 || !held.isEmpty()));
    }
  }

  @Override
  public Future<Void> close() {
    return Future.succeededFuture();
  }

  /** A map that answers at once. */
  static class Table implements SharedTable {
    final Map<String, JsonObject> entries = new ConcurrentHashMap<>();

    @Override
    public Future<Void> put(String key, JsonObject value) {
      entries.put(key, value);
      return Future.succeededFuture();
    }

    @Override
    public Future<Void> remove(String key) {
      entries.remove(key);
      return Future.succeededFuture();
    }

    @Override
    public Future<Map<String, JsonObject>> all() {
      return Future.succeededFuture(new HashMap<>(entries));
    }

    @Override
    public Future<Void> clear() {
      entries.clear();
      return Future.succeededFuture();
    }
  }

  /** A node whose meta leadership can be set. */
  static final class Node {
    private final List<Consumer<Leadership>> listeners = new CopyOnWriteArrayList<>();
    private volatile Leadership leadership = Leadership.UNKNOWN;

    int listeners() {
      return listeners.size();
    }

    void lead(Leadership next) {
      leadership = next;
      listeners.forEach(listener -> listener.accept(next));
    }

    LogNode log() {
      return Partial.of(LogNode.class, this);
    }

    String nodeId() {
      return "n1";
    }

    String clusterId() {
      return "cluster";
    }

    List<LogSettings.Peer> peers() {
      return Stream.of("n1", "n2").map(id -> new LogSettings.Peer(id, "localhost", 1)).toList();
    }

    int formedGroups() {
      return 0;
    }

    List<LogGroup> data() {
      return List.of();
    }

    void close() {}

    LogGroup meta() {
      return Partial.of(LogGroup.class, new Meta());
    }

    private final class Meta {
      String name() {
        return LogNode.META;
      }

      Elections elections() {
        return Partial.of(Elections.class, this);
      }

      Leadership leadership() {
        return leadership;
      }

      void onLeadership(Consumer<Leadership> listener) {
        listeners.add(listener);
      }

      void offLeadership(Consumer<Leadership> listener) {
        listeners.remove(listener);
      }
    }
  }
}
