package dev.evenkeel.client.internal.member;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.bus.Assignment;
import dev.evenkeel.client.Delivery;
import dev.evenkeel.client.GivenBackException;
import dev.evenkeel.client.LeaderCareer;
import dev.evenkeel.client.LeaderContext;
import dev.evenkeel.client.ShardContext;
import dev.evenkeel.protocol.Message;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.buffer.Buffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Many shards come and go; the career begins and ends once. */
class LeaderHandlerTest {
  private static final class Career implements LeaderCareer {
    final List<String> calls = new ArrayList<>();
    final ArrayDeque<Promise<Void>> open = new ArrayDeque<>();
    AtHand atHand = AtHand.FINISH;
    boolean serial = true;

    private Future<Void> call(String what) {
      calls.add(what);
      Promise<Void> promise = Promise.promise();
      open.add(promise);
      return promise.future();
    }

    @Override
    public Future<Void> inaugurate(LeaderContext context) {
      return call("inaugurate " + context.term());
    }

    @Override
    public Future<Void> execute(Delivery message) {
      return call("execute " + message.offset());
    }

    @Override
    public Future<Void> handOver(LeaderContext context) {
      return call("handOver " + context.term());
    }

    @Override
    public void lost(LeaderContext context) {
      calls.add("lost " + context.term());
    }

    @Override
    public AtHand atHand() {
      return atHand;
    }

    @Override
    public boolean isSerial() {
      return serial;
    }
  }

  private final Career career = new Career();
  private final LeaderHandler handler = new LeaderHandler(career);
  private final List<Long> resigned = new ArrayList<>();
  private final Leaderships leaderships = new Leaderships("m", () -> resigned.add(0L), () -> true);

  private void lead(long term, boolean ending) {
    handler.onLeadership(leaderships.changed(new Assignment.Lead(term, true, ending)));
  }

  private void leadNoMore() {
    handler.onLeadership(leaderships.changed(null));
  }

  private static ShardContext shard(int shard, long epoch) {
    return new ShardContext("t", shard, epoch, "m", 0);
  }

  private Future<Void> assign(int shard, long epoch) {
    return handler.onAssign(shard(shard, epoch), null);
  }

  private Future<Void> handle(int shard, long epoch, long offset) {
    Message message = new Message(null, Map.of(), 0, new byte[0]);
    return handler.handle(new Delivery("t", shard, offset, message, "m", epoch, 1));
  }

  private void inaugurated() {
    lead(7, false);
    assertThat(assign(0, 1).isComplete()).isFalse();
    Future<Void> second = assign(1, 1);
    career.open.remove().complete();
    assertThat(second.succeeded()).isTrue();
    assertThat(career.calls).containsExactly("inaugurate 7");
    career.calls.clear();
  }

  @Test
  void itBeginsOnceForAllShards() {
    inaugurated();
    assertThat(assign(2, 1).succeeded()).as("one that comes later").isTrue();
    assertThat(career.calls).isEmpty();
  }

  @Test
  void aBeginningThatFailsIsTriedAgain() {
    lead(7, false);
    Future<Void> first = assign(0, 1);
    career.open.remove().fail("no");
    assertThat(first.failed()).isTrue();
    Future<Void> again = assign(0, 1);
    career.open.remove().complete();
    assertThat(again.succeeded()).isTrue();
    assertThat(career.calls).containsExactly("inaugurate 7", "inaugurate 7");
  }

  @Test
  void itEndsOnceAfterTheLastMessageOfAllShards() {
    inaugurated();
    lead(7, true);
    Future<Buffer> first = handler.onRelease(shard(0, 1));
    assertThat(career.calls).isEmpty();
    Future<Buffer> second = handler.onRelease(shard(1, 1));
    assertThat(career.calls).containsExactly("handOver 7");
    assertThat(first.isComplete() || second.isComplete()).as("nothing is released yet").isFalse();
    career.open.remove().complete();
    assertThat(first.succeeded() && second.succeeded()).isTrue();
    leadNoMore();
    assertThat(career.calls).containsExactly("handOver 7");
  }

  @Test
  void afterAHandOverToItselfItBeginsAtTheNextTermAndNothingWasLost() {
    inaugurated();
    lead(7, true);
    handler.onRelease(shard(0, 1));
    handler.onRelease(shard(1, 1));
    career.open.remove().complete();
    lead(8, false);
    assign(0, 3);
    Future<Void> second = assign(1, 3);
    assertThat(career.calls).containsExactly("handOver 7", "inaugurate 8");
    career.open.remove().complete();
    assertThat(second.succeeded()).isTrue();
  }

  @Test
  void anEndThatFailsHandsOverAllTheSame() {
    inaugurated();
    lead(7, true);
    Future<Buffer> first = handler.onRelease(shard(0, 1));
    handler.onRelease(shard(1, 1));
    career.open.remove().fail("no");
    assertThat(first.succeeded()).isTrue();
  }

  @Test
  void aShardThatGoesAloneEndsNothing() {
    inaugurated();
    assertThat(handler.onRelease(shard(0, 1)).succeeded()).isTrue();
    assertThat(career.calls).isEmpty();
  }

  @Test
  void calledOffBeforeItsEndItGoesOn() {
    inaugurated();
    lead(7, true);
    Future<Buffer> first = handler.onRelease(shard(0, 1));
    lead(7, false);
    assertThat(first.succeeded()).isTrue();
    assertThat(assign(0, 2).succeeded()).isTrue();
    assertThat(career.calls).isEmpty();
  }

  @Test
  void fencedItIsLost() {
    inaugurated();
    handle(0, 1, 5);
    leadNoMore();
    handler.onLost(shard(0, 1));
    handler.onLost(shard(1, 1));
    assertThat(career.calls).containsExactly("execute 5", "lost 7");
  }

  @Test
  void fencedAtItsEndItIsLostAndTheNextTermBeginsAnew() {
    inaugurated();
    lead(7, true);
    handler.onRelease(shard(0, 1));
    handler.onLost(shard(1, 1));
    assertThat(career.calls).containsExactly("handOver 7");
    lead(9, false);
    assertThat(career.calls).containsExactly("handOver 7", "lost 7");
    assign(0, 3);
    career.open.remove().complete();
    assertThat(career.calls).containsExactly("handOver 7", "lost 7", "inaugurate 9");
  }

  @Test
  void nothingOfALaterTermBeginsBeforeItsShardsAreAssigned() {
    inaugurated();
    lead(9, false);
    Future<Void> stale = handle(0, 1, 5);
    assertThat(career.calls).containsExactly("lost 7");
    handler.onLost(shard(0, 1));
    assertThat(stale.failed()).isTrue();
  }

  @Test
  void whatIsAtHandIsCut() {
    career.atHand = LeaderCareer.AtHand.CUT;
    career.serial = false;
    inaugurated();
    Future<Void> ended = handle(0, 1, 5);
    Future<Void> running = handle(0, 1, 6);
    lead(7, true);
    handler.onDraining(shard(0, 1));
    assertThat(career.calls).containsExactly("execute 5", "execute 6", "handOver 7");
    career.open.remove().complete();
    assertThat(ended.succeeded()).as("it ended in time").isTrue();
    Promise<Void> late = career.open.remove();
    career.open.remove().complete();
    assertThat(running.cause()).isInstanceOf(GivenBackException.class);
    late.complete();
    assertThat(handler.onRelease(shard(0, 1)).succeeded()).isTrue();
    assertThat(handler.onRelease(shard(1, 1)).succeeded()).isTrue();
    assertThat(handle(1, 1, 9).cause()).isInstanceOf(GivenBackException.class);
    assertThat(career.calls).hasSize(3);
  }

  @Test
  void calledOffAfterACutItBeginsAnew() {
    career.atHand = LeaderCareer.AtHand.CUT;
    inaugurated();
    handle(0, 1, 6);
    lead(7, true);
    handler.onDraining(shard(0, 1));
    Promise<Void> cut = career.open.remove();
    career.open.remove().complete();
    lead(7, false);
    Future<Void> next = handle(0, 1, 6);
    assertThat(career.calls).endsWith("handOver 7", "inaugurate 7");
    career.open.remove().complete();
    assertThat(career.calls).as("what was cut still runs").endsWith("inaugurate 7");
    cut.complete();
    assertThat(career.calls).endsWith("execute 6");
    career.open.remove().complete();
    assertThat(next.succeeded()).isTrue();
  }

  @Test
  void aMessageThatWaitsBehindACutOneIsCutWithoutBeingBegun() {
    career.atHand = LeaderCareer.AtHand.CUT;
    inaugurated();
    Future<Void> first = handle(0, 1, 5);
    Future<Void> second = handle(1, 1, 6);
    lead(7, true);
    handler.onDraining(shard(0, 1));
    Promise<Void> cut = career.open.remove();
    career.open.remove().complete();
    assertThat(first.cause()).isInstanceOf(GivenBackException.class);
    assertThat(second.cause()).isInstanceOf(GivenBackException.class);
    cut.complete();
    assertThat(career.calls).containsExactly("execute 5", "handOver 7");
  }

  @Test
  void itLeadsForSureWhileItNeitherHandsOverNorIsCutOff() {
    boolean[] alive = {true};
    Leaderships all = new Leaderships("m", () -> {}, () -> alive[0]);
    LeaderContext context = all.changed(new Assignment.Lead(7, true, false));
    assertThat(context.isLeading()).isTrue();
    alive[0] = false;
    assertThat(context.isLeading()).isFalse();
    alive[0] = true;
    all.changed(new Assignment.Lead(7, true, true));
    assertThat(context.isLeading()).isFalse();
    all.changed(new Assignment.Lead(7, true, false));
    assertThat(context.isLeading()).isTrue();
    all.changed(null);
    assertThat(context.isLeading()).isFalse();
  }

  @Test
  void aResignationIsToldOnceATerm() {
    LeaderContext context = leaderships.changed(new Assignment.Lead(7, true, false));
    assertThat(leaderships.resignedTerm()).isNull();
    context.resign();
    context.resign();
    assertThat(resigned).hasSize(1);
    assertThat(leaderships.resignedTerm()).isEqualTo(7);
    LeaderContext later = leaderships.changed(new Assignment.Lead(9, true, false));
    assertThat(context.isOver()).isTrue();
    context.resign();
    assertThat(leaderships.resignedTerm()).isEqualTo(7);
    later.resign();
    assertThat(leaderships.resignedTerm()).isEqualTo(9);
  }
}
