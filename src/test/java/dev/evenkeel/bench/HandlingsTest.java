package dev.evenkeel.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.Set;
import org.junit.jupiter.api.Test;

class HandlingsTest {
  private final Handlings handlings = new Handlings(2);

  private void handled(String member, long millis, int shard, long offset) {
    handlings.add(member, new HandledLine(millis * 1_000, shard, offset, 1, "k", offset));
  }

  @Test
  void aLineIsReadAsItWasWrittenAndOneThatWasCutOffIsNot() {
    byte[] payload = "key-7 42 ......".getBytes(StandardCharsets.US_ASCII);
    String line = HandledLine.format(3, 99, 5, payload);
    HandledLine read = HandledLine.parse(line);
    assertThat(read).isEqualTo(new HandledLine(read.micros(), 3, 99, 5, "key-7", 42));
    assertThat(HandledLine.parse(line.substring(0, line.lastIndexOf(' ')))).isNull();
    assertThat(HandledLine.parse("warning 1 2 3 4 k 5")).isNull();
  }

  @Test
  void pausesAreReadOffTheMessages() {
    for (int i = 0; i <= 10; i++) {
      handled("a", i * 10, 0, i);
      handled("a", i * 10 + 5, 1, i);
    }
    // At 100 shard 1 goes to b, which begins with two messages that a has handled.
    handled("a", 130, 0, 11);
    handled("b", 305, 1, 9);
    handled("b", 306, 1, 10);
    handled("b", 307, 1, 11);
    Handlings.Change change = handlings.change(100_000);
    assertThat(change.movedMillis()).containsExactly(200.0);
    assertThat(change.stayedMillis()).containsExactly(30.0);
    assertThat(change.steadyMillis()).containsExactly(10.0, 10.0);
    assertThat(change.moves()).isEqualTo(1);
    assertThat(change.duplicates()).isEqualTo(2);
    assertThat(handlings.owners()).containsExactly("a", "b");
    assertThat(handlings.servedSince(130_000, Set.of("a", "b"))).isTrue();
    assertThat(handlings.servedSince(131_000, Set.of("a", "b"))).isFalse();
    assertThat(handlings.servedSince(0, Set.of("b"))).isFalse();
  }

  @Test
  void aRoundForgetsWhatWasBefore() {
    handled("a", 10, 0, 0);
    handled("a", 10, 0, 0);
    handled("a", 20, 0, 1);
    handlings.begin(15_000);
    handled("a", 40, 0, 1);
    Handlings.Change change = handlings.change(30_000);
    assertThat(change.duplicates()).isEqualTo(1);
    assertThat(change.stayedMillis()).containsExactly(20.0, 0.0);
    assertThat(handlings.handled()).isEqualTo(4);
  }
}
