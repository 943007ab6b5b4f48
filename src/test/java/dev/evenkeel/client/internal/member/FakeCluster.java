package dev.evenkeel.client.internal.member;

import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.Assignment;
import dev.evenkeel.bus.ClusterView;
import dev.evenkeel.bus.FetchAnswer;
import dev.evenkeel.bus.FetchManyAnswer;
import dev.evenkeel.bus.FetchManyRequest;
import dev.evenkeel.bus.FetchRequest;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.bus.Link;
import dev.evenkeel.bus.VertxLink;
import dev.evenkeel.bus.Views;
import dev.evenkeel.dedup.State;
import dev.evenkeel.protocol.Commands;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Drain;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Outcome;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.StartAt;
import dev.evenkeel.protocol.TopicConfig;
import dev.evenkeel.protocol.TopicInfo;
import dev.evenkeel.protocol.wire.AppendBody;
import dev.evenkeel.protocol.wire.AppendResults;
import dev.evenkeel.protocol.wire.Batch;
import dev.evenkeel.protocol.wire.BatchBuilder;
import dev.evenkeel.protocol.wire.ByteReader;
import dev.evenkeel.protocol.wire.Bytes;
import dev.evenkeel.protocol.wire.CommandCodec;
import dev.evenkeel.protocol.wire.RecordCodec;
import dev.evenkeel.protocol.wire.ReplyCodec;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.UnaryOperator;

/**
 * One node's broker and dispatcher behind a link, in memory: topic "t" (number 1) with some shards
 * in two data groups, all led by node "n1". Methods may be called from any thread.
 */
public final class FakeCluster implements Link {
  private static final class Log {
    final List<FetchAnswer.Placed> batches = new ArrayList<>();
    final List<Runnable> waiters = new ArrayList<>();
    long start;
    long end;
  }

  private final Vertx vertx;
  private final int shards;
  private final Map<Shard, Log> logs = new HashMap<>();
  private final Map<Shard, Lease> leases = new LinkedHashMap<>();
  private final Map<String, Consumer<Buffer>> listeners = new HashMap<>();
  private final Map<String, Function<Buffer, Future<Buffer>>> servers = new HashMap<>();
  private final List<Consumer<State>> stateHandlers = new CopyOnWriteArrayList<>();
  private final List<Promise<Buffer>> inFlight = new ArrayList<>();
  private final List<Heartbeat> heartbeats = new ArrayList<>();
  private final List<DataCommand> commands = new ArrayList<>();
  private final List<AppendBody.Item> published = new ArrayList<>();
  private State state = State.CONNECTED;
  private boolean fromFollower;
  private Heartbeat member;
  private final List<TopicInfo> topics = new ArrayList<>();
  private long revision;
  private RefusedException heartbeatRefusal;
  private Assignment.Lead lead;
  private int submitsToLose;
  private int deadRequests;
  private boolean formerVersion;
  private String leaderInView = "n1";
  private Promise<Void> registered = Promise.promise();

  public FakeCluster(Vertx vertx, int shards) {
    this.vertx = vertx;
    this.shards = shards;
    createTopic(1, "t");
    registered.complete();
  }

  /** A topic of which clients hear with their next view. */
  public synchronized void createTopic(int id, String name) {
    TopicConfig config = new TopicConfig(0, 0, 0);
    topics.add(new TopicInfo(id, name, shards, config, TopicInfo.State.ACTIVE, 0));
    for (int i = 0; i < shards; i++) {
      logs.put(new Shard(id, i), new Log());
    }
  }

  static Shard shard(int index) {
    return new Shard(1, index);
  }

  // What tests do

  /** Nobody gets to know of who listens from now on, as while a part of the map is out of reach. */
  synchronized void registerNobody() {
    registered = Promise.promise();
  }

  /** From now on fetches are read as a node of a former version reads them. */
  synchronized void formerVersion() {
    formerVersion = true;
  }

  public synchronized void append(int shard, List<Message> messages) {
    BatchBuilder builder = new BatchBuilder(1024);
    messages.forEach(builder::add);
    append(shard, builder.build(1, 0, 0));
  }

  public synchronized void append(int shard, Batch batch) {
    Log log = logs.get(shard(shard));
    log.batches.add(new FetchAnswer.Placed(log.end, batch));
    log.end += batch.count();
    List<Runnable> waiters = List.copyOf(log.waiters);
    log.waiters.clear();
    waiters.forEach(Runnable::run);
  }

  /** Retention drops every batch that ends at or before {@code offset}. */
  synchronized void dropBefore(int shard, long offset) {
    Log log = logs.get(shard(shard));
    log.batches.removeIf(placed -> placed.endOffset() <= offset);
    log.start = offset;
  }

  /** Grants a shard to whoever sends heartbeats. */
  public synchronized void grant(int shard, byte[] state, long stateOffset) {
    Lease old = leases.get(shard(shard));
    Lease lease =
        Commands.lease(
            "g",
            shard(shard),
            old == null ? 1 : old.epoch() + 1,
            member.member(),
            member.instance(),
            old == null ? 0 : old.committed(),
            state != null ? stateOffset : old == null ? -1 : old.stateOffset(),
            state != null ? state : old == null ? null : old.state(),
            null);
    leases.put(shard(shard), lease);
    push();
  }

  /** An operator moves the group, and the member gets the shard again. */
  synchronized void reset(int shard, long offset) {
    change(
        shard,
        lease ->
            lease
                .reset(offset)
                .granted(member.member(), member.instance(), 0, lease.ownerTimeoutMillis()));
  }

  /** Gives the shard to somebody else. */
  synchronized void steal(int shard) {
    change(shard, lease -> lease.granted("other", "other-instance", 0, lease.ownerTimeoutMillis()));
  }

  synchronized void drain(int shard) {
    Drain drain = new Drain("other", System.currentTimeMillis() + 50_000);
    change(shard, lease -> lease.draining(drain));
  }

  /** The hand-over is called off. */
  synchronized void callOff(int shard) {
    change(shard, lease -> lease.draining(null));
  }

  private void change(int shard, UnaryOperator<Lease> how) {
    leases.computeIfPresent(shard(shard), (any, lease) -> how.apply(lease));
    push();
  }

  /** Says whether the member leads; null: it does not. */
  synchronized void lead(Assignment.Lead now) {
    lead = now;
    push();
  }

  synchronized void refuseHeartbeats(RefusedException refusal) {
    heartbeatRefusal = refusal;
  }

  /** The next commits and releases take effect, but their answers are lost. */
  synchronized void loseAnswers(int count) {
    submitsToLose = count;
  }

  /** What the view says from now on, right or not; "n2" answers that it is "n1". */
  synchronized void leaderInView(String node) {
    leaderInView = node;
  }

  /** Fetches that "n3" has not answered. */
  synchronized int deadRequests() {
    return deadRequests;
  }

  public synchronized Lease lease(int shard) {
    return leases.get(shard(shard));
  }

  synchronized List<Heartbeat> heartbeats() {
    return List.copyOf(heartbeats);
  }

  public synchronized List<DataCommand> commands() {
    return List.copyOf(commands);
  }

  void become(State newState) {
    List<Promise<Buffer>> broken;
    synchronized (this) {
      state = newState;
      broken = List.copyOf(inFlight);
      inFlight.clear();
    }
    if (newState != State.CONNECTED) {
      broken.forEach(
          each -> each.tryFail(new RefusedException(Refusal.INDETERMINATE, "connection broke")));
    }
    stateHandlers.forEach(handler -> handler.accept(newState));
  }

  // Dispatcher

  private void push() {
    revision++;
    Consumer<Buffer> listener = listeners.get(Addresses.member(member.instance()));
    if (listener != null) {
      listener.accept(assignment().toJson().toBuffer());
    }
  }

  private Assignment assignment() {
    List<Assignment.Owned> owned = new ArrayList<>();
    for (Lease lease : leases.values()) {
      if (lease.owned() && member.instance().equals(lease.instance())) {
        owned.add(
            new Assignment.Owned(
                "t",
                lease.shard(),
                lease.epoch(),
                lease.drain() != null,
                lease.drain() == null ? 0 : lease.drain().deadlineMillis(),
                lease.committed()));
      }
    }
    return new Assignment("g", member.member(), member.instance(), 1, revision, owned, lead);
  }

  private Buffer dispatch(Buffer body) {
    Heartbeat heartbeat = Heartbeat.fromJson(new JsonObject(body));
    heartbeats.add(heartbeat);
    if (heartbeatRefusal != null) {
      return Frames.refusal(heartbeatRefusal);
    }
    member = heartbeat;
    return Frames.answer(assignment().toJson().toBuffer().getBytes());
  }

  // Broker

  private Future<Buffer> fetch(FetchRequest request) {
    Promise<Buffer> answer = Promise.promise();
    Log log = logs.get(request.shard());
    Lease lease = leases.get(request.shard());
    boolean free = request.group().isEmpty();
    if (!free && (lease == null || !lease.ownedAt(request.epoch()))) {
      answer.complete(Frames.refusal(Refusal.FENCED, "epoch " + request.epoch()));
    } else if (request.offset() < log.start || request.offset() > log.end) {
      answer.complete(Frames.refusal(Refusal.OFFSET_OUT_OF_RANGE, log.start + ".." + log.end));
    } else if (request.offset() < log.end || request.waitMillis() == 0) {
      answer.complete(read(log, request));
    } else {
      Runnable end =
          () -> {
            synchronized (this) {
              answer.tryComplete(read(log, request));
            }
          };
      log.waiters.add(end);
      vertx.setTimer(request.waitMillis(), id -> end.run());
    }
    return answer.future();
  }

  private Future<Buffer> fetchMany(FetchManyRequest request) {
    List<Future<Buffer>> answers = request.fetches().stream().map(this::fetch).toList();
    return Future.any(answers)
        .map(
            any -> {
              List<FetchManyAnswer.Part> parts = new ArrayList<>();
              for (int i = 0; i < answers.size(); i++) {
                if (answers.get(i).succeeded()) {
                  parts.add(new FetchManyAnswer.Part(i, answers.get(i).result()));
                }
              }
              return new FetchManyAnswer(parts).encode();
            });
  }

  private static Buffer read(Log log, FetchRequest request) {
    int first = 0;
    int high = log.batches.size();
    while (first < high) {
      int middle = (first + high) >>> 1;
      if (log.batches.get(middle).endOffset() <= request.offset()) {
        first = middle + 1;
      } else {
        high = middle;
      }
    }
    Bytes out = FetchAnswer.head(log.start, log.end, request.bytesMax());
    int bytes = 0;
    for (int i = first; i < log.batches.size(); i++) {
      FetchAnswer.Placed placed = log.batches.get(i);
      if (bytes > 0 && bytes + placed.batch().length() > request.bytesMax()) {
        break;
      }
      bytes += placed.batch().length();
      out.i64(placed.baseOffset()).raw(placed.batch().bytes().array());
    }
    return Frames.answer(out.view());
  }

  private static Reply fenced(Lease lease) {
    return Reply.refused(Refusal.FENCED, "the epoch is " + lease.epoch());
  }

  private Reply submit(DataCommand command) {
    commands.add(command);
    if (command instanceof DataCommand.OpenPublisher) {
      return Reply.DONE;
    }
    if (command instanceof DataCommand.SetPublisher p) {
      Lease lease = leases.get(p.shard());
      leases.put(p.shard(), lease.publishingAs(p.producerId()));
      return new Reply.OfLease(leases.get(p.shard()));
    }
    if (command instanceof DataCommand.Commit c) {
      Lease lease = leases.get(c.shard());
      if (!lease.ownedAt(c.epoch())) {
        return fenced(lease);
      }
      leases.put(c.shard(), lease.committedAt(Math.max(lease.committed(), c.offset())));
      return Reply.DONE;
    }
    if (command instanceof DataCommand.CommitMany many) {
      List<Reply.OfCommits.RefusedCommit> refused = new ArrayList<>();
      for (int i = 0; i < many.positions().size(); i++) {
        if (submit(many.positions().get(i).command()) instanceof Reply.Refused no) {
          refused.add(new Reply.OfCommits.RefusedCommit(i, no.refusal(), no.detail()));
        }
      }
      return new Reply.OfCommits(refused);
    }
    if (command instanceof DataCommand.RecordOutcomes c) {
      Lease lease = leases.get(c.shard());
      if (!lease.ownedAt(c.epoch())) {
        return fenced(lease);
      }
      // There is never room, so that all stays in the window.
      return new Reply.OfOffsets(
          c.outcomes().stream()
              .filter(each -> each instanceof Outcome.Failed f && f.way() == Outcome.Way.MOVED)
              .map(Outcome::offset)
              .toList());
    }
    DataCommand.Release r = (DataCommand.Release) command;
    Lease lease = leases.get(r.shard());
    if (lease.epoch() == r.epoch() && !lease.owned()) {
      return Reply.DONE;
    }
    if (!lease.ownedAt(r.epoch())) {
      return fenced(lease);
    }
    leases.put(
        r.shard(),
        r.state() == null
            ? lease.released(r.offset(), lease.stateOffset(), lease.state())
            : lease.released(r.offset(), r.stateOffset(), r.state()));
    revision++;
    return Reply.DONE;
  }

  private static Future<Buffer> refused(Refusal refusal, String detail) {
    return Future.succeededFuture(Frames.refusal(refusal, detail));
  }

  private Future<Buffer> broker(Buffer request) {
    ByteBuffer body = Frames.body(request);
    ByteReader in = new ByteReader(body);
    switch (Frames.op(request)) {
      case FETCH:
      case BROWSE:
        FetchRequest fetch = FetchRequest.decode(body);
        return formerVersion && fetch.failuresKnown() != FetchRequest.FAILURES_UNKNOWN
            ? refused(Refusal.INVALID, "8 bytes too many")
            : fetch(fetch);
      case FETCH_MANY:
        return formerVersion
            ? refused(Refusal.WRONG_VERSION, "unknown operation")
            : fetchMany(FetchManyRequest.decode(body));
      case FIND_OFFSET:
        Log log = logs.get(RecordCodec.shard(in));
        boolean latest = RecordCodec.START.read(in).equals(StartAt.LATEST);
        return Future.succeededFuture(
            Frames.answer(new Bytes(8).i64(latest ? log.end : log.start).view()));
      case READ_LEASE:
        in.text();
        Lease lease = leases.get(RecordCodec.shard(in));
        return Future.succeededFuture(Frames.answer(ReplyCodec.encode(new Reply.OfLease(lease))));
      case SUBMIT_DATA:
        int group = in.i32();
        DataCommand command = CommandCodec.data(in);
        Shard shard = shardOf(command);
        if (shard != null && group != shard.dataGroup(2)) {
          return refused(Refusal.INVALID, "group " + group);
        }
        Reply reply = submit(command);
        if (submitsToLose > 0) {
          submitsToLose--;
          return Future.failedFuture(new RefusedException(Refusal.INDETERMINATE, "lost"));
        }
        return Future.succeededFuture(Frames.answer(ReplyCodec.encode(reply)));
      case SUBMIT_META:
        return Future.succeededFuture(
            Frames.answer(ReplyCodec.encode(new Reply.OfProducer(77, 0))));
      case APPEND:
        List<AppendResults.Result> results = new ArrayList<>();
        for (AppendBody.Item item : AppendBody.read(body)) {
          published.add(item);
          results.add(new AppendResults.Result(null, logs.get(item.shard()).end));
          append(item.shard().shard(), item.batch());
        }
        return Future.succeededFuture(Frames.answer(new AppendResults(1, results).encode()));
      default:
        return refused(Refusal.INVALID, "not faked");
    }
  }

  /** Null: the command is for a whole data group. */
  private static Shard shardOf(DataCommand command) {
    if (command instanceof DataCommand.Commit c) {
      return c.shard();
    } else if (command instanceof DataCommand.CommitMany many) {
      return many.positions().get(0).shard();
    } else if (command instanceof DataCommand.RecordOutcomes o) {
      return o.shard();
    } else if (command instanceof DataCommand.SetPublisher p) {
      return p.shard();
    } else if (command instanceof DataCommand.OpenPublisher) {
      return null;
    }
    return ((DataCommand.Release) command).shard();
  }

  /** What consumers have published, in order. */
  public synchronized List<AppendBody.Item> published() {
    return List.copyOf(published);
  }

  // Link

  @Override
  public Vertx vertx() {
    return vertx;
  }

  @Override
  public Future<Buffer> request(String address, Buffer body, long timeoutMillis) {
    Context context = vertx.getOrCreateContext();
    Promise<Buffer> promise = Promise.promise();
    synchronized (this) {
      if (state != State.CONNECTED) {
        return Future.failedFuture(new RefusedException(Refusal.UNAVAILABLE, "no connection"));
      }
      inFlight.add(promise);
    }
    long timer =
        vertx.setTimer(
            timeoutMillis,
            id -> promise.tryFail(new RefusedException(Refusal.INDETERMINATE, "timeout")));
    Promise<Buffer> answer = Promise.promise();
    promise
        .future()
        .onComplete(
            done -> {
              vertx.cancelTimer(timer);
              synchronized (this) {
                inFlight.remove(promise);
              }
              // Never in the caller's own stack, as on a real bus.
              context.runOnContext(ignored -> answer.handle(done));
            });
    Future<Buffer> result;
    synchronized (this) {
      if (address.equals(Addresses.VIEW)) {
        result = Future.succeededFuture(view().toJson().toBuffer());
      } else if (body.length() == 0 && !servers.containsKey(address)) {
        // The directory asks so, to keep the ways known.
        result = refused(Refusal.INVALID, "an empty request");
      } else if (Set.of(Addresses.dispatcher("n1"), Addresses.dispatcher("n3")).contains(address)) {
        result = Future.succeededFuture(dispatch(body));
      } else if (address.endsWith("n3.data")) {
        // A node that has died with its registrations still there.
        deadRequests++;
        result = Promise.<Buffer>promise().future();
      } else if (Set.of(Addresses.data("n1"), Addresses.control("n1"), Addresses.control("n3"))
          .contains(address)) {
        result = broker(body);
      } else if (Set.of(Addresses.data("n2"), Addresses.control("n2"), Addresses.dispatcher("n2"))
          .contains(address)) {
        result = refused(Refusal.NOT_LEADER, "n1");
      } else if (servers.containsKey(address)) {
        result = VertxLink.serve(servers.get(address), body);
      } else {
        result =
            Future.failedFuture(new RefusedException(Refusal.UNAVAILABLE, "nobody at " + address));
      }
    }
    result.onComplete(
        done -> {
          if (done.succeeded()) {
            promise.tryComplete(done.result());
          } else {
            promise.tryFail(done.cause());
          }
        });
    return answer.future();
  }

  /** The next view comes from a node that does not know the newest topic yet. */
  synchronized void followerAnswersNext() {
    fromFollower = true;
  }

  private ClusterView view() {
    boolean late = fromFollower;
    fromFollower = false;
    return Views.of(
        late ? "n2" : "n1",
        leaderInView,
        List.of(leaderInView, leaderInView),
        List.of("n1"),
        List.copyOf(late ? topics.subList(0, topics.size() - 1) : topics));
  }

  @Override
  public synchronized Listening listen(String address, Consumer<Buffer> handler) {
    listeners.put(address, handler);
    return listening(() -> listeners.remove(address));
  }

  @Override
  public synchronized Listening serve(String address, Function<Buffer, Future<Buffer>> server) {
    servers.put(address, server);
    return listening(() -> servers.remove(address));
  }

  private Listening listening(Runnable end) {
    return new Listening() {
      @Override
      public Future<Void> registered() {
        return registered.future();
      }

      @Override
      public void end() {
        synchronized (FakeCluster.this) {
          end.run();
        }
      }
    };
  }

  @Override
  public synchronized State state() {
    return state;
  }

  @Override
  public void onState(Consumer<State> handler) {
    stateHandlers.add(handler);
  }

  @Override
  public void offState(Consumer<State> handler) {
    stateHandlers.remove(handler);
  }

  @Override
  public String clusterMember() {
    return "m1";
  }

  @Override
  public Future<Void> close() {
    become(State.CLOSED);
    return Future.succeededFuture();
  }
}
