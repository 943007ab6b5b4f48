package dev.evenkeel.broker.machine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.wire.AppendBody;
import dev.evenkeel.protocol.wire.ByteReader;
import dev.evenkeel.protocol.wire.CommandCodec;
import dev.evenkeel.protocol.wire.Entry;
import dev.evenkeel.protocol.wire.FeatureLevel;
import dev.evenkeel.protocol.wire.Mutants;
import dev.evenkeel.protocol.wire.ReplyCodec;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Whatever a log holds, its group goes on. What is admitted to the log never makes a decider fail;
 * what is there for other reasons is refused, the same on every replica.
 */
class EntryFuzzTest {
  private static final int RUNS = Math.min(200, Math.max(20, Mutants.COUNT / 1_000));
  private static final int ENTRIES = 200;

  static Stream<Class<?>> commands() {
    return Stream.concat(
        Arrays.stream(DataCommand.class.getPermittedSubclasses()),
        Arrays.stream(MetaCommand.class.getPermittedSubclasses()));
  }

  @ParameterizedTest
  @MethodSource("commands")
  void everyKindOfCommandHasADecider(Class<?> kind) {
    AnyCommand any = AnyCommand.crashes(new Random(7));
    int admitted = 0;
    for (int i = 0; i < 500; i++) {
      Rig rig = Rig.opened();
      rig.run(new MetaCommand.RaiseFeatureLevel(FeatureLevel.NEWEST));
      Object command = any.of(kind);
      if (admitted(rig, entry(command))) {
        admitted++;
        Reply reply =
            command instanceof DataCommand data ? rig.run(data) : rig.run((MetaCommand) command);
        boolean failed =
            reply instanceof Reply.Refused refused && refused.refusal() == Refusal.INTERNAL;
        assertThat(failed).as("%s: %s", command, reply).isFalse();
      }
    }
    assertThat(admitted).isPositive();
  }

  private static byte[] entry(Object command) {
    return command instanceof DataCommand data
        ? Entry.of(data, 1_000)
        : Entry.of((MetaCommand) command, 1_000);
  }

  private static boolean admitted(Rig rig, byte[] entry) {
    try {
      (entry[1] == Entry.META_COMMAND ? rig.meta : rig.data).admit(ByteBuffer.wrap(entry));
      return true;
    } catch (RefusedException refused) {
      return false;
    }
  }

  @Test
  void noCommandKillsADataGroup() {
    long seed = Mutants.seed();
    for (int run = 0; run < RUNS; run++) {
      try {
        data(new Random(seed + run));
      } catch (RuntimeException | AssertionError e) {
        throw new AssertionError("seed " + (seed + run), e);
      }
    }
  }

  private static void data(Random random) {
    AnyCommand any = AnyCommand.crashes(random);
    Rig one = Rig.opened();
    Rig two = Rig.opened();
    for (int i = 0; i < ENTRIES; i++) {
      DataCommand command = any.data();
      if (command instanceof DataCommand.RaiseFeatureLevel) {
        continue;
      }
      byte[] entry =
          random.nextInt(4) == 0
              ? new Dice(random.nextLong()).entry(one.now)
              : Entry.of(command, one.now);
      one.now += random.nextInt(2_000);
      boolean admitted = admitted(one, entry);
      long failed = one.data.failedDecisions();
      byte[] reply = one.entry(entry).array();
      if (random.nextInt(20) == 0) {
        two.reopen();
      }
      assertThat(two.entry(entry).array()).isEqualTo(reply);
      assertThat(two.data.digest().sum())
          .as("the same changes in the same order as a replica that restarted: %s", text(entry))
          .isEqualTo(one.data.digest().sum());
      if (admitted) {
        assertThat(one.data.failedDecisions()).as(text(entry)).isEqualTo(failed);
      }
    }
    assertThat(two.dump()).isEqualTo(one.dump());
    one.reopen();
    assertThat(one.entry(Entry.of(new DataCommand.Retain(), one.now))).isNotNull();
  }

  private static String text(byte[] bytes) {
    Entry entry = Entry.read(ByteBuffer.wrap(bytes));
    return entry.type() == Entry.APPEND
        ? "append of " + AppendBody.read(entry.body())
        : CommandCodec.data(new ByteReader(entry.body())).toString();
  }

  @Test
  void noCommandKillsTheMetaGroup() {
    long seed = Mutants.seed();
    for (int run = 0; run < RUNS; run++) {
      Random random = new Random(seed + run);
      AnyCommand any = AnyCommand.crashes(random);
      Rig rig = new Rig();
      rig.run(new MetaCommand.RaiseFeatureLevel(FeatureLevel.NEWEST));
      for (int i = 0; i < ENTRIES; i++) {
        MetaCommand command = any.meta();
        if (command instanceof MetaCommand.RaiseFeatureLevel) {
          continue;
        }
        boolean admitted = admitted(rig, Entry.of(command, rig.now));
        long failed = rig.meta.failedDecisions();
        rig.run(command);
        if (admitted) {
          assertThat(rig.meta.failedDecisions())
              .as("seed %d: %s", seed + run, command)
              .isEqualTo(failed);
        }
      }
    }
  }

  @Test
  void aReplayOfDeadLettersWithoutAGroupIsRefused() {
    Rig rig = Rig.opened();
    for (DataCommand command :
        List.of(
            new DataCommand.ReplayDeadLetters(null, Rig.SHARD, List.of(1L)),
            new DataCommand.DropDeadLetters(null, Rig.SHARD, List.of(1L)))) {
      Reply reply = ReplyCodec.decode(rig.entry(Entry.of(command, rig.now)));
      assertThat(reply)
          .isInstanceOfSatisfying(
              Reply.Refused.class, r -> assertThat(r.refusal()).isEqualTo(Refusal.INVALID));
    }
    assertThat(rig.fill(Rig.SHARD, 1)).isZero();
  }
}
