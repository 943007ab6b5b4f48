package dev.evenkeel.chaos;

import dev.evenkeel.Unchecked;
import dev.evenkeel.functional.Node;
import dev.evenkeel.functional.Trio;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;

/**
 * Machines in network namespaces on one switch, whose connections a test can cut, spoil and slow
 * down. This process has an address on the switch, too, which no fault touches: so a test asks
 * nodes by HTTP whatever else they cannot reach.
 *
 * <p>All that it makes begins with {@code ekN-}, where N is a number that this process holds by a
 * lock on a file. Closing removes it. What a killed run has left is removed by the next one: it has
 * a number that nobody holds.
 */
public final class Network implements AutoCloseable {
  private static final Path LOCKS = Path.of("/tmp/evenkeel-chaos");
  private static final int NUMBERS = 100;
  private static final List<String> NEEDED =
      List.of("ip", "nft", "mount", "umount", "kill", "sysctl");

  private final int number;
  private final FileLock lock;
  private final Map<String, Host> hosts = new LinkedHashMap<>();
  private Native programs;

  private Network(int number, FileLock lock) {
    this.number = number;
    this.lock = lock;
  }

  /** Skips the test that calls it on a machine where this is not possible, and says why. */
  public static void assumePossible() {
    Optional<String> obstacle = obstacle();
    Assumptions.assumeTrue(obstacle.isEmpty(), () -> "skipped: " + obstacle.get());
  }

  /** Why there can be no such network here. */
  static Optional<String> obstacle() {
    if (!System.getProperty("os.name").equals("Linux")) {
      return Optional.of("network namespaces need Linux, this is " + System.getProperty("os.name"));
    }
    if (!System.getProperty("user.name").equals("root")) {
      return Optional.of(
          "network namespaces need root, this is " + System.getProperty("user.name"));
    }
    List<String> missing = NEEDED.stream().filter(command -> !Commands.exists(command)).toList();
    if (!missing.isEmpty()) {
      return Optional.of("network namespaces need the commands " + missing);
    }
    String probe = "ekprobe-" + ProcessHandle.current().pid();
    Commands.Result made = Commands.tryRun("ip netns add " + probe);
    Commands.tryRun("ip netns del " + probe);
    return made.status() == 0
        ? Optional.empty()
        : Optional.of("network namespaces cannot be made here: " + made.output());
  }

  /** An empty network; removes what killed runs have left. */
  public static Network open() {
    Network mine = null;
    for (int number : leftAndFirst()) {
      FileLock lock = tryLock(number);
      if (lock != null) {
        Network network = new Network(number, lock);
        network.sweep();
        if (mine == null) {
          mine = network;
        } else {
          network.unlock();
        }
      }
    }
    if (mine == null) {
      throw new IllegalStateException("too many networks at a time: see " + LOCKS);
    }
    mine.build();
    return mine;
  }

  /** Numbers of which something is there, and those that a new one may have. */
  private static Collection<Integer> leftAndFirst() {
    TreeSet<Integer> numbers = new TreeSet<>();
    Stream.concat(Commands.run("ip netns list").stream(), mounts().stream())
        .filter(line -> line.matches("ek\\d+-.*"))
        .forEach(line -> numbers.add(Integer.parseInt(line.substring(2, line.indexOf('-')))));
    for (int number = 0; number < NUMBERS; number++) {
      FileLock lock = tryLock(number);
      if (lock != null) {
        new Network(number, lock).unlock();
        numbers.add(number);
        break;
      }
    }
    return numbers;
  }

  private static FileLock tryLock(int number) {
    return Unchecked.get(
        () -> {
          Files.createDirectories(LOCKS);
          FileChannel channel =
              FileChannel.open(
                  LOCKS.resolve(number + ".lock"),
                  StandardOpenOption.CREATE,
                  StandardOpenOption.WRITE);
          try {
            FileLock lock = channel.tryLock();
            if (lock != null) {
              return lock;
            }
          } catch (OverlappingFileLockException e) {
            // This process has it for another network.
            channel.close();
            return null;
          }
          channel.close();
          return null;
        });
  }

  private void unlock() {
    Unchecked.run(() -> lock.channel().close());
  }

  private static List<String> mounts() {
    return Unchecked.get(() -> Files.readAllLines(Path.of("/proc/self/mounts")));
  }

  private String prefix() {
    return "ek" + number + "-";
  }

  private String address(int last) {
    return "10.231." + number + "." + last;
  }

  private void build() {
    String hub = prefix() + "hub";
    String here = prefix() + "here";
    Commands.run("ip netns add " + hub);
    Commands.run("ip -n " + hub + " link add br0 type bridge");
    Commands.run("ip -n " + hub + " link set br0 up");
    Commands.run("ip link add " + here + " type veth peer name here netns " + hub);
    plug("here");
    Commands.run("ip address add " + address(254) + "/24 dev " + here);
    Commands.run("ip link set " + here + " up");
  }

  private void plug(String device) {
    Commands.run("ip -n " + prefix() + "hub link set dev " + device + " master br0 up");
  }

  /** A machine, made when it is first asked for. */
  public Host host(String name) {
    return hosts.computeIfAbsent(name, this::make);
  }

  /** The same for several. */
  public List<Host> hosts(String... names) {
    return Stream.of(names).map(this::host).toList();
  }

  /**
   * A machine in a private network, which a machine connects to this one as the router of an office
   * does: others see the router's address instead of that machine's, and cannot open a connection
   * to it. At most one in a network. Faults can be set for its router only.
   */
  public Host behind(Host router, String name) {
    String namespace = prefix() + name;
    Host host = new Host(name, namespace, "10.232." + number + ".2");
    String gateway = "10.232." + number + ".1";
    Commands.run("ip netns add " + namespace);
    Commands.run(
        "ip link add eth0 netns " + namespace + " type veth peer eth1 netns " + router.namespace());
    router.run("ip address add " + gateway + "/24 dev eth1");
    router.run("ip link set eth1 up");
    host.run("ip address add " + host.address() + "/24 dev eth0");
    host.run("ip link set lo up");
    host.run("ip link set eth0 up");
    host.run("ip route add default via " + gateway);
    router.translate("eth1", "eth0");
    return host;
  }

  private Host make(String name) {
    String namespace = prefix() + name;
    Host host = new Host(name, namespace, address(hosts.size() + 1));
    Commands.run("ip netns add " + namespace);
    Commands.run(
        "ip link add eth0 netns "
            + namespace
            + " type veth peer name "
            + name
            + " netns "
            + prefix()
            + "hub");
    plug(name);
    Commands.run("ip -n " + namespace + " address add " + host.address() + "/24 dev eth0");
    Commands.run("ip -n " + namespace + " link set lo up");
    Commands.run("ip -n " + namespace + " link set eth0 up");
    return host;
  }

  /** Three nodes on the machines n1 to n3, which are not started. */
  public Trio trio(Path directory, String... settings) {
    List<Node> nodes = new ArrayList<>();
    for (String name : List.of("n1", "n2", "n3")) {
      Host host = host(name);
      nodes.add(Node.at(directory.resolve(name), host.address(), host.surroundings()));
    }
    return new Trio(directory, nodes, settings);
  }

  /** Two machines do not hear each other any more. */
  public void cut(String one, String other) {
    cutOneWay(one, other);
    cutOneWay(other, one);
  }

  /** What one machine sends does not reach the other any more. */
  public void cutOneWay(String from, String to) {
    host(to).lose(host(from), 100);
  }

  /** Two machines hear each other again. */
  public void join(String one, String other) {
    host(one).lose(host(other), 0);
    host(other).lose(host(one), 0);
  }

  /** A machine is alone. */
  public void isolate(String name) {
    others(name).forEach(other -> cut(name, other));
  }

  /** So many of the packets that a machine sends or receives are lost, in each direction. */
  public void lose(String name, int percent) {
    for (String other : others(name)) {
      host(name).lose(host(other), percent);
      host(other).lose(host(name), percent);
    }
  }

  /** The machines that there are. */
  List<String> names() {
    return List.copyOf(hosts.keySet());
  }

  /** What this process sends does not reach a machine any more, until that is healed. */
  public void hideFrom(String name) {
    host(name).lose(new Host("here", "", address(254)), 100);
  }

  private List<String> others(String name) {
    return hosts.keySet().stream().filter(other -> !other.equals(name)).toList();
  }

  /** Why packets cannot be delayed here. */
  public Optional<String> noDelay() {
    return Native.obstacle();
  }

  /**
   * Each packet that a machine sends takes a time between the two, so that some overtake others.
   * Only where {@link #noDelay} is empty.
   */
  public void delay(String name, int millisMin, int millisMax) {
    host(name).delay(programs().delay(), address(254), millisMin, millisMax);
  }

  /** Programs of the tests in C. */
  Native programs() {
    if (programs == null) {
      programs = Native.compile(LOCKS.resolve(String.valueOf(number)));
    }
    return programs;
  }

  /** Ends all cuts, losses and delays. */
  public void heal() {
    hosts.values().forEach(Host::heal);
  }

  /** Ends the cuts, losses and delays of one machine. */
  public void heal(String name) {
    host(name).heal();
    others(name).forEach(other -> join(name, other));
  }

  /** Removes everything, and kills what still runs on the machines. */
  @Override
  public void close() {
    hosts.values().forEach(Host::heal);
    sweep();
    unlock();
  }

  /** As if this process had been killed. */
  void abandon() {
    unlock();
  }

  private void sweep() {
    List<String> namespaces =
        Commands.run("ip netns list").stream()
            .map(line -> line.split(" ")[0])
            .filter(name -> name.startsWith(prefix()))
            .toList();
    namespaces.forEach(name -> new Host(name, name, "").killAll());
    for (String mount : mounts()) {
      String[] words = mount.split(" ");
      if (words[0].startsWith(prefix())) {
        Commands.run("umount -l " + words[1]);
      }
    }
    namespaces.forEach(name -> Commands.run("ip netns del " + name));
    // Its other end was in one of them, and is removed with it, but perhaps not yet.
    Commands.tryRun("ip link del " + prefix() + "here");
  }
}
