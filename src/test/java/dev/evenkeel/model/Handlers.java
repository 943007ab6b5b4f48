package dev.evenkeel.model;

import dev.evenkeel.client.BatchHandler;
import dev.evenkeel.client.ConsumerHandler;
import dev.evenkeel.client.ContextHandler;
import dev.evenkeel.client.Delivery;
import dev.evenkeel.client.LeaderCareer;
import dev.evenkeel.client.LeaderContext;
import dev.evenkeel.client.MessageContext;
import dev.evenkeel.client.ParentState;
import dev.evenkeel.client.ShardContext;
import dev.evenkeel.model.UserModel.Group;
import dev.evenkeel.model.UserModel.Sent;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/** The handlers of a group: they tell the model what they get, and fail where they are to. */
final class Handlers {
  /** What the error of a message says that is to fail. */
  static final String MEANT = "meant to fail";

  /** How many handlers of a member run at most, as the options say if they say nothing. */
  private static final int PARALLEL = 16;

  /** What a message passes through between begin and end. */
  interface Work {
    /** Begins; null: nothing can be done with it. */
    Boolean begins(Group group, Delivery delivery);

    /** Completes when the work is done; fails if the member dies of it. */
    Future<Void> passes(int id);
  }

  private final UserModel model;
  private final Group group;
  private final Work work;

  /** Where handlers publish to. */
  private final String outputs;

  /** How many handlers run, and how many have ended well. */
  private final AtomicInteger running = new AtomicInteger();

  private final AtomicInteger well = new AtomicInteger();
  private volatile boolean closed;

  Handlers(UserModel model, Group group, Work work, String outputs) {
    this.model = model;
    this.group = group;
    this.work = work;
    this.outputs = outputs;
  }

  /** A handler for a member. */
  ConsumerHandler handler() {
    return switch (group.kind.handling()) {
      case BATCHES -> new Batches();
      case STATE -> new Keeper();
      case EXACT_STATE, COMMITTED_STATE -> new ExactKeeper();
      case OUTPUTS, EXACT_OUTPUTS -> new Publisher();
      default -> new Single();
    };
  }

  LeaderCareer career() {
    return new LeaderCareer() {
      @Override
      public Future<Void> inaugurate(LeaderContext context) {
        model.leads(group, context.member(), context.term());
        return Future.succeededFuture();
      }

      @Override
      public Future<Void> execute(Delivery message) {
        model.executes(group, message.member());
        return Handlers.this.handle(message);
      }

      @Override
      public void lost(LeaderContext context) {
        model.hasLed(group, context.member());
      }

      @Override
      public Future<Void> handOver(LeaderContext context) {
        model.hasLed(group, context.member());
        return Future.succeededFuture();
      }
    };
  }

  private Future<Void> handle(Delivery delivery) {
    int id = Content.id(delivery.message());
    if (closed) {
      model.fault(Promise.CLOSED, group + " got " + model.sent(id) + " after it was closed");
    }
    // A batch counts as one.
    boolean batches = group.kind.handling() == Kind.Handling.BATCHES;
    if (running.incrementAndGet() > PARALLEL && !batches) {
      model.fault(Promise.PARALLEL, group + " runs " + running + " handlers in one member");
    }
    Boolean goesWell = work.begins(group, delivery);
    return work.passes(id)
        .onFailure(
            died -> {
              running.decrementAndGet();
              model.ends(group, delivery.member(), id, false);
            })
        .compose(
            passed -> {
              running.decrementAndGet();
              if (goesWell == null) {
                return Future.succeededFuture();
              }
              model.ends(group, delivery.member(), id, goesWell);
              well.addAndGet(goesWell ? 1 : 0);
              return goesWell ? Future.succeededFuture() : Future.failedFuture(MEANT);
            });
  }

  /** The member has left. */
  void closed() {
    closed = true;
    if (running.get() > 0 && !group.shaken) {
      model.fault(Promise.CLOSED, group + ": a member has left while " + running + " run");
    }
  }

  /** How many messages the member has finished. */
  int well() {
    return well.get();
  }

  /** Takes one message at a time. */
  private class Single implements ConsumerHandler {
    @Override
    public Future<Void> handle(Delivery delivery) {
      return Handlers.this.handle(delivery);
    }

    @Override
    public void onDeclined(Delivery delivery) {
      model.declined(group, Content.id(delivery.message()));
    }

    @Override
    public void onDropped(Delivery delivery) {
      model.declined(group, Content.id(delivery.message()));
    }
  }

  /** Takes batches; one that has a message that fails, fails whole. */
  private final class Batches extends Single implements BatchHandler {
    @Override
    public Future<Void> handleBatch(List<Delivery> batch) {
      if (batch.isEmpty() || batch.size() > Kind.BATCH_MESSAGES) {
        model.fault(Promise.BATCH, group + " got a batch of " + batch.size());
      }
      for (Delivery each : batch) {
        Sent sent = model.sent(Content.id(each.message()));
        if (sent == null || sent.poison || sent.flaky) {
          return Future.failedFuture("each alone");
        }
      }
      // One after another: what follows begins when what is before it has ended.
      Future<Void> done = Future.succeededFuture();
      for (Delivery each : batch) {
        done = done.compose(before -> handle(each));
      }
      return done;
    }
  }

  /** Publishes what it gets. */
  private final class Publisher extends Single implements ContextHandler {
    @Override
    public Future<Void> handle(Delivery delivery, MessageContext context) {
      context.publish(outputs, delivery.message());
      return handle(delivery);
    }
  }

  /** Keeps the numbers that it has handled as state. */
  private class Keeper extends Single {
    final Map<String, Set<Integer>> states = new ConcurrentHashMap<>();

    @Override
    public Future<Void> onAssign(ShardContext shard, Buffer state) {
      Set<Integer> ids = ConcurrentHashMap.newKeySet();
      read(state, ids);
      put(shard, ids);
      return Future.succeededFuture();
    }

    private void put(ShardContext shard, Set<Integer> ids) {
      states.put(name(shard.topic(), shard.shard()), ids);
      model.owns(group, name(shard.topic(), shard.shard()), this, ids);
    }

    @Override
    public Future<Void> onAssignFromParents(ShardContext shard, List<ParentState> parents) {
      Set<Integer> ids = ConcurrentHashMap.newKeySet();
      parents.forEach(parent -> read(parent.state(), ids));
      put(shard, ids);
      return Future.succeededFuture();
    }

    @Override
    public boolean givesState() {
      return group.kind.givesState();
    }

    @Override
    public Future<Buffer> onRelease(ShardContext shard) {
      Set<Integer> ids = remove(shard);
      return Future.succeededFuture(givesState() ? written(ids) : null);
    }

    @Override
    public void onLost(ShardContext shard) {
      remove(shard);
    }

    private Set<Integer> remove(ShardContext shard) {
      String name = name(shard.topic(), shard.shard());
      model.releases(group, name, this);
      return states.remove(name);
    }

    @Override
    public Future<Void> handle(Delivery delivery) {
      return handleWith(states.get(name(delivery.topic(), delivery.shard())), delivery);
    }

    final Future<Void> handleWith(Set<Integer> ids, Delivery delivery) {
      int id = Content.id(delivery.message());
      if (ids == null) {
        model.fault(Promise.ASSIGNED_FIRST, group + ": before onAssign: " + delivery);
      } else if (ids.contains(id)) {
        model.fault(Promise.STATE_IS_EXACT, group + ": in its state already: " + model.sent(id));
      }
      return Handlers.this
          .handle(delivery)
          .onSuccess(
              done -> {
                if (ids != null) {
                  ids.add(id);
                  model.kept(group, name(delivery.topic(), delivery.shard()), this, ids);
                }
              });
    }
  }

  /** Commits the state with each message. */
  private final class ExactKeeper extends Keeper implements ContextHandler {
    @Override
    public Future<Void> handle(Delivery delivery, MessageContext context) {
      Set<Integer> ids = states.get(name(delivery.topic(), delivery.shard()));
      return handleWith(ids, delivery)
          .onSuccess(
              done -> {
                if (ids != null) {
                  context.commit(written(ids));
                }
              });
    }
  }

  static String name(String topic, int shard) {
    return topic + "/" + shard;
  }

  private static void read(Buffer state, Set<Integer> ids) {
    for (int at = 0; state != null && at < state.length(); at += Integer.BYTES) {
      ids.add(state.getInt(at));
    }
  }

  private static Buffer written(Set<Integer> ids) {
    Buffer state = Buffer.buffer();
    if (ids != null) {
      ids.forEach(state::appendInt);
    }
    return state;
  }
}
