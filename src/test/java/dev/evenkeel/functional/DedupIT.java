package dev.evenkeel.functional;

import static dev.evenkeel.Futures.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Closing;
import dev.evenkeel.Evenkeel;
import dev.evenkeel.TestUsers;
import dev.evenkeel.Wait;
import dev.evenkeel.client.Producer;
import dev.evenkeel.client.ProducerOptions;
import dev.evenkeel.cluster.ClusterMember;
import dev.evenkeel.cluster.LiteMember;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Three consumer processes share the work on 500 payloads that come again and again: of one payload
 * never two runs at once, and whatever was declined is seen by a run that begins later. Short here;
 * {@code -Pfull} takes 20,000 messages.
 */
@Timeout(600)
class DedupIT {
  private static final int MESSAGES = Integer.getInteger("evenkeel.dedupMessages", 4_000);
  private static final int PAYLOADS = 500;
  private static final double EXPONENT = 1.1;
  private static final int WORK_MILLIS = 20;
  private static final int MESSAGES_A_SECOND = 2_000;

  /** Who is held up by a busy machine is not taken for dead: then nothing may come twice. */
  private static final int PATIENT_MILLIS = 60_000;

  private static final int USUAL_MILLIS = 5_000;
  private static final List<String> NAMES = List.of("a", "b", "c");

  @TempDir static Path shared;
  @Closing private static Node node;

  @TempDir Path directory;
  private String topic;
  private String group;
  private final Map<String, Jar.Running> members = new LinkedHashMap<>();
  private Path log;
  private FileChannel file;
  private boolean mapLost;

  @BeforeAll
  static void start() {
    node = new Node(shared.resolve("node")).start();
  }

  private interface Disturbance {
    void at(int sent) throws Exception;
  }

  @Test
  void ofOnePayloadOneRunAtATimeAndOneAfterTheLastMessage() throws Exception {
    try {
      DedupCheck check = run("calm", PATIENT_MILLIS, sent -> {});
      // The members tell with their heartbeats.
      Wait.untilAsserted(
          "every message is run or declined",
          () -> assertThat(dedup().getLong("declined")).isEqualTo(MESSAGES - check.runs()));
      JsonObject dedup = dedup();
      report("undisturbed", check, dedup);
      assertThat(check.overlaps()).isEmpty();
      assertThat(check.missed()).isEmpty();
      assertThat(check.members()).isEqualTo(Set.copyOf(NAMES));
      assertThat(dedup.getString("mode")).isEqualTo("payload");
      assertThat(dedup.getLong("declined")).isGreaterThan(MESSAGES / 20);
      assertThat(dedup.getLong("lost") + dedup.getLong("unguarded")).isZero();
      assertThat(dedup.getJsonObject("repetition").getString("level")).isEqualTo("high");
      assertThat(dedup.getJsonArray("hot")).isNotEmpty();
      stopAll();
    } finally {
      close();
    }
  }

  @Test
  void aKilledConsumerAndALostMapCostRunsAndNothingElse() throws Exception {
    try {
      ClusterMember other = await(LiteMember.join(node.port));
      DedupCheck check =
          run(
              "disturbed",
              USUAL_MILLIS,
              sent -> {
                if (sent == MESSAGES / 2) {
                  ConsumerProcess.append(file, DedupCheck.KILLED + " - c");
                  members.remove("c").kill();
                } else if (sent >= MESSAGES * 3 / 4 && !mapLost) {
                  // Every place is taken away, if there is one at the moment.
                  Set<String> owners = await(other.dedup().sweep(Set.of(), Set.of())).unknown();
                  mapLost = await(other.dedup().sweep(Set.of(), owners)).evicted() > 0;
                }
              });
      assertThat(mapLost).isTrue();
      assertThat(check.missed()).isEmpty();
      // The members tell with their heartbeats.
      Wait.untilAsserted(
          "overlapping runs " + check.overlaps() + " are counted",
          () -> {
            JsonObject dedup = dedup();
            assertThat(dedup.getLong("lost") + dedup.getLong("unguarded"))
                .isGreaterThanOrEqualTo(check.overlaps().size());
          });
      report("one killed, map lost", check, dedup());
      await(other.close());
      stopAll();
    } finally {
      close();
    }
  }

  @Test
  @Tag("full")
  void shardsThatComeAndGoLetNoTwoRunsOverlap() throws Exception {
    try {
      DedupCheck check =
          run(
              "resharded",
              PATIENT_MILLIS,
              sent -> {
                int shards = sent == MESSAGES / 4 ? 12 : sent == MESSAGES / 2 ? 3 : 0;
                if (shards > 0) {
                  node.admin("topic", "reshard", topic, "--shards", String.valueOf(shards));
                }
              });
      report("resharded", check, dedup());
      assertThat(check.overlaps()).isEmpty();
      assertThat(check.missed()).isEmpty();
      stopAll();
    } finally {
      close();
    }
  }

  /** Each run has a topic and a group of its own. */
  private DedupCheck run(String kind, int timeoutMillis, Disturbance disturbance) throws Exception {
    topic = kind + "-refreshes";
    group = kind + "-cache";
    log = directory.resolve("runs.log");
    file = ConsumerProcess.appending(log.toString());
    node.createTopic(topic, 6);
    NAMES.forEach(name -> start(name, timeoutMillis));
    awaitOwners();
    produce(disturbance);
    node.awaitConsumed(group, MESSAGES);
    Wait.untilAsserted(
        "nobody works or waits",
        () -> {
          JsonObject dedup = dedup();
          assertThat(dedup.getLong("processing")).isZero();
          assertThat(dedup.getLong("waiting")).isZero();
        });
    return new DedupCheck(Files.readAllLines(log));
  }

  private void start(String name, int timeoutMillis) {
    members.put(
        name,
        Program.start(
                directory,
                name,
                Program.clientClassPath(),
                DedupMember.class.getName(),
                node.cluster(),
                topic,
                group,
                name,
                String.valueOf(WORK_MILLIS),
                log.toString(),
                String.valueOf(timeoutMillis))
            .inCrowd());
  }

  private void awaitOwners() {
    Wait.until(
        "each has two shards",
        120,
        () ->
            NAMES.stream()
                .allMatch(
                    name ->
                        node.shards(group).stream()
                                .filter(
                                    shard ->
                                        "OWNED".equals(shard.getString("state"))
                                            && name.equals(shard.getString("owner")))
                                .count()
                            == 2));
  }

  /** Zipf's distribution over the payloads, without keys, at a steady rate. */
  private void produce(Disturbance disturbance) throws Exception {
    double[] sums = new double[PAYLOADS];
    double sum = 0;
    for (int i = 0; i < PAYLOADS; i++) {
      sum += Math.pow(i + 1, -EXPONENT);
      sums[i] = sum;
    }
    SplittableRandom random = new SplittableRandom(11);
    var client = await(Evenkeel.connect(TestUsers.options().setSeeds(List.of(node.cluster()))));
    try {
      Producer producer = await(client.producer(new ProducerOptions().setTopic(topic)));
      List<Future<?>> acks = new ArrayList<>();
      long begin = System.nanoTime();
      for (int sent = 0; sent < MESSAGES; sent++) {
        disturbance.at(sent);
        long due = begin + sent * 1_000_000_000L / MESSAGES_A_SECOND;
        TimeUnit.NANOSECONDS.sleep(due - System.nanoTime());
        int found = Arrays.binarySearch(sums, random.nextDouble() * sum);
        String payload = "p" + (found < 0 ? -found - 1 : found);
        ConsumerProcess.append(file, DedupCheck.PRODUCED + " " + payload + " -");
        acks.add(producer.send(null, payload.getBytes(StandardCharsets.US_ASCII)));
      }
      await(Future.all(acks));
    } finally {
      await(client.close());
    }
  }

  private JsonObject dedup() {
    return new JsonObject(node.read("/api/groups/" + group)).getJsonObject("dedup");
  }

  private static void report(String what, DedupCheck check, JsonObject dedup) {
    System.out.printf(
        "dedup, %s: %d messages of %d payloads, %d runs (%d overlapped), %s%n",
        what, MESSAGES, check.keys(), check.runs(), check.overlaps().size(), dedup.encode());
  }

  private void stopAll() {
    members
        .values()
        .forEach(
            running -> {
              Jar.Result ended = running.stop();
              assertThat(ended.status()).as(ended.toString()).isZero();
            });
  }

  private void close() throws IOException {
    members.values().forEach(running -> running.process.destroyForcibly());
    if (file != null) {
      file.close();
    }
  }
}
