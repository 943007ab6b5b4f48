package dev.evenkeel.chaos;

import static dev.evenkeel.Loops.each;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.function.Consumer;

/**
 * The events of several files in the order of their times, without holding them all: a long run has
 * millions. Each file is nearly in order by itself, since its writers note the time just before
 * they write.
 */
final class EventFiles {
  /** How many lines an event may stand after where its time belongs. */
  static final int DISPLACED_LINES_MAX = 2_000;

  private static final Comparator<Event> BY_TIME = Comparator.comparingLong(Event::nanos);

  private EventFiles() {}

  static void read(List<Path> files, Consumer<Event> to) throws IOException {
    PriorityQueue<Source> sources =
        new PriorityQueue<>(Comparator.comparing(source -> source.window.peek(), BY_TIME));
    List<Source> all = new ArrayList<>();
    try {
      for (Path file : files) {
        Source source = new Source(file);
        all.add(source);
        if (source.fill()) {
          sources.add(source);
        }
      }
      while (!sources.isEmpty()) {
        Source source = sources.poll();
        to.accept(source.window.poll());
        if (source.fill()) {
          sources.add(source);
        }
      }
    } finally {
      each(all, source -> source.reader.close());
    }
  }

  /** One file, and the earliest of the events that come next in it. */
  private static final class Source {
    final BufferedReader reader;
    final PriorityQueue<Event> window = new PriorityQueue<>(BY_TIME);
    private boolean ended;

    Source(Path file) throws IOException {
      reader = Files.newBufferedReader(file);
    }

    /** Whether there is any event left. */
    boolean fill() throws IOException {
      while (!ended && window.size() <= DISPLACED_LINES_MAX) {
        String line = reader.readLine();
        Event event = line == null ? null : Event.parse(line);
        ended = line == null;
        if (event != null) {
          window.add(event);
        }
      }
      return !window.isEmpty();
    }
  }
}
