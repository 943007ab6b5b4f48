package dev.evenkeel.cli;

import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.client.Source;
import dev.evenkeel.client.SourcePosition;
import dev.evenkeel.client.SpoolingProducer;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.Message;
import io.vertx.core.Future;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class SpoolRunTest {
  private final List<String> spooled = new ArrayList<>();
  private final List<SourcePosition> positions = new ArrayList<>();
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();
  private SourcePosition start = SourcePosition.START;

  /** A position never runs ahead of the lines that are in the spool, at any rate. */
  @Property(tries = 20)
  void eachPositionStandsBehindExactlyTheLinesBeforeIt(
      @ForAll @IntRange(min = 0, max = 60) int lines, @ForAll boolean paced) throws Exception {
    StringBuilder text = new StringBuilder();
    times(lines, i -> text.append("line ").append(i).append(i % 3 == 0 ? "\r\n" : "\n"));
    byte[] bytes = text.toString().getBytes(StandardCharsets.US_ASCII);
    List<Integer> counts = new ArrayList<>();
    SpoolRun run = new SpoolRun(producer(counts), settings(paced ? 1_000.0 : null), stream());
    run.read(new ByteArrayInputStream(bytes));
    assertThat(run.await(1_000, 1_000)).isTrue();
    for (int i = 0; i < positions.size(); i++) {
      SourcePosition position = positions.get(i);
      assertThat(position.lines()).isEqualTo(counts.get(i).longValue());
      long lineEnds =
          new String(Arrays.copyOf(bytes, (int) position.bytes()), StandardCharsets.US_ASCII)
              .lines()
              .count();
      assertThat(lineEnds).isEqualTo(position.lines());
    }
    assertThat(positions.get(positions.size() - 1))
        .isEqualTo(new SourcePosition(bytes.length, lines, 0, true));
    assertThat(spooled).hasSize(lines);
  }

  @Test
  void aLineThatIsTooLongIsCountedAndNotSent() throws Exception {
    byte[] text = new byte[Limits.PAYLOAD_BYTES_MAX + 8];
    Arrays.fill(text, (byte) 'x');
    text[1] = '\n';
    text[text.length - 3] = '\n';
    SpoolRun run = new SpoolRun(producer(new ArrayList<>()), settings(null), stream());
    run.read(new ByteArrayInputStream(text));
    assertThat(run.await(1_000, 1_000)).isFalse();
    assertThat(spooled).containsExactly("x", "xx");
    assertThat(positions.get(positions.size() - 1))
        .isEqualTo(new SourcePosition(text.length, 3, 1, true));
    assertThat(err.toString(StandardCharsets.UTF_8)).contains("line 2 has 1048");
  }

  @Test
  void itGoesOnBehindAPositionAndAFileThatEndedMayHaveGrown() throws Exception {
    start = new SourcePosition(100, 10, 1, true);
    SpoolRun again = new SpoolRun(producer(new ArrayList<>()), settings(null), stream());
    again.read(new ByteArrayInputStream(new byte[0]));
    assertThat(positions).isEmpty();
    assertThat(again.linesRead()).isEqualTo(10);
    SpoolRun more = new SpoolRun(producer(new ArrayList<>()), settings(null), stream());
    more.read(new ByteArrayInputStream("more\n".getBytes(StandardCharsets.US_ASCII)));
    assertThat(positions.get(positions.size() - 1)).isEqualTo(new SourcePosition(105, 11, 1, true));
  }

  private static ProduceRun.Settings settings(Double rate) {
    return new ProduceRun.Settings(KeyExtractor.NONE, Map.of(), rate, Duration.ZERO);
  }

  private PrintStream stream() {
    return new PrintStream(err, true, StandardCharsets.UTF_8);
  }

  /** One that has everything acknowledged at once. */
  private SpoolingProducer producer(List<Integer> counts) throws IOException {
    spooled.clear();
    positions.clear();
    return (SpoolingProducer)
        Proxy.newProxyInstance(
            getClass().getClassLoader(),
            new Class<?>[] {SpoolingProducer.class},
            (proxy, method, args) ->
                switch (method.getName()) {
                  case "opened" ->
                      new SpoolingProducer.Opened(new Source("/f", new byte[0]), start, 0, null);
                  case "status" ->
                      new SpoolingProducer.Status(
                          spooled.size() + start.lines(),
                          spooled.size() + start.lines(),
                          0,
                          0,
                          -1,
                          0);
                  case "flush" -> Future.succeededFuture();
                  case "ended" -> io.vertx.core.Promise.<Void>promise().future();
                  case "spoolAll" -> {
                    for (Object each : (List<?>) args[0]) {
                      spooled.add(
                          new String(((Message) each).payload(), StandardCharsets.US_ASCII));
                    }
                    positions.add((SourcePosition) args[1]);
                    counts.add(spooled.size());
                    yield null;
                  }
                  default -> throw new UnsupportedOperationException(method.getName());
                });
  }
}
