package dev.evenkeel.functional;

import dev.evenkeel.api.ApiAddresses;
import dev.evenkeel.api.AskReady;
import dev.evenkeel.api.Browse;
import dev.evenkeel.api.CancelDelayedMessage;
import dev.evenkeel.api.ConfigureTopic;
import dev.evenkeel.api.CreateTopic;
import dev.evenkeel.api.DescribeTopic;
import dev.evenkeel.api.GetDelayedMessage;
import dev.evenkeel.api.ListDelayedMessages;
import dev.evenkeel.api.ListTopics;
import dev.evenkeel.api.Operation;
import dev.evenkeel.api.Operations;
import dev.evenkeel.api.TopicLimits;
import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.FetchManyRequest;
import dev.evenkeel.bus.FetchRequest;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.bus.Op;
import dev.evenkeel.bus.ReplicasRequest;
import dev.evenkeel.bus.level.Report;
import dev.evenkeel.dedup.DedupKey;
import dev.evenkeel.dedup.DedupScope;
import dev.evenkeel.dedup.HeadMessage;
import dev.evenkeel.dedup.SharedClaim;
import dev.evenkeel.dedup.SharedCodec;
import dev.evenkeel.dedup.Step;
import dev.evenkeel.dedup.Worker;
import dev.evenkeel.protocol.Commands;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.GroupPolicy;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.Outcome;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.StartAt;
import dev.evenkeel.protocol.TopicConfig;
import dev.evenkeel.protocol.wire.AppendBody;
import dev.evenkeel.protocol.wire.Batch;
import dev.evenkeel.protocol.wire.BatchBuilder;
import dev.evenkeel.protocol.wire.Bytes;
import dev.evenkeel.protocol.wire.CommandCodec;
import dev.evenkeel.protocol.wire.RecordCodec;
import dev.evenkeel.protocol.wire.RetryRequest;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Valid requests of a session about one topic: of every operation and every command, to every
 * address. Their producer and groups belong to nobody else.
 *
 * @param group the groups have this name, and names that begin with it
 */
public record SessionRequests(String topic, int topicId, String group, List<String> nodes) {
  /** No mutant of it is the number of a producer that exists. */
  private static final long PRODUCER = 0x7777_7777_7777_7777L;

  /**
   * @param json the body, if it is JSON, else null
   */
  record Sample(String address, byte[] body, JsonObject json) {}

  /**
   * @param session the id of the session that sends them
   */
  List<Sample> of(String session) {
    List<Sample> all = new ArrayList<>();
    all.add(new Sample(Addresses.VIEW, new byte[0], null));
    for (String node : nodes) {
      data(all, Addresses.data(node));
      control(all, Addresses.control(node));
      members(all, node, session);
    }
    dedup(all, session);
    api(all);
    return all;
  }

  private static void add(List<Sample> all, String address, Op op, Bytes body) {
    all.add(new Sample(address, Frames.request(op, body).getBytes(), null));
  }

  private static void add(List<Sample> all, String address, JsonObject json) {
    all.add(new Sample(address, json.toBuffer().getBytes(), json));
  }

  private static <Q extends Record> void add(
      List<Sample> all, Operation<Q, ?> operation, Q question) {
    add(all, operation.address(), operation.ask(question));
  }

  private Shard shard() {
    return new Shard(topicId, 0);
  }

  private void data(List<Sample> all, String address) {
    Bytes append = new Bytes();
    AppendBody.write(append, shard(), batch(0));
    add(all, address, Op.APPEND, append);
    Bytes two = new Bytes();
    AppendBody.write(two, shard(), batch(PRODUCER));
    AppendBody.write(two, shard(), batch(0));
    add(all, address, Op.APPEND, two);
    FetchRequest fetch = new FetchRequest(group, shard(), 1, 0, 1_000, 3, 0, 100);
    add(all, address, Op.FETCH, fetch.encode());
    add(all, address, Op.FETCH, fetch.encodeFormer());
    add(all, address, Op.FETCH_MANY, new FetchManyRequest(List.of(fetch, fetch)).encode());
    add(all, address, Op.BROWSE, fetch.browse().encode());
    add(all, address, Op.AWAIT_REPLICAS, new ReplicasRequest(0, 9, 100).encode());
  }

  private static Batch batch(long producerId) {
    BatchBuilder builder = new BatchBuilder(64);
    builder.add(new Message(new byte[] {1, 2}, Map.of("h", new byte[] {3}), 5, new byte[] {4}));
    builder.add(new Message(null, Map.of(), 6, new byte[] {5, 6, 7}));
    return builder.build(producerId, 0, 0);
  }

  private void control(List<Sample> all, String address) {
    for (DataCommand command :
        List.of(
            Commands.commit(group, shard(), 1, 1),
            new DataCommand.CommitMany(
                List.of(new DataCommand.CommitMany.Position(group, shard(), 1, 1, -1))),
            new DataCommand.Release(group, shard(), 1, 1, 1, new byte[] {1, 2, 3}),
            new DataCommand.RecordOutcomes(
                group,
                shard(),
                1,
                List.of(
                    new Outcome.Failed(0, 1, Outcome.Way.MOVED, 100, 7, "error", null),
                    new Outcome.Parked(1, 7, null),
                    new Outcome.Settled(0))),
            new DataCommand.SetPublisher(group, shard(), 1, PRODUCER),
            new DataCommand.OpenPublisher(PRODUCER, 1, group, shard(), true),
            new DataCommand.OpenProducer(PRODUCER, 1),
            Commands.grant(group, shard(), "m", "i", 0, StartAt.EARLIEST),
            Commands.openShards(topicId, topic, List.of(0), TopicConfig.DEFAULT))) {
      Bytes body = new Bytes().i32(0);
      CommandCodec.write(body, command);
      add(all, address, Op.SUBMIT_DATA, body);
    }
    for (MetaCommand command :
        List.of(
            new MetaCommand.RegisterProducer(null),
            new MetaCommand.RegisterProducer(group),
            new MetaCommand.ContinueProducer(group, 0),
            new MetaCommand.CreateTopic(topic, 1, TopicConfig.DEFAULT))) {
      Bytes body = new Bytes();
      CommandCodec.write(body, command);
      add(all, address, Op.SUBMIT_META, body);
    }
    Bytes lease = new Bytes().text(group);
    RecordCodec.write(lease, shard());
    add(all, address, Op.READ_LEASE, lease);
    add(all, address, Op.BROWSE, FetchRequest.browse(shard(), 0, 1_000, 3, 0).encode());
    Bytes find = new Bytes();
    RecordCodec.write(find, shard());
    RecordCodec.START.write(find, StartAt.timestamp(5));
    add(all, address, Op.FIND_OFFSET, find);
    add(
        all,
        address,
        Op.FETCH_RETRIES,
        new Bytes()
            .raw(
                RetryRequest.CODEC.encode(
                    new RetryRequest(group, shard(), 1, true, List.of(0L, 1L), 9, 1_000))));
    for (Op op : Op.values()) {
      add(all, address, op, new Bytes().i32(0).text(group).i64(0));
    }
  }

  private void members(List<Sample> all, String node, String session) {
    int mode = 0;
    for (GroupPolicy policy :
        List.of(
            GroupPolicy.SHARDED,
            GroupPolicy.of(GroupPolicy.MODE_LEVEL),
            GroupPolicy.of(GroupPolicy.MODE_SINGLETON),
            GroupPolicy.of(GroupPolicy.MODE_BROADCAST))) {
      add(all, Addresses.dispatcher(node), heartbeat(policy, group + "-" + ++mode, session));
    }
    Report report =
        new Report(
            group + "-2",
            session,
            1,
            1,
            1,
            1,
            1,
            new long[] {3, 5},
            List.of(new Report.Failed(0, "error")),
            10);
    add(all, Addresses.levelDispatcher(node), Op.LEVEL_REPORT, report.encode());
    for (String address : List.of(Addresses.groups(node), Addresses.membership(node))) {
      add(all, address, new JsonObject().put("group", group).put("action", "card"));
    }
  }

  /** With everything that a heartbeat may have. */
  private JsonObject heartbeat(GroupPolicy policy, String of, String session) {
    JsonObject beat =
        new Heartbeat(
                of,
                "m",
                session,
                1,
                policy,
                List.of(topic),
                StartAt.EARLIEST,
                session,
                "here",
                1_000,
                1_000)
            .toJson();
    JsonArray mark = new JsonArray(List.of(topicId, 0, 1, 0, 1, 1, 1, 1));
    return beat.put("marks", new JsonArray().add(mark))
        .put("flow", new JsonObject().put("passedOver", 1).put("lag", 1))
        .put("seen", new JsonObject().put("term", 1).put("revision", 1))
        .put(
            "dedupTally",
            new JsonObject()
                .put("repetition", "high")
                .put("smallestDistance", 1)
                .put("declinedShare", 0.5)
                .put("observedMessages", 9)
                .put("hot", new JsonArray().add(new JsonArray().add("key").add(1))));
  }

  private static void dedup(List<Sample> all, String session) {
    DedupKey key = new DedupKey(1, 2);
    SharedClaim claim = new SharedClaim(new Worker(session, 0, 1), 1, 1_000, 1);
    byte[] steps =
        SharedCodec.steps(
            List.of(
                new Step(Step.Kind.ENQUEUE, key, claim), new Step(Step.Kind.DEQUEUE, key, claim)));
    all.add(
        new Sample(Addresses.DEDUP_STEPS, new Bytes().text(session).raw(steps).toArray(), null));
    Worker program = new Worker(session, Worker.SERVICE, 1);
    DedupKey named = DedupScope.ofService("d").key(new byte[] {1});
    byte[] claims =
        SharedCodec.steps(
            List.of(new Step(Step.Kind.DEQUEUE, named, new SharedClaim(program, 1, 1_000, 1))));
    all.add(
        new Sample(
            Addresses.DEDUP_CLAIMS,
            new Bytes().text(session).text("d").raw(claims).toArray(),
            null));
    byte[] head = new HeadMessage(key, 1, 1).bytes();
    all.add(new Sample(Addresses.DEDUP_TELL, new Bytes().text(session).raw(head).toArray(), null));
    all.add(new Sample(Addresses.DEDUP_HEARD, new Bytes().text(session).text("d").toArray(), null));
  }

  private void api(List<Sample> all) {
    JsonObject message =
        new JsonObject()
            .put("topic", topic)
            .put("key", "k")
            .put("payload", "p")
            .put("headers", new JsonObject().put("h", "v"))
            .put("timestamp", 1)
            .put("acks", "all");
    add(all, ApiAddresses.PRODUCE, message);
    JsonObject each = new JsonObject().put("payloadBase64", "AAE=").put("deliverAfterMs", 10);
    JsonArray many = new JsonArray().add(each).add(new JsonObject().put("payload", "p"));
    add(all, ApiAddresses.PRODUCE, new JsonObject().put("topic", topic).put("messages", many));
    add(all, Operations.BROWSE, new Browse(topic, 0, 0L, null, null, 3, null));
    add(all, Operations.LIST_DELAYED_MESSAGES, new ListDelayedMessages(topic, "k", 100, "0-1-2-3"));
    add(all, Operations.GET_DELAYED_MESSAGE, new GetDelayedMessage(topic, "0-1-2-3"));
    add(all, Operations.CANCEL_DELAYED_MESSAGE, new CancelDelayedMessage(topic, "0-1-2-3"));
    TopicLimits limits = TopicLimits.retaining(86_400_000);
    add(all, Operations.LIST_TOPICS, new ListTopics());
    add(all, Operations.DESCRIBE_TOPIC, new DescribeTopic(topic));
    add(all, Operations.CREATE_TOPIC, new CreateTopic(topic, 1, limits));
    add(all, Operations.CONFIGURE_TOPIC, new ConfigureTopic(topic, limits));
    add(all, Operations.ASK_READY, new AskReady());
    JsonObject asked = new JsonObject().put("group", group);
    for (String action : List.of("list", "get", "rebalances", "dead-letters", "retries")) {
      add(all, ApiAddresses.GROUPS, asked.copy().put("action", action).put("limit", 3));
    }
    String letter = topic + "/0/0";
    add(
        all,
        ApiAddresses.GROUPS,
        asked.copy().put("action", "dead-letter").put("deadLetter", letter));
    for (String action : List.of("replay", "drop")) {
      add(
          all,
          ApiAddresses.GROUPS,
          asked.copy().put("action", action).put("deadLetters", new JsonArray().add(letter)));
    }
    add(
        all,
        ApiAddresses.GROUPS,
        asked.copy().put("action", "reset").put("to", "earliest").put("dryRun", true));
    for (String action : List.of("pause", "resume")) {
      add(all, ApiAddresses.GROUPS, asked.copy().put("action", action).put("topic", topic));
    }
    add(all, ApiAddresses.GROUPS, asked.copy().put("action", "delete").put("topic", topic));
    for (String action : List.of("list", "clear")) {
      JsonObject quota = new JsonObject().put("action", action);
      if (action.equals("clear")) {
        quota.put("kind", "topic").put("name", topic);
      }
      add(all, ApiAddresses.QUOTAS, quota);
    }
    for (String action : List.of("status", "replacement", "replace")) {
      add(
          all,
          ApiAddresses.CLUSTER,
          new JsonObject().put("action", action).put("node", nodes.get(0)));
    }
  }
}
