package dev.evenkeel.gateway;

import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.FrameCodec;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.VertxLink;
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

/**
 * Carries out the dedup steps of sessions, with the automata of this node: see {@link
 * Addresses#DEDUP_STEPS}, {@link Addresses#DEDUP_TELL} and {@link Addresses#DEDUP_HEARD}.
 *
 * <p>Which session sent a request is not known here, only which one its body names. So it checks
 * the form alone. A program that names another session disturbs deduplication and nothing else.
 */
final class SessionDedup {
  private final SharedAutomata automata;
  private final List<MessageConsumer<Buffer>> consumers = new ArrayList<>();

  SessionDedup(SharedAutomata automata) {
    this.automata = automata;
  }

  void start(Vertx vertx) {
    FrameCodec.register(vertx);
    serve(vertx, Addresses.DEDUP_STEPS, this::steps);
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
    List<CompletableFuture<StepReply>> replies = new ArrayList<>();
    for (Step step : checked(body)) {
      replies.add(automata.step(step).toCompletableFuture());
    }
    Promise<Buffer> answered = Promise.promise();
    CompletableFuture.allOf(replies.toArray(CompletableFuture<?>[]::new))
        .whenComplete(
            (done, failure) -> {
              if (failure == null) {
                answered.complete(answer(replies));
              } else {
                answered.fail(
                    failure instanceof CompletionException ? failure.getCause() : failure);
              }
            });
    return answered.future();
  }

  private static List<Step> checked(Buffer body) {
    ByteReader in = new ByteReader(body.getBytes());
    String session = Names.check("session", in.neededText());
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

  private Buffer answer(List<CompletableFuture<StepReply>> replies) {
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
    in.text();
    in.end();
    return Future.fromCompletionStage(automata.heard()).map(majority -> Frames.answer(new byte[0]));
  }
}
