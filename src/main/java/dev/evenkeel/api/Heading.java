package dev.evenkeel.api;

import dev.evenkeel.protocol.Worded;

/** The headings under which operations are described. */
public enum Heading implements Worded {
  TOPICS("topics", "Create, show, change and delete topics"),
  MESSAGES("messages", "Send messages, and read them without consuming them"),
  GROUPS("groups", "Show, reset and delete consumer groups, and see how their shards moved"),
  CONSUME("consume", "Get messages as a member of a group"),
  DEDUP("dedup", "Claim keys, so that one works on each and one waits"),
  COORDINATORS("coordinators", "Keep programs level that take steps"),
  ELECTIONS("elections", "Elect a leader among programs, without a topic"),
  DEAD_LETTERS("dead-letters", "Messages whose attempts have all failed"),
  QUOTAS("quotas", "Limit what producers, users, topics and groups may send and get"),
  USERS("users", "The users that the cluster keeps, their tokens and permissions"),
  CLUSTER("cluster", "The nodes and log groups, and which nodes keep data"),
  SESSION("session", "Who is asking, and the log-in of browsers"),
  NODE("node", "Health, metrics and description of one node");

  private final String word;
  private final String text;

  Heading(String word, String text) {
    this.word = word;
    this.text = text;
  }

  @Override
  public String word() {
    return word;
  }

  /** What is under it, for people. */
  public String text() {
    return text;
  }
}
