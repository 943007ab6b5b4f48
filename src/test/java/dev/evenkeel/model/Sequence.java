package dev.evenkeel.model;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.Predicate;
import java.util.stream.Stream;

/** Steps in their order. */
public record Sequence(List<Op> ops) {
  /** A step, and with what. */
  public record Op(Step step, int a, int b) {}

  /** A part of all steps is left out of each sequence, so that those that are left meet often. */
  private static final int LEFT_OUT_OF = 4;

  /**
   * Nothing happens to machines in some of the runs. These follow each other: where several are
   * played at a time, what happens in one happens to the others.
   */
  private static final int CALM_OF = 4;

  /** Many groups: so that rare settings meet, too. */
  private static final List<Step> BEGINNING =
      Stream.concat(
              Stream.of(Step.CREATE_TOPIC, Step.CREATE_TOPIC),
              Stream.generate(() -> Step.JOIN).limit(6))
          .toList();

  private static final List<Step> FEW = List.of(Step.CREATE_TOPIC, Step.JOIN);

  /** Steps that are not there yet come first, but for one of so many. */
  private static final int AGAIN_OF = 3;

  private static final int IN_A_ROW = 16;
  private static final int BOUND = 1 << 20;
  private static final int STEPS_MIN = 30;
  private static final int STEPS_MORE = 30;

  private static final int FAVOURED_WEIGHT = 8;

  /**
   * The sequence that a seed draws.
   *
   * @param possible the steps that can be done
   */
  public static Sequence of(long seed, Set<Step> possible) {
    SplittableRandom random = new SplittableRandom(seed);
    boolean calm = Math.floorMod(Math.floorDiv(seed, IN_A_ROW), CALM_OF) == 0;
    List<Step> bag = new ArrayList<>();
    for (Step step : Step.values()) {
      boolean in = random.nextInt(LEFT_OUT_OF) > 0 || step == Step.SEND || step == Step.JOIN;
      boolean goes = possible.contains(step) && !(calm && step.ofMachines());
      for (int i = 0; in && goes && i < step.weight; i++) {
        bag.add(step);
      }
    }
    int count = STEPS_MIN + random.nextInt(STEPS_MORE);
    return drawn(bag, new LinkedHashSet<>(bag), Kind.SETTINGS, BEGINNING, count, random);
  }

  /**
   * A short sequence in which some steps come more often.
   *
   * @param favoured all of them are in it, and a third of the others
   */
  static Sequence of(long seed, Set<Step> possible, Set<Step> favoured) {
    SplittableRandom random = new SplittableRandom(seed);
    List<Step> bag = new ArrayList<>();
    for (Step step : Step.values()) {
      boolean in = random.nextInt(3) == 0 || step == Step.SEND || step == Step.JOIN;
      int weight = favoured.contains(step) ? FAVOURED_WEIGHT : in ? step.weight : 0;
      for (int i = 0; possible.contains(step) && i < weight; i++) {
        bag.add(step);
      }
    }
    return drawn(bag, Set.of(), List.of(), FEW, 8 + random.nextInt(10), random);
  }

  /**
   * @param bag each step as often as its weight
   * @param missingSteps these come first, mostly, each until it is there
   * @param settings of which each group has one that no group before it has
   */
  private static Sequence drawn(
      List<Step> bag,
      Set<Step> missingSteps,
      List<String> settings,
      List<Step> beginning,
      int count,
      SplittableRandom random) {
    List<Op> ops = new ArrayList<>();
    List<Step> deck = new ArrayList<>(missingSteps);
    List<String> missing = new ArrayList<>(settings);
    for (Step first : beginning) {
      // An even number: another group each.
      ops.add(op(first, 2 * random.nextInt(BOUND / 2), missing, random));
    }
    while (ops.size() < count) {
      boolean anyAgain = deck.isEmpty() || random.nextInt(AGAIN_OF) == 0;
      Step step =
          anyAgain ? bag.get(random.nextInt(bag.size())) : deck.get(random.nextInt(deck.size()));
      deck.remove(step);
      ops.add(op(step, random.nextInt(BOUND), missing, random));
      if (step.ofMachines()) {
        // It takes long: once is enough.
        bag.removeIf(other -> other == step);
      }
    }
    return new Sequence(List.copyOf(ops));
  }

  /** Another group has a setting that no group before it has. */
  private static Op op(Step step, int a, List<String> missing, SplittableRandom random) {
    int b = random.nextInt(BOUND);
    if (step == Step.JOIN && a % 2 == 0 && !missing.isEmpty()) {
      String wanted = missing.get(random.nextInt(missing.size()));
      while (!Kind.of(b).settings().contains(wanted)) {
        b = random.nextInt(BOUND);
      }
      missing.removeAll(Kind.of(b).settings());
    }
    return new Op(step, a, b);
  }

  /** The one of some that a number stands for, or null if there are none. */
  public static <T> T any(List<T> some, int which) {
    return some.isEmpty() ? null : some.get(Math.floorMod(which, some.size()));
  }

  /** Leaves out steps as long as what is left still fails, until it may not try any more. */
  public Sequence shrunk(Predicate<Sequence> fails, Predicate<Sequence> mayTry) {
    List<Op> left = ops;
    for (int size = ops.size() / 2; size > 0; size /= 2) {
      for (int at = 0; at < left.size() && mayTry.test(new Sequence(left)); ) {
        List<Op> fewer = new ArrayList<>(left);
        fewer.subList(at, Math.min(fewer.size(), at + size)).clear();
        if (fails.test(new Sequence(fewer))) {
          left = fewer;
        } else {
          at += size;
        }
      }
    }
    return new Sequence(left);
  }
}
