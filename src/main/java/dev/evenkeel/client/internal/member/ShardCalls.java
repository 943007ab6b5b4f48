package dev.evenkeel.client.internal.member;

import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.ClusterDirectory;
import dev.evenkeel.bus.ClusterView;
import dev.evenkeel.bus.FetchAnswer;
import dev.evenkeel.bus.FetchRequest;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.Link;
import dev.evenkeel.bus.Op;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.StartAt;
import dev.evenkeel.protocol.wire.ByteReader;
import dev.evenkeel.protocol.wire.Bytes;
import dev.evenkeel.protocol.wire.CommandCodec;
import dev.evenkeel.protocol.wire.RecordCodec;
import dev.evenkeel.protocol.wire.ReplyCodec;
import dev.evenkeel.protocol.wire.RetryAnswer;
import dev.evenkeel.protocol.wire.RetryRequest;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import java.nio.ByteBuffer;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * Requests to the leader of a shard. A leader that a refusal names is followed at once; all else is
 * the caller's to repeat. Every failure is a {@link RefusedException}.
 */
final class ShardCalls implements LogCalls, PublishLog {
  /** What a fetch may take beyond its own wait. */
  private static final long FETCH_GRACE_MILLIS = 5_000;

  private static final long CONTROL_TIMEOUT_MILLIS = 3_000;

  private static final long APPEND_TIMEOUT_MILLIS = 5_000;

  /** Leaders that are followed in one call, at most. */
  private static final int HOPS_MAX = 3;

  private final Link link;
  private final ClusterDirectory directory;
  private final String group;

  ShardCalls(Link link, ClusterDirectory directory, String group) {
    this.link = link;
    this.directory = directory;
    this.group = group;
  }

  @Override
  public Future<FetchAnswer> fetch(FetchRequest request, Consumer<String> asked) {
    return read(Op.FETCH, request, asked);
  }

  /** Reads without owning the shard; waits for messages as a fetch does. */
  Future<FetchAnswer> browse(FetchRequest request, Consumer<String> asked) {
    return read(Op.BROWSE, request.browse(), asked);
  }

  private Future<FetchAnswer> read(Op op, FetchRequest request, Consumer<String> asked) {
    return read(request, Frames.request(op, request.encode()), asked)
        .recover(
            failure ->
                Refusals.of(failure).refusal() == Refusal.INVALID
                    ? read(request, Frames.request(op, request.encodeFormer()), asked)
                    : Future.failedFuture(failure))
        .map(FetchAnswer::decode);
  }

  private Future<ByteBuffer> read(FetchRequest request, Buffer body, Consumer<String> asked) {
    return call(
        request.shard(),
        Addresses::data,
        view -> body,
        request.waitMillis() + FETCH_GRACE_MILLIS,
        HOPS_MAX,
        asked);
  }

  @Override
  public Future<Lease> readLease(Shard shard) {
    Bytes body = new Bytes(64).text(group);
    RecordCodec.write(body, shard);
    Buffer request = Frames.request(Op.READ_LEASE, body);
    return call(
            shard,
            Addresses::control,
            view -> request,
            CONTROL_TIMEOUT_MILLIS,
            HOPS_MAX,
            node -> {})
        .map(
            answer -> {
              if (reply(answer) instanceof Reply.OfLease read) {
                return read.lease();
              }
              throw new RefusedException(Refusal.UNAVAILABLE, "the answer holds no lease");
            });
  }

  @Override
  public Future<RetryAnswer> fetchRetries(RetryRequest request) {
    Buffer body = Frames.request(Op.FETCH_RETRIES, request.encode());
    return call(
            request.shard(),
            Addresses::control,
            view -> body,
            CONTROL_TIMEOUT_MILLIS,
            HOPS_MAX,
            node -> {})
        .map(RetryAnswer::decode);
  }

  @Override
  public Future<Reply> submit(Shard shard, DataCommand command) {
    return call(
            shard,
            Addresses::control,
            view -> {
              Bytes body = new Bytes(128).i32(shard.dataGroup(view.dataLeaders().size()));
              CommandCodec.write(body, command);
              return Frames.request(Op.SUBMIT_DATA, body);
            },
            CONTROL_TIMEOUT_MILLIS,
            HOPS_MAX,
            node -> {})
        .map(ShardCalls::reply);
  }

  /** Where a shard begins for {@code start}. */
  Future<Long> findOffset(Shard shard, StartAt start) {
    Bytes body = new Bytes(64);
    RecordCodec.write(body, shard);
    RecordCodec.START.write(body, start);
    Buffer request = Frames.request(Op.FIND_OFFSET, body);
    return call(
            shard,
            Addresses::control,
            view -> request,
            CONTROL_TIMEOUT_MILLIS,
            HOPS_MAX,
            node -> {})
        .map(answer -> new ByteReader(answer).i64());
  }

  @Override
  public Future<ByteBuffer> append(Shard shard, Bytes body) {
    Buffer request = Frames.request(Op.APPEND, body);
    return call(
        shard, Addresses::data, view -> request, APPEND_TIMEOUT_MILLIS, HOPS_MAX, node -> {});
  }

  @Override
  public Future<Reply> submitMeta(MetaCommand command) {
    ClusterView view = directory.current();
    String leader = view == null ? null : view.metaLeader();
    if (leader == null) {
      directory.refresh();
      return Future.failedFuture(
          new RefusedException(Refusal.UNAVAILABLE, "no leader of the meta group is known"));
    }
    Bytes body = new Bytes();
    CommandCodec.write(body, command);
    Buffer request = Frames.request(Op.SUBMIT_META, body);
    return directory
        .whileLeads(
            ClusterView.META,
            leader,
            link.request(Addresses.control(leader), request, CONTROL_TIMEOUT_MILLIS))
        .map(answer -> reply(Frames.answerBody(answer)))
        .recover(
            failure -> {
              RefusedException refused = Refusals.of(failure);
              if (refused.refusal() == Refusal.NOT_LEADER) {
                directory.metaLeaderHint(refused.getMessage());
              }
              directory.refresh();
              return Future.failedFuture(refused);
            });
  }

  @Override
  public int dataGroups() {
    ClusterView view = directory.current();
    return view == null ? 0 : view.dataLeaders().size();
  }

  @Override
  public String leaderOf(Shard shard) {
    return directory.leaderOf(shard);
  }

  private static Reply reply(ByteBuffer answer) {
    Reply reply = ReplyCodec.decode(answer);
    if (reply instanceof Reply.Refused refused) {
      throw refused.exception();
    }
    return reply;
  }

  private Future<ByteBuffer> call(
      Shard shard,
      Function<String, String> address,
      Function<ClusterView, Buffer> body,
      long timeoutMillis,
      int hops,
      Consumer<String> asked) {
    ClusterView view = directory.current();
    String leader = view == null ? null : view.leaderOf(shard);
    if (leader == null) {
      directory.refresh();
      return Future.failedFuture(
          new RefusedException(Refusal.UNAVAILABLE, "no leader of shard " + shard + " is known"));
    }
    asked.accept(leader);
    Future<Buffer> answer = link.request(address.apply(leader), body.apply(view), timeoutMillis);
    return directory
        .whileLeads(shard, leader, answer)
        .map(Frames::answerBody)
        .recover(
            failure -> {
              RefusedException refused = Refusals.of(failure);
              if (refused.refusal() == Refusal.NOT_LEADER) {
                String hint = refused.getMessage();
                directory.leaderHint(shard, hint);
                if (hint != null && !hint.isEmpty() && !hint.equals(leader) && hops > 1) {
                  return call(shard, address, body, timeoutMillis, hops - 1, asked);
                }
              }
              if (refused.refusal().retriable()) {
                directory.refresh();
              }
              return Future.failedFuture(refused);
            });
  }
}
