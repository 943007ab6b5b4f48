package dev.evenkeel.bench;

import dev.evenkeel.cli.CommandGroup;
import dev.evenkeel.cli.Subcommands;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/** {@code evenkeel bench}. */
@Command(
    name = "bench",
    description = {
      "Measures the throughput and the latency of a cluster.",
      "Without --cluster it starts nodes of its own, and removes them and their data afterwards. A"
          + " message counts when it is acknowledged: a majority has fsynced it."
    },
    footer = {
      "  evenkeel bench produce                            one node, messages of 100 bytes",
      "  evenkeel bench produce --size 1KiB --keys 1000 --nodes 3 --data /var/tmp",
      "  evenkeel bench single --rate 1",
      "  evenkeel bench batching",
      "  evenkeel bench flat --size 1KiB --data /var/tmp",
      "  evenkeel bench compression --size 500B",
      "  evenkeel bench recovery --size 1KiB --nodes 3 --data /var/tmp",
      "  evenkeel bench consume --messages 2000000",
      "  evenkeel bench latency --rate 1000",
      "  evenkeel bench failover --rounds 5",
      "  evenkeel bench rebalance --repeats 20",
      "  evenkeel bench level --curve",
      "  evenkeel bench dedup --work 20ms",
      "  evenkeel bench delay --waiting 1000000",
      "  evenkeel bench filter --shards 2",
      "",
      "Figures of two systems or versions can be compared only if they come from one machine, one",
      "disk and one hour. Repeat a run, and take the median."
    })
public final class BenchCommand extends CommandGroup implements Subcommands, Target.Opener {
  private final Target.Opener opener;

  /** Measures Evenkeel. */
  public BenchCommand() {
    this(EvenkeelTarget::open);
  }

  private BenchCommand(Target.Opener opener) {
    super(
        "produce, single, batching, flat, compression, recovery, consume, latency, failover,"
            + " rebalance, level, dedup, delay or filter");
    this.opener = opener;
  }

  @Override
  public List<CommandLine> commands() {
    return List.of(line(opener));
  }

  /**
   * @param opener connects to the system to be measured
   */
  static CommandLine line(Target.Opener opener) {
    return new CommandLine(new BenchCommand(opener))
        .addSubcommand(new ProduceBench().line())
        .addSubcommand(new SingleBench().line())
        .addSubcommand(new BatchingBench().line())
        .addSubcommand(new FlatBench().line())
        .addSubcommand(new CompressionBench().line())
        .addSubcommand(new RecoveryBench().line())
        .addSubcommand(new ConsumeBench().line())
        .addSubcommand(new LatencyBench().line())
        .addSubcommand(new FailoverBench().line())
        .addSubcommand(new RebalanceBench().line())
        .addSubcommand(new RebalanceMember().line())
        .addSubcommand(new LevelBench().line())
        .addSubcommand(new DedupBench().line())
        .addSubcommand(new DelayBench().line())
        .addSubcommand(new FilterBench().line());
  }

  @Override
  public Target open(BenchOptions options) {
    return opener.open(options);
  }
}
