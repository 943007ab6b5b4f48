package dev.evenkeel.history;

import static dev.evenkeel.Loops.times;

import dev.evenkeel.TestUsers;
import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.FetchAnswer;
import dev.evenkeel.bus.FetchRequest;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.Op;
import dev.evenkeel.protocol.Commands;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Drain;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.StartAt;
import dev.evenkeel.protocol.wire.AppendBody;
import dev.evenkeel.protocol.wire.AppendResults;
import dev.evenkeel.protocol.wire.Batch;
import dev.evenkeel.protocol.wire.BatchBuilder;
import dev.evenkeel.protocol.wire.Bytes;
import dev.evenkeel.protocol.wire.CommandCodec;
import dev.evenkeel.protocol.wire.RecordCodec;
import dev.evenkeel.protocol.wire.ReplyCodec;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/**
 * Clients of real brokers that record a {@link History}: producers, and members of one group that
 * take each other's shards without a dispatcher. They ask with bare requests, each of them once, so
 * that every answer is known for what it is. All runs on one context.
 */
public final class HistoryClients {
  /** How a request gets to an address, as {@code bus.Link} has it. */
  public interface Wire {
    Future<Buffer> request(String address, Buffer body, long timeoutMillis);
  }

  private static final String GROUP = "rivals";

  /** Small: every answer is kept until the history is checked. */
  private static final int FETCH_BYTES = 1 << 13;

  private static final int PRODUCERS = 2;
  private static final int RIVALS = 3;
  private static final long TIMEOUT_MILLIS = 2_000;
  private static final long PAUSE_MILLIS_MAX = 20;

  private final Context context;
  private final Vertx vertx;
  private final Wire wire;
  private final History history;
  private final List<String> nodes;
  private final List<Shard> shards;
  private final int dataGroups;
  private final Random random;
  private final String[] leaders;
  private final List<Future<Void>> running = new ArrayList<>();
  private volatile boolean ending;
  private final AtomicLong taken = new AtomicLong();

  /**
   * @param shards to write to, empty so far
   */
  public HistoryClients(
      Vertx vertx,
      Wire wire,
      History history,
      List<String> nodes,
      List<Shard> shards,
      int dataGroups,
      long seed) {
    this.vertx = vertx;
    this.wire = wire;
    this.history = history;
    this.nodes = nodes;
    this.shards = shards;
    this.dataGroups = dataGroups;
    context = vertx.getOrCreateContext();
    random = new Random(seed);
    leaders = new String[dataGroups];
  }

  /** Batches that were taken so far. */
  public long taken() {
    return taken.get();
  }

  public void start() {
    long producer = 1_000_000;
    for (Shard shard : shards) {
      for (int i = 0; i < PRODUCERS; i++) {
        begin(new ProducerLoop(shard, producer++)::turn);
      }
      times(RIVALS, i -> begin(new RivalLoop(shard, "m" + i)::turn));
    }
  }

  /** Ends all clients, and reads every shard from its beginning to its end once more. */
  public Future<Void> finish() {
    ending = true;
    return Future.join(running)
        .compose(
            done -> {
              List<Future<Void>> readers = new ArrayList<>();
              shards.forEach(
                  shard ->
                      readers.add(onContext(promise -> new LastReader(shard, promise).next())));
              return Future.join(readers).mapEmpty();
            });
  }

  private Future<Void> onContext(Consumer<Promise<Void>> task) {
    Promise<Void> promise = Promise.promise();
    context.runOnContext(none -> task.accept(promise));
    return promise.future();
  }

  private interface Turn {
    /** Asks for one thing; complete once there was an answer, or none. */
    Future<?> ask();
  }

  private void begin(Turn turn) {
    running.add(onContext(promise -> again(turn, promise)));
  }

  private void again(Turn turn, Promise<Void> promise) {
    if (ending) {
      promise.complete();
      return;
    }
    turn.ask()
        .onComplete(
            done ->
                vertx.setTimer(
                    1 + random.nextInt((int) PAUSE_MILLIS_MAX), id -> again(turn, promise)));
  }

  // ---- Requests

  private String node(Shard shard) {
    String known = leaders[shard.dataGroup(dataGroups)];
    boolean lost = known == null || random.nextInt(20) == 0;
    return lost ? nodes.get(random.nextInt(nodes.size())) : known;
  }

  /** Asks a node, mostly the one that led last; its refusals come as failures. */
  private Future<ByteBuffer> ask(Shard shard, boolean data, Buffer request) {
    String node = node(shard);
    String address = data ? Addresses.data(node) : Addresses.control(node);
    return wire.request(address, request, TIMEOUT_MILLIS)
        .map(Frames::answerBody)
        .onSuccess(answer -> leaders[shard.dataGroup(dataGroups)] = node)
        .onFailure(failure -> follow(shard, node, failure));
  }

  private void follow(Shard shard, String asked, Throwable failure) {
    RefusedException refused = refusal(failure);
    int group = shard.dataGroup(dataGroups);
    if (refused.refusal() == Refusal.NOT_LEADER && nodes.contains(refused.getMessage())) {
      leaders[group] = refused.getMessage();
    } else if (refused.refusal().retriable() && asked.equals(leaders[group])) {
      leaders[group] = null;
    }
  }

  private static RefusedException refusal(Throwable failure) {
    return failure instanceof RefusedException refused
        ? refused
        : new RefusedException(Refusal.INDETERMINATE, String.valueOf(failure));
  }

  private Future<Reply> submit(String client, Shard shard, DataCommand command) {
    Bytes body = new Bytes(128).i32(shard.dataGroup(dataGroups));
    CommandCodec.write(body, command);
    History.Call<Reply> call = history.command(client, shard, command);
    return ask(shard, false, Frames.request(Op.SUBMIT_DATA, body))
        .map(ReplyCodec::decode)
        .onSuccess(call::answered)
        .onFailure(failure -> call.refused(refusal(failure)));
  }

  private Future<Lease> readLease(String client, Shard shard) {
    Bytes body = new Bytes(64).text(GROUP);
    RecordCodec.write(body, shard);
    History.Call<Lease> call = history.readLease(client, shard, GROUP);
    return ask(shard, false, Frames.request(Op.READ_LEASE, body))
        .map(answer -> ((Reply.OfLease) ReplyCodec.decode(answer)).lease())
        .onSuccess(call::answered)
        .onFailure(failure -> call.refused(refusal(failure)));
  }

  private Future<FetchAnswer> fetch(String client, FetchRequest request) {
    boolean owner = !request.group().isEmpty();
    History.Call<FetchAnswer> call = history.fetch(client, request);
    Op op = owner ? Op.FETCH : Op.BROWSE;
    return ask(request.shard(), owner, Frames.request(op, request.encode()))
        .map(FetchAnswer::decode)
        .onSuccess(call::answered)
        .onFailure(failure -> call.refused(refusal(failure)));
  }

  // ---- Clients

  /** Sends one batch after another, each again until it is answered. */
  private final class ProducerLoop {
    private final Shard shard;
    private final long id;
    private long sequence;
    private Batch batch;

    ProducerLoop(Shard shard, long number) {
      this.shard = shard;
      id = TestUsers.producerId(number);
      next();
    }

    private void next() {
      BatchBuilder builder = new BatchBuilder(256);
      int count = 1 + random.nextInt(4);
      for (int i = 0; i < count; i++) {
        byte[] payload = (id + "/" + (sequence + i)).getBytes(StandardCharsets.UTF_8);
        builder.add(new Message(null, null, 1, payload));
      }
      batch = builder.build(id, 0, sequence);
    }

    Future<?> turn() {
      Bytes body = new Bytes();
      AppendBody.write(body, shard, batch);
      History.Call<AppendResults.Result> call = history.append("p" + id, shard, batch);
      return ask(shard, true, Frames.request(Op.APPEND, body))
          .map(answer -> AppendResults.decode(answer).results().get(0))
          .onSuccess(
              result -> {
                call.answered(result);
                if (result.ok()) {
                  taken.incrementAndGet();
                  sequence += batch.count();
                  next();
                }
              })
          .onFailure(failure -> call.refused(refusal(failure)));
    }
  }

  /** Takes the shard from time to time, and acts as its owner also when it is that no more. */
  private final class RivalLoop {
    private final Shard shard;
    private final String name;
    private long epoch;
    private long seenEpoch;
    private long offset;
    private int grants;

    RivalLoop(Shard shard, String name) {
      this.shard = shard;
      this.name = name;
    }

    Future<?> turn() {
      int luck = random.nextInt(20);
      if (luck < 3) {
        return take();
      }
      if (luck < 5) {
        return readLease(name, shard).onSuccess(lease -> seenEpoch = lease.epoch());
      }
      if (luck == 5) {
        return submit(name, shard, new DataCommand.ResetLease(GROUP, shard, seenEpoch, somePlace()))
            .onSuccess(this::see);
      }
      if (luck == 6) {
        String next = "m" + random.nextInt(RIVALS);
        Drain.Heir heir = random.nextBoolean() ? null : new Drain.Heir(next + "-0", 5_000);
        Drain drain = new Drain(next, 1_000 + random.nextInt(1_000), heir);
        return submit(name, shard, new DataCommand.SetDrain(GROUP, shard, seenEpoch, drain));
      }
      if (epoch == 0) {
        long from = random.nextBoolean() ? 0 : offset;
        return fetch(name, FetchRequest.browse(shard, from, FETCH_BYTES, 1_000, 0));
      }
      if (luck == 7) {
        byte[] state =
            random.nextBoolean() ? null : (name + offset).getBytes(StandardCharsets.UTF_8);
        return submit(
            name,
            shard,
            new DataCommand.Release(
                GROUP, shard, epoch, offset, state == null ? -1 : offset, state));
      }
      if (luck < 13) {
        return submit(name, shard, Commands.commit(GROUP, shard, epoch, offset));
      }
      return fetch(name, new FetchRequest(GROUP, shard, epoch, offset, FETCH_BYTES, 100, 0, 100))
          .onSuccess(
              answer -> {
                answer.batches().forEach(each -> offset = Math.max(offset, each.endOffset()));
              });
    }

    private StartAt somePlace() {
      return random.nextBoolean() ? StartAt.EARLIEST : StartAt.offset(offset);
    }

    private Future<?> take() {
      String instance = name + "-" + ++grants;
      return submit(
              name,
              shard,
              Commands.grant(GROUP, shard, name, instance, seenEpoch, StartAt.EARLIEST))
          .onSuccess(this::see)
          .onSuccess(
              reply -> {
                if (reply instanceof Reply.OfLease of) {
                  epoch = of.lease().epoch();
                  offset = of.lease().committed();
                }
              });
    }

    private void see(Reply reply) {
      if (reply instanceof Reply.OfLease of) {
        seenEpoch = of.lease().epoch();
      }
    }
  }

  /** Appends a last batch, whose offset says how far to read, and reads all that is there. */
  private final class LastReader {
    private final ProducerLoop last;
    private final Shard shard;
    private final Promise<Void> promise;
    private long offset;
    private boolean appended;

    LastReader(Shard shard, Promise<Void> promise) {
      this.shard = shard;
      this.promise = promise;
      last = new ProducerLoop(shard, 2_000_000 + shards.indexOf(shard));
    }

    void next() {
      if (!appended) {
        long before = last.sequence;
        last.turn().onComplete(done -> later(appended = last.sequence > before));
        return;
      }
      fetch("last", FetchRequest.browse(shard, offset, 1 << 16, 1_000, 0))
          .onComplete(
              done -> {
                if (done.succeeded() && !done.result().batches().isEmpty()) {
                  List<FetchAnswer.Placed> batches = done.result().batches();
                  offset = batches.get(batches.size() - 1).endOffset();
                  FetchAnswer.Placed newest = batches.get(batches.size() - 1);
                  if (newest.batch().producerId() == last.id) {
                    promise.complete();
                    return;
                  }
                }
                later(done.succeeded());
              });
    }

    private void later(boolean wentWell) {
      vertx.setTimer(wentWell ? 1 : 100, id -> next());
    }
  }
}
