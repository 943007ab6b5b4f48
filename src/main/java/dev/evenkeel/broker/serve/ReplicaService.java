package dev.evenkeel.broker.serve;

import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.ReplicasAnswer;
import dev.evenkeel.bus.ReplicasRequest;
import dev.evenkeel.log.Replicas;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.buffer.Buffer;

/**
 * Answers those who want to know when an entry is on the disk of every voter. One request stands
 * for all batches of one entry, and of those before it.
 */
record ReplicaService(ServeContext serve) {
  /** Answers an AWAIT_REPLICAS request. */
  Future<Buffer> await(Buffer request) {
    ReplicasRequest asked = ReplicasRequest.decode(Frames.body(request));
    if (asked.dataGroup() < 0 || asked.dataGroup() >= serve.groups().size()) {
      throw new RefusedException(Refusal.INVALID, "there is no data group " + asked.dataGroup());
    }
    LogGroupServer group = serve.groups().get(asked.dataGroup());
    if (asked.logIndex() < 0) {
      // Before that it may not know of all that is committed.
      group.requireReady();
    } else {
      group.requireLeader();
    }
    Promise<Buffer> answer = Promise.promise();
    group
        .log()
        .awaitReplicas(asked.logIndex(), asked.waitMillis())
        .whenComplete((known, failure) -> serve.run(() -> finish(answer, known, failure)));
    return answer.future();
  }

  private static void finish(Promise<Buffer> answer, Replicas known, Throwable failure) {
    if (failure != null) {
      answer.fail(Answers.unwrap(failure));
    } else {
      answer.complete(
          Frames.answer(new ReplicasAnswer(known.everywhere(), known.missing()).encode().view()));
    }
  }
}
