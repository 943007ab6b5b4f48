package dev.evenkeel.client.internal.member;

import dev.evenkeel.bus.Assignment;
import dev.evenkeel.bus.FetchAnswer;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.internal.consume.ConsumerAction;
import dev.evenkeel.client.internal.consume.ConsumerCore;
import dev.evenkeel.client.internal.consume.Task;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.BatchBuilder;
import dev.evenkeel.protocol.wire.Bytes;
import dev.evenkeel.protocol.wire.CommandCodec;
import dev.evenkeel.protocol.wire.ReplyCodec;
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
 * assignment to its release, with a {@link ConsumerCore} of its own, without network and without
 * user code. What a JVM does for the first time it does slowly (classes are loaded, verified and
 * interpreted), and a shard that is handed over should not stand still for that. On two busy cores
 * the first assignment of a new JVM took 300 ms longer than the second. A warm-up that fails is
 * logged, and the consumer starts cold.
 */
final class WarmUp {
  private static final Logger LOG = LoggerFactory.getLogger(WarmUp.class);
  private static final AtomicBoolean DONE = new AtomicBoolean();

  /** Rounds after which what runs in a loop is compiled. */
  private static final int ROUNDS = 100;

  private static final int MESSAGES = 20;
  private static final String TOPIC = "warm-up";
  private static final String RUN = "warm-up-run";
  private static final Shard SHARD = new Shard(0, 0);

  private final ConsumerOptions options =
      new ConsumerOptions().setGroup(TOPIC).setMember(TOPIC).setTopics(List.of(TOPIC));
  private final boolean keepsState;
  private final byte[] batch;
  private long now;

  /**
   * @param order decides which queues are used
   */
  WarmUp(ConsumerOptions.Order order, boolean keepsState) {
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

  /** Does it in this JVM if nobody has yet. It takes a moment: not for an event loop. */
  static Void once(ConsumerOptions.Order order, boolean keepsState) {
    if (DONE.compareAndSet(false, true)) {
      try {
        WarmUp warmUp = new WarmUp(order, keepsState);
        for (int round = 0; round < ROUNDS; round++) {
          warmUp.play();
        }
      } catch (RuntimeException e) {
        LOG.warn("a consumer begins unprepared: {}", e.toString());
        LOG.debug("Where", e);
      }
    }
    return null;
  }

  /**
   * @return messages that were handled
   */
  long play() {
    ConsumerCore core = new ConsumerCore(options, RUN, keepsState, new SplittableRandom(1));
    core.heartbeatAnswered(now);
    Assignment.Owned owned = new Assignment.Owned(TOPIC, SHARD, 1, false, 0, 0);
    Assignment given = new Assignment(TOPIC, TOPIC, RUN, 1, 1, List.of(owned));
    core.assigned(Assignment.fromJson(new JsonObject(Buffer.buffer(given.toJson().encode()))), now);
    advance(core);
    core.progress(now);
    core.tick(now);
    core.close(now);
    advance(core);
    if (!core.drained()) {
      throw new IllegalStateException("the shard was not given away");
    }
    return core.consumed();
  }

  private void advance(ConsumerCore core) {
    boolean more = true;
    while (more) {
      more = false;
      ConsumerAction action;
      while ((action = core.poll()) != null) {
        perform(action);
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

  private void perform(ConsumerAction action) {
    if (action instanceof ConsumerAction.ReadLease read) {
      Lease lease = new Lease(TOPIC, SHARD, 1, TOPIC, RUN, 0, -1, null, null);
      Reply reply = ReplyCodec.decode(ByteBuffer.wrap(ReplyCodec.encode(new Reply.OfLease(lease))));
      read.owned().leaseRead(((Reply.OfLease) reply).lease(), now);
    } else if (action instanceof ConsumerAction.CallAssign assign) {
      assign.owned().assignDone(null, now);
    } else if (action instanceof ConsumerAction.Fetch fetch) {
      fetch.request().encode();
      if (fetch.request().offset() == 0) {
        fetch.owned().fetched(fetch.request(), answer(), now);
      }
    } else if (action instanceof ConsumerAction.Commit commit) {
      encode(commit.command());
      commit.owned().committed(commit.command().offset());
    } else if (action instanceof ConsumerAction.CallRelease release) {
      release.owned().stateGiven(null, null, now);
    } else if (action instanceof ConsumerAction.Release release) {
      encode(release.command());
      release.owned().released(now);
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
