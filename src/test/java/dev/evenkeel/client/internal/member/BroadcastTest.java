package dev.evenkeel.client.internal.member;

import static dev.evenkeel.Futures.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.bus.Link;
import dev.evenkeel.client.Consumer;
import dev.evenkeel.client.ConsumerHandler;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.Delivery;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.StartAt;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whole consumers in mode broadcast, with a cluster that is faked behind their link. */
class BroadcastTest extends MemberBench {
  private static final int SHARDS = 2;

  @TempDir Path temp;

  BroadcastTest() {
    super(SHARDS);
  }

  private ConsumerOptions options(String name) {
    return options()
        .setMember(null)
        .setMode(ConsumerOptions.Mode.BROADCAST)
        .setOffsetsDirectory(temp.resolve(name).toString())
        .setCommitMillis(100);
  }

  private Future<Consumer> start(ConsumerOptions options, List<Integer> seen) {
    return starting(options, numbersTo(seen));
  }

  /** Empty before anything was stored. */
  private String file(String name) {
    try {
      return Files.readString(temp.resolve(name).resolve("g.offsets"));
    } catch (NoSuchFileException e) {
      return "";
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void everyMemberGetsEverythingAndGoesOnWhereItStopped() {
    cluster.append(0, messages(0, 50));
    cluster.append(1, messages(50, 50));
    List<Integer> a = new CopyOnWriteArrayList<>();
    List<Integer> b = new CopyOnWriteArrayList<>();
    Consumer first = await(start(options("a"), a));
    Consumer second = await(start(options("b"), b));
    Awaitility.await().until(() -> a.size() == 100 && b.size() == 100);
    assertThat(first.ownedShards()).isEqualTo(SHARDS);
    Awaitility.await().until(() -> file("a").contains("\n0 50\n1 50\n"));
    await(first.close());
    cluster.append(0, messages(100, 10));
    Awaitility.await().until(() -> b.size() == 110);
    Consumer again = await(start(options("a"), a));
    assertThat(again.member()).as("its name is in the directory").isEqualTo(first.member());
    Awaitility.await().until(() -> a.size() == 110);
    await(again.close());
    await(second.close());
    assertThat(a).containsExactlyInAnyOrderElementsOf(b).doesNotHaveDuplicates();
    assertThat(file("b")).contains("\n0 60\n1 50\n");
    assertThat(cluster.commands()).as("nothing is committed in the log").isEmpty();
    Heartbeat last = cluster.heartbeats().get(cluster.heartbeats().size() - 1);
    assertThat(last.mode()).isEqualTo("broadcast");
    assertThat(last.marks()).isEmpty();
  }

  @Test
  void theEndIsStoredBeforeAnythingIsRead() {
    cluster.append(0, messages(0, 50));
    Consumer first = await(start(options("a").setStart(StartAt.LATEST), seen));
    Awaitility.await().until(() -> first.ownedShards() == SHARDS);
    assertThat(file("a")).contains("\n0 50\n1 0\n");
    await(first.close());
    cluster.append(0, messages(50, 5));
    // Where it began counts, not where the end is now.
    Consumer second = await(start(options("a").setStart(StartAt.LATEST), seen));
    Awaitility.await().until(() -> seen.size() == 5);
    await(second.close());
    assertThat(seen).containsExactly(50, 51, 52, 53, 54);
  }

  @Test
  void oneDirectoryServesOneMember() {
    Consumer first = await(start(options("a").setMember("x"), new ArrayList<>()));
    assertThat(failure(start(options("a").setMember("x"), new ArrayList<>())))
        .isInstanceOf(RefusedException.class)
        .hasMessageContaining("in use by another consumer");
    Awaitility.await().until(() -> first.ownedShards() == SHARDS);
    await(first.close());
    assertThat(failure(start(options("a").setMember("y"), new ArrayList<>())))
        .hasMessageContaining("is of member x, not y");
    await(await(start(options("a").setMember("x"), new ArrayList<>())).close());
  }

  @Test
  void aDamagedFileIsRefusedOrReplacedAsAsked() throws IOException {
    cluster.append(0, messages(0, 20));
    Consumer first = await(start(options("a"), seen));
    Awaitility.await().until(() -> seen.size() == 20);
    await(first.close());
    Path path = temp.resolve("a").resolve("g.offsets");
    byte[] bytes = Files.readAllBytes(path);
    bytes[bytes.length / 2] ^= 1;
    Files.write(path, bytes);
    assertThat(failure(start(options("a"), seen)))
        .isInstanceOf(RefusedException.class)
        .hasMessageContaining("is damaged (its checksum");
    assertThat(Files.readAllBytes(path)).as("left as it is").isEqualTo(bytes);
    Consumer again =
        await(
            start(
                options("a").setOnDamagedOffsets(ConsumerOptions.OnDamagedOffsets.EARLIEST), seen));
    Awaitility.await().until(() -> seen.size() == 40);
    await(again.close());
    assertThat(Files.readAllBytes(temp.resolve("a").resolve("g.offsets.damaged"))).isEqualTo(bytes);
  }

  @Test
  void whatRetentionHasDroppedIsPassedOver() {
    cluster.append(0, messages(0, 20));
    Consumer first = await(start(options("a"), seen));
    Awaitility.await().until(() -> seen.size() == 20);
    await(first.close());
    cluster.append(0, messages(20, 10));
    cluster.append(0, messages(30, 10));
    cluster.dropBefore(0, 30);
    Consumer again = await(start(options("a"), seen));
    Awaitility.await().until(() -> seen.size() == 30);
    await(again.close());
    assertThat(seen.subList(20, 30)).containsExactly(30, 31, 32, 33, 34, 35, 36, 37, 38, 39);
    assertThat(file("a")).contains("\n0 40\n");
  }

  /** The topic is read again from where it was left, however often that happens. */
  @Test
  void aTopicThatWasLeftWithWorkUnderWayIsReadAgain() {
    cluster.createTopic(2, "u");
    cluster.serve(
        Addresses.groups("n1"), request -> Future.succeededFuture(Frames.answer(new byte[0])));
    cluster.append(0, messages(0, 2));
    List<Promise<Void>> held = new CopyOnWriteArrayList<>();
    Consumer consumer =
        start(
            options("a").setTopics(List.of("t", "u")),
            delivery -> {
              seen.add(number(delivery));
              Promise<Void> done = Promise.promise();
              if (number(delivery) == 1) {
                held.add(done);
              } else {
                done.complete();
              }
              return done.future();
            });
    for (int times = 1; times <= 3; times++) {
      int begun = times;
      Awaitility.await().until(() -> held.size() == begun);
      await(consumer.unsubscribe("t"));
      Awaitility.await().until(() -> consumer.ownedShards() == SHARDS);
      held.get(times - 1).complete();
      await(consumer.subscribe("t"));
    }
    Awaitility.await().until(() -> held.size() == 4);
    held.get(3).complete();
    Awaitility.await().until(() -> file("a").contains("\n0 2\n"));
    assertThat(seen).containsExactly(0, 1, 1, 1, 1);
    await(consumer.close());
  }

  @Test
  void whatFailsIsTriedAgainHereAndThenPassedOver() {
    List<String> tries = new CopyOnWriteArrayList<>();
    cluster.append(0, messages(0, 3));
    Consumer consumer =
        start(
            options("a").setRetryDelaysMillis(List.of(10L, 10L)),
            delivery -> {
              tries.add(number(delivery) + "/" + delivery.attempt());
              return number(delivery) == 1
                  ? Future.failedFuture("poison")
                  : Future.succeededFuture();
            });
    Awaitility.await().until(() -> file("a").contains("\n0 3\n"));
    assertThat(tries).containsExactly("0/1", "1/1", "1/2", "1/3", "2/1");
    await(consumer.close());
    assertThat(cluster.commands()).isEmpty();
  }

  @Test
  void progressIsStoredAlsoWithoutAConnection() {
    cluster.append(0, messages(0, 30));
    Consumer first = await(start(options("a").setCommitMillis(60_000), seen));
    Awaitility.await().until(() -> seen.size() == 30);
    cluster.become(Link.State.LOST);
    await(first.close());
    assertThat(file("a")).contains("\n0 30\n");
  }

  @Test
  void aHandlerWithStateIsRefused() {
    ConsumerHandler handler =
        new ConsumerHandler() {
          @Override
          public Future<Void> handle(Delivery delivery) {
            return Future.succeededFuture();
          }

          @Override
          public boolean keepsState() {
            return true;
          }

          @Override
          public boolean givesState() {
            return true;
          }
        };
    assertThat(failure(starting(options("a"), handler)))
        .hasMessageContaining("state in mode broadcast");
  }
}
