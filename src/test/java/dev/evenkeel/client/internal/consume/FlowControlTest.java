package dev.evenkeel.client.internal.consume;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.Random;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

class FlowControlTest {

  @Property(tries = 200)
  void pausesAtALimitAndResumesBelowHalfOfBoth(
      @ForAll long seed,
      @ForAll @IntRange(min = 1, max = 5000) int messagesMax,
      @ForAll @IntRange(min = 1, max = 100_000) int bytesMax) {
    Random random = new Random(seed);
    FlowControl flow = new FlowControl(messagesMax, bytesMax);
    ArrayDeque<Integer> pending = new ArrayDeque<>();
    long bytes = 0;
    boolean paused = false;
    for (int i = 0; i < 2000; i++) {
      if (pending.isEmpty() || flow.mayFetch(false) && random.nextInt(3) > 0) {
        int more = random.nextInt(200);
        flow.added(1, more);
        pending.add(more);
        bytes += more;
        paused |= pending.size() >= messagesMax || bytes >= bytesMax;
      } else {
        int fewer = pending.remove();
        boolean resumed = flow.removed(1, fewer);
        bytes -= fewer;
        boolean below = pending.size() * 2 < messagesMax && bytes * 2 < bytesMax;
        assertThat(resumed).isEqualTo(paused && below);
        paused &= !below;
      }
      assertThat(flow.paused).isEqualTo(paused);
      assertThat(flow.mayFetch(false)).isEqualTo(!paused);
      assertThat(flow.mayFetch(true)).isTrue();
      assertThat(flow.messages).isEqualTo(pending.size());
      assertThat(flow.bytes).isEqualTo(bytes);
    }
  }

  @Example
  void aBatchWithoutRoomIsRefusedAndFetchingPauses() {
    FlowControl flow = new FlowControl(100, 1_000);
    flow.added(60, 600);
    assertThat(flow.takes(40, 400)).isTrue();
    assertThat(flow.paused).isFalse();
    assertThat(flow.takes(40, 401)).isFalse();
    assertThat(flow.paused).isTrue();
    assertThat(flow.takes(41, 400)).isFalse();
  }

  @Example
  void manyShardsShareTheMessages() {
    FlowControl flow = new FlowControl(3000, 16 << 20);
    assertThat(flow.fetchMessages(1)).isEqualTo(1500);
    assertThat(flow.fetchMessages(4)).isEqualTo(375);
    assertThat(flow.fetchMessages(10_000)).isEqualTo(FlowControl.FETCH_MESSAGES_MIN);
    flow.added(2_990, 0);
    assertThat(flow.fetchMessages(1)).isEqualTo(10);
    flow.added(2_990, 0);
    assertThat(flow.fetchMessages(1)).as("a batch of a shard with nothing pending").isEqualTo(1);
  }

  @Example
  void manyShardsShareTheBytes() {
    FlowControl flow = new FlowControl(3000, 16 << 20);
    assertThat(flow.fetchBytes(1 << 20, 1)).isEqualTo(1 << 20);
    assertThat(flow.fetchBytes(1 << 20, 32)).isEqualTo(256 << 10);
    assertThat(flow.fetchBytes(1 << 20, 10_000)).isEqualTo(FlowControl.FETCH_BYTES_MIN);
    assertThat(flow.fetchBytes(1000, 10_000)).isEqualTo(1000);
  }
}
