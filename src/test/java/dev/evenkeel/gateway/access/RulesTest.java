package dev.evenkeel.gateway.access;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Refused;
import dev.evenkeel.api.ApiAddresses;
import dev.evenkeel.api.Permission;
import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.Calls;
import dev.evenkeel.bus.FetchRequest;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.KnownIds;
import dev.evenkeel.bus.Op;
import dev.evenkeel.bus.rate.ReserveRequest;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.ProducerIds;
import dev.evenkeel.protocol.Quota;
import dev.evenkeel.protocol.QuotaKind;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.SpoolPublisher;
import dev.evenkeel.protocol.StartAt;
import dev.evenkeel.protocol.wire.AppendBody;
import dev.evenkeel.protocol.wire.BatchBuilder;
import dev.evenkeel.protocol.wire.Bytes;
import dev.evenkeel.protocol.wire.CommandCodec;
import dev.evenkeel.protocol.wire.FeatureLevel;
import dev.evenkeel.protocol.wire.RecordCodec;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class RulesTest {
  /** Topic 1 is orders, topic 2 secrets; producer 7 is billing, 8 has no name, 77 had one. */
  private static final KnownIds IDS =
      new KnownIds() {
        @Override
        public String topic(int id) {
          if (id > 2) {
            throw KnownIds.unheard("topic", id);
          }
          return id == 1 ? "orders" : id == 2 ? "secrets" : null;
        }

        @Override
        public String producer(long id) {
          return id == 7 ? "billing" : null;
        }

        @Override
        public boolean isForgotten(long producer, int epoch) {
          return producer == 77 && epoch < 5;
        }

        @Override
        public List<String> groups(int tag) {
          return Stream.of("ship", "pay").filter(g -> ProducerIds.tagOf(g) == tag).toList();
        }

        @Override
        public int featureLevel() {
          return level;
        }

        @Override
        public Quota groupRate(String group) {
          return group.equals("limited") ? rate(group, 10) : null;
        }
      };

  private static Quota rate(String group, int perSecond) {
    return new Quota(QuotaKind.GROUP_RATE, group, 0, perSecond, 1_000);
  }

  /** Of the cluster. */
  private static int level = FeatureLevel.NEWEST;

  private final SessionRules rules = new SessionRules(IDS);

  private static Principal user(String... may) {
    return new Principal("shop", Stream.of(may).map(Permission::parse).toList());
  }

  private static JsonObject question(String action, String name) {
    JsonObject question = new JsonObject();
    if (action != null) {
      question.put("action", action);
    }
    return question.put("name", name).put("group", name).put("topic", name);
  }

  private static void refused(Refusal why, Runnable check) {
    Refused.with(why, check::run);
  }

  @Test
  void whoeverMayNothingCanAskForListsOnlyAndSeesNothingInThem() {
    Principal nobody = user();
    for (String address :
        List.of(
            ApiAddresses.PRODUCE,
            ApiAddresses.MESSAGES,
            ApiAddresses.DELAYED,
            ApiAddresses.TOPICS,
            ApiAddresses.GROUPS,
            ApiAddresses.CLUSTER,
            ApiAddresses.QUOTAS,
            ApiAddresses.USERS,
            "evenkeel.api.unknown")) {
      for (String action :
          new String[] {
            null,
            "get",
            "create",
            "configure",
            "delete",
            "dead-letters",
            "dead-letter",
            "retries",
            "replay",
            "drop",
            "reset",
            "pause",
            "resume",
            "status",
            "replace",
            "replacement",
            "set",
            "clear",
            "plan",
            "put",
            "remove",
            "add-token",
            "remove-token",
            "made-up"
          }) {
        refused(
            Refusal.FORBIDDEN, () -> ApiRules.check(nobody, address, question(action, "orders")));
      }
    }
    for (String address : List.of(ApiAddresses.TOPICS, ApiAddresses.GROUPS)) {
      JsonObject list = new JsonObject().put("action", "list");
      ApiRules.check(nobody, address, list);
      JsonArray answer =
          new JsonArray().add(new JsonObject().put("name", "orders").put("group", "orders"));
      assertThat((JsonArray) ApiRules.visible(nobody, address, list, answer)).isEmpty();
      assertThat(ApiRules.visible(user("view:*"), address, list, answer)).isEqualTo(answer);
    }
  }

  @Test
  void namesThatAreNoTextsNeedAPermissionForAll() {
    var odd = new JsonObject().put("action", "delete").put("name", new JsonArray().add("orders"));
    refused(
        Refusal.FORBIDDEN, () -> ApiRules.check(user("admin:orders"), ApiAddresses.TOPICS, odd));
    ApiRules.check(user("admin:*"), ApiAddresses.TOPICS, odd);
  }

  private void send(Principal principal, boolean control, Op op, Bytes body) {
    rules.broker(principal, control, Frames.request(op, body));
  }

  private static Bytes append(int topic, long producer) {
    BatchBuilder builder = new BatchBuilder(1 << 10);
    builder.add(new Message(null, null, 0, new byte[1]));
    Bytes body = new Bytes();
    AppendBody.write(body, new Shard(topic, 0), builder.build(producer, 0, 0));
    return body;
  }

  @Test
  void anAppendNeedsItsTopicsAndItsProducersName() {
    send(user("produce:orders"), false, Op.APPEND, append(1, 0));
    send(user("produce:orders"), false, Op.APPEND, append(1, 8));
    send(user("produce:orders", "producer:bill*"), false, Op.APPEND, append(1, 7));
    refused(Refusal.FORBIDDEN, () -> send(user("produce:orders"), false, Op.APPEND, append(1, 7)));
    refused(Refusal.FORBIDDEN, () -> send(user("produce:orders"), false, Op.APPEND, append(2, 0)));
    Bytes both = append(1, 0);
    both.raw(append(2, 0).toArray());
    refused(Refusal.FORBIDDEN, () -> send(user("produce:orders"), false, Op.APPEND, both));
    refused(
        Refusal.UNAVAILABLE, () -> send(user("produce:orders"), false, Op.APPEND, append(3, 0)));
    refused(Refusal.FORBIDDEN, () -> send(user("produce:orders"), false, Op.APPEND, append(0, 0)));
  }

  /** It would wait for ever for a node that has heard of its name. */
  @Test
  void aProducerWhoseNameWasForgottenIsToldSo() {
    Principal shop = user("produce:orders");
    refused(Refusal.UNKNOWN_PRODUCER, () -> send(shop, false, Op.APPEND, append(1, 77)));
    refused(
        Refusal.UNKNOWN_PRODUCER,
        () -> send(shop, false, Op.APPEND, append(1, SpoolPublisher.id(77))));
  }

  @Test
  void readingNeedsTheTopicAndWithALeaseTheGroup() {
    Bytes browse = FetchRequest.browse(new Shard(1, 0), 0, 1, 1, 0).encode();
    Bytes fetch = new FetchRequest("g", new Shard(1, 0), 1, 0, 1, 1, 0, 0).encode();
    send(user("consume:orders"), false, Op.BROWSE, browse);
    send(user("consume:orders"), true, Op.BROWSE, browse);
    send(user("consume:orders", "group:g"), false, Op.FETCH, fetch);
    refused(Refusal.FORBIDDEN, () -> send(user("group:g"), false, Op.FETCH, fetch));
    refused(Refusal.FORBIDDEN, () -> send(user("consume:orders"), false, Op.FETCH, fetch));
    refused(Refusal.FORBIDDEN, () -> send(user("produce:orders"), false, Op.BROWSE, browse));
    Bytes lease = new Bytes().text("g");
    RecordCodec.write(lease, new Shard(1, 0));
    refused(Refusal.FORBIDDEN, () -> send(user("consume:orders"), true, Op.READ_LEASE, lease));
    send(user("consume:orders", "group:g"), true, Op.READ_LEASE, lease);
  }

  private static void of(Principal user, long id, boolean may) {
    DataCommand open = new DataCommand.OpenProducer(id, 1);
    RulesTest rules = new RulesTest();
    if (may) {
      rules.send(user, false, Op.APPEND, append(1, id));
      rules.send(user, true, Op.SUBMIT_DATA, data(open));
    } else {
      refused(Refusal.FORBIDDEN, () -> rules.send(user, false, Op.APPEND, append(1, id)));
      refused(Refusal.FORBIDDEN, () -> rules.send(user, true, Op.SUBMIT_DATA, data(open)));
    }
  }

  @Test
  void theIdOfAProducerBelongsToTheUserWhoRegisteredIt() {
    Principal shop = user("produce:*", "producer:*", "group:*");
    of(shop, 9, true);
    of(shop, ProducerIds.ofUser(9, "shop"), true);
    of(shop, ProducerIds.ofUser(9, "other"), false);
    of(shop, ProducerIds.ofMember(9), false);
  }

  private Reply.OfProducer registered(Principal user, MetaCommand command, Reply reply) {
    Bytes body = new Bytes();
    CommandCodec.write(body, command);
    Buffer request = Frames.request(Op.SUBMIT_META, body);
    Buffer answer = rules.owned(user, "evenkeel.node.n1.control", request, of(reply));
    return (Reply.OfProducer) Calls.SUBMIT_META.answered(answer);
  }

  private static Buffer of(Reply reply) {
    return Calls.SUBMIT_META.answer(reply);
  }

  @Test
  void theIdOfANewProducerSaysWhoseItIs() {
    Reply given = new Reply.OfProducer(9, 0);
    MetaCommand unnamed = new MetaCommand.RegisterProducer("");
    assertThat(registered(user("produce:*"), unnamed, given).producerId())
        .isEqualTo(ProducerIds.ofUser(9, "shop"));
    assertThat(registered(Principal.ANYBODY, unnamed, given)).isEqualTo(given);
    assertThat(registered(user("produce:*"), new MetaCommand.RegisterProducer("shop-1"), given))
        .isEqualTo(given);
  }

  @Test
  void aRefusalToRegisterStaysAsItIs() {
    Bytes body = new Bytes();
    CommandCodec.write(body, new MetaCommand.RegisterProducer(""));
    Buffer refusal = Frames.refusal(Refusal.UNAVAILABLE.error("later"));
    Buffer request = Frames.request(Op.SUBMIT_META, body);
    assertThat(rules.owned(user("produce:*"), "evenkeel.node.n1.control", request, refusal))
        .isEqualTo(refusal);
  }

  private static Bytes opened(long id, String group, boolean fresh) {
    return data(new DataCommand.OpenPublisher(id, 1, group, new Shard(1, 0), fresh));
  }

  @Test
  void whatHandlersOfAGroupPublishUnderBelongsToTheGroup() {
    long id = ProducerIds.ofGroup(9, "ship");
    Principal member = user("produce:orders", "consume:orders", "group:ship");
    Principal other = user("produce:orders", "consume:orders", "group:pay");
    send(member, false, Op.APPEND, append(1, id));
    send(member, true, Op.SUBMIT_DATA, opened(id, "ship", true));
    refused(Refusal.FORBIDDEN, () -> send(other, false, Op.APPEND, append(1, id)));
    refused(Refusal.FORBIDDEN, () -> send(other, true, Op.SUBMIT_DATA, opened(id, "pay", true)));
    refused(Refusal.FORBIDDEN, () -> send(other, true, Op.SUBMIT_DATA, opened(id, "ship", true)));
    refused(
        Refusal.FORBIDDEN,
        () -> send(member, true, Op.SUBMIT_DATA, data(new DataCommand.OpenProducer(id, 1))));
  }

  @Test
  void aPublisherOfAFormerVersionGoesFromMemberToMember() {
    long id = ProducerIds.ofUser(9, "other");
    Principal member = user("produce:orders", "consume:orders", "group:ship");
    send(member, true, Op.SUBMIT_DATA, opened(id, "ship", false));
    refused(Refusal.FORBIDDEN, () -> send(member, true, Op.SUBMIT_DATA, opened(id, "ship", true)));
  }

  @Test
  void whoMayNeitherProduceNorConsumeRegistersNoProducer() {
    for (String name : List.of("", "shop-1")) {
      Bytes body = new Bytes();
      CommandCodec.write(body, new MetaCommand.RegisterProducer(name));
      refused(Refusal.FORBIDDEN, () -> send(user("view:zzz"), true, Op.SUBMIT_META, body));
    }
  }

  private static Bytes data(DataCommand command) {
    Bytes body = new Bytes().i32(0);
    CommandCodec.write(body, command);
    return body;
  }

  @Test
  void commandsOfMembersNeedTheirGroupAndOthersAreForNodes() {
    Shard shard = new Shard(1, 0);
    Principal member = user("consume:orders", "group:g");
    DataCommand commit = new DataCommand.Commit("g", shard, 1, 1, -1, null);
    DataCommand many =
        new DataCommand.CommitMany(
            List.of(
                new DataCommand.CommitMany.Position("g", shard, 1, 1, -1),
                new DataCommand.CommitMany.Position("h", shard, 1, 1, -1)));
    send(member, true, Op.SUBMIT_DATA, data(commit));
    refused(
        Refusal.FORBIDDEN, () -> send(user("consume:orders"), true, Op.SUBMIT_DATA, data(commit)));
    refused(Refusal.FORBIDDEN, () -> send(member, true, Op.SUBMIT_DATA, data(many)));
    refused(
        Refusal.FORBIDDEN,
        () -> send(member, true, Op.SUBMIT_DATA, data(new DataCommand.OpenProducer(7, 1))));
    for (DataCommand command :
        List.of(
            new DataCommand.Grant("g", shard, "m", "i", 0, StartAt.LATEST, 0, 1),
            new DataCommand.ResetLease("g", shard, 0, StartAt.LATEST),
            new DataCommand.ForgetLeases("g", 1, 0),
            new DataCommand.DropShards(1),
            new DataCommand.DropDeadLetters("g", shard, List.of(1L)))) {
      for (Principal any : List.of(member, Principal.ANYBODY, user("admin:*"))) {
        refused(Refusal.FORBIDDEN, () -> send(any, true, Op.SUBMIT_DATA, data(command)));
      }
    }
  }

  private static Bytes publisher(long producer, String group) {
    return data(
        new DataCommand.OpenPublisher(
            SpoolPublisher.id(producer), 1, group, SpoolPublisher.input(1), true));
  }

  /** The log would remember its producers for ever. */
  @Test
  void aGroupThatIsNotThereHasNoPublishers() {
    Principal member = user("group:*", "consume:*");
    for (String group : List.of("ship", "none")) {
      Bytes open =
          data(
              new DataCommand.OpenPublisher(
                  ProducerIds.ofGroup(8, group), 1, group, new Shard(1, 0), true));
      if (group.equals("ship")) {
        send(member, true, Op.SUBMIT_DATA, open);
      } else {
        refused(Refusal.UNAVAILABLE, () -> send(member, true, Op.SUBMIT_DATA, open));
      }
    }
  }

  /** Else delayed messages of the shard would be lost, or wait for ever. */
  @Test
  void nobodyMovesDelayedMessagesForANode() {
    String group = DataCommand.OpenPublisher.DELAYED;
    long id = ProducerIds.ofGroup(8, group);
    Bytes open =
        data(new DataCommand.OpenPublisher(id, Integer.MAX_VALUE, group, new Shard(1, 0), true));
    for (Principal any : List.of(user("group:*", "consume:*"), user("admin:*", "group:*"))) {
      refused(Refusal.FORBIDDEN, () -> send(any, true, Op.SUBMIT_DATA, open));
    }
  }

  /** Else its spool would end when the topic gets other shards. */
  @Test
  void whoMayProduceMaySendASpoolToOtherShards() {
    Principal producer = user("produce:orders");
    send(producer, true, Op.SUBMIT_DATA, publisher(8, SpoolPublisher.group(8)));
    refused(
        Refusal.FORBIDDEN,
        () -> send(producer, true, Op.SUBMIT_DATA, publisher(7, SpoolPublisher.group(7))));
    refused(
        Refusal.FORBIDDEN,
        () -> send(producer, true, Op.SUBMIT_DATA, publisher(8, SpoolPublisher.group(7))));
    refused(Refusal.FORBIDDEN, () -> send(producer, true, Op.SUBMIT_DATA, publisher(8, "g")));
    refused(
        Refusal.FORBIDDEN,
        () ->
            send(
                user("consume:orders"),
                true,
                Op.SUBMIT_DATA,
                publisher(8, SpoolPublisher.group(8))));
  }

  @Test
  void producerNamesAreRegisteredByTheirOwners() {
    for (MetaCommand command :
        List.of(
            new MetaCommand.RegisterProducer("shop-1"),
            new MetaCommand.RegisterProducer(""),
            new MetaCommand.ContinueProducer("shop-1", 3))) {
      Bytes body = new Bytes();
      CommandCodec.write(body, command);
      send(user("produce:orders"), true, Op.SUBMIT_META, body);
      send(user("group:g"), true, Op.SUBMIT_META, body);
    }
    for (MetaCommand command :
        List.of(
            new MetaCommand.RegisterProducer("billing"),
            new MetaCommand.ContinueProducer("billing", 3),
            new MetaCommand.DeleteTopic("orders"),
            new MetaCommand.ForgetGroup("g"))) {
      Bytes body = new Bytes();
      CommandCodec.write(body, command);
      refused(Refusal.FORBIDDEN, () -> send(user("admin:*"), true, Op.SUBMIT_META, body));
    }
  }

  private static Bytes reserve(QuotaKind kind, String name) {
    return new Bytes()
        .raw(
            ReserveRequest.CODEC.encode(
                new ReserveRequest(new Quota.Key(kind, name), 0, 1, 1_000, null)));
  }

  @Test
  void membersAskForTimeOfTheirGroupAndNobodyElseDoes() {
    send(user("group:g"), true, Op.RESERVE, reserve(QuotaKind.GROUP_RATE, "g"));
    send(Principal.ANYBODY, true, Op.RESERVE, reserve(QuotaKind.GROUP_RATE, "g"));
    refused(
        Refusal.FORBIDDEN,
        () -> send(user("group:h"), true, Op.RESERVE, reserve(QuotaKind.GROUP_RATE, "g")));
    for (QuotaKind kind : QuotaKind.values()) {
      if (kind != QuotaKind.GROUP_RATE) {
        for (Principal any : List.of(user("group:g", "admin:*"), Principal.ANYBODY)) {
          refused(Refusal.FORBIDDEN, () -> send(any, true, Op.RESERVE, reserve(kind, "orders")));
        }
      }
    }
    refused(
        Refusal.INVALID,
        () -> send(user("group:g"), true, Op.RESERVE, reserve(QuotaKind.GROUP_RATE, "g").u8(1)));
    refused(Refusal.FORBIDDEN, () -> send(user("admin:*"), true, Op.READ_QUOTAS, new Bytes()));
  }

  private static Bytes naming(Quota rate) {
    return new Bytes()
        .raw(ReserveRequest.CODEC.encode(new ReserveRequest(rate.key(), 0, 0, 1_000, rate)));
  }

  @Test
  void onlyWhoAdministersAGroupChangesItsRate() {
    Principal member = user("group:*");
    send(member, true, Op.RESERVE, naming(rate("g", 10)));
    send(member, true, Op.RESERVE, naming(rate("limited", 10)));
    refused(Refusal.FORBIDDEN, () -> send(member, true, Op.RESERVE, naming(rate("limited", 1))));
    refused(
        Refusal.FORBIDDEN, () -> send(member, true, Op.RESERVE, naming(rate("limited", 1_000))));
    Principal admin = user("group:limited", "admin:limited");
    send(admin, true, Op.RESERVE, naming(rate("limited", 1)));
    send(Principal.ANYBODY, true, Op.RESERVE, naming(rate("limited", 1)));
  }

  @Test
  void theAuditLogNotesARateThatAMemberNames() {
    String address = Addresses.control("n1");
    Buffer same = Frames.request(Op.RESERVE, naming(rate("limited", 10)));
    assertThat(rules.act(address, same)).isNull();
    Buffer other = Frames.request(Op.RESERVE, naming(rate("limited", 7)));
    assertThat(rules.act(address, other))
        .contains("group-rate", "limited", "7 messages/s", "by a member");
    Buffer plain = Frames.request(Op.RESERVE, reserve(QuotaKind.GROUP_RATE, "limited"));
    assertThat(rules.act(address, plain)).isNull();
  }

  @Test
  void stepsOfADedupNeedItsNameAsAGroupAndTheSessionItself() {
    Buffer steps = Buffer.buffer(new Bytes().text("s-1").text("pages").toArray());
    SessionRules.claims(user("group:pages"), "s-1", steps);
    SessionRules.heard(user("group:pages"), "s-1", steps);
    SessionRules.claims(Principal.ANYBODY, "s-1", steps);
    for (Principal another : List.of(user("group:page"), user("admin:*"), user())) {
      refused(Refusal.FORBIDDEN, () -> SessionRules.claims(another, "s-1", steps));
      refused(Refusal.FORBIDDEN, () -> SessionRules.heard(another, "s-1", steps));
    }
    refused(Refusal.FORBIDDEN, () -> SessionRules.claims(user("group:pages"), "s-2", steps));
    refused(Refusal.FORBIDDEN, () -> SessionRules.claims(Principal.ANYBODY, "s-2", steps));
    Buffer nameless = Buffer.buffer(new Bytes().text("s-1").text("").toArray());
    refused(Refusal.FORBIDDEN, () -> SessionRules.claims(user("group:pages"), "s-1", nameless));
    SessionRules.heard(user("consume:orders"), "s-1", nameless);
    Buffer malformed = Buffer.buffer(new Bytes().text("s-1").text(null).toArray());
    for (Principal any : List.of(user("group:*"), Principal.ANYBODY)) {
      refused(Refusal.INVALID, () -> SessionRules.heard(any, "s-1", malformed));
      refused(Refusal.INVALID, () -> SessionRules.claims(any, "s-1", malformed));
    }
  }

  @Test
  void aCandidateNeedsItsElectionAsAGroup() {
    JsonObject open = new JsonObject().put("action", "open").put("election", "nightly");
    JsonObject watch = open.copy().put("action", "watch").put("candidate", "x.y");
    for (JsonObject asked : List.of(open, watch)) {
      ApiRules.check(user("group:nightly"), ApiAddresses.ELECTIONS, asked);
      refused(
          Refusal.FORBIDDEN,
          () -> ApiRules.check(user("group:other"), ApiAddresses.ELECTIONS, asked));
      refused(
          Refusal.FORBIDDEN,
          () -> ApiRules.check(user("admin:nightly"), ApiAddresses.ELECTIONS, asked));
      assertThat(ApiRules.changes(ApiAddresses.ELECTIONS, asked)).isFalse();
    }
    assertThat(ApiRules.words(ApiAddresses.ELECTIONS, open))
        .isEqualTo("elections open election=nightly");
  }

  @Test
  void whoConsumesOverHttpNeedsTheGroupAndTheTopics() {
    JsonObject open =
        new JsonObject()
            .put("action", "open")
            .put("group", "g")
            .put("topics", new JsonArray().add("orders").add("bills").add(7));
    Principal member = user("group:g", "consume:orders", "consume:bills");
    refused(Refusal.FORBIDDEN, () -> ApiRules.check(member, ApiAddresses.SESSIONS, open));
    open.getJsonArray("topics").remove(2);
    ApiRules.check(member, ApiAddresses.SESSIONS, open);
    for (Principal other :
        List.of(user("group:g", "consume:orders"), user("consume:*"), user("admin:*"))) {
      refused(Refusal.FORBIDDEN, () -> ApiRules.check(other, ApiAddresses.SESSIONS, open));
    }
    assertThat(ApiRules.words(ApiAddresses.SESSIONS, open.put("user", "shop")))
        .isEqualTo("sessions open group=g topics=[\"orders\",\"bills\"]");
    JsonObject poll = new JsonObject().put("action", "messages").put("group", "g");
    ApiRules.check(user("group:g"), ApiAddresses.SESSIONS, poll);
    refused(
        Refusal.FORBIDDEN, () -> ApiRules.check(user("consume:*"), ApiAddresses.SESSIONS, poll));
    JsonObject answer =
        new JsonObject()
            .put("messages", new JsonArray().add(new JsonObject().put("topic", "orders")));
    assertThat(ApiRules.visible(member, ApiAddresses.SESSIONS, poll, answer)).isSameAs(answer);
    refused(
        Refusal.FORBIDDEN,
        () -> ApiRules.visible(user("group:g"), ApiAddresses.SESSIONS, poll, answer));
    assertThat(ApiRules.changes(ApiAddresses.SESSIONS, open)).isFalse();
  }

  @Test
  void whoChangesNodesAdministersTheClusterAndWhoSeesSomethingSeesThem() {
    JsonObject status = new JsonObject().put("action", "status");
    ApiRules.check(user("view:orders"), ApiAddresses.CLUSTER, status);
    ApiRules.check(user("admin:orders"), ApiAddresses.CLUSTER, status);
    refused(
        Refusal.FORBIDDEN, () -> ApiRules.check(user("produce:*"), ApiAddresses.CLUSTER, status));
    assertThat(ApiRules.changes(ApiAddresses.CLUSTER, status)).isFalse();
    for (String action : List.of("admit", "drain", "undrain", "remove", "replace")) {
      JsonObject question = new JsonObject().put("action", action).put("node", "n2");
      ApiRules.check(user("admin:*"), ApiAddresses.CLUSTER, question);
      refused(
          Refusal.FORBIDDEN,
          () -> ApiRules.check(user("admin:orders", "view:*"), ApiAddresses.CLUSTER, question));
      assertThat(ApiRules.changes(ApiAddresses.CLUSTER, question)).as("is audited").isTrue();
      assertThat(ApiRules.words(ApiAddresses.CLUSTER, question))
          .isEqualTo("cluster " + action + " node=n2");
    }
    for (String action : List.of("membership", "replacement")) {
      JsonObject question = new JsonObject().put("action", action).put("node", "n2");
      refused(
          Refusal.FORBIDDEN, () -> ApiRules.check(user("view:*"), ApiAddresses.CLUSTER, question));
      assertThat(ApiRules.changes(ApiAddresses.CLUSTER, question)).isFalse();
    }
  }

  private static JsonObject quota(String action, String kind, String name) {
    return new JsonObject().put("action", action).put("kind", kind).put("name", name);
  }

  @Test
  void whoSetsAQuotaAdministersItsTopicOrGroup() {
    for (String action : List.of("set", "clear")) {
      for (String kind : List.of("topic", "group", "group-rate")) {
        JsonObject question = quota(action, kind, "orders");
        ApiRules.check(user("admin:orders"), ApiAddresses.QUOTAS, question);
        refused(
            Refusal.FORBIDDEN,
            () -> ApiRules.check(user("admin:other"), ApiAddresses.QUOTAS, question));
        assertThat(ApiRules.changes(ApiAddresses.QUOTAS, question)).as("is audited").isTrue();
        assertThat(ApiRules.words(ApiAddresses.QUOTAS, question))
            .isEqualTo("quotas " + action + " kind=" + kind + " name=orders");
      }
      for (String kind : List.of("producer", "principal", "made-up")) {
        JsonObject question = quota(action, kind, "orders");
        ApiRules.check(user("admin:*"), ApiAddresses.QUOTAS, question);
        refused(
            Refusal.FORBIDDEN,
            () -> ApiRules.check(user("admin:orders"), ApiAddresses.QUOTAS, question));
      }
    }
  }

  @Test
  void whoSeesAGroupMayPlanForIt() {
    JsonObject question = new JsonObject().put("action", "plan").put("group", "g").put("add", 2);
    ApiRules.check(user("view:g"), ApiAddresses.GROUPS, question);
    refused(
        Refusal.FORBIDDEN,
        () -> ApiRules.check(user("view:h", "consume:g"), ApiAddresses.GROUPS, question));
    assertThat(ApiRules.changes(ApiAddresses.GROUPS, question)).isFalse();
  }

  @Test
  void whoPausesAGroupAdministersIt() {
    for (String action : List.of("pause", "resume")) {
      JsonObject question = JsonObject.of("action", action, "group", "g", "topic", "t", "shard", 2);
      ApiRules.check(user("admin:g"), ApiAddresses.GROUPS, question);
      for (Principal other : List.of(user("admin:t"), user("group:g", "view:g", "consume:t"))) {
        refused(Refusal.FORBIDDEN, () -> ApiRules.check(other, ApiAddresses.GROUPS, question));
      }
      assertThat(ApiRules.changes(ApiAddresses.GROUPS, question)).as("is audited").isTrue();
      assertThat(ApiRules.words(ApiAddresses.GROUPS, question))
          .isEqualTo("groups " + action + " group=g topic=t shard=2");
    }
  }

  @Test
  void theWordsOfAQuestionHaveNoKeyNorSession() {
    JsonObject browse = JsonObject.of("topic", "t", "key", "secret", "page", true);
    assertThat(ApiRules.words(ApiAddresses.MESSAGES, browse)).isEqualTo("messages topic=t");
    JsonObject open = JsonObject.of("action", "open", "group", "g", "member", "m");
    open.put("topics", List.of("t")).put("filter", List.of("key=secret"));
    assertThat(ApiRules.words(ApiAddresses.SESSIONS, open))
        .isEqualTo("sessions open group=g topics=[\"t\"] member=m");
    JsonObject extend = JsonObject.of("action", "extend", "group", "g", "session", "a.b");
    assertThat(ApiRules.words(ApiAddresses.SESSIONS, extend)).isEqualTo("sessions extend group=g");
    JsonObject configure = JsonObject.of("action", "configure", "name", "t", "ageMillisMax", 5);
    assertThat(ApiRules.words(ApiAddresses.TOPICS, configure))
        .isEqualTo("topics configure name=t ageMillisMax=5");
  }

  /** Somebody could give all permissions among a thousand small ones, and the log would not say. */
  @Test
  void theWordsOfAUserHaveItsWidestPermissions() {
    JsonArray may = new JsonArray();
    IntStream.range(0, 500).forEach(i -> may.add("view:orders-" + i));
    may.add("produce:orders*").add("group:*").add("admin:*");
    JsonObject put = JsonObject.of("action", "put", "name", "shop", "may", may);
    assertThat(ApiRules.words(ApiAddresses.USERS, put))
        .startsWith(
            "users put name=shop may=[\"admin:*\",\"group:*\",\"produce:orders*\",\"view:orders-0\",")
        .endsWith("… (503 in all)")
        .hasSizeLessThan(AuditLog.TEXT_CHARS_MAX);
  }

  @Test
  void aListOfQuotasHasWhatTheUserMaySee() {
    JsonObject list = new JsonObject().put("action", "list");
    JsonArray answer = new JsonArray();
    for (QuotaKind kind : QuotaKind.values()) {
      answer.add(quota(null, kind.word(), "orders"));
    }
    assertThat((JsonArray) ApiRules.visible(user(), ApiAddresses.QUOTAS, list, answer)).isEmpty();
    assertThat((JsonArray) ApiRules.visible(user("view:orders"), ApiAddresses.QUOTAS, list, answer))
        .hasSize(3);
    assertThat((JsonArray) ApiRules.visible(user("view:*"), ApiAddresses.QUOTAS, list, answer))
        .hasSize(5);
  }

  @Test
  void aHeartbeatNeedsItsGroupAndItsTopics() {
    Buffer beat =
        new JsonObject().put("group", "g").put("topics", new JsonArray().add("orders")).toBuffer();
    SessionRules.heartbeat(user("group:g", "consume:orders"), beat);
    refused(Refusal.FORBIDDEN, () -> SessionRules.heartbeat(user("group:g"), beat));
    refused(Refusal.FORBIDDEN, () -> SessionRules.heartbeat(user("consume:orders"), beat));
    refused(Refusal.INVALID, () -> SessionRules.heartbeat(user("group:g"), Buffer.buffer("[1")));
  }

  @Test
  void whoeverConsumesATopicListsItsDelayedMessagesAndWhoeverProducesCancelsThem() {
    JsonObject list = new JsonObject().put("action", "list").put("topic", "orders");
    JsonObject get = list.copy().put("action", "get").put("id", "1-2-3-4");
    JsonObject cancel = get.copy().put("action", "cancel");
    ApiRules.check(user("consume:orders"), ApiAddresses.DELAYED, list);
    ApiRules.check(user("consume:orders"), ApiAddresses.DELAYED, get);
    ApiRules.check(user("produce:orders"), ApiAddresses.DELAYED, cancel);
    ApiRules.check(user("admin:orders"), ApiAddresses.DELAYED, cancel);
    for (String may : List.of("produce:orders", "consume:other", "view:*")) {
      refused(Refusal.FORBIDDEN, () -> ApiRules.check(user(may), ApiAddresses.DELAYED, list));
    }
    for (String may : List.of("consume:orders", "produce:other", "admin:other")) {
      refused(Refusal.FORBIDDEN, () -> ApiRules.check(user(may), ApiAddresses.DELAYED, cancel));
    }
    assertThat(ApiRules.changes(ApiAddresses.DELAYED, cancel)).isTrue();
    assertThat(ApiRules.changes(ApiAddresses.DELAYED, list)).isFalse();
    assertThat(ApiRules.words(ApiAddresses.DELAYED, cancel))
        .isEqualTo("delayed cancel topic=orders id=1-2-3-4");
  }

  @Test
  void aDeadLetterShowsItsPayloadOnlyToWhoMayReadIt() {
    JsonObject letter =
        new JsonObject()
            .put("topic", "orders")
            .put("key", "k")
            .put("payloadBase64", "/w==")
            .put("attempts", 3);
    JsonObject asked = new JsonObject().put("action", "dead-letters").put("group", "billing");
    for (Principal reads : List.of(user("group:billing"), user("admin:*", "consume:ord*"))) {
      assertThat(
              ApiRules.visible(
                  reads, ApiAddresses.GROUPS, asked, new JsonArray().add(letter.copy())))
          .isEqualTo(new JsonArray().add(letter));
    }
    for (Principal sees : List.of(user("admin:billing"), user("admin:*", "view:*"))) {
      assertThat(
              ApiRules.visible(
                  sees, ApiAddresses.GROUPS, asked, new JsonArray().add(letter.copy())))
          .isEqualTo(
              new JsonArray()
                  .add(
                      new JsonObject()
                          .put("topic", "orders")
                          .put("attempts", 3)
                          .putNull("key")
                          .putNull("payload")));
      JsonObject one = asked.copy().put("action", "dead-letter").put("deadLetter", "orders/0/1");
      assertThat(ApiRules.visible(sees, ApiAddresses.GROUPS, one, letter.copy()))
          .isEqualTo(
              new JsonObject()
                  .put("topic", "orders")
                  .put("attempts", 3)
                  .putNull("key")
                  .putNull("payload"));
    }
  }

  /** Ids count up, so anybody can ask for each. */
  @Test
  void aRefusalOfAnIdDoesNotTellItsName() {
    Bytes fetch = FetchRequest.browse(new Shard(2, 0), 0, 1, 1, 0).encode();
    Refused.with(
            Refusal.FORBIDDEN,
            () -> send(user("consume:orders"), false, Op.BROWSE, fetch),
            "consume:NAME of the topic 2")
        .hasMessageNotContaining("secrets");
    Refused.with(
        Refusal.FORBIDDEN,
        () -> send(user("consume:orders", "view:secrets"), false, Op.BROWSE, fetch),
        "consume:secrets");
    Refused.with(
            Refusal.FORBIDDEN,
            () -> send(user("produce:orders"), false, Op.APPEND, append(1, 7)),
            "producer:NAME of the producer 7")
        .hasMessageNotContaining("billing");
  }

  @Test
  void aClusterThatHasJustBegunGivesNoIdsThatAreNobodys() {
    Bytes register = new Bytes();
    CommandCodec.write(register, new MetaCommand.RegisterProducer(""));
    level = FeatureLevel.FIRST;
    try {
      Refused.with(
          Refusal.UNAVAILABLE,
          () -> send(user("produce:orders"), true, Op.SUBMIT_META, register),
          "the cluster has just begun");
      send(Principal.ANYBODY, true, Op.SUBMIT_META, register);
    } finally {
      level = FeatureLevel.NEWEST;
    }
    send(user("produce:orders"), true, Op.SUBMIT_META, register);
  }
}
