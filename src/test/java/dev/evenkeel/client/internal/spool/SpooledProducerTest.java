package dev.evenkeel.client.internal.spool;

import static dev.evenkeel.Futures.await;
import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.evenkeel.Fails;
import dev.evenkeel.Refused;
import dev.evenkeel.bus.ClusterDirectory;
import dev.evenkeel.bus.FakeLink;
import dev.evenkeel.client.Producer;
import dev.evenkeel.client.Producer.Position;
import dev.evenkeel.client.ProducerOptions;
import dev.evenkeel.client.Source;
import dev.evenkeel.client.SourcePosition;
import dev.evenkeel.client.SpoolingProducer;
import dev.evenkeel.client.internal.Producers;
import dev.evenkeel.client.internal.produce.EpochOpener;
import dev.evenkeel.client.internal.produce.FakeBroker;
import dev.evenkeel.client.internal.produce.core.SimLog;
import dev.evenkeel.client.internal.spool.log.SpoolLog;
import dev.evenkeel.client.internal.spool.log.SpoolState;
import dev.evenkeel.protocol.Compression;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.TopicInfo;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class SpooledProducerTest {
  private static final Source FILE = new Source("/data/lines", new byte[] {1, 2, 3});

  @TempDir Path directory;
  private final Vertx vertx = Vertx.vertx();
  private final FakeLink link = new FakeLink(vertx);
  private final FakeBroker broker = new FakeBroker(link);
  private final ClusterDirectory cluster = new ClusterDirectory(link);
  private final List<SpoolingProducer> started = new ArrayList<>();
  private Path lastDirectory;

  @AfterEach
  void close() {
    started.forEach(producer -> await(producer.close()));
    cluster.close();
    await(vertx.close());
  }

  @Test
  void aMessageIsPromisedTwice() {
    SpoolingProducer producer = start(options());
    broker.hold();
    SpoolingProducer.Receipt receipt = producer.submit(message(1));
    await(receipt.spooled());
    assertThat(receipt.acknowledged().isComplete()).isFalse();
    assertThat(producer.status().pendingMessages()).isEqualTo(1);
    broker.release();
    assertThat(await(receipt.acknowledged()).offset()).isZero();
    assertThat(await(producer.send(message(2))).offset()).isEqualTo(1);
    await(producer.flush());
    assertThat(producer.status().pendingMessages()).isZero();
    assertThat(sent()).containsExactly(1, 2);
  }

  @Test
  void whatAKilledProgramLeftIsSentByTheNextOneOnceAndInOrder() throws IOException {
    SpoolingProducer first = start(options());
    sendAllAndFlush(first, 0, 500);
    broker.hold();
    sendAll(first, 500, 5_000);
    awaitWritten(first, 5_000);
    // As it is on the disk at a kill; what the first still has under way arrives, too.
    Path image = image();
    broker.release();
    SpoolingProducer second = start(options().setSpool(image.toString()));
    assertThat(second.opened().messages()).isGreaterThanOrEqualTo(4_500);
    sendAll(second, 5_000, 6_000);
    flushed(second, 6_000);
    assertThat(second.status().lostMessages()).isZero();
  }

  @ParameterizedTest
  @EnumSource(Compression.class)
  void aSpoolKeepsBatchesAsTheyWereCompressed(Compression compression) throws IOException {
    SpoolingProducer first = start(options().setCompression(compression));
    broker.hold();
    sendAll(first, 0, 5_000);
    awaitWritten(first, 5_000);
    Path image = image();
    await(first.close());
    broker.release();
    SpoolingProducer second = start(options().setSpool(image.toString()));
    assertThat(second.opened().messages()).isGreaterThanOrEqualTo(5_000);
    flushed(second, 5_000);
    assertThat(broker.compressions).contains(compression);
  }

  @Test
  void killedAgainAndAgainWhileTheBrokerIsAway() throws IOException {
    SpoolingProducer last = start(options());
    broker.hold();
    for (int life = 0; life < 4; life++) {
      sendAll(last, life * 100, life * 100 + 100);
      awaitWritten(last, 100);
      Path image = image();
      // It is dead: later it would open the same epoch as one of its successors.
      await(last.close());
      last = start(options().setSpool(image.toString()));
    }
    broker.release();
    sendAllAndFlush(last, 400, 450);
    assertSentBelow(450);
  }

  @Test
  void moreThanFitsIntoMemoryWaitsOnTheDisk() throws Exception {
    SpoolingProducer producer =
        start(options().setBufferBytes(40_000).setBatchBytes(2_000).setSpoolFlushMessages(50));
    broker.hold();
    List<Future<Position>> some = new ArrayList<>();
    for (int i = 0; i < 20_000; i++) {
      if (i % 1_000 == 999) {
        some.add(producer.send(message(i)));
      } else {
        producer.spoolAll(List.of(message(i)), null);
      }
    }
    awaitWritten(producer, 20_000);
    broker.release();
    flushed(producer, 20_000);
    times(some.size(), i -> assertThat(await(some.get(i)).offset()).isEqualTo(i * 1_000 + 999));
  }

  @Test
  void aSourceGoesOnWhereTheSpoolIs() throws Exception {
    SpoolingProducer first = start(options(), FILE);
    assertThat(first.opened().position()).isEqualTo(SourcePosition.START);
    SourcePosition middle = new SourcePosition(30, 3, 0, false);
    first.spoolAll(List.of(message(0), message(1), message(2)), middle);
    await(first.close());
    assertThatThrownBy(() -> start(options(), null)).hasMessageContaining("3 lines of /data/lines");
    Source other = new Source("/data/others", new byte[0]);
    assertThatThrownBy(() -> start(options(), other)).hasMessageContaining("go on with that file");
    Source rewritten = new Source(FILE.name(), new byte[] {1, 9, 3});
    assertThatThrownBy(() -> start(options(), rewritten)).hasMessageContaining("another file now");
    SpoolingProducer second = start(options(), new Source(FILE.name(), new byte[] {1, 2, 3, 4}));
    assertThat(second.opened().position()).isEqualTo(middle);
    second.spoolAll(List.of(message(3)), new SourcePosition(40, 4, 0, true));
    await(second.flush());
    assertThat(second.status().ackedMessages()).isEqualTo(4);
    await(second.close());
    assertThat(start(options(), FILE).opened().position().complete()).isTrue();
    started.forEach(producer -> await(producer.close()));
    assertThat(start(options(), other).opened().position()).isEqualTo(SourcePosition.START);
    assertThat(sent()).containsExactly(0, 1, 2, 3);
  }

  @Test
  void oneAtATimeAndTheOtherIsNamed() {
    start(options());
    Fails.saying(() -> start(options()), "in use by pid " + ProcessHandle.current().pid());
  }

  @Test
  void aFullSpoolMakesSendersWaitOrRefuses() throws Exception {
    SpoolingProducer producer =
        start(
            options()
                .setSpoolLimitBytes(ProducerOptions.SPOOL_LIMIT_BYTES_MIN)
                .setOnFull(ProducerOptions.OnFull.FAIL));
    broker.hold();
    byte[] large = new byte[1 << 20];
    int taken = 0;
    while (true) {
      Future<Void> spooled = producer.spool(new Message(new byte[] {1}, null, 0, large));
      try {
        await(spooled);
        taken++;
      } catch (RefusedException refused) {
        assertThat(refused.refusal()).isEqualTo(Refusal.OVERLOADED);
        break;
      }
    }
    assertThat(taken).isBetween(20, 33);
    Thread reader =
        new Thread(
            () -> {
              try {
                producer.spoolAll(List.of(message(7)), null);
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
              }
            });
    reader.start();
    await().until(() -> reader.getState() == Thread.State.WAITING);
    broker.release();
    reader.join(60_000);
    assertThat(reader.isAlive()).isFalse();
    await(producer.flush());
    assertThat(producer.status().ackedMessages()).isEqualTo(taken + 1);
  }

  @Test
  void aSecondOneOfTheSameNameFencesTheFirstWhoseMessagesStay() {
    SpoolingProducer first = start(options().setName("p"));
    await(first.send(message(1)));
    Producer second =
        await(Producers.start(link, cluster, new ProducerOptions().setTopic("t").setName("p")));
    Future<Position> late = first.send(message(2));
    Refused.with(Refusal.PRODUCER_FENCED, () -> await(late));
    assertThat(await(second.send(message(3))).offset()).isEqualTo(1);
    assertThat(first.status().pendingMessages()).isEqualTo(1);
    assertThatThrownBy(() -> await(first.ended())).hasMessageContaining("taken this one's name");
  }

  @Test
  void oneThatMissedThatItsNameWasTakenDoesNotTakeItBack() {
    SpoolingProducer first = start(options().setName("p"));
    await(first.send(message(1)));
    ProducerOptions plain = new ProducerOptions().setTopic("t").setName("p");
    Producer second = await(Producers.start(link, cluster, plain));
    await(second.send(message(2)));
    broker.logs.forEach(SimLog::forgetProducer);
    Future<Position> late = first.send(message(3));
    await().until(late::isComplete);
    assertThat(late.cause()).hasMessageContaining("taken this one's name");
    await(second.send(message(4)));
    await(second.close());
    assertThat(sent()).containsExactlyInAnyOrder(1, 2, 4);
  }

  @Test
  void aProgramThatStartsTakesTheNameOver() throws Exception {
    SpoolingProducer first = start(options().setName("p"));
    await(first.send(message(1)));
    await(first.close());
    ProducerOptions plain = new ProducerOptions().setTopic("t").setName("p");
    Producer other = await(Producers.start(link, cluster, plain));
    SpoolingProducer second = start(options().setName("p"));
    await(second.send(message(2)));
    Future<Position> late = other.send(message(3));
    await().until(late::isComplete);
    assertThat(late.cause()).hasMessageContaining("taken this one's name");
    assertThat(sent()).containsExactlyInAnyOrder(1, 2);
  }

  @Test
  void aProducerThatWasForgottenGoesOnButDoesNotGuessAboutAnEarlierRun() throws IOException {
    SpoolingProducer first = start(options());
    sendAllAndFlush(first, 0, 10);
    broker.logs.forEach(SimLog::forgetProducer);
    sendAllAndFlush(first, 10, 20);
    assertSentBelow(20);
    // What is copied while it is written may not be readable.
    await().ignoreExceptions().until(this::allNoted);
    broker.hold();
    sendAll(first, 20, 30);
    awaitWritten(first, 10);
    Path image = image();
    await(first.close());
    broker.logs.forEach(SimLog::forgetProducer);
    broker.release();
    broker.logs.forEach(SimLog::forgetProducer);
    SpoolingProducer second = start(options().setSpool(image.toString()));
    assertThatThrownBy(() -> await(second.ended())).hasMessageContaining("has forgotten");
    assertThat(second.status().pendingMessages()).isEqualTo(11);
    await(second.close());
    var third = start(options().setSpool(image.toString()).setSpoolResend(true).setBufferBytes(1));
    await(third.send(message(30)));
    await(third.flush());
    assertThat(sent()).endsWith(IntStream.rangeClosed(20, 30).boxed().toArray(Integer[]::new));
  }

  @Test
  void killedWhileItOpenedANewEpochItGoesOnWithThatOne() throws IOException {
    SpoolingProducer first = start(options());
    sendAllAndFlush(first, 0, 10);
    await().ignoreExceptions().until(this::allNoted);
    broker.logs.forEach(SimLog::forgetProducer);
    Path image = imageWhileOpening(first, 10, 20);
    SpoolingProducer second = start(options().setSpool(image.toString()));
    sendAllAndFlush(second, 20, 30);
    assertSentBelow(30);
    // And the epoch that it has now is in the spool.
    await(second.close());
    SpoolingProducer third = start(options().setSpool(image.toString()));
    await(third.send(message(30)));
    assertThat(sent()).isEqualTo(IntStream.rangeClosed(0, 30).boxed().toList());
  }

  @Test
  void killedWhileItOpenedANewEpochItKnowsWhatWasAcknowledgedOutOfOrder() throws IOException {
    SpoolingProducer first = start(options());
    Map<Integer, byte[]> keys = new HashMap<>();
    for (byte key = 0; keys.size() < 2; key++) {
      await(first.send(new Message(new byte[] {key}, null, 0, payload(-1))));
      for (int group = 0; group < 2; group++) {
        if (broker.appended(group) > 0 && !keys.containsKey(group)) {
          keys.put(group, new byte[] {key});
        }
      }
    }
    broker.hold(0);
    first.spool(new Message(keys.get(0), null, 0, payload(1)));
    await(first.send(new Message(keys.get(1), null, 0, payload(2))));
    broker.logs.get(1).forgetProducer();
    first.spool(new Message(keys.get(1), null, 0, payload(3)));
    Path image = imageWhileOpening(first, 4, 5);
    broker.release();
    SpoolingProducer second = start(options().setSpool(image.toString()));
    await(second.flush());
    assertThat(sent()).containsExactlyInAnyOrder(1, 2, 3, 4);
  }

  /** The spool of a program that is killed after the data groups know its new epoch. */
  private Path imageWhileOpening(SpoolingProducer producer, int from, int to) throws IOException {
    broker.silentOpens = true;
    int opened = broker.opens;
    sendAll(producer, from, to);
    awaitWritten(producer, to - from);
    await().until(() -> broker.opens >= opened + broker.logs.size());
    Path image = image();
    await(producer.close());
    broker.silentOpens = false;
    return image;
  }

  private boolean allNoted() throws IOException {
    Path image = Files.createTempDirectory(directory, "look");
    copy(directory.resolve("spool"), image);
    try (DirectoryStorage storage = new DirectoryStorage(image)) {
      SpoolState state = SpoolLog.open(storage, 1 << 20).state();
      return state.ackedFrame() == state.lastFrame();
    }
  }

  @Test
  void itIsToldWhenTheLogHasMoreThanTheSpool() throws IOException {
    SpoolingProducer first = start(options());
    sendAllAndFlush(first, 0, 10);
    Path image = image();
    sendAllAndFlush(first, 10, 25);
    await(first.close());
    SpoolingProducer second = start(options().setSpool(image.toString()));
    await().until(() -> second.status().lostMessages() == 15);
    await(second.send(message(99)));
    assertThat(sent()).hasSize(26).endsWith(99);
  }

  @Test
  void aSpoolOfAnotherTopicOrNameIsRefused() {
    await(start(options()).close());
    broker.topics = List.of("t", "u");
    // An answer that was under way already does not know the new one.
    await().until(() -> await(cluster.refresh()).topic("u") != null);
    Fails.saying(() -> start(options().setTopic("u")), "is of topic 't'");
    Fails.saying(() -> start(options().setName("p")), "a producer without a name");
    start(options().setTopic("u").setSpoolRestart(true));
  }

  @Test
  void aTopicThatIsDeletedWhileItsSpoolStartsEndsIt() {
    TopicInfo topic = await(cluster.view()).topic("t");
    broker.topics = List.of();
    await().until(() -> await(cluster.refresh()).topic("t") == null);
    EpochOpener opener = new EpochOpener(link, cluster, "");
    SpoolStart start = new SpoolStart(link, cluster, options(), null, null, opener);
    SpoolingProducer producer = await(start.start(topic, 10_000));
    started.add(producer);
    Future<Position> sent = producer.send(message(1));
    await().until(sent::isComplete);
    assertThat(sent.cause()).hasMessageContaining("deleted");
  }

  private ProducerOptions options() {
    return new ProducerOptions().setTopic("t").setSpool(directory.resolve("spool").toString());
  }

  private SpoolingProducer start(ProducerOptions options) {
    return start(options, null);
  }

  private SpoolingProducer start(ProducerOptions options, Source source) {
    var producer = await(Producers.startSpooling(link, cluster, options, null, source));
    started.add(producer);
    return producer;
  }

  private static void sendAllAndFlush(SpoolingProducer producer, int from, int to) {
    sendAll(producer, from, to);
    await(producer.flush());
  }

  /** All numbers below that one are in the log then, each once and in order. */
  private void flushed(SpoolingProducer producer, int below) {
    await(producer.flush());
    assertSentBelow(below);
  }

  private void assertSentBelow(int number) {
    assertThat(sent()).isEqualTo(IntStream.range(0, number).boxed().toList());
  }

  private static void sendAll(SpoolingProducer producer, int from, int to) {
    for (int i = from; i < to; i++) {
      producer.spool(message(i));
    }
  }

  private static void awaitWritten(SpoolingProducer producer, int messages) {
    await(producer.spool(message(-1)).compose(none -> Future.succeededFuture()));
    assertThat(producer.status().spooledMessages()).isGreaterThanOrEqualTo(messages);
  }

  /** The spool as it is now, in another directory. */
  private Path image() throws IOException {
    Path from = lastDirectory == null ? directory.resolve("spool") : lastDirectory;
    Path to = directory.resolve("image-" + started.size());
    Files.createDirectories(to);
    copy(from, to);
    lastDirectory = to;
    return to;
  }

  private static void copy(Path from, Path to) throws IOException {
    try (Stream<Path> files = Files.list(from)) {
      for (Path file : files.filter(f -> f.toString().endsWith(".spool")).toList()) {
        Files.copy(file, to.resolve(file.getFileName()), StandardCopyOption.REPLACE_EXISTING);
      }
    }
  }

  private List<Integer> sent() {
    List<Integer> all = new ArrayList<>();
    times(broker.shards, shard -> all.addAll(broker.messages(shard)));
    all.removeIf(number -> number == -1);
    return all;
  }

  private static Message message(int number) {
    return new Message(new byte[] {1}, null, 0, payload(number));
  }

  private static byte[] payload(int number) {
    return ByteBuffer.allocate(4).putInt(number).array();
  }
}
