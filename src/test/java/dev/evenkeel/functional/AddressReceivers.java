package dev.evenkeel.functional;

import dev.evenkeel.Wait;
import dev.evenkeel.protocol.HostPort;
import examples.AddressExample;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Processes of {@link AddressReceiver} that have nothing but vertx-core and vertx-hazelcast on
 * their class path.
 */
final class AddressReceivers {
  private final Path directory;

  /** The receivers have the classes of this directory, and no others of the tests. */
  private final Path classes;

  AddressReceivers(Path directory) throws IOException {
    this.directory = directory;
    classes = Files.createDirectories(directory.resolve("classes"));
    for (Class<?> each : List.of(AddressReceiver.class, AddressExample.class)) {
      String file = each.getName().replace('.', '/') + ".class";
      Files.createDirectories(classes.resolve(file).getParent());
      Files.copy(Path.of("target/test-classes").resolve(file), classes.resolve(file));
    }
  }

  static String hazelcast(Node node) {
    return new HostPort("127.0.0.1", node.hazelcastPort()).toString();
  }

  /** Starts one in the cluster of a node, and waits until it listens. */
  Jar.Running start(Node node, String name, String... addresses) {
    List<String> classPath = new ArrayList<>(Program.plainLibraries());
    classPath.addAll(Program.clusteredLibraries());
    classPath.add(classes.toString());
    Jar.Running receiver =
        Program.start(
            directory,
            name,
            classPath,
            AddressReceiver.class.getName(),
            Stream.concat(Stream.of(hazelcast(node)), Stream.of(addresses)).toArray(String[]::new));
    Wait.until(name + " listens", () -> receiver.out().contains("listening"));
    return receiver;
  }

  /** A line of a receiver. */
  record Got(String address, int shard, long offset, int attempt, String payload) {
    private static Got of(String line) {
      String[] words = line.split(" ");
      return new Got(
          words[0],
          Integer.parseInt(words[1]),
          Long.parseLong(words[2]),
          Integer.parseInt(words[3]),
          words[4]);
    }
  }

  /** What these receivers have got at an address, one after another. */
  static List<Got> got(String address, Jar.Running... receivers) {
    return Stream.of(receivers)
        .flatMap(each -> each.out().lines())
        .filter(line -> line.startsWith(address + " ") && line.split(" ").length == 5)
        .map(Got::of)
        .toList();
  }

  static Set<String> payloads(List<Got> got) {
    return got.stream().map(Got::payload).collect(Collectors.toCollection(TreeSet::new));
  }
}
