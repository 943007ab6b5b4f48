package dev.evenkeel.client.internal.member;

import dev.evenkeel.bus.Assignment;
import dev.evenkeel.bus.FetchAnswer;
import dev.evenkeel.bus.FetchRequest;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.ConsumerOptions.Order;
import dev.evenkeel.client.ShardContext;
import dev.evenkeel.client.internal.consume.CommitBatch;
import dev.evenkeel.client.internal.consume.ConsumerAction;
import dev.evenkeel.client.internal.consume.ConsumerAction.Performer;
import dev.evenkeel.client.internal.consume.ConsumerCore;
import dev.evenkeel.client.internal.consume.OwnedShard;
import dev.evenkeel.client.internal.consume.PublishRequest;
import dev.evenkeel.client.internal.consume.Task;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Generation;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.ShardGroups;
import dev.evenkeel.protocol.wire.BatchBuilder;
import dev.evenkeel.protocol.wire.Bytes;
import dev.evenkeel.protocol.wire.CommandCodec;
import dev.evenkeel.protocol.wire.ReplyCodec;
import dev.evenkeel.protocol.wire.RetryRequest;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Warms up a JVM before its first consumer joins: plays through the life of a shard, from its
 * assignment to its release, with its own {@link ConsumerCore}, without network and user code. A
 * JVM does slowly what it does for the first time (it loads, verifies and interprets classes), and
 * a shard that is handed over should not wait for that. On two busy cores the first assignment of a
 * new JVM took 300 ms longer than the second. A warm-up that fails is logged, and the consumer
 * starts cold.
 */
final class WarmUp {
  private static final Logger LOG = LoggerFactory.getLogger(WarmUp.class);
  private static final AtomicBoolean DONE = new AtomicBoolean();

  /** Rounds after which the JVM has compiled what runs in a loop. */
  private static final int ROUNDS = 100;

  private static final int MESSAGES = 20;
  private static final String TOPIC = "warm-up";
  private static final String RUN = "warm-up-run";
  private static final Shard SHARD = new Shard(0, 0);

  private final ConsumerOptions options =
      new ConsumerOptions().setGroup(TOPIC).setMember(TOPIC).setTopics(List.of(TOPIC));
  private final boolean keepsState;
  private final byte[] batch;
  private final Cluster cluster = new Cluster();
  private long now;

  /**
   * @param order decides which queues are used
   */
  WarmUp(Order order, boolean keepsState) {
    options.setOrder(order);
    this.keepsState = keepsState;
    BatchBuilder builder = new BatchBuilder(4_096);
    for (int i = 0; i < MESSAGES; i++) {
      builder.add(new Message(new byte[] {(byte) (i % 4)}, Map.of(), 0, new byte[10]));
    }
    ByteBuffer bytes = builder.build(1, 0, 0).bytes();
    batch = new byte[bytes.remaining()];
    bytes.get(bytes.position(), batch);
  }

  /** Warms up this JVM, unless that has been done. It takes a moment: not for an event loop. */
  static Void once(Order order, boolean keepsState) {
    if (DONE.compareAndSet(false, true)) {
      try {
        WarmUp warmUp = new WarmUp(order, keepsState);
        for (int round = 0; round < ROUNDS; round++) {
          warmUp.play();
        }
      } catch (RuntimeException e) {
        LOG.warn("the warm-up failed, so the consumer starts cold: {}", e.toString());
        LOG.debug("Where", e);
      }
    }
    return null;
  }

  /**
   * @return messages that were handled
   */
  long play() {
    ConsumerCore core =
        new ConsumerCore(options, RUN, keepsState, keepsState, false, new SplittableRandom(1));
    core.shardGroups(ShardGroups.formed(1));
    core.heartbeatAnswered(now);
    Assignment.Owned owned = new Assignment.Owned(TOPIC, SHARD, 1, false, 0, 0);
    Assignment given = new Assignment(TOPIC, TOPIC, RUN, 1, 1, List.of(owned), null);
    core.assigned(Assignment.fromJson(new JsonObject(Buffer.buffer(given.toJson().encode()))), now);
    advance(core);
    core.progress(now);
    core.tick(now);
    advance(core);
    core.close(now, Long.MAX_VALUE);
    advance(core);
    if (!core.drained()) {
      throw new IllegalStateException("the shard was not released");
    }
    return core.consumed();
  }

  private void advance(ConsumerCore core) {
    boolean more = true;
    while (more) {
      more = false;
      ConsumerAction action;
      while ((action = core.poll()) != null) {
        action.performBy(cluster);
        more = true;
      }
      Task task = core.next(now);
      if (task != null) {
        task.delivery(TOPIC).message().payload();
        core.finished(task, ++now);
        more = true;
      }
    }
  }

  /**
   * Answers the core at once. The methods that throw are for handlers that WarmUp does not have.
   */
  private final class Cluster implements Performer {
    @Override
    public void readLease(OwnedShard owned) {
      Lease lease =
          Lease.fresh(TOPIC, SHARD, 0, 0, Generation.FIRST)
              .granted(TOPIC, RUN, 0, Limits.MEMBER_TIMEOUT_MILLIS_DEFAULT);
      byte[] bytes = ReplyCodec.encode(new Reply.OfLease(lease));
      Reply reply = ReplyCodec.decode(ByteBuffer.wrap(bytes));
      owned.takeover.leaseRead(((Reply.OfLease) reply).lease(), now);
    }

    @Override
    public void readParents(OwnedShard owned, List<Integer> parents) {}

    @Override
    public void callAssign(
        OwnedShard owned, ShardContext shard, byte[] state, List<ConsumerAction.Parent> parents) {
      owned.takeover.assignDone(null, now);
    }

    @Override
    public void fetch(OwnedShard owned, FetchRequest request) {
      request.encode();
      if (request.offset() == 0) {
        owned.fetched(request, answer(), now);
      }
    }

    @Override
    public void commit(OwnedShard owned, DataCommand.Commit command) {
      encode(command);
      owned.committed(command.offset());
    }

    @Override
    public void commitPositions(CommitBatch batch) {
      encode(batch.command());
      byte[] reply = ReplyCodec.encode(new Reply.OfCommits(List.of()));
      batch.answered(ReplyCodec.decode(ByteBuffer.wrap(reply)), now);
    }

    @Override
    public void callRelease(OwnedShard owned, ShardContext shard) {
      owned.release.stateGiven(null, null, now);
    }

    @Override
    public void release(OwnedShard owned, DataCommand.Release command) {
      encode(command);
      owned.release.released(now);
    }

    @Override
    public void openPublisher(OwnedShard owned, long producerId) {
      throw new AssertionError("nothing is published");
    }

    @Override
    public void publish(OwnedShard owned, PublishRequest request) {
      throw new AssertionError("nothing is published");
    }

    @Override
    public void giveBack(Task task) {
      throw new AssertionError("nobody died");
    }

    @Override
    public void fetchRetries(OwnedShard owned, RetryRequest request) {
      throw new AssertionError("nothing fails");
    }

    @Override
    public void recordOutcomes(OwnedShard owned, DataCommand.RecordOutcomes command) {
      throw new AssertionError("nothing fails");
    }
  }

  private static void encode(DataCommand command) {
    CommandCodec.write(new Bytes(128), command);
  }

  private FetchAnswer answer() {
    Bytes body = FetchAnswer.head(0, MESSAGES, 8 + batch.length).i64(0).raw(batch);
    return FetchAnswer.decode(body.view());
  }
}
