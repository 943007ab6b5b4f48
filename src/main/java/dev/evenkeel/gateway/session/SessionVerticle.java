package dev.evenkeel.gateway.session;

import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.ClusterInSight;
import dev.evenkeel.bus.FrameCodec;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.KnownIds;
import dev.evenkeel.bus.LocalBroker;
import dev.evenkeel.bus.LocalDispatcher;
import dev.evenkeel.bus.LocalObjects;
import dev.evenkeel.bus.NodePlace;
import dev.evenkeel.bus.Relay;
import dev.evenkeel.bus.VertxLink;
import dev.evenkeel.bus.frame.SessionFrame;
import dev.evenkeel.bus.frame.Welcome;
import dev.evenkeel.bus.meters.MeterScope;
import dev.evenkeel.bus.meters.Meters;
import dev.evenkeel.bus.share.Scarce;
import dev.evenkeel.bus.share.Shares;
import dev.evenkeel.gateway.ServerTls;
import dev.evenkeel.gateway.Strangers;
import dev.evenkeel.gateway.access.Access;
import dev.evenkeel.gateway.access.SessionRules;
import dev.evenkeel.protocol.ClusterNode;
import dev.evenkeel.protocol.Names;
import dev.evenkeel.protocol.NodePorts;
import dev.evenkeel.protocol.Quota;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.wire.FeatureLevel;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.EventExecutor;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.eventbus.MessageConsumer;
import io.vertx.core.internal.VertxInternal;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The client port of a node: takes connections of applications, and passes their requests on over
 * the event bus. {@code dev.evenkeel.bus.frame} describes the protocol. It works beside a broker
 * and a gateway on the same Vert.x.
 *
 * <p>Its configuration is that of {@link SessionOptions}. {@code start()} fails with a {@code
 * BindException} if the port is busy.
 */
public final class SessionVerticle extends VerticleBase {
  /** Makes listeners that want any free port find each other, and nobody else. */
  private static final AtomicInteger FREE_PORTS = new AtomicInteger();

  private final List<SessionListener> listeners = new CopyOnWriteArrayList<>();
  private MeterScope scope;

  /** Null without TLS. */
  private ServerTls tls;

  @Override
  public Future<?> start() {
    SessionOptions config = new SessionOptions(config() == null ? new JsonObject() : config());
    FrameCodec.register(vertx);
    String host = config.get(SessionOptions.HOST);
    int number = config.get(SessionOptions.PORT);
    String node = Names.check("node", config.get(SessionOptions.NODE));
    Sessions sessions = new Sessions(config, Shares.of(vertx));
    scope = Meters.of(vertx).scope("sessions");
    Welcome formed = welcome(config, node, host, number);
    List<Future<?>> listening = new ArrayList<>();
    for (String address : SessionAddresses.SHARED) {
      listening.add(
          vertx
              .eventBus()
              .consumer(address, message -> push(address, VertxLink.buffer(message.body())))
              .completion());
    }
    MessageConsumer<Object> questions = vertx.eventBus().consumer(Addresses.sessions(node));
    questions.handler(message -> message.reply(answer(VertxLink.buffer(message.body()), sessions)));
    listening.add(questions.completion());
    listening.add(Relay.serve(vertx, node).completion());
    return Future.all(listening)
        .compose(done -> ServerTls.open(vertx, "client", config.get(SessionOptions.TLS)))
        .compose(
            opened -> {
              tls = opened;
              return Access.of(
                  vertx, node, config.get(SessionOptions.USERS), config.get(SessionOptions.OIDC));
            })
        .compose(
            access -> {
              SessionPort port =
                  new SessionPort(
                      vertx,
                      node,
                      config.get(SessionOptions.CLUSTER_NAME),
                      () -> withNodes(formed),
                      config,
                      new SessionAddresses(node, new SessionRules(knownIds())),
                      sessions,
                      new Strangers<>(config.get(SessionOptions.HALF_OPEN_MAX), any -> true),
                      Shares.of(vertx)
                          .divide(Scarce.LISTENING, config.get(SessionOptions.NODE_LISTENING_MAX)),
                      new SessionMeters(scope, sessions),
                      tls,
                      access,
                      RequestSpans.of(vertx));
              return deployListeners(port, host, number);
            })
        .onFailure(failure -> scope.close());
  }

  private static Welcome welcome(SessionOptions config, String node, String host, int port) {
    List<NodePlace> nodes = config.get(SessionOptions.NODES);
    return new Welcome(
        SessionFrame.VERSION,
        node,
        config.get(SessionOptions.SERVER),
        nodes == null ? List.of(new NodePlace(node, host, port)) : nodes,
        new Welcome.Limits(
            config.get(SessionOptions.BODY_BYTES_MAX),
            config.get(SessionOptions.REQUESTS_IN_FLIGHT_MAX),
            config.get(SessionOptions.SESSION_BYTES_IN_FLIGHT_MAX),
            config.get(SessionOptions.KEEP_ALIVE_MILLIS)));
  }

  /** The same with the nodes that the cluster has now. */
  private Welcome withNodes(Welcome formed) {
    ClusterInSight known = LocalObjects.get(vertx, ClusterInSight.class);
    List<ClusterNode> now = known == null ? List.of() : known.nodes().get();
    Welcome whole = RequestSpans.of(vertx) == null ? formed : formed.tracing();
    return now.isEmpty()
        ? whole
        : whole.with(
            now.stream()
                .filter(ClusterNode::joined)
                .map(each -> new NodePlace(each.id(), each.host(), NodePorts.client(each.port())))
                .toList());
  }

  /** What the broker of this node knows, once it runs. */
  private KnownIds knownIds() {
    return new KnownIds() {
      @Override
      public String topic(int id) {
        return known("topic", id).topic(id);
      }

      @Override
      public String producer(long id) {
        return known("producer", id).producer(id);
      }

      @Override
      public Collection<String> groups(int tag) {
        LocalBroker broker = LocalBroker.of(vertx);
        return broker == null ? List.of() : broker.ids().groups(tag);
      }

      @Override
      public boolean isForgotten(long producer, int epoch) {
        return known("producer", producer).isForgotten(producer, epoch);
      }

      @Override
      public int featureLevel() {
        LocalBroker broker = LocalBroker.of(vertx);
        return broker == null ? FeatureLevel.FIRST : broker.ids().featureLevel();
      }

      @Override
      public Quota groupRate(String group) {
        LocalBroker broker = LocalBroker.of(vertx);
        if (broker == null) {
          throw Refusal.UNAVAILABLE.error(
              "this node has no broker, which knows the rates of groups");
        }
        return broker.ids().groupRate(group);
      }

      private KnownIds known(String what, long id) {
        LocalBroker broker = LocalBroker.of(vertx);
        if (broker == null) {
          throw KnownIds.unheard(what, id);
        }
        return broker.ids();
      }
    };
  }

  /** One listener for each event loop but the dispatcher's. */
  private Future<?> deployListeners(SessionPort port, String host, int number) {
    int key = number == 0 ? -FREE_PORTS.incrementAndGet() : number;
    int loops = 0;
    for (EventExecutor unused : ((VertxInternal) vertx).nettyEventLoopGroup()) {
      loops++;
    }
    LocalDispatcher dispatcher = LocalObjects.get(vertx, LocalDispatcher.class);
    EventLoop spared = dispatcher == null || loops == 1 ? null : dispatcher.loop();
    return vertx.deployVerticle(
        () -> {
          SessionListener listener = new SessionListener(port, host, key, spared);
          listeners.add(listener);
          return listener;
        },
        new DeploymentOptions().setInstances(loops));
  }

  private void push(String address, Buffer body) {
    listeners.forEach(listener -> listener.push(address, body));
  }

  private static Buffer answer(Buffer question, Sessions sessions) {
    try {
      String session = new JsonObject(question).getString("has");
      boolean has = session != null && sessions.has(session);
      return Frames.answer(new JsonObject().put("has", has).toBuffer().getBytes());
    } catch (DecodeException | ClassCastException e) {
      return Frames.refusal(Refusal.INVALID.error("ask {\"has\": SESSION}, as JSON text"));
    }
  }

  /** The port that it listens on, for a configured port of 0. */
  public int actualPort() {
    return listeners.stream().mapToInt(SessionListener::actualPort).max().orElseThrow();
  }

  @Override
  public Future<?> stop() {
    scope.close();
    if (tls != null) {
      tls.close();
    }
    return Future.succeededFuture();
  }
}
