package dev.evenkeel.functional;

import static dev.evenkeel.Futures.await;

import dev.evenkeel.Evenkeel;
import dev.evenkeel.TestUsers;
import dev.evenkeel.client.Dedup;
import dev.evenkeel.client.DedupClaim;
import dev.evenkeel.client.DedupOptions;
import dev.evenkeel.client.EvenkeelClient;
import dev.evenkeel.cluster.ClusterMember;
import dev.evenkeel.cluster.LiteMember;
import dev.evenkeel.protocol.HostPort;
import dev.evenkeel.protocol.RefusedException;
import java.nio.channels.FileChannel;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;

/**
 * Claims random keys in a process of its own: {@code DedupServiceMember NODES NAME KEYS THREADS
 * WORK_MILLIS FILE WAY [HELD]}. WAY is {@code session} or {@code bus}, HELD a further key that it
 * holds for as long as it can. For each claim that worked it appends a line to FILE, which it
 * shares with the others: the key, its own name, and from when until when it was sure of the key,
 * by the clock of the machine. SIGTERM ends it in good order.
 */
public final class DedupServiceMember {
  private static final long PAUSE_MILLIS_MAX = 5;

  private final Dedup dedup;
  private final String name;
  private final int keys;
  private final long workMillis;
  private final FileChannel file;
  private volatile boolean stopped;

  private DedupServiceMember(
      Dedup dedup, String name, int keys, long workMillis, FileChannel file) {
    this.dedup = dedup;
    this.name = name;
    this.keys = keys;
    this.workMillis = workMillis;
    this.file = file;
  }

  public static void main(String[] args) throws Exception {
    EvenkeelClient client;
    if (args[6].equals("bus")) {
      ClusterMember member = await(LiteMember.join(HostPort.parse(args[0].split(",")[0]).port()));
      client = await(Evenkeel.with(member.vertx()));
    } else {
      client = await(Evenkeel.connect(TestUsers.options().setSeeds(List.of(args[0].split(",")))));
    }
    Dedup dedup = client.dedup(new DedupOptions().setName("judged").setTimeoutMillis(600_000));
    DedupServiceMember member =
        new DedupServiceMember(
            dedup,
            args[1],
            Integer.parseInt(args[2]),
            Long.parseLong(args[4]),
            ConsumerProcess.appending(args[5]));
    int threads = Integer.parseInt(args[3]);
    boolean holds = args.length > 7;
    CountDownLatch ended = new CountDownLatch(holds ? threads + 1 : threads);
    Runtime.getRuntime()
        .addShutdownHook(
            new Thread(
                () -> {
                  member.stopped = true;
                  try {
                    ended.await();
                    await(client.close());
                  } catch (InterruptedException e) {
                    Runtime.getRuntime().halt(1);
                  }
                  Runtime.getRuntime().halt(0);
                }));
    for (int i = 0; i < threads; i++) {
      boolean blocks = i % 3 == 0;
      new Thread(
              () -> {
                member.work(blocks);
                ended.countDown();
              })
          .start();
    }
    if (holds) {
      new Thread(
              () -> {
                member.hold(args[7]);
                ended.countDown();
              })
          .start();
    }
    System.out.println("joined");
    ended.await();
  }

  private void work(boolean blocks) {
    SplittableRandom random = new SplittableRandom();
    while (!stopped) {
      String key = "k" + random.nextInt(keys);
      try {
        if (!(blocks ? workBlocking(key) : workClaimed(key, workMillis))) {
          Thread.sleep(random.nextLong(1, PAUSE_MILLIS_MAX));
        }
      } catch (RefusedException | ExecutionException e) {
        System.out.println("refused: " + e.getMessage());
        pause(100);
      } catch (InterruptedException e) {
        return;
      }
    }
  }

  /** Holds a key until it is lost, and again. */
  private void hold(String key) {
    while (!stopped) {
      try {
        workClaimed(key, Long.MAX_VALUE);
      } catch (RefusedException | ExecutionException e) {
        pause(100);
      } catch (InterruptedException e) {
        return;
      }
    }
  }

  private boolean workBlocking(String key) throws InterruptedException {
    if (!dedup.enQueue(key)) {
      return false;
    }
    long from = System.nanoTime();
    Thread.sleep(workMillis);
    long until = System.nanoTime();
    // What is held at its end was held since its turn came.
    if (dedup.deQueue(key)) {
      tell(key, from, until, "held");
    }
    return true;
  }

  private boolean workClaimed(String key, long millis)
      throws InterruptedException, ExecutionException {
    Optional<DedupClaim> turn = dedup.claim(key).toCompletionStage().toCompletableFuture().get();
    if (turn.isEmpty()) {
      return false;
    }
    DedupClaim claim = turn.get();
    boolean sure = claim.isHeld();
    long from = System.nanoTime();
    long until = from;
    for (long now = from;
        sure && !stopped && (now - from) / 1_000_000 < millis;
        now = System.nanoTime()) {
      // Sure at some time after this.
      long before = System.nanoTime();
      if (!claim.isHeld()) {
        break;
      }
      until = before;
      Thread.sleep(1);
    }
    boolean held = claim.isHeld();
    claim.giveBack();
    if (sure) {
      tell(key, from, until, held ? "held" : "lost");
    }
    return true;
  }

  private void tell(String key, long from, long until, String end) {
    ConsumerProcess.append(file, key + " " + name + " " + from + " " + until + " " + end);
  }

  private static void pause(long millis) {
    try {
      Thread.sleep(millis);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
