package dev.evenkeel.dispatcher.core;

/** Why a shard moves, in the words of the outside contract. */
public enum Cause {
  JOIN("member joined"),
  LEAVE("member left"),
  /** It was silent for its timeout. */
  TIMEOUT("member timed out"),
  /** The cluster lost the program that it ran in. */
  MEMBER_LEFT("member crashed"),
  /** It said that it had messages in hand when it ended, and may have died of one of them. */
  EXPIRED("session expired"),
  /** A later run of a member in its grace time. */
  BACK("member came back"),
  /** A later run of the same name. */
  REPLACED("member replaced"),
  /** Topics came or went, or a member reads others than before. */
  TOPIC("topics changed"),
  /** The group asks for another assignor than before. */
  ASSIGNOR("assignor changed"),
  /** The work of the shards changed; with the assignor that plans by it. */
  LOAD("load changed"),
  /** It sent heartbeats but finished nothing for its stuck timeout. */
  STUCK("member stuck"),
  /** A member that was stuck finishes something again. */
  RECOVERED("member recovered"),
  /** The leader of a group in mode singleton wants another to lead. */
  RESIGNED("leader resigned"),
  /** All of the group's shards went to the dispatcher that serves now. */
  DISPATCHER("dispatcher changed"),
  /** The group was set to another place. */
  RESET("group reset"),
  /** The owner did not let go in time. */
  CAP("handover timed out");

  /** For a move whose cause this dispatcher does not know: it was under way when it began. */
  private static final String UNKNOWN_WORD = "rebalance";

  private final String word;

  Cause(String word) {
    this.word = word;
  }

  /** Whether the run itself has said that it ends. */
  boolean isLeaving() {
    return this == LEAVE || this == EXPIRED;
  }

  public String word() {
    return word;
  }

  /** The cause of that word; null if there is none, or it is not known to this version. */
  public static Cause ofWord(String word) {
    for (Cause cause : values()) {
      if (cause.word.equals(word)) {
        return cause;
      }
    }
    return null;
  }

  /**
   * @param cause null if unknown
   */
  public static String wordOf(Cause cause) {
    return cause == null ? UNKNOWN_WORD : cause.word;
  }
}
