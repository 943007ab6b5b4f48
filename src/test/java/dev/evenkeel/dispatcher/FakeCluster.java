package dev.evenkeel.dispatcher;

import dev.evenkeel.cluster.ClusterAutomata;
import dev.evenkeel.cluster.ClusterMember;
import dev.evenkeel.cluster.SharedTable;
import dev.evenkeel.dedup.Claim;
import dev.evenkeel.dedup.DedupKey;
import dev.evenkeel.dedup.Step;
import dev.evenkeel.dedup.StepReply;
import dev.evenkeel.log.Elections;
import dev.evenkeel.log.Eligibility;
import dev.evenkeel.log.Leadership;
import dev.evenkeel.log.LogCopy;
import dev.evenkeel.log.LogGroup;
import dev.evenkeel.log.LogNode;
import dev.evenkeel.log.LogSettings;
import dev.evenkeel.log.LogStatus;
import dev.evenkeel.log.Replicas;
import dev.evenkeel.log.Voters;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;

/** A cluster of one node and any clients, in memory. */
final class FakeCluster implements ClusterMember {
  private final Automata dedup = new Automata();
  private final Vertx vertx;
  private final Set<String> members = ConcurrentHashMap.newKeySet();
  private final List<Consumer<Change>> handlers = new CopyOnWriteArrayList<>();
  private final Table registry = new Table();
  private final Table ownership = new Table();

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
  public ClusterAutomata dedup() {
    return dedup;
  }

  /** Who was alive at the last sweep, or null before the first. */
  Set<String> sweptLast() {
    return dedup.alive;
  }

  /** Whose claims are in the map. */
  Set<String> claimants() {
    return dedup.claimants;
  }

  private static final class Automata implements ClusterAutomata {
    final Set<String> claimants = ConcurrentHashMap.newKeySet();
    volatile Set<String> alive;

    @Override
    public String member() {
      return "n1";
    }

    @Override
    public int listen(Turns turns) {
      throw new UnsupportedOperationException();
    }

    @Override
    public void forget(int number) {
      throw new UnsupportedOperationException();
    }

    @Override
    public long nowMillis() {
      throw new UnsupportedOperationException();
    }

    @Override
    public CompletionStage<StepReply> step(Step step) {
      throw new UnsupportedOperationException();
    }

    @Override
    public void tell(DedupKey key, Claim head) {
      throw new UnsupportedOperationException();
    }

    @Override
    public CompletionStage<Sweep> sweep(Set<String> living, Set<String> ended) {
      alive = Set.copyOf(living);
      int before = claimants.size();
      claimants.removeAll(ended);
      Set<String> unknown = new HashSet<>(claimants);
      unknown.removeAll(living);
      return CompletableFuture.completedStage(new Sweep(before - claimants.size(), unknown));
    }
  }

  @Override
  public Future<Void> close() {
    return Future.succeededFuture();
  }

  /** A map that answers at once. */
  static final class Table implements SharedTable {
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
  static final class Node implements LogNode, Elections {
    private final List<Consumer<Leadership>> listeners = new CopyOnWriteArrayList<>();
    private volatile Leadership leadership = Leadership.UNKNOWN;

    int listeners() {
      return listeners.size();
    }

    void lead(Leadership next) {
      leadership = next;
      listeners.forEach(listener -> listener.accept(next));
    }

    @Override
    public String nodeId() {
      return "n1";
    }

    @Override
    public String clusterId() {
      return "cluster";
    }

    @Override
    public List<LogSettings.Peer> peers() {
      return List.of("n1", "n2").stream()
          .map(id -> new LogSettings.Peer(id, "localhost", 1))
          .toList();
    }

    @Override
    public void setPeers(List<LogSettings.Peer> peers) {
      throw new UnsupportedOperationException();
    }

    @Override
    public CompletableFuture<Void> dropCopy(LogGroup group, long above) {
      throw new UnsupportedOperationException();
    }

    @Override
    public void removed() {
      throw new UnsupportedOperationException();
    }

    @Override
    public int formedGroups() {
      return data().size();
    }

    @Override
    public void addGroup(List<String> founders) {
      throw new UnsupportedOperationException();
    }

    @Override
    public LogGroup meta() {
      return new LogGroup() {
        @Override
        public String name() {
          return META;
        }

        @Override
        public Elections elections() {
          return Node.this;
        }

        @Override
        public CompletableFuture<ByteBuffer> append(ByteBuffer head, List<ByteBuffer> body) {
          throw new UnsupportedOperationException();
        }

        @Override
        public CompletableFuture<Replicas> awaitReplicas(long index, long timeoutMillis) {
          throw new UnsupportedOperationException();
        }

        @Override
        public LogStatus status() {
          throw new UnsupportedOperationException();
        }

        @Override
        public Voters voters() {
          throw new UnsupportedOperationException();
        }

        @Override
        public LogCopy copy() {
          throw new UnsupportedOperationException();
        }
      };
    }

    @Override
    public Leadership leadership() {
      return leadership;
    }

    @Override
    public void onLeadership(Consumer<Leadership> listener) {
      listeners.add(listener);
    }

    @Override
    public void offLeadership(Consumer<Leadership> listener) {
      listeners.remove(listener);
    }

    @Override
    public Eligibility eligibility() {
      throw new UnsupportedOperationException();
    }

    @Override
    public CompletableFuture<Void> handLeadershipTo(String nodeId) {
      throw new UnsupportedOperationException();
    }

    @Override
    public List<LogGroup> data() {
      return List.of();
    }

    @Override
    public void close() {}
  }
}
