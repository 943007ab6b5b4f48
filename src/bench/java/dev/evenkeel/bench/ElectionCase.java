package dev.evenkeel.bench;

import com.hazelcast.core.HazelcastInstance;
import dev.evenkeel.bench.ServiceCase.Contestant;
import dev.evenkeel.cli.ChildProcess;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/** One leader among candidates that are session clients of ours, or clients of Hazelcast. */
final class ElectionCase {
  private static final int SAMPLE = 64;
  private static final long ELECTED_SECONDS_MAX = 60;

  /** Until a lock that others wait for is given back, so that they surely wait. */
  private static final long WAITS_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

  private static final AtomicInteger NAMES = new AtomicInteger();

  /** How a leader is elected. */
  enum Kind {
    OURS("Evenkeel election"),
    FENCED_LOCK("Hazelcast FencedLock"),
    ENTRY_LOCK("Hazelcast IMap lock");

    private final String system;

    Kind(String system) {
      this.system = system;
    }

    Candidacy candidacy(HazelcastInstance hazelcast, String name, Runnable elected) {
      return this == FENCED_LOCK
          ? Candidacy.fencedLock(hazelcast, name, elected)
          : Candidacy.entryLock(hazelcast, name, elected);
    }

    private Candidacy candidacy(
        ServiceClusters clusters, int program, String name, Runnable elected) {
      return this == OURS
          ? Candidacy.election(clusters.ours(false).get(program), name, elected)
          : candidacy(clusters.theirs(false).get(program), name, elected);
    }
  }

  /** What a kind of election measures in a round. */
  private interface Round {
    ServiceRound of(Kind kind) throws Exception;
  }

  private ElectionCase() {}

  /** Asks whether it leads, again and again. */
  static ServiceCase checks(ServiceClusters clusters, long millis) {
    return of("election-check", kind -> check(clusters, kind, millis));
  }

  /** The leader resigns, again and again: until another one leads. */
  static ServiceCase resigns(ServiceClusters clusters, long millis) {
    return of("election-resign", kind -> resign(clusters, kind, millis));
  }

  /** The leader's process is killed, so often in a round: until another one leads. */
  static ServiceCase kills(ServiceClusters clusters, int kills) {
    return of("election-kill", kind -> kill(clusters, kind, kills));
  }

  private static ServiceCase of(String name, Round round) {
    return new ServiceCase(
        name,
        Stream.of(Kind.values())
            .map(kind -> new Contestant(kind.system, (Callable<ServiceRound>) () -> round.of(kind)))
            .toList());
  }

  private static String name() {
    return "election-" + NAMES.incrementAndGet();
  }

  /** Who was elected, in order. */
  private static final class Elected extends LinkedBlockingQueue<Integer> {
    Runnable by(int candidate) {
      return () -> add(candidate);
    }

    /** Waits until this one is. */
    void await(int candidate) throws InterruptedException {
      Integer found;
      do {
        found = poll(ELECTED_SECONDS_MAX, TimeUnit.SECONDS);
        if (found == null) {
          throw new IllegalStateException("nobody was elected in " + ELECTED_SECONDS_MAX + " s");
        }
      } while (found != candidate);
    }
  }

  private static ServiceRound check(ServiceClusters clusters, Kind kind, long millis)
      throws Exception {
    Elected elected = new Elected();
    try (Candidacy leader = kind.candidacy(clusters, 0, name(), elected.by(0))) {
      elected.await(0);
      return ServiceLoad.threads(1, millis, SAMPLE, i -> leader::isLeading);
    }
  }

  private static ServiceRound resign(ServiceClusters clusters, Kind kind, long millis)
      throws Exception {
    String name = name();
    Elected elected = new Elected();
    Percentiles times = new Percentiles();
    try (Candidacy first = kind.candidacy(clusters, 0, name, elected.by(0))) {
      elected.await(0);
      try (Candidacy second = kind.candidacy(clusters, 1, name, elected.by(1))) {
        List<Candidacy> both = List.of(first, second);
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
        for (int leader = 0; System.nanoTime() < end; leader = 1 - leader) {
          LockSupport.parkNanos(WAITS_NANOS);
          long begin = System.nanoTime();
          both.get(leader).resign();
          elected.await(1 - leader);
          times.add(System.nanoTime() - begin);
        }
      }
    }
    return ServiceRound.of(times);
  }

  private static ServiceRound kill(ServiceClusters clusters, Kind kind, int kills)
      throws Exception {
    Percentiles times = new Percentiles();
    String addresses = kind == Kind.OURS ? clusters.seeds() : clusters.hazelcastPorts();
    for (int i = 0; i < kills; i++) {
      String name = name();
      CompletableFuture<String> leads = new CompletableFuture<>();
      List<String> command =
          ServiceClusters.program(ElectionProgram.class, kind.name(), addresses, name);
      ChildProcess leader =
          clusters.start("leader of " + name, command, line -> heard(line, leads));
      leads.get(ELECTED_SECONDS_MAX, TimeUnit.SECONDS);
      Elected elected = new Elected();
      try (Candidacy next = kind.candidacy(clusters, 0, name, elected.by(0))) {
        LockSupport.parkNanos(WAITS_NANOS);
        long begin = System.nanoTime();
        leader.kill();
        elected.await(0);
        times.add(System.nanoTime() - begin);
      }
    }
    return ServiceRound.of(times);
  }

  private static void heard(String line, CompletableFuture<String> leads) {
    if (line == null) {
      leads.completeExceptionally(new IllegalStateException("the process has ended"));
    } else if (line.equals("elected")) {
      leads.complete(line);
    }
  }
}
