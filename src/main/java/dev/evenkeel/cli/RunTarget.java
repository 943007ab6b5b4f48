package dev.evenkeel.cli;

import dev.evenkeel.ConsumerVerticle;
import dev.evenkeel.ProducerVerticle;
import dev.evenkeel.broker.BrokerVerticle;
import dev.evenkeel.client.ConsumerHandler;
import dev.evenkeel.client.LeaderCareer;
import dev.evenkeel.dispatcher.DispatcherVerticle;
import dev.evenkeel.gateway.GatewayVerticle;
import dev.evenkeel.gateway.http.WebVerticle;
import dev.evenkeel.gateway.session.SessionVerticle;
import dev.evenkeel.util.Nearest;
import io.vertx.core.Deployable;
import io.vertx.core.json.JsonObject;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * What {@code run} deploys: a verticle class, or a consumer of an event-bus address.
 *
 * @param name of the class, or the address
 * @param config of the verticle
 */
record RunTarget(String name, Class<? extends Deployable> verticle, JsonObject config) {
  private static final String CLASS_PREFIX = "java:";
  private static final String ADDRESS_PREFIX = "address:";

  /** The key of a {@link ConsumerVerticle} that sends messages to an address. */
  private static final String ADDRESS = "address";

  private static final String MEMBER = "member";

  /** Verticles that nobody could ask on an event bus of their own. */
  private static final Set<Class<?>> ON_THE_BUS =
      Set.of(ProducerVerticle.class, GatewayVerticle.class, WebVerticle.class);

  private static final Set<Class<?>> OF_A_NODE =
      Set.of(BrokerVerticle.class, DispatcherVerticle.class, SessionVerticle.class);

  private static final List<String> OWN_NAMES =
      List.of(
          ConsumerVerticle.class.getName(),
          ProducerVerticle.class.getName(),
          GatewayVerticle.class.getName(),
          WebVerticle.class.getName());

  /**
   * Tells classes and addresses apart. {@code java:NAME} is a class and {@code address:NAME} an
   * address. Without these, it is a class if there is one, or if the part after the last dot begins
   * with a capital letter, as in {@code com.example.Billing}; else it is an address.
   *
   * @throws CommandFailure wrong usage: there is no such class, it is no verticle, or the
   *     configuration is not that of a consumer of an address
   */
  static RunTarget of(String argument, JsonObject config, RunClassPath classPath) {
    if (argument.startsWith(ADDRESS_PREFIX)) {
      return ofAddress(argument.substring(ADDRESS_PREFIX.length()), config, "");
    }
    boolean named = argument.startsWith(CLASS_PREFIX);
    String name = named ? argument.substring(CLASS_PREFIX.length()) : argument;
    Class<?> found = find(name, classPath.loader());
    if (found != null) {
      return new RunTarget(name, verticle(found), config);
    }
    if (named || looksLikeClass(name)) {
      throw noClass(name, config, classPath);
    }
    return ofAddress(name, config, "there is no class '%s', and ".formatted(name));
  }

  private static RunTarget ofAddress(String address, JsonObject config, String noClass) {
    CommandFailure.refuseIf(
        address.isEmpty(), "the address is empty: write one, such as address:orders.in");
    List<String> missing = new ArrayList<>(List.of("group", "topics"));
    missing.removeIf(config::containsKey);
    CommandFailure.refuseIf(
        !missing.isEmpty(),
        noClass
            + ("for a consumer that sends messages to the address '%s' the configuration needs"
                    + " 'group' and 'topics': give them in --conf FILE")
                .formatted(address));
    Object other = config.getValue(ADDRESS, address);
    CommandFailure.refuseIf(
        !address.equals(other),
        "the address is '%s', and '%s' in the configuration: give one of them"
            .formatted(address, other));
    return new RunTarget(address, ConsumerVerticle.class, config.copy().put(ADDRESS, address));
  }

  /**
   * Several members of one name would take it from each other for ever.
   *
   * @throws CommandFailure wrong usage: each of several instances would have the same name
   */
  void checkInstances(int instances) {
    CommandFailure.refuseIf(
        instances > 1 && verticle == ConsumerVerticle.class && config.getValue(MEMBER) != null,
        ("with --instances %s, each instance would be member '%s', and they would take the name from"
                + " each other: leave 'member' out of --conf FILE, and each gets a name of its own")
            .formatted(instances, config.getValue(MEMBER)));
  }

  /** Whether it is of use only on the event bus of a cluster. */
  boolean needsBus() {
    return ON_THE_BUS.contains(verticle)
        || verticle == ConsumerVerticle.class && config.containsKey(ADDRESS);
  }

  /** A new instance. */
  Deployable make() throws Exception {
    try {
      return verticle.getDeclaredConstructor().newInstance();
    } catch (InvocationTargetException e) {
      throw e.getCause() instanceof Exception cause ? cause : e;
    }
  }

  private static boolean looksLikeClass(String name) {
    String last = name.substring(name.lastIndexOf('.') + 1);
    return !last.isEmpty() && Character.isUpperCase(last.charAt(0));
  }

  /** The class of that name, or null. */
  private static Class<?> find(String name, ClassLoader loader) {
    try {
      return Class.forName(name, false, loader);
    } catch (ClassNotFoundException e) {
      return null;
    } catch (UnsupportedClassVersionError e) {
      throw CommandFailure.usage(
          "%s was compiled for a later Java than %s: run it with that one (%s)"
              .formatted(name, Runtime.version().feature(), e.getMessage()));
    } catch (LinkageError e) {
      throw incomplete(name, e);
    }
  }

  private static CommandFailure incomplete(String name, LinkageError cause) {
    return CommandFailure.failed(
        "%s cannot be loaded (%s): if a class is missing, add its jar to --classpath"
            .formatted(name, cause),
        cause);
  }

  private static Class<? extends Deployable> verticle(Class<?> found) {
    String name = found.getName();
    CommandFailure.refuseIf(
        OF_A_NODE.contains(found),
        name + " is a part of a node: start one with 'evenkeel serve', or add --node ID");
    CommandFailure.refuseIf(
        ConsumerHandler.class.isAssignableFrom(found) || LeaderCareer.class.isAssignableFrom(found),
        "%s is a handler: run %s, with \"handler\": \"%s\" in --conf FILE"
            .formatted(name, ConsumerVerticle.class.getName(), name));
    CommandFailure.refuseIf(
        !Deployable.class.isAssignableFrom(found),
        name
            + " is not a verticle: name a class that extends io.vertx.core.VerticleBase or"
            + " io.vertx.core.AbstractVerticle");
    try {
      Constructor<?> constructor = found.getDeclaredConstructor();
      if (Modifier.isPublic(found.getModifiers() & constructor.getModifiers())
          && !Modifier.isAbstract(found.getModifiers())) {
        return found.asSubclass(Deployable.class);
      }
    } catch (NoSuchMethodException e) {
      // As one that is not public.
    } catch (LinkageError e) {
      throw incomplete(name, e);
    }
    throw CommandFailure.usage(
        name
            + " cannot be deployed by its name: make it a public class that is not abstract, with a"
            + " public constructor without arguments");
  }

  private static CommandFailure noClass(String name, JsonObject config, RunClassPath classPath) {
    List<String> names = new ArrayList<>(classPath.names());
    names.addAll(OWN_NAMES);
    String end = "." + name.substring(name.lastIndexOf('.') + 1);
    String hint =
        names.stream()
            .filter(each -> each.endsWith(end))
            .findFirst()
            .map(each -> ": did you mean '" + each + "'?")
            .orElseGet(() -> Nearest.hint(name, names));
    if (hint.isEmpty()) {
      hint =
          config.containsKey("group") && config.containsKey("topics")
              ? ": name the jar or directory that has it by --classpath, or write address:"
                  + name
                  + " if it is an address of the event bus"
              : ": name the jar or directory that has it by --classpath";
    }
    return CommandFailure.usage("there is no class '" + name + "'" + hint);
  }
}
