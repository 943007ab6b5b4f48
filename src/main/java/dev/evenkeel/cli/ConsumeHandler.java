package dev.evenkeel.cli;

import dev.evenkeel.client.ConsumerHandler;
import dev.evenkeel.client.ContextHandler;
import dev.evenkeel.client.Delivery;
import dev.evenkeel.client.GivenBackException;
import dev.evenkeel.client.LeaderContext;
import dev.evenkeel.client.MemberFaultException;
import dev.evenkeel.client.MessageContext;
import dev.evenkeel.client.ParentState;
import dev.evenkeel.client.ShardContext;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.buffer.Buffer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;

/**
 * The handler of {@code consume}. It lets at most {@code --max} messages through, tracks how long
 * nothing has happened, and reports when the maximum is reached. Use it on the consumer's context
 * only.
 */
class ConsumeHandler implements ConsumerHandler {
  private final Function<Delivery, Future<Void>> work;
  private final ExecWork commands;
  private final MaxGate gate;
  private final Runnable onComplete;
  private final Consumer<MemberFaultException> onFault;
  private final LongSupplier nanoClock;

  private record Beyond(Delivery delivery, Promise<Void> end) {}

  /** Messages beyond the maximum. Refusing them before the end would only bring them back. */
  private final List<Beyond> beyond = new ArrayList<>();

  private boolean leaving;

  private int running;
  private boolean assigned;
  private long quietSinceNanos;

  /**
   * @param max 0: no limit
   * @param attemptsMax how often a message is tried
   * @param onComplete called once when {@code max} messages are done
   * @param onFault gets why this member cannot go on
   */
  ConsumeHandler(
      Function<Delivery, Future<Void>> work,
      ExecWork commands,
      long max,
      int attemptsMax,
      Runnable onComplete,
      Consumer<MemberFaultException> onFault,
      LongSupplier nanoClock) {
    this.work = work;
    this.commands = commands;
    this.gate = new MaxGate(max, attemptsMax);
    this.onComplete = onComplete;
    this.onFault = onFault;
    this.nanoClock = nanoClock;
  }

  /** Also stores the states of shards while these go on. */
  static final class Storing extends ConsumeHandler implements ContextHandler {
    Storing(
        Function<Delivery, Future<Void>> work,
        ExecWork commands,
        long max,
        int attemptsMax,
        Runnable onComplete,
        Consumer<MemberFaultException> onFault,
        LongSupplier nanoClock) {
      super(work, commands, max, attemptsMax, onComplete, onFault, nanoClock);
    }

    @Override
    public Future<Void> handle(Delivery delivery, MessageContext context) {
      return super.handle(
          delivery,
          super.work.andThen(
              done ->
                  done.compose(
                      ended ->
                          super.commands.store(delivery, context, super.nanoClock.getAsLong()))));
    }
  }

  @Override
  public Future<Void> handle(Delivery delivery) {
    return handle(delivery, work);
  }

  private Future<Void> handle(Delivery delivery, Function<Delivery, Future<Void>> by) {
    if (!gate.admit(delivery)) {
      return refuse(delivery);
    }
    running++;
    return by.apply(delivery)
        .onComplete(
            done -> {
              running--;
              quietSinceNanos = nanoClock.getAsLong();
              if (done.succeeded()) {
                gate.succeeded(delivery);
                if (gate.complete()) {
                  onComplete.run();
                }
              } else if (!ended(done.cause())) {
                gate.failed(delivery);
                // The retry needs a free worker.
                refuseBeyond();
              }
            });
  }

  /** Whether this member cannot go on; the consumer then leaves. */
  private boolean ended(Throwable cause) {
    if (cause instanceof MemberFaultException fault) {
      onFault.accept(fault);
      return true;
    }
    return false;
  }

  private Future<Void> refuse(Delivery delivery) {
    Promise<Void> promise = Promise.promise();
    beyond.add(new Beyond(delivery, promise));
    if (leaving || gate.retryPending()) {
      refuseBeyond();
    }
    return promise.future();
  }

  /** The consumer closes: gives back all messages beyond the maximum from now on. */
  void leave() {
    leaving = true;
    refuseBeyond();
  }

  private void refuseBeyond() {
    refuse(List.copyOf(beyond));
  }

  private void refuse(List<Beyond> some) {
    beyond.removeAll(some);
    GivenBackException reason = new GivenBackException("it lies beyond what --max asked for");
    some.forEach(each -> each.end().fail(reason));
  }

  @Override
  public boolean keepsState() {
    return commands.keepsState();
  }

  @Override
  public boolean givesState() {
    return commands.givesState();
  }

  /** Gives back messages beyond the maximum at once: the next owner may want them. */
  @Override
  public void onDraining(ShardContext shard) {
    refuse(
        beyond.stream()
            .filter(
                each ->
                    each.delivery().shard() == shard.shard()
                        && each.delivery().topic().equals(shard.topic()))
            .toList());
  }

  @Override
  public Future<Void> onAssign(ShardContext shard, Buffer state) {
    return commands.assign(shard, state).onSuccess(done -> assigned()).onFailure(this::ended);
  }

  @Override
  public Future<Void> onAssignFromParents(ShardContext shard, List<ParentState> parents) {
    return commands
        .assignFromParents(shard, parents)
        .onSuccess(done -> assigned())
        .onFailure(this::ended);
  }

  @Override
  public void onLeadership(LeaderContext leader) {
    commands.leads(leader);
  }

  @Override
  public void onLevel() {
    assigned();
  }

  private void assigned() {
    if (!assigned) {
      assigned = true;
      quietSinceNanos = nanoClock.getAsLong();
    }
  }

  @Override
  public void onDeclined(Delivery delivery) {
    gate.passed(delivery);
  }

  @Override
  public void onDropped(Delivery delivery) {
    gate.passed(delivery);
  }

  @Override
  public Future<Buffer> onRelease(ShardContext shard) {
    gate.shardGone(shard.topic(), shard.shard());
    commands.forget(shard);
    return commands.release(shard);
  }

  @Override
  public void onLost(ShardContext shard) {
    gate.shardGone(shard.topic(), shard.shard());
    commands.lost(shard);
  }

  /**
   * How long no message has come or run. It is 0 while a message runs, and before the first
   * assignment or, in mode level, before the dispatcher has accepted this member.
   */
  long quietNanos() {
    return assigned && running == 0 ? Math.max(1, nanoClock.getAsLong() - quietSinceNanos) : 0;
  }
}
