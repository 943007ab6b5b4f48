package dev.evenkeel.client.internal.member;

import dev.evenkeel.bus.ClusterDirectory;
import dev.evenkeel.bus.Link;
import dev.evenkeel.client.Consumer;
import dev.evenkeel.client.ConsumerHandler;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.ConsumerStream;
import dev.evenkeel.client.Delivery;
import dev.evenkeel.client.GivenBackException;
import dev.evenkeel.client.ShardContext;
import dev.evenkeel.protocol.Message;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import java.util.List;
import java.util.function.Function;

/** A {@link ConsumerStream} over a consumer, whose handler it is. */
public final class HandlerStream implements ConsumerStream {
  private final Finishing finishing;

  private final StreamBuffer buffer = new StreamBuffer();
  private Consumer consumer;
  private Context context;
  private Handler<Delivery> handler;
  private Handler<Delivery> declinedHandler;
  private Handler<Throwable> exceptionHandler;
  private Handler<Void> endHandler;
  private long demand = Long.MAX_VALUE;
  private boolean ended;

  /** What makes messages the same; null: as the options say. */
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
  public static Future<HandlerStream> start(
      Link link,
      ClusterDirectory directory,
      ConsumerOptions options,
      Finishing finishing,
      Function<Message, byte[]> dedupKey) {
    return start(
        handler -> Consumers.start(link, directory, options, handler), finishing, dedupKey);
  }

  static Future<HandlerStream> start(
      Function<ConsumerHandler, Future<Consumer>> starter, Finishing finishing) {
    return start(starter, finishing, null);
  }

  private static Future<HandlerStream> start(
      Function<ConsumerHandler, Future<Consumer>> starter,
      Finishing finishing,
      Function<Message, byte[]> dedupKey) {
    HandlerStream stream = new HandlerStream(finishing, dedupKey);
    return starter
        .apply(stream.new Source())
        .map(
            consumer -> {
              stream.bind(consumer);
              return stream;
            });
  }

  private synchronized void bind(Consumer started) {
    consumer = started;
    started.onEnd(this::failed);
  }

  @Override
  public synchronized Consumer consumer() {
    return consumer;
  }

  /** What the consumer sees of the stream. */
  private final class Source implements ConsumerHandler {
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
      Handler<Delivery> to;
      synchronized (HandlerStream.this) {
        to = declinedHandler;
      }
      if (to != null) {
        to.handle(delivery);
      }
    }

    /** What nobody has asked for yet need not hold up the hand-over. */
    @Override
    public void onDraining(ShardContext shard) {
      synchronized (HandlerStream.this) {
        buffer.going(shard);
      }
      giveUp(shard, false);
    }

    @Override
    public void onKept(ShardContext shard) {
      synchronized (HandlerStream.this) {
        buffer.goesNoMore(shard);
      }
    }

    @Override
    public Future<Buffer> onRelease(ShardContext shard) {
      synchronized (HandlerStream.this) {
        buffer.goesNoMore(shard);
      }
      return Future.succeededFuture();
    }

    @Override
    public boolean givesState() {
      return false;
    }

    @Override
    public void onLost(ShardContext shard) {
      synchronized (HandlerStream.this) {
        buffer.goesNoMore(shard);
      }
      giveUp(shard, true);
    }
  }

  private Future<Void> deliver(Delivery delivery) {
    Handler<Delivery> to;
    Promise<Void> end = null;
    synchronized (this) {
      context = Vertx.currentContext();
      to = handler;
      if (to == null || demand == 0 || buffer.anyWaiting()) {
        if (buffer.goes(delivery)) {
          return Future.failedFuture(new GivenBackException("the shard was let go"));
        }
        end = Promise.promise();
        buffer.await(delivery, end);
        return end.future();
      }
      take();
      if (finishing == Finishing.MANUAL) {
        end = Promise.promise();
        buffer.givenOut(delivery, end);
      }
    }
    if (end == null) {
      // One that throws fails its message; the consumer sees to that.
      to.handle(delivery);
      return Future.succeededFuture();
    }
    give(to, delivery, end);
    return end.future();
  }

  private void give(Handler<Delivery> to, Delivery delivery, Promise<Void> end) {
    try {
      to.handle(delivery);
      if (finishing == Finishing.AUTOMATIC) {
        end.tryComplete();
      }
    } catch (Throwable e) {
      synchronized (this) {
        buffer.settled(delivery);
      }
      end.tryFail(e);
    }
  }

  /** Ends the messages of a shard that is let go or lost, so that nothing waits for them. */
  private void giveUp(ShardContext shard, boolean alsoGivenOut) {
    List<Promise<Void>> ends;
    synchronized (this) {
      ends = buffer.giveUp(shard, alsoGivenOut);
    }
    GivenBackException cause = new GivenBackException("the shard was let go");
    ends.forEach(end -> end.tryFail(cause));
  }

  private void take() {
    if (demand != Long.MAX_VALUE) {
      demand--;
    }
  }

  /** Gives out what has waited, as far as it is asked for. Runs on the consumer's context. */
  private void drain() {
    while (true) {
      StreamBuffer.Waiting next;
      Handler<Delivery> to;
      synchronized (this) {
        if (handler == null || demand == 0 || !buffer.anyWaiting()) {
          return;
        }
        next = buffer.next();
        to = handler;
        take();
        if (finishing == Finishing.MANUAL) {
          buffer.givenOut(next.delivery(), next.end());
        }
      }
      give(to, next.delivery(), next.end());
    }
  }

  private void scheduleDrain() {
    Context where;
    synchronized (this) {
      where = buffer.anyWaiting() ? context : null;
    }
    if (where != null) {
      where.runOnContext(ignored -> drain());
    }
  }

  @Override
  public void finish(Delivery delivery) {
    Promise<Void> end = settled(delivery);
    if (end != null) {
      end.tryComplete();
    }
  }

  @Override
  public void fail(Delivery delivery, Throwable cause) {
    Promise<Void> end = settled(delivery);
    if (end != null) {
      end.tryFail(cause);
    }
  }

  private synchronized Promise<Void> settled(Delivery delivery) {
    return buffer.settled(delivery);
  }

  private void failed(Throwable cause) {
    Handler<Throwable> to;
    synchronized (this) {
      to = exceptionHandler;
    }
    if (to != null) {
      to.handle(cause);
    }
    ended();
  }

  private void ended() {
    Handler<Void> to;
    synchronized (this) {
      if (ended) {
        return;
      }
      ended = true;
      buffer.clear();
      to = endHandler;
    }
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
  public synchronized ConsumerStream exceptionHandler(Handler<Throwable> newHandler) {
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
  public synchronized ConsumerStream declinedHandler(Handler<Delivery> newHandler) {
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
  public synchronized ConsumerStream endHandler(Handler<Void> newHandler) {
    endHandler = newHandler;
    return this;
  }
}
