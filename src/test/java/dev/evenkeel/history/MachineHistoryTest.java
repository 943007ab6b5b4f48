package dev.evenkeel.history;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.evenkeel.broker.machine.Rig;
import dev.evenkeel.protocol.Commands;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.StartAt;
import dev.evenkeel.protocol.wire.AppendResults.Result;
import dev.evenkeel.protocol.wire.Batch;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The production state machine under random calls that overlap: the model explains all that it
 * answers, and nothing that it would not answer.
 */
class MachineHistoryTest {
  private static final Shard SHARD = Rig.SHARD;
  private static final int HISTORIES = 60;
  private static final int CALLS = 120;
  private static final int CLIENTS = 6;

  private final List<Runnable> underWay = new ArrayList<>();
  private final long[] sequences = new long[4];
  private Random random;
  private Rig rig;
  private History history;
  private int wrongAt;
  private int calls;

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5})
  void whatTheMachineAnswersIsExplained(long seed) {
    for (int i = 0; i < HISTORIES; i++) {
      run(seed * 1_000 + i, -1);
      history.check();
    }
    assertThat(history.summary()).contains(" to 1 shards");
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5})
  void oneAnswerThatIsWrongIsFound(long seed) {
    for (int i = 0; i < HISTORIES / 3; i++) {
      run(seed * 1_000 + i, CALLS / 2);
      assertThatThrownBy(history::check)
          .as("seed %d", seed * 1_000 + i)
          .isInstanceOf(AssertionError.class)
          .hasMessageContaining("None of these can be next");
    }
  }

  /**
   * @param wrong the answer from that call on that can be altered is; -1: none
   */
  private void run(long seed, int wrong) {
    random = new Random(seed);
    rig = Rig.opened();
    history = new History(() -> 0);
    wrongAt = wrong;
    calls = 0;
    Arrays.fill(sequences, 0);
    underWay.clear();
    while (calls < CALLS || !underWay.isEmpty()) {
      boolean send = calls < CALLS && (underWay.isEmpty() || random.nextBoolean());
      if (send && underWay.size() < CLIENTS) {
        calls++;
        send();
      } else {
        underWay.remove(random.nextInt(underWay.size())).run();
      }
    }
    assertThat(wrongAt).as("an answer was altered, if one was to be").isNegative();
  }

  private boolean alters() {
    if (wrongAt < 0 || calls < wrongAt) {
      return false;
    }
    wrongAt = -1;
    return true;
  }

  private void send() {
    switch (random.nextInt(8)) {
      case 0, 1, 2 -> append(1 + random.nextInt(3));
      case 3 -> {
        long expected = Math.max(0, epoch() - random.nextInt(2));
        String owner = "m" + random.nextInt(3);
        command(Commands.grant("g", SHARD, owner, owner + "-1", expected, StartAt.EARLIEST));
      }
      case 4, 5 ->
          command(
              Commands.commit(
                  "g", SHARD, epoch() - random.nextInt(2), random.nextInt(2 + (int) end())));
      case 6 -> {
        long at = Math.max(0, end() - random.nextInt(3));
        byte[] state = random.nextBoolean() ? null : new byte[] {(byte) at};
        command(new DataCommand.Release("g", SHARD, epoch(), at, state == null ? -1 : at, state));
      }
      default -> {
        StartAt to =
            List.of(StartAt.EARLIEST, StartAt.LATEST, StartAt.offset(end() + random.nextInt(2)))
                .get(random.nextInt(3));
        command(new DataCommand.ResetLease("g", SHARD, epoch(), to));
      }
    }
  }

  private long end() {
    return rig.tables().shard(SHARD).end();
  }

  private long epoch() {
    Lease lease = rig.tables().lease("g", SHARD);
    return lease == null ? 0 : lease.epoch();
  }

  /** The next batch, or the last one again if that was not answered, or for no reason. */
  private void append(int producer) {
    boolean repeat = sequences[producer] > 0 && random.nextInt(4) == 0;
    long first = repeat ? sequences[producer] - 2 : sequences[producer];
    Batch batch = Rig.batch(producer, 0, first, 2);
    var call = history.append("p" + producer, SHARD, batch);
    execute(
        () -> rig.append(SHARD, batch),
        result -> {
          boolean wrong = result.ok() && alters();
          call.answered(wrong ? new Result(null, result.value() + 1) : result);
          if (result.ok()) {
            sequences[producer] = Math.max(sequences[producer], first + 2);
          }
        },
        () -> call.refused(new RefusedException(Refusal.INDETERMINATE, "")));
  }

  private void command(DataCommand command) {
    var call = history.command("c", SHARD, command);
    execute(
        () -> rig.run(command),
        call::answered,
        () -> call.refused(new RefusedException(Refusal.INDETERMINATE, "")));
  }

  /** It takes effect at one moment, and is answered at a later one; some never are. */
  private <T> void execute(Supplier<T> execution, Consumer<T> answered, Runnable unknown) {
    int luck = random.nextInt(10);
    if (luck == 0) {
      unknown.run();
      if (random.nextBoolean()) {
        underWay.add(
            () -> {
              var unanswered = execution.get();
            });
      }
      return;
    }
    underWay.add(
        () -> {
          T result = execution.get();
          underWay.add(() -> answered.accept(result));
        });
  }
}
