package dev.evenkeel.broker.machine;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

/** Replicas and restarted nodes come to the same state, byte for byte, and to the same replies. */
class ReplayTest {
  private static List<byte[]> entries(List<Integer> numbers) {
    List<byte[]> entries = new ArrayList<>();
    long now = 1_000;
    for (int number : numbers) {
      entries.add(new Dice(number).entry(now));
      now += Math.floorMod(number, 40);
    }
    return entries;
  }

  private static List<byte[]> run(Rig rig, List<byte[]> entries) {
    List<byte[]> replies = new ArrayList<>();
    entries.forEach(entry -> replies.add(rig.entry(entry).array()));
    return replies;
  }

  private static void apply(Rig rig, List<byte[]> entries, int from, int to) {
    for (int i = from; i < to; i++) {
      // Index 0 is the entry that opened the shards.
      Entries.apply(rig.data, 1, i + 1, ByteBuffer.wrap(entries.get(i)));
    }
  }

  @Property(tries = 200)
  void anotherReplicaIsTheSame(@ForAll @Size(max = 80) List<Integer> numbers) {
    List<byte[]> entries = entries(numbers);
    Rig first = Rig.opened();
    Rig second = Rig.opened();
    assertThat(run(second, entries)).usingRecursiveComparison().isEqualTo(run(first, entries));
    assertThat(second.dump()).isEqualTo(first.dump());
    assertThat(second.data.digest()).isEqualTo(first.data.digest());
  }

  @Property(tries = 200)
  void aRestartAnywhereThatReplaysFromAnEarlierEntryIsTheSame(
      @ForAll @Size(min = 1, max = 60) List<Integer> numbers,
      @ForAll @IntRange(max = 60) int crash,
      @ForAll @IntRange(max = 60) int back)
      throws IOException {
    List<byte[]> entries = entries(numbers);
    Rig whole = Rig.opened();
    List<byte[]> replies = run(whole, entries);

    Rig rig = Rig.opened();
    int at = Math.min(crash, entries.size());
    apply(rig, entries, 0, at);
    rig.data.close();
    rig.data = States.data(rig.directory.resolve("d0"), rig.disk::open, 1 << 20);
    rig.data.open();
    assertThat(rig.data.appliedIndex()).isEqualTo(at);
    apply(rig, entries, Math.max(0, at - back), at);
    for (int i = at; i < entries.size(); i++) {
      byte[] reply = Entries.apply(rig.data, 1, i + 1, ByteBuffer.wrap(entries.get(i))).array();
      assertThat(reply).as("memory read back decides as memory kept").isEqualTo(replies.get(i));
    }
    assertThat(rig.dump()).isEqualTo(whole.dump());
    assertThat(rig.data.digest().sum()).isEqualTo(whole.data.digest().sum());
  }

  @Property(tries = 50)
  void aSnapshotIsTheWholeState(
      @ForAll @Size(min = 1, max = 40) List<Integer> numbers, @ForAll @IntRange(max = 40) int cut)
      throws IOException {
    List<byte[]> entries = entries(numbers);
    Rig whole = Rig.opened();
    int at = Math.min(cut, entries.size());
    run(whole, entries.subList(0, at));
    Path snapshot = whole.directory.resolve("snapshot");
    whole.data.snapshot(snapshot);
    run(whole, entries.subList(at, entries.size()));

    Rig other = new Rig();
    other.fill(Rig.SHARD, 3);
    other.data.restore(snapshot);
    assertThat(other.data.appliedIndex()).isEqualTo(at);
    apply(other, entries, at, entries.size());
    assertThat(other.dump()).isEqualTo(whole.dump());
    assertThat(other.data.digest().sum()).isEqualTo(whole.data.digest().sum());
    other.data.restore(snapshot);
    assertThat(other.data.appliedIndex()).as("the snapshot stays as it is").isEqualTo(at);
  }
}
