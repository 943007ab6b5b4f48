package dev.evenkeel.client.internal.admission;

import dev.evenkeel.bus.DedupTally;
import dev.evenkeel.client.Delivery;
import dev.evenkeel.client.internal.consume.Admission;
import dev.evenkeel.client.internal.consume.ConsumerCore;
import dev.evenkeel.client.internal.consume.Task;
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
 * The admission step for dedup: of messages with the same key it lets one go on at a time, and
 * finishes those that are declined without the handler.
 *
 * <pre>
 * ASKED   --ACCEPT--> TURNED --the next step takes it--> PASSED --begins--> AT_WORK
 * ASKED   --BLOCK---> WAITING --its turn--> TURNED
 * ASKED, WAITING --DECLINE--> finished
 * AT_WORK --ended, well or not--> the key is given back
 * PASSED  --the next step drops it--> finished, the key is given back
 * any before AT_WORK --the message is not wanted any more, or nothing may start--> given back
 * </pre>
 *
 * <p>Before it is AT_WORK a message takes no handler, and holds up its own key only. A message that
 * fails gives its key back, and asks again with its next attempt. If its shard goes, or the
 * consumer may not start anything for a while, a message gives its key back and is neither begun
 * nor finished; later answers do not count.
 *
 * <p>All calls come from one thread at a time; {@code now} is a monotonic clock in milliseconds.
 */
public final class DedupGate implements Admission {
  /** Most messages that have a key or wait for one, and have no handler. */
  static final int WAITING_MAX = 1_024;

  /** Most messages that await their first answer. */
  private static final int ASKED_MAX = 512;

  private static final long TICK_MILLIS = 1_000;
  private static final int SHARD_SHIFT = 44;

  /** The part of a work's number that is the offset of the message. */
  static final long OFFSETS = (1L << SHARD_SHIFT) - 1;

  private enum State {
    ASKED,
    WAITING,
    TURNED,
    PASSED,
    AT_WORK,
    OVER
  }

  /** One passage of a message through this step. */
  private static final class Pass implements Task.StepData {
    final Task task;

    /** Null for a message that is like no other; then {@link #bytes} is null, too. */
    Ticket<DedupKey> ticket;

    byte[] bytes;

    /** What the application's function has thrown, or null. */
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
  private final Consumer<LongConsumer> onContext;
  private final Consumer<Delivery> onDeclined;
  private final HotKeys hot = new HotKeys();

  /** All messages that are neither AT_WORK nor OVER. */
  final Set<Pass> waiting = new LinkedHashSet<>();

  private final ArrayDeque<Pass> turned = new ArrayDeque<>();

  /** Messages that have given their keys back because nothing may start. */
  final ArrayDeque<Task> parked = new ArrayDeque<>();

  private final int parallel;

  /**
   * How many messages may await their first answer: as many as it takes to keep the handlers busy.
   */
  private int window;

  private int asked;
  private int drops;

  /** A count that grows when messages that had passed lose their key. */
  private int revoked;

  private int atWork;
  private long declined;
  private long tickMillis;
  private boolean shut;

  /**
   * @param member name of the consumer
   * @param parallel most handlers at once
   * @param firstTries gets each message when it is tried for the first time
   * @param onContext runs an action with the time, on the gate's thread, and then lets the consumer
   *     take what it can
   * @param onDeclined gets each message that is finished without its handler
   */
  public DedupGate(
      ConsumerCore core,
      String member,
      int parallel,
      DedupKeys keys,
      QueueCoordinator<DedupKey> coordinator,
      Consumer<Task> firstTries,
      Consumer<LongConsumer> onContext,
      Consumer<Delivery> onDeclined) {
    this.core = core;
    this.member = member;
    this.parallel = parallel;
    this.keys = keys;
    this.coordinator = coordinator;
    this.firstTries = firstTries;
    this.onContext = onContext;
    this.onDeclined = onDeclined;
    window = parallel;
  }

  /** As the last step of a consumer: the next message, which begins. */
  @Override
  public Task next(long now) {
    Task claimed = core.claimed(now);
    if (claimed != null) {
      return claimed;
    }
    Task task;
    while ((task = advance(true, now)) != null) {
      begin(task);
      if (!core.holds(task, now)) {
        return task;
      }
    }
    return null;
  }

  @Override
  public Task admit(long now) {
    return advance(false, now);
  }

  /**
   * @param begins whether the message needs a handler now
   */
  private Task advance(boolean begins, long now) {
    forgetUnwanted(now);
    if (shut && core.mayStart(now)) {
      shut = false;
      for (Task task = parked.poll(); task != null; task = parked.poll()) {
        if (core.isWanted(task)) {
          ask(task, now);
        }
      }
    }
    Task next = pollTurned(begins, now);
    while (next == null && mayAsk()) {
      Task task = core.admit(now);
      if (task == null) {
        return null;
      }
      if (task.attempt() == 1) {
        firstTries.accept(task);
      }
      ask(task, now);
      next = pollTurned(begins, now);
    }
    return next;
  }

  /**
   * Whether another message may ask for its key. A key that is held without a handler keeps others
   * from it.
   */
  private boolean mayAsk() {
    return asked < window
        && waiting.size() + parked.size() < WAITING_MAX
        && core.running() + turned.size() < parallel + (parallel + 1) / 2;
  }

  /** The next message whose turn has come. */
  private Task pollTurned(boolean begins, long now) {
    Pass pass;
    while ((pass = turned.peek()) != null) {
      if (!core.isWanted(pass.task)) {
        turned.poll();
        giveUp(pass, now);
      } else if ((begins || pass.failure != null) && !core.mayBegin(now)) {
        return null;
      } else {
        turned.poll();
        if (pass.failure == null) {
          pass.state = State.PASSED;
          return pass.task;
        }
        pass.state = State.OVER;
        waiting.remove(pass);
        core.begin(pass.task);
        core.failed(pass.task, pass.failure, now);
      }
    }
    return null;
  }

  @Override
  public boolean isWanted(Task task) {
    return task.dedupData instanceof Pass pass && pass.state == State.PASSED && core.isWanted(task);
  }

  @Override
  public int dropped() {
    return core.dropped() + revoked;
  }

  @Override
  public void begin(Task task) {
    Pass pass = (Pass) task.dedupData;
    pass.state = State.AT_WORK;
    waiting.remove(pass);
    atWork++;
    core.begin(task);
  }

  /**
   * The next step drops the message. It may not have passed here, if that step has taken it from
   * the queue of a key.
   */
  @Override
  public void declined(Task task, long now) {
    if (task.dedupData instanceof Pass pass && pass.state == State.PASSED) {
      giveUp(pass, now);
    }
    core.declined(task, now);
  }

  private void ask(Task task, long now) {
    Pass pass = new Pass(task);
    task.dedupData = pass;
    waiting.add(pass);
    asked++;
    try {
      pass.bytes = keys.bytes(task.message());
    } catch (RuntimeException e) {
      pass.failure = e;
    }
    if (pass.bytes == null) {
      turned(pass);
      return;
    }
    DedupKey key = keys.key(task.topic(), pass.bytes);
    int shard = task.shard();
    // The same number for a message wherever it is tried; 0 would mean none.
    long work = ((long) shard << SHARD_SHIFT | task.offset()) + 1;
    pass.ticket = coordinator.enQueue(key, new Worker(member, shard, work), now);
    Answer answer = pass.ticket.answer();
    if (answer != null) {
      answered(pass, answer, now);
    } else {
      pass.ticket
          .answered()
          .thenAccept(first -> onContext.accept(later -> answered(pass, first, later)));
    }
  }

  private void answered(Pass pass, Answer answer, long now) {
    if (pass.state != State.ASKED && pass.state != State.WAITING) {
      // The message has given its key back meanwhile.
      return;
    }
    if (!core.isWanted(pass.task)) {
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
            .thenAccept(turn -> onContext.accept(later -> answered(pass, turn, later)));
      }
      default -> decline(pass, now);
    }
  }

  private void turned(Pass pass) {
    notAsked(pass);
    pass.state = State.TURNED;
    turned.add(pass);
    // If handlers are idle, ask for more at a time; if messages wait for handlers, for fewer.
    if (turned.size() > parallel) {
      window = Math.max(parallel, window / 2);
    } else if (turned.size() == 1 && core.running() < parallel) {
      window = Math.min(ASKED_MAX, window + 1);
    }
  }

  private void decline(Pass pass, long now) {
    notAsked(pass);
    pass.state = State.OVER;
    waiting.remove(pass);
    declined++;
    hot.declined(pass.ticket.key(), () -> keys.text(pass.task.topic(), pass.bytes));
    Delivery delivery = pass.task.delivery(member);
    core.declined(pass.task, now);
    onDeclined.accept(delivery);
  }

  private void notAsked(Pass pass) {
    if (pass.state == State.ASKED) {
      asked--;
    }
  }

  /** Gives back the key of a message that has not begun. */
  private void giveUp(Pass pass, long now) {
    notAsked(pass);
    pass.state = State.OVER;
    waiting.remove(pass);
    if (pass.ticket != null) {
      coordinator.deQueue(pass.ticket, now);
    }
  }

  private void forgetUnwanted(long now) {
    if (drops == core.dropped()) {
      return;
    }
    drops = core.dropped();
    List<Pass> unwanted = waiting.stream().filter(pass -> !core.isWanted(pass.task)).toList();
    unwanted.forEach(pass -> giveUp(pass, now));
    turned.removeIf(pass -> pass.state == State.OVER);
    parked.removeIf(task -> !core.isWanted(task));
  }

  /** Called every few 10 ms. */
  public void tick(long now) {
    forgetUnwanted(now);
    if (!shut && !core.mayStart(now)) {
      shut = true;
      revoked++;
      for (Pass pass : List.copyOf(waiting)) {
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

  /** The consumer has ended: messages that wait give their keys back, and stay unfinished. */
  public void end(long now) {
    List.copyOf(waiting).forEach(pass -> giveUp(pass, now));
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
    Pass pass = (Pass) task.dedupData;
    task.dedupData = null;
    pass.state = State.OVER;
    atWork--;
    if (pass.ticket != null) {
      coordinator.deQueue(pass.ticket, now);
    }
  }

  /** How many messages are with their handlers. */
  public int atWork() {
    return atWork;
  }

  /** How many messages were finished without their handler. */
  public long declined() {
    return declined;
  }

  /** The keys that were declined most often, with approximate counts. */
  public List<DedupTally.Hot> hot() {
    return hot.top(DedupTally.HOT_MAX);
  }
}
