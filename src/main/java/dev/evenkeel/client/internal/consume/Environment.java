package dev.evenkeel.client.internal.consume;

import dev.evenkeel.bus.Assignment;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.ConsumerOptions.DeliveryPolicy;
import dev.evenkeel.protocol.MessageFilter;
import dev.evenkeel.protocol.Pause;
import dev.evenkeel.protocol.Shard;
import java.util.ArrayDeque;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.IntSupplier;
import java.util.function.LongConsumer;
import java.util.random.RandomGenerator;
import org.slf4j.event.Level;

/**
 * What the owned shards of one consumer share: its options, its limits, the state of its
 * connection, and the actions that go out. {@link ConsumerCore} sets it.
 */
final class Environment {
  final ConsumerOptions options;

  /** This run of the member. */
  final String instance;

  final HandlerKind handler;
  final boolean atMostOnce;
  final boolean effectivelyOnce;
  final SelfFence fence;
  final FlowControl flow;
  final Breaker breaker;
  final PositionCommits commits;
  final Claims claims;
  final RandomGenerator random;

  /**
   * Most messages of a shard that may be in admission besides those handed out; 0: they count among
   * these.
   */
  final int admissionMax;

  /** Watched messages behind which others have come to wait. */
  final ArrayDeque<Task> crowded = new ArrayDeque<>();

  private final MessageFilter filter;
  private long filtered;
  private int drops;
  private final Consumer<ConsumerAction> out;
  private final IntSupplier shards;
  private final LongConsumer resumed;
  private boolean paused;
  private boolean faulty;

  /** What is paused of the group. */
  private List<Assignment.Paused> pauses = List.of();

  private boolean groupPaused;

  private long releaseMillisMax;

  /**
   * @param shards how many shards are owned
   * @param running how many handlers run
   * @param resumed gets the time when the limits allow all shards to fetch again
   */
  Environment(
      ConsumerOptions options,
      String instance,
      HandlerKind handler,
      RandomGenerator random,
      int admissionMax,
      Consumer<ConsumerAction> out,
      IntSupplier shards,
      IntSupplier running,
      LongConsumer resumed) {
    this.options = options;
    filter = options.getFilter().isAll() ? null : options.getFilter();
    this.instance = instance;
    this.handler = handler;
    this.random = random;
    this.admissionMax = admissionMax;
    this.out = out;
    this.shards = shards;
    this.resumed = resumed;
    DeliveryPolicy delivery = options.getDelivery();
    atMostOnce = delivery == DeliveryPolicy.AT_MOST_ONCE;
    effectivelyOnce = delivery == DeliveryPolicy.EFFECTIVELY_ONCE;
    fence = new SelfFence(options.getMemberTimeoutMillis());
    flow = new FlowControl(options.getPendingMessagesMax(), options.getPendingBytesMax());
    breaker = new Breaker(options.isBreaker());
    commits = new PositionCommits(options, fence, out);
    claims = new Claims(options.getParallel(), out, running);
    releaseWithin(options.getLockTimeMillis());
  }

  void act(ConsumerAction action) {
    out.accept(action);
  }

  /**
   * Logs a line.
   *
   * @param cause or null
   */
  void report(Level level, String text, Throwable cause) {
    act(new ConsumerAction.Report(level, text, cause));
  }

  int shards() {
    return shards.getAsInt();
  }

  /** Whether the consumer wants a message. Nodes may have sent others, too. */
  boolean wants(Task task) {
    return filter == null || task.hopeless != null || filter.matches(task.message);
  }

  /** The filter has passed over messages. */
  void filtered(long messages) {
    filtered += messages;
  }

  /** How many messages the filter has passed over. */
  long filtered() {
    return filtered;
  }

  /** How often the consumer dropped messages that admission steps had taken. */
  int drops() {
    return drops;
  }

  void dropped() {
    drops++;
  }

  boolean linkUp() {
    return fence.linkUp();
  }

  /** Whether the application wants messages: it has not paused the consumer. */
  boolean fetches() {
    return !paused;
  }

  void pause(boolean on) {
    paused = on;
  }

  /** Takes what is paused of the group. Returns whether that is news. */
  boolean pauses(List<Assignment.Paused> now) {
    boolean news = !now.equals(pauses);
    pauses = now;
    groupPaused = now.contains(new Assignment.Paused(Pause.ALL_TOPICS, Pause.ALL_SHARDS));
    return news;
  }

  /** Whether nothing of a shard may begin, because the group is paused. */
  boolean isPaused(Shard shard) {
    for (Assignment.Paused each : pauses) {
      boolean topic = each.topicId() == Pause.ALL_TOPICS || each.topicId() == shard.topicId();
      if (topic && (each.shard() == Pause.ALL_SHARDS || each.shard() == shard.shard())) {
        return true;
      }
    }
    return false;
  }

  /** Whether the whole group is paused. */
  boolean isPaused() {
    return groupPaused;
  }

  /** Whether this member cannot go on: nothing begins any more, and nothing is waited for. */
  boolean isFaulty() {
    return faulty;
  }

  /** This member cannot go on: it ends, and gives back what it has. */
  void faulty(String text, Throwable cause) {
    if (!faulty) {
      faulty = true;
      act(new ConsumerAction.Stop(text, cause));
    }
  }

  /** Sets how long a shard may take to be given away. */
  void releaseWithin(long millis) {
    releaseMillisMax = millis;
  }

  long releaseMillisMax() {
    return releaseMillisMax;
  }

  /** Messages are no longer pending. Fetching resumes if the limits now allow it. */
  void removed(long messages, long bytes, long now) {
    if (flow.removed(messages, bytes)) {
      resumed.accept(now);
    }
  }

  /** As {@link #removed(long, long, long)}. */
  void removed(List<Task> tasks, long now) {
    if (!tasks.isEmpty()) {
      removed(tasks.size(), tasks.stream().mapToLong(task -> task.bytes).sum(), now);
    }
  }
}
