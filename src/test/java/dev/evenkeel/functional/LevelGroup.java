package dev.evenkeel.functional;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Unchecked;
import dev.evenkeel.Wait;
import io.vertx.core.json.JsonObject;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;

/** The processes of a group in mode level, and the one file to which all of them append. */
final class LevelGroup implements AutoCloseable {
  static final String TOPIC = "even";
  static final String GROUP = "crew";

  final Path file;
  private final Path directory;
  private final String cluster;
  private final int range;
  private final String strategy;
  private final long stallMillis;
  private final Map<String, Jar.Running> members = new LinkedHashMap<>();

  /**
   * @param cluster nodes to join by
   */
  LevelGroup(Path directory, String cluster, int range, String strategy, long stallMillis) {
    this.directory = directory;
    this.cluster = cluster;
    this.range = range;
    this.strategy = strategy;
    this.stallMillis = stallMillis;
    file = directory.resolve("finished.log");
  }

  Jar.Running start(String member, long workMillis) {
    Jar.Running running =
        Program.start(
                directory,
                member,
                Program.clientClassPath(),
                LevelMember.class.getName(),
                cluster,
                TOPIC,
                GROUP,
                member,
                String.valueOf(range),
                strategy,
                String.valueOf(stallMillis),
                String.valueOf(workMillis),
                file.toString())
            .inCrowd();
    members.put(member, running);
    return running;
  }

  /** Waits until the API names these as members with a bar each, and no others. */
  void awaitBars(Node node, Set<String> names) {
    await(
        "bars of " + names,
        () -> {
          JsonObject level = level(node);
          return level != null
              && level.getJsonArray("bars") != null
              && names.equals(
                  Set.copyOf(
                      level.getJsonArray("bars").stream()
                          .map(bar -> ((JsonObject) bar).getString("member"))
                          .toList()));
        });
  }

  /** Null while there is no such group. */
  JsonObject level(Node node) {
    HttpResponse<String> answer = node.get("/api/groups/" + GROUP);
    return answer.statusCode() == 200 ? new JsonObject(answer.body()).getJsonObject("level") : null;
  }

  /** To be called just before something is done to a member. */
  void mark(String what, String member) {
    Unchecked.run(
        () ->
            Files.writeString(
                file,
                LevelCheck.MARK + " " + what + " " + member + "\n",
                StandardOpenOption.CREATE,
                StandardOpenOption.APPEND));
  }

  /** Waits until all together, or one alone, have finished so many more than now. */
  void awaitMore(int count) {
    long goal = lines().size() + count;
    await(count + " more", () -> lines().size() >= goal);
  }

  void awaitMoreOf(String member, int count) {
    long goal = linesOf(member) + count;
    await(count + " more of " + member, () -> linesOf(member) >= goal);
  }

  private long linesOf(String member) {
    return lines().stream().filter(line -> line.startsWith(member + " ")).count();
  }

  private static void await(String what, Callable<Boolean> condition) {
    Wait.until(what, 120, condition);
  }

  /** Whole lines only. */
  List<String> lines() {
    return Unchecked.get(
        () -> {
          String text = Files.exists(file) ? Files.readString(file) : "";
          return text.substring(0, text.lastIndexOf('\n') + 1).lines().toList();
        });
  }

  static void signal(Jar.Running running, String name) {
    Unchecked.run(
        () -> {
          Process kill =
              new ProcessBuilder("kill", "-" + name, String.valueOf(running.process.pid())).start();
          assertThat(kill.onExit().join().exitValue()).isZero();
        });
  }

  /** SIGTERM to each that lives; it must end in good order. */
  void stopAll() {
    for (Jar.Running running : members.values()) {
      if (running.process.isAlive()) {
        Jar.Result ended = running.stop();
        assertThat(ended.status()).as(ended.toString()).isZero();
      }
    }
  }

  LevelCheck check(Set<String> fromStart) {
    return new LevelCheck(range, fromStart, lines());
  }

  @Override
  public void close() {
    // At once, held ones too.
    members.values().forEach(running -> running.process.destroyForcibly());
  }
}
