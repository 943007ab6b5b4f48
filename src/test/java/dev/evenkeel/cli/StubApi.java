package dev.evenkeel.cli;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpServer;
import dev.evenkeel.Unchecked;
import io.vertx.core.json.Json;
import java.io.IOException;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** The HTTP API of a node, as a test answers it, and commands that ask it. */
final class StubApi implements AutoCloseable {
  private final HttpServer server =
      Unchecked.get(
          () -> HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0));

  /** Hands requests below the path to {@code answers}. */
  StubApi(String path, HttpHandler answers) {
    server.createContext(path, answers);
    server.start();
  }

  String url() {
    return "http://127.0.0.1:" + server.getAddress().getPort();
  }

  /** Runs the command, which is words between blanks, and gives its exit status. */
  int run(StringWriter out, StringWriter err, String command, String... args) {
    List<String> all = new ArrayList<>(List.of(command.split(" ")));
    all.addAll(List.of(args));
    all.addAll(List.of("--http", url()));
    return CommandInJvm.run(out, err, all.toArray(String[]::new));
  }

  /** The method, the path and the body of a request. */
  static String read(HttpExchange exchange) throws IOException {
    String line = exchange.getRequestMethod() + " " + exchange.getRequestURI().getPath() + " ";
    return line + new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
  }

  static void answer(HttpExchange exchange, int status, Object json) throws IOException {
    byte[] body = Json.encode(json).getBytes(StandardCharsets.UTF_8);
    exchange.sendResponseHeaders(status, body.length);
    exchange.getResponseBody().write(body);
    exchange.close();
  }

  @Override
  public void close() {
    server.stop(0);
  }
}
