package dev.evenkeel.cli;

/** One run of a node. */
final class ServeRun {
  ServeRun(NodeConfig config) {}

  int run() {
    return ExitStatus.FAILED;
  }
}
