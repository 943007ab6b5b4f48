package dev.evenkeel.assign;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.TreeMap;
import java.util.regex.Pattern;

/**
 * The assignors of this node by name: those that are built in, and users' own, which are services
 * on the class path (see {@link Assignor}). They are loaded once. A service that cannot be used is
 * left out, and {@link #problems} says why; it never keeps the node from starting.
 */
public final class Assignors {
  private static final Pattern NAME = Pattern.compile("[a-z0-9.-]{1,64}");

  /** With more broken entries than this, the rest of the class path is not searched. */
  private static final int PROBLEMS_MAX = 100;

  private static final class OfThisNode {
    private static final Assignors FOUND = load(Assignors.class.getClassLoader());
  }

  final Map<String, Assignor> byName = new TreeMap<>();
  final List<String> problems = new ArrayList<>();

  private Assignors() {
    for (Assignor builtIn :
        List.of(
            new StickyAssignor(),
            new AverageAssignor(),
            new ConsistentHashAssignor(),
            new LoadAssignor())) {
      byName.put(builtIn.name(), builtIn);
    }
  }

  /** The assignors by name, sorted. */
  public static Map<String, Assignor> all() {
    return Collections.unmodifiableMap(OfThisNode.FOUND.byName);
  }

  /** Why services were left out: one line each, in the order of the class path. */
  public static List<String> problems() {
    return Collections.unmodifiableList(OfThisNode.FOUND.problems);
  }

  static Assignors load(ClassLoader loader) {
    Assignors assignors = new Assignors();
    Iterator<ServiceLoader.Provider<Assignor>> services =
        ServiceLoader.load(Assignor.class, loader).stream().iterator();
    while (assignors.problems.size() < PROBLEMS_MAX && assignors.addNext(services)) {
      continue;
    }
    return assignors;
  }

  private boolean addNext(Iterator<ServiceLoader.Provider<Assignor>> services) {
    try {
      if (!services.hasNext()) {
        return false;
      }
      add(services.next().get());
    } catch (ServiceConfigurationError | LinkageError broken) {
      Throwable cause = broken.getCause();
      problem(broken.getMessage() + (cause == null ? "" : ": " + cause));
    } catch (RuntimeException failure) {
      problem("an assignor could not be asked for its name: " + failure);
    }
    return true;
  }

  private void add(Assignor assignor) {
    String name = assignor.name();
    String type = assignor.getClass().getName();
    if (name == null || !NAME.matcher(name).matches()) {
      problem(type + " is called '" + name + "': use 1 to 64 of a-z, 0-9, '.' and '-'");
    } else if (byName.containsKey(name)) {
      String other = byName.get(name).getClass().getName();
      problem(type + " is called " + name + ", which " + other + " is already: choose another");
    } else {
      byName.put(name, assignor);
    }
  }

  private void problem(String reason) {
    problems.add(reason.replaceAll("\\s+", " "));
  }
}
