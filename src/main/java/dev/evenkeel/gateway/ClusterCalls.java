package dev.evenkeel.gateway;

import dev.evenkeel.api.RecordJson;
import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.Call;
import dev.evenkeel.bus.Calls;
import dev.evenkeel.bus.ClusterDirectory;
import dev.evenkeel.bus.ClusterView;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.GroupQuestions;
import dev.evenkeel.bus.LeaderClient;
import dev.evenkeel.bus.LeaderClient.Retry;
import dev.evenkeel.bus.Link;
import dev.evenkeel.bus.Op;
import dev.evenkeel.bus.ViewQuestion;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.StartAt;
import dev.evenkeel.protocol.TopicInfo;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;

/**
 * Sends requests to the leaders of log groups. It repeats a request that surely had no effect
 * (NOT_LEADER, UNAVAILABLE) or that only reads, at most {@link #ATTEMPTS_MAX} times in all. The
 * caller gets every other refusal, also INDETERMINATE.
 */
final class ClusterCalls {
  static final int ATTEMPTS_MAX = 8;
  private static final long PAUSE_MILLIS = 250;

  /** Most requests of one {@link #forEach} at once; a cluster has at most 256 data groups. */
  private static final int AT_ONCE_MAX = 256;

  private static final long REQUEST_TIMEOUT_MILLIS = 10_000;

  /** Short: somebody waits for the answer, and a dead node must not make it much later. */
  static final long NODE_TIMEOUT_MILLIS = 1_000;

  /** No attempt begins later than this: the caller waits for 30 s. */
  private static final long ATTEMPTS_MILLIS_MAX = 15_000;

  private static final Retry CHANGING =
      retry(refusal -> refusal == Refusal.NOT_LEADER || refusal == Refusal.UNAVAILABLE);

  /** For requests that only read, and so may be repeated after any of these refusals. */
  private static final Retry ASKING =
      retry(
          refusal ->
              refusal == Refusal.NOT_LEADER
                  || refusal == Refusal.UNAVAILABLE
                  || refusal == Refusal.INDETERMINATE);

  private final Link link;

  /** Who leads. It hears of changes sooner than repeated requests would. */
  private final ClusterDirectory directory;

  private final LeaderClient leaders;
  private final Majority majority;

  /** On whose behalf it asks brokers; null: of the node. */
  private final String user;

  ClusterCalls(Link link) {
    this.link = link;
    directory = new ClusterDirectory(link);
    leaders = new LeaderClient(link, directory);
    majority = new Majority(link, this::view);
    user = null;
  }

  private ClusterCalls(ClusterCalls all, String user) {
    link = all.link;
    directory = all.directory;
    leaders = all.leaders;
    majority = all.majority;
    this.user = user;
  }

  /** The same on behalf of a user, so that what it takes of brokers counts as the user's. */
  ClusterCalls of(String user) {
    return user == null ? this : new ClusterCalls(this, user);
  }

  private LeaderClient.Send<ByteBuffer> toControl(Buffer request) {
    return (group, leader) ->
        link.requestFor(user, Addresses.control(leader), request, REQUEST_TIMEOUT_MILLIS)
            .map(Frames::answerBody);
  }

  private static Retry retry(Predicate<Refusal> again) {
    return new Retry(2, again, ATTEMPTS_MAX, PAUSE_MILLIS, ATTEMPTS_MILLIS_MAX, () -> false);
  }

  /** Explains why nobody could serve a request. */
  Majority majority() {
    return majority;
  }

  void close() {
    directory.close();
  }

  /** The view of a broker that knows all topics. Fails with UNAVAILABLE if none is found. */
  Future<ClusterView> topics() {
    return view().compose(ClusterCalls::caughtUp);
  }

  private static Future<ClusterView> caughtUp(ClusterView view) {
    return view.caughtUp()
        ? Future.succeededFuture(view)
        : Future.failedFuture(view.unknownTopics());
  }

  /**
   * As {@link #topics}, but with what was just created, too: from the leader of the meta group if
   * it is found, else the newest of the views that were seen.
   */
  Future<ClusterView> newestTopics() {
    return answered(directory.newest()).compose(ClusterCalls::caughtUp);
  }

  /**
   * As {@link #topics}; before a shard counts as missing, the leader of the meta group is asked.
   *
   * @param topic its name
   * @param shard negative: any shard of the topic
   */
  Future<ClusterView> topicsWith(String topic, int shard) {
    return topics()
        .compose(
            view -> {
              TopicInfo found = view.topic(topic);
              boolean has = found != null && (shard < 0 || found.has(shard));
              return has ? Future.succeededFuture(view) : newestTopics();
            });
  }

  /** The view of some broker now, if possible of one that has caught up. */
  Future<ClusterView> view() {
    ClusterView known = directory.current();
    return answered(
        ViewQuestion.ask(link, known)
            .map(view -> known == null || !view.caughtUp() ? view : view.notOlderThan(known)));
  }

  /** The request only reads, so a missing answer means UNAVAILABLE. */
  private static Future<ClusterView> answered(Future<ClusterView> view) {
    return view.recover(
        failure ->
            Future.failedFuture(
                Refusal.UNAVAILABLE.error("no broker answers: " + ApiErrors.words(failure))));
  }

  <Q, A> Future<A> toMetaLeader(Call<Q, A> call, Q question) {
    return toDataLeader(ClusterView.META, call, question);
  }

  /**
   * As {@link #toMetaLeader(Call, Object)}, on behalf of a user.
   *
   * @param user null: none
   */
  <Q, A> Future<A> toMetaLeader(Call<Q, A> call, Q question, String user) {
    Buffer request = call.request(question);
    return answer(
            "meta",
            call.op().onlyAsks(),
            retry ->
                leaders.ask(
                    ClusterView.META,
                    retry,
                    (group, leader) ->
                        link.requestFor(
                                user, Addresses.control(leader), request, REQUEST_TIMEOUT_MILLIS)
                            .map(Frames::answerBody)))
        .map(call::answered);
  }

  /**
   * @param group number of the data group, or {@link ClusterView#META}
   */
  <Q, A> Future<A> toDataLeader(int group, Call<Q, A> call, Q question) {
    Buffer request = call.request(question);
    return answer(
            group == ClusterView.META ? "meta" : "d" + group,
            call.op().onlyAsks(),
            retry -> leaders.ask(group, retry, toControl(request)))
        .map(call::answered);
  }

  <Q, A> Future<A> toLeaderOf(Shard shard, Call<Q, A> call, Q question) {
    return toLeaderOf(shard, call.op(), call.request(question)).map(call::answered);
  }

  Future<ByteBuffer> toLeaderOf(Shard shard, Op op, Buffer request) {
    return answer(null, op.onlyAsks(), retry -> leaders.ask(shard, retry, toControl(request)));
  }

  /** Submits a command to the meta group; fails if it is refused. */
  Future<Reply> submit(MetaCommand command) {
    return toMetaLeader(Calls.SUBMIT_META, command).map(Calls::taken);
  }

  /** The offset at which a consumer that starts there begins. */
  Future<Long> offset(Shard shard, StartAt start) {
    return toLeaderOf(shard, Calls.FIND_OFFSET, new Calls.FindOffset(shard, start));
  }

  /** Succeeds if the dispatcher of a node answers. The leader of meta may not serve yet. */
  Future<Void> dispatcherAnswers(String node, long timeoutMillis) {
    Buffer question = GroupQuestions.request(new GroupQuestions.Rebalances(null, 0));
    return link.request(Addresses.groups(node), question, timeoutMillis)
        .map(Frames::answerBody)
        .mapEmpty();
  }

  /** The id of a node as a member of the cluster. Fails with UNAVAILABLE if it does not answer. */
  Future<String> clusterMemberOf(String node) {
    Buffer question = GroupQuestions.request(new GroupQuestions.WhoIs(true));
    return link.request(Addresses.groups(node), question, NODE_TIMEOUT_MILLIS)
        .map(Frames::answerBody)
        .map(answer -> new JsonObject(Frames.copy(answer)))
        .map(RecordJson.of(GroupQuestions.MemberId.class)::read)
        .map(GroupQuestions.MemberId::clusterMember)
        .recover(
            failure ->
                Future.failedFuture(
                    Refusal.UNAVAILABLE.error(
                        "node '%s' does not answer, so it is unknown who runs on it: %s",
                        node, ApiErrors.words(failure))));
  }

  /** Asks the broker of each node about its own. The futures of {@code read} must not fail. */
  static <R> Future<Map<String, R>> ofEachNode(
      Link link,
      Call<Void, ?> call,
      Collection<String> nodes,
      Function<Future<Buffer>, Future<R>> read) {
    Map<String, Future<R>> asked = new HashMap<>();
    for (String node : nodes) {
      Buffer question = call.request(null);
      asked.put(
          node, read.apply(link.request(Addresses.control(node), question, NODE_TIMEOUT_MILLIS)));
    }
    return Future.join(new ArrayList<>(asked.values()))
        .map(
            all -> {
              Map<String, R> answers = new HashMap<>();
              asked.forEach((node, answer) -> answers.put(node, answer.result()));
              return answers;
            });
  }

  /** Asks for each data group, by its number, and gives the answers in their order. */
  static <R> Future<List<R>> forEachDataGroup(ClusterView view, IntFunction<Future<R>> ask) {
    return forEach(IntStream.range(0, view.dataLeaders().size()).boxed().toList(), ask::apply);
  }

  /**
   * Asks the active dispatcher something that changes nothing; the answer is JSON text.
   *
   * @param question of {@link GroupQuestions}
   */
  Future<Buffer> askDispatcher(Record question) {
    return askMetaLeader(
        Addresses::groups, RecordJson.json(question), REQUEST_TIMEOUT_MILLIS, true);
  }

  /** Has the active dispatcher change something; the answer is JSON text. */
  Future<Buffer> tellDispatcher(Record question, long timeoutMillis) {
    return askMetaLeader(Addresses::groups, RecordJson.json(question), timeoutMillis, false);
  }

  /**
   * Asks the node that leads meta; the answer is JSON text.
   *
   * @param address of a node, by its id
   * @param onlyAsking whether the question only reads, and so may be repeated
   */
  Future<Buffer> askMetaLeader(
      UnaryOperator<String> address, JsonObject question, long timeoutMillis, boolean onlyAsking) {
    return answer(
            "meta",
            onlyAsking,
            retry ->
                leaders.request(
                    ClusterView.META, address, question.toBuffer(), timeoutMillis, retry))
        .map(Frames::copy);
  }

  /**
   * Asks for each item, a limited number at once, and gives the answers in the order of the items.
   */
  static <T, R> Future<List<R>> forEach(List<T> many, Function<T, Future<R>> ask) {
    Future<List<R>> found = Future.succeededFuture(new ArrayList<>());
    for (int i = 0; i < many.size(); i += AT_ONCE_MAX) {
      List<T> some = many.subList(i, Math.min(i + AT_ONCE_MAX, many.size()));
      found =
          found.compose(
              all -> {
                List<Future<R>> asked = some.stream().map(ask).toList();
                return Future.all(asked)
                    .map(
                        done -> {
                          asked.forEach(each -> all.add(each.result()));
                          return all;
                        });
              });
    }
    return found;
  }

  Future<Void> pause(long millis) {
    return link.vertx().timer(millis).mapEmpty();
  }

  /**
   * @param log name of the log group; null: the one of a shard
   * @param onlyAsking whether the request only reads
   */
  private Future<ByteBuffer> answer(
      String log, boolean onlyAsking, Function<Retry, Future<ByteBuffer>> call) {
    return call.apply(onlyAsking ? ASKING : CHANGING)
        .recover(
            failure ->
                majority
                    .explain(forCaller(failure, onlyAsking), log)
                    .compose(Future::failedFuture));
  }

  private static RefusedException forCaller(Throwable failure, boolean onlyAsking) {
    RefusedException refused = RefusedException.of(failure);
    if (refused instanceof LeaderClient.NoLeader) {
      return new RefusedException.NotLeader(null);
    }
    return onlyAsking && refused.refusal() == Refusal.INDETERMINATE
        ? Refusal.UNAVAILABLE.error(refused.getMessage())
        : refused;
  }
}
