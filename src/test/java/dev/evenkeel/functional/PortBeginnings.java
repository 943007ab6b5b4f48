package dev.evenkeel.functional;

import io.vertx.core.MultiMap;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.eventbus.impl.CodecManager;
import io.vertx.core.eventbus.impl.clustered.ClusteredMessage;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLException;
import org.apache.ratis.proto.RaftProtos.RaftGroupIdProto;
import org.apache.ratis.proto.RaftProtos.RaftRpcRequestProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteRequestProto;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;

/** What programs send first at the ports of a node, one entry for each way to begin. */
final class PortBeginnings {
  /** The head of a message of the event bus that has 2 GiB. */
  static final byte[] BUS_GIBIBYTES = {0x7f, -1, -1, -1, 1, 0, 0, 0};

  /** The greeting of a member of Hazelcast, and the head of a packet of 2 GiB. */
  static final byte[] HAZELCAST_GIBIBYTES = {'H', 'Z', 'C', 4, 0, 0, 0, 0, 0, 0, 0x7f, -1, -1, -1};

  private PortBeginnings() {}

  /**
   * @param token of the user that asks; null: the node has no users
   */
  static List<byte[]> http(String topic, String group, String token) {
    String user = token == null ? "" : "Authorization: Bearer " + token + "\r\n";
    return http(topic, group).stream()
        .map(request -> new String(request, StandardCharsets.ISO_8859_1))
        .map(request -> request.replaceFirst("(?=Host:)", user))
        .map(request -> request.getBytes(StandardCharsets.ISO_8859_1))
        .toList();
  }

  private static List<byte[]> http(String topic, String group) {
    String message = "{\"key\":\"k\",\"payload\":\"p\"}";
    String messages = "/api/topics/" + topic + "/messages";
    List<byte[]> all = new ArrayList<>();
    for (String path :
        List.of(
            "/",
            "/health/ready",
            "/metrics",
            "/openapi.json",
            "/api/topics",
            "/api/topics/" + topic,
            messages + "?shard=0&offset=0&limit=3",
            "/api/groups/" + group,
            "/api/groups/" + group + "/dead-letters?limit=3",
            "/api/rebalances?limit=3",
            "/api/cluster",
            "/assets/%2e%2e/a%2fb")) {
      all.add(request("GET", path, "Accept-Encoding: gzip", ""));
    }
    for (String path : List.of("/api/topics/nowhere", "/api/groups/" + group, "/api/session")) {
      all.add(request("DELETE", path, "Accept: */*", ""));
    }
    all.add(request("POST", messages, json(message), message));
    all.add(request("POST", messages, json("[" + message + "]"), "[" + message + "]"));
    all.add(
        request(
            "POST", messages, "Content-Type: application/x-ndjson\r\nContent-Length: 3", "1\n2"));
    all.add(
        request(
            "POST",
            messages + "?key=k&acks=all",
            "Content-Type: application/octet-stream\r\nTransfer-Encoding: chunked",
            "4;x=y\r\nabcd\r\n1\r\ne\r\n0\r\nTrailer: t\r\n\r\n"));
    String topics = "{\"name\":\"" + topic + "\",\"shards\":1}";
    all.add(request("POST", "/api/topics", json(topics), topics));
    String settings = "{\"retentionMillis\":86400000}";
    all.add(request("PATCH", "/api/topics/" + topic, json(settings), settings));
    String offsets = "{\"to\":\"earliest\",\"dryRun\":true}";
    all.add(request("POST", "/api/groups/" + group + "/offsets", json(offsets), offsets));
    String session = "{\"token\":\"ek_00000000_0\"}";
    all.add(request("POST", "/api/session", json(session), session));
    all.add(
        request(
            "GET",
            "/ws/live",
            "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
            // A text and a ping, masked.
            "\u0081\u0082\0\0\0\0{}\u0089\u0080\0\0\0\0"));
    all.add(http2(http2Frame(4, 0, 0, new byte[0])));
    return all;
  }

  private static byte[] request(String method, String path, String headers, String body) {
    String head = method + " " + path + " HTTP/1.1\r\nHost: localhost\r\n" + headers + "\r\n\r\n";
    return (head + body).getBytes(StandardCharsets.ISO_8859_1);
  }

  private static String json(String body) {
    return "Content-Type: application/json\r\nContent-Length: " + body.length();
  }

  /** Messages of the event bus, for nobody: what a program of ours gets is another test's. */
  static List<byte[]> bus() {
    Buffer message =
        new ClusteredMessage<>(
                UUID.randomUUID().toString(),
                "nobody",
                MultiMap.caseInsensitiveMultiMap().add("session", "s"),
                Buffer.buffer("body"),
                CodecManager.BUFFER_MESSAGE_CODEC,
                true,
                null)
            .encodeToWire();
    return List.of(BUS_GIBIBYTES, ping(), message.getBytes());
  }

  /** The event bus answers it. */
  static byte[] ping() {
    return new ClusteredMessage<>(
            "x", "__vertx_ping", null, null, CodecManager.PING_MESSAGE_CODEC, true, null)
        .encodeToWire()
        .getBytes();
  }

  /** Calls of the engine's gRPC, in the name of voters and groups that do not exist. */
  static List<byte[]> raft() {
    RaftRpcRequestProto server =
        RaftRpcRequestProto.newBuilder()
            .setRequestorId(ByteString.copyFromUtf8("m1"))
            .setReplyId(ByteString.copyFromUtf8("m2"))
            .setCallId(1)
            .setRaftGroupId(RaftGroupIdProto.newBuilder().setId(ByteString.copyFrom(new byte[16])))
            .build();
    byte[] vote =
        RequestVoteRequestProto.newBuilder()
            .setServerRequest(server)
            .setCandidateTerm(1L << 40)
            .build()
            .toByteArray();
    List<byte[]> all = new ArrayList<>();
    all.add(http2());
    all.add(http2(http2Frame(0x7fffff, 4, 0, 0, new byte[20])));
    for (String method :
        List.of(
            "RaftServerProtocolService/requestVote",
            "RaftServerProtocolService/appendEntries",
            "RaftServerProtocolService/installSnapshot",
            "RaftServerProtocolService/startLeaderElection",
            "RaftClientProtocolService/unordered",
            "AdminProtocolService/groupManagement")) {
      ByteArrayOutputStream headers = new ByteArrayOutputStream();
      header(headers, ":method", "POST");
      header(headers, ":scheme", "http");
      header(headers, ":path", "/ratis.grpc." + method);
      header(headers, ":authority", "localhost");
      header(headers, "content-type", "application/grpc");
      header(headers, "te", "trailers");
      ByteBuffer message = ByteBuffer.allocate(5 + vote.length);
      message.put((byte) 0).putInt(vote.length).put(vote);
      all.add(
          http2(
              http2Frame(4, 0, 0, new byte[0]),
              http2Frame(1, 4, 1, headers.toByteArray()),
              http2Frame(0, 1, 1, message.array())));
    }
    return all;
  }

  private static byte[] http2(byte[]... frames) {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    all.writeBytes("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
    for (byte[] frame : frames) {
      all.writeBytes(frame);
    }
    return all.toByteArray();
  }

  private static byte[] http2Frame(int type, int flags, int stream, byte[] payload) {
    return http2Frame(payload.length, type, flags, stream, payload);
  }

  private static byte[] http2Frame(int length, int type, int flags, int stream, byte[] payload) {
    ByteBuffer frame = ByteBuffer.allocate(9 + payload.length);
    frame.put((byte) (length >> 16)).putShort((short) length);
    frame.put((byte) type).put((byte) flags).putInt(stream).put(payload);
    return frame.array();
  }

  /** A header that is neither compressed nor in a table. */
  private static void header(ByteArrayOutputStream to, String name, String value) {
    to.write(0);
    for (String text : List.of(name, value)) {
      to.write(text.length());
      to.writeBytes(text.getBytes(StandardCharsets.US_ASCII));
    }
  }

  /** What programs say first that take the port for another one of Hazelcast. */
  static List<byte[]> hazelcast() {
    List<byte[]> all = new ArrayList<>();
    for (String text :
        List.of("CP2", "HZX", "GET /hazelcast/health HTTP/1.1\r\n\r\n", "get a\r\n")) {
      all.add(text.getBytes(StandardCharsets.US_ASCII));
    }
    return all;
  }

  /** The first record of a TLS connection. */
  static byte[] clientHello(SSLContext context) throws SSLException {
    SSLEngine engine = context.createSSLEngine();
    engine.setUseClientMode(true);
    ByteBuffer record = ByteBuffer.allocate(engine.getSession().getPacketBufferSize());
    engine.wrap(ByteBuffer.allocate(0), record);
    byte[] bytes = new byte[record.flip().remaining()];
    record.get(bytes);
    return bytes;
  }
}
