package dev.evenkeel.gateway.http;

import static dev.evenkeel.Loops.each;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/** A connection on which a test writes requests byte by byte. */
final class RawHttp implements AutoCloseable {
  private static final int PATIENCE_MILLIS = 60_000;

  private final Socket socket;
  private final InputStream in;

  /** An answer; the names of its headers are in lower case. */
  record Answer(int status, Map<String, String> headers, String body) {}

  RawHttp(int port) throws IOException {
    socket = new Socket("127.0.0.1", port);
    socket.setSoTimeout(PATIENCE_MILLIS);
    socket.setTcpNoDelay(true);
    in = new BufferedInputStream(socket.getInputStream());
  }

  RawHttp send(String text) throws IOException {
    socket.getOutputStream().write(text.getBytes(StandardCharsets.ISO_8859_1));
    return this;
  }

  /** Sends a request without a body. */
  Answer call(String method, String path, String... headers) throws IOException {
    StringBuilder head = new StringBuilder(method + " " + path + " HTTP/1.1\r\n");
    each(headers, header -> head.append(header).append("\r\n"));
    return send(head.append("\r\n").toString()).answer();
  }

  Answer answer() throws IOException {
    int status = Integer.parseInt(line().split(" ")[1]);
    Map<String, String> headers = new TreeMap<>();
    for (String line = line(); !line.isEmpty(); line = line()) {
      int colon = line.indexOf(':');
      headers.put(line.substring(0, colon).toLowerCase(Locale.ROOT), line.substring(colon + 2));
    }
    int length = Integer.parseInt(headers.getOrDefault("content-length", "0"));
    return new Answer(
        status, headers, new String(in.readNBytes(length), StandardCharsets.UTF_8).strip());
  }

  private String line() throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    for (int next = in.read(); next != '\n'; next = in.read()) {
      if (next < 0) {
        throw new IOException("closed after '" + line + "'");
      }
      line.write(next);
    }
    return line.toString(StandardCharsets.UTF_8).strip();
  }

  /** Waits until the node has closed the connection; what comes before that is dropped. */
  void awaitClosed() throws IOException {
    try {
      while (in.read() >= 0) {
        continue;
      }
    } catch (SocketException e) {
      // A reset: the node closed it while something was on the way.
      return;
    }
  }

  /** Sends a text again and again until the node closes the connection. */
  void trickle(String text) throws IOException, InterruptedException {
    Thread writer =
        new Thread(
            () -> {
              try {
                while (true) {
                  send(text);
                  Thread.sleep(20);
                }
              } catch (IOException | InterruptedException e) {
                // The node has closed it, or the test has ended.
                return;
              }
            });
    writer.start();
    try {
      awaitClosed();
    } finally {
      writer.interrupt();
      writer.join();
    }
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
