package dev.evenkeel.seconduser;

import io.vertx.core.json.JsonObject;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The process of an attacker. It ends without closing anything in good order, as a process does
 * that is killed.
 */
public final class AttackerMain {
  /** Printed when it begins. */
  static final String BEGUN = "attacking";

  private AttackerMain() {}

  /**
   * @param args a file with {@link Target#describe}, for how many seconds, the scale, and names of
   *     attacks
   */
  public static void main(String[] args) throws Exception {
    Target target = new Target(new JsonObject(Files.readString(Path.of(args[0]))));
    double scale = Double.parseDouble(args[2]);
    long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(Long.parseLong(args[1]));
    Map<Attack, Outcome> outcomes = new LinkedHashMap<>();
    List<Thread> threads = new ArrayList<>();
    for (String name : args[3].split(",")) {
      Attack attack = AllAttacks.named(name);
      Outcome outcome = new Outcome();
      outcomes.put(attack, outcome);
      AtomicLong turns = new AtomicLong();
      for (int lane = 0; lane < attack.lanes(); lane++) {
        Thread thread =
            new Thread(
                new Lane(target, attack, lane, turns, scale, until, outcome), name + "-" + lane);
        thread.setDaemon(true);
        threads.add(thread);
      }
    }
    System.out.println(BEGUN);
    threads.forEach(Thread::start);
    // What waits for the node does not come to an end by itself.
    while (System.nanoTime() < until && threads.stream().anyMatch(Thread::isAlive)) {
      Thread.sleep(20);
    }
    outcomes.forEach(
        (attack, outcome) -> System.out.println("outcome " + attack.name() + ": " + outcome));
    outcomes.forEach(
        (attack, outcome) -> {
          if (outcome.tellsOfBug()) {
            System.out.println("BUG " + attack.name());
          }
        });
    System.out.flush();
    Runtime.getRuntime().halt(0);
  }
}
