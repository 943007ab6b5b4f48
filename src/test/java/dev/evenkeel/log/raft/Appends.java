package dev.evenkeel.log.raft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.evenkeel.log.LogGroup;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/**
 * Entries that are appended one after another, and what became of each. On a slow machine another
 * node may lead at any moment: then an entry is refused, or nobody knows what became of it.
 */
final class Appends {
  private final Supplier<LogGroup> leader;
  private final List<String> acknowledged = new ArrayList<>();
  private final Set<String> unknown = new HashSet<>();
  private int tries;
  private long lastIndex;

  /**
   * @param leader waits for the group at a node that leads it
   */
  Appends(Supplier<LogGroup> leader) {
    this.leader = leader;
  }

  /** Tries until an entry that begins with the text is acknowledged. */
  void append(String text) {
    await()
        .atMost(TestNode.PATIENCE)
        .pollDelay(Duration.ZERO)
        .until(
            () -> {
              RefusedException refused = appendAt(leader.get(), text);
              if (refused != null) {
                assertThat(refused.refusal().retriable()).as("%s", refused).isTrue();
              }
              return refused == null;
            });
  }

  /** Tries once at one node; gives the refusal, or null if it was acknowledged. */
  RefusedException appendAt(LogGroup group, String text) {
    String entry = text + "#" + ++tries;
    CompletableFuture<ByteBuffer> reply = TestNode.append(group, entry);
    RefusedException refused = TestNode.refused(reply);
    if (refused == null) {
      acknowledged.add(entry);
      lastIndex = reply.join().getLong();
    } else if (refused.refusal() == Refusal.INDETERMINATE) {
      unknown.add(entry);
    }
    return refused;
  }

  /** Index of the last one that was acknowledged. */
  long lastIndex() {
    return lastIndex;
  }

  /** These are what was acknowledged, in its order and once; beside it what nobody knows of. */
  void assertAllIn(List<String> entries) {
    assertThat(entries).doesNotHaveDuplicates();
    assertThat(entries.stream().filter(entry -> !unknown.contains(entry)).toList())
        .isEqualTo(acknowledged);
  }
}
