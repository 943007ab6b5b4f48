package dev.evenkeel.model;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.LongSummaryStatistics;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongPredicate;

/**
 * Plays sequences at a place, several at a time, and makes a run that fails as short as it gets.
 */
public final class Runs {
  private static final Duration PATIENCE = Duration.ofSeconds(90);
  private static final Duration FOCUS_PATIENCE = Duration.ofSeconds(40);
  private static final Duration SHRINK_PATIENCE = Duration.ofSeconds(20);
  private static final long SHRINK_NANOS_MAX =
      TimeUnit.SECONDS.toNanos(Long.getLong("evenkeel.model.shrinkSeconds", 300));

  private final Place place;
  private final Path directory;
  private final Path matrixFile;
  private final Matrix matrix;
  private final Set<Step> possible;
  private final AtomicLong names = new AtomicLong();
  private final LongSummaryStatistics payloadBytes = new LongSummaryStatistics();
  private volatile boolean stopped;
  private boolean shrinks = true;
  private Focus focus = Focus.NONE;
  private Duration patience;

  Runs(Place place, Path directory) {
    this(place, directory, null, PATIENCE);
  }

  /**
   * @param directory for what users keep on disks
   * @param matrixFile where the {@link Matrix} is written after each run; null: nowhere
   * @param patience how long the end of a run may take, until all is as it must be
   */
  public Runs(Place place, Path directory, Path matrixFile, Duration patience) {
    this.patience = patience;
    this.place = place;
    this.directory = directory;
    this.matrixFile = matrixFile;
    possible = EnumSet.allOf(Step.class);
    possible.removeIf(
        step ->
            step.ofSimulation()
                || faulty(step) && !place.faults().contains(step)
                || step.ofEventBus() && place.bus() == null);
    matrix = new Matrix(names());
    if (matrixFile != null && Boolean.getBoolean("evenkeel.model.add")) {
      matrix.read(matrixFile);
    }
    writeMatrix();
  }

  /** The first run that fails is enough, and what is missing is not waited for as long. */
  Runs looksFor(Focus what) {
    focus = what;
    shrinks = false;
    patience = FOCUS_PATIENCE;
    possible.removeIf(step -> (faulty(step) || step == Step.TAKE_NAME) && !what.has(step));
    return this;
  }

  private void writeMatrix() {
    if (matrixFile != null) {
      matrix.write(matrixFile);
    }
  }

  private static boolean faulty(Step step) {
    return step == Step.EXPIRE || step.ofMachines();
  }

  /** All operations and settings. */
  static Set<String> names() {
    Set<String> all = new TreeSet<>(List.of("retention", "age limit", "bytes limit"));
    for (Step step : Step.values()) {
      if (!step.ofSimulation()) {
        all.add(step.toString());
      }
    }
    all.addAll(Kind.SETTINGS);
    return all;
  }

  public Matrix matrix() {
    return matrix;
  }

  /** How many messages all runs have sent, and how many bytes each of them has. */
  public LongSummaryStatistics payloadBytes() {
    synchronized (payloadBytes) {
      LongSummaryStatistics all = new LongSummaryStatistics();
      all.combine(payloadBytes);
      return all;
    }
  }

  /**
   * Plays seeds from {@code first} on.
   *
   * @param lanes how many at a time
   * @param goesOn whether a seed is to be played
   * @return how many were played
   * @throws AssertionError if a run fails: with its seed, what was wrong, and its steps
   */
  public long play(long first, int lanes, LongPredicate goesOn) throws InterruptedException {
    AtomicLong next = new AtomicLong(first);
    ExecutorService executor = Executors.newFixedThreadPool(lanes);
    List<Future<?>> all = new ArrayList<>();
    for (int i = 0; i < lanes; i++) {
      int lane = i;
      all.add(
          executor.submit(
              () -> {
                long seed;
                while (!stopped && goesOn.test(seed = next.getAndIncrement())) {
                  play(seed, lane);
                }
                return null;
              }));
    }
    try {
      for (Future<?> each : all) {
        each.get();
      }
      List<String> left = Leftovers.await();
      if (!left.isEmpty()) {
        throw new AssertionError(Promise.NOTHING_IS_LEFT + ": " + left);
      }
      return next.get() - first - lanes;
    } catch (ExecutionException e) {
      stopped = true;
      if (e.getCause() instanceof AssertionError failed) {
        throw failed;
      }
      throw new IllegalStateException(e.getCause());
    } finally {
      executor.shutdown();
      executor.awaitTermination(1, TimeUnit.MINUTES);
    }
  }

  private void play(long seed, int lane) {
    Sequence sequence =
        focus == Focus.NONE
            ? Sequence.of(seed, possible)
            : Sequence.of(seed, possible, focus.steps());
    long began = System.nanoTime();
    Users run = play(sequence, lane, patience);
    matrix.add(run.happened);
    writeMatrix();
    synchronized (payloadBytes) {
      payloadBytes.combine(run.payloadBytes());
    }
    System.out.printf(
        "seed %d: %d steps, %.1f s%n",
        seed, sequence.ops().size(), (System.nanoTime() - began) / 1e9);
    if (Boolean.getBoolean("evenkeel.model.trace")) {
      System.out.println(run.log);
    }
    if (!run.model.faults().isEmpty()) {
      stopped = true;
      // It takes a while to shorten it, and who is killed meanwhile leaves this.
      System.out.println(describe(seed, run));
      throw new AssertionError(
          describe(seed, run) + (shrinks ? shorter(seed, sequence, lane, kind(run)) : ""));
    }
  }

  private static String describe(long seed, Users run) {
    return "seed %d: %s%n%s%n".formatted(seed, run.model.faults(), run.log);
  }

  /** The promise that was broken first, or an empty text. */
  private static String kind(Users run) {
    List<String> faults = run.model.faults();
    return faults.isEmpty() ? "" : faults.get(0).substring(0, faults.get(0).indexOf(':'));
  }

  private String shorter(long seed, Sequence sequence, int lane, String kind) {
    long until = System.nanoTime() + SHRINK_NANOS_MAX;
    Users[] shortest = new Users[1];
    sequence.shrunk(
        fewer -> {
          Users run = play(fewer, lane, SHRINK_PATIENCE);
          boolean same = kind(run).equals(kind);
          if (same) {
            shortest[0] = run;
          }
          return same;
        },
        any -> System.nanoTime() < until);
    return shortest[0] == null
        ? "no shorter sequence fails"
        : "as short as it gets: " + describe(seed, shortest[0]);
  }

  private Users play(Sequence sequence, int lane, Duration patience) {
    String name = "r" + names.incrementAndGet();
    place.awaitReady();
    Users users = new Users(place, lane, name, directory.resolve(name), focus);
    for (Sequence.Op op : sequence.ops()) {
      if (!users.model.faults().isEmpty()) {
        break;
      }
      users.play(op);
    }
    if (users.model.faults().isEmpty()) {
      users.settle(patience);
    }
    users.clear();
    return users;
  }
}
