package dev.evenkeel.client.internal.member;

import dev.evenkeel.bus.ClusterDirectory;
import dev.evenkeel.bus.Ending;
import dev.evenkeel.bus.Link;
import dev.evenkeel.client.Consumer;
import dev.evenkeel.client.ConsumerHandler;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.ConsumerStream;
import dev.evenkeel.client.Delivery;
import dev.evenkeel.client.GivenBackException;
import dev.evenkeel.client.ShardContext;
import dev.evenkeel.client.internal.consume.HoldsMessages;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Refusal;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.Promise;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.internal.ContextInternal;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;

/** A {@link ConsumerStream} that is the handler of a consumer. */
public final class HandlerStream implements ConsumerStream, Ending {
  /**
   * @param context on which the consumer gave the message
   */
  private record WaitingDelivery(Delivery delivery, Promise<Void> end, ContextInternal context) {}

  private record MessageId(LeasedShard shard, long offset) {
    static MessageId of(Delivery delivery) {
      return new MessageId(LeasedShard.of(delivery), delivery.offset());
    }
  }

  private final Finishing finishing;

  /**
   * Messages that the consumer handed out and the application has not asked for yet. At most {@code
   * parallel}.
   */
  private final ArrayDeque<WaitingDelivery> queue = new ArrayDeque<>();

  /**
   * Messages that the handler got and the application has not finished. At most {@code parallel}.
   */
  private final Map<MessageId, WaitingDelivery> unfinished = new HashMap<>();

  /** Shards that are being given away. */
  private final Set<LeasedShard> draining = new HashSet<>();

  private Consumer consumer;
  private Context context;
  private Handler<Delivery> handler;
  private volatile Handler<Delivery> declinedHandler;
  private volatile Handler<Throwable> exceptionHandler;
  private volatile Handler<Void> endHandler;
  private long demand = Long.MAX_VALUE;
  private boolean ended;

  /** Whether the handler is being called: what comes meanwhile waits until it has returned. */
  private boolean handling;

  /** Computes the dedup key; null: as the options say. */
  private final Function<Message, byte[]> dedupKey;

  private HandlerStream(Finishing finishing, Function<Message, byte[]> dedupKey) {
    this.finishing = finishing;
    this.dedupKey = dedupKey;
  }

  /**
   * Joins a group. Messages flow once a handler is set. Completes and fails as {@link
   * Consumers#start} does.
   *
   * @param dedupKey with dedup, what {@link ConsumerHandler#dedupKey} says; null: as the options
   *     say
   */
  public static Future<ConsumerStream> start(
      Link link,
      ClusterDirectory directory,
      ConsumerOptions options,
      Finishing finishing,
      Function<Message, byte[]> dedupKey) {
    if (options.isWorker()) {
      return Future.failedFuture(
          Refusal.INVALID.error(
              "worker is set for a stream: leave it out, and hand messages to threads of your"
                  + " own"));
    }
    return start(
        handler -> Consumers.start(link, directory, options, handler), finishing, dedupKey);
  }

  static Future<ConsumerStream> start(
      Function<ConsumerHandler, Future<Consumer>> starter,
      Finishing finishing,
      Function<Message, byte[]> dedupKey) {
    HandlerStream stream = new HandlerStream(finishing, dedupKey);
    return starter.apply(stream.new Source()).map(stream::bind);
  }

  private synchronized ConsumerStream bind(Consumer started) {
    consumer = started;
    started.onEnd(this::failed);
    return this;
  }

  @Override
  public synchronized Consumer consumer() {
    return consumer;
  }

  /** The stream as the consumer sees it. */
  final class Source implements ConsumerHandler, HoldsMessages {
    /** Messages that nobody has asked for yet do not begin while the group is paused. */
    @Override
    public void paused(ShardContext shard, boolean on) {
      if (on) {
        giveUp(shard, true, false);
      } else {
        notDraining(shard);
      }
    }

    @Override
    public Future<Void> handle(Delivery delivery) {
      return deliver(delivery);
    }

    @Override
    public byte[] dedupKey(Message message) {
      return dedupKey.apply(message);
    }

    @Override
    public boolean givesDedupKey() {
      return dedupKey != null;
    }

    @Override
    public void onDeclined(Delivery delivery) {
      Handler<Delivery> to = declinedHandler;
      if (to != null) {
        to.handle(delivery);
      }
    }

    /** Messages that nobody has asked for yet do not hold up the handover. */
    @Override
    public void onDraining(ShardContext shard) {
      giveUp(shard, true, false);
    }

    @Override
    public void onKept(ShardContext shard) {
      notDraining(shard);
    }

    @Override
    public Future<Buffer> onRelease(ShardContext shard) {
      notDraining(shard);
      return Future.succeededFuture();
    }

    @Override
    public boolean givesState() {
      return false;
    }

    @Override
    public void onLost(ShardContext shard) {
      giveUp(shard, false, true);
    }
  }

  private Future<Void> deliver(Delivery delivery) {
    WaitingDelivery waiting =
        new WaitingDelivery(delivery, Promise.promise(), ContextInternal.current());
    synchronized (this) {
      context = waiting.context().unwrap();
      boolean waits = handler == null || demand == 0 || !queue.isEmpty();
      if (waits && draining.contains(LeasedShard.of(delivery))) {
        return Future.failedFuture(new GivenBackException("the shard goes to another owner"));
      }
      queue.add(waiting);
    }
    drain();
    return waiting.end().future();
  }

  private synchronized void notDraining(ShardContext shard) {
    draining.remove(LeasedShard.of(shard));
  }

  /**
   * Ends the messages of a shard that is given away or lost, so that nothing waits for them.
   *
   * @param drains whether further messages of the shard may come, which then end at once
   */
  private void giveUp(ShardContext context, boolean drains, boolean alsoUnfinished) {
    LeasedShard shard = LeasedShard.of(context);
    List<Promise<Void>> ends = new ArrayList<>();
    synchronized (this) {
      if (drains) {
        draining.add(shard);
      } else {
        draining.remove(shard);
      }
      queue.removeIf(each -> shard.equals(LeasedShard.of(each.delivery())) && ends.add(each.end()));
      if (alsoUnfinished) {
        unfinished
            .entrySet()
            .removeIf(
                each -> shard.equals(each.getKey().shard()) && ends.add(each.getValue().end()));
      }
    }
    GivenBackException cause = new GivenBackException("the shard goes to another owner");
    ends.forEach(end -> end.tryFail(cause));
  }

  /** Gives messages to the handler, as many as it asked for. Runs on the consumer's context. */
  private void drain() {
    while (true) {
      WaitingDelivery next;
      Handler<Delivery> to;
      synchronized (this) {
        if (handling || handler == null || demand == 0 || queue.isEmpty()) {
          return;
        }
        handling = true;
        next = queue.poll();
        to = handler;
        if (demand != Long.MAX_VALUE) {
          demand--;
        }
        if (finishing == Finishing.MANUAL) {
          unfinished.put(MessageId.of(next.delivery()), next);
        }
      }
      if (next.context() == ContextInternal.current()) {
        handle(next, to);
      } else {
        next.context().dispatch(none -> handle(next, to));
      }
    }
  }

  private void handle(WaitingDelivery next, Handler<Delivery> to) {
    try {
      to.handle(next.delivery());
      if (finishing == Finishing.AUTOMATIC) {
        next.end().tryComplete();
      }
    } catch (Throwable e) {
      settled(next.delivery());
      next.end().tryFail(e);
    } finally {
      handled();
    }
  }

  private synchronized void handled() {
    handling = false;
  }

  private void scheduleDrain() {
    Context where;
    synchronized (this) {
      where = !queue.isEmpty() ? context : null;
    }
    if (where != null) {
      where.runOnContext(ignored -> drain());
    }
  }

  @Override
  public void finish(Delivery delivery) {
    WaitingDelivery ended = settled(delivery);
    if (ended != null) {
      ended.end().tryComplete();
    }
  }

  @Override
  public void fail(Delivery delivery, Throwable cause) {
    WaitingDelivery ended = settled(delivery);
    if (ended != null) {
      ended.end().tryFail(cause);
    }
  }

  private synchronized WaitingDelivery settled(Delivery delivery) {
    return unfinished.remove(MessageId.of(delivery));
  }

  /** The messages that the application has got and not ended. */
  public synchronized List<Delivery> unfinished() {
    return unfinished.values().stream().map(WaitingDelivery::delivery).toList();
  }

  /** A message that the application has got and not ended; null: there is no such message. */
  public synchronized Delivery unfinished(String topic, int shard, long epoch, long offset) {
    WaitingDelivery waiting =
        unfinished.get(new MessageId(new LeasedShard(topic, shard, epoch), offset));
    return waiting == null ? null : waiting.delivery();
  }

  /** As {@link #close}, and gives all messages back that are not finished. */
  public Future<Void> giveBackAndClose() {
    return giveBackAndClose(List.of());
  }

  /**
   * As {@link #close}, and gives all messages back that are not finished. If there are some of
   * which the application may have died, the consumer leaves its group as one that has died of
   * them.
   *
   * @param diedOf unfinished messages
   */
  public Future<Void> giveBackAndClose(Collection<Delivery> diedOf) {
    List<WaitingDelivery> ends = new ArrayList<>();
    synchronized (this) {
      Set<MessageId> stay = diedOf.stream().map(MessageId::of).collect(Collectors.toSet());
      unfinished
          .entrySet()
          .removeIf(each -> !stay.contains(each.getKey()) && ends.add(each.getValue()));
    }
    pause();
    Future<Void> closed =
        (diedOf.isEmpty() ? consumer().close() : ((ConsumerShell) consumer()).die(diedOf))
            .onComplete(done -> ended());
    GivenBackException cause = new GivenBackException("the consumer leaves the group");
    ends.forEach(each -> each.end().tryFail(cause));
    return closed;
  }

  private void failed(Throwable cause) {
    Handler<Throwable> to = exceptionHandler;
    if (to != null) {
      to.handle(cause);
    }
    ended();
  }

  private void ended() {
    synchronized (this) {
      if (ended) {
        return;
      }
      ended = true;
      queue.clear();
      unfinished.clear();
    }
    Handler<Void> to = endHandler;
    if (to != null) {
      to.handle(null);
    }
  }

  @Override
  public Future<Void> close() {
    pause();
    return consumer().close().onComplete(done -> ended());
  }

  @Override
  public Future<Void> over() {
    return ((Ending) consumer()).over();
  }

  @Override
  public ConsumerStream exceptionHandler(Handler<Throwable> newHandler) {
    exceptionHandler = newHandler;
    return this;
  }

  @Override
  public ConsumerStream handler(Handler<Delivery> newHandler) {
    synchronized (this) {
      handler = newHandler;
    }
    scheduleDrain();
    return this;
  }

  @Override
  public ConsumerStream declinedHandler(Handler<Delivery> newHandler) {
    declinedHandler = newHandler;
    return this;
  }

  @Override
  public synchronized ConsumerStream pause() {
    demand = 0;
    return this;
  }

  @Override
  public ConsumerStream resume() {
    return fetch(Long.MAX_VALUE);
  }

  @Override
  public ConsumerStream fetch(long amount) {
    if (amount <= 0) {
      throw new IllegalArgumentException("fetch(" + amount + "): at least 1 is needed");
    }
    synchronized (this) {
      demand = demand + amount < 0 ? Long.MAX_VALUE : demand + amount;
    }
    scheduleDrain();
    return this;
  }

  @Override
  public ConsumerStream endHandler(Handler<Void> newHandler) {
    endHandler = newHandler;
    return this;
  }
}
