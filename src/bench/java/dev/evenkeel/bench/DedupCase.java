package dev.evenkeel.bench;

import com.hazelcast.core.HazelcastInstance;
import com.hazelcast.cp.lock.FencedLock;
import com.hazelcast.map.IMap;
import dev.evenkeel.bench.ServiceCase.Contestant;
import dev.evenkeel.bench.ServiceLoad.Step;
import dev.evenkeel.client.Dedup;
import dev.evenkeel.client.DedupClaim;
import dev.evenkeel.client.EvenkeelClient;
import io.vertx.core.Future;
import io.vertx.core.shareddata.Lock;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Takes a key that hardly anybody else wants, and gives it back. A call that does not get its key
 * does not count.
 */
final class DedupCase {
  private static final int IN_FLIGHT = 256;

  /** Blocking calls take a thread each. */
  private static final int MANY_THREADS = 64;

  private static final int THREADS = 16;

  /** Each has a proxy in the program and, for fenced locks, an object in the CP group. */
  private static final int KEYS = 10_000;

  private static final long LOCK_MILLIS_MAX = 10_000;
  private static final AtomicInteger NAMES = new AtomicInteger();

  private DedupCase() {}

  /** Many at once: without threads that wait where that is possible. */
  static ServiceCase manyAtOnce(ServiceClusters clusters, boolean member, long millis) {
    List<Contestant> all = new ArrayList<>();
    all.add(new Contestant("Evenkeel dedup", () -> claims(clusters.ours(member), millis)));
    if (member) {
      all.add(new Contestant("Vert.x getLock", () -> sharedLocks(clusters, millis)));
    }
    all.addAll(locks(clusters.theirs(member), MANY_THREADS, millis));
    return new ServiceCase("dedup-" + kind(member), all);
  }

  /** In threads that wait. */
  static ServiceCase blocking(ServiceClusters clusters, boolean member, long millis) {
    List<Contestant> all = new ArrayList<>();
    all.add(new Contestant("Evenkeel enQueue", () -> enQueue(clusters.ours(member), millis)));
    all.addAll(locks(clusters.theirs(member), THREADS, millis));
    return new ServiceCase("dedup-blocking-" + kind(member), all);
  }

  private static String kind(boolean member) {
    return member ? "members" : "clients";
  }

  private static List<Contestant> locks(
      List<HazelcastInstance> programs, int threads, long millis) {
    return List.of(
        new Contestant("Hazelcast IMap.tryLock", () -> entryLocks(programs, threads, millis)),
        new Contestant("Hazelcast FencedLock", () -> fencedLocks(programs, threads, millis)));
  }

  private static String randomKey() {
    return "key-" + ThreadLocalRandom.current().nextInt(KEYS);
  }

  private static List<Dedup> dedups(List<EvenkeelClient> programs) {
    String name = "bench-" + NAMES.incrementAndGet();
    return programs.stream().map(program -> program.dedup(name)).toList();
  }

  private static void close(List<Dedup> dedups) {
    dedups.forEach(each -> ServiceLoad.await(each.close()));
  }

  private static ServiceRound claims(List<EvenkeelClient> programs, long millis) throws Exception {
    List<Dedup> dedups = dedups(programs);
    try {
      return ServiceLoad.inFlight(
          IN_FLIGHT,
          millis,
          i ->
              dedups
                  .get((int) (i % dedups.size()))
                  .claim(randomKey())
                  .compose(
                      claim ->
                          claim.map(DedupClaim::giveBack).orElse(Future.succeededFuture(false))));
    } finally {
      close(dedups);
    }
  }

  private static ServiceRound enQueue(List<EvenkeelClient> programs, long millis) throws Exception {
    List<Dedup> dedups = dedups(programs);
    try {
      return ServiceLoad.threads(
          THREADS,
          millis,
          1,
          i -> {
            Dedup dedup = dedups.get(i % dedups.size());
            return () -> {
              String key = randomKey();
              return dedup.enQueue(key) && dedup.deQueue(key);
            };
          });
    } finally {
      close(dedups);
    }
  }

  /** As Vert.x has them: by locks of an IMap, from 20 worker threads. */
  private static ServiceRound sharedLocks(ServiceClusters clusters, long millis) throws Exception {
    return ServiceLoad.inFlight(
        IN_FLIGHT,
        millis,
        i ->
            clusters
                .vertx((int) (i % ServiceClusters.PROGRAMS))
                .sharedData()
                .getLockWithTimeout(randomKey(), LOCK_MILLIS_MAX)
                .onSuccess(Lock::release)
                .map(true));
  }

  private static ServiceRound entryLocks(List<HazelcastInstance> programs, int threads, long millis)
      throws Exception {
    return ServiceLoad.threads(
        threads,
        millis,
        1,
        i -> {
          IMap<String, String> map = programs.get(i % programs.size()).getMap("locks");
          return () -> {
            String key = randomKey();
            boolean locked = map.tryLock(key);
            if (locked) {
              map.unlock(key);
            }
            return locked;
          };
        });
  }

  private static ServiceRound fencedLocks(
      List<HazelcastInstance> programs, int threads, long millis) throws Exception {
    return ServiceLoad.threads(threads, millis, 1, i -> fenced(programs.get(i % programs.size())));
  }

  private static Step fenced(HazelcastInstance program) {
    return () -> {
      FencedLock lock = program.getCPSubsystem().getLock(randomKey());
      boolean locked = lock.tryLock();
      if (locked) {
        lock.unlock();
      }
      return locked;
    };
  }
}
