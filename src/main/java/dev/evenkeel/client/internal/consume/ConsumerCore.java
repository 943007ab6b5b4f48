package dev.evenkeel.client.internal.consume;

import dev.evenkeel.bus.Assignment;
import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.bus.ShardProgress;
import dev.evenkeel.bus.level.MessageId;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.ConsumerOptions.Mode;
import dev.evenkeel.client.Delivery;
import dev.evenkeel.client.internal.consume.ConsumerAction.CommitPositions;
import dev.evenkeel.client.internal.consume.ConsumerAction.HeartbeatNow;
import dev.evenkeel.client.internal.consume.ConsumerAction.LeadChanged;
import dev.evenkeel.client.internal.consume.ConsumerAction.OwnedChanged;
import dev.evenkeel.client.internal.consume.ConsumerAction.Request;
import dev.evenkeel.client.internal.consume.ConsumerAction.ShardRequest;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.ShardGroups;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.random.RandomGenerator;

/**
 * Decides what a consumer does next: events come in, {@link ConsumerAction}s and messages to handle
 * go out. It has no clock, no I/O and no threads; all calls come from one thread at a time. {@code
 * now} is a monotonic clock in milliseconds.
 *
 * <p>The caller feeds events, then takes {@link #poll actions} and {@link #next messages} until
 * both return null. It may feed events while it carries out actions.
 */
public final class ConsumerCore implements Admission, MessageSource.Counts, OwnedShard.Host {
  /** Most messages of one shard that wait for the rate of their key. Past it the shard waits. */
  public static final int WAITING_OF_SHARD_MAX = 1_000;

  /** How often {@link #tick} is called. */
  public static final long TICK_MILLIS = PositionCommits.TICK_MILLIS;

  /** An assignment with so many shards is worth leaving out of the answers to heartbeats. */
  static final int SHARDS_MANY = 50;

  private final ConsumerOptions options;
  final Environment environment;
  private final int parallel;
  private final ArrayDeque<ConsumerAction> actions = new ArrayDeque<>();
  private final OwnedShards shards;

  private final LastAssignment last;

  /** What it names. */
  private List<Assignment.Owned> assigned = List.of();

  /** Mode singleton: the leadership of this member, or null. */
  private Assignment.Lead lead;

  /**
   * Whether shards may begin. In mode singleton, whether all of them were granted at the present
   * term.
   */
  private boolean open;

  /** Mode singleton: the last term at which all shards were granted. */
  private long openTerm;

  private boolean closing;
  private boolean dying;

  /**
   * Handlers that have not ended, and messages that have begun here and are {@link #holds held}.
   */
  private int running;

  private long consumed;

  /**
   * @param options with its member's name
   * @param instance this run of the member
   */
  public ConsumerCore(
      ConsumerOptions options, String instance, HandlerKind handler, RandomGenerator random) {
    this.options = options;
    parallel = options.getParallel();
    last = new LastAssignment(instance);
    open = options.getMode() != Mode.SINGLETON;
    environment =
        new Environment(
            options,
            instance,
            handler,
            random,
            options.getKeyRate() == null ? 0 : WAITING_OF_SHARD_MAX,
            actions::addLast,
            this::owned,
            this::running,
            this::resumed);
    shards = new OwnedShards(environment, this);
  }

  /** The next action to carry out, or null. */
  public ConsumerAction poll() {
    ConsumerAction action = actions.poll();
    if (action == null && shards.takeChanged()) {
      return new OwnedChanged(shards.count());
    }
    return action;
  }

  /**
   * A request has been answered, or has failed. A refusal is a {@link
   * dev.evenkeel.protocol.RefusedException}; any other failure of a request to the log counts as an
   * unknown outcome.
   */
  public <R> void answered(Request<R> request, Answer<R> answer, long now) {
    if (request instanceof CommitPositions batch) {
      environment.commits.answered(batch, answer, now);
    } else if (request instanceof ShardRequest<R> of) {
      of.owned().answered(of, answer, now);
    }
  }

  public int owned() {
    return shards.count();
  }

  public boolean owns(Shard shard) {
    return shards.get(shard) != null;
  }

  @Override
  public long consumed() {
    return consumed;
  }

  /** How many messages the filter has passed over. */
  public long filtered() {
    return environment.filtered();
  }

  @Override
  public int running() {
    return running - environment.claims.waiting();
  }

  /**
   * What the next heartbeat reports of single shards, also of those that were given away lately.
   */
  public List<ShardProgress> progress(long now) {
    return shards.progress(now);
  }

  /** Gives the committed offset of each shard that has begun. */
  public void forEachProgress(BiConsumer<Shard, Long> look) {
    for (OwnedShard shard : shards.all()) {
      if (shard.window() != null) {
        look.accept(shard.shard(), shard.window().committed());
      }
    }
  }

  /**
   * After {@link #close}: whether every shard has been given away and every handler has ended,
   * those of lost shards included. One that {@link #die dies} does not wait for handlers.
   */
  public boolean drained() {
    return closing && shards.count() == 0 && (dying || running() == 0);
  }

  /**
   * How many messages are not consumed, according to the last fetches; null if a shard was not
   * fetched yet.
   */
  public Long lag() {
    long sum = 0;
    for (OwnedShard shard : shards.all()) {
      long lag = shard.reports.lag();
      if (lag < 0) {
        return null;
      }
      sum += lag;
    }
    return sum;
  }

  /** Whether the breaker is open: most messages fail, and one at a time is tried. */
  public boolean breakerOpen() {
    return environment.breaker.open();
  }

  // ---- Assignments

  /** A heartbeat that was sent at {@code sentMillis} was answered with an assignment. */
  public void heartbeatAnswered(long sentMillis) {
    environment.fence.answered(sentMillis);
  }

  /**
   * Takes an assignment: all shards that this member owns. One that is older than the last is
   * ignored. The same one again is looked at again, because a shard may have been lost to a wrong
   * answer.
   */
  public void assigned(Assignment assignment, long now) {
    if (assignment.unchanged()) {
      last.seenAgain(assignment, now);
      return;
    }
    if (!last.takes(assignment, now)) {
      return;
    }
    assigned = assignment.shards();
    lead(assignment.lead());
    Set<Shard> named = new HashSet<>();
    for (Assignment.Owned owned : assignment.shards()) {
      named.add(owned.shard());
      reconcile(owned, now);
    }
    for (OwnedShard shard : shards.all()) {
      if (!named.contains(shard.shard())) {
        shard.lose("the assignment does not name it any more", now);
      }
    }
  }

  /**
   * The last assignment, if it has many shards and all of them are owned as it says: then it need
   * not be sent again. Else null.
   */
  public Heartbeat.Seen seen() {
    boolean asItSays =
        assigned.size() >= SHARDS_MANY
            && assigned.size() == shards.count()
            && assigned.stream()
                .allMatch(
                    each -> {
                      OwnedShard shard = shards.get(each.shard());
                      return shard != null && shard.epoch() == each.epoch();
                    });
    return asItSays ? last.seen() : null;
  }

  /**
   * Mode singleton: no shard begins before all were granted, because the former leader might still
   * own one. Shards that are granted later at the same term begin at once.
   *
   * @param given null: this member does not lead
   */
  private void lead(Assignment.Lead given) {
    Assignment.Lead now = given != null && closing ? given.asEnding() : given;
    if (options.getMode() == Mode.SINGLETON) {
      openTerm = now != null && now.whole() ? now.term() : openTerm;
      open = now != null && now.term() == openTerm;
    }
    if (!Objects.equals(now, lead)) {
      lead = now;
      actions.add(new LeadChanged(now));
    }
  }

  private void reconcile(Assignment.Owned owned, long now) {
    OwnedShard shard = shards.get(owned.shard());
    if (shard != null && shard.epoch() != owned.epoch()) {
      shard.lose("the assignment names epoch " + owned.epoch(), now);
      shard = null;
    }
    if (shard == null) {
      // A consumer that is leaving takes no more shards; its last heartbeat gives back what it was
      // granted.
      if (closing || shards.outOfDate(owned, now)) {
        return;
      }
      shard = shards.take(owned);
    }
    shard.draining(owned.draining() || closing, now);
  }

  @Override
  public void gone(OwnedShard shard) {
    shards.gone(shard);
  }

  // ---- Messages

  @Override
  public Task next(long now) {
    Task claimed = claimed(now);
    return claimed == null ? take(false, now) : claimed;
  }

  @Override
  public Task admit(long now) {
    return take(true, now);
  }

  /** The next message that can be decoded. Messages that cannot fail at once. */
  private Task take(boolean forAdmission, long now) {
    while (shards.hasReady() && (forAdmission ? mayStart(now) : mayBegin(now))) {
      Task task = shards.next(forAdmission, now);
      if (task == null || forAdmission && task.hopeless == null) {
        return task;
      }
      if (forAdmission) {
        task.owner.begin(task);
      }
      running++;
      if (task.hopeless != null) {
        failed(task, task.hopeless, now);
      } else if (!holds(task, now)) {
        return task;
      }
    }
    return null;
  }

  /** Messages of a batch count as one handler. While the breaker is open, none comes along. */
  @Override
  public Task nextWith(Task first, long now) {
    return breakerOpen() ? null : first.owner.nextWith(now);
  }

  @Override
  public void batchEnded(List<Task> tasks, Throwable failure, long now) {
    running--;
    environment.claims.ended(tasks.get(0), now);
    tasks.get(0).owner.batchEnded(tasks, failure, now);
  }

  @Override
  public boolean isWanted(Task task) {
    return task.owner.isWanted(task);
  }

  @Override
  public int dropped() {
    return environment.drops();
  }

  @Override
  public void begin(Task task) {
    task.owner.begin(task);
    running++;
  }

  @Override
  public void declined(Task task, long now) {
    task.owner.declined(task, now);
  }

  @Override
  public void finished(Task task, long now) {
    running--;
    environment.claims.ended(task, now);
    task.owner.finished(task, now);
  }

  @Override
  public void failed(Task task, Throwable cause, long now) {
    running--;
    environment.claims.ended(task, now);
    task.owner.failed(task, cause, running(), now);
  }

  @Override
  public void finished() {
    consumed++;
  }

  @Override
  public void ready(OwnedShard shard) {
    shards.ready(shard);
  }

  /**
   * Whether anything may start: onAssign, a handler, a commit that claims messages for handlers.
   */
  @Override
  public boolean mayStart(long now) {
    return environment.fence.mayStart(now) && open && !environment.isFaulty();
  }

  // ---- For the admission steps between this and the handlers

  /** Whether a handler may start. */
  public boolean mayBegin(long now) {
    return (environment.atMostOnce || !environment.isPaused())
        && running() < parallel
        && !environment.claims.block(now)
        && mayStart(now)
        && environment.breaker.mayStart(running(), now);
  }

  /**
   * Whether a message that has begun is held here because it begins with care: then it comes from
   * {@link #claimed} when the log knows that it begins.
   */
  public boolean holds(Task task, long now) {
    if (task.careful) {
      environment.claims.add(task, now);
    }
    return task.careful;
  }

  /** A message that was {@link #holds held} and goes to its handler now, or null. */
  public Task claimed(long now) {
    boolean may = environment.claims.waiting() > 0 && mayStart(now) && running() < parallel;
    return may ? environment.claims.poll(now) : null;
  }

  /** The next watched message behind which others have come to wait, or null. */
  public Task pollCrowded() {
    return environment.crowded.poll();
  }

  /** The messages that wait behind an admitted one, in the queue of its key. */
  public Iterator<Task> behind(Task task) {
    return task.owner.behind(task);
  }

  /** Takes some of them out of the queue. The caller declines each with {@link #declined}. */
  public void takeBehind(Task task, Set<Task> some) {
    task.owner.takeBehind(task, some);
  }

  /** Gives a message to the next owner of its shard, if the shard is being given away. */
  public void giveBack(Task task) {
    task.owner.giveBack(task);
  }

  /**
   * Whether a shard is being given away that may leave messages to the next owner: with state it
   * may not.
   */
  public boolean mayGiveBack() {
    return !environment.handler.keepsState()
        && !environment.handler.givesState()
        && shards.all().stream().anyMatch(shard -> shard.state() == OwnedShardState.DRAINING);
  }

  /** How many shards wait for messages that were admitted and have not begun. */
  public int shardsFull() {
    return (int) shards.all().stream().filter(shard -> shard.handling.waitsForAdmission()).count();
  }

  // ---- The consumer's life

  /** Whether handlers may start, as far as that depends on time and the connection. */
  public SelfFence fence() {
    return environment.fence;
  }

  private void resumed(long now) {
    shards.all().forEach(shard -> shard.handling.resume(now));
  }

  /** The connection was lost, or is back. */
  public void link(boolean up, long now) {
    environment.fence.link(up);
    if (up) {
      shards.all().forEach(shard -> shard.linkUp(now));
      actions.add(new HeartbeatNow());
    }
  }

  /** Sends and retries what is due. Called every {@link #TICK_MILLIS}. */
  public void tick(long now) {
    shards.forgetQuiet();
    shards.all().forEach(shard -> shard.tick(now));
    environment.claims.tick(now);
    environment.commits.step(now);
  }

  /** Sets which data log group holds which shard. */
  public void shardGroups(ShardGroups groups) {
    environment.commits.shardGroups(groups);
  }

  /**
   * Takes what an assignment says is paused of the group, unless a later one {@link #assigned came}
   * before.
   */
  public void paused(Assignment assignment, long now) {
    if (last.numbers(assignment) && assignment.pauses() != null) {
      paused(assignment.pauses(), now);
    }
  }

  /** What has not begun there goes back to the log, and is fetched again when the pause is over. */
  void paused(List<Assignment.Paused> pauses, long now) {
    if (environment.pauses(pauses)) {
      shards.all().forEach(shard -> shard.paused(now));
    }
  }

  /** Whether the whole group is paused. */
  public boolean isPaused() {
    return environment.isPaused();
  }

  /** Stops or resumes fetching, as the application wishes. */
  public void pause(boolean on, long now) {
    environment.pause(on);
    if (!on) {
      resumed(now);
    }
  }

  /**
   * Gives every shard away; {@link #drained} says when that is done.
   *
   * @param withinMillis how long it may take, in all; no longer than the lock time
   */
  public void close(long now, long withinMillis) {
    closing = true;
    lead(lead);
    environment.releaseWithin(Math.min(withinMillis, options.getLockTimeMillis()));
    if (shards.count() > 0) {
      // The sooner the dispatcher knows, the sooner it chooses new owners.
      actions.add(new HeartbeatNow());
    }
    shards.all().forEach(shard -> shard.draining(true, now));
  }

  /**
   * The consumer ends as one that has died of one of those messages. It is still to be {@link
   * #close closed}. Then it gives their shards away without a release, so that the death counts,
   * and all others as usual.
   *
   * @return those of them of whose shards that is so
   */
  public List<MessageId> die(Collection<Delivery> inHand, long now) {
    dying = true;
    List<MessageId> diedOf = new ArrayList<>();
    for (OwnedShard shard : shards.all()) {
      List<MessageId> of =
          inHand.stream()
              .filter(each -> shard.ownership().has(each))
              .map(each -> new MessageId(shard.shard(), each.offset(), 0))
              .toList();
      if (!of.isEmpty() && shard.die(now)) {
        diedOf.addAll(of);
      }
    }
    return diedOf;
  }

  /** Another consumer has taken this member's name: all shards are lost at once. */
  public void replaced(String why, long now) {
    closing = true;
    lead(null);
    shards.all().forEach(shard -> shard.lose(why, now));
  }
}
