package dev.evenkeel.seconduser;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import javax.net.ssl.SSLSocket;

/** A connection to HTTP that sends whatever bytes it is given. */
final class RawHttp implements AutoCloseable {
  /**
   * @param body as ISO 8859-1
   */
  record Answer(int status, String body) {}

  private final SSLSocket socket;
  private final InputStream in;
  private final String token;
  private boolean ended;

  private RawHttp(SSLSocket socket, String token) throws IOException {
    this.socket = socket;
    this.token = token;
    in = new BufferedInputStream(socket.getInputStream());
  }

  /**
   * @param token null: of nobody
   */
  static RawHttp open(Target target, String token) throws IOException {
    return new RawHttp(target.open(target.httpPort()), token);
  }

  SSLSocket socket() {
    return socket;
  }

  void sendRaw(byte[] bytes) throws IOException {
    socket.getOutputStream().write(bytes);
  }

  /**
   * Sends a request.
   *
   * @param headers lines, each with its end
   * @param body null: none
   */
  void send(String method, String path, String headers, byte[] body) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    bytes.writeBytes(head(method, path, headers, body).getBytes(StandardCharsets.ISO_8859_1));
    if (body != null) {
      bytes.writeBytes(body);
    }
    sendRaw(bytes.toByteArray());
  }

  String head(String method, String path, String headers, byte[] body) {
    StringBuilder head =
        new StringBuilder(method + " " + path + " HTTP/1.1\r\nHost: localhost\r\n");
    if (token != null) {
      head.append("Authorization: Bearer ").append(token).append("\r\n");
    }
    head.append(headers);
    if (body != null) {
      head.append("Content-Length: ").append(body.length).append("\r\n");
    }
    return head.append("\r\n").toString();
  }

  Answer ask(String method, String path, String json) throws IOException {
    byte[] body = json == null ? null : json.getBytes(StandardCharsets.UTF_8);
    send(method, path, json == null ? "" : "Content-Type: application/json\r\n", body);
    return read();
  }

  /** The next answer. */
  Answer read() throws IOException {
    String line = line();
    int status = Integer.parseInt(line.substring(9, 12));
    long length = -1;
    boolean chunked = false;
    for (line = line(); !line.isEmpty(); line = line()) {
      String lower = line.toLowerCase(Locale.ROOT);
      if (lower.startsWith("content-length:")) {
        length = Long.parseLong(lower.substring(15).strip());
      } else if (lower.startsWith("transfer-encoding:")) {
        chunked = lower.contains("chunked");
      } else if (lower.startsWith("connection: close")) {
        ended = true;
      }
    }
    ByteArrayOutputStream body = new ByteArrayOutputStream();
    if (chunked) {
      for (int size = size(); size > 0; size = size()) {
        body.writeBytes(in.readNBytes(size));
        line();
      }
      line();
    } else if (status != 204 && status != 101 && length > 0) {
      body.writeBytes(in.readNBytes((int) length));
    }
    return new Answer(status, body.toString(StandardCharsets.ISO_8859_1));
  }

  private int size() throws IOException {
    return Integer.parseInt(line().split(";")[0].strip(), 16);
  }

  private String line() throws IOException {
    StringBuilder line = new StringBuilder();
    for (int c = in.read(); c != '\n'; c = in.read()) {
      if (c < 0) {
        throw new EOFException("the node has closed the connection");
      }
      if (c != '\r') {
        line.append((char) c);
      }
    }
    return line.toString();
  }

  /** Whether the node closes it after the last answer. */
  boolean hasEnded() {
    return ended;
  }

  @Override
  public void close() throws IOException {
    socket.setSoLinger(true, 0);
    socket.close();
  }
}
