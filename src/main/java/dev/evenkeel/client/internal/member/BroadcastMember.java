package dev.evenkeel.client.internal.member;

import dev.evenkeel.bus.Assignment;
import dev.evenkeel.bus.ClusterView;
import dev.evenkeel.bus.FetchAnswer;
import dev.evenkeel.bus.FetchRequest;
import dev.evenkeel.client.internal.broadcast.BroadcastPositions;
import dev.evenkeel.client.internal.broadcast.StoredPositions;
import dev.evenkeel.client.internal.consume.ConsumerCore;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Generation;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.Outcome;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.TopicInfo;
import dev.evenkeel.protocol.wire.RetryAnswer;
import dev.evenkeel.protocol.wire.RetryRequest;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes the place of dispatcher and lease for a consumer in mode broadcast: assigns it every shard
 * of its topics, at an epoch that it counts itself, and keeps its progress in its own file. Only
 * the messages come from the log. All of it happens on the consumer's context.
 */
final class BroadcastMember implements LogCalls, Feature {
  /** Of all assignments: no dispatcher comes after this one. */
  private static final long TERM = 1;

  private static final Logger LOG = LoggerFactory.getLogger(dev.evenkeel.client.Consumer.class);

  /** Pause after looking at the topics has failed. */
  private static final long AGAIN_MILLIS = 1_000;

  /** The consumer around it. */
  interface Port extends MemberPort {
    /** See {@link BroadcastMember#reads}: it may have changed. */
    void settleTopics();
  }

  private final MemberRun run;
  private final Port consumer;
  private final ConsumerCore core;
  private final SubscribedTopics topics;
  private final ShardCalls calls;
  private final StoredPositions offsets;

  /** The view of the cluster at the last look at the topics. */
  private ClusterView seen;

  /**
   * How often each shard was assigned. There is no lease, but every message must have an epoch, and
   * a shard that was left goes on under another one.
   */
  private final Map<Shard, Long> epochs = new HashMap<>();

  /** Sealed shards that are consumed to their ends. */
  private final Set<Shard> finished = new HashSet<>();

  /** Shards may be consumed now that had to wait for others. */
  private boolean assignAgain;

  private boolean accepted;
  private boolean looking;
  private boolean ended;
  private long notBeforeMillis;
  private long revision;
  private long givenUp;
  private String reported;

  BroadcastMember(
      MemberRun run,
      Port consumer,
      ConsumerCore core,
      SubscribedTopics topics,
      ShardCalls calls,
      StoredPositions offsets) {
    this.run = run;
    this.consumer = consumer;
    this.core = core;
    this.topics = topics;
    this.calls = calls;
    this.offsets = offsets;
  }

  /** How many messages failed so often that they were skipped. */
  long givenUp() {
    return givenUp;
  }

  /** The group has accepted this member: messages may come. */
  @Override
  public void heartbeatAnswered(long sentMillis) {
    accepted = true;
    tick(Clock.millis());
  }

  /** Whether it is known where to begin in all topics. */
  boolean reads() {
    ClusterView view = seen;
    return view != null
        && run.options().getTopics().stream().allMatch(name -> view.topic(name) != null);
  }

  /** The consumer now reads other topics. */
  void topicsChanged() {
    seen = null;
  }

  /** Looks at the topics, if they may have changed. */
  @Override
  public void tick(long now) {
    if (ended) {
      return;
    }
    // A consumer that is cut off keeps its shards, because no other one gets them.
    core.heartbeatAnswered(now);
    ClusterView view = run.directory().current();
    if (accepted && !looking && view != null && view != seen && now >= notBeforeMillis) {
      look(view);
    } else if (assignAgain && !looking && view != null) {
      assign(view, now);
    }
  }

  private void look(ClusterView view) {
    BroadcastPositions positions = offsets.positions();
    if (positions.cluster() == null) {
      positions.cluster(view.cluster());
    } else if (!positions.cluster().equals(view.cluster())) {
      consumer.endBecause(
          new RefusedException(
              Refusal.INVALID,
              "%s is of cluster %s, not %s: give this cluster's offsets a directory of their own",
              offsets.path(),
              positions.cluster(),
              view.cluster()));
      return;
    }
    looking = true;
    List<String> names = run.options().getTopics();
    List<Future<Void>> topics =
        names.stream().map(view::topic).filter(Objects::nonNull).map(this::begin).toList();
    Future.join(topics)
        .onComplete(
            done ->
                consumer.onEvent(
                    now -> {
                      looking = false;
                      if (ended) {
                        return;
                      }
                      if (done.succeeded()) {
                        // It may read others meanwhile.
                        seen = names.equals(run.options().getTopics()) ? view : null;
                        reported = null;
                      } else {
                        notBeforeMillis = now + AGAIN_MILLIS;
                        report(done.cause());
                      }
                      assign(view, now);
                      consumer.settleTopics();
                    }));
  }

  private void report(Throwable failure) {
    RefusedException refused = RefusedException.of(failure);
    String text = String.valueOf(refused.getMessage());
    if (!refused.refusal().retriable() && !text.equals(reported)) {
      reported = text;
      LOG.error("{}: cannot find where to begin, retrying: {}", run, text);
    }
  }

  /** Finds where to begin in new shards, and stores it before any message is read. */
  private Future<Void> begin(TopicInfo topic) {
    BroadcastPositions positions = offsets.positions();
    List<BroadcastPositions.Beginning> beginnings =
        positions.beginnings(topic, topics.patterns(topic.name()));
    if (beginnings.isEmpty()) {
      return Future.succeededFuture();
    }
    Map<Shard, Long> found = new HashMap<>();
    return Future.join(beginnings.stream().map(each -> find(each, found)).toList())
        .compose(
            all ->
                onContext(
                    () -> {
                      if (positions.wasAnother(topic)) {
                        LOG.error(
                            "{}: topic {} was deleted and made again: it is read from its"
                                + " beginning",
                            run,
                            topic.name());
                      }
                      positions.begin(topic, found);
                    }))
        .compose(begun -> offsets.store(run.context()::run));
  }

  private Future<Void> find(BroadcastPositions.Beginning at, Map<Shard, Long> found) {
    return calls
        .findOffset(at.shard(), at.start())
        .compose(offset -> onContext(() -> found.put(at.shard(), offset)));
  }

  private Future<Void> onContext(Runnable action) {
    Promise<Void> done = Promise.promise();
    run.context()
        .run(
            () -> {
              action.run();
              done.complete();
            });
    return done.future();
  }

  private void assign(ClusterView view, long now) {
    assignAgain = false;
    List<Assignment.Owned> owned = new ArrayList<>();
    for (String name : run.options().getTopics()) {
      TopicInfo topic = view.topic(name);
      for (Shard shard : topic == null ? List.<Shard>of() : topic.all()) {
        long next = offsets.positions().next(shard);
        if (next >= 0 && isReady(topic, shard)) {
          if (!core.owns(shard)) {
            epochs.merge(shard, 1L, Long::sum);
          }
          owned.add(new Assignment.Owned(name, shard, epochs.get(shard), false, 0, next));
        }
      }
    }
    core.assigned(
        new Assignment(
            run.options().getGroup(),
            run.options().getMember(),
            run.instance(),
            TERM,
            ++revision,
            owned,
            null),
        now);
  }

  /** Whether all shards from which keys have come to this one are consumed, and it is not. */
  private boolean isReady(TopicInfo topic, Shard shard) {
    return !finished.contains(shard)
        && topic.parents(shard.shard()).stream()
            .allMatch(parent -> finished.contains(new Shard(topic.id(), parent)));
  }

  // What a lease would do

  @Override
  public Future<FetchAnswer> fetch(FetchRequest request, boolean quiet, Consumer<String> asked) {
    return calls.browse(request, quiet, asked);
  }

  @Override
  public String leaderOf(Shard shard) {
    return calls.leaderOf(shard);
  }

  @Override
  public Future<Lease> readLease(Shard shard) {
    long next = Math.max(0, offsets.positions().next(shard));
    long usualTimeout = Limits.MEMBER_TIMEOUT_MILLIS_DEFAULT;
    long before = epochs.get(shard) - 1;
    return Future.succeededFuture(
        Lease.fresh(run.options().getGroup(), shard, before, next, Generation.FIRST)
            .granted(run.options().getMember(), run.instance(), 0, usualTimeout));
  }

  @Override
  public Future<RetryAnswer> fetchRetries(RetryRequest request) {
    return Future.failedFuture(
        new RefusedException(Refusal.UNAVAILABLE, "in mode broadcast the log has no retries"));
  }

  @Override
  public Future<Reply> submit(Shard shard, DataCommand command) {
    if (command instanceof DataCommand.Commit commit) {
      return done(shard, commit.offset());
    }
    if (command instanceof DataCommand.Release release) {
      // Nothing is drained here: a shard is released once it is sealed and consumed to its end.
      finished.add(shard);
      assignAgain = true;
      return done(shard, release.offset());
    }
    if (command instanceof DataCommand.RecordOutcomes record) {
      // Retries wait in the window, and the file keeps its lowest unfinished offset.
      for (Outcome outcome : record.outcomes()) {
        if (outcome instanceof Outcome.Failed failed && failed.way() == Outcome.Way.DEAD) {
          givenUp++;
        }
      }
      return Future.succeededFuture(new Reply.OfOffsets(List.of()));
    }
    return notForBroadcast(command);
  }

  @Override
  public Future<Reply> submit(int dataGroup, DataCommand command) {
    if (command instanceof DataCommand.Commit commit) {
      return done(commit.shard(), commit.offset());
    }
    if (command instanceof DataCommand.CommitMany many) {
      many.positions().forEach(each -> offsets.positions().done(each.shard(), each.offset()));
      return offsets.store(run.context()::run).map(stored -> new Reply.OfCommits(List.of()));
    }
    return notForBroadcast(command);
  }

  private static Future<Reply> notForBroadcast(DataCommand command) {
    return Future.failedFuture(
        new RefusedException(Refusal.INVALID, command + " is not for mode broadcast"));
  }

  private Future<Reply> done(Shard shard, long next) {
    offsets.positions().done(shard, next);
    return offsets.store(run.context()::run).map(stored -> Reply.DONE);
  }

  /** Releases the directory once the write under way is done. Completes in any case. */
  Future<Void> release() {
    ended = true;
    return offsets.close();
  }

  /** Stores the progress of a consumer that ends against its will. */
  void storeLastProgress() {
    if (!ended && accepted && offsets.positions().cluster() != null) {
      core.forEachProgress(offsets.positions()::done);
      offsets.store(run.context()::run).onFailure(this::report);
    }
  }
}
