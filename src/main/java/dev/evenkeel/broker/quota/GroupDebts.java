package dev.evenkeel.broker.quota;

import dev.evenkeel.bus.rate.OwnShare;
import dev.evenkeel.bus.rate.ReserveRequest;
import dev.evenkeel.protocol.Quota;
import dev.evenkeel.protocol.QuotaKind;
import dev.evenkeel.protocol.Shard;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Makes the fetches of groups wait for their quotas. What a fetch finds is delivered first and paid
 * for afterwards: until then the fetches of the group on this node find nothing. One fetch of a
 * group is answered at a time, with at most {@link #ANSWER_NANOS} worth but at least one batch, and
 * the shards take turns.
 *
 * <p>Runs on one context.
 */
public final class GroupDebts {
  /** Most that one answer holds, except for a single batch. */
  static final long ANSWER_NANOS = 100_000_000;

  private final QuotaPort port;
  private final QuotaMeters meters;
  private final Consumer<Shard> onPaid;
  private final Map<String, Debt> debts = new HashMap<>();

  private static final class Debt {
    final OwnShare share = new OwnShare();

    /** In the order in which they are to be looked at. */
    final Set<Shard> held = new LinkedHashSet<>();

    /** An answer is read or paid for. */
    boolean busy;
  }

  /**
   * @param onPaid looks again at the fetches that wait for a shard
   */
  public GroupDebts(QuotaPort port, QuotaMeters meters, Consumer<Shard> onPaid) {
    this.port = port;
    this.meters = meters;
    this.onPaid = onPaid;
  }

  private @Nullable Quota quota(String group) {
    return port.quota(QuotaKind.GROUP, group);
  }

  /**
   * Whether the group is in debt, so that its fetch of a shard finds nothing now. The shard is
   * looked at again when the debt is paid.
   *
   * @param group empty: none
   */
  public boolean holds(String group, Shard shard) {
    Debt debt = debts.get(group);
    if (debt == null || !debt.busy) {
      return false;
    }
    debt.held.add(shard);
    return true;
  }

  /** Whether the caller must report what it delivers to a group with {@link #delivered}. */
  public boolean counts(String group) {
    return quota(group) != null || !debts.isEmpty() && debts.containsKey(group);
  }

  /** Most bytes of batches for one answer. */
  public int bytesMax(String group, int asked) {
    Quota quota = quota(group);
    return quota == null ? asked : (int) Math.min(asked, quota.bytesIn(ANSWER_NANOS));
  }

  /** Most messages of one answer. */
  public int messagesMax(String group, int asked) {
    Quota quota = quota(group);
    return quota == null ? asked : (int) Math.min(asked, quota.messagesIn(ANSWER_NANOS));
  }

  /** An answer for the group is read from the disk: {@link #delivered} follows in any case. */
  public void reading(String group) {
    if (quota(group) != null) {
      debts.computeIfAbsent(group, any -> new Debt()).busy = true;
    }
  }

  /** So much was delivered to the group; nothing is possible, too. */
  public void delivered(String group, long bytes, long messages) {
    Quota quota = quota(group);
    if (quota == null) {
      Debt former = debts.remove(group);
      if (former != null) {
        List.copyOf(former.held).forEach(onPaid);
      }
      return;
    }
    Debt debt = debts.computeIfAbsent(group, any -> new Debt());
    debt.busy = true;
    OwnShare share = debt.share;
    if (share.alone() && !share.lookDue(port.nanos())) {
      payOwn(group, debt, quota, bytes, messages);
      return;
    }
    port.reserve(new ReserveRequest(quota.key(), bytes, messages, ReserveRequest.ANY_WAIT, null))
        .onComplete(
            answer -> {
              long now = port.nanos();
              if (answer.succeeded()) {
                share.heard(now, answer.result().quota(), bytes, messages);
                pay(group, debt, answer.result().paidNanos());
              } else {
                meters.unheard();
                share.lost(now);
                payOwn(group, debt, quota, bytes, messages);
              }
            });
  }

  private void payOwn(String group, Debt debt, Quota quota, long bytes, long messages) {
    long now = port.nanos();
    debt.share.spendNanos(now, quota, bytes, messages);
    pay(group, debt, debt.share.spendNanos(now, quota, 0, 0));
  }

  private void pay(String group, Debt debt, long nanos) {
    if (nanos <= 0) {
      paid(group, debt);
    } else {
      meters.waited(QuotaKind.GROUP, nanos);
      // Looked at from time to time: the quota may become larger meanwhile, or go.
      long step = Math.min(nanos, ANSWER_NANOS);
      port.after(step, () -> paidPart(group, debt, nanos - step));
    }
  }

  private void paidPart(String group, Debt debt, long nanosLeft) {
    Quota quota = quota(group);
    if (nanosLeft <= 0 || quota == null) {
      paid(group, debt);
      return;
    }
    if (!quota.equals(debt.share.quota())) {
      // What is left costs another time now.
      delivered(group, 0, 0);
      return;
    }
    long step = Math.min(nanosLeft, ANSWER_NANOS);
    port.after(step, () -> paidPart(group, debt, nanosLeft - step));
  }

  private void paid(String group, Debt debt) {
    debt.busy = false;
    List<Shard> again = List.copyOf(debt.held);
    debt.held.clear();
    if (quota(group) == null) {
      debts.remove(group);
    }
    again.forEach(onPaid);
  }
}
