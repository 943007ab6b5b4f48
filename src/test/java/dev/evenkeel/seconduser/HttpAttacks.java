package dev.evenkeel.seconduser;

import static dev.evenkeel.seconduser.Attack.MEMBER;
import static dev.evenkeel.seconduser.Attack.NOBODY;
import static dev.evenkeel.seconduser.Attack.STRANGER;
import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.evenkeel.api.ApiAddresses;
import io.vertx.core.json.JsonObject;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.List;
import java.util.zip.Deflater;
import java.util.zip.GZIPOutputStream;

/** What a user does over HTTP, and JSON over sessions. */
final class HttpAttacks {
  private static final String JSON = "Content-Type: application/json\r\n";
  private static final int MEBIBYTE = 1 << 20;

  static final List<Attack> ALL =
      List.of(
          new Attack("health-connections", STRANGER, 4, 0, HttpAttacks::healthOnce),
          new Attack("denied-over-http", NOBODY, 4, 2_000, HttpAttacks::denied),
          new Attack("denied-over-sessions", NOBODY, 4, 2_000, HttpAttacks::deniedOverSession),
          new Attack("log-ins", STRANGER, 4, 500, HttpAttacks::logIn),
          new Attack("lists", NOBODY, 4, 1_000, HttpAttacks::list),
          new Attack("open-pages", STRANGER, 4, 500, HttpAttacks::openPage),
          new Attack("origins", NOBODY, 4, 1_000, HttpAttacks::origin),
          new Attack("long-json", MEMBER, 6, 10, HttpAttacks::longJson),
          new Attack("long-json-of-nobody", NOBODY, 6, 10, HttpAttacks::longJson),
          new Attack("deep-json", MEMBER, 4, 100, HttpAttacks::deepJson),
          new Attack("long-headers", STRANGER, 4, 500, HttpAttacks::longHeaders),
          new Attack("gzip-bodies", MEMBER, 4, 50, HttpAttacks::gzip),
          new Attack("pipelined", NOBODY, 4, 20, HttpAttacks::pipelined),
          new Attack("deaf-readers-of-http", MEMBER, 4, 50, HttpAttacks::deafReader),
          new Attack("slow-requests", STRANGER, 4, 0, HttpAttacks::slowRequest),
          new Attack("slow-bodies", MEMBER, 4, 0, HttpAttacks::slowBody),
          new Attack("deaf-websockets", NOBODY, 4, 0, HttpAttacks::deafWebSocket),
          new Attack("websocket-frames", NOBODY, 4, 200, HttpAttacks::webSocketFrames));

  private HttpAttacks() {}

  /** Of 1,000 in all. */
  private static void healthOnce(Lane lane) throws IOException {
    if (!lane.full(250)) {
      RawHttp http = lane.hold(lane.newHttp());
      lane.outcome().answered(http.ask("GET", "/health/live", null));
    }
  }

  private static void denied(Lane lane) throws IOException {
    lane.ask("GET", "/api/groups/" + lane.name() + "x".repeat(90), null);
  }

  private static void deniedOverSession(Lane lane) throws IOException {
    JsonObject question = JsonObject.of("action", "delete", "group", lane.name());
    lane.session().request(ApiAddresses.GROUPS, question.toBuffer().getBytes());
  }

  private static void logIn(Lane lane) throws IOException {
    lane.ask("POST", "/api/session", JsonObject.of("token", "ek_%08x_SECRET".formatted(lane.turn)));
  }

  private static void list(Lane lane) throws IOException {
    List<String> paths = List.of("topics", "groups", "cluster", "rebalances?limit=2000", "quotas");
    lane.ask("GET", "/api/" + paths.get(lane.turn % paths.size()), null);
  }

  private static void openPage(Lane lane) throws IOException {
    lane.ask("GET", lane.turn % 2 == 0 ? "/openapi.json" : "/", null);
  }

  private static void origin(Lane lane) throws IOException {
    byte[] body = "{}".getBytes(US_ASCII);
    String origin = "Origin: https://" + lane.name() + ".example:" + lane.turn + "\r\n";
    lane.http().send("POST", "/api/topics", JSON + origin, body);
    lane.outcome().answered(lane.http().read());
  }

  /** As long as a frame can be: a list of short texts, which takes many times more memory. */
  private static void longJson(Lane lane) throws IOException {
    StringBuilder json = new StringBuilder("{\"action\":\"open\",\"group\":\"evil\",\"topics\":[");
    json.append("1,".repeat((4 * MEBIBYTE - 100) / 2)).append("1]}");
    String address =
        lane.turn % 2 == 0 ? ApiAddresses.GROUPS : "evenkeel.node." + Lane.NODE + ".dispatcher";
    lane.session().request(address, json.toString().getBytes(US_ASCII));
  }

  private static void deepJson(Lane lane) throws IOException {
    String deep = "{\"a\":".repeat(100_000);
    if (lane.turn % 2 == 0) {
      lane.session().request(ApiAddresses.GROUPS, deep.getBytes(US_ASCII));
    } else {
      lane.http().send("POST", "/api/groups/evil/sessions", JSON, deep.getBytes(US_ASCII));
      lane.outcome().answered(lane.http().read());
    }
  }

  private static void longHeaders(Lane lane) throws IOException {
    StringBuilder headers = new StringBuilder();
    for (int i = 0; i < 200; i++) {
      headers.append("X-").append(i).append(": ").append("h".repeat(100)).append("\r\n");
    }
    RawHttp http = lane.http();
    http.send("GET", "/health/live", headers.toString(), null);
    lane.outcome().answered(http.read());
    // Refused: it may not go on.
    http.send("GET", "/health/live", "X: " + "h".repeat(64 << 10) + "\r\n", null);
    lane.outcome().answered(http.read());
  }

  /** A mebibyte becomes a gibibyte. */
  private static void gzip(Lane lane) throws IOException {
    String coding = lane.turn % 2 == 0 ? "gzip" : "deflate";
    lane.http()
        .send(
            "POST",
            "/api/topics/evil/messages",
            "Content-Type: application/octet-stream\r\nContent-Encoding: " + coding + "\r\n",
            lane.turn % 2 == 0 ? Bombs.GZIP : Bombs.DEFLATE);
    lane.outcome().answered(lane.http().read());
  }

  /** Made at the first use. */
  private static final class Bombs {
    static final byte[] GZIP = gzip();
    static final byte[] DEFLATE = deflate();

    private static byte[] gzip() {
      ByteArrayOutputStream packed = new ByteArrayOutputStream();
      try (GZIPOutputStream out = new GZIPOutputStream(packed)) {
        byte[] zeros = new byte[MEBIBYTE];
        for (int i = 0; i < 200; i++) {
          out.write(zeros);
        }
      } catch (IOException e) {
        throw new AssertionError(e);
      }
      return packed.toByteArray();
    }

    private static byte[] deflate() {
      Deflater deflater = new Deflater();
      deflater.setInput(new byte[64 * MEBIBYTE]);
      deflater.finish();
      byte[] packed = new byte[MEBIBYTE];
      int length = deflater.deflate(packed);
      deflater.end();
      return java.util.Arrays.copyOf(packed, length);
    }
  }

  /** A thousand requests at once, none of whose answers is read before all are sent. */
  private static void pipelined(Lane lane) throws IOException {
    RawHttp http = lane.newHttp();
    try {
      String request = http.head("GET", "/api/topics", "", null);
      http.sendRaw(request.repeat(1_000).getBytes(ISO_8859_1));
      for (int i = 0; i < 1_000; i++) {
        lane.outcome().answered(http.read());
      }
    } finally {
      http.close();
    }
  }

  /** It asks again and again for what is long, and reads nothing. */
  private static void deafReader(Lane lane) throws IOException {
    if (!lane.full(100)) {
      RawHttp http = lane.hold(lane.newHttp());
      String request =
          http.head("GET", "/api/topics/evil-packed/messages?shard=0&limit=1000", "", null);
      http.sendRaw(request.repeat(20).getBytes(ISO_8859_1));
    }
  }

  /** A request that comes byte by byte, on 400 connections in all. */
  private static void slowRequest(Lane lane) throws IOException {
    if (!lane.full(100)) {
      RawHttp http = lane.hold(lane.newHttp());
      http.sendRaw("GET /health/live HTTP/1.1\r\nHost: localhost\r\nX: ".getBytes(US_ASCII));
    }
    lane.trickle();
  }

  private static void slowBody(Lane lane) throws IOException {
    if (!lane.full(100)) {
      RawHttp http = lane.hold(lane.newHttp());
      String path = "/api/topics/evil/messages";
      String headers =
          "Content-Type: application/octet-stream\r\nContent-Length: " + MEBIBYTE + "\r\n";
      http.sendRaw(http.head("POST", path, headers, null).getBytes(ISO_8859_1));
      http.sendRaw(new byte[MEBIBYTE / 2]);
    }
    lane.trickle();
  }

  private static RawHttp webSocket(Lane lane) throws IOException {
    RawHttp http = lane.newHttp();
    http.send(
        "GET",
        "/ws/live",
        "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
            + "Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits\r\n"
            + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n",
        null);
    return http;
  }

  private static void deafWebSocket(Lane lane) throws IOException {
    if (!lane.full(250)) {
      RawHttp http = lane.hold(webSocket(lane));
      lane.outcome().answered(http.read());
    }
  }

  /** Frames that claim to be compressed, or that are as long as can be. */
  private static void webSocketFrames(Lane lane) throws IOException {
    RawHttp http = webSocket(lane);
    try {
      lane.outcome().answered(http.read());
      byte[] body = Bombs.DEFLATE;
      byte[] head = {
        (byte) (lane.turn % 2 == 0 ? 0xc1 : 0x81),
        (byte) 0xff,
        0,
        0,
        0,
        0,
        (byte) (body.length >> 24),
        (byte) (body.length >> 16),
        (byte) (body.length >> 8),
        (byte) body.length,
        0,
        0,
        0,
        0
      };
      http.sendRaw(head);
      http.sendRaw(body);
    } finally {
      http.close();
    }
  }
}
