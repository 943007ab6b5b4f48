package dev.evenkeel.api;

import dev.evenkeel.protocol.Refusal;

/** The statuses of HTTP that stand for refusals. */
public final class HttpStatus {
  private HttpStatus() {}

  public static int of(Refusal refusal) {
    return switch (refusal) {
      case INVALID, WRONG_VERSION, OFFSET_OUT_OF_RANGE -> 400;
      case UNAUTHENTICATED -> 401;
      case FORBIDDEN -> 403;
      case UNKNOWN_TOPIC, UNKNOWN_SHARD, UNKNOWN_GROUP, UNKNOWN_SESSION, UNKNOWN_MESSAGE -> 404;
      case TOPIC_EXISTS,
          FENCED,
          PRODUCER_FENCED,
          UNKNOWN_PRODUCER,
          MEMBER_REPLACED,
          GROUP_MISMATCH,
          GROUP_ACTIVE,
          SEALED ->
          409;
      case TOO_LARGE -> 413;
      // Data from HTTP cannot be corrupt, so this is data on the disk.
      case CORRUPT, INTERNAL -> 500;
      case OVERLOADED -> 429;
      // The produce API answers with the position and the missing nodes instead; this is for other
      // requests.
      case REPLICAS_MISSING -> 504;
      case NOT_LEADER, INDETERMINATE, DISK_FULL, SEQUENCE_GAP, UNAVAILABLE -> 503;
    };
  }
}
