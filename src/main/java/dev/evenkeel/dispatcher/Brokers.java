package dev.evenkeel.dispatcher;

import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.ClusterView;
import dev.evenkeel.bus.FrameCodec;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.LeaderWatch;
import dev.evenkeel.bus.Op;
import dev.evenkeel.bus.ShardStatus;
import dev.evenkeel.bus.VertxLink;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.GroupInfo;
import dev.evenkeel.protocol.GroupLease;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.MoveRecord;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.ByteReader;
import dev.evenkeel.protocol.wire.Bytes;
import dev.evenkeel.protocol.wire.CommandCodec;
import dev.evenkeel.protocol.wire.RecordCodec;
import dev.evenkeel.protocol.wire.ReplyCodec;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.eventbus.DeliveryOptions;
import io.vertx.core.eventbus.ReplyException;
import java.util.ArrayList;
import java.util.List;

/**
 * The dispatcher's questions to brokers. Futures fail with {@link RefusedException} only. To be
 * used on one context.
 */
final class Brokers {
  /**
   * @param statuses of the shards of the data groups that answered
   * @param complete all of them answered
   */
  record Shards(List<ShardStatus> statuses, boolean complete) {}

  private final Vertx vertx;
  private final String node;
  private final DeliveryOptions options;
  private final DeliveryOptions localOptions;
  private List<String> dataLeaders = List.of();
  private boolean leadersOld = true;
  private final LeaderWatch watch = new LeaderWatch();

  Brokers(Vertx vertx, String node, long requestTimeoutMillis) {
    this.vertx = vertx;
    FrameCodec.register(vertx);
    this.node = node;
    this.options = new DeliveryOptions().setSendTimeout(requestTimeoutMillis);
    this.localOptions = new DeliveryOptions(options).setLocalOnly(true);
  }

  /** The view of this node's own broker, which leads meta and so knows the topics of now. */
  Future<ClusterView> view() {
    return request(Addresses.VIEW, Buffer.buffer(), localOptions)
        .map(
            answer -> {
              ClusterView view = ClusterView.fromJson(Bodies.answeredJson(answer));
              dataLeaders = new ArrayList<>(view.dataLeaders());
              leadersOld = false;
              return view;
            })
        .recover(Brokers::refused);
  }

  /** The log has told who leads a data group now. */
  void leads(int dataGroup, String leader) {
    if (leader != null && dataGroup < dataLeaders.size()) {
      dataLeaders.set(dataGroup, leader);
      watch.leads(dataGroup, leader);
    }
  }

  Future<List<GroupInfo>> groups() {
    return request(
            Addresses.control(node), Frames.request(Op.READ_GROUPS, new Bytes()), localOptions)
        .map(
            answer -> {
              ByteReader in = Frames.answerReader(answer);
              int count = in.count();
              List<GroupInfo> groups = new ArrayList<>(count);
              for (int i = 0; i < count; i++) {
                groups.add(RecordCodec.group(in));
              }
              return groups;
            })
        .recover(Brokers::refused);
  }

  /** The leases of groups that were ever granted. */
  Future<List<GroupLease>> groupLeases() {
    return request(
            Addresses.control(node),
            Frames.request(Op.READ_GROUP_LEASES, new Bytes()),
            localOptions)
        .map(
            answer -> {
              ByteReader in = Frames.answerReader(answer);
              int count = in.count();
              List<GroupLease> leases = new ArrayList<>(count);
              for (int i = 0; i < count; i++) {
                leases.add(RecordCodec.GROUP_LEASE.read(in));
              }
              return leases;
            })
        .recover(Brokers::refused);
  }

  /**
   * Takes a group's lease for a run of a holder. Does not fail: the reply is {@link
   * Reply.OfGroupLease} or a refusal, FENCED if the lease is not at {@code expectedTerm}. After
   * INDETERMINATE the same may be asked again.
   *
   * @param expectedTerm the term that it was last seen at; 0: never granted
   */
  Future<Reply> grantGroupLease(String group, String holder, String instance, long expectedTerm) {
    return submitMeta(new MetaCommand.GrantGroupLease(group, holder, instance, expectedTerm));
  }

  /** Lets go of a group's lease. Does not fail, and may be repeated, like the grant. */
  Future<Reply> releaseGroupLease(String group, String instance, long term) {
    return submitMeta(new MetaCommand.ReleaseGroupLease(group, instance, term));
  }

  /** The rebalance history, oldest first. */
  Future<List<MoveRecord>> moves() {
    return request(
            Addresses.control(node), Frames.request(Op.READ_MOVES, new Bytes()), localOptions)
        .map(answer -> RecordCodec.MOVES.read(Frames.answerReader(answer)))
        .recover(Brokers::refused);
  }

  /**
   * Shards of all data groups with the leases of {@code group}, or of all groups if null. Does not
   * fail: data groups that do not answer are missing.
   */
  Future<Shards> shards(String group) {
    Future<Void> leaders =
        leadersOld ? view().<Void>mapEmpty().otherwiseEmpty() : Future.succeededFuture();
    return leaders.compose(ready -> shardsOfAll(group));
  }

  private Future<Shards> shardsOfAll(String group) {
    List<Future<List<ShardStatus>>> parts = new ArrayList<>();
    for (int i = 0; i < dataLeaders.size(); i++) {
      parts.add(shardsOf(i, group));
    }
    return Future.join(parts)
        .transform(
            joined -> {
              List<ShardStatus> statuses = new ArrayList<>();
              boolean complete = !parts.isEmpty();
              for (Future<List<ShardStatus>> part : parts) {
                if (part.succeeded()) {
                  statuses.addAll(part.result());
                } else {
                  complete = false;
                }
              }
              return Future.succeededFuture(new Shards(statuses, complete));
            });
  }

  private Future<List<ShardStatus>> shardsOf(int dataGroup, String group) {
    Buffer body = Frames.request(Op.READ_SHARDS, new Bytes().i32(dataGroup).text(group));
    return toLeader(dataGroup, body).map(answer -> ShardStatus.read(Frames.answerReader(answer)));
  }

  /** A command about one shard, to its leader. Does not fail: a refusal is a reply. */
  Future<Reply> submit(Shard shard, DataCommand command) {
    return dataLeaders.isEmpty()
        ? Future.succeededFuture(Reply.refused(Refusal.UNAVAILABLE, "no leader known"))
        : submit(shard.dataGroup(dataLeaders.size()), command);
  }

  private Future<Reply> submit(int dataGroup, DataCommand command) {
    Bytes body = new Bytes().i32(dataGroup);
    CommandCodec.write(body, command);
    return reply(toLeader(dataGroup, Frames.request(Op.SUBMIT_DATA, body)))
        .compose(
            reply ->
                reply instanceof Reply.Refused no
                        && no.refusal() == Refusal.WRONG_VERSION
                        && command instanceof DataCommand.Grant grant
                        && !grant.withUsualTimeout().equals(grant)
                    ? submit(dataGroup, grant.withUsualTimeout())
                    : Future.succeededFuture(reply));
  }

  /** Does not fail: a refusal is a reply. */
  Future<Reply> submitMeta(MetaCommand command) {
    Bytes body = new Bytes();
    CommandCodec.write(body, command);
    return reply(
        request(Addresses.control(node), Frames.request(Op.SUBMIT_META, body), localOptions));
  }

  /**
   * To every data group. Does not fail: the reply is {@link Reply.OfNumber} of the highest number
   * that one of them answers, or a refusal if one has not taken it.
   */
  Future<Reply> submitEverywhere(DataCommand command) {
    if (dataLeaders.isEmpty()) {
      return Future.succeededFuture(Reply.refused(Refusal.UNAVAILABLE, "no leader known"));
    }
    List<Future<Reply>> replies = new ArrayList<>();
    for (int i = 0; i < dataLeaders.size(); i++) {
      replies.add(submit(i, command));
    }
    return Future.join(replies)
        .map(
            joined -> {
              long highest = 0;
              for (Future<Reply> each : replies) {
                if (each.result() instanceof Reply.Refused) {
                  return each.result();
                }
                if (!(each.result() instanceof Reply.OfNumber of)) {
                  return Reply.refused(Refusal.INTERNAL, "an answer without a number");
                }
                highest = Math.max(highest, of.number());
              }
              return new Reply.OfNumber(highest);
            });
  }

  private Future<Reply> reply(Future<Buffer> answer) {
    return answer
        .map(frame -> ReplyCodec.decode(Frames.answerBody(frame)))
        .recover(Brokers::<Reply>refused)
        .otherwise(
            failure -> Reply.refused(((RefusedException) failure).refusal(), failure.getMessage()));
  }

  /** To the leader of a data group; once more if that says who the leader is. */
  private Future<Buffer> toLeader(int dataGroup, Buffer body) {
    return toLeaderOnce(dataGroup, body)
        .recover(
            failure -> {
              leadersOld = true;
              if (failure instanceof RefusedException refused
                  && refused.refusal() == Refusal.NOT_LEADER
                  && refused.getMessage() != null
                  && !refused.getMessage().isEmpty()
                  && dataGroup < dataLeaders.size()) {
                dataLeaders.set(dataGroup, refused.getMessage());
                return toLeaderOnce(dataGroup, body);
              }
              return Future.failedFuture(failure);
            });
  }

  private Future<Buffer> toLeaderOnce(int dataGroup, Buffer body) {
    String leader = dataGroup < dataLeaders.size() ? dataLeaders.get(dataGroup) : null;
    if (leader == null) {
      return Future.failedFuture(
          new RefusedException(
              Refusal.UNAVAILABLE, "data group " + dataGroup + " has no leader now"));
    }
    return watch
        .whileLeads(dataGroup, leader, request(Addresses.control(leader), body, options))
        .compose(
            answer -> {
              Frames.answerBody(answer);
              return Future.succeededFuture(answer);
            })
        .recover(Brokers::refused);
  }

  private Future<Buffer> request(String address, Buffer body, DeliveryOptions how) {
    return vertx
        .eventBus()
        .<Buffer>request(address, body, how)
        .map(answer -> answer.body())
        .recover(failure -> refused(address, failure));
  }

  private static <T> Future<T> refused(String address, Throwable failure) {
    return failure instanceof ReplyException reply
        ? Future.failedFuture(VertxLink.refusal(address, reply))
        : Future.failedFuture(failure);
  }

  private static <T> Future<T> refused(Throwable failure) {
    if (failure instanceof RefusedException) {
      return Future.failedFuture(failure);
    }
    return Future.failedFuture(
        new RefusedException(Refusal.UNAVAILABLE, "unreadable answer: " + failure));
  }
}
