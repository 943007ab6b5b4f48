package dev.evenkeel.functional;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * A resource outside of the cluster that remembers the highest term and refuses lower ones: {@code
 * POST /rows?term=T&MEMBER} with a row as body.
 */
final class FencedDatabase implements AutoCloseable {
  /**
   * @param number counts all rows, taken or not, in the order in which they came
   * @param nanos when it came, by this JVM's clock
   */
  record Row(int number, String member, long term, String text, boolean taken, long nanos) {}

  private final HttpServer server;
  private final ExecutorService thread = Executors.newSingleThreadExecutor();
  private final List<Row> rows = new ArrayList<>();
  private long highest;

  FencedDatabase() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 50);
    server.createContext("/rows", this::write);
    server.setExecutor(thread);
    server.start();
  }

  int port() {
    return server.getAddress().getPort();
  }

  private void write(HttpExchange exchange) throws IOException {
    String[] query = exchange.getRequestURI().getQuery().split("&");
    long term = Long.parseLong(query[0].substring("term=".length()));
    String text = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
    exchange.sendResponseHeaders(add(query[1], term, text) ? 200 : 409, -1);
    exchange.close();
  }

  private synchronized boolean add(String member, long term, String text) {
    boolean taken = term >= highest;
    highest = Math.max(highest, term);
    rows.add(new Row(rows.size(), member, term, text, taken, System.nanoTime()));
    return taken;
  }

  synchronized List<Row> rows() {
    return List.copyOf(rows);
  }

  /** The first row of the leader after {@code term}, or null. */
  Row firstAfter(long term) {
    return rows().stream().filter(row -> row.taken() && row.term() > term).findFirst().orElse(null);
  }

  /** The last row that was taken, or null. */
  Row last() {
    return rows().stream().filter(Row::taken).reduce((first, second) -> second).orElse(null);
  }

  @Override
  public void close() {
    server.stop(0);
    thread.shutdownNow();
  }
}
