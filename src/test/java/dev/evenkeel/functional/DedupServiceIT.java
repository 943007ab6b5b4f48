package dev.evenkeel.functional;

import static dev.evenkeel.Futures.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Evenkeel;
import dev.evenkeel.TestUsers;
import dev.evenkeel.Wait;
import dev.evenkeel.client.Dedup;
import dev.evenkeel.client.DedupClaim;
import dev.evenkeel.client.EvenkeelClient;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Four programs claim a few keys without a topic, at three nodes, while one is killed, one hangs,
 * and nodes are killed: never are two sure of one key at the same time, and everybody goes on.
 */
@Timeout(3_600)
class DedupServiceIT {
  private static final int RUNS = Integer.getInteger("evenkeel.dedupServiceRuns", 1);
  private static final int KEYS = 5;
  private static final int THREADS = 6;
  private static final int WORK_MILLIS = 15;

  /** The program that hangs works for so long that it has keys then. */
  private static final int LONG_MILLIS = 400;

  private static final long UNHEARD_MILLIS = 7_000;

  @TempDir Path directory;

  /** Who was sure of a key, from when until when. */
  private record Sure(String key, String name, long from, long until, boolean held) {
    static Sure of(String line) {
      String[] words = line.split(" ");
      return new Sure(
          words[0],
          words[1],
          Long.parseLong(words[2]),
          Long.parseLong(words[3]),
          words[4].equals("held"));
    }
  }

  private Trio trio;
  private Path log;
  private final Map<String, Jar.Running> programs = new HashMap<>();

  @Test
  void neverAreTwoSureOfOneKey() throws Exception {
    for (int run = 1; run <= RUNS; run++) {
      run(directory.resolve("run-" + run), run);
    }
  }

  @Test
  void overHttpEachNodeKnowsAClaimUntilItsNodeDies() {
    try (Trio open = new Trio(directory.resolve("http")).start()) {
      String path = "/api/dedup/pages/claims";
      JsonObject works = new JsonObject(open.node(1).post(path, "{\"key\":\"k\"}").body());
      assertThat(works.getString("state")).isEqualTo("working");
      String claim = path + "/" + works.getString("claim");
      assertThat(new JsonObject(open.node(2).get(claim).body())).as("passed on").isEqualTo(works);
      JsonObject waits = new JsonObject(open.node(3).post(path, "{\"key\":\"k\"}").body());
      assertThat(waits.getString("state")).isEqualTo("waiting");
      open.node(1).kill();
      String next = path + "/" + waits.getString("claim") + "?waitMs=5000";
      Wait.until(
          "the key of the dead node is free",
          60,
          () -> open.node(2).get(next).body().contains("\"working\""));
      Wait.until("the claim has ended", 60, () -> open.node(2).get(claim).statusCode() == 404);
      assertThat(new JsonObject(open.node(3).delete(next.replaceAll("\\?.*", "")).body()))
          .isEqualTo(new JsonObject().put("claim", waits.getString("claim")).put("held", true));
      // Without a majority nobody gets a key.
      open.node(2).kill();
      Wait.until(
          "no claim goes ahead",
          90,
          () -> open.node(3).post(path, "{\"key\":\"another\"}").statusCode() == 503);
      for (int number : List.of(1, 2)) {
        open.begin(number);
      }
      open.awaitReady(1);
      open.awaitReady(2);
    }
  }

  private void run(Path place, int number) throws Exception {
    log = Files.createDirectories(place).resolve("sure.log");
    programs.clear();
    trio = new Trio(place).start();
    try (Trio open = trio) {
      for (String name : List.of("steady", "killed", "hung")) {
        start(place, name, "session");
      }
      start(place, "bus", "bus");
      awaitWorkOf("steady", "killed", "hung", "bus");

      Jar.Running hung = programs.get("hung").mayPause();
      signal(hung, "STOP");
      programs.get("killed").kill();
      Node dead = trio.node(1 + number % 3);
      dead.kill();
      if (number % 2 == 0) {
        // Its claims are lost by then, and the cluster has not given them up.
        Thread.sleep(UNHEARD_MILLIS);
      } else {
        awaitWorkOf("steady", "bus");
      }
      signal(hung, "CONT");
      awaitWorkOf("steady", "bus", "hung");
      dead.begin();
      dead.awaitReady();
      awaitWorkOf("steady", "bus", "hung");

      // The one who dispatches, and sweeps the keys of the dead.
      Node dispatcher = trio.dispatcher(dead);
      start(place, "second", "session");
      awaitWorkOf("second");
      programs.get("second").kill();
      dispatcher.kill();
      awaitWorkOf("steady", "bus", "hung");
      dispatcher.begin();
      dispatcher.awaitReady();
      awaitWorkOf("steady", "bus", "hung");
      for (String name : List.of("steady", "bus", "hung")) {
        programs.get(name).process.destroy();
        assertThat(programs.get(name).process.onExit().join().exitValue()).isZero();
      }
      everyKeyIsFree();
    } finally {
      programs.values().forEach(each -> each.process.destroyForcibly());
    }
    judge(number);
  }

  private void start(Path place, String name, String way) {
    List<String> classPath = new ArrayList<>(Program.clientClassPath());
    classPath.addAll(Program.clusteredLibraries());
    boolean hangs = name.equals("hung");
    List<String> arguments =
        new ArrayList<>(
            List.of(
                trio.cluster(),
                name,
                String.valueOf(KEYS),
                String.valueOf(THREADS),
                String.valueOf(hangs ? LONG_MILLIS : WORK_MILLIS),
                log.toString(),
                way));
    if (hangs) {
      // So it surely has one when it hangs.
      arguments.add("held");
    }
    programs.put(
        name,
        Program.start(
                place,
                name,
                classPath,
                DedupServiceMember.class.getName(),
                arguments.toArray(String[]::new))
            .inCrowd());
  }

  private static void signal(Jar.Running program, String name) throws IOException {
    Process kill =
        new ProcessBuilder("kill", "-" + name, String.valueOf(program.process.pid())).start();
    assertThat(kill.onExit().join().exitValue()).isZero();
  }

  private List<Sure> all() throws IOException {
    return Files.exists(log) ? Files.readAllLines(log).stream().map(Sure::of).toList() : List.of();
  }

  /** Each of them has worked on every key from now on. */
  private void awaitWorkOf(String... names) {
    long now = System.nanoTime();
    for (String name : names) {
      Wait.until(
          name + " works on every key",
          90,
          () -> {
            assertThat(programs.get(name).process.isAlive()).as(name).isTrue();
            return all().stream()
                    .filter(each -> each.name.equals(name) && each.from > now && each.held)
                    .map(Sure::key)
                    .distinct()
                    .count()
                == KEYS;
          });
    }
  }

  private void everyKeyIsFree() throws Exception {
    EvenkeelClient client =
        await(Evenkeel.connect(TestUsers.options().setSeeds(List.of(trio.cluster().split(",")))));
    Dedup dedup = client.dedup("judged");
    for (int i = 0; i < KEYS; i++) {
      Optional<DedupClaim> claim = await(dedup.claim("k" + i));
      assertThat(claim).isPresent();
      assertThat(claim.get().isHeld()).isTrue();
      assertThat(await(claim.get().giveBack())).isTrue();
    }
    await(client.close());
  }

  private void judge(int run) throws IOException {
    List<Sure> all = new ArrayList<>(all());
    all.sort(Comparator.comparing(Sure::from));
    Map<String, Sure> last = new HashMap<>();
    List<String> overlaps = new ArrayList<>();
    Map<String, Integer> works = new HashMap<>();
    for (Sure each : all) {
      works.merge(each.name, 1, Integer::sum);
      Sure before = last.get(each.key);
      if (before != null && each.from < before.until) {
        overlaps.add(before + " and " + each);
      }
      if (before == null || each.until > before.until) {
        last.put(each.key, each);
      }
    }
    System.err.println(
        "DedupServiceIT: run "
            + run
            + " of "
            + RUNS
            + ": "
            + new JsonObject(new HashMap<String, Object>(works)).encode()
            + ", lost "
            + all.stream().filter(each -> !each.held).count());
    assertThat(overlaps).isEmpty();
    assertThat(all).anyMatch(each -> each.name.equals("hung") && !each.held);
  }
}
