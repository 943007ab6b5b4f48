package dev.evenkeel.dispatcher.core;

/** Why a shard moves, in the words of the outside contract. */
public enum Cause {
  JOIN("join"),
  LEAVE("leave"),
  TIMEOUT("timeout"),
  MEMBER_LEFT("member-left"),
  REPLACED("replaced"),
  TOPIC("topic"),
  CAP("cap");

  private final String word;

  Cause(String word) {
    this.word = word;
  }

  public String word() {
    return word;
  }
}
