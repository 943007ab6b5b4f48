package dev.evenkeel.dispatcher.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.bus.LeaseChange;
import dev.evenkeel.protocol.Commands;
import dev.evenkeel.protocol.Drain;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.TopicConfig;
import dev.evenkeel.protocol.TopicInfo;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

class GroupShardsTest {
  private static final Shard SHARD = new Shard(1, 0);

  private final GroupShards book = new GroupShards();

  private static Lease owned(long epoch, String owner) {
    return Commands.lease("g", SHARD, epoch, owner, owner + "1", 10, -1, null, null);
  }

  @Property(tries = 200)
  void whateverTheOrderTheLastOfTheHistoryWins(@ForAll long seed) {
    Random random = new Random(seed);
    List<Lease> history = new ArrayList<>();
    for (int epoch = 1; epoch <= 4; epoch++) {
      Lease lease = owned(epoch, "m" + random.nextInt(3));
      history.add(lease);
      if (random.nextBoolean()) {
        history.add(lease.released(10, -1, null));
      }
    }
    Lease last = history.get(history.size() - 1);
    Collections.shuffle(history, random);
    GroupShards shuffled = new GroupShards();
    for (Lease lease : history) {
      if (random.nextBoolean()) {
        shuffled.hinted(LeaseChange.of(lease));
      } else {
        shuffled.answered(lease);
      }
    }
    assertThat(shuffled.get(SHARD).epoch()).isEqualTo(last.epoch());
    assertThat(shuffled.get(SHARD).instance()).isEqualTo(last.instance());
    assertThat(shuffled.ownedBy("m9")).isEmpty();
    if (last.owned()) {
      assertThat(shuffled.ownedBy(last.instance())).containsExactly(SHARD);
    }
  }

  @Test
  void readThatBeganBeforeAnAnswerIsOlderThanIt() {
    book.answered(owned(1, "a"));
    long mark = book.mark();
    Lease drained = owned(1, "a").draining(new Drain("b", 5));
    book.answered(drained);
    assertThat(book.read(SHARD, owned(1, "a"), mark)).isFalse();
    assertThat(book.get(SHARD)).isEqualTo(drained);
    assertThat(book.read(SHARD, owned(1, "a"), book.mark())).isTrue();
    assertThat(book.get(SHARD).drain()).isNull();
  }

  @Test
  void lowerEpochIsBelievedOnlyAfterADoubt() {
    book.answered(owned(5, "a"));
    assertThat(book.read(SHARD, owned(2, "b"), book.mark())).isFalse();
    long before = book.mark();
    book.doubt(SHARD);
    assertThat(book.read(SHARD, owned(2, "b"), before)).isFalse();
    assertThat(book.read(SHARD, owned(2, "b"), book.mark())).isTrue();
    assertThat(book.get(SHARD).owner()).isEqualTo("b");
    assertThat(book.ownedBy("a1")).isEmpty();
  }

  @Test
  void hintKeepsTheDrainThatItCannotKnow() {
    Lease drained = owned(1, "a").draining(new Drain("b", 5));
    book.answered(drained);
    book.hinted(LeaseChange.of(owned(1, "a").released(20, -1, null)));
    assertThat(book.get(SHARD).owned()).isFalse();
    assertThat(book.get(SHARD).drain()).isEqualTo(drained.drain());
    assertThat(book.get(SHARD).committed()).isEqualTo(20);
  }

  @Test
  void progressAloneIsNoChangeAndNeverGoesBack() {
    book.answered(owned(1, "a"));
    assertThat(book.hinted(LeaseChange.of(owned(1, "a").committedAt(30)))).isFalse();
    assertThat(book.hinted(LeaseChange.of(owned(1, "a").committedAt(20)))).isFalse();
    assertThat(book.get(SHARD).committed()).isEqualTo(30);
  }

  @Test
  void leasesGoWithTheirTopics() {
    TopicInfo topic = new TopicInfo(1, "t", 1, TopicConfig.DEFAULT, TopicInfo.State.ACTIVE, 0);
    book.answered(owned(1, "a"));
    book.retain(new Topics(List.of(topic)));
    assertThat(book.get(SHARD)).isNotNull();
    book.retain(new Topics(List.of()));
    assertThat(book.hinted(LeaseChange.forgotten(owned(1, "a")))).isFalse();
    assertThat(book.isEmpty()).isTrue();
    assertThat(book.ownedBy("a1")).isEmpty();
  }
}
