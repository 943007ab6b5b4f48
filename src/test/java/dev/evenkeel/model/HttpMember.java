package dev.evenkeel.model;

import dev.evenkeel.model.UserModel.Got;
import dev.evenkeel.model.UserModel.Group;
import dev.evenkeel.model.UserModel.Sent;
import io.vertx.core.Future;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;

/** A member of a group that consumes over HTTP: it opens a session again when one has ended. */
final class HttpMember {
  private static final int TRIES = 60;

  /** In an answer, if the request says nothing. */
  private static final int MESSAGES_MAX = 32;

  private final HttpUser http;
  private final UserModel model;
  private final Group group;

  /** Called before what was got is judged. */
  private final Consumer<Group> look;

  private final String name;
  private final List<String> topics;
  private final io.vertx.core.Promise<Void> left = io.vertx.core.Promise.promise();
  private volatile boolean leaves;

  /** Until then it sends no request. */
  private volatile CountDownLatch standstill = new CountDownLatch(0);

  private String session;

  /** What the session consumes: those of the topics that are there. */
  private List<String> opened = List.of();

  /** What the session has got. */
  private final Set<String> got = new HashSet<>();

  HttpMember(
      HttpUser http,
      UserModel model,
      Group group,
      Consumer<Group> look,
      String name,
      List<String> topics) {
    this.look = look;
    this.http = http;
    this.model = model;
    this.group = group;
    this.name = name;
    this.topics = topics;
  }

  /** Opens a session. Returns false if that was not possible. */
  boolean open() {
    String sessions = "/api/groups/" + group.name + "/sessions";
    for (int tries = TRIES; tries > 0 && !leaves; tries--) {
      List<String> there = model.there(group, topics);
      HttpResponse<String> answer =
          there.isEmpty() ? null : http.send("POST", sessions, group.kind.session(name, there));
      if (answer != null && answer.statusCode() == 201) {
        got.clear();
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
    Thread thread = new Thread(this::consume, name);
    thread.setDaemon(true);
    thread.start();
  }

  private void consume() {
    try {
      boolean again = false;
      while (!leaves) {
        standstill.await();
        if (!opened.containsAll(model.there(group, topics))) {
          // A topic was created again that was not there when the session was opened.
          http.send("DELETE", session, null);
        }
        HttpResponse<String> answer =
            http.send("GET", session + "/messages?waitMs=300&again=" + again, null);
        boolean repeats = again;
        again = answer == null;
        if (answer != null && answer.statusCode() == 404) {
          again = false;
          while (!leaves && !open()) {
            HttpUser.pause();
          }
        } else if (answer == null || answer.statusCode() != 200) {
          HttpUser.pause();
        } else {
          handle(new JsonObject(answer.body()).getJsonArray("messages"), repeats);
        }
      }
      http.send("DELETE", session, null);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      left.complete();
    }
  }

  /** What a message ends with that was got under another epoch does not count. */
  private void tryOldEpoch(JsonObject result) {
    JsonObject old = result.copy().put("epoch", result.getLong("epoch") - 1);
    JsonObject results = new JsonObject().put("done", new JsonArray().add(old));
    HttpResponse<String> answer = http.send("POST", session + "/results", results);
    boolean taken = answer != null && answer.statusCode() == 200;
    if (taken && new JsonObject(answer.body()).getJsonArray("refused").isEmpty()) {
      model.fault(Promise.OLD_EPOCHS, name + " of " + group + ": the node has taken " + old);
    }
  }

  void standStill(CountDownLatch until) {
    standstill = until;
  }

  private void handle(JsonArray messages, boolean repeats) {
    look.accept(group);
    if (messages.size() > MESSAGES_MAX) {
      model.fault(Promise.HTTP_AGAIN, name + " got " + messages.size() + " messages");
    }
    JsonArray done = new JsonArray();
    JsonArray failed = new JsonArray();
    for (Object each : messages) {
      JsonObject message = (JsonObject) each;
      String place =
          message.getString("topic")
              + message.getInteger("shard")
              + "/"
              + message.getLong("offset");
      boolean first =
          got.add(place + message.getLong("epoch") + " " + message.getInteger("attempt"));
      if (!first && !repeats && !group.shaken && !group.replayed) {
        model.fault(Promise.HTTP_AGAIN, name + " of " + group + " got again " + each);
      }
      int id = Integer.parseInt(message.getJsonObject("headers").getString(Content.ID));
      Boolean well =
          model.begins(
              group,
              id,
              isIntact(model.sent(id), message),
              new Got(
                  name,
                  message.getInteger("shard"),
                  message.getLong("offset"),
                  message.getLong("epoch"),
                  message.getInteger("attempt")),
              System.currentTimeMillis());
      JsonObject result =
          new JsonObject()
              .put("topic", message.getString("topic"))
              .put("shard", message.getInteger("shard"))
              .put("offset", message.getLong("offset"))
              .put("epoch", message.getLong("epoch"));
      if (id % 7 == 0 && message.getLong("epoch") > 0) {
        tryOldEpoch(result);
      }
      boolean goesWell = well != null && well;
      (goesWell ? done : failed).add(goesWell ? result : result.put("error", Handlers.MEANT));
      if (well != null) {
        model.ends(group, name, id, well);
      }
    }
    if (!messages.isEmpty()) {
      JsonObject results = new JsonObject().put("done", done).put("failed", failed);
      HttpResponse<String> answer = http.send("POST", session + "/results", results);
      boolean taken = answer != null && answer.statusCode() == 200;
      if (!taken || !new JsonObject(answer.body()).getJsonArray("refused").isEmpty()) {
        // Some were not taken, or nobody knows: they may come again.
        model.shake(group, System.currentTimeMillis());
      }
    }
  }

  private static boolean isIntact(Sent sent, JsonObject message) {
    Map<String, String> headers = new HashMap<>();
    message
        .getJsonObject("headers")
        .forEach(each -> headers.put(each.getKey(), "" + each.getValue()));
    String text = message.getString("payload");
    byte[] payload =
        text != null
            ? text.getBytes(StandardCharsets.UTF_8)
            : Base64.getDecoder().decode(message.getString("payloadBase64"));
    return Content.isIntact(
        sent, message.getString("key"), message.getLong("timestamp"), headers, payload);
  }

  Future<Void> leave() {
    leaves = true;
    return left.future();
  }
}
