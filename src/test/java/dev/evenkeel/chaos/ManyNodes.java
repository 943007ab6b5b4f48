package dev.evenkeel.chaos;

import dev.evenkeel.Evenkeel;
import dev.evenkeel.Futures;
import dev.evenkeel.TestUsers;
import dev.evenkeel.client.EvenkeelClient;
import dev.evenkeel.functional.Footprint;
import dev.evenkeel.functional.Jar;
import dev.evenkeel.functional.Node;
import dev.evenkeel.model.Place;
import dev.evenkeel.model.Step;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.internal.VertxInternal;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * Users who meet four nodes in processes of their own, each on a machine with little memory and a
 * small disk: n1 to n3 form the cluster, and n4 comes and goes. The users are in this process, and
 * each of their connections has threads of its own.
 */
final class ManyNodes implements Place {
  private static final int DISK_MEBIBYTES = 512;
  static final int HEAP_MEBIBYTES = 224;

  /** It comes after the others, and may leave: the names of the others are in their settings. */
  private static final String GUEST = "n4";

  private static final int MANY = 200;

  /** What a full disk has left: less than half of what nodes guard. */
  private static final int FREE_MEBIBYTES = 8;

  private static final double READY_SECONDS = 120;
  private static final double MOVE_SECONDS = 180;
  private static final double EXPIRY_SECONDS = 15;
  private static final long STANDSTILL_SECONDS_MAX = 20;
  private static final long LAG_ENTRIES_MAX = 1_000;

  /** A connection, and the threads that do all of its work. */
  private record User(Vertx vertx, EvenkeelClient client) {}

  private final Network network;
  private final Machines machines;
  private final Injector injector;
  private final Monitor monitor;
  private final Violations violations = new Violations();
  private final Vertx vertx = Vertx.vertx();
  private final List<User> users = new ArrayList<>();
  private final AtomicInteger connected = new AtomicInteger();
  private final AtomicInteger shocks = new AtomicInteger();
  private final List<Step> done = new CopyOnWriteArrayList<>();

  /** Times of the faults, by their kind. */
  private final Map<Step, List<Double>> seconds = new TreeMap<>();

  /**
   * @param connections how many the users have
   */
  ManyNodes(Path directory, int connections) {
    network = Network.open();
    Path own = directory.toAbsolutePath();
    machines = new Machines(own, network, violations, List.of(), DISK_MEBIBYTES, HEAP_MEBIBYTES);
    injector = new Injector(machines, 0, violations);
    monitor = new Monitor(List.of(), own.resolve("unused"));
    machines.startNodes();
    machines.join(GUEST).awaitReady();
    for (int i = 0; i < connections; i++) {
      users.add(connect());
    }
    awaitWell();
  }

  private User connect() {
    Vertx own =
        Vertx.vertx(
            new VertxOptions()
                .setEventLoopPoolSize(2)
                .setBlockedThreadCheckInterval(TimeUnit.HOURS.toMillis(1)));
    return new User(own, Futures.await(connect(own)));
  }

  @Override
  public Future<EvenkeelClient> connect(Vertx own) {
    List<String> seeds = machines.nodes().values().stream().map(Node::cluster).toList();
    return Evenkeel.connect(
        own, TestUsers.optionsOfMachine(connected.getAndIncrement()).setSeeds(seeds));
  }

  /**
   * The users are no members of the cluster: what cuts off a node would not cut it off from them.
   */
  @Override
  public Vertx bus() {
    return null;
  }

  /** Each entry has a copy on another node. */
  @Override
  public boolean keepsMaps() {
    return true;
  }

  @Override
  public EvenkeelClient client(int which) {
    return users.get(which % users.size()).client;
  }

  @Override
  public String http(int which) {
    return url(Math.floorMod(which, machines.nodes().size()));
  }

  private List<String> names() {
    return List.copyOf(machines.nodes().keySet());
  }

  private String url(int which) {
    return machines.node(names().get(which)).url();
  }

  @Override
  public String token(int which) {
    return TestUsers.token(which);
  }

  @Override
  public Vertx vertx() {
    return vertx;
  }

  @Override
  public Set<Step> faults() {
    Set<Step> all =
        EnumSet.of(
            Step.EXPIRE,
            Step.RESTART_NODE,
            Step.KILL_NODE,
            Step.HANG_NODE,
            Step.CUT_NODE,
            Step.FILL_DISK,
            Step.DRAIN_NODE,
            Step.REMOVE_AND_JOIN);
    if (network.noDelay().isEmpty()) {
      all.add(Step.SET_CLOCK);
    }
    return all;
  }

  @Override
  public int many() {
    return MANY;
  }

  @Override
  public void standStill(int client, CountDownLatch until) {
    VertxInternal its = (VertxInternal) users.get(client % users.size()).vertx;
    its.nettyEventLoopGroup().forEach(loop -> loop.execute(() -> await(until)));
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await(STANDSTILL_SECONDS_MAX, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Stops the member until the dispatcher counts it as dead. */
  @Override
  public boolean expire(String group, String member, Consumer<CountDownLatch> standsStill) {
    if (!isMember(group, member)) {
      return false;
    }
    CountDownLatch over = new CountDownLatch(1);
    standsStill.accept(over);
    try {
      return Conditions.within(EXPIRY_SECONDS, () -> !isMember(group, member));
    } finally {
      over.countDown();
    }
  }

  /** As the first node says that answers. */
  private boolean isMember(String group, String member) {
    for (Node node : machines.nodes().values()) {
      try {
        JsonObject described = monitor.group(node.url(), group);
        if (described != null) {
          return described.getJsonArray("members").stream()
              .anyMatch(each -> member.equals(((JsonObject) each).getString("member")));
        }
      } catch (IOException silent) {
        // The next one is asked.
      }
    }
    return true;
  }

  // ---- Faults

  @Override
  public boolean expiresAtOnce() {
    return false;
  }

  @Override
  public synchronized boolean fault(Step step, int a, int b) {
    String node = names().get(a % names().size());
    shocks.incrementAndGet();
    long began = System.nanoTime();
    try {
      switch (step) {
        case RESTART_NODE -> during(Fault.STOP_NODE, node, 0, 0);
        case KILL_NODE -> during(Fault.KILL_NODE, node, 0, b % 3);
        case HANG_NODE -> during(Fault.PAUSE_NODE, node, 0, long_(b));
        case CUT_NODE -> cut(node, b);
        case SET_CLOCK -> during(Fault.CLOCK, node, CLOCK_SECONDS[b % CLOCK_SECONDS.length], 4);
        case FILL_DISK -> fillDisk(node);
        case DRAIN_NODE -> drain(node);
        case REMOVE_AND_JOIN -> removeAndJoin(a, b);
        default -> {
          return false;
        }
      }
      awaitWell();
      done.add(step);
      return true;
    } finally {
      seconds
          .computeIfAbsent(step, any -> new ArrayList<>())
          .add((System.nanoTime() - began) / 1e9);
      shocks.incrementAndGet();
    }
  }

  @Override
  public List<Step> faultsDone() {
    return done;
  }

  /** How far a wall clock is wrong. */
  private static final long[] CLOCK_SECONDS = {2, -2, 60, -60, 3_600, -3_600, 8 * 86_400};

  /** Mostly shorter than the time after which others take a node for gone, sometimes longer. */
  private static long long_(int b) {
    return b % 4 == 0 ? 11 : 1 + b % 3;
  }

  private void during(Fault fault, String node, long amount, long heldSeconds) {
    Schedule.Planned planned = new Schedule.Planned(0, 0, fault, List.of(node), amount);
    injector.begin(planned);
    Conditions.within(heldSeconds, () -> false);
    injector.end(planned);
  }

  /** In one of two cases the users do not reach it, either. */
  private void cut(String node, int b) {
    network.isolate(node);
    if (b / 4 % 2 == 0) {
      network.hideFrom(node);
    }
    Conditions.within(long_(b), () -> false);
    network.heal(node);
  }

  /** The guard of the disk knows it; the node goes on, or is started again. */
  private void fillDisk(String node) {
    machines.mayEnd(node, true);
    machines.fill(node, FREE_MEBIBYTES);
    Conditions.within(4, () -> false);
    machines.makeRoom(node);
    machines.start(node);
    machines.mayEnd(node, false);
  }

  private void drain(String node) {
    change(node, "drain");
    change(node, "undrain");
  }

  /** As an operator does: asks any other node, again and again, until it is done. */
  private void change(String node, String how) {
    String path = "/api/cluster/nodes/" + node;
    List<String> answers = new ArrayList<>();
    boolean done =
        Conditions.within(
            MOVE_SECONDS * Jar.crowding(),
            () -> {
              Node other = other(node);
              answers.add(other.post(path + "/" + how, "").body());
              return "DONE".equals(new JsonObject(last(answers)).getString("state"));
            });
    if (!done) {
      throw new AssertionError(how + " of " + node + " does not end: " + last(answers));
    }
  }

  private Node other(String node) {
    return machines.nodes().entrySet().stream()
        .filter(each -> !each.getKey().equals(node))
        .map(Map.Entry::getValue)
        .findFirst()
        .orElseThrow();
  }

  private static String last(List<String> some) {
    return some.isEmpty() ? "" : some.get(some.size() - 1);
  }

  /** The guest leaves and comes again, or another one loses its disk and is replaced. */
  private void removeAndJoin(int a, int b) {
    if (b % 2 == 0) {
      during(Fault.WIPE_DISK, Schedule.NODES.get(a % Schedule.NODES.size()), 0, 0);
      return;
    }
    machines.leaves(GUEST);
    change(GUEST, "remove");
    Process process = machines.node(GUEST).process().process;
    if (!Conditions.within(READY_SECONDS, () -> !process.isAlive()) || process.exitValue() != 0) {
      throw new AssertionError(GUEST + " does not leave: " + process);
    }
    machines.join(GUEST);
  }

  @Override
  public int shocks() {
    return shocks.get();
  }

  // ---- All is well

  /** A fault of another run may be under way: some node answers all the same. */
  @Override
  public void awaitReady() {
    if (!Conditions.within(
        READY_SECONDS,
        () ->
            Futures.await(client(0).admin().topics()) != null
                && Futures.await(client(1).admin().topics()) != null)) {
      throw new AssertionError("nobody answers users");
    }
    assertSound();
  }

  /** Waits until the cluster is as it was before the fault. */
  void awaitWell() {
    String[] notYet = {"nobody answers"};
    boolean well =
        Conditions.within(
            READY_SECONDS * Jar.crowding(),
            () -> {
              notYet[0] = obstacle();
              return notYet[0].isEmpty();
            });
    if (!well) {
      throw new AssertionError("not well again: " + notYet[0]);
    }
    assertSound();
  }

  private void assertSound() {
    machines.nodes().keySet().stream()
        .filter(machines::isLost)
        .forEach(name -> violations.add("a program ended by itself", name));
    if (!violations.isEmpty()) {
      throw new AssertionError(violations.toString());
    }
  }

  /** Why the cluster could not survive another fault now, or users not use it; empty: nothing. */
  private String obstacle() throws IOException {
    for (Map.Entry<String, Node> each : machines.nodes().entrySet()) {
      String name = each.getKey();
      if (machines.isLost(name)) {
        return "";
      }
      var health = monitor.get(each.getValue().url() + "/health/ready");
      if (health.statusCode() != 200) {
        return name + " is not ready: " + health.body();
      }
    }
    JsonObject cluster = new JsonObject(monitor.get(url(0) + "/api/cluster").body());
    for (JsonObject node : objects(cluster, "nodes")) {
      if (!Boolean.TRUE.equals(node.getBoolean("alive"))
          || !"MEMBER".equals(node.getString("membership"))
          || !node.getJsonObject("moving", new JsonObject()).isEmpty()) {
        return node.encode();
      }
    }
    for (JsonObject log : objects(cluster, "logs")) {
      boolean behind =
          objects(log, "followers").stream()
              .anyMatch(each -> each.getLong("lagEntries", Long.MAX_VALUE) > LAG_ENTRIES_MAX);
      if (log.getString("leader") == null
          || behind
          || !log.getJsonArray("ineligible").isEmpty()
          || !log.getJsonArray("diverged").isEmpty()) {
        return log.encode();
      }
    }
    return "";
  }

  private static List<JsonObject> objects(JsonObject json, String list) {
    return json.getJsonArray(list, new JsonArray()).stream().map(JsonObject.class::cast).toList();
  }

  // ---- What it takes

  /** What each node takes now, after a collection of garbage. */
  Map<String, Footprint> footprints() throws IOException, InterruptedException {
    Map<String, Footprint> all = new TreeMap<>();
    for (Map.Entry<String, Node> each : machines.nodes().entrySet()) {
      all.put(each.getKey(), Footprint.of(each.getValue().pid()));
    }
    return all;
  }

  /** What is there, as any node tells: names of topics, groups, and quotas. */
  List<String> left() throws IOException {
    List<String> left = new ArrayList<>();
    for (String what : List.of("topics", "groups", "quotas")) {
      new JsonArray(monitor.get(url(0) + "/api/" + what).body())
          .forEach(each -> left.add(what + ": " + each));
    }
    return left;
  }

  /** How long each kind of fault took. */
  String times() {
    StringBuilder text = new StringBuilder();
    seconds.forEach(
        (step, each) ->
            text.append(
                "%s: %d times, %.1f s each%n"
                    .formatted(
                        step,
                        each.size(),
                        each.stream().mapToDouble(one -> one).average().orElse(0))));
    return text.toString();
  }

  @Override
  public void close() {
    try {
      users.forEach(user -> Futures.await(user.client.close()));
      users.forEach(user -> Futures.await(user.vertx.close()));
      Futures.await(vertx.close());
    } finally {
      try {
        machines.close();
      } finally {
        network.close();
      }
    }
  }
}
