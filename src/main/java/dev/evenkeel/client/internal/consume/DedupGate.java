package dev.evenkeel.client.internal.consume;

import dev.evenkeel.bus.DedupTally;
import dev.evenkeel.client.Delivery;
import dev.evenkeel.dedup.Answer;
import dev.evenkeel.dedup.DedupKey;
import dev.evenkeel.dedup.QueueCoordinator;
import dev.evenkeel.dedup.Ticket;
import dev.evenkeel.dedup.Worker;
import java.util.ArrayDeque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.LongConsumer;

/**
 * Stands between a consumer's lanes and its handler: a message goes on when it has the place of its
 * key, and is finished without the handler when it is declined.
 *
 * <pre>
 * ASKED   --ACCEPT--> TURNED --a handler is free--> AT_WORK --ended, well or not--> given back
 * ASKED   --BLOCK---> WAITING --its turn--> TURNED
 * ASKED, WAITING --DECLINE--> finished
 * ASKED, WAITING, TURNED --the message is not wanted any more, or nothing may start--> given back
 * </pre>
 *
 * <p>What is not AT_WORK is <em>held</em>: it takes no handler, and blocks its own lane only. A
 * message that fails gives its place back and asks again with its next try. One that was held when
 * its shard went, or when the consumer may not start anything for a while, gives its place back and
 * is neither begun nor finished; whatever is answered to it later counts for nothing.
 *
 * <p>All calls come from one thread at a time; {@code now} is a monotonic clock in milliseconds.
 */
public final class DedupGate implements MessageSource<Task> {
  /** Messages that are held at once. */
  static final int HELD_MAX = 1_024;

  /** Messages without an answer at once, at most. */
  private static final int ASKED_MAX = 512;

  private static final long TICK_MILLIS = 1_000;
  private static final int SHARD_SHIFT = 44;

  /** What is around the gate. */
  public interface Surroundings {
    /**
     * Runs {@code action} with the time, on the gate's thread, and then lets the consumer take what
     * it can.
     */
    void onContext(LongConsumer action);

    /** A message was finished without its handler. */
    void declined(Delivery delivery);
  }

  private enum State {
    ASKED,
    WAITING,
    TURNED,
    AT_WORK,
    OVER
  }

  /** One time that a message stands at the gate. */
  static final class Pass {
    final Task task;

    /** Null for a message that is like no other, as is {@link #bytes}. */
    Ticket<DedupKey> ticket;

    byte[] bytes;

    /** What the application's function threw, or null. */
    RuntimeException failure;

    private State state = State.ASKED;

    Pass(Task task) {
      this.task = task;
    }
  }

  private final ConsumerCore core;
  private final String member;
  private final DedupKeys keys;
  private final QueueCoordinator<DedupKey> coordinator;
  private final Consumer<Task> firstTries;
  private final Surroundings around;
  private final HotKeys hot = new HotKeys();

  /** All that are held. */
  private final Set<Pass> held = new LinkedHashSet<>();

  private final ArrayDeque<Pass> turned = new ArrayDeque<>();

  /** Held messages that have given their places back because nothing may start. */
  private final ArrayDeque<Task> parked = new ArrayDeque<>();

  private final int parallel;

  /** Messages that may be without an answer at once, as many as it takes to keep handlers busy. */
  private int window;

  private int asked;
  private int drops;
  private int atWork;
  private long declined;
  private long tickMillis;
  private boolean shut;

  /**
   * @param member name of the consumer
   * @param parallel most handlers at once
   * @param firstTries is shown each message when it is tried for the first time
   */
  public DedupGate(
      ConsumerCore core,
      String member,
      int parallel,
      DedupKeys keys,
      QueueCoordinator<DedupKey> coordinator,
      Consumer<Task> firstTries,
      Surroundings around) {
    this.core = core;
    this.member = member;
    this.parallel = parallel;
    this.keys = keys;
    this.coordinator = coordinator;
    this.firstTries = firstTries;
    this.around = around;
    window = parallel;
  }

  @Override
  public Task next(long now) {
    forgetUnwanted(now);
    if (shut && core.mayStart(now)) {
      shut = false;
      for (Task task = parked.poll(); task != null; task = parked.poll()) {
        if (core.holds(task)) {
          ask(task, now);
        }
      }
    }
    Task next = begin(now);
    while (next == null && mayAsk()) {
      Task task = core.hold(now);
      if (task == null) {
        return null;
      }
      if (task.attempt == 1) {
        firstTries.accept(task);
      }
      ask(task, now);
      next = begin(now);
    }
    return next;
  }

  /** A place that is held without a handler to go to keeps others from the key. */
  private boolean mayAsk() {
    return asked < window
        && held.size() + parked.size() < HELD_MAX
        && core.running() + turned.size() < parallel + (parallel + 1) / 2;
  }

  /** The next message whose turn has come, if a handler is free for it. */
  private Task begin(long now) {
    Pass pass;
    while ((pass = turned.peek()) != null) {
      if (!core.holds(pass.task)) {
        turned.poll();
        giveUp(pass, now);
      } else if (!core.mayBegin(now)) {
        return null;
      } else {
        turned.poll();
        held.remove(pass);
        core.begin(pass.task);
        if (pass.failure == null) {
          pass.state = State.AT_WORK;
          pass.task.pass = pass;
          atWork++;
          return pass.task;
        }
        pass.state = State.OVER;
        core.failed(pass.task, pass.failure, now);
      }
    }
    return null;
  }

  private void ask(Task task, long now) {
    Pass pass = new Pass(task);
    held.add(pass);
    asked++;
    try {
      pass.bytes = keys.bytes(task.message);
    } catch (RuntimeException e) {
      pass.failure = e;
    }
    if (pass.bytes == null) {
      turned(pass);
      return;
    }
    DedupKey key = keys.key(task.hold.topic, pass.bytes);
    int shard = task.hold.shard.shard();
    // The same message, wherever it is tried; 0 would be none.
    long work = ((long) shard << SHARD_SHIFT | task.offset) + 1;
    pass.ticket = coordinator.enQueue(key, new Worker(member, shard, work), now);
    Answer answer = pass.ticket.answer();
    if (answer != null) {
      answered(pass, answer, now);
    } else {
      pass.ticket
          .answered()
          .thenAccept(first -> around.onContext(later -> answered(pass, first, later)));
    }
  }

  private void answered(Pass pass, Answer answer, long now) {
    if (pass.state != State.ASKED && pass.state != State.WAITING) {
      // It was given back meanwhile.
      return;
    }
    if (!core.holds(pass.task)) {
      giveUp(pass, now);
      return;
    }
    switch (answer) {
      case ACCEPT -> turned(pass);
      case BLOCK -> {
        asked--;
        pass.state = State.WAITING;
        pass.ticket
            .turn()
            .thenAccept(turn -> around.onContext(later -> answered(pass, turn, later)));
      }
      default -> decline(pass, now);
    }
  }

  private void turned(Pass pass) {
    notAsked(pass);
    pass.state = State.TURNED;
    turned.add(pass);
    // Handlers that idle want more on its way, places without handlers less.
    if (turned.size() > parallel) {
      window = Math.max(parallel, window / 2);
    } else if (turned.size() == 1 && core.running() < parallel) {
      window = Math.min(ASKED_MAX, window + 1);
    }
  }

  private void decline(Pass pass, long now) {
    notAsked(pass);
    pass.state = State.OVER;
    held.remove(pass);
    declined++;
    hot.declined(pass.ticket.key(), pass.bytes);
    Delivery delivery = pass.task.delivery(member);
    core.declined(pass.task, now);
    around.declined(delivery);
  }

  private void notAsked(Pass pass) {
    if (pass.state == State.ASKED) {
      asked--;
    }
  }

  /** Gives back the place of one that is held. */
  private void giveUp(Pass pass, long now) {
    notAsked(pass);
    pass.state = State.OVER;
    held.remove(pass);
    if (pass.ticket != null) {
      coordinator.deQueue(pass.ticket, now);
    }
  }

  private void forgetUnwanted(long now) {
    if (drops == core.drops()) {
      return;
    }
    drops = core.drops();
    for (Pass pass : List.copyOf(held)) {
      if (!core.holds(pass.task)) {
        giveUp(pass, now);
      }
    }
    turned.removeIf(pass -> pass.state == State.OVER);
    parked.removeIf(task -> !core.holds(task));
  }

  /** To be called every few 10 ms. */
  public void tick(long now) {
    forgetUnwanted(now);
    if (!shut && !core.mayStart(now)) {
      shut = true;
      for (Pass pass : List.copyOf(held)) {
        giveUp(pass, now);
        parked.add(pass.task);
      }
      turned.clear();
    }
    if (now >= tickMillis) {
      tickMillis = now + TICK_MILLIS;
      coordinator.tick(now);
    }
  }

  /** Nothing is begun any more: what is held gives its places back, and stays unfinished. */
  public void end(long now) {
    for (Pass pass : List.copyOf(held)) {
      giveUp(pass, now);
    }
    turned.clear();
    parked.clear();
  }

  @Override
  public void finished(Task task, long now) {
    leave(task, now);
    core.finished(task, now);
  }

  @Override
  public void failed(Task task, Throwable cause, long now) {
    leave(task, now);
    core.failed(task, cause, now);
  }

  private void leave(Task task, long now) {
    Pass pass = task.pass;
    task.pass = null;
    pass.state = State.OVER;
    atWork--;
    if (pass.ticket != null) {
      coordinator.deQueue(pass.ticket, now);
    }
  }

  @Override
  public long consumed() {
    return core.consumed();
  }

  @Override
  public int running() {
    return core.running();
  }

  /** Handlers at work that have places to give back. */
  public int atWork() {
    return atWork;
  }

  /** Messages that were finished without their handler. */
  public long declined() {
    return declined;
  }

  /** Keys that were declined most often, and how often, about. */
  public List<DedupTally.Hot> hot() {
    return hot.top(DedupTally.HOT_MAX);
  }

  /** For tests: messages that are held. */
  int heldMessages() {
    return held.size() + parked.size();
  }
}
