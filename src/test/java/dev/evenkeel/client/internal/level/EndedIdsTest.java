package dev.evenkeel.client.internal.level;

import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.bus.level.MessageId;
import dev.evenkeel.protocol.Shard;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.TreeSet;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

class EndedIdsTest {
  private static final int MOST = 200;

  /** Beside a set that is slow and surely right. */
  @Property(tries = 300)
  void remembersWhatIsNotCommittedAndTheLatestOfThat(@ForAll long seed) {
    Random random = new Random(seed);
    EndedIds ended = new EndedIds(MOST);
    List<TreeSet<Long>> model = List.of(new TreeSet<>(), new TreeSet<>(), new TreeSet<>());
    long top = 0;
    for (int step = 0; step < 2_000; step++) {
      int shard = random.nextInt(model.size());
      TreeSet<Long> offsets = model.get(shard);
      if (random.nextInt(40) == 0) {
        long offset = Math.max(0, top - random.nextInt(120));
        ended.committed(new Shard(1, shard), offset);
        offsets.headSet(offset).clear();
      } else {
        long offset = Math.max(0, top++ - random.nextInt(20));
        int before = model.stream().mapToInt(TreeSet::size).sum();
        ended.add(new MessageId(new Shard(1, shard), offset, 0));
        if (offsets.add(offset) && before == MOST) {
          assertThat(ended.all().size()).isEqualTo(MOST);
          // Which of equally full shards loses one is open.
          times(model.size(), i -> model.get(i).retainAll(of(ended, i)));
        }
      }
      assertThat(ended.all().size()).isEqualTo(model.stream().mapToInt(TreeSet::size).sum());
    }
    times(model.size(), i -> assertThat(of(ended, i)).containsExactlyElementsOf(model.get(i)));
  }

  @Test
  void afterAResetOnlyWhatWasDealtSinceCounts() {
    EndedIds ended = new EndedIds(MOST);
    Shard shard = new Shard(1, 0);
    ended.add(new MessageId(shard, 7, 0));
    ended.add(new MessageId(new Shard(1, 1), 8, 0));
    ended.add(new MessageId(shard, 2, 1));
    ended.add(new MessageId(shard, 9, 0));
    assertThat(ended.all())
        .containsExactlyInAnyOrder(
            new MessageId(shard, 2, 1), new MessageId(new Shard(1, 1), 8, 0));
    assertThat(ended.all().size()).isEqualTo(2);
    ended.committed(shard, 3);
    assertThat(ended.all().size()).isEqualTo(1);
  }

  private static List<Long> of(EndedIds ended, int shard) {
    List<Long> offsets = new ArrayList<>();
    for (MessageId id : ended.all()) {
      if (id.shard().shard() == shard) {
        offsets.add(id.offset());
      }
    }
    return offsets;
  }
}
