package dev.evenkeel.broker.serve;

import io.vertx.core.json.JsonObject;
import java.lang.reflect.RecordComponent;
import java.util.List;
import java.util.stream.Stream;

/**
 * Limits of serving.
 *
 * @param entriesInFlightMax append entries of one log group on their way at a time, 1 to 16
 * @param appendBytesWaitingMax bytes of appends not answered yet, a log group; 0: a part of the
 *     heap
 * @param fetchesWaitingMax long polls that wait at a time
 * @param procedureMillisMax how long creating, configuring or deleting a topic may take before its
 *     caller is told that it goes on by itself
 * @param reconcileMillis how often what was left undone is looked for
 */
public record ServeOptions(
    int entriesInFlightMax,
    long appendBytesWaitingMax,
    int fetchesWaitingMax,
    long procedureMillisMax,
    long reconcileMillis) {

  public static final ServeOptions DEFAULT = new ServeOptions(3, 0, 100_000, 10_000, 2_000);

  /** The records' own names. */
  public static List<String> keys() {
    return Stream.of(ServeOptions.class.getRecordComponents())
        .map(RecordComponent::getName)
        .toList();
  }

  /** Values under the records' own names; the default for each that is absent. */
  public static ServeOptions fromJson(JsonObject json) {
    return new ServeOptions(
        Math.max(
            1, Math.min(16, json.getInteger("entriesInFlightMax", DEFAULT.entriesInFlightMax))),
        json.getLong("appendBytesWaitingMax", DEFAULT.appendBytesWaitingMax),
        json.getInteger("fetchesWaitingMax", DEFAULT.fetchesWaitingMax),
        json.getLong("procedureMillisMax", DEFAULT.procedureMillisMax),
        json.getLong("reconcileMillis", DEFAULT.reconcileMillis));
  }
}
