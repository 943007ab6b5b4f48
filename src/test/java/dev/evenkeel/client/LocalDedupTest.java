package dev.evenkeel.client;

import static dev.evenkeel.Futures.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class LocalDedupTest {
  private final Dedup dedup = Dedup.local(new DedupOptions());

  /** The claim that waits begins while the first one is still being given back. */
  @Test
  void aSecondGiveBackDuringTheFirstOneHasTheSameResult() {
    DedupClaim first = await(dedup.claim("k")).orElseThrow();
    List<Future<Boolean>> again = new ArrayList<>();
    dedup.claim("k").onSuccess(turn -> again.add(first.giveBack()));
    assertThat(await(first.giveBack())).isTrue();
    assertThat(again).singleElement().satisfies(same -> assertThat(await(same)).isTrue());
    assertThat(dedup.counts().working()).as("it was given back once").isEqualTo(1);
  }
}
