package dev.evenkeel.chaos;

/** What a {@link Schedule} does to machines and programs, and undoes after a while. */
enum Fault {
  /** A node, or a client, hears nobody and is heard by nobody. */
  ISOLATE_NODE,
  ISOLATE_CLIENT,
  /** Two nodes do not hear each other; all others hear both. */
  BRIDGE,
  /** What one machine sends does not reach another; answers do. */
  ONE_WAY,
  /** A node and some clients are apart from all others, and hear each other. */
  SPLIT,
  /** A part of what a machine sends and receives is lost. */
  LOSS,
  /** What a machine sends comes late, and out of order. */
  DELAY,
  /** SIGSTOP, and SIGCONT. */
  PAUSE_NODE,
  PAUSE_CLIENT,
  /** SIGKILL, and a new start. */
  KILL_NODE,
  KILL_CLIENT,
  /** SIGTERM, and a new start. */
  STOP_NODE,
  STOP_CLIENT,
  /** SIGTERM and a new start of one node after the other. */
  ROLLING_RESTART,
  /** The disk of a node has that many MiB left. */
  FULL_DISK,
  /** The wall clock of a node is wrong by that many seconds. */
  CLOCK,
  /** Forcing files to the disk takes so many milliseconds more. */
  SLOW_FSYNC,
  /** Forcing files to the disk fails. */
  FAILING_FSYNC,
  /** SIGKILL, and a new start with an empty disk; then the node is replaced. */
  WIPE_DISK,
  /** SIGKILL, bytes that are damaged, and a new start; then the disk is wiped as above. */
  ROTTEN_BYTES;

  /** It takes a disk's data away: never two at a time, or more than one copy may be gone. */
  boolean destroysData() {
    return this == WIPE_DISK || this == ROTTEN_BYTES;
  }

  /** It stops and starts all nodes itself. */
  boolean isOfAllNodes() {
    return this == ROLLING_RESTART;
  }
}
