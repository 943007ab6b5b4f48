package dev.evenkeel.bus;

import dev.evenkeel.protocol.GroupPolicy;
import dev.evenkeel.protocol.StartAt;
import java.util.List;

/** Heartbeats for tests. */
public final class Heartbeats {
  private Heartbeats() {}

  /** Without wishes, marks and figures. */
  public static Heartbeat of(
      String group,
      String member,
      String instance,
      long bornMillis,
      boolean leaving,
      boolean closing,
      GroupPolicy policy,
      List<String> topics,
      StartAt start,
      String clusterMember,
      String host,
      long consumed,
      long memberTimeoutMillis,
      long lockTimeMillis) {
    return new Heartbeat(
        group,
        member,
        instance,
        bornMillis,
        leaving,
        closing,
        policy,
        topics,
        start,
        clusterMember,
        host,
        consumed,
        memberTimeoutMillis,
        lockTimeMillis,
        Heartbeat.Wishes.NONE,
        List.of(),
        null,
        false,
        null,
        null,
        null,
        null);
  }

  /** The same with another value of one component. */
  public static Heartbeat with(Heartbeat beat, String component, Object value) {
    return Heartbeat.JSON.with(beat, component, value);
  }
}
