package dev.evenkeel;

import java.util.Arrays;

/** Loops of one line for tests. What the body throws, checked or not, ends the loop. */
public final class Loops {
  /** One turn of a loop that counts. */
  public interface Turn<E extends Exception> {
    void run(int number) throws E;
  }

  /** One turn of a loop over things. */
  public interface Visit<T, E extends Exception> {
    void of(T thing) throws E;
  }

  private Loops() {}

  /** Runs the body {@code count} times, with the numbers from 0 on. */
  public static <E extends Exception> void times(int count, Turn<E> body) throws E {
    for (int i = 0; i < count; i++) {
      body.run(i);
    }
  }

  /** As {@link Iterable#forEach}, for a body that may throw checked exceptions. */
  public static <T, E extends Exception> void each(Iterable<? extends T> things, Visit<T, E> body)
      throws E {
    for (T thing : things) {
      body.of(thing);
    }
  }

  /** As {@link #each(Iterable, Visit)}, for an array. */
  public static <T, E extends Exception> void each(T[] things, Visit<T, E> body) throws E {
    each(Arrays.asList(things), body);
  }
}
