package dev.evenkeel.client.internal.member;

import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.EventLoops;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.Link;
import dev.evenkeel.dedup.Claim;
import dev.evenkeel.dedup.DedupKey;
import dev.evenkeel.dedup.HeadMessage;
import dev.evenkeel.dedup.Lease;
import dev.evenkeel.dedup.SharedAutomata;
import dev.evenkeel.dedup.SharedCodec;
import dev.evenkeel.dedup.Step;
import dev.evenkeel.dedup.StepBatches;
import dev.evenkeel.dedup.StepBatches.Carried;
import dev.evenkeel.dedup.StepReply;
import dev.evenkeel.dedup.TurnListeners;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.wire.ByteReader;
import dev.evenkeel.protocol.wire.Bytes;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.internal.ContextInternal;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The dedup automata of the cluster over a link that is no member of it: a node carries out the
 * steps of a session. One serves all consumers of a link, as long as the session lasts.
 */
final class LinkAutomata implements SharedAutomata {
  private static final Logger LOG = LoggerFactory.getLogger(LinkAutomata.class);

  /** After this time without an answer the steps of a batch have failed. */
  private static final long STEPS_MILLIS_MAX = 5_000;

  private static final long TELL_MILLIS_MAX = 1_000;
  private static final long HEARD_MILLIS_MAX = 2_000;

  /** Most messages about heads under way. Others are dropped: the waiter asks again anyway. */
  static final int TELLS_MAX = 200;

  /** Of the session that each open link has, if any of its consumers deduplicates. */
  private static final Map<Link, LinkAutomata> OF_LINKS = new ConcurrentHashMap<>();

  private final Link link;
  private final String session;
  private final Home context;
  private final StepBatches batches;
  private final TurnListeners listeners = new TurnListeners();
  private final ClusterTime time = new ClusterTime();
  private final AtomicInteger tells = new AtomicInteger();
  private final Link.Listening messages;

  /** The question under way, and the next one. */
  private final List<CompletableFuture<Void>> questions = new ArrayList<>(2);

  private volatile boolean ended;
  private boolean asksForTime;

  private LinkAutomata(Link link, String session) {
    this.link = link;
    this.session = session;
    context = new Home(EventLoops.forConnections(link.vertx()));
    batches = batches(this::carry);
    messages = link.listen(Addresses.dedup(session), this::headChanged);
  }

  /**
   * The automata for a session of a link; null until a node has said what time it is in the
   * cluster, because claims carry times. Call it again then.
   */
  static SharedAutomata of(Link link, String session) {
    LinkAutomata automata =
        OF_LINKS.compute(
            link,
            (same, last) -> {
              if (last == null) {
                link.onState(state -> endFormer(link));
              } else if (last.session.equals(session) && !last.ended) {
                return last;
              } else {
                last.end();
              }
              return new LinkAutomata(link, session);
            });
    if (link.state() == Link.State.CLOSED) {
      // Its last change of state may be over, and nothing would remove them.
      endFormer(link);
    }
    return automata.knowsTime() ? automata : null;
  }

  /**
   * As {@link #of(Link, String)}, for the claims of a dedup by name. Requests name it, so that
   * nodes see whether the session may use it.
   */
  static SharedAutomata ofService(Link link, String session, String name) {
    return of(link, session) instanceof LinkAutomata automata ? automata.new Service(name) : null;
  }

  /** The automata of a dedup by name. Everything but the steps is the same for all of a session. */
  private final class Service implements SharedAutomata {
    private final String name;
    private final StepBatches steps;

    Service(String name) {
      this.name = name;
      steps = batches(this::carry);
    }

    private CompletionStage<Carried> carry(int bucket, byte[] batch) {
      Bytes head = new Bytes(session.length() + name.length() + 2 * Integer.BYTES + batch.length);
      return request(Addresses.DEDUP_CLAIMS, head.text(session).text(name), batch);
    }

    @Override
    public CompletionStage<StepReply> step(Step step) {
      return steps.step(step);
    }

    /** The node tells other sessions. */
    @Override
    public void tell(DedupKey key, Claim head) {
      if (head.worker().member().equals(session)) {
        LinkAutomata.this.tell(key, head);
      }
    }

    @Override
    public String member() {
      return session;
    }

    @Override
    public int listen(Turns turns) {
      return LinkAutomata.this.listen(turns);
    }

    @Override
    public void forget(int number) {
      LinkAutomata.this.forget(number);
    }

    @Override
    public long nowMillis() {
      return LinkAutomata.this.nowMillis();
    }

    @Override
    public CompletionStage<Void> heard() {
      return LinkAutomata.this.heard();
    }

    @Override
    public long silentMillisMax() {
      return LinkAutomata.this.silentMillisMax();
    }
  }

  /** A session that has ended cannot be listened for any more. */
  private static void endFormer(Link link) {
    LinkAutomata last = OF_LINKS.get(link);
    if (last != null && !last.session.equals(link.clusterMember())) {
      last.end();
    }
    if (link.state() == Link.State.CLOSED) {
      OF_LINKS.remove(link);
    }
  }

  private void end() {
    ended = true;
    messages.end();
  }

  private boolean knowsTime() {
    synchronized (this) {
      if (time.known() || asksForTime) {
        return time.known();
      }
      asksForTime = true;
    }
    carry(0, SharedCodec.steps(List.of()))
        .whenComplete(
            (answer, failure) -> {
              synchronized (this) {
                asksForTime = false;
              }
            });
    return time.known();
  }

  @Override
  public String member() {
    return session;
  }

  @Override
  public int listen(Turns turns) {
    return listeners.add(turns);
  }

  @Override
  public void forget(int number) {
    listeners.remove(number);
  }

  private void headChanged(Buffer body) {
    try {
      listeners.deliver(HeadMessage.ofBytes(body.getBytes()));
    } catch (RefusedException malformed) {
      LOG.debug("unreadable message about a claim", malformed);
    }
  }

  @Override
  public long nowMillis() {
    return time.millis(Clock.millis());
  }

  @Override
  public CompletionStage<StepReply> step(Step step) {
    return batches.step(step);
  }

  private StepBatches batches(StepBatches.Carrier carrier) {
    return new StepBatches(StepBatches.BUCKETS, carrier, context, this::callersHome);
  }

  private CompletionStage<Carried> carry(int bucket, byte[] steps) {
    Bytes head = new Bytes(session.length() + Integer.BYTES + steps.length);
    return request(Addresses.DEDUP_STEPS, head.text(session), steps);
  }

  private static RefusedException ended(String session) {
    return Refusal.UNAVAILABLE.error("session %s has ended", session);
  }

  private CompletionStage<Carried> request(String address, Bytes head, byte[] steps) {
    if (!session.equals(link.clusterMember())) {
      return CompletableFuture.failedStage(ended(session));
    }
    return link.request(address, Buffer.buffer(head.raw(steps).toArray()), STEPS_MILLIS_MAX)
        .map(
            answer -> {
              ByteReader in = Frames.answerReader(answer);
              time.learn(in.i64(), Clock.millis());
              return new Carried(in.raw(in.remaining()));
            })
        .toCompletionStage();
  }

  /** Anything that was asked meanwhile waits for the next question. */
  @Override
  public CompletionStage<Void> heard() {
    CompletableFuture<Void> round;
    synchronized (questions) {
      if (questions.size() == 2) {
        return questions.get(1);
      }
      round = new CompletableFuture<>();
      questions.add(round);
      if (questions.size() == 2) {
        return round;
      }
    }
    ask(round);
    return round;
  }

  private void ask(CompletableFuture<Void> round) {
    question(link, session, "")
        .onComplete(
            answered -> {
              CompletableFuture<Void> next;
              synchronized (questions) {
                questions.remove(0);
                next = questions.isEmpty() ? null : questions.get(0);
              }
              if (answered.failed()) {
                round.completeExceptionally(answered.cause());
              } else if (session.equals(link.clusterMember())) {
                round.complete(null);
              } else {
                round.completeExceptionally(ended(session));
              }
              if (next != null) {
                ask(next);
              }
            });
  }

  /**
   * Asks whether the cluster still counts a session as alive.
   *
   * @param dedup a name: fails with FORBIDDEN if the session may not use it, and with WRONG_VERSION
   *     if not all nodes know dedups by name; or empty
   */
  static Future<Void> question(Link link, String session, String dedup) {
    return link.requestAnywhere(
            Addresses.DEDUP_HEARD,
            Buffer.buffer(new Bytes().text(session).text(dedup).toArray()),
            HEARD_MILLIS_MAX)
        .map(Frames::answerBody)
        .mapEmpty();
  }

  @Override
  public long silentMillisMax() {
    return session.equals(link.clusterMember())
        ? Lease.silentMillisMax(link.silenceMillisMax())
        : 0;
  }

  @Override
  public void tell(DedupKey key, Claim head) {
    if (tells.incrementAndGet() > TELLS_MAX) {
      tells.decrementAndGet();
      return;
    }
    byte[] message = HeadMessage.of(key, head).bytes();
    Bytes body = new Bytes().text(head.worker().member()).raw(message);
    link.request(Addresses.DEDUP_TELL, Buffer.buffer(body.toArray()), TELL_MILLIS_MAX)
        .onComplete(done -> tells.decrementAndGet());
  }

  /** The context of the caller, if it is one of the link's; else null. */
  private Home callersHome() {
    ContextInternal context = ContextInternal.current();
    return context != null && context.owner() == link.vertx() ? new Home(context.unwrap()) : null;
  }

  private record Home(Context context) implements Executor {
    @Override
    public void execute(Runnable task) {
      context.runOnContext(then -> task.run());
    }
  }
}
