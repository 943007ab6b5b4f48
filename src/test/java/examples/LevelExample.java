package examples;

import dev.evenkeel.level.Coordinator;
import dev.evenkeel.level.Coordinators;
import dev.evenkeel.level.Track;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.IntStream;

/** Threads of one JVM read lines, and none gets more than 10 lines ahead of another. */
public final class LevelExample {
  private LevelExample() {}

  /** Reads all lines, on the thread that calls it. */
  public static void read(Track track, List<String> lines, Consumer<String> reader) {
    try {
      for (String line : lines) {
        while (!track.move()) {
          track.ready().toCompletionStage().toCompletableFuture().join();
        }
        reader.accept(line);
      }
    } finally {
      track.destroy();
    }
  }

  public static void main(String[] args) {
    List<String> lines = IntStream.range(0, 100).mapToObj("line %s"::formatted).toList();
    Coordinator coordinator = Coordinators.coordinator(10);
    for (String name : List.of("a", "b", "c")) {
      Track track = coordinator.track(name);
      new Thread(() -> read(track, lines, line -> System.out.println(name + ": " + line))).start();
    }
  }
}
