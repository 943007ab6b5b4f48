package dev.evenkeel.bus.share;

import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * Divides something scarce among users: nobody gets more while they hold their share of what is
 * left. With a share of 1, that is as much as is left: one user can hold a half of all, each of two
 * users a third, and there is always room for another one. With a share of 3, one user can hold
 * three quarters. Where there are no users, everybody together may hold all of it.
 *
 * <p>These are the dynamic thresholds of A. K. Choudhury and E. L. Hahne, 1998, with the share as
 * factor. Safe for use from any thread.
 */
public final class FairShare {
  private final String what;
  private final long max;
  private final ToDoubleFunction<String> weights;
  private final Runnable refused;
  private final AtomicLong total = new AtomicLong();
  private final Account everybody = new Account(null);

  /** By user. There are not more than the cluster has users. */
  private final Map<String, Account> accounts = new ConcurrentHashMap<>();

  /**
   * @param what in plural, such as "sessions"
   * @param max of all users together
   * @param weights the share of each user
   * @param refused runs at each refusal
   */
  FairShare(String what, long max, ToDoubleFunction<String> weights, Runnable refused) {
    this.what = what;
    this.max = max;
    this.weights = weights;
    this.refused = refused;
  }

  /**
   * Whether a user may get more. All numbers count the same thing.
   *
   * @param own what the user holds
   * @param all what everybody holds, the user too
   * @param more what it would get
   * @param max of everybody together
   * @param weight the share of the user
   */
  public static boolean fits(long own, long all, long more, long max, double weight) {
    return all + more <= max && own + more <= weight * (max - all);
  }

  /** What one user holds. */
  public final class Account {
    private final @Nullable String user;
    private final AtomicLong held = new AtomicLong();

    private Account(@Nullable String user) {
      this.user = user;
    }

    /**
     * Takes more, until {@link #give}.
     *
     * @throws RefusedException OVERLOADED if that is too much
     */
    public void take(long more) {
      if (!tryTake(more)) {
        throw refusal();
      }
    }

    /** As {@link #take}; returns false if that is too much. */
    public boolean tryTake(long more) {
      long own = held.addAndGet(more) - more;
      long all = total.addAndGet(more) - more;
      boolean fits = fits(own, all, more);
      if (!fits) {
        give(more);
        refused.run();
      }
      return fits;
    }

    /** Whether it could take so much more now. */
    public boolean hasRoom(long more) {
      return fits(held.get(), total.get(), more);
    }

    private boolean fits(long own, long all, long more) {
      return user == null
          ? all + more <= max
          : FairShare.fits(own, all, more, max, weights.applyAsDouble(user));
    }

    /** OVERLOADED, with what is held now. */
    public RefusedException refusal() {
      return user == null
          ? Refusal.OVERLOADED.error(
              "this node has %s %s, its limit: close some or wait, or use another node", max, what)
          : Refusal.OVERLOADED.error(
              "the user '%s' has %s of the %s %s of this node, and %s are taken: close some or"
                  + " wait, or use another node",
              user, held(), max, what, total.get());
    }

    public void give(long less) {
      held.addAndGet(-less);
      total.addAndGet(-less);
    }

    public long held() {
      return held.get();
    }
  }

  /**
   * The account of a user.
   *
   * @param user null: there are no users
   */
  public Account of(@Nullable String user) {
    return user == null ? everybody : accounts.computeIfAbsent(user, Account::new);
  }

  /** Most that everybody together may hold. */
  public long max() {
    return max;
  }

  /** What all users hold together. */
  public long held() {
    return total.get();
  }

  /** What each user holds who holds anything, by name. */
  public Map<String, Long> usage() {
    Map<String, Long> usage = new TreeMap<>();
    accounts.forEach(
        (user, account) -> {
          if (account.held() > 0) {
            usage.put(user, account.held());
          }
        });
    return usage;
  }
}
