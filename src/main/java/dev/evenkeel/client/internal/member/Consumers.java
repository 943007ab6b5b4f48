package dev.evenkeel.client.internal.member;

import dev.evenkeel.bus.ClusterDirectory;
import dev.evenkeel.bus.Link;
import dev.evenkeel.bus.VertxLink;
import dev.evenkeel.client.Candidate;
import dev.evenkeel.client.Consumer;
import dev.evenkeel.client.ConsumerHandler;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.ConsumerOptions.Mode;
import dev.evenkeel.client.ElectionCareer;
import dev.evenkeel.client.ElectionOptions;
import dev.evenkeel.client.internal.broadcast.StoredPositions;
import dev.evenkeel.cluster.ClusterMembers;
import dev.evenkeel.dedup.SharedAutomata;
import dev.evenkeel.protocol.Names;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.Future;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.UUID;
import java.util.function.Function;

/** Starts consumers, and candidates of elections. */
public final class Consumers {
  static final String HOST = host();

  private Consumers() {}

  /**
   * Joins a group. The consumer runs on the caller's event-loop context if it belongs to the link's
   * Vert.x, else on a new one.
   *
   * <p>Completes when the dispatcher has accepted the member. Fails with {@code RefusedException}:
   * INVALID options, UNKNOWN_TOPIC, GROUP_MISMATCH, MEMBER_REPLACED, or UNAVAILABLE when no
   * dispatcher answered within 60 s.
   */
  public static Future<Consumer> start(
      Link link, ClusterDirectory directory, ConsumerOptions options, ConsumerHandler handler) {
    return start(link, directory, options, handler, UUID.randomUUID().toString());
  }

  /**
   * As {@link #start(Link, ClusterDirectory, ConsumerOptions, ConsumerHandler)}, with an id that
   * the caller has chosen for this run.
   *
   * @param instance unique for ever
   */
  public static Future<Consumer> start(
      Link link,
      ClusterDirectory directory,
      ConsumerOptions options,
      ConsumerHandler handler,
      String instance) {
    return start(
        link, directory, options, handler, instance, connection -> automata(link, connection));
  }

  /**
   * The dedup automata of a connection: directly if it is a member of the cluster, otherwise over
   * the link. Only an application with a clustered Vert.x is sure to have the classes of Hazelcast.
   */
  static SharedAutomata automata(Link link, String connection) {
    return link instanceof VertxLink
        ? ClusterMembers.shared(connection)
        : LinkAutomata.of(link, connection);
  }

  /**
   * @param automataOf gives the automata for the link's {@link Link#clusterMember}, or null if
   *     there are none yet
   */
  static Future<Consumer> start(
      Link link,
      ClusterDirectory directory,
      ConsumerOptions options,
      ConsumerHandler handler,
      String instance,
      Function<String, SharedAutomata> automataOf) {
    ConsumerOptions own = new ConsumerOptions(options.toJson());
    if (handler instanceof LeaderHandler leader && leader.isSerial()) {
      own.setParallel(1);
    }
    try {
      OptionsCheck.check(own);
      OptionsCheck.check(own, handler);
    } catch (RefusedException e) {
      return Future.failedFuture(e);
    }
    String made = madeName(instance);
    if (own.getMode() == Mode.BROADCAST) {
      // Failed messages wait in the window: the log does not know this member.
      own.setHoldFailed(true);
      return link.vertx()
          .executeBlocking(() -> StoredPositions.open(link.vertx(), own, made), false)
          .compose(
              offsets -> {
                own.setMember(offsets.positions().member());
                return new ConsumerShell(
                        link, directory, own, handler, instance, HOST, offsets, any -> null)
                    .start();
              });
    }
    if (own.getMember() == null) {
      own.setMember(made);
    }
    return new ConsumerShell(link, directory, own, handler, instance, HOST, null, automataOf)
        .start();
  }

  /**
   * Joins an election. Completes when the dispatcher has accepted the candidate. Fails with {@code
   * RefusedException}: INVALID options, GROUP_MISMATCH, MEMBER_REPLACED, or UNAVAILABLE when no
   * dispatcher answered within 60 s.
   */
  public static Future<Candidate> candidate(
      Link link, ClusterDirectory directory, ElectionOptions options, ElectionCareer career) {
    String instance = UUID.randomUUID().toString();
    ConsumerOptions own = new ConsumerOptions().setMode(Mode.SINGLETON);
    try {
      options.check();
      own.setGroup(Names.check("election", options.getName()))
          .setMember(
              options.getMember() == null
                  ? madeName(instance)
                  : Names.check("member", options.getMember()))
          .setLockTimeMillis(options.getLockTimeMillis());
    } catch (RefusedException e) {
      return Future.failedFuture(e);
    }
    OwnContext context = new OwnContext(link.vertx());
    MemberRun run = new MemberRun(link, directory, own, null, null, instance, context);
    return new CandidateShell(run, career, options.getPauseMillis(), HOST).start();
  }

  /** The name of a member that was given none. */
  static String madeName(String instance) {
    return HOST + "-" + instance.substring(0, Math.min(6, instance.length()));
  }

  /** The name of this machine, without characters that a member's name must not contain. */
  private static String host() {
    String name;
    try {
      name = InetAddress.getLocalHost().getHostName();
    } catch (UnknownHostException e) {
      name = "localhost";
    }
    String plain = name.replaceAll("[^A-Za-z0-9_.-]", "_").replaceAll("^[.-]+", "");
    return plain.isEmpty() ? "localhost" : plain.substring(0, Math.min(80, plain.length()));
  }
}
