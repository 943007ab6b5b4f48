package dev.evenkeel.protocol.wire;

import dev.evenkeel.protocol.Compression;
import dev.evenkeel.protocol.Message;
import java.nio.charset.StandardCharsets;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/** What a node spends on each message before it takes its batch: the checksum, and the walk. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class BatchCheckBenchmark {
  private static final int MESSAGES = 2_000;
  private static final int PAYLOAD_BYTES = 100;

  @Param({"NONE", "LZ4", "ZSTD"})
  public Compression compression;

  private Batch batch;

  @Setup
  public void setUp() {
    SplittableRandom random = new SplittableRandom(1);
    BatchBuilder builder = new BatchBuilder(1 << 18, BatchPacker.of(compression));
    for (int i = 0; i < MESSAGES; i++) {
      StringBuilder line = new StringBuilder(PAYLOAD_BYTES);
      line.append("{\"level\":\"INFO\",\"order\":").append(random.nextInt(1_000_000));
      line.append(",\"customer\":\"").append(Long.toHexString(random.nextLong()));
      line.append("\",\"message\":\"order received\"}");
      while (line.length() < PAYLOAD_BYTES) {
        line.append(' ');
      }
      byte[] payload = line.substring(0, PAYLOAD_BYTES).getBytes(StandardCharsets.US_ASCII);
      builder.add(Message.of("customer-" + i % 500, 1_000 + i, payload));
    }
    batch = builder.build(1, 0, 0);
  }

  @Benchmark
  @OperationsPerInvocation(MESSAGES)
  public Batch checksum() {
    return batch.verified();
  }

  @Benchmark
  @OperationsPerInvocation(MESSAGES)
  public Batch messages() {
    return batch.checkMessages();
  }
}
