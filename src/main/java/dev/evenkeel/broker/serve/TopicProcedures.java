package dev.evenkeel.broker.serve;

import static dev.evenkeel.protocol.Refusal.INDETERMINATE;
import static dev.evenkeel.protocol.Refusal.UNKNOWN_TOPIC;

import dev.evenkeel.broker.machine.MetaState;
import dev.evenkeel.broker.node.BrokerOptions;
import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.ShardStatus;
import dev.evenkeel.log.LogGroup;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.TopicConfig;
import dev.evenkeel.protocol.TopicInfo;
import dev.evenkeel.protocol.wire.Entry;
import dev.evenkeel.protocol.wire.FeatureLevel;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Creates, configures and deletes topics in all log groups, on the leader of meta. Each step may be
 * repeated, and the topic's state in meta says which steps are left: {@link #reconcile} continues
 * what a crash interrupted.
 *
 * <pre>
 * CREATING   open its shards in each data log group, then activate
 * ACTIVE     give its settings to each data log group; if it is to have other shards, make them,
 *            seal the present ones, and then open the others to producers: no message goes to a
 *            new shard as long as one of its key may go to a former one
 * DELETING   drop its shards in each data log group, then remove
 * </pre>
 *
 * New shards come with a lease for each group that reads the topic. If another group subscribes
 * meanwhile, meta does not open the shards to producers before it has its leases, too. Of a group
 * that subscribes later, the dispatcher sees the open shards, and opens the leases.
 *
 * <p>Runs on one context.
 */
final class TopicProcedures {
  private static final Logger LOG = LoggerFactory.getLogger(TopicProcedures.class);

  /** At one of so many looks, the leaders of data groups are asked who needs sealed shards. */
  private static final int LOOKS_FOR_SEALED = 5;

  /** Most leases that one command makes, but at least one on each shard. */
  private static final int LEASES_A_COMMAND_MAX = 10_000;

  /** So often other groups may come to read a topic before a procedure gives up for now. */
  private static final int TRIES_MAX = 20;

  private final ServeContext serve;
  private final LogGroup metaLog;
  private final MetaState meta;
  private final GroupCommands commands;
  private final TableShares shares;

  /** Topics with a procedure in progress; the next procedure for the same topic waits. */
  private final Map<Integer, Future<Reply>> underWay = new HashMap<>();

  private int looks;
  private boolean asksForSealed;

  TopicProcedures(ServeContext serve, GroupCommands commands, TableShares shares) {
    this.shares = shares;
    this.serve = serve;
    metaLog = serve.node().log().meta();
    meta = serve.node().meta();
    this.commands = commands;
  }

  /**
   * Creates a topic everywhere. Fails INDETERMINATE if it is recorded, but not finished in time.
   *
   * @param user who creates it; null: there are no users, or a node does
   */
  Future<Reply> create(String name, int shards, TopicConfig config, String user) {
    requireReady();
    return shares
        .append(user, new MetaCommand.CreateTopic(name, shards, config), this::submit)
        .compose(reply -> drive(topicOf(reply), "created"));
  }

  /** Changes a topic's settings everywhere. */
  Future<Reply> configure(String name, TopicConfig config) {
    requireReady();
    TopicInfo topic = meta.tables().topic(name);
    if (topic == null || topic.state() == TopicInfo.State.DELETING) {
      throw UNKNOWN_TOPIC.error("there is no topic '" + name + "'");
    }
    return change(new MetaCommand.ConfigureTopic(topic.id(), config), "configured");
  }

  /** Gives a topic another number of shards. */
  Future<Reply> reshard(String name, int shards) {
    requireReady();
    return change(new MetaCommand.ReshardTopic(name, shards), "resharded");
  }

  /** Deletes a topic everywhere. */
  Future<Reply> delete(String name) {
    requireReady();
    return change(new MetaCommand.DeleteTopic(name), "deleted");
  }

  private void requireReady() {
    LogGroupServer.requireReady(serve.node().nodeId(), metaLog);
  }

  private Future<Reply> change(MetaCommand command, String what) {
    return submit(command).compose(reply -> drive(topicOf(reply), what));
  }

  /**
   * Continues what was left undone; called from time to time, does nothing unless this node leads
   * meta.
   */
  void reconcile() {
    if (!metaLog.leadership().ready()) {
      return;
    }
    for (TopicInfo topic : meta.tables().topics()) {
      boolean undone = topic.state() != TopicInfo.State.ACTIVE || topic.next() != null;
      if (undone && !underWay.containsKey(topic.id())) {
        drive(topic, "reconciled")
            .onFailure(e -> LOG.warn("topic '{}' waits: {}", topic.name(), e.toString()));
      }
    }
    if (++looks % LOOKS_FOR_SEALED == 0 && !asksForSealed) {
      forgetSealed();
    }
  }

  private Future<Reply> submit(MetaCommand command) {
    return commands.append(metaLog, Entry.of(command, serve.node().nowMillis()));
  }

  /** The topic in the reply; throws what the log refused. */
  private static TopicInfo topicOf(Reply reply) {
    if (reply instanceof Reply.OfTopic of) {
      return of.topic();
    }
    throw ((Reply.Refused) reply).exception();
  }

  private Future<Reply> drive(TopicInfo topic, String what) {
    int id = topic.id();
    Future<Reply> before = underWay.get(id);
    if (before != null) {
      return before.transform(any -> drive(latest(topic), what));
    }
    if (topic.state() != TopicInfo.State.CREATING) {
      // One that is being created is in no view yet.
      changed();
    }
    Future<Reply> now =
        steps(topic)
            .recover(failure -> Future.failedFuture(unfinished(topic, what, failure)))
            .onComplete(
                any -> {
                  underWay.remove(id);
                  changed();
                });
    if (!now.isComplete()) {
      underWay.put(id, now);
    }
    return now;
  }

  /** The topic as meta has it now; unchanged if it is gone. */
  private TopicInfo latest(TopicInfo topic) {
    TopicInfo now = meta.tables().topic(topic.id());
    return now == null ? topic : now;
  }

  private Future<Reply> steps(TopicInfo topic) {
    return switch (topic.state()) {
      case CREATING -> create(topic);
      case ACTIVE -> topic.next() == null ? giveSettings(topic) : changeShards(topic);
      case DELETING ->
          // All groups: each has the producers of handlers that publish from the topic's shards.
          each(everyGroup(), group -> new DataCommand.DropShards(topic.id()))
              .compose(
                  floors ->
                      submit(new MetaCommand.RemoveTopic(topic.id(), Collections.max(floors))));
    };
  }

  private Future<Reply> create(TopicInfo topic) {
    return make(topic, 0, TRIES_MAX, readers -> new MetaCommand.ActivateTopic(topic.id(), readers));
  }

  /**
   * Makes shards that are missing, with leases for the groups that read the topic, and then opens
   * them to producers.
   *
   * @param first number of the first shard that is new
   * @param opening with the groups that have leases
   */
  private Future<Reply> make(
      TopicInfo topic, int first, int triesLeft, Function<List<String>, MetaCommand> opening) {
    List<String> readers = readers(topic);
    return open(topic, first, readers)
        .compose(
            done ->
                // Others may have gone on meanwhile, up to a later change.
                topic.next() == null || topic.next().equals(latest(topic).next())
                    ? submit(opening.apply(readers))
                    : Future.succeededFuture(new Reply.OfTopic(latest(topic))))
        .compose(
            reply ->
                hasNewReader(reply) && triesLeft > 0
                    ? make(topic, first, triesLeft - 1, opening)
                    : Future.succeededFuture(new Reply.OfTopic(topicOf(reply))));
  }

  /** A few readers with each command, so that no command makes too many leases. */
  private Future<List<Long>> open(TopicInfo topic, int first, List<String> readers) {
    List<String> all = readers == null ? List.of() : readers;
    int shards = (int) topic.numbersEver().filter(shard -> shard >= first).count();
    int some = Math.max(1, LEASES_A_COMMAND_MAX / shards);
    List<Integer> groups = groupsOf(topic, topic.numbersEver().filter(shard -> shard >= first));
    Future<List<Long>> done = Future.succeededFuture();
    for (int from = 0; from == 0 || from < all.size(); from += some) {
      List<String> next = all.subList(from, Math.min(all.size(), from + some));
      done = done.compose(before -> each(groups, group -> open(topic, group, first, next)));
    }
    return done;
  }

  /** The groups that get leases with new shards; null: nodes may be there that know no such. */
  private List<String> readers(TopicInfo topic) {
    return meta.tables().featureLevel() < FeatureLevel.SUBSCRIPTIONS
        ? null
        : meta.tables().readers(topic);
  }

  /** Whether a group has subscribed since {@link #readers} was asked. */
  private static boolean hasNewReader(Reply reply) {
    return reply instanceof Reply.Refused refused && refused.refusal() == Refusal.OVERLOADED;
  }

  private Future<Reply> giveSettings(TopicInfo topic) {
    return each(
            groupsOf(topic), group -> new DataCommand.ConfigureShards(topic.id(), topic.config()))
        .map(done -> new Reply.OfTopic(topic));
  }

  private Future<Reply> changeShards(TopicInfo topic) {
    int first = topic.next().first();
    return open(topic, first, readers(topic))
        .compose(
            made ->
                each(
                    groupsOf(topic, topic.open().numbers()),
                    group -> new DataCommand.SealShards(topic.id(), first)))
        .compose(
            // Producers wait now: if another group has come to read the topic, only its leases are
            // left to be made.
            done ->
                make(
                    topic,
                    first,
                    TRIES_MAX,
                    readers -> new MetaCommand.OpenLayout(topic.id(), readers)));
  }

  /** Has the oldest layouts forgotten of which nobody needs the shards any more. */
  private void forgetSealed() {
    List<TopicInfo> topics =
        meta.tables().topics().stream()
            .filter(topic -> topic.state() == TopicInfo.State.ACTIVE && topic.hasSealed())
            .filter(topic -> topic.next() == null)
            .toList();
    List<Future<List<ShardStatus>>> answers = new ArrayList<>();
    topics.stream()
        .flatMap(topic -> groupsOf(topic).stream())
        .distinct()
        .forEach(
            group ->
                answers.add(
                    commands.statuses(
                        group, serve.options().get(BrokerOptions.PROCEDURE_MILLIS_MAX))));
    asksForSealed = true;
    Future.join(answers)
        .onComplete(
            done -> {
              asksForSealed = false;
              Map<Shard, ShardStatus> statuses = new HashMap<>();
              answers.stream()
                  .filter(Future::succeeded)
                  .flatMap(answer -> answer.result().stream())
                  .forEach(status -> statuses.put(status.shard(), status));
              topics.forEach(topic -> forgetOldest(topic, statuses));
            });
  }

  /** The leaders of the data groups then drop the shards: see {@link ShardTending}. */
  private void forgetOldest(TopicInfo topic, Map<Shard, ShardStatus> statuses) {
    boolean same = topic.equals(meta.tables().topic(topic.id()));
    if (same && !underWay.containsKey(topic.id()) && SealedNeed.isOver(topic, statuses)) {
      int first = topic.layouts().get(0).first();
      // The dispatcher hears of it before the shards go.
      submit(new MetaCommand.ForgetLayout(topic.id(), first))
          .onSuccess(forgotten -> changed())
          .onFailure(e -> LOG.warn("topic '{}' waits: {}", topic.name(), e.toString()));
    }
  }

  /** Others than the open ones have no shards yet. Some may not be open on this node. */
  private List<Integer> everyGroup() {
    int open = serve.node().log().formedGroups() + meta.tables().openGroups();
    return IntStream.range(0, open).boxed().toList();
  }

  /**
   * Completes when all have answered, with the numbers in the answers; 0 for answers of another
   * kind.
   */
  private Future<List<Long>> each(List<Integer> indexes, IntFunction<DataCommand> command) {
    List<Future<Long>> all = new ArrayList<>();
    for (int group : indexes) {
      all.add(
          commands
              .submit(
                  group,
                  command.apply(group),
                  serve.options().get(BrokerOptions.PROCEDURE_MILLIS_MAX))
              .map(
                  reply -> {
                    if (reply instanceof Reply.Refused refused) {
                      throw refused.exception();
                    }
                    return reply instanceof Reply.OfNumber of ? of.number() : 0L;
                  }));
    }
    return Future.all(all).map(done -> done.<Long>list());
  }

  private List<Integer> groupsOf(TopicInfo topic) {
    return groupsOf(topic, topic.numbersEver());
  }

  private List<Integer> groupsOf(TopicInfo topic, IntStream shards) {
    return shards
        .map(shard -> topic.group(shard, serve.node().log().formedGroups()))
        .distinct()
        .boxed()
        .toList();
  }

  /**
   * @param first number of the first shard that is new
   */
  private DataCommand open(TopicInfo topic, int group, int first, List<String> readers) {
    List<Integer> shards =
        topic
            .numbersEver()
            .filter(shard -> topic.group(shard, serve.node().log().formedGroups()) == group)
            .boxed()
            .toList();
    return new DataCommand.OpenShards(
        topic.id(),
        topic.name(),
        shards,
        topic.config(),
        meta.tables().counters().epochFloor(),
        readers,
        first);
  }

  private static RefusedException unfinished(TopicInfo topic, String what, Throwable failure) {
    Throwable cause = Answers.unwrap(failure);
    if (cause instanceof RefusedException refused && !refused.refusal().retriable()) {
      return refused;
    }
    return INDETERMINATE.error(
        "topic '%s' is not %s everywhere yet and will be once every log group has a "
            + "leader (%s)",
        topic.name(), what, cause.getMessage());
  }

  private void changed() {
    serve.vertx().eventBus().publish(Addresses.TOPIC_CHANGES, Buffer.buffer());
  }
}
