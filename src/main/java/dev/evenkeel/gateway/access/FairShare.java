package dev.evenkeel.gateway.access;

import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Divides something scarce on a node among users: nobody gets more while they hold as much as is
 * left. So one user can hold a half of it, each of two users a third, and there is always room for
 * another one. Where there are no users, everybody together may hold all of it.
 *
 * <p>These are the dynamic thresholds of A. K. Choudhury and E. L. Hahne, 1998, with a factor of 1.
 * Safe for use from any thread.
 */
public final class FairShare {
  private final String what;
  private final long max;
  private final AtomicLong total = new AtomicLong();
  private final Account everybody = new Account(null);

  /** By user. There are not more than the cluster has users. */
  private final Map<String, Account> accounts = new ConcurrentHashMap<>();

  /**
   * @param what in plural, such as "sessions"
   * @param max of all users together
   */
  public FairShare(String what, long max) {
    this.what = what;
    this.max = max;
  }

  /** What one user holds. */
  public final class Account {
    private final String user;
    private final AtomicLong held = new AtomicLong();

    private Account(String user) {
      this.user = user;
    }

    /**
     * Takes more, until {@link #give}.
     *
     * @throws RefusedException OVERLOADED if that is too much
     */
    public void take(long more) {
      long own = held.addAndGet(more);
      long all = total.addAndGet(more);
      boolean fits = user == null ? all <= max : own <= max - (all - more);
      if (!fits) {
        give(more);
        throw user == null
            ? Refusal.OVERLOADED.error(
                "this node has %s %s, its limit: close some, or use another node", max, what)
            : Refusal.OVERLOADED.error(
                "the user '%s' has %s of the %s %s of this node, and %s are taken: close some, or"
                    + " use another node",
                user, own - more, max, what, all - more);
      }
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
  public Account of(String user) {
    return user == null ? everybody : accounts.computeIfAbsent(user, Account::new);
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
