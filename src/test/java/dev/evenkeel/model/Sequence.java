package dev.evenkeel.model;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.Predicate;

/** Steps in their order. */
public record Sequence(List<Op> ops) {
  /** A step, and with what. */
  public record Op(Step step, int a, int b) {}

  /** A third of all steps is left out of each sequence, so that those that are left meet often. */
  private static final int LEFT_OUT_OF = 3;

  private static final int FAVOURED_WEIGHT = 8;

  /**
   * The sequence that a seed draws.
   *
   * @param possible the steps that can be done
   */
  public static Sequence of(long seed, Set<Step> possible) {
    SplittableRandom random = new SplittableRandom(seed);
    List<Step> bag = new ArrayList<>();
    for (Step step : Step.values()) {
      boolean in = random.nextInt(LEFT_OUT_OF) > 0 || step == Step.SEND || step == Step.JOIN;
      for (int i = 0; in && possible.contains(step) && i < step.weight; i++) {
        bag.add(step);
      }
    }
    return drawn(bag, 12 + random.nextInt(40), random);
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
      boolean in = random.nextInt(LEFT_OUT_OF) == 0 || step == Step.SEND || step == Step.JOIN;
      int weight = favoured.contains(step) ? FAVOURED_WEIGHT : in ? step.weight : 0;
      for (int i = 0; possible.contains(step) && i < weight; i++) {
        bag.add(step);
      }
    }
    return drawn(bag, 8 + random.nextInt(10), random);
  }

  private static Sequence drawn(List<Step> bag, int count, SplittableRandom random) {
    List<Op> ops = new ArrayList<>();
    ops.add(op(Step.CREATE_TOPIC, random));
    ops.add(op(Step.JOIN, random));
    while (ops.size() < count) {
      ops.add(op(bag.get(random.nextInt(bag.size())), random));
    }
    return new Sequence(List.copyOf(ops));
  }

  private static Op op(Step step, SplittableRandom random) {
    return new Op(step, random.nextInt(1 << 20), random.nextInt(1 << 20));
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
