package dev.evenkeel.bus;

import dev.evenkeel.protocol.GroupPolicy;
import dev.evenkeel.protocol.StartAt;
import java.util.List;

/** Heartbeats for tests. */
public final class Heartbeats {
  private Heartbeats() {}

  /** Of a run of a member on no node, which reads topic t in mode sharded from its beginning. */
  public static Heartbeat beat(String group, String member, String instance, long bornMillis) {
    return new Heartbeat(
        group,
        member,
        instance,
        bornMillis,
        GroupPolicy.SHARDED,
        List.of("t"),
        StartAt.EARLIEST,
        null,
        "host",
        5_000,
        50_000);
  }

  /** A copy with another value of one component, and of further ones: their names and values. */
  public static Heartbeat with(Heartbeat beat, String component, Object value, Object... more) {
    Heartbeat copy = Heartbeat.JSON.with(beat, component, value);
    for (int i = 0; i < more.length; i += 2) {
      copy = Heartbeat.JSON.with(copy, (String) more[i], more[i + 1]);
    }
    return copy;
  }
}
