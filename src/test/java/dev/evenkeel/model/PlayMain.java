package dev.evenkeel.model;

import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/**
 * Plays seeds in a process of its own until a run fails or the time is over. Its class path says
 * which product it plays with.
 */
public final class PlayMain {
  /** What the process ends with if a run has failed. */
  public static final int FOUND = 1;

  /** What it ends with if it cannot play at all. */
  private static final int BROKEN = 2;

  /** In place of the name of a fault: nothing is planted, and runs look at everything. */
  public static final String CONTROL = "CONTROL";

  /** Begins the line that says which run has failed, and why. */
  public static final String FAILED = "failed: ";

  /** Begins the line that says how many seeds were played. */
  public static final String PLAYED = "played: ";

  private PlayMain() {}

  /**
   * @param args a directory, the name of a planted fault or {@link #CONTROL}, the first seed, how
   *     many runs at a time, and the seconds in which runs may begin
   */
  public static void main(String[] args) {
    Path directory = Path.of(args[0]);
    Focus focus = args[1].equals(CONTROL) ? Focus.NONE : PlantedFault.valueOf(args[1]).focus;
    long first = Long.parseLong(args[2]);
    int lanes = Integer.parseInt(args[3]);
    int status = BROKEN;
    try {
      Runs runs = new Runs(new OneNode(focus.has(Step.TAKE_NAME)), directory).looksFor(focus);
      long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(Long.parseLong(args[4]));
      try {
        runs.play(first, lanes, seed -> System.nanoTime() < until);
        System.out.println(PLAYED + runs.matrix().runs());
        status = 0;
      } catch (AssertionError failed) {
        System.out.println(PLAYED + runs.matrix().runs());
        System.out.println(FAILED + failed.getMessage().lines().findFirst().orElse(""));
        System.out.println(failed.getMessage());
        status = FOUND;
      }
    } catch (InterruptedException | RuntimeException broken) {
      broken.printStackTrace(System.out);
    }
    System.out.flush();
    // A product with a fault may not end well either, and its files are taken away by the caller.
    Runtime.getRuntime().halt(status);
  }
}
