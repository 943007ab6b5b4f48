package dev.evenkeel.client.internal.session;

import dev.evenkeel.bus.Link;
import dev.evenkeel.bus.VertxLink;
import dev.evenkeel.cluster.ClientJoin;
import dev.evenkeel.cluster.ClientSettings;
import dev.evenkeel.cluster.ClusterMember;
import dev.evenkeel.cluster.ClusterMembers;
import dev.evenkeel.cluster.HostPort;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.internal.ContextInternal;
import io.vertx.core.internal.VertxInternal;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A link that leaves the cluster when it has lost sight of the nodes, and joins again when one is
 * back. If it stayed, it would be a member without data and without the maps that the event bus
 * needs, and would never be reached again.
 *
 * <pre>
 * CONNECTED --no node in sight, or requests stay unanswered--> LOST (leave, then try to join)
 * LOST      --joined, everything listened at registered----->  CONNECTED
 * any       --close()---------------------------------------> CLOSED
 * </pre>
 *
 * <p>Contexts, timers and handlers belong to a Vert.x that lives as long as the link. The clustered
 * one behind it comes and goes. All changes of state happen on one context of the former.
 */
public final class RejoiningLink implements Link {
  private static final Logger LOG = LoggerFactory.getLogger(RejoiningLink.class);

  /** How long leaving may take before it joins again all the same. */
  private static final long LEAVE_MILLIS_MAX = 2_000;

  /** The pause after an attempt to join again has failed. */
  private static final long REJOIN_PAUSE_MILLIS = 1_000;

  /** How long registering all addresses may take. */
  private static final long REGISTER_MILLIS_MAX = 5_000;

  /** Most addresses of nodes that it remembers besides the seeds. */
  private static final int LEARNED_ADDRESSES_MAX = 32;

  private final Vertx vertx;
  private final Context control;
  private final ClientSettings settings;
  private final Set<HostPort> learned = new LinkedHashSet<>();
  private final List<LinkListening> listenings = new CopyOnWriteArrayList<>();
  private final List<Consumer<State>> stateHandlers = new CopyOnWriteArrayList<>();
  private volatile State state = State.LOST;

  /** Requests go here; null while LOST or CLOSED. */
  private volatile LinkSession session;

  /** The attempt to join while LOST, else null. */
  private ClientJoin joining;

  private Promise<Void> closing;

  private RejoiningLink(Vertx vertx, ClientSettings settings) {
    this.vertx = vertx;
    this.settings = settings;
    control = ((VertxInternal) vertx).createEventLoopContext();
  }

  /**
   * Joins for the first time. Fails with UNAVAILABLE when no seed answers in time.
   *
   * @param vertx not clustered; closed with the link, and when the future fails
   */
  public static Future<Link> connect(Vertx vertx, ClientSettings settings) {
    RejoiningLink link = new RejoiningLink(vertx, settings);
    Promise<Link> promise = Promise.promise();
    ClusterMembers.client(settings)
        .onComplete(
            joined -> {
              if (joined.failed()) {
                vertx.close().onComplete(closed -> promise.fail(joined.cause()));
              } else {
                link.onControl(
                    () -> {
                      link.joined(joined.result());
                      // There are no addresses to register yet, so it is connected as soon as it
                      // has joined.
                      link.onControl(() -> promise.complete(link));
                    });
              }
            });
    return promise.future();
  }

  @Override
  public Vertx vertx() {
    return vertx;
  }

  @Override
  public Future<Buffer> request(String address, Buffer body, long timeoutMillis) {
    Promise<Buffer> promise = ((ContextInternal) vertx.getOrCreateContext()).promise();
    LinkSession now = session;
    if (now == null) {
      promise.fail(VertxLink.notConnected(state));
    } else {
      now.request(address, body, timeoutMillis, promise);
    }
    return promise.future();
  }

  @Override
  public Listening listen(String address, Consumer<Buffer> handler) {
    return listening(
        address,
        body -> {
          handler.accept(body);
          return null;
        });
  }

  @Override
  public Listening serve(String address, Function<Buffer, Future<Buffer>> server) {
    return listening(address, request -> VertxLink.serve(server, request));
  }

  /**
   * @param server may give null: then nothing is answered
   */
  private Listening listening(String address, Function<Buffer, Future<Buffer>> server) {
    LinkListening listening =
        new LinkListening(address, server, vertx.getOrCreateContext(), listenings::remove);
    onControl(
        () -> {
          listenings.add(listening);
          LinkSession now = session;
          if (now != null) {
            listening.registerWith(now.member().vertx()).onFailure(failure -> lost(now));
          }
        });
    return listening;
  }

  @Override
  public State state() {
    return state;
  }

  @Override
  public void onState(Consumer<State> handler) {
    Context context = vertx.getOrCreateContext();
    stateHandlers.add(next -> context.runOnContext(none -> handler.accept(next)));
  }

  @Override
  public String clusterMember() {
    LinkSession now = session;
    return now == null ? null : now.member().id();
  }

  /** On the control context. */
  private void joined(ClusterMember member) {
    joining = null;
    if (state == State.CLOSED) {
      member.close();
      return;
    }
    LinkSession fresh = new LinkSession(member, this::lost);
    session = fresh;
    Future<?> registered;
    try {
      learn(member);
      member.onChange(change -> onControl(() -> learn(member)));
      fresh.watch();
      registered =
          Future.all(listenings.stream().map(each -> each.registerWith(member.vertx())).toList());
    } catch (RuntimeException e) {
      LOG.info("joined the cluster, but cannot use it", e);
      registered = Future.failedFuture(e);
    }
    registered
        .timeout(REGISTER_MILLIS_MAX, TimeUnit.MILLISECONDS)
        .onComplete(
            done ->
                onControl(
                    () -> {
                      if (done.failed()) {
                        lost(fresh);
                      } else if (session == fresh) {
                        change(State.CONNECTED);
                      }
                    }));
  }

  private void learn(ClusterMember member) {
    for (HostPort address : member.dataAddresses()) {
      if (learned.size() < LEARNED_ADDRESSES_MAX) {
        learned.add(address);
      }
    }
  }

  /** On any thread. */
  private void lost(LinkSession which) {
    onControl(
        () -> {
          if (session != which || state == State.CLOSED) {
            return;
          }
          LOG.info("lost the connection to the cluster; joining again when a node answers");
          session = null;
          change(State.LOST);
          which
              .end()
              .timeout(LEAVE_MILLIS_MAX, TimeUnit.MILLISECONDS)
              .onComplete(left -> onControl(this::join));
        });
  }

  private void join() {
    if (state == State.CLOSED) {
      return;
    }
    Set<HostPort> seeds = new LinkedHashSet<>(settings.seeds());
    seeds.addAll(learned);
    joining =
        ClusterMembers.joining(
            new ClientSettings(
                List.copyOf(seeds), settings.host(), settings.clusterName(), Long.MAX_VALUE));
    joining
        .member()
        .onComplete(
            joined ->
                onControl(
                    () -> {
                      if (joined.succeeded()) {
                        LOG.info("joined the cluster again");
                        joined(joined.result());
                      } else if (state != State.CLOSED) {
                        vertx.setTimer(REJOIN_PAUSE_MILLIS, timer -> onControl(this::join));
                      }
                    }));
  }

  private void change(State next) {
    if (state != next && state != State.CLOSED) {
      state = next;
      stateHandlers.forEach(handler -> handler.accept(next));
    }
  }

  /** Also closes the Vert.x of {@link #vertx()}. */
  @Override
  public Future<Void> close() {
    synchronized (this) {
      if (closing != null) {
        return closing.future();
      }
      closing = Promise.promise();
    }
    onControl(
        () -> {
          change(State.CLOSED);
          if (joining != null) {
            joining.cancel();
          }
          LinkSession last = session;
          session = null;
          Future<Void> left = last == null ? Future.succeededFuture() : last.end();
          left.timeout(LEAVE_MILLIS_MAX, TimeUnit.MILLISECONDS)
              .onComplete(ended -> vertx.close().onComplete(closing));
        });
    return closing.future();
  }

  /** Runs a task on the control context, unless the link is closed. */
  private void onControl(Runnable task) {
    try {
      control.runOnContext(none -> task.run());
    } catch (RejectedExecutionException e) {
      LOG.debug("the link is closed", e);
    }
  }
}
