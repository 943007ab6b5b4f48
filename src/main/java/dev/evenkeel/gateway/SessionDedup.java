package dev.evenkeel.gateway;

import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.FrameCodec;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.VertxLink;
import dev.evenkeel.dedup.Answer;
import dev.evenkeel.dedup.DedupScope;
import dev.evenkeel.dedup.Departure;
import dev.evenkeel.dedup.HeadMessage;
import dev.evenkeel.dedup.SharedAutomata;
import dev.evenkeel.dedup.SharedBucket;
import dev.evenkeel.dedup.SharedClaim;
import dev.evenkeel.dedup.SharedCodec;
import dev.evenkeel.dedup.Step;
import dev.evenkeel.dedup.StepBatches;
import dev.evenkeel.dedup.StepReply;
import dev.evenkeel.dedup.Worker;
import dev.evenkeel.protocol.Names;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.wire.ByteReader;
import dev.evenkeel.protocol.wire.Bytes;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.eventbus.MessageConsumer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Carries out the dedup steps of sessions, with the automata of this node: see {@link
 * Addresses#DEDUP_STEPS}, {@link Addresses#DEDUP_CLAIMS}, {@link Addresses#DEDUP_TELL} and {@link
 * Addresses#DEDUP_HEARD}.
 *
 * <p>Whether the session that a body names is the one that sends it, and may use the dedup that it
 * names, is checked where sessions send: see {@code SessionRules}. A program may also give back a
 * claim of its former session. If it uses only dedups by name, no other program knows the id of
 * that session, because answers do not say whose claim works.
 */
final class SessionDedup {
  private final SharedAutomata automata;
  private final Supplier<Future<Void>> byName;
  private final List<MessageConsumer<Buffer>> consumers = new ArrayList<>();

  /**
   * @param byName fails if not all nodes of the cluster know dedups by name
   */
  SessionDedup(SharedAutomata automata, Supplier<Future<Void>> byName) {
    this.automata = automata;
    this.byName = byName;
  }

  void start(Vertx vertx) {
    FrameCodec.register(vertx);
    serve(vertx, Addresses.DEDUP_STEPS, this::steps);
    serve(vertx, Addresses.DEDUP_CLAIMS, this::claims);
    serve(vertx, Addresses.DEDUP_TELL, this::tell);
    serve(vertx, Addresses.DEDUP_HEARD, this::heard);
  }

  private void serve(Vertx vertx, String address, Function<Buffer, Future<Buffer>> server) {
    MessageConsumer<Buffer> consumer = vertx.eventBus().localConsumer(address);
    consumers.add(consumer);
    consumer.handler(
        message ->
            VertxLink.serve(server, message.body())
                .onSuccess(answer -> message.reply(answer, FrameCodec.options(answer))));
  }

  Future<Void> stop() {
    return Future.join(consumers.stream().map(MessageConsumer::unregister).toList()).mapEmpty();
  }

  private Future<Buffer> steps(Buffer body) {
    ByteReader in = new ByteReader(body.getBytes());
    String session = Names.check("session", in.neededText());
    List<Step> steps = checked(in, session);
    for (Step step : steps) {
      if (step.claim().worker().isService()) {
        throw Refusal.INVALID.error("session %s claims a key and names no dedup", session);
      }
    }
    return answer(begun(steps));
  }

  private Future<Buffer> claims(Buffer body) {
    ByteReader in = new ByteReader(body.getBytes());
    String session = Names.check("session", in.neededText());
    String name = Names.check("dedup", in.neededText());
    DedupScope scope = DedupScope.ofService(name);
    List<Step> steps = checked(in, session);
    for (Step step : steps) {
      if (!step.claim().worker().isService() || !scope.contains(step.key())) {
        throw Refusal.INVALID.error("the key %s is none of the dedup '%s'", step.key(), name);
      }
    }
    return byName
        .get()
        .compose(
            all -> {
              List<CompletableFuture<StepReply>> replies = begun(steps);
              for (int i = 0; i < replies.size(); i++) {
                Step step = steps.get(i);
                replies.set(i, replies.get(i).thenApply(reply -> told(step, session, reply)));
              }
              return answer(replies);
            });
  }

  /**
   * If a claim of another session works on the key, tells that session so, and takes its id out of
   * the reply. The session is told each time that a claim has to wait for it: a session that does
   * not know the claim gives it back.
   */
  private StepReply told(Step step, String session, StepReply reply) {
    SharedClaim head = reply.head();
    if (head == null || head.worker().member().equals(session)) {
      return reply;
    }
    if (reply.answer() == Answer.BLOCK
        || reply.departure() != null && reply.departure() != Departure.LEFT_QUEUE) {
      automata.tell(step.key(), head);
    }
    return new StepReply(reply.answer(), reply.departure(), reply.evicted(), head.anonymous());
  }

  private List<CompletableFuture<StepReply>> begun(List<Step> steps) {
    List<CompletableFuture<StepReply>> replies = new ArrayList<>(steps.size());
    for (Step step : steps) {
      replies.add(automata.step(step).toCompletableFuture());
    }
    return replies;
  }

  private Future<Buffer> answer(List<CompletableFuture<StepReply>> replies) {
    Promise<Buffer> answered = Promise.promise();
    CompletableFuture.allOf(replies.toArray(CompletableFuture<?>[]::new))
        .whenComplete(
            (done, failure) -> {
              if (failure == null) {
                answered.complete(frame(replies));
              } else {
                answered.fail(
                    failure instanceof CompletionException ? failure.getCause() : failure);
              }
            });
    return answered.future();
  }

  private static List<Step> checked(ByteReader in, String session) {
    List<Step> steps;
    try {
      steps = SharedCodec.steps(in.raw(in.remaining()));
    } catch (RuntimeException e) {
      throw Refusal.INVALID.error("malformed dedup steps of session %s: %s", session, e);
    }
    if (steps.size() > StepBatches.BATCH_STEPS_MAX) {
      throw Refusal.INVALID.error(
          "%s dedup steps: at most %s are allowed in a request",
          steps.size(), StepBatches.BATCH_STEPS_MAX);
    }
    for (Step step : steps) {
      check(step, session);
    }
    return steps;
  }

  /** A claim may be given back that comes from a former session of the same program. */
  private static void check(Step step, String session) {
    String member = step.claim().worker().member();
    if (step.kind() == Step.Kind.ENQUEUE && !member.equals(session)) {
      throw Refusal.INVALID.error("session %s asks for a key for %s", session, member);
    }
  }

  private Buffer frame(List<CompletableFuture<StepReply>> replies) {
    List<StepReply> all = replies.stream().map(CompletableFuture::join).toList();
    Bytes answer = new Bytes().i64(automata.nowMillis());
    // How many keys overflowed is counted where the map is.
    answer.raw(SharedCodec.replies(new SharedBucket.Replies(all, 0)));
    return Frames.answer(answer.view());
  }

  private Future<Buffer> tell(Buffer body) {
    ByteReader in = new ByteReader(body.getBytes());
    String member = Names.check("member", in.neededText());
    HeadMessage head = HeadMessage.ofBytes(in.raw(in.remaining()));
    automata.tell(
        head.key(),
        new SharedClaim(new Worker(member, 0, 0), head.token(), 0, head.waitsUntilMillis()));
    return Future.succeededFuture(Frames.answer(new byte[0]));
  }

  /** That this node answers says that the session has a connection. */
  private Future<Buffer> heard(Buffer body) {
    ByteReader in = new ByteReader(body.getBytes());
    Names.check("session", in.neededText());
    boolean named = !in.neededText().isEmpty();
    in.end();
    return (named ? byName.get() : Future.succeededFuture())
        .compose(all -> Future.fromCompletionStage(automata.heard()))
        .map(majority -> Frames.answer(new byte[0]));
  }
}
