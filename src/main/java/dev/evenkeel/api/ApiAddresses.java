package dev.evenkeel.api;

/** The event-bus addresses at which the gateways answer. */
public final class ApiAddresses {
  public static final String PRODUCE = "evenkeel.api.produce";
  public static final String TOPICS = "evenkeel.api.topics";
  public static final String MESSAGES = "evenkeel.api.messages";
  public static final String DELAYED = "evenkeel.api.delayed";
  public static final String GROUPS = "evenkeel.api.groups";
  public static final String CLUSTER = "evenkeel.api.cluster";
  public static final String SHARES = "evenkeel.api.shares";
  public static final String QUOTAS = "evenkeel.api.quotas";
  public static final String USERS = "evenkeel.api.users";
  public static final String DEDUP = "evenkeel.api.dedup";
  public static final String COORDINATORS = "evenkeel.api.coordinators";
  public static final String SESSIONS = "evenkeel.api.sessions";
  public static final String ELECTIONS = "evenkeel.api.elections";

  private ApiAddresses() {}
}
