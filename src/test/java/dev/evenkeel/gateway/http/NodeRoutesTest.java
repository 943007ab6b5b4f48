package dev.evenkeel.gateway.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.vertx.core.buffer.Buffer;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class NodeRoutesTest {
  private final AtomicInteger writes = new AtomicInteger();

  private String metrics(int failures) {
    if (writes.incrementAndGet() <= failures) {
      throw new IllegalArgumentException("Duplicate labels");
    }
    return "metric 1";
  }

  @Test
  void aMeterThatIsFoundTwiceForAMomentIsNoError() {
    assertThat(NodeRoutes.written(() -> metrics(2))).isEqualTo(Buffer.buffer("metric 1"));
    assertThat(writes).hasValue(3);
  }

  @Test
  void aMeterThatIsAlwaysFoundTwiceIsAnError() {
    assertThatThrownBy(() -> NodeRoutes.written(() -> metrics(99)))
        .hasMessageContaining("Duplicate labels");
    assertThat(writes).hasValue(5);
  }
}
