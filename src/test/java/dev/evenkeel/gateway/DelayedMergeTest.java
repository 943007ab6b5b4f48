package dev.evenkeel.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.protocol.DelayedId;
import dev.evenkeel.protocol.wire.DelayedAnswer;
import dev.evenkeel.protocol.wire.DelayedAnswer.DelayedCopy;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class DelayedMergeTest {
  private static DelayedCopy waiting(int shard, long due) {
    return new DelayedCopy(new DelayedId(shard, due, due, 0), new byte[(int) due % 50]);
  }

  @Test
  void aPageEndsWhereAShardHasNotSearched() {
    DelayedMerge merge = new DelayedMerge(10, 1_000);
    merge.add(new DelayedAnswer(List.of(waiting(0, 1), waiting(0, 5)), null));
    merge.add(new DelayedAnswer(List.of(waiting(1, 2)), new DelayedId(1, 4, 0, 0)));
    assertThat(merge.messages())
        .extracting(DelayedCopy::id)
        .containsExactly(waiting(0, 1).id(), waiting(1, 2).id());
    assertThat(merge.next()).isEqualTo(new DelayedId(1, 4, 0, 0));
  }

  @Test
  void aLargeMessageIsAPageOfItsOwn() {
    DelayedMerge merge = new DelayedMerge(10, 10);
    merge.add(new DelayedAnswer(List.of(waiting(0, 49), waiting(0, 99)), null));
    assertThat(merge.messages()).extracting(DelayedCopy::id).containsExactly(waiting(0, 49).id());
    assertThat(merge.next()).isEqualTo(waiting(0, 99).id());
  }

  /** Shards that answer with any part of what they have, pages of any size. */
  @Property(tries = 300)
  void allPagesTogetherHaveEachMessageOnceByDueTime(
      @ForAll long seed, @ForAll @IntRange(min = 1, max = 8) int limit) {
    Random random = new Random(seed);
    List<List<DelayedCopy>> shards = new ArrayList<>();
    for (int shard = 0; shard < 4; shard++) {
      int number = shard;
      shards.add(
          IntStream.range(0, 30)
              .filter(due -> random.nextInt(3) == 0)
              .mapToObj(due -> waiting(number, due))
              .toList());
    }
    List<DelayedCopy> all = new ArrayList<>();
    DelayedId from = DelayedId.first(0);
    for (int pages = 0; from != null; pages++) {
      assertThat(pages).isLessThan(1_000);
      DelayedMerge merge = new DelayedMerge(limit, 1 + random.nextInt(500));
      List<Integer> order = new ArrayList<>(List.of(0, 1, 2, 3));
      Collections.shuffle(order, random);
      for (int shard : order) {
        DelayedId begin = from.in(shard);
        List<DelayedCopy> left =
            shards.get(shard).stream().filter(each -> each.id().compareTo(begin) >= 0).toList();
        int some = Math.min(left.size(), 1 + random.nextInt(limit));
        DelayedId next = some < left.size() ? left.get(some).id() : null;
        merge.add(new DelayedAnswer(left.subList(0, some), next));
      }
      assertThat(merge.messages()).hasSizeLessThanOrEqualTo(limit);
      all.addAll(merge.messages());
      from = merge.next();
    }
    assertThat(all).extracting(DelayedCopy::id).isSorted();
    assertThat(all).hasSize(shards.stream().mapToInt(List::size).sum());
  }
}
