package dev.evenkeel.bus.frame;

import static dev.evenkeel.Loops.each;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.bus.Assignment;
import dev.evenkeel.bus.Calls;
import dev.evenkeel.bus.ClusterView;
import dev.evenkeel.bus.DedupTally;
import dev.evenkeel.bus.FetchAnswer;
import dev.evenkeel.bus.FetchManyAnswer;
import dev.evenkeel.bus.FetchManyRequest;
import dev.evenkeel.bus.FetchRequest;
import dev.evenkeel.bus.Figures;
import dev.evenkeel.bus.FlowTally;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.bus.Heartbeats;
import dev.evenkeel.bus.LeaderChange;
import dev.evenkeel.bus.NodePlace;
import dev.evenkeel.bus.Op;
import dev.evenkeel.bus.ReplicasAnswer;
import dev.evenkeel.bus.ReplicasRequest;
import dev.evenkeel.bus.ShardProgress;
import dev.evenkeel.bus.Views;
import dev.evenkeel.bus.level.MessageId;
import dev.evenkeel.protocol.Compression;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Generation;
import dev.evenkeel.protocol.GroupPolicy;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.Outcome;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.StartAt;
import dev.evenkeel.protocol.TopicConfig;
import dev.evenkeel.protocol.TopicInfo;
import dev.evenkeel.protocol.wire.AppendBody;
import dev.evenkeel.protocol.wire.AppendResults;
import dev.evenkeel.protocol.wire.Batch;
import dev.evenkeel.protocol.wire.BatchBuilder;
import dev.evenkeel.protocol.wire.BatchReader;
import dev.evenkeel.protocol.wire.Bytes;
import dev.evenkeel.protocol.wire.Codec;
import dev.evenkeel.protocol.wire.CommandCodec;
import dev.evenkeel.protocol.wire.MessageCodec;
import dev.evenkeel.protocol.wire.Murmur2;
import dev.evenkeel.protocol.wire.PlacedBatch;
import dev.evenkeel.protocol.wire.RecordCodec;
import dev.evenkeel.protocol.wire.ReplyCodec;
import dev.evenkeel.protocol.wire.RetryAnswer;
import dev.evenkeel.protocol.wire.RetryRequest;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * The pages about the client protocol show the bytes, JSON and numbers that the code writes and
 * reads.
 */
class ProtocolPageTest {
  private static final Pattern EXAMPLE =
      Pattern.compile("(?ms)^```(hex|json) ([\\w-]+)\n(.*?)^```$");

  private static final Shard SHARD = new Shard(1, 1);
  private static final long TIME = 1_767_225_600_000L;
  private static final String SESSION = "s-0123456789abcdef0123456789abcdef";
  private static final String INSTANCE = "8f14e45f-ceea-467f-a8d3-9c5b1a2e7d10";

  private static String pages;
  private static final Map<String, byte[]> HEX = new LinkedHashMap<>();
  private static final Map<String, JsonObject> JSON = new LinkedHashMap<>();

  @BeforeAll
  static void load() throws IOException {
    StringBuilder all = new StringBuilder();
    Path site = Path.of("src/site/markdown");
    try (Stream<Path> files = Files.list(site.resolve("protocol"))) {
      each(files.sorted().toList(), page -> all.append(Files.readString(page)).append('\n'));
    }
    pages = all.append(Files.readString(site.resolve("protocol.md"))).toString();
    for (Matcher example = EXAMPLE.matcher(pages); example.find(); ) {
      String name = example.group(2);
      if (example.group(1).equals("hex")) {
        assertThat(HEX.put(name, bytes(example.group(3)))).as("second %s", name).isNull();
      } else {
        assertThat(JSON.put(name, new JsonObject(example.group(3)))).as("second %s", name).isNull();
      }
    }
  }

  /** The bytes at the beginning of each line; what follows two blanks is for people. */
  private static byte[] bytes(String lines) {
    String digits =
        lines
            .lines()
            .map(line -> line.replaceFirst(" {2}.*", "").strip().replace(" ", ""))
            .collect(Collectors.joining());
    return HexFormat.of().parseHex(digits);
  }

  // ---- Examples in hex

  @Test
  void everyFrameIsReadAsThePageSays() {
    Map<String, SessionFrame> expected = new LinkedHashMap<>();
    String hello = "{\"versions\":[1],\"session\":\"" + SESSION + "\",\"cluster\":\"evenkeel\"}";
    expected.put("frame-hello", frame(FrameKind.HELLO, 0, Buffer.buffer(hello)));
    expected.put(
        "frame-request",
        frame(FrameKind.REQUEST, 7, SessionFrame.requestHead("evenkeel.view", 2_000)));
    expected.put("frame-answer", frame(FrameKind.ANSWER, 7, Buffer.buffer("{}")));
    expected.put(
        "frame-refusal",
        frame(
            FrameKind.REFUSAL,
            8,
            SessionFrame.refusal(Refusal.UNAVAILABLE, "node n9 is not there")));
    Buffer leaders = SessionFrame.addressed("evenkeel.leaders");
    expected.put("frame-listen", frame(FrameKind.LISTEN, 9, leaders));
    expected.put("frame-listen-answer", frame(FrameKind.ANSWER, 9, Buffer.buffer()));
    expected.put(
        "frame-push",
        frame(FrameKind.PUSH, 0, leaders.copy().appendBuffer(news().toJson().toBuffer())));
    expected.put("frame-ping", frame(FrameKind.PING, 3, Buffer.buffer()));
    expected.put("frame-pong", frame(FrameKind.PONG, 3, Buffer.buffer()));
    expected.put("frame-goodbye", frame(FrameKind.GOODBYE, 0, Buffer.buffer("done")));

    assertThat(HEX.keySet().stream().filter(name -> name.startsWith("frame-")))
        .containsExactlyInAnyOrderElementsOf(expected.keySet());
    expected.forEach((name, frame) -> assertThat(decoded(name)).as(name).isEqualTo(frame));
    assertThat(Hello.fromJson(new JsonObject(decoded("frame-hello").body())))
        .isEqualTo(new Hello(List.of(1), SESSION, "evenkeel", "", null, 0));
  }

  private static SessionFrame frame(FrameKind kind, int correlation, Buffer body) {
    return new SessionFrame(kind, correlation, body);
  }

  private static SessionFrame decoded(String name) {
    EmbeddedChannel channel = new EmbeddedChannel(new FrameDecoder(4 << 20, FrameRoom.ENDLESS));
    channel.writeInbound(Unpooled.wrappedBuffer(HEX.get(name)));
    SessionFrame frame = channel.readInbound();
    assertThat(channel.<Object>readInbound()).as("behind %s", name).isNull();
    channel.finishAndReleaseAll();
    return frame;
  }

  @Test
  void everyOtherExampleHasTheBytesThatTheCodeWrites() {
    Map<String, byte[]> expected = new LinkedHashMap<>();
    expected.put("primitives", primitives());
    expected.put("answer-refused", Frames.refusal(Refusal.NOT_LEADER, "n3").getBytes());
    putProduce(expected);
    putRead(expected);
    putConsume(expected);
    putFailures(expected);
    expected.forEach(
        (name, bytes) ->
            assertThat(HexFormat.of().formatHex(HEX.getOrDefault(name, new byte[0])))
                .as(name)
                .isEqualTo(HexFormat.of().formatHex(bytes)));
    // A library may compress it to other bytes.
    expected.put("batch-compressed", HEX.get("batch-compressed"));
    assertThat(HEX.keySet().stream().filter(name -> !name.startsWith("frame-")))
        .containsExactlyInAnyOrderElementsOf(expected.keySet());
  }

  private static byte[] primitives() {
    Bytes out = new Bytes().text("g").text(null).blob(new byte[] {1, 2});
    Codec.NUMBERS.write(out, List.of(17L, 18L));
    Codec.nullable(Codec.I64).write(out, null);
    Codec.nullable(Codec.I64).write(out, 5L);
    out.varint(300).varlong(5).varlong(-1);
    RecordCodec.write(out, new Shard(1, 2));
    return out.toArray();
  }

  private static Batch batch() {
    byte[] key = {'k', '1'};
    BatchBuilder builder = new BatchBuilder(128);
    builder.add(new Message(key, Map.of(), TIME, "hello".getBytes(StandardCharsets.UTF_8)));
    builder.add(new Message(key, Map.of("h", new byte[] {'v'}), TIME + 5, new byte[0]));
    return builder.build(42, 0, 0);
  }

  private static byte[] batchBytes() {
    return array(batch().bytes());
  }

  private static byte[] array(ByteBuffer bytes) {
    byte[] array = new byte[bytes.remaining()];
    bytes.get(bytes.position(), array);
    return array;
  }

  private static void putProduce(Map<String, byte[]> expected) {
    byte[] batch = batchBytes();
    expected.put("batch", batch);
    expected.put("messages", Arrays.copyOfRange(batch, Batch.HEADER_BYTES, batch.length));
    expected.put("append", request(Op.APPEND, append(0)));
    expected.put("append-delayed", append(TIME + 3_600_000).toArray());
    expected.put("append-answer", results(310, new AppendResults.Result(null, 17)));
    expected.put(
        "append-answer-gap", results(311, new AppendResults.Result(Refusal.SEQUENCE_GAP, 2)));
    Bytes register = new Bytes();
    CommandCodec.write(register, new MetaCommand.RegisterProducer(""));
    expected.put("register-producer", request(Op.SUBMIT_META, register));
    expected.put("register-producer-answer", reply(new Reply.OfProducer(42, 0)));
    expected.put("open-producer", submit(new DataCommand.OpenProducer(42, 1)));
    expected.put("open-producer-answer", reply(new Reply.OfSequences(Map.of(SHARD, 1L))));
    expected.put(
        "await-replicas", request(Op.AWAIT_REPLICAS, new ReplicasRequest(2, 310, 2_000).encode()));
    expected.put("await-replicas-answer", answer(new ReplicasAnswer(309, List.of("n2")).encode()));
  }

  private static Bytes append(long dueMillis) {
    Bytes body = new Bytes();
    AppendBody.write(body, new AppendBody.Item(SHARD, batch(), dueMillis));
    return body;
  }

  private static byte[] results(long logIndex, AppendResults.Result result) {
    return Frames.answer(new AppendResults(logIndex, List.of(result)).encode()).getBytes();
  }

  private static byte[] request(Op op, Bytes body) {
    return Frames.request(op, body).getBytes();
  }

  private static byte[] answer(Bytes body) {
    return Frames.answer(body.view()).getBytes();
  }

  private static byte[] reply(Reply reply) {
    return Frames.answer(ReplyCodec.encode(reply)).getBytes();
  }

  private static byte[] submit(DataCommand command) {
    Bytes body = new Bytes().i32(SHARD.dataGroup(3));
    CommandCodec.write(body, command);
    return request(Op.SUBMIT_DATA, body);
  }

  private static byte[] command(DataCommand command) {
    Bytes out = new Bytes();
    CommandCodec.write(out, command);
    return out.toArray();
  }

  private static void putRead(Map<String, byte[]> expected) {
    expected.put(
        "fetch",
        request(
            Op.FETCH,
            new FetchRequest("billing", SHARD, 7, 17, 1 << 20, 1_000, -1, 15_000).encode()));
    FetchRequest first = new FetchRequest("billing", SHARD, 7, 17, 1 << 20, 1_000, -1, 15_000);
    var second = new FetchRequest("billing", new Shard(1, 4), 5, 2, 1 << 20, 1_000, -1, 15_000);
    expected.put(
        "fetch-many",
        request(Op.FETCH_MANY, new FetchManyRequest(List.of(first, second)).encode()));
    expected.put(
        "fetch-many-answer",
        new FetchManyAnswer(
                List.of(new FetchManyAnswer.Part(1, Frames.refusal(Refusal.FENCED, "epoch 6"))))
            .encode()
            .getBytes());
    expected.put(
        "browse",
        request(
            Op.BROWSE, new FetchRequest("", SHARD, -1, 17, 1 << 20, 1_000, -1, 15_000).encode()));
    expected.put("fetch-answer", answer(FetchAnswer.head(0, 19, 128).i64(17).raw(batchBytes())));
    expected.put("fetch-answer-empty", answer(FetchAnswer.head(0, 17, 0)));
    Bytes find = new Bytes();
    RecordCodec.write(find, SHARD);
    RecordCodec.START.write(find, StartAt.timestamp(TIME));
    expected.put("find-offset", request(Op.FIND_OFFSET, find));
    expected.put("find-offset-answer", answer(new Bytes().i64(17)));
  }

  private static void putConsume(Map<String, byte[]> expected) {
    expected.put("commit", submit(new DataCommand.Commit("billing", SHARD, 7, 19, -1, null)));
    expected.put(
        "commit-many",
        submit(
            new DataCommand.CommitMany(
                List.of(
                    new DataCommand.CommitMany.Position("billing", SHARD, 7, 19, -1),
                    new DataCommand.CommitMany.Position("billing", new Shard(2, 0), 5, 4, -1)))));
    expected.put(
        "commit-many-answer",
        reply(
            new Reply.OfCommits(
                List.of(
                    new Reply.OfCommits.RefusedCommit(
                        1, Refusal.FENCED, "epoch 5 of billing:2/0: the lease is at epoch 6")))));
    expected.put("reply-done", reply(Reply.DONE));
    expected.put(
        "reply-refused",
        reply(Reply.refused(Refusal.FENCED, "epoch 7 of billing:1/1: the lease is at epoch 8")));
    expected.put("release", submit(new DataCommand.Release("billing", SHARD, 7, 19, -1, null)));
    Bytes lease = new Bytes().text("billing");
    RecordCodec.write(lease, SHARD);
    expected.put("read-lease", request(Op.READ_LEASE, lease));
    expected.put("read-lease-answer", reply(new Reply.OfLease(lease())));
    byte[] state = "n=2".getBytes(StandardCharsets.UTF_8);
    expected.put(
        "commit-state", command(new DataCommand.Commit("billing", SHARD, 7, 19, 19, state)));
  }

  private static Lease lease() {
    return new Lease(
        "billing",
        SHARD,
        7,
        "m1",
        INSTANCE,
        17,
        -1,
        null,
        null,
        0,
        Generation.FIRST,
        Limits.MEMBER_TIMEOUT_MILLIS_DEFAULT,
        Lease.Stage.CONSUMING,
        null,
        null);
  }

  private static void putFailures(Map<String, byte[]> expected) {
    expected.put(
        "dead-letter",
        submit(
            outcomes(new Outcome.Failed(18, 3, Outcome.Way.DEAD, 0, 0, "no such customer", null))));
    expected.put("dead-letter-answer", reply(new Reply.OfOffsets(List.of())));
    byte[] settled = command(outcomes(new Outcome.Settled(12)));
    int before = command(outcomes()).length;
    expected.put("settled", Arrays.copyOfRange(settled, before, settled.length));
    expected.put(
        "retries",
        Calls.FETCH_RETRIES
            .request(new RetryRequest("billing", SHARD, 7, true, List.of(), 256, 1 << 20))
            .getBytes());
    RetryAnswer.Known known =
        new RetryAnswer.Known(List.of(14L), List.of(new RetryAnswer.Held(13, 2, 500)), List.of());
    expected.put(
        "retries-answer",
        Calls.FETCH_RETRIES
            .answer(
                new RetryAnswer(
                    -1,
                    List.of(new RetryAnswer.Retry(12, 0, 0, null)),
                    known,
                    List.of(new PlacedBatch(11, batchBytes()))))
            .getBytes());
    expected.put(
        "message-copy",
        MessageCodec.encode(
            new Message(
                new byte[] {'k', '1'},
                Map.of("h", new byte[] {'v'}),
                TIME,
                "hello".getBytes(StandardCharsets.UTF_8))));
  }

  private static DataCommand.RecordOutcomes outcomes(Outcome... outcomes) {
    return new DataCommand.RecordOutcomes("billing", SHARD, 7, List.of(outcomes));
  }

  @Test
  void theCompressedBatchCanBeUnpacked() {
    Batch batch = Batch.whole(ByteBuffer.wrap(HEX.get("batch-compressed"))).checkMessages();
    assertThat(batch.compression()).isEqualTo(Compression.LZ4);
    BatchReader reader = batch.reader(0);
    Message message = reader.next();
    assertThat(message.payload()).asString().isEqualTo("a".repeat(60));
    assertThat(message.key()).isNull();
    assertThat(message.timestampMillis()).isEqualTo(TIME);
    assertThat(reader.hasNext()).isFalse();
  }

  // ---- Examples in JSON

  @Test
  void everyJsonExampleIsReadAsThePageSays() {
    Map<String, Object> read = new LinkedHashMap<>();
    JSON.forEach(
        (name, json) ->
            read.put(
                name,
                switch (name) {
                  case "hello" -> Hello.fromJson(json);
                  case "welcome" -> Welcome.fromJson(json);
                  case "view" -> ClusterView.fromJson(json);
                  case "leaders" -> LeaderChange.News.fromJson(json);
                  case "heartbeat" -> Heartbeat.fromJson(json);
                  default -> Assignment.fromJson(json);
                }));
    assertThat(read)
        .containsOnly(
            Map.entry("hello", new Hello(List.of(1), SESSION, "evenkeel", "example 1.0", null, 0)),
            Map.entry("welcome", welcome()),
            Map.entry("view", view()),
            Map.entry("leaders", news()),
            Map.entry("heartbeat", heartbeat()),
            Map.entry("assignment", assignment()),
            Map.entry("assignment-singleton", singleton()));
  }

  /** A client may meet no field that the page does not show. */
  @Test
  void whatNodesWriteHasTheFieldsOfTheExamples() {
    assertThat(welcome().toJson()).isEqualTo(JSON.get("welcome"));
    assertThat(view().toJson()).isEqualTo(JSON.get("view"));
    assertThat(news().toJson()).isEqualTo(JSON.get("leaders"));
    assertThat(assignment().toJson()).isEqualTo(JSON.get("assignment"));
    assertThat(singleton().toJson()).isEqualTo(JSON.get("assignment-singleton"));
  }

  private static Welcome welcome() {
    return new Welcome(
        1,
        "n1",
        "evenkeel 1.0",
        List.of(
            new NodePlace("n1", "10.0.0.1", 5701),
            new NodePlace("n2", "10.0.0.2", 5701),
            new NodePlace("n3", "10.0.0.3", 5701)),
        new Welcome.Limits(4 << 20, 20_000, 64L << 20, 5_000));
  }

  private static ClusterView view() {
    var topic = new TopicInfo(1, "orders", 4, TopicConfig.DEFAULT, TopicInfo.State.ACTIVE, TIME);
    List<String> nodes = List.of("n1", "n2", "n3");
    return Views.formed(
        "c1b7c0de", "n1", "n1", nodes, nodes, List.of(topic), 4, List.of(4L, 3L, 7L), true, 57);
  }

  private static LeaderChange.News news() {
    return new LeaderChange.News(List.of(new LeaderChange(2, "n1", 8)), true);
  }

  private static Heartbeat heartbeat() {
    return heartbeat(GroupPolicy.SHARDED, Heartbeat.Wishes.NONE, null, false, null);
  }

  private static Heartbeat heartbeat(
      GroupPolicy policy,
      Heartbeat.Wishes wishes,
      DedupTally dedup,
      boolean breakerOpen,
      FlowTally flow) {
    return new Heartbeat(
        "billing",
        "m1",
        INSTANCE,
        TIME,
        false,
        false,
        policy,
        List.of("orders"),
        StartAt.EARLIEST,
        SESSION,
        "worker-3",
        17,
        5_000,
        50_000,
        wishes,
        List.of(new ShardProgress(SHARD, 7, null, null, null, null, null, null, null)),
        dedup,
        breakerOpen,
        flow,
        flow == null ? null : new Heartbeat.Seen(3, 12),
        null,
        null,
        flow != null,
        null,
        flow == null ? null : "n2",
        flow == null ? List.of() : List.of(new MessageId(SHARD, 17, 0)));
  }

  private static Assignment assignment() {
    return new Assignment(
        "billing",
        "m1",
        INSTANCE,
        4,
        12,
        List.of(
            new Assignment.Owned("orders", SHARD, 7, false, 0, 17),
            new Assignment.Owned("orders", new Shard(1, 3), 5, true, TIME + 50_000, 4)),
        null);
  }

  private static Assignment singleton() {
    return new Assignment(
        "close", "m1", INSTANCE, 4, 13, List.of(), new Assignment.Lead(8, false, false));
  }

  @Test
  void theTableOfAHeartbeatHasAllFieldsAndTheOthersMayBeMissing() {
    Heartbeat known =
        heartbeat(
            GroupPolicy.of(GroupPolicy.MODE_LEVEL, 7, GroupPolicy.STRATEGY_PULL, null),
            new Heartbeat.Wishes(
                "sticky", 1L, 1, 1L, "key", List.of(1L), 1L, 1, List.of("key=a"), 7),
            new DedupTally(Figures.NONE, null, List.of()),
            true,
            new FlowTally(Figures.NONE, null, null));
    Heartbeat full = Heartbeats.with(known, "version", "0.1.0");
    TreeSet<String> names = new TreeSet<>();
    for (MatchResult row : rows("(`\\w+`(?:, `\\w+`)*) \\| (yes|no|in effect) ")) {
      for (String name : row.group(1).replace("`", "").split(", ")) {
        names.add(name);
        if (!row.group(2).equals("yes")) {
          JsonObject without = JSON.get("heartbeat").copy();
          without.remove(name);
          assertThat(Heartbeat.fromJson(without).member()).isEqualTo("m1");
        }
      }
    }
    assertThat(names).isEqualTo(new TreeSet<>(full.toJson().fieldNames()));
  }

  // ---- Tables

  /** Rows of tables that begin with this. */
  private static List<MatchResult> rows(String regex) {
    return Pattern.compile("(?m)^\\| " + regex).matcher(pages).results().toList();
  }

  private static int number(MatchResult row, int group) {
    return Integer.parseInt(row.group(group));
  }

  @Test
  void theTableOfRefusalsHasAllOfThem() {
    List<String> listed =
        rows("(\\d+) \\| (\\d+) \\| ([A-Z_]+) \\| .* \\| (yes|no|once) \\| \\w+ \\|$").stream()
            .map(
                row ->
                    "%d %d %s %s"
                        .formatted(
                            number(row, 1),
                            number(row, 2),
                            row.group(3),
                            row.group(4).equals("yes")))
            .toList();
    assertThat(listed)
        .containsExactlyElementsOf(
            Stream.of(Refusal.values())
                .map(
                    each ->
                        "%d %d %s %s"
                            .formatted(each.ordinal(), 1 + each.ordinal(), each, each.retriable()))
                .toList());
  }

  @Test
  void theTableOfFramesHasAllKinds() {
    List<String> listed =
        rows("(\\d+) \\| ([A-Z_]+) \\| (?:client|node|both) ").stream()
            .map(row -> row.group(1) + " " + row.group(2))
            .toList();
    assertThat(listed)
        .containsExactlyElementsOf(
            Stream.of(FrameKind.values()).map(each -> each.code() + " " + each).toList());
  }

  @Test
  void operationsPlacesAndWaysHaveTheNumbersThatThePageSays() {
    List<MatchResult> operations = rows("(\\d+) \\| ([A-Z_]+) \\| `(?:data|control)` ");
    assertThat(operations).hasSize(10);
    operations.forEach(
        row -> assertThat(Op.valueOf(row.group(2)).ordinal()).isEqualTo(number(row, 1)));
    List<MatchResult> places = rows("(\\d) \\| ([A-Z]+): ");
    assertThat(places).hasSize(StartAt.Kind.values().length);
    places.forEach(
        row -> assertThat(StartAt.Kind.valueOf(row.group(2)).ordinal()).isEqualTo(number(row, 1)));
    List<MatchResult> ways = rows("(\\d) ([A-Z]+) \\| \\d ");
    assertThat(ways).hasSize(Outcome.Way.values().length);
    ways.forEach(
        row -> assertThat(Outcome.Way.valueOf(row.group(2)).ordinal()).isEqualTo(number(row, 1)));
  }

  @Test
  void commandsAndRepliesHaveTheNumbersThatThePageSays() {
    Bytes register = new Bytes();
    CommandCodec.write(register, new MetaCommand.RegisterProducer("p"));
    Bytes next = new Bytes();
    CommandCodec.write(next, new MetaCommand.ContinueProducer("p", 1));
    byte[] state = {1};
    List<String> commands =
        List.of(
            "meta " + register.toArray()[0] + " RegisterProducer",
            "meta " + next.toArray()[0] + " ContinueProducer",
            command("OpenProducer", new DataCommand.OpenProducer(1, 1)),
            command("Commit", new DataCommand.Commit("g", SHARD, 1, 1, -1, null)),
            command(
                "Commit, the first with state", new DataCommand.Commit("g", SHARD, 1, 1, 1, null)),
            command("Commit with state", new DataCommand.Commit("g", SHARD, 1, 1, 1, state)),
            command("CommitMany", new DataCommand.CommitMany(List.of())),
            command("Release", new DataCommand.Release("g", SHARD, 1, 1, -1, null)),
            command("RecordOutcomes", outcomes()));
    assertThat(
            rows("(meta|a data group) \\| (\\d+) \\| ([\\w, ]+) \\| ").stream()
                .map(row -> row.group(1) + " " + row.group(2) + " " + row.group(3)))
        .containsExactlyElementsOf(commands);
    List<Reply> replies =
        List.of(
            Reply.DONE,
            Reply.refused(Refusal.INVALID, ""),
            new Reply.OfLease(lease()),
            new Reply.OfProducer(1, 1),
            new Reply.OfSequences(Map.of()),
            new Reply.OfOffsets(List.of()),
            new Reply.OfCommits(List.of()));
    assertThat(
            rows("(\\d+) \\| (Done|Refused|Of\\w+) \\|").stream()
                .map(row -> row.group(1) + " " + row.group(2)))
        .containsExactlyElementsOf(
            replies.stream()
                .map(each -> ReplyCodec.encode(each)[0] + " " + each.getClass().getSimpleName())
                .toList());
  }

  private static String command(String name, DataCommand command) {
    return "a data group " + command(command)[0] + " " + name;
  }

  @Test
  void keysBelongToTheShardsThatThePageSays() {
    List<MatchResult> keys = rows("`([^`]+)` \\| `([0-9a-f]{8})` \\| (\\d+) \\| (\\d+) \\|");
    assertThat(keys).hasSizeGreaterThan(4);
    for (MatchResult row : keys) {
      byte[] key = row.group(1).getBytes(StandardCharsets.UTF_8);
      assertThat("%08x".formatted(Murmur2.hash(key))).isEqualTo(row.group(2));
      assertThat(Murmur2.shard(key, 4)).isEqualTo(number(row, 3));
      assertThat(Murmur2.shard(key, 12)).isEqualTo(number(row, 4));
    }
  }

  @Test
  void theLimitsAreThoseOfTheCode() {
    assertThat(pages)
        .contains(
            row("payload | %,d bytes", Limits.PAYLOAD_BYTES_MAX),
            row("key | %,d bytes", Limits.KEY_BYTES_MAX),
            row(
                "headers of a message | %,d, with %,d bytes of names and values",
                Limits.HEADERS_MAX, Limits.HEADERS_BYTES_MAX),
            row(
                "batch | %,d bytes, and unpacked no more; %,d messages",
                Limits.BATCH_BYTES_MAX, Limits.BATCH_MESSAGES_MAX),
            row(
                "body of an APPEND | %,d bytes, %,d batches",
                Limits.ENTRY_BYTES_MAX - 10, AppendBody.BATCHES_MAX),
            row(
                "compressed batches of an APPEND | unpacked %,d bytes in all",
                Limits.APPEND_UNPACKED_BYTES_MAX));
  }

  private static String row(String format, Object... values) {
    return "| " + String.format(Locale.ROOT, format, values) + " |";
  }
}
