package dev.evenkeel.broker.machine;

import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.protocol.Commands;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.StateDigest;
import dev.evenkeel.protocol.TopicConfig;
import dev.evenkeel.protocol.wire.Entry;
import dev.evenkeel.protocol.wire.FeatureLevel;
import dev.evenkeel.storage.MemoryStore;
import dev.evenkeel.storage.Store;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Replicas that did the same have the same digest, and others another. */
class DigestTest {
  private static final Path DIRECTORY = Path.of("target", "digest", "d0");
  private static final long EVERY = DigestHistory.ENTRIES_BETWEEN;

  private static DataState open(MemoryStore.Disk disk) throws IOException {
    DataState state = States.data(DIRECTORY, disk::open, 1 << 20);
    state.open();
    return state;
  }

  private static void apply(DataState state, long index, byte[] entry) {
    Entries.apply(state, 1, index, ByteBuffer.wrap(entry));
  }

  private static byte[] shards(long now) {
    return Entry.of(Commands.openShards(1, "t", List.of(0, 1), TopicConfig.DEFAULT), now);
  }

  @Test
  void anEntryThatDidSomethingElseShowsFromItsPlaceOn() throws Exception {
    DataState one = open(new MemoryStore.Disk());
    DataState other = open(new MemoryStore.Disk());
    long planted = 3 * EVERY + 5;
    for (long index = 0; index < 5 * EVERY; index++) {
      long now = 1_000 + index;
      apply(one, index, index == 0 ? shards(now) : Entry.of(new DataCommand.Retain(), now));
      // As if a replica had read its own clock.
      long its = index == planted ? now + 1 : now;
      apply(other, index, index == 0 ? shards(its) : Entry.of(new DataCommand.Retain(), its));
    }
    StateDigest right = one.digest();
    StateDigest wrong = other.digest();
    assertThat(right.since()).isZero();
    assertThat(right.sums().keySet())
        .containsExactly(0L, EVERY, 2 * EVERY, 3 * EVERY, 4 * EVERY, 5 * EVERY)
        .isEqualTo(wrong.sums().keySet());
    assertThat(right.sums().headMap(planted)).isEqualTo(wrong.sums().headMap(planted));
    right
        .sums()
        .tailMap(planted)
        .forEach(
            (place, sum) ->
                assertThat(sum).as("at %d", place).isNotEqualTo(wrong.sums().get(place)));
  }

  @Test
  void aByteOfAMessageShows() {
    Rig one = Rig.opened();
    Rig other = Rig.opened();
    assertThat(one.data.digest()).isEqualTo(other.data.digest());
    one.append(Rig.SHARD, Rig.batch(7, 0, 0, 3));
    other.append(Rig.SHARD, Rig.batch(7, 0, 0, 3));
    assertThat(one.data.digest()).isEqualTo(other.data.digest());
    // The messages of an anonymous batch tell where they come from, and nothing else does.
    one.append(Rig.SHARD, Rig.batch(0, 0, 0, 3));
    other.append(Rig.SHARD, Rig.batch(0, 0, 1, 3).stamped(0, 0, 0));
    assertThat(one.data.digest()).isNotEqualTo(other.data.digest());
  }

  @Test
  void entriesThatAreReplayedCountOnce() {
    Rig rig = Rig.opened();
    rig.fill(Rig.SHARD, 3);
    StateDigest before = rig.data.digest();
    Entries.apply(rig.data, 1, 1, ByteBuffer.wrap(rig.log.get(1)));
    assertThat(rig.data.digest()).isEqualTo(before);
    rig.reopen();
    Entries.apply(rig.data, 1, 0, ByteBuffer.wrap(rig.log.get(0)));
    assertThat(rig.data.digest().sum()).isEqualTo(before.sum());
    assertThat(rig.data.digest().since()).isZero();
  }

  @Test
  void aSnapshotHasTheDigestOfItsState() throws Exception {
    Rig one = Rig.opened();
    one.fill(Rig.SHARD, 3);
    Path snapshot = one.directory.resolve("snapshot");
    one.data.snapshot(snapshot);
    Rig other = new Rig();
    other.data.restore(snapshot);
    assertThat(other.data.digest()).isEqualTo(digestWithoutPlaces(one));
    byte[] next = Entry.of(new DataCommand.Retain(), 2_000_000);
    apply(one.data, 2, next);
    apply(other.data, 2, next);
    assertThat(other.data.digest().sum()).isEqualTo(one.data.digest().sum());
  }

  /** Places before the last are not part of the state. */
  private static StateDigest digestWithoutPlaces(Rig rig) {
    StateDigest digest = rig.data.digest();
    return new StateDigest(
        digest.form(), digest.since(), digest.sums().tailMap(digest.sums().lastKey(), true));
  }

  /** As a build that makes digests in another way leaves it. */
  private static void replaceNote(MemoryStore.Disk disk, byte[] note) throws IOException {
    MemoryStore store = disk.open(DIRECTORY);
    try (Store.Write write = store.begin()) {
      write.commit(store.appliedTerm(), store.appliedIndex(), note);
    }
  }

  @Test
  void aStateWithADigestOfAnotherFormBeginsOne() throws Exception {
    MemoryStore.Disk disk = new MemoryStore.Disk();
    DataState state = open(disk);
    assertThat(state.digest().sum()).isZero();
    apply(state, 0, shards(1_000));
    state.close();
    replaceNote(disk, new byte[] {FeatureLevel.FIRST, 99, 1, 2});
    state = open(disk);
    assertThat(state.digest().since()).isEqualTo(1);
    assertThat(state.digest().sum()).isZero();
    apply(state, 1, Entry.of(new DataCommand.Retain(), 2_000));
    state.close();
    StateDigest again = open(disk).digest();
    assertThat(again.since()).isEqualTo(1);
    assertThat(again.sum()).isNotZero();
  }

  @Test
  void theOrderOfChangesDoesNotDependOnWhatWasThereBefore() {
    Rig lived = Rig.opened();
    // Tables that grew and shrank keep another order than those that were read back.
    int many = 500;
    for (int i = 0; i < many; i++) {
      String group = i % 10 == 0 ? "g" : "former";
      Reply reply =
          lived.run(
              new DataCommand.OpenPublisher(1 + i * 977L, 1, group, new Shard(9, many - i), true));
      assertThat(reply).isEqualTo(Reply.DONE);
    }
    times(many, i -> lived.run(new DataCommand.OpenProducer(1_000_000 + i * 65_537L, 0)));
    lived.run(Commands.forgetLeases("former"));

    Rig restarted = Rig.opened();
    lived.log.subList(1, lived.log.size()).forEach(restarted::entry);
    restarted.reopen();
    assertThat(restarted.data.digest().sum()).isEqualTo(lived.data.digest().sum());

    lived.run(Commands.forgetLeases("g"));
    restarted.entry(lived.log.get(lived.log.size() - 1));
    assertThat(restarted.data.digest().sum()).as("group").isEqualTo(lived.data.digest().sum());
    // The time of the log goes on by two minutes an entry at most.
    for (int i = 0; i < 8 * 24 * 30; i++) {
      lived.now += 120_000;
      lived.run(new DataCommand.Retain());
    }
    lived.log.subList(restarted.log.size(), lived.log.size()).forEach(restarted::entry);
    assertThat(lived.tables().ordinaryProducers()).isZero();
    assertThat(restarted.data.digest().sum()).as("producers").isEqualTo(lived.data.digest().sum());
  }
}
