package dev.evenkeel.cluster;

import com.hazelcast.config.ClassFilter;
import com.hazelcast.config.JavaSerializationFilterConfig;
import java.io.ObjectInputFilter;
import java.util.List;
import java.util.Set;

/**
 * The classes that other members may name in what they send. Hazelcast makes objects of whatever
 * class a message names, before it knows who sent it. So a class is refused here unless nodes need
 * it.
 *
 * <p>Hazelcast has two ways to name a class, and each has a filter: Java serialization, which it
 * uses for exceptions, and {@code DataSerializable}, for which it asks the {@link #loader}.
 */
public final class AllowedClasses {
  /**
   * Of exceptions, with what they hold, and of Hazelcast's own messages. No package of these has a
   * class that does harm when it is read alone.
   */
  private static final List<String> PACKAGES =
      List.of("java.lang", "java.util", "java.util.concurrent", "java.io", "java.net");

  private static final String HAZELCAST = "com.hazelcast.";
  private static final String PROTOCOL = "dev.evenkeel.protocol";

  /** What travels by its name. */
  private static final Set<String> NAMED =
      Set.of(
          "io.vertx.spi.cluster.hazelcast.impl.HazelcastNodeInfo",
          "io.vertx.spi.cluster.hazelcast.impl.HazelcastRegistrationInfo",
          DedupBucket.class.getName(),
          DedupSteps.class.getName(),
          DedupClaims.class.getName(),
          DedupClaimSweep.class.getName(),
          HeardQuestion.class.getName(),
          DedupKeysLook.class.getName());

  private AllowedClasses() {}

  /**
   * Sets the filter for Java serialization in the whole process, unless the system property {@code
   * jdk.serialFilter} or other code has set one.
   */
  public static void filterProcess() {
    if (ObjectInputFilter.Config.getSerialFilter() == null) {
      ObjectInputFilter.Config.setSerialFilter(ofProcess());
    }
  }

  static ObjectInputFilter ofProcess() {
    return ObjectInputFilter.Config.createFilter(
        String.join(".*;", PACKAGES) + ".*;" + HAZELCAST + "**;" + PROTOCOL + ".*;!*");
  }

  /** The same for what Hazelcast reads, whatever the process allows. */
  static JavaSerializationFilterConfig filter() {
    ClassFilter allowed = new ClassFilter().addPrefixes(HAZELCAST).addPackages(PROTOCOL);
    PACKAGES.forEach(allowed::addPackages);
    return new JavaSerializationFilterConfig().setWhitelist(allowed);
  }

  /** Loads only classes that may be named. */
  static ClassLoader loader() {
    return new Loader(AllowedClasses.class.getClassLoader());
  }

  private static final class Loader extends ClassLoader {
    Loader(ClassLoader parent) {
      super(parent);
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
      Class<?> loaded = super.loadClass(name, resolve);
      // Hazelcast looks elsewhere for a class that is not found, but not for this.
      if (!mayBeNamed(name)) {
        throw new SecurityException(name + " may not be sent to a node");
      }
      return loaded;
    }

    private static boolean mayBeNamed(String name) {
      int end = name.lastIndexOf('.');
      return name.startsWith(HAZELCAST)
          || NAMED.contains(name)
          || end > 0 && PACKAGES.contains(name.substring(0, end));
    }
  }
}
