package examples;

import dev.evenkeel.Evenkeel;
import dev.evenkeel.client.ClientOptions;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.Delivery;
import dev.evenkeel.client.EvenkeelClient;
import dev.evenkeel.client.LeaderCareer;
import dev.evenkeel.client.LeaderContext;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpResponseExpectation;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/**
 * One of several programs of which one at a time does the work, and writes what it does to a
 * database that refuses former leaders: {@code LeaderExample HOST:PORT,... TOPIC GROUP MEMBER
 * DATABASE_PORT}. A message may say how many milliseconds its work takes, as in {@code report
 * 3000}. A message {@code resign} makes it hand over. SIGTERM ends it in good order.
 */
public final class LeaderExample {
  private LeaderExample() {}

  public static void main(String[] args) throws InterruptedException {
    ConsumerOptions options =
        new ConsumerOptions().setTopics(List.of(args[1])).setGroup(args[2]).setMember(args[3]);
    CountDownLatch stop = new CountDownLatch(1);
    CountDownLatch left = new CountDownLatch(1);
    Runtime.getRuntime().addShutdownHook(new Thread(() -> stopAndAwait(stop, left)));
    Future<EvenkeelClient> connected =
        Evenkeel.connect(new ClientOptions().setSeeds(List.of(args[0].split(","))));
    connected
        .compose(
            client -> {
              Database database = new Database(client.vertx(), args[3], Integer.parseInt(args[4]));
              return client.leader(options, new Work(client.vertx(), database));
            })
        .onSuccess(
            consumer ->
                consumer.onEnd(
                    why -> {
                      // Another member of the same name, or other settings than the group's.
                      System.err.println("ended: " + why);
                      stop.countDown();
                    }))
        .onFailure(
            failure -> {
              System.err.println(failure);
              stop.countDown();
            });
    stop.await();
    // If it leads, it hands over; then it leaves the group and disconnects.
    connected.compose(EvenkeelClient::close).onComplete(closed -> left.countDown());
  }

  /** What the leader does. All methods are called on the consumer's one context. */
  static final class Work implements LeaderCareer {
    private static final long WORK_MILLIS = 20;

    private final Vertx vertx;
    private final Database database;
    private LeaderContext leadership;

    Work(Vertx vertx, Database database) {
      this.vertx = vertx;
      this.database = database;
    }

    /** The first write of each leader: from then on the database refuses all before it. */
    @Override
    public Future<Void> inaugurate(LeaderContext context) {
      leadership = context;
      return database.write(context.term(), "inaugurate");
    }

    @Override
    public Future<Void> execute(Delivery message) {
      // As it was when the work began: a former leader must not borrow a later term.
      long term = leadership.term();
      String text = new String(message.message().payload(), StandardCharsets.UTF_8);
      System.out.println("begins " + text + " at term " + term);
      String[] words = text.split(" ");
      long millis = words.length > 1 ? Long.parseLong(words[1]) : WORK_MILLIS;
      if (text.equals("resign")) {
        // It hands over once this message is done.
        leadership.resign();
      }
      return vertx.timer(millis).compose(done -> database.write(term, text));
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

  /**
   * Writes with the fencing token. With SQL the same is one statement in the transaction of each
   * write, which goes on only if it changed a row: {@code UPDATE leader SET term = :term WHERE term
   * <= :term}.
   */
  static final class Database {
    private final HttpClient http;
    private final String member;
    private final int port;

    Database(Vertx vertx, String member, int port) {
      this.http = vertx.createHttpClient();
      this.member = member;
      this.port = port;
    }

    /** Fails if the database has seen a higher term. */
    Future<Void> write(long term, String row) {
      return http.request(HttpMethod.POST, port, "127.0.0.1", "/rows?term=" + term + "&" + member)
          .compose(request -> request.send(Buffer.buffer(row)))
          .expecting(HttpResponseExpectation.SC_OK)
          .mapEmpty();
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
