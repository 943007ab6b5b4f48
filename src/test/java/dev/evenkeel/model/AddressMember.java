package dev.evenkeel.model;

import dev.evenkeel.model.UserModel.Got;
import dev.evenkeel.model.UserModel.Group;
import io.vertx.core.Future;
import io.vertx.core.MultiMap;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.eventbus.Message;
import io.vertx.core.eventbus.MessageConsumer;
import io.vertx.core.json.JsonObject;
import java.net.http.HttpResponse;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * A member of a group whose messages go to an address of the event bus, and who listens there. It
 * opens its session again when that has ended, and listens again when the event bus is another one.
 */
final class AddressMember {
  private static final int TRIES = 60;
  private static final int REPLY_MILLIS_MAX = 4_000;
  private static final int LATE_MILLIS = REPLY_MILLIS_MAX + 500;
  private static final String OWN = "evenkeel-";

  private final HttpUser http;
  private final UserModel model;
  private final Group group;

  /** Called before what was got is judged. */
  private final Consumer<Group> look;

  private final String name;
  private final List<String> topics;
  private final Supplier<Vertx> bus;
  private final io.vertx.core.Promise<Void> left = io.vertx.core.Promise.promise();
  private volatile boolean leaves;

  /** Until then nobody listens. */
  private volatile long awayUntilNanos = System.nanoTime();

  // Of the thread that keeps it.
  private String session;
  private List<String> opened = List.of();
  private Vertx listensOn;
  private MessageConsumer<Buffer> listener;

  /** One reply comes too late. */
  private boolean isLate = true;

  /** Until then it does not reply to a message that it has. */
  private volatile long lateUntilNanos = System.nanoTime();

  /**
   * @param bus the event bus that nodes send to, as it is now
   */
  AddressMember(
      HttpUser http,
      UserModel model,
      Group group,
      Consumer<Group> look,
      String name,
      List<String> topics,
      Supplier<Vertx> bus) {
    this.http = http;
    this.model = model;
    this.group = group;
    this.look = look;
    this.name = name;
    this.topics = topics;
    this.bus = bus;
  }

  private String address() {
    return "to." + group.name + "." + name;
  }

  /** Opens a session, and listens. Returns false if that was not possible. */
  boolean open() {
    String sessions = "/api/groups/" + group.name + "/sessions";
    for (int tries = TRIES; tries > 0 && !leaves; tries--) {
      List<String> there = model.there(group, topics);
      JsonObject asked =
          group
              .kind
              .session(name, there)
              .put("address", address())
              .put("addressTimeoutMillis", REPLY_MILLIS_MAX);
      HttpResponse<String> answer = there.isEmpty() ? null : http.send("POST", sessions, asked);
      if (answer != null && answer.statusCode() == 201) {
        opened = there;
        session = sessions + "/" + new JsonObject(answer.body()).getString("session");
        return true;
      }
      boolean refused = answer != null && answer.statusCode() < 500 && answer.statusCode() != 429;
      if (refused && !model.readsWhatIsGone(group)) {
        model.fault(Promise.ANSWERS, name + " of " + group + " opens a session: " + answer.body());
        return false;
      }
      HttpUser.pause();
    }
    return false;
  }

  void start() {
    Thread thread = new Thread(this::keep, name);
    thread.setDaemon(true);
    thread.start();
  }

  /** Nobody listens for a while: what was sent just before may have failed once more. */
  void goAway(long millis) {
    model.shake(group, System.currentTimeMillis());
    awayUntilNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
  }

  private boolean isAway() {
    return System.nanoTime() - awayUntilNanos < 0;
  }

  private void keep() {
    try {
      while (!leaves) {
        listen();
        boolean less = !opened.containsAll(model.there(group, topics));
        HttpResponse<String> answer = less ? end() : http.send("POST", session + "/extend", null);
        if (less || answer != null && answer.statusCode() == 404) {
          while (!leaves && !open()) {
            HttpUser.pause();
          }
        }
        HttpUser.pause();
      }
      end();
      stopListening();
    } finally {
      left.complete();
    }
  }

  /**
   * Ends the session. Its node does not wait long for a reply: it gives that message back, and what
   * was finished after it comes again.
   */
  private HttpResponse<String> end() {
    if (System.nanoTime() - lateUntilNanos < 0) {
      model.shake(group, System.currentTimeMillis());
    }
    return http.send("DELETE", session, null);
  }

  private void listen() {
    Vertx now = bus.get();
    if (listener != null && (isAway() || now != listensOn)) {
      stopListening();
    }
    if (listener == null && !isAway()) {
      listensOn = now;
      listener = now.eventBus().consumer(address(), this::got);
    }
  }

  private void stopListening() {
    if (listener != null) {
      try {
        listener.unregister();
      } catch (RejectedExecutionException e) {
        // The event bus has been closed meanwhile, and the listener with it.
      }
      listener = null;
    }
  }

  private void got(Message<Buffer> message) {
    MultiMap headers = message.headers();
    look.accept(group);
    int id = Integer.parseInt(headers.get(Content.ID));
    Boolean well =
        model.begins(group, id, isIntact(id, message), got(headers), System.currentTimeMillis());
    if (well == null) {
      message.fail(1, "unknown");
      return;
    }
    boolean late = well && isLate;
    isLate &= !late;
    model.ends(group, name, id, well && !late);
    if (late) {
      lateUntilNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(LATE_MILLIS);
      listensOn.setTimer(LATE_MILLIS, passed -> message.reply(null));
    } else if (well) {
      message.reply(null);
    } else {
      message.fail(1, Handlers.MEANT);
    }
  }

  private Got got(MultiMap headers) {
    if (!name.equals(headers.get(OWN + "member"))
        || !group.name.equals(headers.get(OWN + "group"))) {
      model.fault(Promise.ADDRESS_HEADERS, name + " of " + group + " got " + headers);
    }
    return new Got(
        name,
        Integer.parseInt(headers.get(OWN + "shard")),
        Long.parseLong(headers.get(OWN + "offset")),
        Long.parseLong(headers.get(OWN + "epoch")),
        Integer.parseInt(headers.get(OWN + "attempt")));
  }

  private boolean isIntact(int id, Message<Buffer> message) {
    Map<String, String> headers = new HashMap<>();
    message.headers().forEach(each -> headers.put(each.getKey(), each.getValue()));
    return Content.isIntact(
        model.sent(id),
        headers.get(OWN + "key"),
        Long.parseLong(headers.get(OWN + "timestamp")),
        headers,
        message.body().getBytes());
  }

  Future<Void> leave() {
    leaves = true;
    return left.future();
  }
}
