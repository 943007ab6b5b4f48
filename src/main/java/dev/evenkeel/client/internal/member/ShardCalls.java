package dev.evenkeel.client.internal.member;

import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.Call;
import dev.evenkeel.bus.Calls;
import dev.evenkeel.bus.ClusterDirectory;
import dev.evenkeel.bus.ClusterView;
import dev.evenkeel.bus.FetchAnswer;
import dev.evenkeel.bus.FetchRequest;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.LeaderClient;
import dev.evenkeel.bus.LeaderClient.Retry;
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
import dev.evenkeel.protocol.wire.Bytes;
import dev.evenkeel.protocol.wire.FeatureLevel;
import dev.evenkeel.protocol.wire.RetryAnswer;
import dev.evenkeel.protocol.wire.RetryRequest;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import java.nio.ByteBuffer;
import java.util.function.Consumer;

/**
 * Requests to the leader of a shard. If a refusal names the leader, the request follows it at once;
 * other retries are up to the caller. Every failure is a {@link RefusedException}.
 */
final class ShardCalls implements LogCalls, PublishLog {
  /** How long the answer to a fetch may take beyond the fetch's own wait. */
  private static final long FETCH_GRACE_MILLIS = 5_000;

  private static final long CONTROL_TIMEOUT_MILLIS = 3_000;

  private static final long APPEND_TIMEOUT_MILLIS = 5_000;

  private static final Retry RETRY = Retry.hops(2);

  private final Link link;
  private final ClusterDirectory directory;
  private final LeaderClient leaders;
  private final String group;
  private final FetchGroups groups;

  /**
   * @param context of the consumer
   */
  ShardCalls(Link link, ClusterDirectory directory, String group, OwnContext context) {
    this.link = link;
    this.directory = directory;
    leaders = new LeaderClient(link, directory);
    this.group = group;
    groups = new FetchGroups(link, context, directory::leaderOf, this::known, this::read);
  }

  @Override
  public Future<FetchAnswer> fetch(FetchRequest request, boolean quiet, Consumer<String> asked) {
    return quiet ? groups.fetch(request, asked) : read(request, asked);
  }

  @Override
  public Future<FetchAnswer> fetchAhead(FetchRequest request, Consumer<String> asked) {
    FetchRequest known = known(request);
    return read(known, Frames.request(Op.FETCH, known.encode()), asked)
        .map(answer -> FetchAnswer.decode(answer, known.placed()).checked());
  }

  /** Reads without owning the shard; waits for messages as a fetch does. */
  Future<FetchAnswer> browse(FetchRequest request, boolean quiet, Consumer<String> asked) {
    return fetch(request.browse(), quiet, asked);
  }

  /** The request in the form that the nodes know. */
  private FetchRequest known(FetchRequest request) {
    ClusterView view = directory.current();
    boolean placed = view != null && view.featureLevel() >= FeatureLevel.PLACED_FETCHES;
    return placed ? request : request.with(null);
  }

  private Future<FetchAnswer> read(FetchRequest wanted, Consumer<String> asked) {
    FetchRequest request = known(wanted);
    Op op = request.group().isEmpty() ? Op.BROWSE : Op.FETCH;
    return read(request, Frames.request(op, request.encode()), asked)
        .recover(
            failure ->
                RefusedException.of(failure).refusal() == Refusal.INVALID
                    ? read(request, Frames.request(op, request.encodeFormer()), asked)
                    : Future.failedFuture(failure))
        .map(answer -> FetchAnswer.decode(answer, request.placed()).checked());
  }

  private Future<ByteBuffer> read(FetchRequest request, Buffer frame, Consumer<String> asked) {
    return leaders.ask(
        request.shard(),
        RETRY,
        (dataGroup, leader) -> {
          asked.accept(leader);
          return link.request(
                  Addresses.data(leader), frame, request.waitMillis() + FETCH_GRACE_MILLIS)
              .map(Frames::answerBody);
        });
  }

  @Override
  public Future<Lease> readLease(Shard shard) {
    return readLease(new Calls.ReadLease(group, shard, null));
  }

  @Override
  public Future<Lease> readParentLease(Shard shard) {
    return readLease(new Calls.ReadLease(group, shard, true));
  }

  private Future<Lease> readLease(Calls.ReadLease question) {
    return control(question.shard(), Calls.READ_LEASE, question)
        .map(
            answer -> {
              if (Calls.taken(answer) instanceof Reply.OfLease read) {
                return read.lease();
              }
              throw new RefusedException(Refusal.UNAVAILABLE, "the answer holds no lease");
            });
  }

  @Override
  public Future<RetryAnswer> fetchRetries(RetryRequest request) {
    return control(request.shard(), Calls.FETCH_RETRIES, request);
  }

  /** Finds the offset at which {@code start} lies in a shard. */
  Future<Long> findOffset(Shard shard, StartAt start) {
    return control(shard, Calls.FIND_OFFSET, new Calls.FindOffset(shard, start));
  }

  private <Q, A> Future<A> control(Shard shard, Call<Q, A> call, Q question) {
    return leaders
        .request(shard, Addresses::control, call.request(question), CONTROL_TIMEOUT_MILLIS, RETRY)
        .map(call::answered);
  }

  @Override
  public Future<Reply> submit(Shard shard, DataCommand command) {
    return leaders.submit(shard, command, CONTROL_TIMEOUT_MILLIS, RETRY);
  }

  @Override
  public Future<Reply> submit(int dataGroup, DataCommand command) {
    return leaders.submit(dataGroup, command, CONTROL_TIMEOUT_MILLIS, RETRY);
  }

  @Override
  public Future<ByteBuffer> append(int dataGroup, Bytes body) {
    return leaders.request(
        dataGroup, Addresses::data, Frames.request(Op.APPEND, body), APPEND_TIMEOUT_MILLIS, RETRY);
  }

  @Override
  public Future<Reply> submitMeta(MetaCommand command) {
    return leaders.submit(command, CONTROL_TIMEOUT_MILLIS, RETRY);
  }

  @Override
  public boolean ownedProducers() {
    ClusterView view = directory.current();
    return view != null && view.featureLevel() >= FeatureLevel.PRODUCER_OWNERS;
  }

  @Override
  public boolean isOpen(Shard shard) {
    ClusterView view = directory.current();
    boolean open =
        view != null
            && view.topics().stream()
                .anyMatch(each -> each.id() == shard.topicId() && each.open().has(shard.shard()));
    if (open) {
      directory.refresh();
    }
    return open;
  }

  @Override
  public int dataGroups() {
    return directory.dataGroups();
  }

  @Override
  public int group(Shard shard) {
    return directory.shardGroups().of(shard);
  }

  @Override
  public boolean isAdded(int dataGroup) {
    return dataGroup >= directory.shardGroups().formedGroups();
  }

  @Override
  public String leaderOf(Shard shard) {
    return directory.leaderOf(shard);
  }
}
