package dev.evenkeel.client.internal.spool.log;

import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.evenkeel.Fails;
import dev.evenkeel.Refused;
import dev.evenkeel.protocol.Refusal;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.ShrinkingMode;
import org.junit.jupiter.api.Test;

/** The spool against a model of what it must still have after each kind of end. */
class SpoolLogTest {
  private static final long SEGMENT_BYTES = 700;

  @Test
  void killedAtEachByteItHasAllThatWasWrittenAndNothingElse() throws IOException {
    for (long bytes = 0; ; bytes++) {
      Model model = new Model(3);
      model.storage.killAfter(bytes);
      boolean killed = false;
      try {
        model.open();
        times(18, step -> model.step());
      } catch (MemoryStorage.Killed kill) {
        killed = true;
      }
      model.storage.restart();
      model.reopen();
      if (!killed) {
        assertThat(model.segmentsMade()).isGreaterThan(2);
        return;
      }
    }
  }

  @Property(tries = 300, shrinking = ShrinkingMode.OFF)
  void whateverHappensAgainAndAgain(@ForAll long seed) throws IOException {
    Model model = new Model(seed);
    for (int life = 0; life < 6; life++) {
      model.storage.killAfter(model.random.nextInt(6_000));
      try {
        model.open();
        times(60, step -> model.step());
      } catch (MemoryStorage.Killed kill) {
        assertThat(kill).isNotNull();
      }
      model.storage.restart();
      model.reopen();
    }
  }

  @Property(tries = 300, shrinking = ShrinkingMode.OFF)
  void afterACrashOfTheMachineItHasWhatWasForcedAndAPartOfTheRest(@ForAll long seed)
      throws IOException {
    Model model = new Model(seed);
    model.open();
    for (int step = model.random.nextInt(60); step >= 0; step--) {
      model.step();
    }
    model.storage.crashMachine(model.random.nextDouble());
    model.lostUpTo(model.forcedFrame);
    model.reopen();
  }

  @Test
  void anEpochThatIsBeingOpenedIsKnownInLaterSegmentsUntilItIsOpen() throws IOException {
    MemoryStorage storage = new MemoryStorage();
    SpoolLog log = SpoolLog.open(storage, SEGMENT_BYTES);
    log.create(Spools.IDENTITY);
    log.append(new SpoolRecord.Run(1, true, null));
    log.append(new SpoolRecord.Opened(1, 7, 0, Map.of()));
    log.append(new SpoolRecord.Opening(1, 7, 1, Map.of(2, 9L)));
    for (int frame = 1; frame <= 20; frame++) {
      SpoolRecord.Item item = new SpoolRecord.Item(2, Spools.batch(frame - 1, frame, 1, 50), 0);
      log.append(new SpoolRecord.Frame(frame, 1, 5, null, List.of(item)));
      log.acked(frame, frame);
    }
    SpoolState state = SpoolLog.open(storage, SEGMENT_BYTES).state();
    assertThat(state.opening()).isEqualTo(new SpoolRecord.Opening(1, 7, 1, Map.of(2, 9L)));
    assertThat(state.epoch()).isZero();
    assertThat(storage.names()).doesNotContain("000000000001" + SpoolLog.SUFFIX);
    log.append(new SpoolRecord.Opened(1, 7, 1, Map.of()));
    assertThat(SpoolLog.open(storage, SEGMENT_BYTES).state().opening()).isNull();
  }

  @Test
  void aRecordOfALaterVersionIsRefusedAndNothingIsCutOff() throws IOException {
    MemoryStorage storage = new MemoryStorage();
    SpoolLog log = SpoolLog.open(storage, SEGMENT_BYTES);
    log.create(Spools.IDENTITY);
    log.append(new SpoolRecord.Run(1, true, null));
    String name = storage.names().get(0);
    byte[] known = storage.bytes(name);
    ByteBuffer record = ByteBuffer.allocate(RecordFormat.HEADER_BYTES + 5).put(8, (byte) 99);
    RecordFormat.seal(record, 5);
    storage.append(name, record);
    Refused.with(
        Refusal.WRONG_VERSION,
        () -> SpoolLog.open(storage, SEGMENT_BYTES),
        "at byte "
            + known.length
            + ": unknown type of spool record, which a later version of this program wrote:"
            + " 99");
    assertThat(storage.size(name)).isEqualTo(known.length + record.capacity());
  }

  /** A spool that does things at random, and what must be true of it. */
  private static final class Model {
    final MemoryStorage storage = new MemoryStorage();
    final Random random;
    final TreeMap<Long, List<Integer>> frames = new TreeMap<>();
    final Map<Integer, Long> next = new TreeMap<>();
    SpoolLog log;
    long lastFrame;
    long ackedFrame;
    long forcedFrame;
    long loadedFrame;
    boolean uncertain;
    int run;
    int number;

    Model(long seed) {
      random = new Random(seed);
    }

    int segmentsMade() {
      List<String> names = new ArrayList<>(storage.names());
      return Integer.parseInt(Collections.max(names).replace(SpoolLog.SUFFIX, ""));
    }

    void open() throws IOException {
      log = SpoolLog.open(storage, SEGMENT_BYTES);
      if (log.state() == null) {
        log.create(Spools.IDENTITY);
      }
      run = log.state().run() + 1;
      next.clear();
      log.append(new SpoolRecord.Run(run, true, null));
      log.append(new SpoolRecord.Opened(run, 7, log.state().epoch() + 1, Map.of()));
      loadedFrame = log.state().ackedFrame();
    }

    void step() throws IOException {
      switch (random.nextInt(5)) {
        case 0, 1, 2 -> frame();
        case 3 -> {
          if (lastFrame > ackedFrame) {
            uncertain = true;
            long frame = ackedFrame + 1 + random.nextInt((int) (lastFrame - ackedFrame));
            long messages =
                frames.headMap(frame, true).values().stream().mapToLong(List::size).sum();
            long before = ackedFrame;
            ackedFrame = frame;
            try {
              log.acked(frame, messages);
            } catch (MemoryStorage.Killed kill) {
              ackedFrame = before;
              throw kill;
            }
            uncertain = false;
          }
        }
        default -> {
          if (random.nextBoolean()) {
            log.force();
            forcedFrame = lastFrame;
          } else {
            load();
          }
        }
      }
    }

    private void frame() throws IOException {
      List<SpoolRecord.Item> items = new ArrayList<>();
      List<Integer> numbers = new ArrayList<>();
      Map<Integer, Long> after = new TreeMap<>(next);
      for (int i = random.nextInt(3); i >= 0; i--) {
        int shard = random.nextInt(3);
        int count = 1 + random.nextInt(4);
        long first = after.getOrDefault(shard, 0L);
        items.add(
            new SpoolRecord.Item(shard, Spools.batch(first, number, count, random.nextInt(20)), 0));
        after.put(shard, first + count);
        times(count, each -> numbers.add(number++));
      }
      log.append(new SpoolRecord.Frame(lastFrame + 1, run, 5, null, items));
      next.putAll(after);
      lastFrame++;
      frames.put(lastFrame, numbers);
    }

    /** What is read back is what was written, in order. */
    private void load() throws IOException {
      if (ackedFrame > loadedFrame) {
        // Only what has been loaded can have been acknowledged.
        log.passOver();
        loadedFrame = lastFrame;
        return;
      }
      List<SpoolRecord.Frame> loaded = new ArrayList<>();
      for (int ofRun = 1; ofRun <= run; ofRun++) {
        SpoolLog.Loaded some;
        do {
          some = log.load(ofRun, random.nextInt(300));
          loaded.addAll(some.frames());
        } while (!some.frames().isEmpty());
      }
      for (SpoolRecord.Frame frame : loaded) {
        assertThat(frame.number()).isEqualTo(++loadedFrame);
        assertThat(numbers(frame)).isEqualTo(frames.get(frame.number()));
      }
      assertThat(loadedFrame).isEqualTo(lastFrame);
      assertThat(log.hasMore()).isFalse();
    }

    private static List<Integer> numbers(SpoolRecord.Frame frame) {
      List<Integer> numbers = new ArrayList<>();
      for (SpoolRecord.Item item : frame.items()) {
        int first = Spools.number(item.batch());
        for (int i = 0; i < item.batch().count(); i++) {
          numbers.add(first + i);
        }
      }
      return numbers;
    }

    /** Up to this frame all must be there; of what is above it any beginning. */
    void lostUpTo(long frame) throws IOException {
      SpoolLog found = SpoolLog.open(storage, SEGMENT_BYTES);
      assertThat(found.state().lastFrame()).isBetween(frame, lastFrame);
      lastFrame = found.state().lastFrame();
      frames.tailMap(lastFrame, false).clear();
      ackedFrame = found.state().ackedFrame();
    }

    void reopen() throws IOException {
      log = SpoolLog.open(storage, SEGMENT_BYTES);
      if (log.state() == null) {
        assertThat(lastFrame).isZero();
        return;
      }
      SpoolState state = log.state();
      assertThat(state.lastFrame()).isEqualTo(lastFrame);
      if (uncertain) {
        assertThat(state.ackedFrame()).isBetween(ackedFrame, lastFrame);
        ackedFrame = state.ackedFrame();
        uncertain = false;
      } else {
        assertThat(state.ackedFrame()).isEqualTo(ackedFrame);
      }
      assertThat(state.messages()).isEqualTo(frames.values().stream().mapToLong(List::size).sum());
      run = state.run();
      loadedFrame = ackedFrame;
      load();
      forcedFrame = lastFrame;
    }
  }

  @Test
  void whatIsAcknowledgedMakesRoom() throws IOException {
    Model model = new Model(1);
    model.open();
    while (model.log.bytes() < 10 * SEGMENT_BYTES) {
      model.frame();
    }
    assertThat(model.storage.names()).hasSizeGreaterThan(5);
    model.log.acked(model.lastFrame, 1);
    assertThat(model.storage.names()).hasSize(1);
    assertThat(model.log.bytes()).isLessThan(2 * SEGMENT_BYTES);
  }

  @Test
  void damageBeforeTheEndIsRefusedAndNamed() throws IOException {
    Model model = new Model(1);
    model.open();
    while (model.storage.names().size() < 4) {
      model.frame();
    }
    List<String> names = new ArrayList<>(model.storage.names());
    Collections.sort(names);
    byte[] bytes = model.storage.bytes(names.get(1));
    bytes[bytes.length / 2] ^= 1;
    Refused.with(Refusal.CORRUPT, () -> SpoolLog.open(model.storage, SEGMENT_BYTES), names.get(1));
  }

  @Property(tries = 200)
  void aDamagedEndIsCutAtTheLastGoodRecordAndTold(@ForAll long seed) throws IOException {
    Model model = new Model(seed);
    model.open();
    model.frame();
    long good = model.log.bytes();
    model.frame();
    String name = model.storage.names().get(0);
    byte[] bytes = model.storage.bytes(name);
    long at = good + model.random.nextInt((int) (bytes.length - good));
    boolean flip = model.random.nextBoolean();
    if (flip) {
      bytes[(int) at] ^= 4;
    } else {
      model.storage.put(name, Arrays.copyOf(bytes, (int) at));
    }
    SpoolLog log = SpoolLog.open(model.storage, SEGMENT_BYTES);
    assertThat(log.state().lastFrame()).isEqualTo(1);
    assertThat(log.bytes()).isEqualTo(good);
    assertThat(model.storage.size(name)).isEqualTo(good);
    if (flip || at > good) {
      assertThat(log.cut().at()).isEqualTo(good);
      assertThat(log.cut().bytes()).isEqualTo((flip ? bytes.length : at) - good);
    } else {
      assertThat(log.cut()).isNull();
    }
  }

  @Test
  void aSpoolWhoseBeginningIsDamagedIsRefused() throws IOException {
    Model model = new Model(1);
    model.open();
    String name = model.storage.names().get(0);
    model.storage.bytes(name)[20] ^= 1;
    Fails.saying(() -> SpoolLog.open(model.storage, SEGMENT_BYTES), "damaged at byte 0");
  }

  @Test
  void aFrameThatDoesNotFollowIsNoPartOfIt() throws IOException {
    Model model = new Model(1);
    model.open();
    model.frame();
    SpoolRecord.Frame again = new SpoolRecord.Frame(1, model.run, 5, null, List.of());
    assertThatThrownBy(() -> model.log.append(again)).hasMessageContaining("does not follow");
    assertThat(SpoolLog.open(model.storage, SEGMENT_BYTES).state().lastFrame()).isEqualTo(1);
  }
}
