package dev.evenkeel.chaos;

import dev.evenkeel.TestUsers;
import dev.evenkeel.functional.Surroundings;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * A machine of a {@link Network}: a network namespace with one address. What it receives from
 * another machine can be dropped, all or some, and what it sends can be delayed.
 */
public final class Host {
  private static final String SLOW_DEVICE = "slow0";

  /** A port at which nobody listens. */
  private static final int SILENT_PORT = 9;

  /** The status of the command timeout when the time has passed. */
  private static final int TIMED_OUT = 124;

  private final String name;
  private final String namespace;
  private final String address;
  private final Map<String, Integer> lossPercent = new TreeMap<>();
  private Process delayer;

  Host(String name, String namespace, String address) {
    this.name = name;
    this.namespace = namespace;
    this.address = address;
  }

  public String name() {
    return name;
  }

  public String address() {
    return address;
  }

  String namespace() {
    return namespace;
  }

  /** For processes that shall run on it. */
  public Surroundings surroundings() {
    return surroundings(Map.of());
  }

  public Surroundings surroundings(Map<String, String> variables) {
    Map<String, String> all = new HashMap<>(variables);
    all.putAll(TestUsers.variablesOfMachine());
    return new Surroundings(List.of("ip", "netns", "exec", namespace), all);
  }

  /** Runs a short command on it, which must succeed. */
  List<String> run(String command) {
    return Commands.run("ip netns exec " + namespace + " " + command);
  }

  /** Whether another machine refuses a connection from here at once, or is not heard at all. */
  boolean hears(Host other) {
    String connect = "exec 3<>/dev/tcp/" + other.address + "/" + SILENT_PORT;
    return Commands.tryRun(surroundings(), "timeout", "2", "bash", "-c", connect).status()
        != TIMED_OUT;
  }

  /**
   * A disk of its own: a file system of that size in memory. It holds what was written when its
   * processes are killed.
   */
  public Path disk(Path directory, int mebibytes) {
    directory.toFile().mkdirs();
    Commands.run("mount -t tmpfs -o size=" + mebibytes + "m " + namespace + " " + directory);
    return directory;
  }

  /** Changes the size of such a disk, or returns false if more than that is on it. */
  static boolean resized(Path disk, long kibibytes) {
    return Commands.tryRun("mount -o remount,size=" + kibibytes + "k " + disk).status() == 0;
  }

  /** From now on loses so many of the packets that come from there; 100: it is cut off from it. */
  void lose(Host from, int percent) {
    if (percent == 0) {
      lossPercent.remove(from.address);
    } else {
      lossPercent.put(from.address, percent);
    }
    applyLoss();
  }

  private void applyLoss() {
    List<String> rules = new ArrayList<>();
    lossPercent.forEach(
        (source, percent) ->
            rules.add(
                "ip saddr "
                    + source
                    + (percent == 100 ? "" : " numgen random mod 100 < " + percent)
                    + " drop"));
    // One transaction: the table is there, or made; its rules are replaced.
    String script =
        """
        table inet chaos {
        }
        delete table inet chaos
        table inet chaos {
          chain in {
            type filter hook input priority 0; policy accept;
            %s
          }
        }
        """
            .formatted(String.join("\n    ", rules));
    Commands.runFed(script, "ip", "netns", "exec", namespace, "nft", "-f", "-");
  }

  /**
   * From now on passes on what comes from one of its devices and goes out by another, with its own
   * address as the source, and the answers to that; nothing else.
   */
  void translate(String inner, String outer) {
    run("sysctl -q -w net.ipv4.ip_forward=1");
    String script =
        """
        table ip translation {
          chain out {
            type nat hook postrouting priority 100
            oifname %2$s masquerade
          }
          chain through {
            type filter hook forward priority 0; policy drop
            iifname %1$s oifname %2$s accept
            ct state established,related accept
          }
        }
        """
            .formatted(inner, outer);
    Commands.runFed(script, "ip", "netns", "exec", namespace, "nft", "-f", "-");
  }

  /**
   * From now on delays each packet that it sends to other machines, by a time of its own between
   * the two: so packets also overtake each other.
   *
   * @param program see {@link Native#delay}
   * @param spared traffic to this address is not delayed
   */
  void delay(Path program, String spared, int millisMin, int millisMax) {
    stopDelay();
    run("ip tuntap add dev " + SLOW_DEVICE + " mode tun");
    // Packets that come back from the program have an address of this machine as their source.
    for (String setting :
        List.of(
            "ip_forward=1",
            "conf.all.rp_filter=0",
            "conf.all.send_redirects=0",
            "conf.eth0.send_redirects=0",
            "conf." + SLOW_DEVICE + ".send_redirects=0",
            "conf." + SLOW_DEVICE + ".rp_filter=0",
            "conf." + SLOW_DEVICE + ".accept_local=1")) {
      run("sysctl -q -w net.ipv4." + setting);
    }
    run("ip link set " + SLOW_DEVICE + " up");
    try {
      delayer =
          new ProcessBuilder(
                  "ip",
                  "netns",
                  "exec",
                  namespace,
                  program.toString(),
                  SLOW_DEVICE,
                  String.valueOf(millisMin),
                  String.valueOf(millisMax))
              .inheritIO()
              .start();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    run("ip route add default dev " + SLOW_DEVICE + " src " + address + " table 100");
    run("ip rule add pref 40 to " + spared + " lookup main");
    run("ip rule add pref 50 iif lo lookup 100");
  }

  private void stopDelay() {
    if (delayer != null) {
      run("ip rule del pref 50");
      run("ip rule del pref 40");
      delayer.destroyForcibly().onExit().join();
      run("ip link del " + SLOW_DEVICE);
      delayer = null;
    }
  }

  /** It receives and sends everything again, and at once. */
  void heal() {
    if (!lossPercent.isEmpty()) {
      lossPercent.clear();
      applyLoss();
    }
    stopDelay();
  }

  /** Kills all that runs on it. */
  void killAll() {
    for (String pid : Commands.tryRun("ip netns pids " + namespace).lines()) {
      Commands.tryRun("kill -KILL " + pid);
    }
  }

  @Override
  public String toString() {
    return name;
  }
}
