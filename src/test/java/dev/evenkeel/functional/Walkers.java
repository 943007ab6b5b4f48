package dev.evenkeel.functional;

import static dev.evenkeel.Futures.await;

import dev.evenkeel.Evenkeel;
import dev.evenkeel.TestUsers;
import dev.evenkeel.client.ClusterCoordinator;
import dev.evenkeel.client.ClusterTrack;
import dev.evenkeel.client.CoordinatorOptions;
import dev.evenkeel.client.EvenkeelClient;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Threads that walk side by side, in a process of their own: {@code Walkers HOST:PORT,...
 * COORDINATOR RANGE TIMEOUT_MILLIS PREFIX WALKERS GOAL_FILE FILE}. Each takes steps at random speed
 * until it has got as far as GOAL_FILE says, once that is there. Before and after each step it
 * appends a line to FILE, which it shares with the others: see {@link WalkCheck}. A walker whose
 * track is lost goes on with another one.
 */
record Walkers(ClusterCoordinator coordinator, Path goal, FileChannel file) {
  private static final int PAUSE_MILLIS_MAX = 6;

  public static void main(String[] args) throws Exception {
    EvenkeelClient client =
        await(Evenkeel.connect(TestUsers.options().setSeeds(List.of(args[0].split(",")))));
    Walkers walkers =
        new Walkers(
            client.coordinator(
                new CoordinatorOptions()
                    .setName(args[1])
                    .setRange(Integer.parseInt(args[2]))
                    .setMemberTimeoutMillis(Long.parseLong(args[3]))),
            Path.of(args[6]),
            ConsumerProcess.appending(args[7]));
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < Integer.parseInt(args[5]); i++) {
      String name = args[4] + i;
      Thread thread = new Thread(() -> walkers.walk(name), name);
      thread.start();
      threads.add(thread);
    }
    for (Thread thread : threads) {
      thread.join();
    }
    await(client.close());
  }

  private void walk(String name) {
    Random random = new Random();
    for (int life = 0; ; life++) {
      try {
        ClusterTrack track =
            coordinator.track(name).toCompletionStage().toCompletableFuture().get();
        if (walk(name + "." + life, track, random)) {
          return;
        }
      } catch (Exception e) {
        System.err.println(name + ": " + e);
      }
    }
  }

  /** Returns whether it has arrived. */
  private boolean walk(String id, ClusterTrack track, Random random) throws Exception {
    write(id, 'J', track.steps());
    int pauseMax = 1 + random.nextInt(PAUSE_MILLIS_MAX);
    while (!track.isLost()) {
      if (hasArrived(track)) {
        write(id, 'D', track.steps());
        await(track.destroy());
        System.out.println("arrived " + id);
        return true;
      }
      write(id, 'B', track.steps());
      if (track.move()) {
        write(id, 'A', track.steps());
        TimeUnit.MILLISECONDS.sleep(random.nextInt(pauseMax));
      } else {
        write(id, 'R', track.steps());
        try {
          track.ready().toCompletionStage().toCompletableFuture().get(1, TimeUnit.SECONDS);
        } catch (TimeoutException e) {
          // It looks at the goal again.
        } catch (java.util.concurrent.ExecutionException e) {
          System.err.println(id + ": " + e.getCause());
        }
      }
    }
    write(id, 'L', track.steps());
    return false;
  }

  private boolean hasArrived(ClusterTrack track) throws Exception {
    return Files.exists(goal) && track.steps() >= Long.parseLong(Files.readString(goal).strip());
  }

  private void write(String id, char what, long steps) {
    ConsumerProcess.append(file, id + " " + what + " " + System.nanoTime() + " " + steps);
  }
}
