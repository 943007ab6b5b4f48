package dev.evenkeel.bench;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

class FlatBenchTest {
  /** A system in memory, whose consumers get a half of what is sent. */
  private static final class Memory implements Target {
    private Arrival arrival;
    private volatile long sent;
    private int looks;

    @Override
    public JsonObject describe() {
      return new JsonObject().put("system", "memory");
    }

    @Override
    public void createTopic(String topic, int shards) {}

    @Override
    public Sender sender(String topic) {
      return new Sender() {
        @Override
        public void send(byte[] key, byte[] payload, Done done) {
          if (++sent % 2 == 0) {
            arrival.arrived(payload);
          }
          done.done(null);
        }

        @Override
        public void close() {}
      };
    }

    @Override
    public Receiver receiver(String topic, String group, Arrival gets) {
      arrival = gets;
      return () -> {};
    }

    @Override
    public List<String> memberCommand(String topic, String group, String member) {
      throw new UnsupportedOperationException();
    }

    @Override
    public long stored(String topic) {
      return sent;
    }

    /** Each part begins and ends with a look, and writes three bytes for each of two. */
    @Override
    public DiskWrites diskWrites(String topic, List<String> urls) {
      looks++;
      return DiskWrites.of(Map.of("n1", 30.0 * looks, "n2", 20.0 * looks), 20L * looks);
    }

    @Override
    public void close() {}
  }

  @Test
  void eachPartHasItsRateItsWritesAndWhatTheGroupHasNotRead() {
    Memory memory = new Memory();
    CommandLine line = BenchCommand.line(options -> memory);
    StringWriter out = new StringWriter();
    line.setOut(new PrintWriter(out));
    String[] args = {"flat", "--bytes=3000B", "--part=1000B", "--size=10B", "--warmup=0ms"};
    line.setCaseInsensitiveEnumValuesAllowed(true);
    assertThat(line.execute(args)).isZero();
    JsonObject json = new JsonObject(out.toString().lines().reduce((a, b) -> b).orElseThrow());
    JsonArray parts = json.getJsonArray("parts");
    assertThat(parts).hasSize(3);
    for (int i = 0; i < 3; i++) {
      JsonObject part = parts.getJsonObject(i);
      assertThat(part.getInteger("part")).isEqualTo(i + 1);
      assertThat(part.getLong("messagesPerSecond")).isPositive();
      assertThat(part.getDouble("writtenRatio")).isEqualTo(1.5);
      assertThat(part.getLong("unread")).isEqualTo(memory.sent / 2 - 50 * (2 - i));
    }
    assertThat(parts.getJsonObject(0).getDouble("ofFirst")).isEqualTo(1.0);
    assertThat(json.getDouble("lastOfFirst"))
        .isEqualTo(parts.getJsonObject(2).getDouble("ofFirst"));
    assertThat(json.getLong("unread")).isEqualTo(memory.sent / 2);
  }
}
