package examples;

import dev.evenkeel.Evenkeel;
import dev.evenkeel.client.Candidate;
import dev.evenkeel.client.ClientOptions;
import dev.evenkeel.client.ElectionCareer;
import dev.evenkeel.client.ElectionOptions;
import dev.evenkeel.client.EvenkeelClient;
import dev.evenkeel.client.LeaderContext;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/**
 * One of several programs of which one at a time does the work, without a topic: {@code
 * ElectionExample HOST:PORT,... ELECTION MEMBER DATABASE_PORT [TURNS]}. It writes what it does to a
 * database that refuses former leaders. With TURNS it resigns after so many turns. SIGTERM ends it
 * in good order.
 */
public final class ElectionExample {
  private ElectionExample() {}

  public static void main(String[] args) throws InterruptedException {
    ElectionOptions options =
        new ElectionOptions().setName(args[1]).setMember(args[2]).setPauseMillis(10);
    int turns = args.length > 4 ? Integer.parseInt(args[4]) : Integer.MAX_VALUE;
    CountDownLatch stop = new CountDownLatch(1);
    CountDownLatch left = new CountDownLatch(1);
    Runtime.getRuntime().addShutdownHook(new Thread(() -> stopAndAwait(stop, left)));
    Future<EvenkeelClient> connected =
        Evenkeel.connect(new ClientOptions().setSeeds(List.of(args[0].split(","))));
    Future<Candidate> candidate =
        connected.compose(
            client -> {
              LeaderExample.Database database =
                  new LeaderExample.Database(client.vertx(), args[2], Integer.parseInt(args[3]));
              return client.election(options, new Work(client.vertx(), database, turns));
            });
    candidate
        .onSuccess(
            joined ->
                joined.onEnd(
                    why -> {
                      // Another candidate of the same name.
                      System.err.println("ended: " + why);
                      stop.countDown();
                    }))
        .onFailure(
            failure -> {
              System.err.println(failure);
              stop.countDown();
            });
    stop.await();
    // If it leads, it hands over; then it leaves the election and disconnects.
    connected.compose(EvenkeelClient::close).onComplete(closed -> left.countDown());
  }

  /** What the leader does. All methods are called on the candidate's one context. */
  static final class Work implements ElectionCareer {
    private static final long WORK_MILLIS = 20;

    private final Vertx vertx;
    private final LeaderExample.Database database;
    private final int turns;
    private int done;

    Work(Vertx vertx, LeaderExample.Database database, int turns) {
      this.vertx = vertx;
      this.database = database;
      this.turns = turns;
    }

    /** The first write of each leader: from then on the database refuses all before it. */
    @Override
    public Future<Void> inaugurate(LeaderContext context) {
      done = 0;
      return database.write(context.term(), "inaugurate");
    }

    /** Called again and again: the next turn begins after this one has ended. */
    @Override
    public Future<Void> execute(LeaderContext context) {
      if (++done >= turns) {
        context.resign();
      }
      return database
          .write(context.term(), "begins")
          .compose(written -> vertx.timer(WORK_MILLIS))
          .compose(worked -> database.write(context.term(), "ends"));
    }

    @Override
    public Future<Void> handOver(LeaderContext context) {
      return database.write(context.term(), "handOver");
    }

    @Override
    public void lost(LeaderContext context) {
      System.out.println("lost the lead of term " + context.term());
    }
  }

  private static void stopAndAwait(CountDownLatch stop, CountDownLatch left) {
    stop.countDown();
    try {
      left.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
