package dev.evenkeel.dispatcher.core;

import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.StartAt;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A reset of a group to other offsets on some shards: what was asked for, and what is done so far.
 */
final class GroupReset {
  final StartAt to;

  /** The owner of a shard loses it. */
  final boolean force;

  /** When the request is answered at the latest. The reset goes on after that. */
  final long untilMillis;

  private final Map<Shard, String> names;
  private final Map<Shard, Lease> leases = new LinkedHashMap<>();
  private Reply.Refused refused;

  /**
   * @param names the shards, each with its name for people
   */
  GroupReset(Map<Shard, String> names, StartAt to, boolean force, long untilMillis) {
    this.names = names;
    this.to = to;
    this.force = force;
    this.untilMillis = untilMillis;
    names.keySet().forEach(shard -> leases.put(shard, null));
  }

  /** The log has reset a shard. */
  void done(Shard shard, Lease lease) {
    leases.put(shard, lease);
  }

  /** The log refused to reset a shard; the whole reset is given up. */
  void refused(Shard shard, Refusal refusal, String detail) {
    if (refused == null) {
      refused = new Reply.Refused(refusal, names.get(shard) + ": " + detail);
    }
  }

  /** Why it is given up, or null. */
  Reply.Refused refused() {
    return refused;
  }

  /** The shards, each with its lease after the reset; null: not yet. */
  Map<Shard, Lease> leases() {
    return Collections.unmodifiableMap(leases);
  }
}
