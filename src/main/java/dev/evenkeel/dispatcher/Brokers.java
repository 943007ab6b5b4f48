package dev.evenkeel.dispatcher;

import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.Call;
import dev.evenkeel.bus.Calls;
import dev.evenkeel.bus.ClusterView;
import dev.evenkeel.bus.LeaderClient;
import dev.evenkeel.bus.LeaderWatch;
import dev.evenkeel.bus.ShardStatus;
import dev.evenkeel.bus.VertxLink;
import dev.evenkeel.bus.ViewSince;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.GroupInfo;
import dev.evenkeel.protocol.GroupLease;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.MoveRecord;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.ShardGroups;
import dev.evenkeel.protocol.wire.FeatureLevel;
import io.vertx.core.CompositeFuture;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.eventbus.DeliveryOptions;
import io.vertx.core.eventbus.Message;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.stream.IntStream;

/**
 * The dispatcher's requests to brokers. Futures fail with {@link RefusedException} only. To be used
 * on one context.
 */
final class Brokers {
  /**
   * @param statuses of the shards of the data groups that answered
   * @param complete all of them answered
   */
  record Shards(List<ShardStatus> statuses, boolean complete) {}

  private final Vertx vertx;
  private final String node;
  private final long requestTimeoutMillis;
  private final DeliveryOptions localOptions;
  private final DataLeaders leaders = new DataLeaders();
  private final LeaderClient client;

  /** The last view, or null. */
  private ClusterView seen;

  Brokers(Vertx vertx, String node, long requestTimeoutMillis) {
    this.vertx = vertx;
    this.node = node;
    this.requestTimeoutMillis = requestTimeoutMillis;
    client = new LeaderClient(new VertxLink(vertx, node), leaders);
    localOptions = new DeliveryOptions().setSendTimeout(requestTimeoutMillis).setLocalOnly(true);
  }

  /**
   * The view of this node's own broker, which leads the meta log group and so has the present
   * topics.
   */
  Future<ClusterView> view() {
    ClusterView known = seen;
    return ask(Addresses.VIEW, ViewSince.question(known))
        .map(
            answer -> {
              ClusterView view = ClusterView.fromJson(JsonBodies.answeredJson(answer), known);
              leaders.leaders = new ArrayList<>(view.dataLeaders());
              if (seen == null || view.topics() != seen.topics()) {
                leaders.groups = view.shardGroups();
              }
              seen = view;
              leaders.old = false;
              return view;
            })
        .recover(Brokers::refused);
  }

  /** The log says who leads a data group now. */
  void leads(int dataGroup, String leader) {
    if (leader != null && dataGroup < leaders.dataGroups()) {
      leaders.leaders.set(dataGroup, leader);
      leaders.watch.leads(dataGroup, leader);
    }
  }

  Future<List<GroupInfo>> groups() {
    return read(Calls.READ_GROUPS);
  }

  /** The leases of groups that were ever granted. */
  Future<List<GroupLease>> groupLeases() {
    return read(Calls.READ_GROUP_LEASES);
  }

  /** The rebalance history, oldest first. */
  Future<List<MoveRecord>> moves() {
    return read(Calls.READ_MOVES);
  }

  /** Shards of all topics. */
  Future<Shards> shards(String group) {
    return shards(group, null);
  }

  /**
   * Shards of all data groups with the leases of {@code group}, or of all groups if null. Does not
   * fail: data groups that do not answer are missing.
   *
   * @param topics numbers of the topics whose shards are enough; null: all
   */
  Future<Shards> shards(String group, Set<Integer> topics) {
    Future<Void> known =
        leaders.old ? view().<Void>mapEmpty().otherwiseEmpty() : Future.succeededFuture();
    return known.compose(ready -> shardsOfAll(group, topics));
  }

  private Future<Shards> shardsOfAll(String group, Set<Integer> topics) {
    List<Future<List<ShardStatus>>> parts = ofEach(i -> shardsOf(i, group, topics));
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

  private <T> List<T> ofEach(IntFunction<T> dataGroup) {
    return IntStream.range(0, leaders.dataGroups()).mapToObj(dataGroup).toList();
  }

  private Future<List<ShardStatus>> shardsOf(int dataGroup, String group, Set<Integer> topics) {
    // Nodes of former versions answer with all.
    boolean fewer =
        topics != null && seen != null && seen.featureLevel() >= FeatureLevel.TOPIC_PATTERNS;
    return toLeader(
        dataGroup,
        Calls.READ_SHARDS,
        new Calls.ReadShards(dataGroup, group, fewer ? List.copyOf(topics) : null));
  }

  /** Splits requests about shards into lists for {@link #take}. */
  <T> List<List<T>> joined(List<T> requests, Function<T, Shard> shard) {
    ShardGroups groups = leaders.shardGroups();
    Map<Integer, List<T>> open = new HashMap<>();
    List<List<T>> all = new ArrayList<>();
    for (T request : requests) {
      int dataGroup = groups.of(shard.apply(request));
      List<T> list = open.get(dataGroup);
      if (list == null || list.size() == Limits.STEPS_A_COMMAND_MAX) {
        list = new ArrayList<>();
        open.put(dataGroup, list);
        all.add(list);
      }
      list.add(request);
    }
    return all;
  }

  /**
   * Steps of shards of one data group, to its leader. Does not fail: a refusal is a reply.
   *
   * @param steps at most {@link Limits#STEPS_A_COMMAND_MAX}
   * @return the reply to each, in their order
   */
  Future<List<Reply>> take(List<DataCommand.Step> steps) {
    if (leaders.dataGroups() == 0) {
      return Future.succeededFuture(
          Collections.nCopies(steps.size(), Reply.refused(Refusal.UNAVAILABLE, "no leader known")));
    }
    int dataGroup = leaders.shardGroups().of(steps.get(0).shard());
    if (steps.size() == 1) {
      return submit(dataGroup, steps.get(0).command()).map(List::of);
    }
    return submit(dataGroup, new DataCommand.TakeSteps(steps))
        .compose(
            reply -> {
              if (reply instanceof Reply.OfSteps of && of.replies().size() == steps.size()) {
                return Future.succeededFuture(of.replies());
              }
              // Perhaps that node does not know the command yet, or a single step is at fault.
              return reply instanceof Reply.Refused no && !no.refusal().retriable()
                  ? oneByOne(dataGroup, steps)
                  : Future.succeededFuture(Collections.nCopies(steps.size(), reply));
            });
  }

  private Future<List<Reply>> oneByOne(int dataGroup, List<DataCommand.Step> steps) {
    List<Future<Reply>> replies =
        steps.stream().map(step -> submit(dataGroup, step.command())).toList();
    return Future.all(replies).map(CompositeFuture::list);
  }

  private Future<Reply> submit(int dataGroup, DataCommand command) {
    return reply(toLeader(dataGroup, Calls.SUBMIT_DATA, new Calls.ToGroup(dataGroup, command)));
  }

  /** Does not fail: a refusal is a reply. */
  Future<Reply> submitMeta(MetaCommand command) {
    return reply(ask(Calls.SUBMIT_META, command));
  }

  /**
   * To every data group. Does not fail: the reply is {@link Reply.OfNumber} of the highest number
   * that one of them answers, or a refusal if one has not taken it.
   */
  Future<Reply> submitEverywhere(DataCommand command) {
    if (leaders.dataGroups() == 0) {
      return Future.succeededFuture(Reply.refused(Refusal.UNAVAILABLE, "no leader known"));
    }
    List<Future<Reply>> replies = ofEach(i -> submit(i, command));
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

  private static Future<Reply> reply(Future<Reply> answer) {
    return answer
        .recover(Brokers::<Reply>refused)
        .otherwise(
            failure -> Reply.refused(((RefusedException) failure).refusal(), failure.getMessage()));
  }

  /** Asks the leader of a data group; once more if the answer names another leader. */
  private <Q, A> Future<A> toLeader(int dataGroup, Call<Q, A> call, Q question) {
    return client
        .request(
            dataGroup,
            Addresses::control,
            call.request(question),
            requestTimeoutMillis,
            LeaderClient.Retry.hops(1))
        .map(call::answered);
  }

  /** To this node's own broker. */
  private Future<Buffer> ask(String address, Buffer frame) {
    return vertx
        .eventBus()
        .<Buffer>request(address, frame, localOptions)
        .map(Message::body)
        .recover(failure -> Future.failedFuture(VertxLink.refusal(address, failure)));
  }

  private <Q, A> Future<A> ask(Call<Q, A> call, Q question) {
    return ask(Addresses.control(node), call.request(question)).map(call::answered);
  }

  private <A> Future<A> read(Call<Void, A> call) {
    return ask(call, null).recover(Brokers::refused);
  }

  private static <T> Future<T> refused(Throwable failure) {
    return Future.failedFuture(
        failure instanceof RefusedException
            ? failure
            : Refusal.UNAVAILABLE.error("unreadable answer: " + failure));
  }

  /** Who leads the data groups, as this node's broker and refusals say. */
  private final class DataLeaders implements LeaderClient.Leaders {
    private List<String> leaders = List.of();
    private ShardGroups groups = ShardGroups.UNKNOWN;
    private boolean old = true;
    private final LeaderWatch watch = new LeaderWatch();

    @Override
    public int dataGroups() {
      return leaders.size();
    }

    @Override
    public ShardGroups shardGroups() {
      return groups;
    }

    @Override
    public String leader(int group) {
      return group < leaders.size() ? leaders.get(group) : null;
    }

    @Override
    public void leaderHint(int group, String node) {
      old = true;
      if (group < leaders.size()) {
        leaders.set(group, node);
      }
    }

    /** Has them read again before the next read of all shards. */
    @Override
    public Future<?> refresh() {
      old = true;
      return Future.succeededFuture();
    }

    @Override
    public <T> Future<T> whileLeads(int group, String node, Future<T> request) {
      return watch.whileLeads(group, node, request);
    }
  }
}
