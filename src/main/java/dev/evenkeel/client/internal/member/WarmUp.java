package dev.evenkeel.client.internal.member;

import dev.evenkeel.bus.Assignment;
import dev.evenkeel.bus.Calls;
import dev.evenkeel.bus.FetchAnswer;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.ConsumerOptions.Order;
import dev.evenkeel.client.internal.consume.Answer;
import dev.evenkeel.client.internal.consume.ConsumerAction;
import dev.evenkeel.client.internal.consume.ConsumerCore;
import dev.evenkeel.client.internal.consume.HandlerKind;
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
 * assignment to its release, with its own {@link ConsumerCore}, without network and user code. A
 * JVM does slowly what it does for the first time (it loads, verifies and interprets classes), and
 * a shard that is handed over should not wait for that: ADR 8 has figures. A warm-up that fails is
 * logged, and the consumer starts cold.
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
  private final HandlerKind handler;
  private final byte[] batch;
  private ConsumerCore core;
  private long now;

  /**
   * @param order decides which queues are used
   */
  WarmUp(Order order, boolean keepsState) {
    options.setOrder(order);
    handler = HandlerKind.stateful(keepsState);
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
    core = new ConsumerCore(options, RUN, handler, new SplittableRandom(1));
    core.shardGroups(ShardGroups.formed(1));
    core.heartbeatAnswered(now);
    Assignment.Owned owned = new Assignment.Owned(TOPIC, SHARD, 1, false, 0, 0);
    Assignment given = new Assignment(TOPIC, TOPIC, RUN, 1, 1, List.of(owned), null);
    core.assigned(Assignment.fromJson(new JsonObject(Buffer.buffer(given.toJson().encode()))), now);
    advance();
    core.progress(now);
    core.tick(now);
    advance();
    core.close(now, Long.MAX_VALUE);
    advance();
    if (!core.drained()) {
      throw new IllegalStateException("the shard was not released");
    }
    return core.consumed();
  }

  private void advance() {
    boolean more = true;
    while (more) {
      more = false;
      ConsumerAction action;
      while ((action = core.poll()) != null) {
        answer(action);
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

  /** Answers the core at once. */
  private void answer(ConsumerAction action) {
    if (action instanceof ConsumerAction.ReadLease read) {
      Lease lease =
          Lease.fresh(TOPIC, SHARD, 0, 0, Generation.FIRST)
              .granted(TOPIC, RUN, 0, Limits.MEMBER_TIMEOUT_MILLIS_DEFAULT);
      core.answered(
          read, Answer.of(((Reply.OfLease) decoded(new Reply.OfLease(lease))).lease()), now);
    } else if (action instanceof ConsumerAction.CallAssign assign) {
      core.answered(assign, Answer.of(null), now);
    } else if (action instanceof ConsumerAction.Fetch fetch) {
      fetch.request().encode();
      if (fetch.request().offset() == 0) {
        core.answered(fetch, Answer.of(messages()), now);
      }
    } else if (action instanceof ConsumerAction.Commit commit) {
      encode(commit.command());
      core.answered(commit, Answer.of(Reply.DONE), now);
    } else if (action instanceof ConsumerAction.CommitPositions commit) {
      encode(commit.command());
      core.answered(commit, Answer.of(decoded(new Reply.OfCommits(List.of()))), now);
    } else if (action instanceof ConsumerAction.CallRelease release) {
      core.answered(release, Answer.of(null), now);
    } else if (action instanceof ConsumerAction.Release release) {
      encode(release.command());
      core.answered(release, Answer.of(Reply.DONE), now);
    }
  }

  private static Reply decoded(Reply reply) {
    return ReplyCodec.decode(ByteBuffer.wrap(ReplyCodec.encode(reply)));
  }

  private static void encode(DataCommand command) {
    Calls.SUBMIT_DATA.request(new Calls.ToGroup(0, command));
  }

  private FetchAnswer messages() {
    Bytes body = FetchAnswer.head(0, MESSAGES, 8 + batch.length).i64(0).raw(batch);
    return FetchAnswer.decode(body.view());
  }
}
