package dev.evenkeel.chaos;

import static dev.evenkeel.Loops.each;
import static dev.evenkeel.Loops.times;

import dev.evenkeel.PrometheusText;
import dev.evenkeel.functional.Jar;
import dev.evenkeel.functional.Node;
import dev.evenkeel.functional.Replicas;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * One run: nodes and clients are started; faults come and go as the seed decides; then all is
 * healed, and everything must be well within a minute. In the end the log is read, and what clients
 * saw is judged.
 */
final class ChaosRun {
  private static final int SHARDS = 6;

  /** From the end of the last fault until all is well; longer where processors are short. */
  private static final double CONVERGENCE_SECONDS = 60;

  /** Of the time that was asked for, this much is for starting, converging and judging. */
  private static final long OTHER_MILLIS = 60_000;

  private static final int PROBES = 60;

  private final long seed;
  private final long faultMillis;
  private final Path directory;
  private final Violations violations = new Violations();
  private List<Schedule.Planned> plan = List.of();
  private long beginNanos;
  private String notYet = "";

  ChaosRun(long seed, long millis, Path directory) {
    this.seed = seed;
    this.faultMillis = Math.max(20_000, millis - OTHER_MILLIS);
    this.directory = directory;
  }

  /** What was done to whom, one line each. */
  String plan() {
    return plan.stream().map(Object::toString).collect(Collectors.joining("\n"));
  }

  private String since() {
    return "%6.1f s".formatted((System.nanoTime() - beginNanos) / 1e9);
  }

  private void say(String what) {
    System.out.println(since() + "  " + what);
  }

  Violations run() throws IOException {
    beginNanos = System.nanoTime();
    try (Network network = Network.open()) {
      // Not before: a run that was killed may have left mounts there.
      removeFormer();
      plan = Schedule.of(seed, faultMillis, Injector.possible(network));
      System.out.println("seed " + seed + ", faults:\n" + plan());
      try (Machines machines = new Machines(directory, network, violations)) {
        machines.startNodes();
        say("nodes are ready");
        machines.node("n1").createTopic(ChaosClient.TOPIC, SHARDS);
        Schedule.CLIENTS.forEach(machines::startClient);
        boolean joined =
            Conditions.within(
                120 * Jar.crowding(),
                () ->
                    Schedule.CLIENTS.stream().allMatch(each -> machines.told(each, "joined") > 0));
        if (!joined) {
          violations.add("clients did not join before any fault", "");
          return violations;
        }
        say("clients have joined");
        Monitor monitor =
            new Monitor(
                machines.trio().nodes.stream().map(Node::url).toList(),
                directory.resolve("events-leases"));
        ScheduledExecutorService threads = Executors.newScheduledThreadPool(2);
        threads.scheduleWithFixedDelay(monitor::look, 0, 300, TimeUnit.MILLISECONDS);
        threads.scheduleWithFixedDelay(
            () -> machines.supervise(System.nanoTime(), since()), 1, 1, TimeUnit.SECONDS);
        try {
          inject(machines);
          converge(machines, monitor);
          compareReplicas(machines, monitor);
        } finally {
          threads.shutdownNow();
        }
        judge(machines, monitor);
      }
    }
    return violations;
  }

  private void removeFormer() throws IOException {
    if (Files.exists(directory)) {
      try (var files = Files.walk(directory)) {
        each(files.sorted(Comparator.reverseOrder()).toList(), file -> Files.delete(file));
      }
    }
    Files.createDirectories(directory);
  }

  /**
   * Ends come before beginnings of the same time; what takes longer than planned moves the rest.
   */
  private void inject(Machines machines) {
    Injector injector = new Injector(machines, seed, violations);
    record Step(long atMillis, boolean begins, Schedule.Planned planned) {}
    List<Step> steps = new ArrayList<>();
    for (Schedule.Planned planned : plan) {
      steps.add(new Step(planned.beginMillis(), true, planned));
      steps.add(new Step(planned.endMillis(), false, planned));
    }
    steps.sort(Comparator.comparingLong(Step::atMillis).thenComparing(Step::begins));
    long firstNanos = System.nanoTime();
    long lateMillis = 0;
    for (Step step : steps) {
      long due = step.atMillis() + lateMillis;
      long now = (System.nanoTime() - firstNanos) / 1_000_000;
      if (now < due) {
        Conditions.within((due - now) / 1e3, () -> false);
      } else if (!step.begins() || now - due > 1_000) {
        lateMillis += now - due;
      }
      say((step.begins() ? "begins " : "ends   ") + step.planned());
      if (step.begins()) {
        injector.begin(step.planned());
      } else {
        injector.end(step.planned());
      }
    }
  }

  // Convergence

  private void converge(Machines machines, Monitor monitor) {
    long healed = System.nanoTime();
    say("all faults have ended");
    Schedule.CLIENTS.forEach(client -> machines.tell(client, "finish"));
    double bound = CONVERGENCE_SECONDS * Jar.crowding();
    boolean well = Conditions.within(bound, () -> well(machines, monitor, 1));
    if (!well) {
      String what = notYet;
      boolean later = Conditions.within(180, () -> well(machines, monitor, 1));
      long seconds = (System.nanoTime() - healed) / 1_000_000_000L;
      violations.add(
          "not well in %.0f s after the last fault".formatted(bound),
          what + (later ? ": well after " + seconds + " s" : ": never well"));
      if (!later) {
        violations.add("never well", notYet);
        return;
      }
    }
    say("all is well %.1f s after the last fault".formatted((System.nanoTime() - healed) / 1e9));
    Schedule.CLIENTS.forEach(client -> machines.tell(client, "send " + PROBES));
    if (!Conditions.within(30 * Jar.crowding(), () -> well(machines, monitor, 2))) {
      violations.add("not in use again after all was well", notYet);
    }
    say("in use again");
  }

  /** All nodes come to the same entry of each log group, and have the same state then. */
  private void compareReplicas(Machines machines, Monitor monitor) {
    String url = machines.node("n1").url() + "/api/cluster";
    String[] differ = {""};
    String[] behind = {"n1 does not answer"};
    boolean compared =
        Conditions.within(
            60 * Jar.crowding(),
            () -> {
              JsonObject cluster = new JsonObject(monitor.get(url).body());
              differ[0] = Replicas.difference(cluster);
              behind[0] = Replicas.behind(cluster);
              return !differ[0].isEmpty() || behind[0].isEmpty();
            });
    if (!differ[0].isEmpty()) {
      violations.add("replicas have come to different states", differ[0]);
      machines.keepData();
    } else if (!compared) {
      violations.add("replicas do not come to the same entry", behind[0]);
    }
    say("replicas have been compared");
  }

  /**
   * All nodes are ready; one dispatcher is active; each shard of each group has an owner that
   * lives, no lag, and no message that is to be tried again; the clients know what became of what
   * they sent.
   *
   * @param finished how often they have finished sending
   */
  private boolean well(Machines machines, Monitor monitor, int finished) throws IOException {
    notYet = obstacle(machines, monitor, finished);
    return notYet.isEmpty();
  }

  private static String obstacle(Machines machines, Monitor monitor, int finished)
      throws IOException {
    double dispatchers = 0;
    for (String name : Schedule.NODES) {
      String url = machines.node(name).url();
      try {
        if (monitor.get(url + "/health/ready").statusCode() != 200) {
          return name + " is not ready: " + monitor.get(url + "/health/ready").body();
        }
        dispatchers +=
            PrometheusText.parse(monitor.get(url + "/metrics").body())
                .sum("evenkeel_dispatcher_active");
      } catch (IOException e) {
        return name + " does not answer: " + e;
      }
    }
    if (dispatchers != 1) {
      return dispatchers + " dispatchers are active";
    }
    for (String group : ChaosClient.GROUPS) {
      JsonObject described = monitor.group(machines.node("n1").url(), group);
      if (described == null) {
        return "n1 does not tell of " + group;
      }
      for (Object each : described.getJsonArray("shards")) {
        JsonObject shard = (JsonObject) each;
        if (!"OWNED".equals(shard.getString("state"))
            || !isOwner(group, shard.getString("owner"))
            || !Long.valueOf(0).equals(shard.getLong("lag"))) {
          return group + " " + shard;
        }
      }
      JsonObject failures = described.getJsonObject("failures", new JsonObject());
      if (failures.getLong("retriesWaiting", 0L) + failures.getLong("parked", 0L) > 0) {
        return group + " " + failures;
      }
    }
    for (String client : Schedule.CLIENTS) {
      if (machines.told(client, "joined") == 0) {
        return client + " has not joined yet";
      }
      if (machines.told(client, "finished") < finished) {
        return client + " does not know yet what became of what it sent";
      }
    }
    return "";
  }

  private static boolean isOwner(String group, String owner) {
    return owner != null
        && (group.equals(ChaosClient.LEVEL)
            ? owner.startsWith("dispatcher@")
            : Schedule.CLIENTS.contains(owner));
  }

  // Judgement

  private void judge(Machines machines, Monitor monitor) throws IOException {
    MessageLog log = new MessageLog(SHARDS, violations);
    String url = machines.node("n1").url();
    times(SHARDS, shard -> read(monitor, url, shard, log));
    List<Event.Lease> leases = new ArrayList<>();
    for (String group : ChaosClient.GROUPS) {
      JsonObject described = monitor.group(url, group);
      if (described != null) {
        leases.addAll(Monitor.leases(group, described));
      }
    }
    JsonObject singleton = monitor.group(url, ChaosClient.SINGLETON);
    Map<String, Long> terms = new HashMap<>();
    if (singleton != null && singleton.getJsonObject("singleton").getLong("term") != null) {
      terms.put(ChaosClient.SINGLETON, singleton.getJsonObject("singleton").getLong("term"));
    }
    long readNanos = System.nanoTime();
    Schedule.CLIENTS.forEach(client -> machines.stop(client));
    Checker checker = new Checker(log, ChaosClient.GROUPS, violations);
    boolean[] asked = new boolean[1];
    EventFiles.read(
        machines.events(),
        event -> {
          // While one client after the other leaves, the last ones take over, with epochs and terms
          // that were not there yet when the groups were asked.
          if (!asked[0] && event.nanos() > readNanos) {
            asked[0] = true;
            checker.end(leases, terms);
          }
          checker.take(event);
        });
    if (!asked[0]) {
      checker.end(leases, terms);
    }
    machines
        .clientOutput()
        .forEach(
            (run, lines) ->
                lines.stream()
                    .filter(line -> line.startsWith("damaged") || line.startsWith("ended"))
                    .forEach(line -> violations.add("a client says", run + ": " + line)));
    Files.writeString(
        directory.resolve("verdict"), plan() + "\n" + checker.figures() + "\n" + violations);
    say(checker.figures() + (violations.isEmpty() ? " all held" : "\n" + violations));
  }

  private void read(Monitor monitor, String url, int shard, MessageLog log) throws IOException {
    var messages = url + "/api/topics/" + ChaosClient.TOPIC + "/messages?limit=1000&shard=" + shard;
    while (true) {
      String next = messages + "&offset=" + log.end(shard);
      JsonArray page = new JsonArray();
      boolean read =
          Conditions.within(
              30,
              () -> {
                page.clear();
                page.addAll(new JsonArray(monitor.get(next).body()));
                return true;
              });
      if (!read) {
        violations.add("the log cannot be read", next);
        return;
      }
      for (Object each : page) {
        JsonObject message = (JsonObject) each;
        if (message.getLong("offset") != log.end(shard)) {
          violations.add("log: gap", shard + "/" + log.end(shard) + " is followed by " + message);
          return;
        }
        log.add(
            shard, message.getString("key"), ChaosClient.sequence(message.getString("payload")));
      }
      if (page.isEmpty()) {
        return;
      }
    }
  }
}
