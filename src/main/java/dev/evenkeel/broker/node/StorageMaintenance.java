package dev.evenkeel.broker.node;

import static dev.evenkeel.protocol.Refusal.UNAVAILABLE;

import dev.evenkeel.broker.machine.DataState;
import dev.evenkeel.broker.machine.StoredState;
import dev.evenkeel.bus.BodyAnswer;
import dev.evenkeel.log.DamagedStateException;
import dev.evenkeel.log.LogGroup;
import dev.evenkeel.log.LogNode;
import dev.evenkeel.util.MonotonicClock;
import dev.evenkeel.util.files.ByteRate;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps what a node stores in order: frees the space of dropped messages, compares files with their
 * checksums, and mends damaged bodies. Each of the three has a thread of its own.
 */
public final class StorageMaintenance implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(StorageMaintenance.class);
  private static final long CLEAN_MILLIS = 20_000;

  /** Damage that could not be mended yet is looked at again after this. */
  private static final long MEND_AGAIN_MILLIS = 10_000;

  /** A node that starts has other work first. */
  private static final long SCRUB_DELAY_MILLIS_MAX = 60_000;

  private final BrokerSettings settings;
  private final LogNode log;
  private final Map<String, StoredState<?, ?>> states;
  private final ScheduledExecutorService cleaning;
  private final ScheduledExecutorService mending;
  private final ScheduledExecutorService scrubbing;
  private final LongSupplier clock;
  private final List<BodyCleaner> cleaners = new CopyOnWriteArrayList<>();
  private final List<BodyMender> menders = new CopyOnWriteArrayList<>();
  private final List<Scrub> scrubs = new CopyOnWriteArrayList<>();
  private volatile BodyMender.Replicas replicas = StorageMaintenance::cannotAsk;

  /**
   * @param states of all log groups
   * @param clock the cluster's time
   */
  StorageMaintenance(
      BrokerSettings settings,
      LogNode log,
      Map<String, StoredState<?, ?>> states,
      LongSupplier clock) {
    this.settings = settings;
    this.log = log;
    this.states = states;
    cleaning = Executors.newSingleThreadScheduledExecutor(BrokerNode.threads("evenkeel-clean-"));
    mending = Executors.newSingleThreadScheduledExecutor(BrokerNode.threads("evenkeel-mend-"));
    scrubbing = Executors.newSingleThreadScheduledExecutor(BrokerNode.threads("evenkeel-scrub-"));
    this.clock = clock;
    for (LogGroup group : log.data()) {
      add(group, (DataState) states.get(group.name()));
    }
  }

  /** Keeps another data log group in order, too. */
  void add(LogGroup group, DataState state) {
    int number = cleaners.size();
    BodyMender mender =
        new BodyMender(
            group,
            state,
            () -> others(group),
            (node, name, index) -> replicas.ask(node, name, index),
            mending,
            () -> cleaners.get(number).replaceSnapshots());
    cleaners.add(
        new BodyCleaner(
            group,
            state,
            mender::mend,
            settings.options().get(BrokerOptions.REWRITE_BYTES_PER_SECOND),
            clock,
            () -> HeapShares.ofThisProgram().cleanedMessages(cleaners.size())));
    menders.add(mender);
    scrubs.add(new Scrub(state, mender));
  }

  /** The other nodes that have a copy. */
  private List<String> others(LogGroup group) {
    List<String> voting = group.voters().nodes();
    // Before the first leader is known, any node may have one.
    return voting.isEmpty()
        ? log.others()
        : voting.stream().filter(node -> !node.equals(log.nodeId())).toList();
  }

  private static CompletableFuture<BodyAnswer> cannotAsk(String node, String group, long index) {
    return CompletableFuture.failedFuture(UNAVAILABLE.error("this node is starting"));
  }

  void begin() {
    cleaning.scheduleWithFixedDelay(this::clean, CLEAN_MILLIS, CLEAN_MILLIS, TimeUnit.MILLISECONDS);
    mending.scheduleWithFixedDelay(
        () -> menders.forEach(BodyMender::again),
        MEND_AGAIN_MILLIS,
        MEND_AGAIN_MILLIS,
        TimeUnit.MILLISECONDS);
    long scrubMillis = settings.options().get(BrokerOptions.SCRUB_MILLIS);
    if (settings.options().get(BrokerOptions.SCRUB_BYTES_PER_SECOND) > 0) {
      scrubbing.scheduleWithFixedDelay(
          this::scrub,
          Math.min(SCRUB_DELAY_MILLIS_MAX, scrubMillis),
          scrubMillis,
          TimeUnit.MILLISECONDS);
    }
  }

  /** From now on other nodes can be asked for bodies. */
  public void askReplicas(BodyMender.Replicas calls) {
    replicas = calls;
  }

  /** Frees the space of a data log group, by its place among them. */
  public BodyCleaner cleaner(int group) {
    return cleaners.get(group);
  }

  /** Mends the damaged bodies of a data log group, by its place among them. */
  public BodyMender mender(int group) {
    return menders.get(group);
  }

  /** Checks the bodies of a data log group, by its place among them. */
  public Scrub scrub(int group) {
    return scrubs.get(group);
  }

  /** Frees the space of dropped messages, in all data log groups; called every 20 s. */
  private void clean() {
    boolean more = true;
    while (more && !cleaning.isShutdown()) {
      more = false;
      for (BodyCleaner cleaner : cleaners) {
        more |= clean(cleaner);
      }
    }
  }

  private boolean clean(BodyCleaner cleaner) {
    try {
      return cleaner.run(MonotonicClock.millis());
    } catch (IOException | RuntimeException | Error e) {
      if (!cleaning.isShutdown()) {
        LOG.warn(
            "log group {}: the space of dropped messages is not freed, and will be tried again",
            cleaner.group(),
            e);
      }
      return false;
    }
  }

  /**
   * Compares all bodies, the tables of the states, and the files of the logs with their checksums.
   * Waits for the disk, and as the settings say.
   */
  public void scrub() {
    ByteRate rate = new ByteRate(settings.options().get(BrokerOptions.SCRUB_BYTES_PER_SECOND));
    scrubs.forEach(scrub -> check(() -> scrub.pass(rate::take)));
    for (LogGroup group : log.all()) {
      check(() -> group.copy().checkFiles(rate));
      check(() -> states.get(group.name()).checkFiles(rate));
    }
  }

  private interface Check {
    void run() throws IOException;
  }

  private void check(Check check) {
    if (scrubbing.isShutdown()) {
      return;
    }
    try {
      check.run();
    } catch (DamagedStateException damage) {
      LOG.debug("the log group knows of it", damage);
    } catch (IOException | RuntimeException | Error e) {
      // An error also: a disk that cannot read a mapped table throws one.
      if (!scrubbing.isShutdown()) {
        LOG.warn("stored data cannot be checked now, and will be later", e);
      }
    }
  }

  /** Ends the tasks. Blocks until the cleaner has ended with the record that it writes. */
  @Override
  public void close() {
    cleaning.shutdownNow();
    scrubbing.shutdownNow();
    mending.shutdownNow();
    try {
      cleaning.awaitTermination(5, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
