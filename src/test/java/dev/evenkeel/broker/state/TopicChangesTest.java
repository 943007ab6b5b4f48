package dev.evenkeel.broker.state;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class TopicChangesTest {
  private final TopicChanges changes = new TopicChanges();

  private void entry(long index, int... topics) {
    for (int topic : topics) {
      changes.changed(index, topic);
    }
    changes.applied(index);
  }

  @Test
  void laterChangesAreNamedOnce() {
    assertThat(changes.since(5)).isNull();
    entry(10, 1, 2);
    assertThat(changes.since(9)).isNull();
    assertThat(changes.since(10)).isEmpty();
    entry(11, 3);
    entry(12);
    entry(14, 3, 4);
    assertThat(changes.since(10)).containsExactlyInAnyOrder(3, 4);
    assertThat(changes.since(11)).containsExactlyInAnyOrder(3, 4);
    assertThat(changes.since(14)).isEmpty();
    assertThat(changes.since(20)).isEmpty();
  }

  @Test
  void whatWasLongAgoIsUnknown() {
    entry(1);
    for (int i = 2; i < TopicChanges.CHANGES_MAX + 12; i++) {
      entry(i, i);
    }
    assertThat(changes.since(1)).isNull();
    assertThat(changes.since(10)).isNull();
    assertThat(changes.since(11)).hasSize(TopicChanges.CHANGES_MAX);
  }
}
