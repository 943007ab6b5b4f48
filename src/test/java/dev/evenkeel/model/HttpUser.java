package dev.evenkeel.model;

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
import java.util.function.Supplier;

/** Somebody who uses the HTTP API. */
final class HttpUser {
  private static final Duration ANSWER_MAX = Duration.ofSeconds(25);
  private static final long PAUSE_MILLIS = 250;

  private final HttpClient http = HttpClient.newHttpClient();
  private final Supplier<String> address;
  private final UserModel model;

  HttpUser(Supplier<String> address, UserModel model) {
    this.address = address;
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
    try {
      HttpRequest request =
          HttpRequest.newBuilder(URI.create(address.get() + path))
              .timeout(ANSWER_MAX)
              .header("content-type", "application/json")
              .method(
                  method,
                  body == null ? BodyPublishers.noBody() : BodyPublishers.ofString(body.encode()))
              .build();
      return http.send(request, BodyHandlers.ofString());
    } catch (HttpTimeoutException late) {
      model.fault(Promise.ANSWERS, "no answer to " + method + " " + path + " in " + ANSWER_MAX);
      return null;
    } catch (IOException gone) {
      return null;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return null;
    }
  }
}
