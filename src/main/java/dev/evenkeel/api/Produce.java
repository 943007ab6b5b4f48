package dev.evenkeel.api;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Sends one message or many, and answers once they are acknowledged. If one of many messages fails,
 * the answer is its error, with the results of all under results.
 *
 * @param topic name of the topic
 * @param acks what the answer waits for: sent, on disk at a majority, or on disk at every replica
 * @param message the only message
 * @param messages many messages, at most 1,000
 */
public record Produce(
    String topic,
    @Words({"none", "majority", "all"}) @Default("majority") String acks,
    @Inline @Nullable NewMessage message,
    @Nullable List<NewMessage> messages) {

  /**
   * Where messages are.
   *
   * @param position of the only message
   * @param results of many messages, in order
   */
  public record Produced(
      @Inline @Nullable Position position, @LeftOut @Nullable List<SendResult> results) {}
}
