package dev.evenkeel.broker.serve;

import dev.evenkeel.bus.Asker;
import io.vertx.core.AsyncResult;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/**
 * Lets few looks into batches run at a time. Users take turns, and the connections of a user among
 * themselves: each turn is one look. So whoever has N other users beside it waits for N looks and
 * those that run, however many looks the others have. A look is bounded, see {@link LookBounds};
 * whoever has more to look at comes again.
 *
 * <p>Runs on one context.
 */
final class LookQueue {
  /** A look that waits. */
  private interface Turn {
    /** Begins it, unless it was begun before, or nobody wants it any more. */
    void take();
  }

  /** The looks of a user, by connection. */
  private static final class User {
    private final Map<String, Deque<Turn>> lines = new HashMap<>();
    private final Deque<String> order = new ArrayDeque<>();

    void add(String line, Turn turn) {
      Deque<Turn> turns = lines.get(line);
      if (turns == null) {
        turns = new ArrayDeque<>(2);
        lines.put(line, turns);
        order.add(line);
      }
      turns.add(turn);
    }

    Turn remove() {
      String line = order.remove();
      Deque<Turn> turns = lines.get(line);
      Turn turn = turns.remove();
      if (turns.isEmpty()) {
        lines.remove(line);
      } else {
        order.add(line);
      }
      return turn;
    }

    boolean isEmpty() {
      return order.isEmpty();
    }
  }

  private final int atOnceMax;

  /** Those with looks that wait. */
  private final Map<String, User> users = new HashMap<>();

  private final Deque<String> order = new ArrayDeque<>();
  private int running;
  private int waiting;
  private boolean beginning;

  /**
   * @param atOnceMax how many looks run at a time
   */
  LookQueue(int atOnceMax) {
    this.atOnceMax = atOnceMax;
  }

  /** How many looks wait. */
  int waiting() {
    return waiting;
  }

  /**
   * Runs a look when it is its turn.
   *
   * @param wanted whether anybody still wants it then; if not, the future never completes
   */
  <T> Future<T> run(Asker asker, BooleanSupplier wanted, Supplier<Future<T>> look) {
    return run(List.of(asker), wanted, look);
  }

  /**
   * Runs a look once, when it is the turn of any of those who ask for it.
   *
   * @param wanted whether anybody still wants it then; if not, the future never completes
   */
  <T> Future<T> run(Collection<Asker> askers, BooleanSupplier wanted, Supplier<Future<T>> look) {
    Promise<T> promise = Promise.promise();
    Turn turn =
        new Turn() {
          private boolean taken;

          @Override
          public void take() {
            if (!taken && wanted.getAsBoolean()) {
              taken = true;
              begin(look).onComplete(done -> end(promise, done));
            }
          }
        };
    for (Asker asker : askers) {
      add(asker, turn);
    }
    next();
    return promise.future();
  }

  private <T> void end(Promise<T> promise, AsyncResult<T> done) {
    running--;
    promise.handle(done);
    next();
  }

  private <T> Future<T> begin(Supplier<Future<T>> look) {
    running++;
    try {
      return look.get();
    } catch (RuntimeException refused) {
      return Future.failedFuture(refused);
    }
  }

  private void add(Asker asker, Turn turn) {
    String name = named(asker.user());
    User user = users.get(name);
    if (user == null) {
      user = new User();
      users.put(name, user);
      order.add(name);
    }
    user.add(named(asker.connection()), turn);
    waiting++;
  }

  private static String named(String name) {
    return name == null ? "" : name;
  }

  private Turn remove() {
    String name = order.remove();
    User user = users.get(name);
    Turn turn = user.remove();
    if (user.isEmpty()) {
      users.remove(name);
    } else {
      order.add(name);
    }
    waiting--;
    return turn;
  }

  /** Begins looks. Not from within itself: a look that ends at once would nest. */
  private void next() {
    if (beginning) {
      return;
    }
    beginning = true;
    try {
      while (running < atOnceMax && !order.isEmpty()) {
        remove().take();
      }
    } finally {
      beginning = false;
    }
  }
}
