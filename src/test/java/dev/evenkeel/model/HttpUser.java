package dev.evenkeel.model;

import dev.evenkeel.TestUsers;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.HttpTimeoutException;
import java.time.Duration;
import java.time.LocalTime;
import java.util.function.IntFunction;

/** Somebody who uses the HTTP API. */
final class HttpUser {
  /**
   * A node takes up to about 30 s. It may hang for 11 s just then, or not be seen by users, and TCP
   * tries again at longer and longer intervals.
   */
  private static final Duration ANSWER_MAX = Duration.ofSeconds(60);

  private static final long PAUSE_MILLIS = 250;
  private static final int UNAVAILABLE = 503;

  private final HttpClient http = TestUsers.http();
  private final IntFunction<String> address;

  /** Null: the nodes have no users. */
  private final String token;

  private final UserModel model;

  /** The node that is asked; when it does not answer, another one is. */
  private volatile int node;

  /**
   * @param which the first node that is asked, and the user who asks
   */
  HttpUser(Place place, int which, UserModel model) {
    address = place::http;
    token = place.token(which);
    node = which;
    this.model = model;
  }

  /** Returns false if the thread is to end. */
  static boolean pause() {
    try {
      Thread.sleep(PAUSE_MILLIS);
      return true;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  /** Null: nobody answered. */
  HttpResponse<String> send(String method, String path, JsonObject body) {
    int asked = node;
    try {
      HttpResponse<String> answer = http.send(request(method, path, body), BodyHandlers.ofString());
      if (answer.statusCode() == UNAVAILABLE) {
        node = asked + 1;
      }
      return answer;
    } catch (HttpTimeoutException late) {
      String what = "no answer of " + address.apply(asked) + " to " + method + " " + path;
      model.fault(Promise.ANSWERS, what + " in " + ANSWER_MAX + ", until " + LocalTime.now());
      return null;
    } catch (IOException gone) {
      node = asked + 1;
      return null;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return null;
    }
  }

  /** Does not wait for the answer. Fails if there is none. */
  Future<HttpResponse<String>> begin(String method, String path, JsonObject body) {
    return Future.fromCompletionStage(
        http.sendAsync(request(method, path, body), BodyHandlers.ofString()));
  }

  private HttpRequest request(String method, String path, JsonObject body) {
    return TestUsers.request(URI.create(address.apply(node) + path), token)
        .timeout(ANSWER_MAX)
        .header("content-type", "application/json")
        .method(
            method, body == null ? BodyPublishers.noBody() : BodyPublishers.ofString(body.encode()))
        .build();
  }
}
