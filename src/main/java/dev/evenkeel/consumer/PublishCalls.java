package dev.evenkeel.consumer;

import dev.evenkeel.consumer.core.Action;
import dev.evenkeel.consumer.core.PublishRequest;
import dev.evenkeel.model.DataCommand;
import dev.evenkeel.model.Lease;
import dev.evenkeel.model.MetaCommand;
import dev.evenkeel.model.Refusal;
import dev.evenkeel.model.RefusedException;
import dev.evenkeel.model.Reply;
import dev.evenkeel.model.Shard;
import dev.evenkeel.wire.AppendResults;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;

/** Requests for what handlers publish. Every failure is a {@link RefusedException}. */
final class PublishCalls {
  private final PublishLog calls;
  private final String group;

  PublishCalls(PublishLog calls, String group) {
    this.calls = calls;
    this.group = group;
  }

  /**
   * Opens the epoch of the lease in every data group, and with it fences all lower ones.
   *
   * <p>The first owner of a generation gets the id from the meta group, and puts it into the lease
   * once every data group knows it: so one that a lease names and a data group does not know has
   * been forgotten there.
   *
   * @return the producer's id
   */
  Future<Long> open(Action.OpenPublisher open) {
    if (open.producerId() > 0) {
      return everywhere(open, open.producerId(), false).map(done -> open.producerId());
    }
    return calls
        .submitMeta(new MetaCommand.RegisterProducer(""))
        .map(reply -> ((Reply.OfProducer) reply).producerId())
        .compose(
            id ->
                everywhere(open, id, true)
                    .compose(
                        done ->
                            calls.submit(
                                open.shard(),
                                new DataCommand.SetPublisher(
                                    group, open.shard(), open.epoch(), id)))
                    .compose(
                        reply -> {
                          Lease lease = ((Reply.OfLease) reply).lease();
                          return lease.generation().producerId() == id
                              ? Future.succeededFuture(id)
                              : Future.failedFuture(
                                  new RefusedException(
                                      Refusal.UNAVAILABLE, "the lease names another producer"));
                        }));
  }

  private Future<?> everywhere(Action.OpenPublisher open, long id, boolean fresh) {
    int groups = calls.dataGroups();
    if (groups == 0) {
      return Future.failedFuture(
          new RefusedException(Refusal.UNAVAILABLE, "no leader is known: ask again"));
    }
    DataCommand command =
        new DataCommand.OpenPublisher(
            id, Math.toIntExact(open.epoch()), group, open.shard(), fresh);
    List<Future<Reply>> opened = new ArrayList<>();
    for (int i = 0; i < groups; i++) {
      // Shard i of a topic 0 would lie in group i.
      opened.add(calls.submit(new Shard(0, i), command));
    }
    return Future.all(opened);
  }

  Future<List<AppendResults.Result>> publish(PublishRequest request) {
    return calls
        .append(new Shard(0, request.group()), request.body())
        .map(AppendResults::decode)
        .map(
            answer -> {
              if (answer.results().size() != request.batches()) {
                throw new RefusedException(
                    Refusal.INDETERMINATE,
                    request.batches() + " batches, but " + answer.results().size() + " results");
              }
              return answer.results();
            });
  }

  /** How many data groups there are; 0 if that is not known yet. */
  int dataGroups() {
    return calls.dataGroups();
  }
}
