package dev.evenkeel.cli;

import dev.evenkeel.client.Consumer;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.Delivery;
import dev.evenkeel.client.EvenkeelClient;
import dev.evenkeel.client.MemberFaultException;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.AsyncResult;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.io.OutputStream;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/**
 * One run of {@code consume}: joins the group, works, and leaves it cleanly when it is done, idle
 * or stopped, or when its output is closed. Everything happens on one context.
 */
final class ConsumeRun {
  /** How long the end of running commands and the release of shards may take. */
  static final long STOP_MILLIS_MAX = 25_000;

  /** The part of it that running commands get before they are killed. */
  private static final long COMMANDS_MILLIS_MAX = 20_000;

  private static final long IDLE_CHECK_MILLIS_MAX = 200;

  /** How many commands for state may run at once. */
  private static final long ASK_AGAIN_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** How long a write may take after a signal. */
  private static final long OUTPUT_MILLIS_MAX = 2_000;

  private static final int STATE_COMMANDS_MAX = 8;

  /**
   * @param execCommand null: messages are printed
   * @param execTimeoutMillis how long it may run for a message; 0: no limit
   * @param reshardCommand takes over the state of a former shard, after {@code assignCommand}
   * @param stateEveryMillis how often {@code releaseCommand} runs while the shard goes on; 0: never
   * @param stateTimeoutMillis how long each of the three commands for state may run; 0: no limit
   * @param max 0: no limit
   * @param idleExitMillis 0: never
   */
  record Settings(
      boolean json,
      String execCommand,
      long execTimeoutMillis,
      String assignCommand,
      String reshardCommand,
      String releaseCommand,
      long stateEveryMillis,
      long stateTimeoutMillis,
      long max,
      long idleExitMillis) {}

  private final EvenkeelClient client;
  private final ConsumerOptions options;
  private final Settings settings;
  private final Vertx vertx;
  private final Context context;
  private final ExecRunner runner;

  /** A runner of its own, so that a shard's state never waits behind messages. */
  private final ExecRunner stateRunner;

  private final ExecWork commands;
  private final LineOutput output;
  private final ConsumeHandler handler;
  private final CompletableFuture<Void> ended = new CompletableFuture<>();
  private Consumer consumer;
  private boolean leaving;
  private boolean asking;
  private long askedNanos;

  /** Why this member cannot go on, or null. */
  private MemberFaultException fault;

  ConsumeRun(EvenkeelClient client, ConsumerOptions options, Settings settings, OutputStream out) {
    this.client = client;
    this.options = options;
    this.settings = settings;
    vertx = client.vertx();
    context = vertx.getOrCreateContext();
    runner = new ExecRunner(options.getParallel());
    stateRunner = new ExecRunner(STATE_COMMANDS_MAX);
    output = new LineOutput(out, context, this::leave);
    int attemptsMax = options.getRetryDelaysMillis().size() + 1;
    commands =
        new ExecWork(
            runner,
            stateRunner,
            context,
            settings,
            attemptsMax,
            failure -> System.err.println("evenkeel consume: " + Terminal.visible(failure)));
    Function<Delivery, Future<Void>> print =
        settings.json()
            ? delivery -> output.write(line -> JsonLine.json(line, delivery))
            : delivery -> output.write(line -> JsonLine.text(line, delivery));
    Function<Delivery, Future<Void>> work =
        settings.execCommand() == null ? print : commands::handle;
    long max = settings.max();
    handler =
        commands.storesStates()
            ? new ConsumeHandler.Storing(
                work, commands, max, attemptsMax, this::leave, this::leave, System::nanoTime)
            : new ConsumeHandler(
                work, commands, max, attemptsMax, this::leave, this::leave, System::nanoTime);
  }

  /** Completes when it has left; fails if it could not join or was ended by the cluster. */
  CompletableFuture<Void> start() {
    context.runOnContext(
        now ->
            client
                .consumer(options, handler)
                .onSuccess(this::joined)
                .onFailure(ended::completeExceptionally));
    return ended;
  }

  /**
   * Leaves the group cleanly. If nobody takes the output, the messages whose lines wait go to the
   * next owner. May be called at any time, from any thread.
   */
  void stop() {
    context.runOnContext(
        now -> {
          leave();
          vertx.setTimer(OUTPUT_MILLIS_MAX, timer -> output.abandonIfBlocked());
        });
  }

  private void joined(Consumer joined) {
    consumer = joined;
    joined.onEnd(ended::completeExceptionally);
    if (leaving) {
      close();
      return;
    }
    if (settings.idleExitMillis() > 0) {
      long every = Math.max(1, Math.min(IDLE_CHECK_MILLIS_MAX, settings.idleExitMillis() / 4));
      long idleNanos = TimeUnit.MILLISECONDS.toNanos(settings.idleExitMillis());
      vertx.setPeriodic(
          every,
          timer -> {
            if (leaving) {
              vertx.cancelTimer(timer);
            } else if (handler.quietNanos() >= idleNanos && mayAsk()) {
              leaveUnlessWorkIsKnown(idleNanos);
            }
          });
    }
  }

  private boolean mayAsk() {
    return !asking && (askedNanos == 0 || System.nanoTime() - askedNanos >= ASK_AGAIN_NANOS);
  }

  /** Being idle may mean that the group is paused, or that a retry is due later. */
  private void leaveUnlessWorkIsKnown(long idleNanos) {
    asking = true;
    client
        .admin()
        .group(options.getGroup())
        .onComplete(
            answer ->
                context.runOnContext(
                    now -> {
                      asking = false;
                      askedNanos = System.nanoTime();
                      boolean nothing =
                          answer.succeeded()
                              ? KnownWork.of(answer.result(), consumer.member()) == null
                              : !RefusedException.of(answer.cause()).refusal().retriable();
                      if (nothing && handler.quietNanos() >= idleNanos) {
                        leave();
                      }
                    }));
  }

  private void leave(MemberFaultException why) {
    fault = fault == null ? why : fault;
    leave();
  }

  private void leave() {
    if (leaving) {
      return;
    }
    leaving = true;
    if (consumer != null) {
      close();
    }
  }

  private void close() {
    long cut = vertx.setTimer(COMMANDS_MILLIS_MAX, timer -> commands.cut());
    consumer
        .close(STOP_MILLIS_MAX)
        .onComplete(
            done -> {
              vertx.cancelTimer(cut);
              output.close();
              CompletableFuture.allOf(runner.closed(), stateRunner.closed())
                  .whenComplete((closed, failure) -> ended(done));
            });
    // Only after close() has begun: before, they would be handed out again.
    handler.leave();
  }

  private void ended(AsyncResult<Void> done) {
    if (fault != null && !output.isClosedPipe()) {
      ended.completeExceptionally(fault);
    } else if (done.succeeded()) {
      ended.complete(null);
    } else {
      ended.completeExceptionally(done.cause());
    }
  }
}
