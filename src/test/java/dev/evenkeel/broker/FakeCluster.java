package dev.evenkeel.broker;

import static dev.evenkeel.Loops.times;

import dev.evenkeel.Unchecked;
import dev.evenkeel.log.Elections;
import dev.evenkeel.log.Eligibility;
import dev.evenkeel.log.EntryBodies;
import dev.evenkeel.log.EntryBody;
import dev.evenkeel.log.Follower;
import dev.evenkeel.log.Leadership;
import dev.evenkeel.log.LogCopy;
import dev.evenkeel.log.LogGroup;
import dev.evenkeel.log.LogNode;
import dev.evenkeel.log.LogSettings;
import dev.evenkeel.log.LogStatus;
import dev.evenkeel.log.Replicas;
import dev.evenkeel.log.ReplicatedState;
import dev.evenkeel.log.Voters;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Consumer;
import java.util.function.Function;

/** Logs in memory: an entry is applied on every node at once, and leaders are set by hand. */
public final class FakeCluster implements AutoCloseable {
  final List<String> nodes;
  private final Map<String, Group> groups = new LinkedHashMap<>();

  public FakeCluster(int dataGroups, String... nodes) {
    this.nodes = List.of(nodes);
    groups.put(LogNode.META, new Group(LogNode.META, nodes[0]));
    times(dataGroups, i -> groups.put("d" + i, new Group("d" + i, nodes[0])));
  }

  Group group(String name) {
    return groups.get(name);
  }

  public LogNode start(LogSettings settings, Function<String, ReplicatedState> states) {
    String nodeId = settings.nodeId();
    List<LogGroup> views = new ArrayList<>();
    groups.values().forEach(group -> views.add(group.join(nodeId, states.apply(group.name))));
    return new Node(nodeId, views);
  }

  /** After its nodes. */
  @Override
  public void close() {
    groups.values().forEach(group -> group.applying.shutdown());
  }

  /** An entry of a log. */
  record Logged(ByteBuffer head, List<ByteBuffer> body) {
    ByteBuffer applyTo(ReplicatedState state, long term, long index) {
      Unchecked.run(
          () -> {
            if (!body.isEmpty()) {
              state.bodies().append(List.of(new EntryBodies.Body(term, index, body)));
            }
          });
      EntryBody inMemory = body.isEmpty() ? EntryBody.NONE : new EntryBody(body);
      return state.apply(term, index, head.asReadOnlyBuffer(), inMemory);
    }
  }

  /** One log, shared by all nodes. */
  static final class Group {
    final String name;
    final List<Logged> entries = new CopyOnWriteArrayList<>();

    /** Completes when a node that lags has all entries; null: every node has an entry at once. */
    volatile CompletableFuture<Replicas> lagging;

    private final Map<String, ReplicatedState> states = new ConcurrentHashMap<>();
    private final List<Consumer<Leadership>> listeners = new CopyOnWriteArrayList<>();
    private final ExecutorService applying = Executors.newSingleThreadExecutor();
    private final List<Runnable> held = new ArrayList<>();
    private boolean holding;
    private volatile String leader;
    private volatile boolean ready = true;
    private volatile long term = 1;

    Group(String name, String leader) {
      this.name = name;
      this.leader = leader;
    }

    LogGroup join(String nodeId, ReplicatedState state) {
      Unchecked.run(
          () -> {
            if (state.bodies() != null) {
              state.bodies().open(-1);
            }
            state.open();
          });
      times(entries.size(), i -> entries.get(i).applyTo(state, 1, i));
      states.put(nodeId, state);
      return new View(nodeId);
    }

    void lead(String nodeId, boolean isReady) {
      leader = nodeId;
      ready = isReady;
      term++;
      listeners.forEach(listener -> listener.accept(Leadership.UNKNOWN));
    }

    /** From now on entries wait. */
    synchronized void hold() {
      holding = true;
    }

    synchronized void release() {
      holding = false;
      held.forEach(applying::execute);
      held.clear();
    }

    synchronized int held() {
      return held.size();
    }

    private synchronized void run(Runnable task) {
      if (holding) {
        held.add(task);
      } else {
        applying.execute(task);
      }
    }

    private final class View implements LogGroup, Elections, Voters, LogCopy {
      private final String nodeId;
      private final Eligibility eligibility = new Eligibility();

      View(String nodeId) {
        this.nodeId = nodeId;
      }

      @Override
      public String name() {
        return name;
      }

      @Override
      public Elections elections() {
        return this;
      }

      @Override
      public Voters voters() {
        return this;
      }

      @Override
      public LogCopy copy() {
        return this;
      }

      @Override
      public CompletableFuture<ByteBuffer> append(ByteBuffer head, List<ByteBuffer> body) {
        CompletableFuture<ByteBuffer> future = new CompletableFuture<>();
        if (!nodeId.equals(leader)) {
          future.completeExceptionally(
              new RefusedException(Refusal.NOT_LEADER, leader == null ? "" : leader));
          return future;
        }
        try {
          states.get(nodeId).admit(head.duplicate());
        } catch (RefusedException refused) {
          future.completeExceptionally(refused);
          return future;
        }
        run(() -> apply(new Logged(head, body), future));
        return future;
      }

      @Override
      public CompletableFuture<Replicas> awaitReplicas(long index, long timeoutMillis) {
        return lagging == null
            ? CompletableFuture.completedFuture(new Replicas(index, List.of()))
            : lagging.copy();
      }

      @Override
      public boolean caughtUp() {
        return true;
      }

      @Override
      public List<Follower> followers() {
        return List.of();
      }

      @Override
      public List<String> names() {
        return List.of();
      }

      @Override
      public CompletableFuture<Void> remove(String node, String except) {
        throw new UnsupportedOperationException();
      }

      @Override
      public CompletableFuture<Void> addListener(String listener) {
        throw new UnsupportedOperationException();
      }

      @Override
      public CompletableFuture<Void> add(String voter) {
        throw new UnsupportedOperationException();
      }

      private void apply(Logged entry, CompletableFuture<ByteBuffer> future) {
        try {
          entries.add(entry);
          ByteBuffer reply = null;
          for (Map.Entry<String, ReplicatedState> each : states.entrySet()) {
            ByteBuffer own = entry.applyTo(each.getValue(), term, entries.size() - 1);
            reply = each.getKey().equals(nodeId) ? own : reply;
          }
          future.complete(reply);
        } catch (RuntimeException e) {
          future.completeExceptionally(e);
        }
      }

      @Override
      public Leadership leadership() {
        return new Leadership(leader, term, ready && nodeId.equals(leader));
      }

      @Override
      public LogStatus status() {
        long last = entries.size() - 1;
        Map<String, Long> followers = new LinkedHashMap<>();
        if (nodeId.equals(leader)) {
          states.keySet().stream()
              .filter(other -> !other.equals(nodeId))
              .forEach(other -> followers.put(other, last));
        }
        return new LogStatus(name, leadership(), last, last, followers, 0, 0);
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
        return eligibility;
      }

      @Override
      public CompletableFuture<Void> handLeadershipTo(String other) {
        lead(other, true);
        return CompletableFuture.completedFuture(null);
      }

      @Override
      public CompletableFuture<Long> snapshot() {
        return CompletableFuture.completedFuture((long) entries.size() - 1);
      }
    }

    private void leave(String nodeId) {
      ReplicatedState state = states.remove(nodeId);
      Unchecked.run(
          () -> {
            if (state != null) {
              state.close();
            }
          });
    }
  }

  private final class Node implements LogNode {
    private final String nodeId;
    private final List<LogGroup> views;

    Node(String nodeId, List<LogGroup> views) {
      this.nodeId = nodeId;
      this.views = views;
    }

    @Override
    public String nodeId() {
      return nodeId;
    }

    @Override
    public String clusterId() {
      return "fake";
    }

    @Override
    public List<LogSettings.Peer> peers() {
      return nodes.stream().map(id -> new LogSettings.Peer(id, "localhost", 1)).toList();
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
      return views.get(0);
    }

    @Override
    public List<LogGroup> data() {
      return views.subList(1, views.size());
    }

    @Override
    public void close() {
      groups.values().forEach(group -> group.leave(nodeId));
    }
  }
}
