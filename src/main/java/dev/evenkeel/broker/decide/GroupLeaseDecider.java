package dev.evenkeel.broker.decide;

import dev.evenkeel.broker.state.MetaChange;
import dev.evenkeel.broker.state.MetaTables;
import dev.evenkeel.protocol.GroupLease;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.Reply;
import java.util.List;

/**
 * Decides about the leases of whole groups. The term only grows, and no two runs ever have the same
 * one. A lease that is granted for the first time begins above the terms of all groups that were
 * forgotten: one of them may have had the same name.
 *
 * <pre>
 *              grant (compare and set: term + 1)
 * free @ term ----------------------------------> held @ term + 1 --+ grant to another: term + 1
 *      ^                                            |       ^-------+
 *      `---- release by the holder of that term ----'
 * </pre>
 */
public record GroupLeaseDecider(MetaTables tables) {
  public Decision<MetaChange> grant(MetaCommand.GrantGroupLease command) {
    command.check();
    String instance = command.instance();
    if (tables.group(command.group()) == null) {
      return GroupDecider.unknown(command.group());
    }
    GroupLease lease = tables.groupLease(command.group());
    long expected = command.expectedTerm();
    if (lease.heldBy(instance, expected == 0 ? lease.term() : expected + 1)) {
      // The answer to the same grant was lost.
      return Decision.unchanged(new Reply.OfGroupLease(lease));
    }
    if (lease.term() != expected) {
      return fenced(lease, expected);
    }
    if (expected == 0) {
      lease = new GroupLease(lease.group(), tables.counters().termFloor(), null, null);
    }
    return put(lease.granted(command.holder(), instance));
  }

  public Decision<MetaChange> release(MetaCommand.ReleaseGroupLease command) {
    if (tables.group(command.group()) == null) {
      return GroupDecider.unknown(command.group());
    }
    GroupLease lease = tables.groupLease(command.group());
    if (!lease.held() && lease.term() == command.term()) {
      return Decision.unchanged(new Reply.OfGroupLease(lease));
    }
    if (!lease.heldBy(command.instance(), command.term())) {
      return fenced(lease, command.term());
    }
    return put(lease.released());
  }

  private static Decision<MetaChange> put(GroupLease lease) {
    return new Decision<>(List.of(MetaChange.putGroupLease(lease)), new Reply.OfGroupLease(lease));
  }

  private static Decision<MetaChange> fenced(GroupLease lease, long term) {
    return Decision.refused(
        Refusal.FENCED,
        "term %s of group '%s': its lease is at term %s%s",
        term,
        lease.group(),
        lease.term(),
        lease.held() ? ", held by " + lease.holder() : ", held by nobody");
  }
}
