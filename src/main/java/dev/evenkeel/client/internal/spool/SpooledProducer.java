package dev.evenkeel.client.internal.spool;

import dev.evenkeel.bus.DueClock;
import dev.evenkeel.bus.Ending;
import dev.evenkeel.client.Producer;
import dev.evenkeel.client.ProducerOptions;
import dev.evenkeel.client.SourcePosition;
import dev.evenkeel.client.SpoolingProducer;
import dev.evenkeel.client.internal.produce.core.DueTime;
import dev.evenkeel.client.internal.produce.core.SendBuffer;
import dev.evenkeel.client.internal.spool.log.SpoolIntake;
import dev.evenkeel.client.internal.spool.log.SpoolLog;
import dev.evenkeel.client.internal.spool.log.SpoolRecord;
import dev.evenkeel.client.internal.spool.log.SpoolState;
import dev.evenkeel.client.internal.tracing.SendSpans;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.TopicInfo;
import dev.evenkeel.util.MonotonicClock;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.Promise;
import io.vertx.core.internal.ContextInternal;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;

/**
 * A {@link SpoolingProducer}: takes messages on any thread into the {@link SpoolIntake}, has the
 * disk's thread write them, and passes them to the {@link SpoolSender}. It never calls the
 * application under the lock.
 */
final class SpooledProducer implements SpoolingProducer, Ending {
  /** Promises are counted, not bytes: the spool bounds those. */
  private static final long ROOM_BYTES = Long.MAX_VALUE / 4;

  private final ContextInternal context;
  private final SpoolDisk disk;
  private final ProducerOptions options;
  private final SpoolWindow window;
  private final boolean waitsIfFull;
  private final Opened opened;
  private final int run;
  private final long messagesBeforeSource;
  private final Promise<Void> end;
  private final DueClock dueClock;
  private final Promise<Void> closed;
  private SpoolSender sender;

  // Guarded by this.
  private final SpoolIntake<Promise<Position>> intake;
  private final SendBuffer<Awaited> room = new SendBuffer<>(ROOM_BYTES);
  private List<Promise<Void>> unspooled = new ArrayList<>();

  /** Each waits until all up to a frame is acknowledged. */
  private final Map<Promise<Void>, Long> flushes = new LinkedHashMap<>();

  private boolean writeQueued;
  private boolean writeTimed;
  private boolean senderIdle;
  private RefusedException endedBy;
  private boolean closing;

  /** Of the disk's thread. */
  private boolean forceTimed;

  /** Null: no message has a span. */
  private final SendSpans spans;

  private volatile Handler<Throwable> exceptionHandler;
  private volatile Handler<Void> drainHandler;

  SpooledProducer(
      ContextInternal context,
      SpoolDisk disk,
      ProducerOptions options,
      SpoolStart.Begun begun,
      SpoolIntake<Promise<Position>> intake,
      DueClock dueClock) {
    this.dueClock = dueClock;
    this.context = context;
    this.disk = disk;
    this.options = options;
    this.intake = intake;
    SpoolState state = begun.state();
    run = state.run();
    messagesBeforeSource = state.messagesBeforeSource();
    window = begun.window();
    opened = begun.found();
    waitsIfFull = options.getOnFull() == ProducerOptions.OnFull.WAIT;
    spans = SendSpans.of(context.owner(), options);
    end = context.promise();
    closed = context.promise();
  }

  /** On the context. */
  SpooledProducer start(SpoolSender with) {
    sender = with;
    sender.start();
    return this;
  }

  @Override
  public Receipt submit(Message message) {
    return submitAt(message, null);
  }

  @Override
  public Receipt submitAt(Message message, Instant due) {
    return take(message, due, true, waitsIfFull, false);
  }

  @Override
  public Future<Position> sendAt(Message message, Instant due) {
    return submitAt(message, due).acknowledged();
  }

  @Override
  public Future<Void> spool(Message message) {
    return take(message, null, false, waitsIfFull, false).spooled();
  }

  @Override
  public Future<Position> send(Message message) {
    return submit(message).acknowledged();
  }

  @Override
  public Future<Void> write(Message message) {
    Future<Void> written = take(message, null, true, false, true).acknowledged().mapEmpty();
    Handler<Throwable> handler = exceptionHandler;
    return handler == null ? written : written.onFailure(handler);
  }

  /**
   * @param due null: now
   * @param stretch take it up to the hard limit
   */
  private Receipt take(
      Message message, Instant due, boolean wantsAck, boolean mayWait, boolean stretch) {
    ContextInternal caller = ContextInternal.current();
    ContextInternal promises = caller == null ? context : caller;
    Awaited awaited = new Awaited(promises.promise(), wantsAck ? promises.promise() : null);
    SendSpans.Sending sending =
        spans == null ? null : spans.begin(options.getTopic(), message, awaited);
    Message sent = sending == null ? message : sending.message();
    try {
      sent.checkLimits();
      long dueMillis = dueMillis(due);
      synchronized (this) {
        checkOpen();
        boolean full = isFull() || wantsAck && (stretch ? room.isOverfull() : room.isFull());
        if (!full && !room.hasWaiters()) {
          accept(sent, dueMillis, awaited);
        } else if (!mayWait || !room.await(sent, dueMillis, awaited, 0)) {
          throw new RefusedException(
              Refusal.OVERLOADED,
              "the spool is full: wait for earlier messages before sending more");
        }
      }
    } catch (RefusedException refused) {
      awaited.refuse(refused);
    }
    if (sending != null) {
      awaited.ended().onComplete(sending);
    }
    return awaited.receipt();
  }

  @Override
  public Instant dueAfter(Duration deliverAfter) {
    return DueTime.after(deliverAfter, dueClock.millis());
  }

  private long dueMillis(Instant due) {
    return due == null ? DueTime.NOW : DueTime.of(Producer.millis(due), dueClock.millis());
  }

  private void checkOpen() {
    if (endedBy != null) {
      throw endedBy;
    }
    if (closing) {
      throw closedNow();
    }
  }

  private boolean isFull() {
    return intake.isFull() || window.spoolBytes() + intake.bytes() >= options.getSpoolLimitBytes();
  }

  /** Under the lock. */
  private void accept(Message message, long dueMillis, Awaited awaited) {
    long now = MonotonicClock.millis();
    intake.add(message, dueMillis, awaited.acknowledged(), now);
    unspooled.add(awaited.spooled());
    if (awaited.acknowledged() != null) {
      room.take(0);
      awaited.acknowledged().future().onComplete(done -> acknowledged());
    }
    seeDue(now);
  }

  private synchronized void acknowledged() {
    room.release(0, 1);
  }

  @Override
  public void spoolAll(List<Message> messages, Instant due, SourcePosition after)
      throws InterruptedException {
    if (Context.isOnEventLoopThread()) {
      throw new IllegalStateException("spoolAll() blocks: not on an event loop");
    }
    messages.forEach(Message::checkLimits);
    long dueMillis = dueMillis(due);
    synchronized (this) {
      while (endedBy == null && !closing && isFull()) {
        wait();
      }
      checkOpen();
      long now = MonotonicClock.millis();
      messages.forEach(message -> intake.add(message, dueMillis, null, now));
      if (after != null) {
        intake.reached(after, now);
      }
      seeDue(now);
    }
  }

  /** Has messages written now, or when the time has come. Under the lock. */
  private void seeDue(long nowMillis) {
    if (writeQueued || intake.isEmpty()) {
      return;
    }
    if (senderIdle || intake.isDue(options, nowMillis)) {
      writeQueued = true;
      disk.run(this::write).onFailure(this::failed);
    } else if (!writeTimed) {
      writeTimed = true;
      disk.after(options.getSpoolFlushMillis(), this::timeIsOver);
    }
  }

  private synchronized void timeIsOver() {
    writeTimed = false;
    seeDue(MonotonicClock.millis());
  }

  private void failed(Throwable failure) {
    RefusedException why = (RefusedException) failure;
    sender.halt(why);
    ended(why);
  }

  /**
   * Writes all that is in memory, and forces it to the disk as the policy says. On the disk's
   * thread.
   *
   * @throws RefusedException UNAVAILABLE if the disk failed; nothing more can be written then
   */
  private Void write(SpoolLog log) {
    SpoolIntake.Chunk<Promise<Position>> chunk;
    List<Promise<Void>> spooled;
    synchronized (this) {
      writeQueued = false;
      if (intake.isEmpty()) {
        return null;
      }
      chunk = intake.take(log.state().lastFrame() + 1, run, System.currentTimeMillis());
      spooled = unspooled;
      unspooled = new ArrayList<>();
      senderIdle = false;
    }
    try {
      log.append(chunk.frame());
      if (options.getSpoolFsync() == ProducerOptions.SpoolFsync.ALWAYS) {
        log.force();
      }
    } catch (IOException | RuntimeException e) {
      RefusedException why =
          new RefusedException(Refusal.UNAVAILABLE, "cannot write to the spool: " + e);
      spooled.forEach(promise -> promise.tryFail(why));
      chunk.tokens().forEach(batch -> batch.forEach(token -> token.value().tryFail(why)));
      throw why;
    }
    sender.offer(log, chunk.frame(), chunk.tokens());
    spooled.forEach(Promise::tryComplete);
    if (options.getSpoolFsync() == ProducerOptions.SpoolFsync.INTERVAL && !forceTimed) {
      forceTimed = true;
      disk.after(
          options.getSpoolFsyncMillis(), () -> disk.run(this::force).onFailure(this::failed));
    }
    roomAgain();
    return null;
  }

  private Void force(SpoolLog log) throws IOException {
    forceTimed = false;
    log.force();
    return null;
  }

  /** Writes the last record: what is acknowledged by now. On the context. */
  private Future<Void> lastNote() {
    SpoolRecord.Acked acked = sender.acknowledged();
    return disk.run(
        log -> {
          log.acked(acked.frame(), acked.messages());
          log.force();
          return null;
        });
  }

  /** Takes waiting messages as far as there is room. On any thread. */
  private void roomAgain() {
    boolean drained;
    synchronized (this) {
      while (endedBy == null && !closing && room.hasWaiters() && !isFull()) {
        if (room.first().token().acknowledged() != null && room.isFull()) {
          break;
        }
        SendBuffer.Waiter<Awaited> next = room.evict();
        try {
          accept(next.message(), next.dueMillis(), next.token());
        } catch (RefusedException refused) {
          context.runOnContext(none -> next.token().refuse(refused));
        }
      }
      notifyAll();
      drained = !isFull() && room.drained();
    }
    Handler<Void> handler = drainHandler;
    if (drained && handler != null) {
      context.runOnContext(none -> handler.handle(null));
    }
  }

  /** The topic has these shards now. On the context, as all that the sender calls. */
  synchronized void shards(TopicInfo.Layout shards) {
    intake.shards(shards, ThreadLocalRandom.current().nextDouble());
  }

  /** The spool has become smaller, or messages are acknowledged. */
  void progress() {
    flushedUpTo(sender.acknowledged().frame()).forEach(Promise::tryComplete);
    roomAgain();
  }

  /** Takes out flushes that need not wait any more, to be completed outside of the lock. */
  private synchronized List<Promise<Void>> flushedUpTo(long ackedFrame) {
    List<Promise<Void>> done = new ArrayList<>();
    flushes.entrySet().removeIf(each -> each.getValue() <= ackedFrame && done.add(each.getKey()));
    return done;
  }

  /** Nothing is on its way: what is in memory may be written and sent at once. */
  synchronized void idle() {
    senderIdle = true;
    seeDue(MonotonicClock.millis());
  }

  /** The sender has ended. */
  void ended(RefusedException why) {
    if (over(why)) {
      Handler<Throwable> handler = exceptionHandler;
      if (handler != null) {
        handler.handle(why);
      }
      end.tryFail(why);
    }
  }

  /** Fails everything that waits; false if that has happened before. */
  private boolean over(RefusedException why) {
    List<Awaited> waiters = new ArrayList<>();
    List<Promise<Void>> unflushed;
    synchronized (this) {
      if (endedBy != null) {
        return false;
      }
      endedBy = why;
      notifyAll();
      while (room.hasWaiters()) {
        waiters.add(room.evict().token());
      }
      unflushed = flushedUpTo(Long.MAX_VALUE);
    }
    waiters.forEach(waiter -> waiter.refuse(why));
    unflushed.forEach(promise -> promise.tryFail(why));
    return true;
  }

  @Override
  public Future<Void> flush() {
    Promise<Void> promise = context.promise();
    disk.run(
            log -> {
              write(log);
              return log.state().lastFrame();
            })
        .onFailure(promise::tryFail)
        .onSuccess(
            frame -> {
              synchronized (this) {
                if (endedBy != null) {
                  promise.tryFail(endedBy);
                  return;
                }
                flushes.put(promise, frame);
              }
              progress();
            });
    return promise.future();
  }

  @Override
  public Future<Void> close() {
    synchronized (this) {
      if (closing) {
        return closed.future();
      }
      closing = true;
      notifyAll();
    }
    disk.run(this::write)
        .transform(written -> lastNote())
        .onComplete(
            noted -> {
              RefusedException why = closedNow();
              sender.halt(why);
              disk.close()
                  .onComplete(
                      unlocked -> {
                        over(why);
                        end.tryComplete();
                        closed.tryComplete();
                      });
            });
    return closed.future();
  }

  private static RefusedException closedNow() {
    return new RefusedException(
        Refusal.UNAVAILABLE,
        "the producer is closed; what it had spooled is sent when the spool is next opened");
  }

  @Override
  public Future<Void> over() {
    return closed.future();
  }

  @Override
  public Future<Void> end() {
    return close();
  }

  @Override
  public Opened opened() {
    return opened;
  }

  @Override
  public Status status() {
    long acked = sender.ackedMessages();
    long spooled;
    synchronized (this) {
      spooled = window.spooledMessages() + intake.messages();
    }
    long oldest = sender.oldestMillis();
    return new Status(
        Math.max(0, spooled - messagesBeforeSource),
        Math.max(0, acked - messagesBeforeSource),
        Math.max(0, spooled - acked),
        window.spoolBytes(),
        oldest < 0 ? -1 : Math.max(0, System.currentTimeMillis() - oldest),
        sender.lostMessages());
  }

  @Override
  public Future<Void> ended() {
    return end.future();
  }

  @Override
  public synchronized long pendingMessages() {
    return window.spooledMessages()
        + intake.messages()
        + room.waitingSends()
        - sender.ackedMessages();
  }

  @Override
  public Producer exceptionHandler(Handler<Throwable> handler) {
    exceptionHandler = handler;
    return this;
  }

  @Override
  public synchronized Producer setWriteQueueMaxSize(int maxMessages) {
    room.messagesMax(maxMessages);
    return this;
  }

  @Override
  public synchronized boolean writeQueueFull() {
    boolean full = isFull() || room.isFull() || room.hasWaiters();
    if (full) {
      room.wantDrain();
    }
    return full;
  }

  @Override
  public Producer drainHandler(Handler<Void> handler) {
    drainHandler = handler;
    return this;
  }
}
