package dev.evenkeel.seconduser;

/**
 * Something that a user does to the disadvantage of others.
 *
 * @param name for people
 * @param user who does it, see {@link TwoUsers}; null: a stranger, who has no token
 * @param lanes how many threads do it, each with connections of its own
 * @param rate steps a second of all lanes together; 0: as many as they can
 * @param step one step, which is repeated
 */
record Attack(String name, String user, int lanes, int rate, Step step) {
  static final String STRANGER = null;
  static final String NOBODY = "nobody";
  static final String MEMBER = "member";
  static final String OWNER = "owner";
  static final String PEER = "peer";

  /** One step. What it throws is counted, and closes the connections of the lane. */
  @FunctionalInterface
  interface Step {
    void run(Lane lane) throws Exception;
  }
}
