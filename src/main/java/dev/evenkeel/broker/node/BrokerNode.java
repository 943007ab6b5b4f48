package dev.evenkeel.broker.node;

import dev.evenkeel.broker.machine.DataState;
import dev.evenkeel.broker.machine.MetaState;
import dev.evenkeel.broker.machine.SegmentBodies;
import dev.evenkeel.broker.machine.StoreOpener;
import dev.evenkeel.broker.machine.StoredState;
import dev.evenkeel.broker.state.TailMemory;
import dev.evenkeel.log.Eligibility.Reason;
import dev.evenkeel.log.LogGroup;
import dev.evenkeel.log.LogNode;
import dev.evenkeel.log.LogSettings;
import dev.evenkeel.log.LogStartException;
import dev.evenkeel.log.PeerLink;
import dev.evenkeel.protocol.AddedLogGroup;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.ShardGroups;
import dev.evenkeel.protocol.wire.Entry;
import dev.evenkeel.protocol.wire.FeatureLevel;
import dev.evenkeel.util.Daemon;
import dev.evenkeel.util.MonotonicClock;
import dev.evenkeel.util.files.PrivateFiles;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A broker without the event bus: its logs, state machines, disk guard, threads and periodic tasks.
 * The verticle {@code BrokerVerticle} serves it.
 */
public final class BrokerNode implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(BrokerNode.class);
  private static final int READ_THREADS = 4;

  /** Most reads that wait for a thread; more are refused OVERLOADED. */
  public static final int READS_WAITING_MAX = 4_096;

  private static final long DISK_CHECK_MILLIS = 1_000;
  private static final long RETAIN_LOOK_MILLIS = 1_000;

  private final BrokerSettings settings;
  private final LogNode log;
  private final MetaState meta;
  private final List<DataState> data = new CopyOnWriteArrayList<>();
  private final List<RetentionPace> paces = new ArrayList<>();
  private final Function<String, DataState> dataStates;
  private final DiskGuard disk;
  private final ClusterClock clock;
  private final Map<String, StoredState<?, ?>> states = new ConcurrentSkipListMap<>();
  private final Map<String, ReplicaCheck> replicaChecks = new ConcurrentSkipListMap<>();
  private final ThreadPoolExecutor readers;
  private final ScheduledExecutorService periodic;
  private final StorageMaintenance maintenance;

  private BrokerNode(
      BrokerSettings settings,
      LogNode log,
      MetaState meta,
      Function<String, DataState> dataStates,
      DiskGuard disk) {
    this.settings = settings;
    this.log = log;
    this.meta = meta;
    this.dataStates = dataStates;
    this.disk = disk;
    states.put(LogNode.META, meta);
    for (LogGroup group : log.data()) {
      DataState state = dataStates.apply(group.name());
      data.add(state);
      states.put(group.name(), state);
    }
    states.keySet().forEach(group -> replicaChecks.put(group, new ReplicaCheck()));
    log.all().forEach(group -> state(group.name()).onDamage(group.copy()::damaged));
    clock = new ClusterClock(settings.clockMillis(), MonotonicClock::millis);
    readers =
        new ThreadPoolExecutor(
            READ_THREADS,
            READ_THREADS,
            0,
            TimeUnit.MILLISECONDS,
            new LinkedBlockingQueue<>(READS_WAITING_MAX),
            threads("evenkeel-read-"));
    periodic = Executors.newSingleThreadScheduledExecutor(threads("evenkeel-broker-periodic-"));
    maintenance = new StorageMaintenance(settings, log, states, clock::millis);
  }

  /**
   * Opens everything and begins the periodic tasks. Blocks: never on an event loop.
   *
   * @param link by which the nodes of a new cluster find each other
   * @throws LogStartException for what a person must look into
   */
  public static BrokerNode start(
      BrokerSettings settings, LogStarter logs, StoreOpener stores, PeerLink link)
      throws LogStartException, IOException, InterruptedException {
    Path live = settings.dataDirectory().resolve("live");
    PrivateFiles.createDirectories(live);
    Path bodies = settings.dataDirectory().resolve("bodies");
    DiskGuard disk =
        new DiskGuard(
            settings.dataDirectory(),
            settings.options().get(BrokerOptions.DISK_FREE_BYTES_MIN),
            settings.diskFreeBytes());
    disk.check();
    MetaState meta = new MetaState(live.resolve(LogNode.META), stores, FeatureLevel.reads());
    TailMemory newest = new TailMemory(settings.tailBytesMax());
    Map<String, DataState> byName = new ConcurrentHashMap<>();
    Function<String, DataState> dataStates =
        name ->
            byName.computeIfAbsent(
                name,
                any ->
                    new DataState(
                        live.resolve(name),
                        stores,
                        stores.bodies(
                            bodies.resolve(name),
                            settings.options().get(BrokerOptions.SEGMENT_BYTES_MAX)),
                        newest,
                        FeatureLevel.reads(),
                        () -> meta.tables().featureLevel()));
    LogNode log =
        logs.start(
            settings.log(),
            name -> name.equals(LogNode.META) ? meta : dataStates.apply(name),
            link);
    try {
      BrokerNode node = new BrokerNode(settings, log, meta, dataStates, disk);
      node.begin();
      return node;
    } catch (RuntimeException e) {
      log.close();
      throw e;
    }
  }

  static ThreadFactory threads(String prefix) {
    AtomicInteger count = new AtomicInteger();
    return task -> Daemon.named(prefix + count.getAndIncrement()).newThread(task);
  }

  private void begin() {
    checkDisk();
    every(DISK_CHECK_MILLIS, this::checkDisk);
    every(RETAIN_LOOK_MILLIS, this::retainInTime);
    maintenance.begin();
  }

  private void every(long millis, Runnable task) {
    periodic.scheduleWithFixedDelay(
        () -> {
          try {
            task.run();
          } catch (RuntimeException | Error e) {
            LOG.error("a periodic task failed and will be tried again", e);
          }
        },
        millis,
        millis,
        TimeUnit.MILLISECONDS);
  }

  /**
   * Measures the free space, and refuses entries or leadership if there is too little; called every
   * second.
   */
  public void checkDisk() {
    disk.check();
    String exhausted = disk.exhausted();
    log.refuseEntries(exhausted);
    String low = exhausted == null ? disk.low() : "it takes no entries: " + exhausted;
    log.all().forEach(group -> group.elections().eligibility().set(Reason.DISK_FULL, low));
  }

  /** Writes a retention entry to each data log group that this node leads. */
  public void retain() {
    log.data().forEach(this::retain);
  }

  /** The same where {@link RetentionPace} says so; called every second. */
  private void retainInTime() {
    long now = MonotonicClock.millis();
    for (int i = 0; i < data.size(); i++) {
      if (i == paces.size()) {
        paces.add(new RetentionPace(now));
      }
      LogGroup group = log.data().get(i);
      if (group.leadership().ready() && paces.get(i).due(data.get(i).tables(), now)) {
        retain(group);
      }
    }
  }

  private void retain(LogGroup group) {
    if (group.leadership().ready()) {
      byte[] entry = Entry.of(new DataCommand.Retain(), nowMillis());
      group
          .append(entry)
          .whenComplete(
              (reply, failure) -> {
                if (failure != null) {
                  LOG.warn("retention of {} waits: {}", group.name(), failure.toString());
                }
              });
    }
  }

  /** The cluster's time, in milliseconds since 1970. */
  public long nowMillis() {
    return clock.millis();
  }

  public ClusterClock clock() {
    return clock;
  }

  public String nodeId() {
    return settings.log().nodeId();
  }

  /** The other nodes of the cluster. */
  public List<String> others() {
    return log.others();
  }

  /** Where the other nodes find this one, or null if its peers do not name it. */
  public LogSettings.Peer place() {
    return settings.log().peers().stream()
        .filter(peer -> peer.nodeId().equals(settings.log().nodeId()))
        .findFirst()
        .orElse(null);
  }

  /** The host at which the other nodes find this one, or null if its peers do not name it. */
  public String host() {
    return place() == null ? null : place().host();
  }

  public LogNode log() {
    return log;
  }

  public MetaState meta() {
    return meta;
  }

  /** Meta, then the data log groups whose states are open, in their order. */
  public List<LogGroup> logs() {
    return log.all().subList(0, 1 + data.size());
  }

  /** States of the data log groups, in their order. */
  public List<DataState> data() {
    return data;
  }

  /** Bytes of this node's copy of the messages of a log group; 0 of meta. */
  public long bytes(LogGroup group) {
    int number = logs().indexOf(group) - 1;
    return number >= 0
            && data.get(number).bodies() instanceof SegmentBodies bodies
            && bodies.segments() != null
        ? bodies.segments().bytes()
        : 0;
  }

  /**
   * Opens the data log groups that meta has and this node has not. Blocks: never on an event loop.
   *
   * @return whether there were any
   * @throws IOException if one cannot be opened; it may be tried again
   */
  public synchronized boolean openAddedGroups() throws IOException {
    int before = data.size();
    for (AddedLogGroup added : meta.tables().addedGroups()) {
      if (added.index() == data.size()) {
        open(added);
      }
    }
    return data.size() > before;
  }

  private void open(AddedLogGroup added) throws IOException {
    String name = ShardGroups.name(added.index());
    DataState state = dataStates.apply(name);
    states.put(name, state);
    replicaChecks.put(name, new ReplicaCheck());
    log.addGroup(added.founders());
    LogGroup group = log.data().get(added.index());
    state.onDamage(group.copy()::damaged);
    maintenance.add(group, state);
    data.add(state);
  }

  /** The state of a log group. */
  public StoredState<?, ?> state(String group) {
    return states.get(group);
  }

  /** How the state of a log group compares with those of the other nodes. */
  public ReplicaCheck replicaCheck(String group) {
    return replicaChecks.get(group);
  }

  /** Keeps what is stored in order. */
  public StorageMaintenance maintenance() {
    return maintenance;
  }

  public DiskGuard disk() {
    return disk;
  }

  /** Threads that may read the store; refuses tasks when too many wait. */
  public Executor readers() {
    return readers;
  }

  /** How many reads run at a time. */
  public int readThreads() {
    return READ_THREADS;
  }

  public Path dataDirectory() {
    return settings.dataDirectory();
  }

  /** Ends periodic tasks and reads, then closes logs and stores. Blocks. */
  @Override
  public void close() {
    periodic.shutdownNow();
    maintenance.close();
    readers.shutdown();
    try {
      if (!readers.awaitTermination(5, TimeUnit.SECONDS)) {
        LOG.warn("reads go on while the node closes; they will fail");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    log.close();
  }
}
