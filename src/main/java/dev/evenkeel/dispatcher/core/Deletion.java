package dev.evenkeel.dispatcher.core;

import dev.evenkeel.protocol.Reply;

/**
 * A group, or a topic of it, that {@link Forgetting} forgets: from the first step until it is over.
 */
final class Deletion {
  enum Step {
    RAISE,
    RECORD,
    DROP
  }

  /** Null: the whole group. */
  final String topic;

  /** The highest epoch known of the leases to forget, or answered by a data group. */
  long epochMax = 1;

  Step step;

  /** Requests to the data groups on their way. */
  int unanswered;

  boolean recordGone;

  /** All is gone, or it was refused. */
  boolean over;

  /** Why the record stayed, if that ended the deletion; else null. */
  Reply.Refused refused;

  Deletion(String topic) {
    this.topic = topic;
  }
}
