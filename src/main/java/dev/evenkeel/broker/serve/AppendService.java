package dev.evenkeel.broker.serve;

import static dev.evenkeel.protocol.Refusal.INVALID;
import static dev.evenkeel.protocol.Refusal.UNKNOWN_PRODUCER;

import dev.evenkeel.broker.machine.DataState;
import dev.evenkeel.broker.state.DataTables;
import dev.evenkeel.broker.state.ShardRecord;
import dev.evenkeel.bus.Asker;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.ReplicasAnswer;
import dev.evenkeel.bus.ReplicasRequest;
import dev.evenkeel.bus.share.FairShare;
import dev.evenkeel.bus.share.Scarce;
import dev.evenkeel.bus.share.Shares;
import dev.evenkeel.log.Replicas;
import dev.evenkeel.protocol.ProducerIds;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.AppendBody;
import dev.evenkeel.protocol.wire.Batch;
import dev.evenkeel.protocol.wire.FeatureLevel;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.buffer.Buffer;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * Checks append requests, so that nothing behind it has to, and hands them to their log group. All
 * batches enter the log here, whoever sends them: what it takes, every consumer can read.
 */
public final class AppendService {
  /**
   * Most requests of all users together that wait for replicas: as many as may wait in one log
   * group, so that there is room for each user in each of them.
   */
  private static final long REPLICA_WAITS_MAX = 4_096;

  private final ServeContext serve;
  private final List<LogGroupServer> groups;
  private final List<Appender> appenders = new ArrayList<>();
  private final CompressedBatches compressed;
  private final NodeQuotas quotas;
  private final FairShare replicaWaits;

  AppendService(ServeContext serve, NodeQuotas quotas) {
    this.serve = serve;
    this.quotas = quotas;
    replicaWaits = Shares.of(serve.vertx()).divide(Scarce.REPLICA_WAITS, REPLICA_WAITS_MAX);
    groups = serve.groups();
    compressed = new CompressedBatches(serve.vertx());
  }

  void add(LogGroupServer group) {
    appenders.add(new Appender(serve, group.log()));
  }

  /** Answers an APPEND request. */
  Future<Buffer> append(Buffer request, Asker asker) {
    serve.meters().appendRequests.increment();
    ByteBuffer body = Frames.body(request);
    List<AppendBody.Item> items = AppendBody.read(body);
    if (items.stream().anyMatch(item -> item.origin() != null)) {
      throw INVALID.error("only nodes move delayed batches");
    }
    return append(items, body, false, asker);
  }

  /** Answers a MOVE_DELAYED request. */
  Future<Buffer> move(Buffer request) {
    ByteBuffer body = Frames.body(request);
    return append(AppendBody.read(body), body, true, Asker.NODE);
  }

  /**
   * @param paid they spend no quota
   */
  private Future<Buffer> append(
      List<AppendBody.Item> items, ByteBuffer body, boolean paid, Asker asker) {
    int group = groupOf(items);
    serve.group(group).requireLeader();
    serve.node().disk().requireRoom();
    int messages = 0;
    int level = FeatureLevel.FIRST;
    for (AppendBody.Item item : items) {
      Batch batch = item.batch().verified();
      messages += batch.count();
      if (item.origin() != null) {
        level = Math.max(level, FeatureLevel.MOVED_IDS);
      }
      if (batch.isCompressed()) {
        level = Math.max(level, FeatureLevel.COMPRESSION);
      } else {
        batch.checkMessages();
      }
    }
    // Here, so that it refuses this request alone, and not those that it would be joined with.
    DataState state = groups.get(group).state();
    state.requireLevel(level);
    if (asker.user() != null
        && state.levelOfCluster() >= FeatureLevel.TABLE_OWNERS
        && serve.group(group).log().leadership().ready()) {
      requireOpened(items, state.tables());
    }
    Future<Void> turn = paid ? null : quotas.turn(items);
    if (turn == null) {
      return append(group, items, messages, level, body, asker);
    }
    int count = messages;
    int needed = level;
    return turn.compose(
        passed -> {
          serve.group(group).requireLeader();
          return append(group, items, count, needed, body, asker);
        });
  }

  /**
   * A batch of a user's program must not bring a producer whose id does not say which user's it is:
   * opening says so. Else one user could bring producers of nobody, or of as many groups as it has.
   *
   * @throws RefusedException UNKNOWN_PRODUCER, upon which programs open their next epoch
   */
  static void requireOpened(List<AppendBody.Item> items, DataTables tables) {
    for (AppendBody.Item item : items) {
      long id = item.batch().producerId();
      boolean unsaid = id != 0 && (ProducerIds.tag(id) == 0 || ProducerIds.isOfGroup(id));
      if (unsaid && item.batch().firstSequence() == 0 && tables.producer(id) == null) {
        ShardRecord shard = tables.shard(item.shard());
        if (shard != null && !shard.sealed()) {
          throw UNKNOWN_PRODUCER.error(
              "producer %s is not known here: open an epoch of it before you send", id);
        }
      }
    }
  }

  private Future<Buffer> append(
      int group,
      List<AppendBody.Item> items,
      int messages,
      int level,
      ByteBuffer body,
      Asker asker) {
    return appenders
        .get(group)
        .append(items, messages, level, body, compressed.check(items, asker), asker)
        .map(results -> Frames.answer(results.encode()));
  }

  /**
   * Answers an AWAIT_REPLICAS request: when an entry is on the disk of every voter. One request
   * stands for all batches of the entry, and of those before it.
   */
  Future<Buffer> awaitReplicas(Buffer request, Asker asker) {
    ReplicasRequest asked = ReplicasRequest.decode(Frames.body(request));
    LogGroupServer group = serve.group(asked.dataGroup());
    if (asked.logIndex() < 0) {
      // Before it is ready, it may not know all committed entries.
      group.requireReady();
    } else {
      group.requireLeader();
    }
    Promise<Buffer> answer = Promise.promise();
    if (asker.user() != null) {
      // Each log group has a limit for all users.
      FairShare.Account account = replicaWaits.of(asker.user());
      account.take(1);
      answer.future().onComplete(done -> account.give(1));
    }
    group
        .log()
        .awaitReplicas(asked.logIndex(), asked.waitMillis())
        .whenComplete((known, failure) -> serve.run(() -> finish(answer, known, failure)));
    return answer.future();
  }

  private static void finish(Promise<Buffer> answer, Replicas known, Throwable failure) {
    if (failure != null) {
      answer.fail(Answers.unwrap(failure));
    } else {
      answer.complete(
          Frames.answer(new ReplicasAnswer(known.everywhere(), known.missing()).encode().view()));
    }
  }

  /** The queue of each data log group, in their order. */
  List<Appender.Queue> queues() {
    return appenders.stream().map(Appender::queue).toList();
  }

  private int groupOf(List<AppendBody.Item> items) {
    Shard first = items.get(0).shard();
    int group = serve.numberOf(first);
    for (AppendBody.Item item : items) {
      if (serve.numberOf(item.shard()) != group) {
        throw INVALID.error(
            "shards %s and %s belong to different log groups: send them in separate requests",
            first, item.shard());
      }
    }
    return group;
  }
}
