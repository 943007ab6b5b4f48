package dev.evenkeel.bench;

import com.hazelcast.core.HazelcastInstance;
import com.hazelcast.cp.IAtomicLong;
import com.hazelcast.map.IMap;
import dev.evenkeel.bench.ServiceCase.Contestant;
import dev.evenkeel.client.ClusterCoordinator;
import dev.evenkeel.client.ClusterTrack;
import dev.evenkeel.client.EvenkeelClient;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.LongStream;

/**
 * Three walkers in programs of their own, none of which may be more than a range of steps ahead of
 * another one.
 *
 * <p>With Hazelcast, each walker counts its steps where the others see them, and remembers how far
 * the slowest one was when it last looked. It looks again only if its next step might be too far,
 * and waits a millisecond before it looks another time.
 */
final class CoordinatorCase {
  private static final int RANGE = 100;
  private static final int SAMPLE = 16;
  private static final long LOOK_AGAIN_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
  private static final AtomicInteger NAMES = new AtomicInteger();

  private CoordinatorCase() {}

  static ServiceCase of(ServiceClusters clusters, boolean member, long millis) {
    String kind = member ? "members" : "clients";
    return new ServiceCase(
        "coordinator-" + kind,
        List.of(
            new Contestant("Evenkeel coordinator", () -> ours(clusters.ours(member), millis)),
            new Contestant(
                "Hazelcast IAtomicLong", () -> walk(atomicLongs(clusters.theirs(member)), millis)),
            new Contestant(
                "Hazelcast IMap", () -> walk(entries(clusters.theirs(member)), millis))));
  }

  private static ServiceRound ours(List<EvenkeelClient> programs, long millis) throws Exception {
    String name = "walk-" + NAMES.incrementAndGet();
    List<ClusterCoordinator> coordinators = new ArrayList<>();
    List<ClusterTrack> tracks = new ArrayList<>();
    for (EvenkeelClient program : programs) {
      ClusterCoordinator coordinator = program.coordinator(name, RANGE);
      coordinators.add(coordinator);
      tracks.add(ServiceLoad.await(coordinator.track("walker-" + tracks.size())));
    }
    try {
      return ServiceLoad.threads(
          programs.size(),
          millis,
          SAMPLE,
          i ->
              () -> {
                ClusterTrack track = tracks.get(i);
                while (!track.move()) {
                  ServiceLoad.await(track.ready());
                }
                return true;
              });
    } finally {
      coordinators.forEach(each -> ServiceLoad.await(each.close()));
    }
  }

  /** Steps of several walkers that all of them see. */
  private interface Counts {
    /** Counts a step of a walker. */
    void step(int walker);

    /** The steps of the slowest walker, as one of them sees it. */
    long slowest(int walker);
  }

  private static ServiceRound walk(Counts counts, long millis) throws Exception {
    return ServiceLoad.threads(
        ServiceClusters.PROGRAMS, millis, SAMPLE, walker -> new Walk(counts, walker));
  }

  private static final class Walk implements ServiceLoad.Step {
    private final Counts counts;
    private final int walker;
    private long own;
    private long slowest;

    Walk(Counts counts, int walker) {
      this.counts = counts;
      this.walker = walker;
    }

    @Override
    public boolean run() {
      while (own >= slowest + RANGE) {
        long now = counts.slowest(walker);
        if (now == slowest) {
          LockSupport.parkNanos(LOOK_AGAIN_NANOS);
        }
        slowest = now;
      }
      counts.step(walker);
      own++;
      return true;
    }
  }

  private static Counts atomicLongs(List<HazelcastInstance> programs) {
    String name = "walk-" + NAMES.incrementAndGet() + "-";
    List<List<IAtomicLong>> ofEach = new ArrayList<>();
    for (HazelcastInstance program : programs) {
      List<IAtomicLong> counters = new ArrayList<>();
      for (int i = 0; i < programs.size(); i++) {
        counters.add(program.getCPSubsystem().getAtomicLong(name + i));
      }
      ofEach.add(counters);
    }
    return new Counts() {
      @Override
      public void step(int walker) {
        ofEach.get(walker).get(walker).incrementAndGet();
      }

      @Override
      public long slowest(int walker) {
        return ofEach.get(walker).stream().mapToLong(IAtomicLong::get).min().orElseThrow();
      }
    };
  }

  private static Counts entries(List<HazelcastInstance> programs) {
    String name = "walk-" + NAMES.incrementAndGet();
    List<IMap<Integer, Long>> ofEach = new ArrayList<>();
    programs.forEach(program -> ofEach.add(program.getMap(name)));
    for (int i = 0; i < programs.size(); i++) {
      ofEach.get(i).set(i, 0L);
    }
    long[] steps = new long[programs.size()];
    return new Counts() {
      @Override
      public void step(int walker) {
        ofEach.get(walker).set(walker, ++steps[walker]);
      }

      @Override
      public long slowest(int walker) {
        return ofEach.get(walker).values().stream()
            .flatMapToLong(LongStream::of)
            .min()
            .orElseThrow();
      }
    };
  }
}
