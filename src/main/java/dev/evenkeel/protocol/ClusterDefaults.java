package dev.evenkeel.protocol;

/** Defaults of a cluster's address and name. */
public final class ClusterDefaults {
  private ClusterDefaults() {}

  public static final String HOST = "127.0.0.1";

  /** Base of a node's ports, see {@link NodePorts}. */
  public static final int PORT = 5701;

  public static final String CLUSTER_NAME = "evenkeel";

  /** Time within which a node must answer an application that connects. */
  public static final long CONNECT_TIMEOUT_MILLIS = 30_000;
}
