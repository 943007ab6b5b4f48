package dev.evenkeel.bench;

import dev.evenkeel.cli.Logging;
import dev.evenkeel.cli.Main;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/** {@code evenkeel bench}. */
@Command(
    name = "bench",
    mixinStandardHelpOptions = true,
    description = {
      "Measures what a cluster carries, and how long messages take.",
      "Without --cluster it starts nodes of its own, loads them from this program, and removes them"
          + " and their data. A message counts once it is acknowledged: fsynced by a majority."
    },
    footer = {
      "",
      "Examples:",
      "  evenkeel bench produce                            one node, messages of 100 bytes",
      "  evenkeel bench produce --size 1KiB --keys 1000 --nodes 3 --data /var/tmp",
      "  evenkeel bench single --rate 1",
      "  evenkeel bench batching",
      "  evenkeel bench consume --messages 2000000",
      "  evenkeel bench latency --rate 1000",
      "  evenkeel bench failover --rounds 5",
      "  evenkeel bench rebalance --repeats 20",
      "  evenkeel bench level --curve",
      "  evenkeel bench dedup --work 20ms",
      "  evenkeel bench delay --waiting 1000000",
      "",
      "Figures of two systems or versions can be compared only if they come from one machine, one",
      "disk and one hour. Repeat a run, and take the median."
    })
public final class BenchCommand implements Runnable {
  @Spec private CommandSpec spec;

  @ParentCommand private Main main;

  private final Target.Opener opener;

  private BenchCommand(Target.Opener opener) {
    this.opener = opener;
  }

  /** The command, for Evenkeel. */
  public static CommandLine line() {
    return line(EvenkeelTarget::open);
  }

  /**
   * @param opener opens the system to be measured
   */
  static CommandLine line(Target.Opener opener) {
    return new CommandLine(new BenchCommand(opener))
        .addSubcommand(new ProduceBench())
        .addSubcommand(new SingleBench())
        .addSubcommand(new BatchingBench())
        .addSubcommand(new ConsumeBench())
        .addSubcommand(new LatencyBench())
        .addSubcommand(new FailoverBench())
        .addSubcommand(new RebalanceBench())
        .addSubcommand(new RebalanceMember())
        .addSubcommand(new LevelBench())
        .addSubcommand(new DedupBench())
        .addSubcommand(new DelayBench());
  }

  Target open(BenchOptions options) {
    return opener.open(options);
  }

  /** To be called before anything logs. */
  void logging() {
    // Without a parent it is another system's, which has its own ways.
    Logging.client(main != null && main.verbose());
  }

  @Override
  public void run() {
    throw new ParameterException(
        spec.commandLine(),
        "a command is missing: produce, single, batching, consume, latency, failover, rebalance,"
            + " level, dedup or delay");
  }
}
