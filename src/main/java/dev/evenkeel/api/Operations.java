package dev.evenkeel.api;

import static dev.evenkeel.api.Operation.text;
import static dev.evenkeel.api.Permission.Kind.ADMIN;
import static dev.evenkeel.api.Permission.Kind.CONSUME;
import static dev.evenkeel.api.Permission.Kind.GROUP;
import static dev.evenkeel.api.Permission.Kind.VIEW;
import static dev.evenkeel.protocol.Refusal.GROUP_ACTIVE;
import static dev.evenkeel.protocol.Refusal.UNKNOWN_GROUP;
import static dev.evenkeel.protocol.Refusal.UNKNOWN_TOPIC;

import dev.evenkeel.api.AbandonPoll.AbandonedPoll;
import dev.evenkeel.api.AbandonWatch.AbandonedWatch;
import dev.evenkeel.api.AddToken.AddedToken;
import dev.evenkeel.api.AskReady.IsReady;
import dev.evenkeel.api.Browse.BrowsedMessages;
import dev.evenkeel.api.CancelDelayedMessage.CancelledMessage;
import dev.evenkeel.api.ClearQuota.ClearedQuota;
import dev.evenkeel.api.CloseCandidate.ClosedCandidate;
import dev.evenkeel.api.CloseSession.ClosedSession;
import dev.evenkeel.api.DeleteGroup.DeletedShard;
import dev.evenkeel.api.DeleteGroup.GroupDeletion;
import dev.evenkeel.api.DeleteTopic.DeletedTopic;
import dev.evenkeel.api.DescribeTopic.LogGroupDetail;
import dev.evenkeel.api.DescribeTopic.ShardDetail;
import dev.evenkeel.api.DescribeTopic.TopicDetail;
import dev.evenkeel.api.DestroyTrack.DestroyedTrack;
import dev.evenkeel.api.ExtendSession.ExtendedSession;
import dev.evenkeel.api.GiveBackClaim.EndedClaim;
import dev.evenkeel.api.GiveResults.RefusedResults;
import dev.evenkeel.api.ListDelayedMessages.DelayedMessages;
import dev.evenkeel.api.ListGroups.GroupSummary;
import dev.evenkeel.api.ListRetries.Retry;
import dev.evenkeel.api.ListUsers.TokenView;
import dev.evenkeel.api.ListUsers.UserDetail;
import dev.evenkeel.api.MoveTrack.MovedTrack;
import dev.evenkeel.api.NodeChangeView.Estimate;
import dev.evenkeel.api.NodeChangeView.Membership;
import dev.evenkeel.api.OpenCandidate.OpenedCandidate;
import dev.evenkeel.api.OpenSession.OpenedSession;
import dev.evenkeel.api.OpenTrack.OpenedTrack;
import dev.evenkeel.api.PauseGroup.PauseResult;
import dev.evenkeel.api.PlanGroup.GroupPlan;
import dev.evenkeel.api.PollMessages.PolledMessages;
import dev.evenkeel.api.Produce.Produced;
import dev.evenkeel.api.RemoveToken.RemovedToken;
import dev.evenkeel.api.RemoveUser.RemovedUser;
import dev.evenkeel.api.ReplayDeadLetters.DeadLetterCount;
import dev.evenkeel.api.ResetGroup.OffsetReset;
import dev.evenkeel.api.ResetGroup.ResetShard;
import dev.evenkeel.api.TopicView.Figures;
import dev.evenkeel.protocol.Quota;
import dev.evenkeel.protocol.QuotaKind;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.TopicConfig;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** All operations of the API. */
public final class Operations {

  private static final List<Operation<?, ?>> ALL = new ArrayList<>();
  private static final Need ADMIN_ALL = Need.of(Need.NO_NAME, ADMIN);

  private Operations() {}

  /** Adds a row. */
  static <Q extends Record, A> Operation<Q, A> add(Operation<Q, A> operation) {
    ALL.add(operation);
    return operation;
  }

  // ---- Topics

  private static final TopicView TOPIC =
      new TopicView("orders", 2, TopicLimits.of(TopicConfig.DEFAULT), 1_795_783_094_863L, null);

  private static final TopicView FULL_TOPIC =
      RecordJson.of(TopicView.class).with(TOPIC, "figures", new Figures(4L, 229L, 0L, 0L, null));

  public static final Operation<ListTopics, List<TopicView>> LIST_TOPICS =
      Operation.listOf(ApiAddresses.TOPICS, "list", ListTopics.class, TopicView.class)
          .get("/api/topics")
          .shows(topic -> Need.seeTopic(text(topic, "name")))
          .example(new ListTopics(), List.of(FULL_TOPIC));

  public static final Operation<CreateTopic, TopicView> CREATE_TOPIC =
      Operation.of(ApiAddresses.TOPICS, "create", CreateTopic.class, TopicView.class)
          .post("/api/topics")
          .status(201)
          .needs("admin:TOPIC", Operations::adminTopic)
          .changes()
          .refuses(Refusal.TOPIC_EXISTS)
          .example(new CreateTopic("orders", 2, TopicLimits.NONE), TOPIC);

  public static final Operation<DescribeTopic, TopicDetail> DESCRIBE_TOPIC =
      Operation.of(ApiAddresses.TOPICS, "get", DescribeTopic.class, TopicDetail.class)
          .get("/api/topics/{topic}")
          .named("topic", "name")
          .needs(
              "view:TOPIC, or any other permission for the topic",
              asked -> Need.seeTopic(text(asked, "name")))
          .refuses(Refusal.UNKNOWN_TOPIC)
          .example(
              new DescribeTopic("orders"),
              new TopicDetail(
                  FULL_TOPIC,
                  List.of(
                      new ShardDetail(0, false, List.of(), 0L, 1L, 67L, 0L, null, "d1", "n1"),
                      new ShardDetail(1, false, List.of(), 0L, 3L, 162L, 0L, null, "d2", "n1")),
                  List.of(
                      new LogGroupDetail("d1", "n1", 317L, 0L, 0L),
                      new LogGroupDetail("d2", "n2", null, null, null))));

  public static final Operation<ConfigureTopic, TopicView> CONFIGURE_TOPIC =
      Operation.of(ApiAddresses.TOPICS, "configure", ConfigureTopic.class, TopicView.class)
          .patch("/api/topics/{topic}")
          .named("topic", "name")
          .elsewhere(
              "shards", "the number of shards is no setting: to change it, reshard the topic")
          .needs("admin:TOPIC", Operations::adminTopic)
          .changes()
          .refuses(Refusal.UNKNOWN_TOPIC)
          .example(
              new ConfigureTopic("orders", TopicLimits.retaining(3_600_000)),
              RecordJson.of(TopicView.class)
                  .with(
                      TOPIC,
                      "limits",
                      TopicLimits.of(TopicLimits.retaining(3_600_000).over(TopicConfig.DEFAULT))));

  public static final Operation<ReshardTopic, TopicView> RESHARD_TOPIC =
      Operation.of(ApiAddresses.TOPICS, "reshard", ReshardTopic.class, TopicView.class)
          .post("/api/topics/{topic}/reshard")
          .named("topic", "name")
          .needs("admin:TOPIC", Operations::adminTopic)
          .changes()
          .refuses(Refusal.UNKNOWN_TOPIC)
          .example(
              new ReshardTopic("orders", 6),
              RecordJson.of(TopicView.class).with(TOPIC, "shards", 6));

  public static final Operation<DeleteTopic, DeletedTopic> DELETE_TOPIC =
      Operation.of(ApiAddresses.TOPICS, "delete", DeleteTopic.class, DeletedTopic.class)
          .delete("/api/topics/{topic}")
          .named("topic", "name")
          .needs("admin:TOPIC", Operations::adminTopic)
          .changes()
          .refuses(Refusal.UNKNOWN_TOPIC)
          .example(new DeleteTopic("orders"), new DeletedTopic("orders", true));

  public static final Operation<AskReady, IsReady> ASK_READY =
      Operation.of(ApiAddresses.TOPICS, "ready", AskReady.class, IsReady.class)
          .example(new AskReady(), new IsReady(true));

  private static Need adminTopic(JsonObject asked) {
    return Need.of(text(asked, "name"), ADMIN);
  }

  // ---- Messages

  public static final Operation<Browse, BrowsedMessages> BROWSE =
      Operation.of(ApiAddresses.MESSAGES, null, Browse.class, BrowsedMessages.class)
          .get("/api/topics/{topic}/messages")
          .ownRoute()
          .busOnly("page")
          .oftenOnly("messages")
          .header("Evenkeel-Next-Offset", "nextOffset")
          .needs("topic", CONSUME)
          .refuses(Refusal.UNKNOWN_TOPIC, Refusal.UNKNOWN_SHARD)
          .example(
              new Browse("orders", 1, 0L, null, null, 1, null),
              new BrowsedMessages(
                  List.of(
                      new MessageView(
                          1,
                          0,
                          TextOrBytes.of("customer-7"),
                          TextOrBytes.of("hello"),
                          1_795_783_094_934L,
                          Map.of("source", TextOrBytes.of("shop")),
                          null,
                          null,
                          null)),
                  null));

  private static final String DELAYED_ID = "1-1795194816800-17-0";

  private static final DelayedMessageView WAITING =
      new DelayedMessageView(
          DELAYED_ID,
          1,
          1_795_194_816_800L,
          Instant.ofEpochMilli(1_795_194_816_800L),
          TextOrBytes.of("c7"),
          TextOrBytes.of("renew"),
          1_795_187_616_794L,
          Map.of(),
          null);

  public static final Operation<ListDelayedMessages, DelayedMessages> LIST_DELAYED_MESSAGES =
      Operation.of(ApiAddresses.DELAYED, "list", ListDelayedMessages.class, DelayedMessages.class)
          .get("/api/topics/{topic}/delayed")
          .under(Heading.MESSAGES)
          .needs("topic", CONSUME)
          .refuses(Refusal.UNKNOWN_TOPIC)
          .example(
              new ListDelayedMessages("orders", "c7", 100, null),
              new DelayedMessages(List.of(WAITING), null));

  public static final Operation<GetDelayedMessage, DelayedMessageView> GET_DELAYED_MESSAGE =
      Operation.of(ApiAddresses.DELAYED, "get", GetDelayedMessage.class, DelayedMessageView.class)
          .get("/api/topics/{topic}/delayed/{id}")
          .under(Heading.MESSAGES)
          .needs("topic", CONSUME)
          .refuses(Refusal.UNKNOWN_TOPIC, Refusal.UNKNOWN_MESSAGE)
          .example(new GetDelayedMessage("orders", DELAYED_ID), WAITING);

  public static final Operation<CancelDelayedMessage, CancelledMessage> CANCEL_DELAYED_MESSAGE =
      Operation.of(
              ApiAddresses.DELAYED, "cancel", CancelDelayedMessage.class, CancelledMessage.class)
          .delete("/api/topics/{topic}/delayed/{id}")
          .under(Heading.MESSAGES)
          .needs("topic", Permission.Kind.PRODUCE, ADMIN)
          .changes()
          .refuses(Refusal.UNKNOWN_TOPIC, Refusal.UNKNOWN_MESSAGE, Refusal.OVERLOADED)
          .example(
              new CancelDelayedMessage("orders", DELAYED_ID),
              new CancelledMessage(DELAYED_ID, true));

  // ---- Quotas

  private static final String ADMIN_QUOTA = "admin:NAME for a topic or group, else admin:*";

  private static final QuotaView LIMITED =
      QuotaView.of(Quota.perSecond(QuotaKind.TOPIC, "orders", 10 << 20, 0));

  public static final Operation<ListQuotas, List<QuotaView>> LIST_QUOTAS =
      Operation.listOf(ApiAddresses.QUOTAS, "list", ListQuotas.class, QuotaView.class)
          .get("/api/quotas")
          .shows(Operations::seeQuota)
          .example(new ListQuotas(), List.of(LIMITED));

  public static final Operation<SetQuota, QuotaView> SET_QUOTA =
      Operation.of(ApiAddresses.QUOTAS, "set", SetQuota.class, QuotaView.class)
          .put("/api/quotas/{kind}/{name}")
          .needs(ADMIN_QUOTA, Operations::adminQuota)
          .changes()
          .example(new SetQuota(QuotaKind.TOPIC, "orders", 10L << 20, null, null), LIMITED);

  public static final Operation<ClearQuota, ClearedQuota> CLEAR_QUOTA =
      Operation.of(ApiAddresses.QUOTAS, "clear", ClearQuota.class, ClearedQuota.class)
          .delete("/api/quotas/{kind}/{name}")
          .needs(ADMIN_QUOTA, Operations::adminQuota)
          .changes()
          .example(
              new ClearQuota(QuotaKind.TOPIC, "orders"),
              new ClearedQuota(QuotaKind.TOPIC, "orders", true));

  public static final Operation<ListShares, List<ShareView>> LIST_SHARES =
      Operation.listOf(ApiAddresses.SHARES, "list", ListShares.class, ShareView.class)
          .get("/api/shares")
          .under(Heading.QUOTAS)
          .shows(share -> Need.seeUser(text(share, "user")))
          .example(new ListShares(), List.of(new ShareView("shop", "sessions", "n1", 12, 1_000)));

  /** Permissions can cover the names of topics and groups, not those of producers and users. */
  private static Need adminQuota(JsonObject asked) {
    boolean named = Set.of("topic", "group", "group-rate").contains(text(asked, "kind"));
    return Need.of(named ? text(asked, "name") : Need.NO_NAME, ADMIN);
  }

  private static Need seeQuota(JsonObject quota) {
    String name = text(quota, "name");
    return switch (text(quota, "kind")) {
      case "topic" -> Need.seeTopic(name);
      case "group", "group-rate" -> Need.seeGroup(name);
      default -> Need.seeAll();
    };
  }

  // ---- Users that the cluster keeps

  private static final String USER_PATH = "/api/users/{user}";
  private static final Instant USER_EXPIRES = Instant.ofEpochMilli(1_798_761_600_000L);

  private static final UserDetail SHOP =
      new UserDetail(
          "shop",
          "cluster",
          false,
          List.of(new TokenView("1c0ffee2", USER_EXPIRES)),
          null,
          1.0,
          List.of("produce:orders"));

  public static final Operation<ListUsers, List<UserDetail>> LIST_USERS =
      Operation.listOf(ApiAddresses.USERS, "list", ListUsers.class, UserDetail.class)
          .get("/api/users")
          .needs("admin:*", asked -> ADMIN_ALL)
          .example(new ListUsers(), List.of(SHOP));

  public static final Operation<PutUser, UserDetail> PUT_USER =
      ofUser("put", PutUser.class, UserDetail.class)
          .put(USER_PATH)
          .named("user", "name")
          .largeBody()
          .example(new PutUser("shop", List.of("produce:orders"), null, null, null), SHOP);

  public static final Operation<RemoveUser, RemovedUser> REMOVE_USER =
      ofUser("remove", RemoveUser.class, RemovedUser.class)
          .delete(USER_PATH)
          .named("user", "name")
          .example(new RemoveUser("shop", null), new RemovedUser("shop", true));

  public static final Operation<AddToken, AddedToken> ADD_TOKEN =
      ofUser("add-token", AddToken.class, AddedToken.class)
          .post(USER_PATH + "/tokens")
          .named("user", "name")
          .mayLackBody()
          .status(201)
          .example(
              new AddToken("shop", "2027-01-01", null),
              new AddedToken("shop", "1c0ffee2", "ek_1c0ffee2_SECRET", USER_EXPIRES));

  public static final Operation<RemoveToken, RemovedToken> REMOVE_TOKEN =
      ofUser("remove-token", RemoveToken.class, RemovedToken.class)
          .delete(USER_PATH + "/tokens/{id}")
          .named("user", "name")
          .example(
              new RemoveToken("shop", "1c0ffee2", null),
              new RemovedToken("shop", "1c0ffee2", true));

  private static <Q extends Record, A extends Record> Operation<Q, A> ofUser(
      String action, Class<Q> question, Class<A> answer) {
    return Operation.of(ApiAddresses.USERS, action, question, answer)
        .needs("admin:*", asked -> ADMIN_ALL)
        .changes();
  }

  // ---- Groups

  private static final String SEE_GROUP = "view:GROUP, group:GROUP or admin:GROUP";

  private static Need seeGroup(JsonObject named) {
    return Need.seeGroup(text(named, "group"));
  }

  public static final Operation<ListGroups, List<GroupSummary>> LIST_GROUPS =
      Operation.listOf(ApiAddresses.GROUPS, "list", ListGroups.class, GroupSummary.class)
          .get("/api/groups")
          .shows(Operations::seeGroup)
          .example(
              new ListGroups(),
              List.of(new GroupSummary("billing", "sharded", "OK", false, 0, 0, 2, 2, 0L)));

  public static final Operation<DescribeGroup, GroupView> DESCRIBE_GROUP =
      Operation.of(ApiAddresses.GROUPS, "get", DescribeGroup.class, GroupView.class)
          .get("/api/groups/{group}")
          .needs(SEE_GROUP, Operations::seeGroup)
          .refuses(UNKNOWN_GROUP)
          .example(new DescribeGroup("billing"), GroupView.example());

  public static final Operation<ResetGroup, OffsetReset> RESET_GROUP =
      Operation.of(ApiAddresses.GROUPS, "reset", ResetGroup.class, OffsetReset.class)
          .post("/api/groups/{group}/offsets")
          .needs("group", ADMIN)
          .changes()
          .largeBody()
          .refuses(UNKNOWN_GROUP, GROUP_ACTIVE)
          .example(
              ResetGroup.of("billing", "12345").ofTopic("orders").ofShard(1).dry(),
              new OffsetReset(
                  "billing",
                  true,
                  List.of(
                      new ResetShard("orders", 1, null, 3L, 12345, "DRY_RUN", null, null, null))));

  public static final Operation<PauseGroup, PauseResult> PAUSE_GROUP =
      Operation.of(ApiAddresses.GROUPS, "pause", PauseGroup.class, PauseResult.class)
          .post("/api/groups/{group}/pause")
          .mayLackBody()
          .needs("group", ADMIN)
          .changes()
          .refuses(UNKNOWN_GROUP)
          .example(
              new PauseGroup("billing", "orders", 1),
              new PauseResult("billing", "orders", 1, true));

  public static final Operation<ResumeGroup, PauseResult> RESUME_GROUP =
      Operation.of(ApiAddresses.GROUPS, "resume", ResumeGroup.class, PauseResult.class)
          .post("/api/groups/{group}/resume")
          .mayLackBody()
          .needs("group", ADMIN)
          .changes()
          .refuses(UNKNOWN_GROUP)
          .example(
              new ResumeGroup("billing", "orders", 1),
              new PauseResult("billing", "orders", 1, false));

  public static final Operation<PlanGroup, GroupPlan> PLAN_GROUP =
      Operation.of(ApiAddresses.GROUPS, "plan", PlanGroup.class, GroupPlan.class)
          .post("/api/groups/{group}/plan")
          .mayLackBody()
          .needs("view:GROUP", Operations::seeGroup)
          .refuses(UNKNOWN_GROUP)
          .example(
              PlanGroup.of("billing").adding(2).removing("c1"),
              new GroupPlan(
                  List.of(new PlanGroup.Move("orders", 1, "c1", "new-1")),
                  Map.of("c2", List.of("orders/0")),
                  Map.of("c2", new PlanGroup.Load(1, 12L, 0.4, 2048.5))));

  public static final Operation<DeleteGroup, GroupDeletion> DELETE_GROUP =
      Operation.of(ApiAddresses.GROUPS, "delete", DeleteGroup.class, GroupDeletion.class)
          .delete("/api/groups/{group}")
          .needs("group", ADMIN)
          .changes()
          .refuses(UNKNOWN_GROUP, GROUP_ACTIVE)
          .example(
              new DeleteGroup("billing", null, false),
              new GroupDeletion(
                  "billing",
                  null,
                  false,
                  List.of(new DeletedShard("orders", 0, 0L, 1L, 1L, 0L, 0L, 0L)),
                  null));

  public static final Operation<ListRebalances, List<MoveView>> LIST_REBALANCES =
      Operation.listOf(ApiAddresses.GROUPS, "rebalances", ListRebalances.class, MoveView.class)
          .get("/api/rebalances")
          .needs(null, asked -> asked.getValue("group") == null ? null : seeGroup(asked))
          .shows(Operations::seeGroup)
          .example(
              new ListRebalances("billing", 2_000),
              List.of(
                  new MoveView(
                      Instant.parse("2026-11-27T12:38:23.065Z"),
                      "billing",
                      "orders",
                      0,
                      "a",
                      "b",
                      "member joined",
                      36L,
                      20L,
                      0L,
                      false,
                      2L)));

  // ---- Sending

  public static final Operation<Produce, Produced> PRODUCE =
      Operation.of(ApiAddresses.PRODUCE, null, Produce.class, Produced.class)
          .post("/api/topics/{topic}/messages")
          .under(Heading.MESSAGES)
          .ownRoute()
          .needs("topic", Permission.Kind.PRODUCE)
          .refuses(UNKNOWN_TOPIC, Refusal.PRODUCER_FENCED, Refusal.OVERLOADED)
          .example(
              new Produce(
                  "orders",
                  "majority",
                  new NewMessage(
                      TextOrBytes.of("customer-7"),
                      TextOrBytes.of("hello"),
                      Map.of("source", TextOrBytes.of("shop")),
                      null,
                      null,
                      null),
                  null),
              new Produced(new Position(1, 0L, null, null, null, null, List.of()), null));

  // ---- Messages that failed

  public static final Operation<ListRetries, List<Retry>> LIST_RETRIES =
      Operation.listOf(ApiAddresses.GROUPS, "retries", ListRetries.class, Retry.class)
          .get("/api/groups/{group}/retries")
          .under(Heading.DEAD_LETTERS)
          .needs("group", GROUP, ADMIN)
          .refuses(UNKNOWN_TOPIC)
          .example(
              new ListRetries("billing", null, 100),
              List.of(
                  new Retry(
                      "orders",
                      1,
                      2,
                      false,
                      false,
                      2,
                      4_200L,
                      Instant.parse("2026-11-27T12:38:17.500Z"),
                      Instant.parse("2026-11-27T12:38:17.638Z"))));

  private static final String OF_GROUP = "/api/groups/{group}/dead-letters";

  private static final DeadLetterView GIVEN_UP =
      new DeadLetterView(
          "orders",
          1,
          2,
          TextOrBytes.of("c2"),
          TextOrBytes.of("poison"),
          2,
          "java.lang.IllegalStateException: no such customer",
          Instant.parse("2026-11-27T12:38:17.500Z"),
          Instant.parse("2026-11-27T12:38:17.638Z"));

  private static final List<String> LETTER_CONTENTS = List.of("key", "payload");

  private static final String READ_LETTER =
      "group:GROUP or consume:TOPIC to see the key and the payload";

  private static Stream<Need> readLetter(JsonObject asked, JsonObject letter) {
    return Stream.of(Need.of(text(asked, "group"), GROUP), Need.of(text(letter, "topic"), CONSUME));
  }

  public static final Operation<ListDeadLetters, List<DeadLetterView>> LIST_DEAD_LETTERS =
      Operation.listOf(
              ApiAddresses.GROUPS, "dead-letters", ListDeadLetters.class, DeadLetterView.class)
          .get(OF_GROUP)
          .under(Heading.DEAD_LETTERS)
          .needs("group", GROUP, ADMIN)
          .contents(READ_LETTER, LETTER_CONTENTS, Operations::readLetter)
          .refuses(UNKNOWN_TOPIC)
          .example(new ListDeadLetters("billing", null, 100), List.of(GIVEN_UP));

  public static final Operation<DescribeDeadLetter, DeadLetterView> DESCRIBE_DEAD_LETTER =
      Operation.of(
              ApiAddresses.GROUPS, "dead-letter", DescribeDeadLetter.class, DeadLetterView.class)
          .get(OF_GROUP + "/{topic}/{shard}/{offset}")
          .joined("deadLetter", DescribeDeadLetter.Origin.class)
          .under(Heading.DEAD_LETTERS)
          .needs("group", GROUP, ADMIN)
          .contents(READ_LETTER, LETTER_CONTENTS, Operations::readLetter)
          .refuses(UNKNOWN_TOPIC)
          .example(new DescribeDeadLetter("billing", "orders/1/2"), GIVEN_UP);

  public static final Operation<ReplayDeadLetters, DeadLetterCount> REPLAY_DEAD_LETTERS =
      Operation.of(ApiAddresses.GROUPS, "replay", ReplayDeadLetters.class, DeadLetterCount.class)
          .post(OF_GROUP + "/replay")
          .largeBody()
          .under(Heading.DEAD_LETTERS)
          .needs("group", ADMIN)
          .changes()
          .refuses(UNKNOWN_TOPIC)
          .example(
              new ReplayDeadLetters("billing", List.of("orders/1/2", "orders/1/5"), false, false),
              new DeadLetterCount("billing", 2, false));

  public static final Operation<DropDeadLetters, DeadLetterCount> DROP_DEAD_LETTERS =
      Operation.of(ApiAddresses.GROUPS, "drop", DropDeadLetters.class, DeadLetterCount.class)
          .post(OF_GROUP + "/drop")
          .largeBody()
          .under(Heading.DEAD_LETTERS)
          .needs("group", ADMIN)
          .changes()
          .refuses(UNKNOWN_TOPIC)
          .example(
              new DropDeadLetters("billing", null, true, false),
              new DeadLetterCount("billing", 1, false));

  // ---- The cluster

  private static final String NODE = "/api/cluster/nodes/{node}";

  private static final Estimate NOTHING_LEFT = new Estimate(0, null);

  private static final ReplacementView REPLACED =
      new ReplacementView(
          "n2",
          ReplacementView.State.DONE,
          new ReplacementView.Progress(
              new TreeMap<>(
                  Map.of("meta", ReplacementView.Step.ADDED, "d0", ReplacementView.Step.ADDED)),
              null));

  public static final Operation<DescribeCluster, ClusterStatusView> DESCRIBE_CLUSTER =
      Operation.of(ApiAddresses.CLUSTER, "status", DescribeCluster.class, ClusterStatusView.class)
          .get("/api/cluster")
          .needs("view or admin for any name", asked -> Need.of(null, VIEW, ADMIN))
          .example(new DescribeCluster(), ClusterStatusView.example());

  public static final Operation<GetNodeChange, NodeChangeView> GET_NODE_CHANGE =
      ofNode("membership", GetNodeChange.class, NodeChangeView.class)
          .get(NODE)
          .example(new GetNodeChange("n2"), running(Membership.DRAINING));

  public static final Operation<AdmitNode, NodeChangeView> ADMIT_NODE =
      ofNode("admit", AdmitNode.class, NodeChangeView.class)
          .post(NODE + "/admit")
          .changes()
          .example(new AdmitNode("n4"), done("n4", Membership.ADMITTED, null));

  public static final Operation<DrainNode, NodeChangeView> DRAIN_NODE =
      ofNode("drain", DrainNode.class, NodeChangeView.class)
          .post(NODE + "/drain")
          .changes()
          .example(new DrainNode("n2"), running(Membership.DRAINING));

  public static final Operation<UndrainNode, NodeChangeView> UNDRAIN_NODE =
      ofNode("undrain", UndrainNode.class, NodeChangeView.class)
          .post(NODE + "/undrain")
          .changes()
          .example(new UndrainNode("n2"), done("n2", Membership.MEMBER, NOTHING_LEFT));

  public static final Operation<RemoveNode, NodeChangeView> REMOVE_NODE =
      ofNode("remove", RemoveNode.class, NodeChangeView.class)
          .post(NODE + "/remove")
          .changes()
          .example(new RemoveNode("n2"), running(Membership.LEAVING));

  public static final Operation<ReplaceNode, ReplacementView> REPLACE_NODE =
      ofNode("replace", ReplaceNode.class, ReplacementView.class)
          .post(NODE + "/replace")
          .changes()
          .example(new ReplaceNode("n2"), REPLACED);

  public static final Operation<GetReplacement, ReplacementView> GET_REPLACEMENT =
      ofNode("replacement", GetReplacement.class, ReplacementView.class)
          .get(NODE + "/replace")
          .example(new GetReplacement("n2"), REPLACED);

  private static <Q extends Record, A extends Record> Operation<Q, A> ofNode(
      String action, Class<Q> question, Class<A> answer) {
    return Operation.of(ApiAddresses.CLUSTER, action, question, answer)
        .needs("admin:*", asked -> ADMIN_ALL);
  }

  private static NodeChangeView running(Membership membership) {
    return new NodeChangeView(
        "n2",
        NodeChangeView.State.RUNNING,
        membership,
        Map.of("d0", "waiting"),
        new Estimate(1 << 20, null),
        null);
  }

  private static NodeChangeView done(
      String node, Membership membership, @Nullable Estimate estimate) {
    return new NodeChangeView(
        node, NodeChangeView.State.DONE, membership, Map.of(), estimate, null);
  }

  // ---- Sessions that consume

  private static final String OPENED = "/api/groups/{group}/sessions";
  private static final String SESSION = OPENED + "/{session}";

  private static final InSession IN_SESSION =
      new InSession(
          "billing", "5b0e6c1f8c8f4a0f9f0a1f4e5d6c7b8a.0f3c2d1e0b9a48c7a6d5e4f3a2b1c0d9", null);

  private static final List<PolledMessageView> POLLED =
      List.of(
          new PolledMessageView(
              "orders",
              2,
              17,
              4,
              TextOrBytes.of("k1"),
              Map.of("type", TextOrBytes.of("refund")),
              TextOrBytes.of("hello"),
              1,
              1_795_187_616_802L,
              null,
              null));

  public static final Operation<OpenSession, OpenedSession> OPEN_SESSION =
      Operation.of(ApiAddresses.SESSIONS, "open", OpenSession.class, OpenedSession.class)
          .post(OPENED)
          .under(Heading.CONSUME)
          .status(201)
          .needs("group", GROUP)
          .needsAll("consume:TOPIC for each topic", Operations::consumeTopics)
          .refuses(Refusal.UNKNOWN_TOPIC, Refusal.GROUP_MISMATCH, Refusal.OVERLOADED)
          .example(
              new OpenSession(
                  "billing",
                  List.of("orders.*"),
                  "c1",
                  "sharded",
                  "key",
                  100,
                  null,
                  null,
                  "off",
                  null,
                  "retry",
                  5,
                  50_000,
                  null,
                  null,
                  "earliest",
                  null,
                  null,
                  30_000,
                  null),
              new OpenedSession(IN_SESSION.session(), "c1", 30_000));

  public static final Operation<CloseSession, ClosedSession> CLOSE_SESSION =
      inSession("close", CloseSession.class, ClosedSession.class)
          .delete(SESSION)
          .status(204)
          .example(new CloseSession(IN_SESSION), new ClosedSession(IN_SESSION.session()));

  public static final Operation<PollMessages, PolledMessages> POLL_MESSAGES =
      inSession("messages", PollMessages.class, PolledMessages.class)
          .get(SESSION + "/messages")
          .ownRoute()
          .needsForAnswer("consume:TOPIC", Operations::consumeMessages)
          .refuses(Refusal.OVERLOADED)
          .example(new PollMessages(IN_SESSION, 10, 5_000, false), new PolledMessages(POLLED));

  public static final Operation<StreamMessages, List<PolledMessageView>> STREAM_MESSAGES =
      Operation.eventsOf(
              StreamMessages.class,
              PolledMessageView.class,
              message ->
                  "%s/%s/%s"
                      .formatted(
                          message.getValue("topic"),
                          message.getValue("shard"),
                          message.getValue("offset")))
          .get(SESSION + "/events")
          .under(Heading.CONSUME)
          .needs("group", GROUP)
          .needsForAnswer("consume:TOPIC", Operations::consumeMessages)
          .refuses(Refusal.UNKNOWN_SESSION, Refusal.OVERLOADED)
          .example(new StreamMessages(IN_SESSION), POLLED);

  public static final Operation<GiveResults, RefusedResults> GIVE_RESULTS =
      inSession("results", GiveResults.class, RefusedResults.class)
          .post(SESSION + "/results")
          .largeBody()
          .example(
              new GiveResults(
                  IN_SESSION,
                  List.of(new GiveResults.Place("orders", 2, 17, 4)),
                  List.of(
                      new GiveResults.Failed(
                          new GiveResults.Place("orders", 2, 18, 4), "the database is away"))),
              new RefusedResults(
                  List.of(
                      new GiveResults.Refused(
                          new GiveResults.Place("orders", 2, 17, 4), "FENCED"))));

  /** HTTP asks it for callers who have gone. */
  public static final Operation<AbandonPoll, AbandonedPoll> ABANDON_POLL =
      inSession("abandon", AbandonPoll.class, AbandonedPoll.class)
          .example(new AbandonPoll(IN_SESSION), new AbandonedPoll(IN_SESSION.session()));

  public static final Operation<ExtendSession, ExtendedSession> EXTEND_SESSION =
      inSession("extend", ExtendSession.class, ExtendedSession.class)
          .post(SESSION + "/extend")
          .example(
              new ExtendSession(IN_SESSION), new ExtendedSession(IN_SESSION.session(), 30_000));

  private static <Q extends Record, A extends Record> Operation<Q, A> inSession(
      String action, Class<Q> question, Class<A> answer) {
    return Operation.of(ApiAddresses.SESSIONS, action, question, answer)
        .under(Heading.CONSUME)
        .needs("group", GROUP)
        .refuses(Refusal.UNKNOWN_SESSION);
  }

  // ---- Tracks of coordinators

  private static final String TRACKS = "/api/coordinators/{coordinator}/tracks";

  private static final InTrack IN_TRACK =
      new InTrack(
          "walk", "5b0e6c1f8c8f4a0f9f0a1f4e5d6c7b8a.9d8c7b6a5f4e3d2c1b0a9f8e7d6c5b4a", null);

  public static final Operation<OpenTrack, OpenedTrack> OPEN_TRACK =
      Operation.of(ApiAddresses.COORDINATORS, "open", OpenTrack.class, OpenedTrack.class)
          .post(TRACKS)
          .mayLackBody()
          .status(201)
          .needs("coordinator", GROUP)
          .refuses(Refusal.GROUP_MISMATCH, Refusal.OVERLOADED)
          .example(
              new OpenTrack("walk", "walker-1", 10, 5_000, 30_000, null),
              new OpenedTrack(IN_TRACK.track(), "walker-1", 120, 30_000));

  public static final Operation<MoveTrack, MovedTrack> MOVE_TRACK =
      inTrack("move", MoveTrack.class, MovedTrack.class)
          .post(TRACKS + "/{track}/moves")
          .mayLackBody()
          .refuses(Refusal.MEMBER_REPLACED, Refusal.FENCED, Refusal.OVERLOADED)
          .example(new MoveTrack(IN_TRACK, 5, 15_000), new MovedTrack(3, 123));

  public static final Operation<DestroyTrack, DestroyedTrack> DESTROY_TRACK =
      inTrack("destroy", DestroyTrack.class, DestroyedTrack.class)
          .delete(TRACKS + "/{track}")
          .status(204)
          .example(new DestroyTrack(IN_TRACK), new DestroyedTrack(IN_TRACK.track()));

  private static <Q extends Record, A extends Record> Operation<Q, A> inTrack(
      String action, Class<Q> question, Class<A> answer) {
    return Operation.of(ApiAddresses.COORDINATORS, action, question, answer)
        .needs("coordinator", GROUP)
        .refuses(Refusal.UNKNOWN_SESSION);
  }

  private static Stream<Need> consumeTopics(JsonObject asked) {
    return asked.getValue("topics") instanceof JsonArray topics
        ? topics.stream()
            .map(each -> Need.of(each instanceof String name ? name : Need.NO_NAME, CONSUME))
        : Stream.of();
  }

  /** The permission may have been taken away since the session was opened. */
  private static Stream<Need> consumeMessages(JsonObject answer) {
    return answer.getValue("messages") instanceof JsonArray messages
        ? messages.stream().map(each -> Need.of(text((JsonObject) each, "topic"), CONSUME))
        : Stream.of();
  }

  // ---- Claims of keys

  private static final String CLAIMS = "/api/dedup/{dedup}/claims";
  private static final String CLAIM = CLAIMS + "/{claim}";

  private static final InClaim IN_CLAIM =
      new InClaim(
          "page-cache", "5b0e6c1f8c8f4a0f9f0a1f4e5d6c7b8a.7d2c4b1a0f9e48d7b6c5a4f3e2d1c0b9", null);

  public static final Operation<ClaimKey, ClaimView> CLAIM_KEY =
      Operation.of(ApiAddresses.DEDUP, "claim", ClaimKey.class, ClaimView.class)
          .post(CLAIMS)
          .under(Heading.DEDUP)
          .status(201)
          .needs("dedup", GROUP)
          .refuses(Refusal.OVERLOADED)
          .example(
              new ClaimKey("page-cache", "/news", 10_000, 30_000, 60_000, null),
              new ClaimView(IN_CLAIM.claim(), "working", 30_000));

  public static final Operation<AwaitClaim, ClaimView> AWAIT_CLAIM =
      inClaim("await", AwaitClaim.class, ClaimView.class)
          .get(CLAIM)
          .example(
              new AwaitClaim(IN_CLAIM, 10_000), new ClaimView(IN_CLAIM.claim(), "waiting", 30_000));

  public static final Operation<GiveBackClaim, EndedClaim> GIVE_BACK_CLAIM =
      inClaim("giveBack", GiveBackClaim.class, EndedClaim.class)
          .delete(CLAIM)
          .example(new GiveBackClaim(IN_CLAIM), new EndedClaim(IN_CLAIM.claim(), true));

  private static <Q extends Record, A extends Record> Operation<Q, A> inClaim(
      String action, Class<Q> question, Class<A> answer) {
    return Operation.of(ApiAddresses.DEDUP, action, question, answer)
        .under(Heading.DEDUP)
        .needs("dedup", GROUP)
        .refuses(Refusal.UNKNOWN_SESSION);
  }

  // ---- Elections

  private static final String CANDIDATES = "/api/elections/{election}/candidates";
  private static final String CANDIDATE = CANDIDATES + "/{candidate}";

  private static final InElection IN_ELECTION =
      new InElection(
          "nightly", "5b0e6c1f8c8f4a0f9f0a1f4e5d6c7b8a.0f3c2d1e0b9a48c7a6d5e4f3a2b1c0d9", null);

  public static final Operation<OpenCandidate, OpenedCandidate> OPEN_CANDIDATE =
      Operation.of(ApiAddresses.ELECTIONS, "open", OpenCandidate.class, OpenedCandidate.class)
          .post(CANDIDATES)
          .mayLackBody()
          .status(201)
          .needs("group:ELECTION", Operations::joinElection)
          .refuses(Refusal.GROUP_MISMATCH, Refusal.OVERLOADED)
          .example(
              new OpenCandidate("nightly", "c1", 30_000, 50_000, null),
              new OpenedCandidate(IN_ELECTION.candidate(), "c1", 30_000));

  public static final Operation<WatchCandidate, CandidateView> WATCH_CANDIDATE =
      inElection("watch", WatchCandidate.class, CandidateView.class)
          .get(CANDIDATE)
          .ownRoute()
          .example(
              new WatchCandidate(IN_ELECTION, 15_000, null, false),
              new CandidateView(true, 7L, false));

  public static final Operation<ResignCandidate, CandidateView> RESIGN_CANDIDATE =
      inElection("resign", ResignCandidate.class, CandidateView.class)
          .post(CANDIDATE + "/resign")
          .refuses(Refusal.FENCED)
          .example(new ResignCandidate(IN_ELECTION, 7), new CandidateView(false, 7L, true));

  public static final Operation<HandedOver, CandidateView> HANDED_OVER =
      inElection("handedOver", HandedOver.class, CandidateView.class)
          .post(CANDIDATE + "/handed-over")
          .refuses(Refusal.FENCED)
          .example(new HandedOver(IN_ELECTION, 7), new CandidateView(false, null, false));

  public static final Operation<CloseCandidate, ClosedCandidate> CLOSE_CANDIDATE =
      inElection("close", CloseCandidate.class, ClosedCandidate.class)
          .delete(CANDIDATE)
          .status(204)
          .example(new CloseCandidate(IN_ELECTION), new ClosedCandidate(IN_ELECTION.candidate()));

  /** HTTP asks it for callers who have gone. */
  public static final Operation<AbandonWatch, AbandonedWatch> ABANDON_WATCH =
      inElection("abandon", AbandonWatch.class, AbandonedWatch.class)
          .example(new AbandonWatch(IN_ELECTION), new AbandonedWatch(IN_ELECTION.candidate()));

  private static <Q extends Record, A extends Record> Operation<Q, A> inElection(
      String action, Class<Q> question, Class<A> answer) {
    return Operation.of(ApiAddresses.ELECTIONS, action, question, answer)
        .needs("group:ELECTION", Operations::joinElection)
        .refuses(Refusal.UNKNOWN_SESSION);
  }

  /** An election is a group. */
  private static Need joinElection(JsonObject asked) {
    return Need.of(text(asked, "election"), GROUP);
  }

  // ---- Users, and the node

  private static final UserView USER = new UserView("shop", List.of("produce:orders"));
  private static final String USER_SESSION = "/api/session";

  public static final Operation<WhoAmI, UserView> WHO_AM_I =
      Operation.http(WhoAmI.class, UserView.class)
          .get(USER_SESSION)
          .under(Heading.SESSION)
          .example(new WhoAmI(), USER);

  public static final Operation<LogIn, UserView> LOG_IN =
      Operation.http(LogIn.class, UserView.class)
          .post(USER_SESSION)
          .under(Heading.SESSION)
          .open()
          .refuses(Refusal.UNAUTHENTICATED)
          .example(new LogIn("ek_0f3a91bc_SECRET"), USER);

  public static final Operation<LogOut, UserView> LOG_OUT =
      Operation.http(LogOut.class, UserView.class)
          .delete(USER_SESSION)
          .under(Heading.SESSION)
          .open()
          .example(new LogOut(), new UserView(null, null));

  public static final Operation<Watch, Watch.Frames> WATCH =
      Operation.http(Watch.class, Watch.Frames.class)
          .get("/ws/live")
          .under(Heading.CLUSTER)
          .status(101)
          .needs("view or admin for any name", asked -> null)
          .example(new Watch(), new Watch.Frames());

  private static final HealthView UP = new HealthView(HealthView.Status.UP, "n1", null);

  public static final Operation<Live, HealthView> LIVE =
      Operation.http(Live.class, HealthView.class)
          .get("/health/live")
          .under(Heading.NODE)
          .open()
          .example(new Live(), UP);

  public static final Operation<Ready, HealthView> READY =
      Operation.http(Ready.class, HealthView.class)
          .get("/health/ready")
          .under(Heading.NODE)
          .open()
          .example(new Ready(), UP);

  public static final Operation<Metrics, Metrics.Text> METRICS =
      Operation.http(Metrics.class, Metrics.Text.class)
          .get("/metrics")
          .under(Heading.NODE)
          .needs("view:*", asked -> null)
          .example(new Metrics(), new Metrics.Text());

  public static final Operation<Openapi, Openapi.Document> OPENAPI =
      Operation.http(Openapi.class, Openapi.Document.class)
          .get("/openapi.json")
          .under(Heading.NODE)
          .open()
          .example(new Openapi(), new Openapi.Document());

  // ---- All

  public static List<Operation<?, ?>> all() {
    return Collections.unmodifiableList(ALL);
  }

  /** The operation of an address and action; null: there is none. */
  public static @Nullable Operation<?, ?> find(String address, @Nullable Object action) {
    for (Operation<?, ?> each : ALL) {
      if (address.equals(each.address())
          && (each.action() == null || each.action().equals(action))) {
        return each;
      }
    }
    return null;
  }

  /**
   * The operation that a question is of.
   *
   * @throws RefusedException INVALID if its address has no such action
   */
  public static Operation<?, ?> of(String address, JsonObject question) {
    Object action = question.getValue(Operation.ACTION);
    Operation<?, ?> found = find(address, action);
    if (found == null) {
      if (!(action instanceof String)) {
        throw Refusal.INVALID.error("the field 'action' is missing, or no string");
      }
      List<String> known =
          ALL.stream()
              .filter(each -> address.equals(each.address()))
              .map(Operation::action)
              .toList();
      throw Refusal.INVALID.error(
          "unknown action '%s': use %s",
          action, String.join(", ", known).replaceFirst(", ([^,]*)$", " or $1"));
    }
    return found;
  }
}
