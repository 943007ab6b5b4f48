package dev.evenkeel.client.internal;

import dev.evenkeel.bus.ClusterDirectory;
import dev.evenkeel.bus.DueClock;
import dev.evenkeel.bus.Ending;
import dev.evenkeel.bus.Link;
import dev.evenkeel.bus.VertxLink;
import dev.evenkeel.client.Admin;
import dev.evenkeel.client.Candidate;
import dev.evenkeel.client.ClusterCoordinator;
import dev.evenkeel.client.ConnectionState;
import dev.evenkeel.client.Consumer;
import dev.evenkeel.client.ConsumerHandler;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.ConsumerStream;
import dev.evenkeel.client.CoordinatorOptions;
import dev.evenkeel.client.Dedup;
import dev.evenkeel.client.DedupOptions;
import dev.evenkeel.client.ElectionCareer;
import dev.evenkeel.client.ElectionOptions;
import dev.evenkeel.client.EvenkeelClient;
import dev.evenkeel.client.LeaderCareer;
import dev.evenkeel.client.Producer;
import dev.evenkeel.client.ProducerOptions;
import dev.evenkeel.client.Router;
import dev.evenkeel.client.Source;
import dev.evenkeel.client.SpoolingProducer;
import dev.evenkeel.client.internal.member.Consumers;
import dev.evenkeel.client.internal.member.HandlerStream;
import dev.evenkeel.client.internal.member.LeaderHandler;
import dev.evenkeel.client.internal.member.ServiceDedup;
import dev.evenkeel.client.internal.member.TrackMembers;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.util.Collection;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.Supplier;

/** The client: producers and consumers over one link and one directory. */
public final class EvenkeelClientImpl implements EvenkeelClient {
  private final Link link;
  private final ClusterDirectory directory;

  // What is open. Each leaves as soon as it has ended.
  private final Set<Producer> producers = ConcurrentHashMap.newKeySet();
  private final Set<Consumer> consumers = ConcurrentHashMap.newKeySet();
  private final Set<ConsumerStream> streams = ConcurrentHashMap.newKeySet();
  private final Set<Candidate> candidates = ConcurrentHashMap.newKeySet();
  private final Set<ServiceDedup> dedups = ConcurrentHashMap.newKeySet();
  private final Set<TrackMembers> coordinators = ConcurrentHashMap.newKeySet();
  private Promise<Void> closing;

  public EvenkeelClientImpl(Link link) {
    this(link, new ClusterDirectory(link));
  }

  private EvenkeelClientImpl(Link link, ClusterDirectory directory) {
    this.link = link;
    this.directory = directory;
  }

  @Override
  public Future<Producer> producer(ProducerOptions options) {
    return producer(options, null);
  }

  @Override
  public Future<Producer> producer(ProducerOptions options, Router router) {
    return start(
        () -> Producers.start(link, directory, options, router), producers, Producer::close);
  }

  @Override
  public Future<SpoolingProducer> spoolingProducer(ProducerOptions options, Source source) {
    return options.getSpool().isEmpty()
        ? Future.failedFuture(
            new RefusedException(Refusal.INVALID, "the options name no spool directory"))
        : start(
            () -> Producers.startSpooling(link, directory, options, null, source),
            producers,
            Producer::close);
  }

  @Override
  public Future<Consumer> consumer(ConsumerOptions options, ConsumerHandler handler) {
    return start(
        () -> Consumers.start(link, directory, options, handler), consumers, Consumer::close);
  }

  @Override
  public Future<Consumer> leader(ConsumerOptions options, LeaderCareer career) {
    ConsumerOptions own =
        new ConsumerOptions(options.toJson()).setMode(ConsumerOptions.Mode.SINGLETON);
    return consumer(own, new LeaderHandler(career));
  }

  @Override
  public Future<Candidate> election(ElectionOptions options, ElectionCareer career) {
    return start(
        () -> Consumers.candidate(link, directory, options, career), candidates, Candidate::close);
  }

  @Override
  public Future<ConsumerStream> stream(
      ConsumerOptions options, ConsumerStream.Finishing finishing) {
    return stream(options, finishing, null);
  }

  @Override
  public Future<ConsumerStream> stream(
      ConsumerOptions options,
      ConsumerStream.Finishing finishing,
      Function<Message, byte[]> dedupKey) {
    return start(
        () -> HandlerStream.start(link, directory, options, finishing, dedupKey),
        streams,
        ConsumerStream::close);
  }

  @Override
  public Dedup dedup(String name) {
    return dedup(new DedupOptions().setName(name));
  }

  @Override
  public ServiceDedup dedup(DedupOptions options) {
    ServiceDedup dedup = ServiceDedup.over(link, directory, options);
    if (!keep(dedup, dedups)) {
      dedup.close();
      throw new RefusedException(Refusal.UNAVAILABLE, "the client is closed");
    }
    return dedup;
  }

  /**
   * Starts something that {@link #close} closes. What becomes ready only after that is closed at
   * once.
   */
  private <T> Future<T> start(
      Supplier<Future<T>> starter, Set<? super T> started, Function<T, Future<Void>> close) {
    return isClosing()
        ? closed()
        : detached(
            starter
                .get()
                .compose(
                    one ->
                        keep(one, started)
                            ? Future.succeededFuture(one)
                            : close.apply(one).transform(ended -> closed())));
  }

  /** Returns whether the client is still open. */
  private <T> boolean keep(T one, Set<? super T> started) {
    synchronized (this) {
      if (closing != null) {
        return false;
      }
      started.add(one);
    }
    ((Ending) one).over().onComplete(ended -> started.remove(one));
    return true;
  }

  /**
   * The same future without a context. What an application chains to it may follow {@link #close},
   * after which the event loops of a Vert.x that was made here are gone.
   */
  private static <T> Future<T> detached(Future<T> started) {
    Promise<T> promise = Promise.promise();
    started.onComplete(promise);
    return promise.future();
  }

  private static <T> Future<T> closed() {
    return Future.failedFuture(new RefusedException(Refusal.UNAVAILABLE, "the client is closed"));
  }

  private synchronized boolean isClosing() {
    return closing != null;
  }

  @Override
  public ClusterCoordinator coordinator(CoordinatorOptions options) {
    TrackMembers coordinator = new TrackMembers(link, directory, options);
    if (!keep(coordinator, coordinators)) {
      throw new RefusedException(Refusal.UNAVAILABLE, "the client is closed");
    }
    return coordinator;
  }

  @Override
  public Admin admin() {
    return new AdminCalls(link);
  }

  @Override
  public Vertx vertx() {
    return link.vertx();
  }

  @Override
  public ConnectionState state() {
    return ConnectionState.valueOf(link.state().name());
  }

  @Override
  public void onState(java.util.function.Consumer<ConnectionState> handler) {
    link.onState(state -> handler.accept(ConnectionState.valueOf(state.name())));
  }

  /**
   * The connection of a client, for parts of Evenkeel that send requests to the cluster themselves.
   */
  public static Link linkOf(EvenkeelClient client) {
    return ((EvenkeelClientImpl) client).link;
  }

  /**
   * The same client, for parts of a node: consumers, candidates and tracks that it starts belong to
   * a user. Whoever starts them also closes them, and does not close this client.
   *
   * @param user null: they belong to nobody
   */
  public static EvenkeelClient onBehalfOf(EvenkeelClient client, String user) {
    return user != null
            && client instanceof EvenkeelClientImpl its
            && its.link instanceof VertxLink link
        ? new EvenkeelClientImpl(link.onBehalfOf(user), its.directory)
        : client;
  }

  /** The clock by which the delayed messages of a client are due. */
  public static DueClock dueClockOf(EvenkeelClient client) {
    return ((EvenkeelClientImpl) client).directory.dueClock();
  }

  /** What a client knows of its cluster. */
  public static ClusterDirectory directoryOf(EvenkeelClient client) {
    return ((EvenkeelClientImpl) client).directory;
  }

  @Override
  public Future<Void> close() {
    synchronized (this) {
      if (closing != null) {
        return closing.future();
      }
      closing = Promise.promise();
    }
    all(coordinators, TrackMembers::close)
        .eventually(() -> all(streams, ConsumerStream::close))
        .eventually(() -> all(consumers, Consumer::close))
        .eventually(() -> all(candidates, Candidate::close))
        .eventually(() -> all(producers, Producer::close))
        .eventually(() -> all(dedups, Dedup::close))
        .eventually(
            () -> {
              directory.close();
              return link.close();
            })
        .onComplete(done -> closing.tryComplete());
    return closing.future();
  }

  private static <T> Future<Void> all(Collection<T> each, Function<T, Future<Void>> close) {
    return Future.join(each.stream().map(close).toList()).mapEmpty();
  }
}
