package dev.evenkeel.log.raft;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CompletableFuture;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.junit.jupiter.api.Test;

class RecentBodiesTest {
  private final RecentBodies recent = new RecentBodies(() -> 10_000, () -> 3_000);

  /**
   * @param bytes what the body costs
   */
  private CompletableFuture<Void> put(long term, long index, int bytes) {
    CompletableFuture<Void> written = new CompletableFuture<>();
    recent.put(
        index,
        new RecentBodies.Recent(
            term, ByteString.copyFrom(new byte[bytes - LogMemory.BODY_BYTES]), written));
    return written;
  }

  @Test
  void aBodyReplacesThoseAboveAndBelongsToItsTerm() {
    put(1, 5, 1_000);
    put(1, 6, 1_000);
    put(1, 7, 1_000);
    put(2, 6, 2_000);
    assertThat(recent.get(1, 5)).isNotNull();
    assertThat(recent.get(1, 6)).isNull();
    assertThat(recent.get(2, 6)).isNotNull();
    assertThat(recent.get(1, 7)).isNull();
    assertThat(recent.bytes()).isEqualTo(3_000);
    recent.dropFrom(6);
    assertThat(recent.get(2, 6)).isNull();
    assertThat(recent.bytes()).isEqualTo(1_000);
  }

  @Test
  void theOldestAreForgottenBeyondTheLimitButNotBeforeTheyAreWritten() {
    CompletableFuture<Void> first = put(1, 1, 6_000);
    CompletableFuture<Void> second = put(1, 2, 6_000);
    second.complete(null);
    recent.trim();
    assertThat(recent.bytes()).isEqualTo(12_000);
    first.complete(null);
    recent.trim();
    assertThat(recent.get(1, 1)).isNull();
    assertThat(recent.get(1, 2)).isNotNull();
    assertThat(recent.bytes()).isEqualTo(6_000);
  }

  @Test
  void ofThoseThatAreAppliedTheNewestStayForFollowers() {
    for (int i = 1; i <= 5; i++) {
      put(1, i, 2_000).complete(null);
    }
    assertThat(recent.bytes()).isEqualTo(10_000);
    recent.applied(3);
    assertThat(recent.get(1, 3)).isNull();
    assertThat(recent.get(1, 4)).as("not applied").isNotNull();
    recent.applied(5);
    assertThat(recent.get(1, 4)).isNull();
    assertThat(recent.get(1, 5)).isNotNull();
  }
}
