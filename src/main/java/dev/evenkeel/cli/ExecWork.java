package dev.evenkeel.cli;

import dev.evenkeel.client.Delivery;
import dev.evenkeel.client.GivenBackException;
import dev.evenkeel.client.LeaderContext;
import dev.evenkeel.client.MemberFaultException;
import dev.evenkeel.client.MessageContext;
import dev.evenkeel.client.ParentState;
import dev.evenkeel.client.ShardContext;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/** Runs the user's commands: one for each message, and those that read and write shard state. */
final class ExecWork {
  private static final byte[] NOTHING = new byte[0];
  private static final String PARENT = "EVENKEEL_PARENT_SHARD";
  private static final String CUT = "the command was ended, as the consumer leaves";

  private record ShardEpoch(String topic, int shard, long epoch) {
    static ShardEpoch of(ShardContext shard) {
      return new ShardEpoch(shard.topic(), shard.shard(), shard.epoch());
    }
  }

  private final ExecRunner runner;
  private final ExecRunner stateRunner;
  private final Context context;
  private final ConsumeRun.Settings settings;
  private final int attemptsMax;
  private final Consumer<String> onFailure;

  /** The term of this member as leader in mode singleton; null if it does not lead. */
  private String term;

  /** The running commands for messages. */
  private final Set<CompletableFuture<?>> working = new HashSet<>();

  private boolean cut;

  /** The running commands for state, at most one for each shard and epoch. */
  private final Map<ShardEpoch, CompletableFuture<?>> running = new HashMap<>();

  /** When the state of a shard was stored last, or its first message was handled. */
  private final Map<ShardEpoch, Long> storedNanos = new HashMap<>();

  /**
   * @param runner of commands for messages
   * @param stateRunner of commands for states
   * @param context where futures complete and methods are called
   * @param attemptsMax how often a message is tried
   * @param onFailure gets a line for the user about each failed command for a message
   */
  ExecWork(
      ExecRunner runner,
      ExecRunner stateRunner,
      Context context,
      ConsumeRun.Settings settings,
      int attemptsMax,
      Consumer<String> onFailure) {
    this.runner = runner;
    this.stateRunner = stateRunner;
    this.context = context;
    this.settings = settings;
    this.attemptsMax = attemptsMax;
    this.onFailure = onFailure;
  }

  /**
   * Mode singleton: passes the term to commands from now on.
   *
   * @param leader null: this member no longer leads, and has no shards
   */
  void leads(LeaderContext leader) {
    term = leader == null ? null : Long.toString(leader.term());
  }

  /** Whether a command reads or writes the state of shards. */
  boolean keepsState() {
    return settings.assignCommand() != null || settings.releaseCommand() != null;
  }

  /** Whether a command writes the state of shards. */
  boolean givesState() {
    return settings.releaseCommand() != null;
  }

  /** Runs the command for a message. Fails if the command fails. */
  Future<Void> handle(Delivery delivery) {
    Map<String, String> environment = environment(shard(delivery, delivery.offset()));
    environment.put("EVENKEEL_ATTEMPT", Integer.toString(delivery.attempt()));
    environment.put("EVENKEEL_LENGTH", Integer.toString(delivery.message().payloadLength()));
    CompletableFuture<Void> command =
        runner.run(
            new ExecRunner.Call(
                settings.execCommand(),
                environment,
                MessageVariables.of(delivery.message()),
                delivery.message().payload(),
                settings.execTimeoutMillis()));
    working.add(command);
    return Future.<Void>fromCompletionStage(command, context)
        .onComplete(ended -> working.remove(command))
        .recover(failure -> Future.failedFuture(cut ? new GivenBackException(CUT) : failure))
        .onFailure(failure -> report(delivery, failure));
  }

  /**
   * Kills all commands. Their messages are given back, which does not count as an attempt. Shards
   * whose state a command was reading or writing are released without state.
   */
  void cut() {
    cut = true;
    Set.copyOf(working).forEach(command -> command.cancel(true));
    List.copyOf(running.values()).forEach(command -> command.cancel(true));
  }

  private void report(Delivery delivery, Throwable failure) {
    if (!(failure instanceof GivenBackException || failure instanceof MemberFaultException)) {
      onFailure.accept(failureLine(delivery, failure));
    }
  }

  Future<Void> assign(ShardContext shard, Buffer state) {
    if (settings.assignCommand() == null) {
      return Future.succeededFuture();
    }
    byte[] input = state == null ? NOTHING : state.getBytes();
    return ofState(shard, stateRunner.run(call(settings.assignCommand(), shard, input)));
  }

  /**
   * Begins without state, and then takes over the state of each former shard whose heir this one
   * is: every state goes to one shard. A command that does not know of former shards would lose
   * states, or count them wrongly, so this member ends without one that does.
   */
  Future<Void> assignFromParents(ShardContext shard, List<ParentState> parents) {
    if (settings.assignCommand() == null) {
      return Future.succeededFuture();
    }
    if (settings.reshardCommand() == null) {
      return Future.failedFuture(
          new MemberFaultException(
              "'%s' has other shards now, and its shard %d continues former shards with state: %s. Say"
                      .formatted(
                          shard.topic(),
                          shard.shard(),
                          parents.stream()
                              .map(each -> Integer.toString(each.shard()))
                              .collect(Collectors.joining(", ")))
                  + " with --on-reshard CMD how to take it over: CMD runs once for each of them,"
                  + " with its state on standard input"));
    }
    Future<Void> done = assign(shard, null);
    for (ParentState parent : parents) {
      if (parent.heir()) {
        done = done.compose(before -> takeOver(shard, parent));
      }
    }
    return done;
  }

  private Future<Void> takeOver(ShardContext shard, ParentState parent) {
    Map<String, String> environment = environment(shard);
    environment.put(PARENT, Integer.toString(parent.shard()));
    return ofState(
        shard,
        stateRunner.run(
            new ExecRunner.Call(
                settings.reshardCommand(),
                environment,
                Map.of(),
                parent.state().getBytes(),
                settings.stateTimeoutMillis())));
  }

  Future<Buffer> release(ShardContext shard) {
    if (settings.releaseCommand() == null) {
      return Future.succeededFuture();
    }
    return ofState(shard, stateRunner.capture(call(settings.releaseCommand(), shard, NOTHING)))
        .map(Buffer::buffer);
  }

  /** Whether {@link #store} stores states while this member keeps the shards. */
  boolean storesStates() {
    return settings.stateEveryMillis() > 0;
  }

  /**
   * A message was handled, and no other one of the shard runs: stores the state after it, unless
   * that was done a short time ago. A state that cannot be stored is reported, and the message is
   * done nevertheless: after a crash, more messages come again.
   */
  Future<Void> store(Delivery delivery, MessageContext message, long nanoTime) {
    ShardContext shard = shard(delivery, delivery.offset() + 1);
    Long last = storedNanos.get(ShardEpoch.of(shard));
    if (last == null || nanoTime - last < settings.stateEveryMillis() * 1_000_000) {
      storedNanos.putIfAbsent(ShardEpoch.of(shard), nanoTime);
      return Future.succeededFuture();
    }
    storedNanos.put(ShardEpoch.of(shard), nanoTime);
    return release(shard)
        .map(
            state -> {
              message.commit(state);
              return (Void) null;
            })
        .recover(
            failure -> {
              if (failure instanceof MemberFaultException) {
                return Future.failedFuture(failure);
              }
              onFailure.accept(
                  "%s/%s offset %s: its state is not stored: %s"
                      .formatted(
                          shard.topic(),
                          shard.shard(),
                          shard.offset(),
                          CommandErrors.describe(failure)));
              return Future.succeededFuture();
            });
  }

  private ExecRunner.Call call(String command, ShardContext shard, byte[] input) {
    return new ExecRunner.Call(
        command, environment(shard), Map.of(), input, settings.stateTimeoutMillis());
  }

  /** The shard is being released. */
  void forget(ShardContext shard) {
    storedNanos.remove(ShardEpoch.of(shard));
  }

  /** Kills the command for the state of a shard that another member owns now. */
  void lost(ShardContext shard) {
    storedNanos.remove(ShardEpoch.of(shard));
    CompletableFuture<?> command = running.remove(ShardEpoch.of(shard));
    if (command != null) {
      command.cancel(true);
    }
  }

  private <T> Future<T> ofState(ShardContext shard, CompletableFuture<T> command) {
    running.put(ShardEpoch.of(shard), command);
    return Future.fromCompletionStage(command, context)
        .onComplete(ended -> running.remove(ShardEpoch.of(shard), command))
        .recover(failure -> Future.failedFuture(cut ? new ExecRunner.ExecFailed(CUT) : failure));
  }

  private String failureLine(Delivery delivery, Throwable failure) {
    Throwable cause =
        failure instanceof CompletionException && failure.getCause() != null
            ? failure.getCause()
            : failure;
    return "%s/%s offset %s attempt %s: %s%s"
        .formatted(
            delivery.topic(),
            delivery.shard(),
            delivery.offset(),
            delivery.attempt(),
            CommandErrors.describe(cause),
            delivery.attempt() < attemptsMax ? "" : "; this was the last attempt");
  }

  private static ShardContext shard(Delivery delivery, long offset) {
    return new ShardContext(
        delivery.topic(), delivery.shard(), delivery.epoch(), delivery.member(), offset);
  }

  private Map<String, String> environment(ShardContext shard) {
    Map<String, String> environment = new HashMap<>();
    environment.put("EVENKEEL_TOPIC", shard.topic());
    environment.put("EVENKEEL_SHARD", Integer.toString(shard.shard()));
    environment.put("EVENKEEL_EPOCH", Long.toString(shard.epoch()));
    environment.put("EVENKEEL_MEMBER", shard.member());
    environment.put("EVENKEEL_OFFSET", Long.toString(shard.offset()));
    environment.put("EVENKEEL_TERM", term);
    environment.put("EVENKEEL_ATTEMPT", null);
    environment.put("EVENKEEL_LENGTH", null);
    environment.put(PARENT, null);
    return environment;
  }
}
