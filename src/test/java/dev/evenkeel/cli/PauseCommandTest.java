package dev.evenkeel.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import dev.evenkeel.Closing;
import java.io.IOException;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** {@code group pause} and {@code group resume}. */
class PauseCommandTest {
  private final List<String> changes = new ArrayList<>();

  @Closing private final StubApi api = new StubApi("/api/groups", this::answer);

  private void answer(HttpExchange exchange) throws IOException {
    changes.add(StubApi.read(exchange));
    StubApi.answer(exchange, 200, Map.of());
  }

  private String group(String... args) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    assertThat(api.run(out, err, "group", args)).as("%s", err).isZero();
    return out.toString();
  }

  @Test
  void theySendWhatIsGiven() {
    assertThat(group("pause", "g")).isEqualTo("paused group g\n");
    assertThat(group("pause", "g", "--topic", "t")).isEqualTo("paused t of group g\n");
    assertThat(group("resume", "g", "--topic", "t", "--shard", "2"))
        .isEqualTo("resumed t/2 of group g\n");
    assertThat(changes)
        .containsExactly(
            "POST /api/groups/g/pause {}",
            "POST /api/groups/g/pause {\"topic\":\"t\"}",
            "POST /api/groups/g/resume {\"topic\":\"t\",\"shard\":2}");
  }
}
