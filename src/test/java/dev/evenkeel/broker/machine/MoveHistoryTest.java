package dev.evenkeel.broker.machine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.protocol.Commands;
import dev.evenkeel.protocol.GroupPolicy;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.MoveRecord;
import dev.evenkeel.protocol.MoveShares;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.StartAt;
import dev.evenkeel.storage.MemoryStore;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

/** The rebalance history in the meta group's state. */
class MoveHistoryTest {
  private final Rig rig = new Rig();

  private static MoveRecord move(String group, int shard, long epoch) {
    return new MoveRecord(
        1_000 + epoch,
        group,
        "t",
        new Shard(1, shard),
        epoch == 1 ? null : "m" + (epoch - 1),
        "m" + epoch,
        "member joined",
        null,
        null,
        null,
        false,
        epoch,
        7L);
  }

  private static MoveRecord with(MoveRecord move, Long pause, Long release, Long redelivered) {
    return new MoveRecord(
        move.timeMillis() + 50,
        move.group(),
        move.topic(),
        move.shard(),
        null,
        move.to(),
        null,
        pause,
        release,
        redelivered,
        false,
        move.epoch(),
        null);
  }

  private Reply record(MoveRecord... moves) {
    return rig.run(new MetaCommand.RecordMoves(List.of(moves)));
  }

  private List<MoveRecord> history() {
    return history(rig);
  }

  private static List<MoveRecord> history(Rig of) {
    return of.meta.tables().moves().oldestFirst();
  }

  private static byte[] dump(Rig of) {
    return of.meta.read(store -> ((MemoryStore) store).dump());
  }

  @Example
  void figuresThatBecomeKnownReplaceUnknownOnesAndNeverTheOtherWay() {
    MoveRecord first = move("g", 0, 2);
    assertThat(record(first)).isEqualTo(Reply.DONE);
    record(move("g", 1, 1));
    record(with(first, 12L, null, null));
    record(with(first, null, 5L, 3L));
    MoveRecord known = history().get(0);
    assertThat(known.pauseMillis()).isEqualTo(12);
    assertThat(known.releaseMillis()).isEqualTo(5);
    assertThat(known.redelivered()).isEqualTo(3);
    assertThat(known.from()).isEqualTo("m1");
    assertThat(known.reason()).isEqualTo("member joined");
    assertThat(known.timeMillis()).isEqualTo(first.timeMillis());
    assertThat(known.committed()).isEqualTo(7);
    assertThat(history()).as("in its place").hasSize(2);
    record(with(first, 13L, null, 9L));
    assertThat(history().get(0).pauseMillis()).isEqualTo(13);
    assertThat(history().get(0).redelivered()).isEqualTo(9);
  }

  @Example
  void whatMakesNoSenseIsRefusedAltogether() {
    MoveRecord good = move("g", 0, 1);
    List<MoveRecord> bad =
        List.of(
            move("a b", 0, 1),
            move("g", -1, 1),
            move("g", 0, 0),
            with(good, -1L, null, null),
            new MoveRecord(
                1, "g", "t", good.shard(), null, null, null, null, null, null, false, 1, null),
            new MoveRecord(
                1,
                "g",
                "t",
                good.shard(),
                null,
                "m",
                "x".repeat(121),
                null,
                null,
                null,
                false,
                1,
                null));
    for (MoveRecord each : bad) {
      Reply reply = record(good, each);
      assertThat(((Reply.Refused) reply).refusal()).as("%s", each).isEqualTo(Refusal.INVALID);
    }
    List<MoveRecord> many = new ArrayList<>();
    for (int i = 0; i <= Limits.MOVES_A_COMMAND_MAX; i++) {
      many.add(move("g", i, 1));
    }
    Reply reply = rig.run(new MetaCommand.RecordMoves(many));
    assertThat(((Reply.Refused) reply).refusal()).isEqualTo(Refusal.TOO_LARGE);
    assertThat(history()).isEmpty();
  }

  @Example
  void aForgottenGroupTakesItsMovesAlongForItsEpochsBeginAnew() {
    for (String group : List.of("g", "h")) {
      rig.run(
          Commands.declareGroup(group, GroupPolicy.SHARDED, List.of("t"), StartAt.EARLIEST, false));
      record(move(group, 0, 1), move(group, 0, 2));
    }
    rig.run(new MetaCommand.ForgetGroup("g"));
    assertThat(history()).containsExactly(move("h", 0, 1), move("h", 0, 2));
    record(move("g", 0, 1));
    assertThat(history()).hasSize(3);
  }

  @Example
  void anotherOwnerUnderTheSameEpochIsOfAnotherLife() {
    record(move("g", 0, 1), move("g", 1, 1));
    MoveRecord other =
        new MoveRecord(
            9_000, "g", "t", new Shard(1, 0), null, "other", null, null, null, null, false, 1, 0L);
    record(other);
    assertThat(history()).containsExactly(move("g", 1, 1), other);
  }

  /** What a plain list would hold that follows the rules of the Javadoc. */
  private static final class Model {
    final Map<MoveRecord.Key, MoveRecord> moves = new LinkedHashMap<>();

    void record(List<MoveRecord> batch) {
      batch.forEach(move -> moves.merge(move.key(), move, MoveRecord::updatedBy));
      List<MoveRecord> all = new ArrayList<>(moves.values());
      List<String> groups = all.stream().map(MoveRecord::group).toList();
      for (int index : MoveShares.surplus(groups, Limits.MOVES_KEPT_MAX)) {
        moves.remove(all.get(index).key());
      }
    }
  }

  private static List<List<MoveRecord>> batches(long seed, int groups) {
    Random random = new Random(seed);
    List<List<MoveRecord>> batches = new ArrayList<>();
    List<MoveRecord> made = new ArrayList<>();
    long[][] epochs = new long[groups][40];
    for (int i = 0; i < 12; i++) {
      List<MoveRecord> batch = new ArrayList<>();
      int size = 1 + random.nextInt(Limits.MOVES_A_COMMAND_MAX);
      for (int k = 0; k < size; k++) {
        if (!made.isEmpty() && random.nextInt(4) == 0) {
          Long figure = random.nextBoolean() ? (Long) (long) random.nextInt(100) : null;
          batch.add(with(made.get(random.nextInt(made.size())), figure, null, figure));
        } else {
          // A few groups move more than others.
          int group = Math.min(random.nextInt(groups), random.nextInt(groups));
          int shard = random.nextInt(40);
          made.add(move("g" + group, shard, ++epochs[group][shard]));
          batch.add(made.get(made.size() - 1));
        }
      }
      batches.add(batch);
    }
    return batches;
  }

  @Property(tries = 30)
  void holdsTheNewestOfAllGroupsAndIsTheSameAfterARestartAndFromASnapshot(
      @ForAll long seed, @ForAll @IntRange(min = 1, max = 15) int groups) throws IOException {
    // All tries have the fields of this class in common.
    Rig first = new Rig();
    Model model = new Model();
    Rig other = new Rig();
    Rig copied = new Rig();
    Path snapshot = first.directory.resolve("snapshot");
    int step = 0;
    for (List<MoveRecord> batch : batches(seed, groups)) {
      model.record(batch);
      MetaCommand command = new MetaCommand.RecordMoves(batch);
      assertThat(first.run(command)).isEqualTo(Reply.DONE);
      other.run(command);
      if (step == 5) {
        first.meta.snapshot(snapshot);
        copied.meta.restore(snapshot);
      } else if (step > 5) {
        copied.run(command);
        // One replica starts anew before each entry, and still decides alike.
        other.meta.close();
        other.meta.open();
      }
      step++;
      assertThat(history(first)).hasSizeLessThanOrEqualTo(Limits.MOVES_KEPT_MAX);
      assertThat(history(first)).containsExactlyElementsOf(model.moves.values());
    }
    assertThat(history(other)).isEqualTo(history(first));
    assertThat(dump(other)).isEqualTo(dump(first));
    assertThat(dump(copied)).isEqualTo(dump(first));
  }
}
