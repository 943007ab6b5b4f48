package dev.evenkeel.broker.machine;

import static dev.evenkeel.broker.machine.Rig.SHARD;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.evenkeel.broker.state.BatchSource;
import dev.evenkeel.broker.state.FailureCounts;
import dev.evenkeel.broker.state.LeaseKey;
import dev.evenkeel.broker.state.StoredFailures;
import dev.evenkeel.protocol.Commands;
import dev.evenkeel.protocol.Compression;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.DeadLetter;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Outcome;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.TopicConfig;
import dev.evenkeel.protocol.wire.Batch;
import dev.evenkeel.protocol.wire.BatchBuilder;
import dev.evenkeel.protocol.wire.BatchMessages;
import dev.evenkeel.protocol.wire.BatchPacker;
import dev.evenkeel.protocol.wire.DeadLettersAnswer;
import dev.evenkeel.protocol.wire.MessageCodec;
import dev.evenkeel.protocol.wire.RetriesList;
import dev.evenkeel.protocol.wire.RetryAnswer;
import dev.evenkeel.protocol.wire.RetryRequest;
import dev.evenkeel.storage.Store;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class FailureTest {
  private static final LeaseKey KEY = new LeaseKey(SHARD, "g");

  /** What a message of the batch with all 20 counts for. */
  private static final int SHARE = share();

  private Rig rig = Rig.opened();

  @BeforeEach
  void grant() {
    rig.fill(SHARD, 20);
    rig.grant("g", SHARD, "a", 0);
  }

  private Reply record(long epoch, Outcome... outcomes) {
    return rig.run(new DataCommand.RecordOutcomes("g", SHARD, epoch, List.of(outcomes)));
  }

  private static Outcome failed(long offset, int attempt, Outcome.Way way, long queue) {
    return new Outcome.Failed(offset, attempt, way, 1_000, queue, "broken", null);
  }

  private static Outcome parked(long offset, long queue) {
    return new Outcome.Parked(offset, queue, null);
  }

  private static int share() {
    return (Rig.batch(0, 0, 0, 20).length() + 19) / 20;
  }

  /** The message at an offset, as {@link Rig#fill} makes it. */
  private static byte[] message(long offset) {
    byte[] payload = ("0/0/" + offset).getBytes(UTF_8);
    return MessageCodec.encode(new Message(null, null, 1_000_000 + offset, payload));
  }

  private static Outcome moved(long offset, int attempt) {
    return failed(offset, attempt, Outcome.Way.MOVED, 0);
  }

  private static Outcome dead(long offset, int attempt) {
    return failed(offset, attempt, Outcome.Way.DEAD, 0);
  }

  private RetryAnswer answer(Long... inHand) {
    RetryRequest request = new RetryRequest("g", SHARD, 1, true, List.of(inHand), 100, 1 << 20);
    RetryAnswer found =
        rig.data.read(
            store -> new StoredFailures(store, rig.data::bytes, KEY).answer(request, rig.time()));
    RetryAnswer read = RetryAnswer.CODEC.decode(RetryAnswer.CODEC.encode(found));
    assertThat(read.nextInMillis()).isEqualTo(found.nextInMillis());
    return found;
  }

  private List<Long> due(Long... inHand) {
    return answer(inHand).due().stream().map(RetryAnswer.Retry::offset).toList();
  }

  private List<DeadLetter> letters() {
    return stored().letters();
  }

  private DeadLettersAnswer stored() {
    DeadLettersAnswer answer =
        rig.data.read(
            store -> new StoredFailures(store, rig.data::bytes, KEY).deadLetters(0, 100, 1 << 20));
    return DeadLettersAnswer.CODEC.decode(DeadLettersAnswer.CODEC.encode(answer));
  }

  private List<RetriesList.WaitingRetry> waiting(long from, int max) {
    RetriesList list =
        rig.data.read(
            store -> new StoredFailures(store, rig.data::bytes, KEY).waiting(from, max, rig.now));
    return RetriesList.CODEC.decode(RetriesList.CODEC.encode(list)).waiting();
  }

  private static int moved(FailureCounts counts) {
    return counts.waiting() + counts.parked();
  }

  private FailureCounts stand() {
    return rig.tables().failures(KEY);
  }

  @Test
  void aMovedMessageComesWhenItIsDueUntilItIsSettled() {
    record(1, moved(3, 1));
    assertThat(due()).isEmpty();
    assertThat(answer().nextInMillis()).isEqualTo(1_000);
    assertThat(waiting(0, 10))
        .containsExactly(
            new RetriesList.WaitingRetry(3, RetriesList.IN_LOG, 1, 1_000, rig.now, rig.now));
    assertThat(waiting(4, 10)).isEmpty();
    rig.now += 1_000;
    assertThat(due()).containsExactly(3L);
    assertThat(answer().due().get(0).attempts()).isEqualTo(1);
    assertThat(answer().due().get(0).copy()).as("from the log").isEqualTo(message(3));
    assertThat(due(3L)).isEmpty();
    record(1, moved(3, 2));
    assertThat(due()).isEmpty();
    rig.now += 1_000;
    assertThat(answer().due().get(0).attempts()).isEqualTo(2);
    record(1, new Outcome.Settled(3));
    assertThat(due()).isEmpty();
    assertThat(stand()).isEqualTo(new FailureCounts(0, 0, 0, 0, 1, 0));
    rig.run(Commands.commit("g", SHARD, 1, 4));
    assertThat(stand()).isEqualTo(FailureCounts.NONE);
    assertThat(rig.keys(Store.Table.FAILURES)).isEmpty();
  }

  @Test
  void onlyTheOwnerTellsOutcomesAndARepeatCountsOnce() {
    record(1, moved(3, 1));
    record(1, moved(3, 1));
    record(1, moved(3, 3));
    assertThat(stand().waiting()).isEqualTo(1);
    rig.grant("g", SHARD, "b", 1);
    assertThat(record(1, moved(3, 2)))
        .isInstanceOfSatisfying(
            Reply.Refused.class, no -> assertThat(no.refusal()).isEqualTo(Refusal.FENCED));
    assertThat(record(2, moved(99, 1)))
        .isInstanceOfSatisfying(
            Reply.Refused.class, no -> assertThat(no.refusal()).isEqualTo(Refusal.INVALID));
    record(2, moved(3, 2));
    rig.now += 1_000;
    assertThat(answer().due().get(0).attempts()).isEqualTo(2);
  }

  @Test
  void aDeadLetterIsThereOnceAndStaysThroughRepeats() {
    long first = rig.now;
    record(1, moved(3, 1));
    rig.now += 5_000;
    record(1, dead(3, 2));
    record(1, dead(3, 2), moved(3, 1));
    rig.grant("g", SHARD, "b", 1);
    record(2, moved(3, 1));
    assertThat(answer().known().marks()).containsExactly(3L);
    assertThat(letters()).hasSize(1);
    assertThat(letters().get(0))
        .usingRecursiveComparison()
        .isEqualTo(new DeadLetter(SHARD, 3, 2, "broken", first, first + 5_000, message(3)));
    assertThat(stand()).isEqualTo(new FailureCounts(0, 0, 0, 1, 1, 0));
    rig.run(Commands.commit("g", SHARD, 2, 10));
    record(2, moved(3, 1));
    assertThat(stand()).isEqualTo(new FailureCounts(0, 0, 0, 1, 0, 0));
  }

  /** Else the keys of a long backlog would be handled one after another. */
  @Test
  void aKeyWithManyMessagesLeavesRoomForOthers() {
    int max = StoredFailures.KEY_MESSAGES_MAX;
    rig.fill(SHARD, 3 * max);
    record(1, failed(0, 1, Outcome.Way.MOVED, 7));
    for (long offset = 1; offset < 2 * max; offset++) {
      record(1, parked(offset, 7));
    }
    record(1, failed(2 * max, 1, Outcome.Way.MOVED, 9));
    rig.now += 1_000;
    List<Long> first = due();
    assertThat(first).hasSize(max + 1).startsWith(0L, 1L).endsWith(2L * max);
    assertThat(answer().nextInMillis()).isEqualTo(1_000);
    assertThat(due(first.toArray(Long[]::new))).as("it has enough of that key").isEmpty();
    record(1, new Outcome.Settled(0), new Outcome.Settled(1));
    assertThat(due(first.toArray(Long[]::new))).containsExactly((long) max, max + 1L);
  }

  @Test
  void aLaneKeepsItsOrder() {
    record(1, failed(3, 1, Outcome.Way.MOVED, 7), parked(5, 7));
    record(1, parked(8, 7), parked(6, 9));
    assertThat(stand().parked()).isEqualTo(2);
    assertThat(due()).as("nothing of queue 9 is before it").containsExactly(6L);
    rig.now += 1_000;
    assertThat(due()).as("those behind the first follow it").containsExactly(6L, 3L, 5L, 8L);
    record(1, failed(3, 2, Outcome.Way.DEAD, 7));
    assertThat(due(6L)).containsExactly(5L, 8L);
    record(1, new Outcome.Settled(5), new Outcome.Settled(8), new Outcome.Settled(6));
    assertThat(moved(stand())).isZero();
    assertThat(answer().known().queues()).isEmpty();
  }

  /** A scan walks over all that was deleted in its range, for as long as the engine keeps it. */
  @Test
  void aLaneIsNotScannedForItsFirst() throws IOException {
    AtomicInteger scans = new AtomicInteger();
    rig.data.close();
    rig.data =
        States.data(
            rig.directory.resolve("d0"),
            directory -> counted(rig.disk.open(directory), scans),
            rig.bodies,
            0);
    rig.data.open();
    scans.set(0);
    record(1, failed(0, 1, Outcome.Way.MOVED, 7), parked(1, 7));
    for (long offset = 0; offset < 15; offset++) {
      record(1, parked(offset + 2, 7), new Outcome.Settled(offset));
    }
    assertThat(moved(stand())).isEqualTo(2);
    assertThat(scans).hasValue(0);
    rig.now += 1_000;
    assertThat(due()).as("in order, as ever").containsExactly(15L, 16L);
  }

  /** Counts scans of the table of failures. */
  private static Store counted(Store store, AtomicInteger scans) {
    return (Store)
        Proxy.newProxyInstance(
            Store.class.getClassLoader(),
            new Class<?>[] {Store.class},
            (proxy, method, arguments) -> {
              if (method.getName().equals("scan") && arguments[0] == Store.Table.FAILURES) {
                scans.incrementAndGet();
              }
              return method.invoke(store, arguments);
            });
  }

  /** A queue is in memory, too, and read back from the disk. */
  @Test
  void aLaneGoesOnInOrderAfterARestart() throws IOException {
    record(1, failed(3, 1, Outcome.Way.MOVED, 7), parked(5, 7));
    rig.data.close();
    rig.data = States.data(rig.directory.resolve("d0"), rig.disk::open, rig.bodies, 0);
    rig.data.open();
    record(1, parked(8, 7));
    assertThat(stand().parked()).as("8 waits behind 3").isEqualTo(2);
    record(1, new Outcome.Settled(3));
    assertThat(due()).containsExactly(5L, 8L);
    assertThat(stand().parked()).isEqualTo(1);
  }

  @Test
  void whatComesAgainFromBeforeALaneIsBeforeIt() {
    record(1, failed(9, 1, Outcome.Way.MOVED, 7));
    rig.now += 1_000;
    record(1, failed(3, 1, Outcome.Way.MOVED, 7));
    assertThat(due()).as("9 waits behind 3").isEmpty();
    rig.now += 1_000;
    assertThat(due()).containsExactly(3L, 9L);
  }

  @Test
  void aHeldMessageHasItsCountAloneAndIsForgottenWithTheCommit() {
    record(1, failed(0, 1, Outcome.Way.HELD, 0));
    record(1, failed(0, 2, Outcome.Way.HELD, 0));
    rig.grant("g", SHARD, "b", 1);
    assertThat(due()).isEmpty();
    assertThat(answer().known().held()).containsExactly(new RetryAnswer.Held(0, 2, 1_000));
    rig.run(Commands.commit("g", SHARD, 2, 1));
    assertThat(stand()).isEqualTo(FailureCounts.NONE);
  }

  @Test
  void aCommitThatBeginsAStateForgetsWhatIsHeldAsAnyOther() {
    record(1, failed(0, 1, Outcome.Way.HELD, 0));
    rig.run(new DataCommand.Commit("g", SHARD, 1, 1, 0, null));
    assertThat(stand()).isEqualTo(FailureCounts.NONE);
  }

  @Test
  void deadLettersAreReplayedAndDropped() {
    record(1, dead(3, 1), dead(4, 1), dead(5, 1));
    assertThat(rig.run(new DataCommand.ReplayDeadLetters("g", SHARD, List.of(3L, 9L))))
        .isEqualTo(new Reply.OfOffsets(List.of(3L)));
    assertThat(due()).containsExactly(3L);
    assertThat(answer().due().get(0).attempts()).isZero();
    assertThat(rig.run(new DataCommand.DropDeadLetters("g", SHARD, List.of(3L, 4L))))
        .isEqualTo(new Reply.OfOffsets(List.of(4L)));
    assertThat(letters()).extracting(DeadLetter::offset).containsExactly(5L);
    record(1, moved(3, 1));
    rig.now += 1_000;
    record(1, dead(3, 2));
    assertThat(letters()).extracting(DeadLetter::offset).containsExactly(3L, 5L);
    rig.run(new DataCommand.ForgetLeases("g", 9, SHARD.topicId() + 1));
    assertThat(letters()).as("of another topic").hasSize(2);
    rig.run(new DataCommand.ForgetLeases("g", 9, SHARD.topicId()));
    assertThat(rig.keys(Store.Table.FAILURES)).isEmpty();
    assertThat(stand()).isEqualTo(FailureCounts.NONE);
  }

  /** As a limit of the topic does, though the group has not consumed it. */
  private void dropAllMessages() {
    rig.run(new DataCommand.ConfigureShards(SHARD.topicId(), new TopicConfig(0, -1, 0)));
    rig.run(new DataCommand.Retain());
    assertThat(rig.keys(Store.Table.INDEX)).isEmpty();
  }

  @Test
  void retriesAndDeadLettersOutliveRetention() {
    record(1, moved(3, 1), dead(4, 1), parked(5, 7));
    dropAllMessages();
    rig.now += 1_000;
    assertThat(answer().due())
        .extracting(RetryAnswer.Retry::copy)
        .containsExactlyInAnyOrder(message(3), message(5));
    record(1, dead(3, 2));
    assertThat(letters()).extracting(DeadLetter::copy).containsExactly(message(3), message(4));
    rig.run(new DataCommand.ReplayDeadLetters("g", SHARD, List.of(4L)));
    record(1, moved(4, 1), new Outcome.Settled(5));
    rig.now += 1_000;
    assertThat(answer().due()).extracting(RetryAnswer.Retry::copy).containsExactly(message(4));
  }

  @Test
  void theCopyOfAFormerClientCountsOnlyIfTheLogHasDroppedTheMessage() {
    byte[] copy = MessageCodec.encode(new Message(null, null, 7, new byte[] {1}));
    Outcome held = failed(6, 1, Outcome.Way.HELD, 0);
    record(1, copied(3, 1, Outcome.Way.MOVED, copy), copied(4, 1, Outcome.Way.DEAD, copy), held);
    rig.now += 1_000;
    assertThat(answer().due()).extracting(RetryAnswer.Retry::copy).containsExactly(message(3));
    assertThat(letters()).extracting(DeadLetter::copy).containsExactly(message(4));
    dropAllMessages();
    record(1, copied(3, 2, Outcome.Way.DEAD, copy), copied(6, 2, Outcome.Way.DEAD, copy));
    assertThat(letters())
        .extracting(DeadLetter::copy)
        .containsExactly(message(3), message(4), copy);
    rig.run(new DataCommand.ReplayDeadLetters("g", SHARD, List.of(6L)));
    assertThat(answer().due()).extracting(RetryAnswer.Retry::copy).containsExactly(copy);
    assertThat(stand().bytes()).isEqualTo(copy.length);
  }

  private static Outcome copied(long offset, int attempt, Outcome.Way way, byte[] copy) {
    return new Outcome.Failed(offset, attempt, way, 1_000, 0, "broken", copy);
  }

  @Test
  void aHeldMessageThatRetentionDropsDoesNotBecomeADeadLetter() {
    record(1, failed(6, 1, Outcome.Way.HELD, 0));
    dropAllMessages();
    assertThat(record(1, dead(6, 2))).isEqualTo(new Reply.OfOffsets(List.of()));
    assertThat(letters()).isEmpty();
    assertThat(stand()).isEqualTo(FailureCounts.NONE);
    assertThat(rig.keys(Store.Table.FAILURES)).isEmpty();
  }

  private static Batch compressed(int count) {
    BatchBuilder builder = new BatchBuilder(256, BatchPacker.of(Compression.LZ4));
    for (int i = 0; i < count; i++) {
      builder.add(new Message(null, null, i, ("line " + i).repeat(9).getBytes(UTF_8)));
    }
    Batch batch = builder.build(0, 0, 0);
    assertThat(batch.isCompressed()).isTrue();
    return batch;
  }

  @Test
  void aCompressedBatchIsAnsweredWholeAndOnce() {
    Batch batch = compressed(50);
    rig.append(SHARD, batch);
    record(1, moved(3, 1), moved(25, 1), moved(40, 1), dead(21, 1), dead(69, 1));
    dropAllMessages();
    rig.now += 1_000;
    RetryAnswer answer = answer();
    assertThat(answer.due()).extracting(RetryAnswer.Retry::offset).containsExactly(3L, 25L, 40L);
    assertThat(answer.due())
        .extracting(RetryAnswer.Retry::copy)
        .containsExactly(message(3), null, null);
    assertThat(answer.batches())
        .singleElement()
        .satisfies(
            placed -> {
              assertThat(placed.baseOffset()).isEqualTo(20);
              assertThat(placed.bytes()).isEqualTo(batch.bytes().array());
            });
    BatchMessages messages = answer.messages();
    assertThat(messages.at(25).payload()).asString().startsWith("line 5line 5");
    assertThat(messages.at(40).payload()).asString().startsWith("line 20line 20");
    assertThat(stored().opened())
        .extracting(opened -> new String(opened.message().payload(), UTF_8).substring(0, 7))
        .containsExactly("line 1l", "line 49");
    RetryRequest small = new RetryRequest("g", SHARD, 1, false, List.of(3L), 100, 1);
    RetryAnswer first =
        rig.data.read(
            store -> new StoredFailures(store, rig.data::bytes, KEY).answer(small, rig.time()));
    assertThat(first.due()).as("one at least").hasSize(1);
    assertThat(first.nextInMillis()).isZero();
    assertThat(first.batches()).hasSize(1);
  }

  @Test
  void theFirstMessageThatCannotBeUnpackedShowsTheBatch() {
    Batch batch = compressed(50);
    batch.bytes().putInt(Batch.HEADER_BYTES, 1_000);
    batch.stamped(0, 0, 0);
    rig.append(SHARD, batch);
    record(1, dead(20, 1), dead(21, 1));
    assertThat(stored().opened())
        .extracting(opened -> opened.message().payload().length)
        .containsExactly(batch.length(), 0);
  }

  private RetryAnswer due(BatchSource source) {
    RetryRequest request = new RetryRequest("g", SHARD, 1, false, List.of(), 100, 1 << 20);
    return rig.data.read(
        store -> new StoredFailures(store, source, KEY).answer(request, rig.time()));
  }

  @Test
  void aMessageOfADamagedBatchIsNotServedAndThoseBeforeItAre() {
    rig.fill(SHARD, 5);
    record(1, moved(3, 1), moved(22, 1));
    rig.now += 1_000;
    rig.bodies.damage(rig.log.size() - 2, 100);
    assertThat(due(rig.data::bytes))
        .satisfies(
            answer -> {
              assertThat(answer.due()).extracting(RetryAnswer.Retry::offset).containsExactly(3L);
              assertThat(answer.nextInMillis()).isZero();
            });
    record(1, new Outcome.Settled(3));
    assertThatThrownBy(() -> due(rig.data::bytes))
        .hasMessageStartingWith("offset 22: corrupt batch");
    assertThatThrownBy(() -> due((place, length) -> null))
        .hasMessage("offset 22: the bytes of the batch are missing");
  }

  @Test
  void aMessageThatIsSettledWhileItIsReadIsLeftOut() {
    record(1, moved(3, 1));
    rig.now += 1_000;
    RetryAnswer answer =
        due(
            (place, length) -> {
              record(1, new Outcome.Settled(3));
              return null;
            });
    assertThat(answer.due()).isEmpty();
  }

  /**
   * Whatever is told in whatever order: the figures are those of the rows, and memory those of
   * disk.
   */
  @Property(tries = 200)
  void figuresAndRowsAgree(@ForAll @Size(max = 80) List<Integer> numbers) {
    rig = Rig.opened();
    grant();
    long epoch = 1;
    int letters = 0;
    for (int number : numbers) {
      Random random = new Random(number);
      rig.now += random.nextInt(2_000);
      long offset = random.nextInt(12);
      long queue = random.nextInt(3);
      switch (random.nextInt(9)) {
        case 0, 1, 2 -> {
          Outcome.Way way = Outcome.Way.values()[random.nextInt(3)];
          int attempt = 1 + random.nextInt(3);
          record(
              epoch,
              new Outcome.Failed(offset, attempt, way, random.nextInt(3_000), queue, "x", null));
        }
        case 3, 4 -> record(epoch, parked(offset, queue));
        case 5, 6 -> record(epoch, new Outcome.Settled(offset));
        case 7 -> rig.run(Commands.commit("g", SHARD, epoch, random.nextInt(12)));
        default -> epoch = rig.grant("g", SHARD, "a", epoch).epoch();
      }
      assertThat(letters())
          .as("no dead letter goes by itself")
          .hasSizeGreaterThanOrEqualTo(letters);
      letters = letters().size();
      RetryAnswer answer = answer();
      assertThat(stand().dead()).isEqualTo(letters);
      assertThat(stand().marks()).isEqualTo(answer.known().marks().size());
      assertThat(stand().held()).isEqualTo(answer.known().held().size());
      assertThat(stand().bytes()).isEqualTo((long) SHARE * moved(stand()));
      rig.now += 10_000;
      assertThat(due()).as("nothing is stranded").hasSize(moved(stand())).doesNotHaveDuplicates();
      assertThat(answer().due())
          .allSatisfy(each -> assertThat(each.copy()).isEqualTo(message(each.offset())));
      FailureCounts before = stand();
      rig.data.load(rig.data.read(store -> store));
      assertThat(stand()).isEqualTo(before);
    }
  }
}
