package dev.evenkeel.dispatcher.level;

import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.ClusterDirectory;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.Link;
import dev.evenkeel.bus.VertxLink;
import dev.evenkeel.bus.level.Report;
import dev.evenkeel.dispatcher.level.core.LevelFigures;
import dev.evenkeel.dispatcher.level.core.LevelPolicy;
import dev.evenkeel.dispatcher.level.core.LiveMember;
import dev.evenkeel.level.Range;
import dev.evenkeel.protocol.GroupPolicy;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.internal.VertxInternal;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;

/** The level dispatchers that run on this node, one a group. Methods are safe from any thread. */
public final class LevelDealers {
  private final String node;
  private final Link link;
  private final ClusterDirectory directory;
  private final Link.Listening reports;
  private final Map<String, LevelDealer> byGroup = new ConcurrentHashMap<>();

  /**
   * @param vertx the clustered one of the node
   */
  public LevelDealers(Vertx vertx, String node) {
    this.node = node;
    link = new VertxLink(vertx, null);
    directory = new ClusterDirectory(link);
    // Reports are read on an event loop of their own: they come by thousands.
    Link.Listening[] listening = new Link.Listening[1];
    ((VertxInternal) vertx)
        .createEventLoopContext()
        .dispatch(null, none -> listening[0] = link.serve(Addresses.dealer(node), this::reported));
    reports = listening[0];
  }

  private Future<Buffer> reported(Buffer body) {
    Report report = Report.decode(Frames.body(body));
    LevelDealer dealer = byGroup.get(report.group());
    if (dealer == null) {
      throw new RefusedException(
          Refusal.FENCED, "no level dispatcher of group " + report.group() + " is here");
    }
    return dealer.reported(report);
  }

  /**
   * Begins to hold a group: joins it as {@code dispatcher@NODE}.
   *
   * @param order what is kept in order: none, key or shard
   * @param retryDelaysMillis pauses before the second and all further attempts of a message; null:
   *     as by default
   * @param instance this run
   * @param ended told of the group and the run, on any thread, when it has ended: by itself, or
   *     after {@link #close}
   */
  public void open(
      String group,
      List<String> topics,
      GroupPolicy policy,
      String order,
      List<Long> retryDelaysMillis,
      String instance,
      BiConsumer<String, String> ended) {
    LevelPolicy.Strategy strategy =
        GroupPolicy.STRATEGY_PUSH.equals(policy.strategy())
            ? LevelPolicy.Strategy.PUSH
            : LevelPolicy.Strategy.PULL;
    LevelDealer dealer =
        new LevelDealer(
            link,
            directory,
            group,
            node,
            DealerOptions.of(group, node, topics, order, retryDelaysMillis),
            instance,
            new LevelPolicy(Range.of(policy.range()), strategy),
            which -> {
              byGroup.remove(group, which);
              ended.accept(group, instance);
            });
    LevelDealer former = byGroup.put(group, dealer);
    if (former != null) {
      former.abandon();
    }
    dealer.start();
  }

  /** The members of the group as they are now. */
  public void members(String group, List<LiveMember> members) {
    LevelDealer dealer = byGroup.get(group);
    if (dealer != null) {
      dealer.members(members);
    }
  }

  /** The run that was opened last holds the group's lease at this term. */
  public void begin(String group, long term) {
    LevelDealer dealer = byGroup.get(group);
    if (dealer != null) {
      dealer.begin(term);
    }
  }

  /** How level a group is, as of a moment ago; null if that is not known here. */
  public LevelFigures figures(String group) {
    LevelDealer dealer = byGroup.get(group);
    return dealer == null ? null : dealer.figures();
  }

  /** Lets go of a group in good order; whoever opened it is told when that is done. */
  public void close(String group) {
    LevelDealer dealer = byGroup.get(group);
    if (dealer != null) {
      dealer.close();
    }
  }

  /** Another node is the dispatcher: lets go of all groups at once. */
  public void abandon() {
    for (String group : List.copyOf(byGroup.keySet())) {
      LevelDealer dealer = byGroup.remove(group);
      if (dealer != null) {
        dealer.abandon();
      }
    }
  }

  /** Ends all of it. */
  public void end() {
    abandon();
    reports.end();
    directory.close();
  }
}
