package dev.evenkeel.model;

/**
 * What the documentation promises to users, in its own words, and who checks it: {@link
 * PromisesTest} sees that the words stand in their page, and that somebody checks them. Whoever of
 * the model finds a promise broken names it.
 */
public enum Promise {
  // ---- The model checks these.

  STORED_ONCE("applications/produce.md", "Repeats do not duplicate or reorder messages"),
  REFUSED("applications/produce.md", "`TOO_LARGE`, `INVALID`, `UNKNOWN_TOPIC` | no"),
  SENT_IN_ORDER("applications/produce.md", "in the order in which they were sent"),
  ONE_SHARD_A_KEY("applications/produce.md", "Messages of one key stay in one shard"),
  CONTENT("applications/consume.md", "has the `key()`, the `headers()`, the `timestampMillis()`"),

  IN_TIME("delay.md", "Not before its time,"),
  DELAYED_ORDER("delay.md", "the one that is due first is delivered first"),
  CANCELLED("delay.md", "After the answer, no consumer gets the message."),
  CANCELLED_OR_DELIVERED("delay.md", "either the message is delivered, or it is cancelled"),
  DELAYED_LIST("delay.md", "A list has the messages of all shards, the first due first."),

  NOTHING_IS_LOST("at-least-once.md", "No message is ever missing, but a message may come twice."),
  NOT_AGAIN(
      "at-least-once.md",
      "a shard moves, or the consumer is closed | nothing comes again, with two"),
  AT_MOST_ONCE("at-most-once.md", "A message may be missing, but it never comes twice."),
  FROM_LATEST("applications/consume.md", "where a new group begins"),
  FILTERED("applications/consume.md", "Nodes leave out the other messages"),
  ONE_AT_A_TIME("applications/consume.md", "Each shard has one owner"),
  ORDER_OF_SHARDS(
      "applications/consume.md", "`shard` | it handles one message of a shard after another"),
  ORDER_OF_KEYS("applications/consume.md", "`key` | it handles one message of a key after another"),
  PARALLEL("applications/consume.md", "how many handlers run at once at most, over all shards"),
  BATCH("applications/consume.md", "at least one, and at most `batchMessages`"),
  EPOCHS_GROW("applications/consume.md", "`delivery.epoch()` grows with each owner of a shard."),
  CLOSED("applications/consume.md", "waits for the handlers that run, commits, releases"),
  PAUSED("command-line/groups.md", "From then on, no handler starts."),

  ATTEMPTS("command-line/failures.md", "With n pauses, a message is tried n + 1 times."),
  DEADLY("command-line/failures.md", "no handler gets it any more"),
  ATTEMPT_NUMBERS("applications/consume.md", "`delivery.attempt()` counts the attempts, from 1."),
  DEAD_LETTERS("command-line/dead-letters.md", "because every attempt to handle it failed"),
  LETTER_FACTS("http/dead-letters.md", "How often the group tried the message."),
  SKIPPED_IS_SAID(
      "operate/retention.md", "the topic counts them in `messagesDropped`, and each such group"),

  STATE_COMES_ALONG(
      "applications/state.md", "What `onRelease` returns on one member is what `onAssign` gets"),
  ASSIGNED_FIRST("applications/state.md", "`onAssign` is called before the first message of a"),
  STATE_IS_EXACT("effectively-once.md", "is as if the message came once"),
  OUTPUTS("applications/state.md", "sent when its future has succeeded"),
  OUTPUTS_ONCE("applications/state.md", "An input that comes again publishes nothing twice"),
  OUTPUTS_IN_ORDER("at-least-once.md", "in the log only once, and in the order of the inputs"),
  NO_OUTPUTS("applications/state.md", "If the future fails, nothing is published."),

  DEDUP_ONE("dedup.md", "For each key, at most one message works and one waits."),
  DEDUP_LATER("dedup.md", "The waiting message of its key starts after it was declined."),
  DEDUP_EMPTY("dedup.md", "A key costs nothing while no message works or waits for it."),
  RATE("rates.md", "In any time t, at most `number × (1 + t / period)` messages begin."),
  RATE_DROPS("rates.md", "so a message runs after the last one of a flood"),
  LEVEL("level.md", "any two live members differ by at most `range` finished messages"),
  TERMS_GROW("singleton.md", "Each leader has a higher term than the one before"),
  ENDS_FIRST("singleton.md", "The former leader ends first."),
  EPOCH_OF_BROADCAST("broadcast.md", "The `epoch` of every message is 1"),

  OLD_EPOCHS(
      "http/consume.md",
      "the message has a result already, or its shard has gone to another member"),
  QUOTA_WAITS("operate/quotas.md", "A quota is no reason to give up."),
  HTTP_AGAIN("http/consume.md", "gives again what the session has got and has no result for"),
  ANSWERS("applications/administer.md", "a request takes up to about 30 s"),
  TOPICS_AGREE("applications/administer.md", "creates, lists, describes and deletes topics"),
  COMMITTED("command-line/groups.md", "the offset where the next owner begins"),
  CONSUMED("command-line/groups.md", "the messages that the member has finished since it joined"),
  LAG("command-line/groups.md", "`LAG` | the messages that are not finished"),

  ELECTION_LEADS("election.md", "One of them leads."),
  ELECTION_TERMS("election.md", "No two candidates ever have the same term"),
  ELECTION_SERIAL("election.md", "runs at a time, also over several terms"),
  ELECTION_ENDS_FIRST("election.md", "The leader before ends first."),
  ELECTION_STOPS("election.md", "It begins no call when it sees its connection lost"),
  ELECTION_STAYS("election.md", "A candidate that joins never takes the lead away."),
  ELECTION_CLOSE("election.md", "Hands over if it leads, and leaves the election."),

  DEDUP_SERVICE_ONE("dedup-service.md", "says whether nobody else works on the key now"),
  DEDUP_SERVICE_DECLINES(
      "dedup-service.md", "another claim works, and one waits | returns false at once"),
  DEDUP_SERVICE_ANSWERS("dedup-service.md", "the claim that waits begins later, so it sees"),
  DEDUP_SERVICE_HELD("dedup-service.md", "completes with whether the claim had it until then"),
  DEDUP_SERVICE_FREES("dedup-service.md", "The keys of a dead program are free"),

  TRACKS_LEVEL("coordinator.md", "No track is ever more than the range ahead of another one"),
  TRACKS_BEGIN("coordinator.md", "A track begins where the slowest one stands"),
  TRACKS_GO_ON("coordinator.md", "it is set aside after `idleMillis`, and they go on"),

  ADDRESS_HEADERS("applications/address.md", "the group, and the member that sends"),

  // ---- Other pages say the same in other words.

  BROADCAST_DELIVERY("broadcast.md", "At least once for each member.", NOTHING_IS_LOST),
  BROADCAST_CLOSE("broadcast.md", "No message comes again, unless messages", NOT_AGAIN),
  BROADCAST_ORDER("broadcast.md", "`shard`, `key` or `none`, within each", ORDER_OF_SHARDS),
  BROADCAST_RATES("broadcast.md", "Rates work.", RATE),
  LEADER_DELIVERY("singleton.md", "Delivery is at least once", NOTHING_IS_LOST),
  LEADER_RATES("singleton.md", "Rates work in this mode.", RATE),
  LEVEL_LEAVES("level.md", "gives the rest back; no message comes twice", NOT_AGAIN),
  LEVEL_COMMANDS("command-line/consume-modes.md", "two members never differ by more", LEVEL),
  TIMESTAMP("delay.md", "The message keeps the timestamp of its sending.", CONTENT),
  DELAYED_ONCE("delay.md", "A delayed message enters its shard once", STORED_ONCE),
  DELAYED_SHARD("delay.md", "The shard is chosen when the message is sent.", ONE_SHARD_A_KEY),
  AT_LEAST_ONCE_COMMANDS(
      "command-line/consume.md", "may repeat messages, but loses none", NOTHING_IS_LOST),
  AT_MOST_ONCE_COMMANDS(
      "command-line/consume.md", "may lose messages, but repeats none", AT_MOST_ONCE),
  EXACT_COMMANDS("command-line/consume.md", "counts each message once.", STATE_IS_EXACT),
  AT_MOST_ONCE_MOVES(
      "at-most-once.md", "nothing is missing, unless the lock time is over first", NOTHING_IS_LOST),
  AT_MOST_ONCE_FAILS("at-most-once.md", "It is not tried again and does not", AT_MOST_ONCE),
  OUTPUTS_AFTER_A_LOST_ANSWER(
      "effectively-once.md", "the message is sent again, and is in the log once", OUTPUTS_ONCE),
  FAILED_KEEPS_NOTHING(
      "effectively-once.md", "nothing of that attempt is published or kept", NO_OUTPUTS),
  PATTERNS("applications/consume.md", "from their first message on", NOTHING_IS_LOST),
  ORDER_HOLDS("applications/consume.md", "Order holds through retries, handovers", ORDER_OF_KEYS),
  KEPT_UNTIL_CONSUMED("operate/retention.md", "until every group that reads", NOTHING_IS_LOST),
  LATEST_FROM_THE_JOIN(
      "operate/reshard.md", "gets every message that is sent after its first", NOTHING_IS_LOST),
  RESHARD_LOSES_NOTHING("operate/reshard.md", "Nothing is lost or sent twice.", STORED_ONCE),
  RESHARD_KEEPS_ORDER("operate/reshard.md", "stay in order, in every mode", ORDER_OF_KEYS),
  RESET_BRINGS_AGAIN(
      "command-line/groups.md", "an earlier position to consume messages again", NOTHING_IS_LOST),
  PAUSE_LASTS("command-line/groups.md", "It survives restarts of nodes and members", PAUSED),
  DUE_WHEN_SENT(
      "delay.md", "If a message is due already when you send it, it is delivered", NOTHING_IS_LOST),

  ELECTION_HANDS_OVER("election.md", "leads again at the next term", ELECTION_LEADS),
  DEDUP_SERVICE_WITHOUT_ANSWER(
      "dedup-service.md", "If the cluster does not answer, it fails", DEDUP_SERVICE_ANSWERS),
  DEDUP_SERVICE_TIMEOUT(
      "dedup-service.md", "A claim that works longer loses its key", DEDUP_SERVICE_ONE),
  TRACKS_OF_THE_DEAD("coordinator.md", "The others go on after its member timeout.", TRACKS_GO_ON),
  TRACKS_COME_BACK("coordinator.md", "brings it back where the slowest track stands", TRACKS_LEVEL),
  ADDRESS_DONE("applications/address.md", "replies, with anything | is finished", NOT_AGAIN),
  ADDRESS_FAILED("applications/address.md", "it comes again or becomes a dead letter", ATTEMPTS),
  ADDRESS_AWAY("applications/address.md", "waits. No attempt counts", DEAD_LETTERS),
  ADDRESS_ORDER(
      "applications/address.md", "so the order holds with several listeners", ORDER_OF_KEYS),

  // ---- Other tests check these.

  CLAIM_GUARDED(
      "dedup-service.md",
      "A claim never works without an answer of the cluster.",
      "dedup.LeasedCoordinatorTest"),
  CLAIM_SURE(
      "dedup-service.md",
      "A claim knows when it can no longer be sure of its key.",
      "functional.DedupServiceIT"),
  CLAIM_SURVIVES(
      "dedup-service.md", "Claims survive the death of nodes.", "functional.DedupServiceIT"),
  ACKNOWLEDGED("applications/produce.md", "on the disks of a majority", "functional.AcksIT"),
  ALL_REPLICAS("applications/produce.md", "on the disk of every replica", "functional.AcksIT"),
  REPLICAS_MISSING("applications/produce.md", "`REPLICAS_MISSING` | yes", "client.AcksTest"),
  GIVEN_UP(
      "applications/produce.md",
      "nothing of the old epoch can reach the log any more",
      "client.internal.produce.core.ProducerSimTest"),
  SENDS_THAT_WAIT(
      "applications/produce.md",
      "At most 10,000 sends wait in this way",
      "client.internal.produce.BatchingProducerTest"),
  FENCED_PRODUCER(
      "applications/produce.md",
      "only the latest producer with this name may send",
      "client.internal.produce.BatchingProducerTest"),
  PAYLOAD("applications/produce.md", "at most 1 MiB of payload", "functional.BadInputIT"),
  IDEMPOTENCY("http/messages.md", "sends the first answer again", "functional.JsonApiIT"),
  SPOOL(
      "applications/spool.md",
      "the next program with the same directory sends the message",
      "functional.SpoolKillIT"),
  SPOOL_ALONE(
      "applications/spool.md",
      "One producer at a time may use a directory.",
      "client.internal.spool.SpooledProducerTest"),
  SPOOL_FORCED(
      "applications/spool.md",
      "with `always`, nothing that counts as spooled",
      "client.internal.spool.log.SpoolLogTest"),
  SPOOL_OF_COMMANDS(
      "command-line/produce.md",
      "nothing is lost, and nothing is in the topic twice",
      "functional.SpoolKillIT"),
  FORWARDED("process-and-forward.md", "survives a kill of the service", "functional.ForwardIT"),

  DELAYED_SOON("delay.md", "every 20 ms at most", "broker.serve.DeliveryScheduleTest"),
  DELAYED_STATES("delay.md", "a new leader continues where the old one was", "functional.DelayIT"),
  DELAY_LIMITS("delay.md", "are refused with `TOO_LARGE` at once", "broker.machine.DelayTest"),
  DELAYS_BY_THE_CLUSTER(
      "delay.md",
      "a delay is right even if the clock of the producer's machine is wrong",
      "client.internal.produce.BatchingProducerTest"),
  WRONG_CLOCKS("delay.md", "uses their time", "chaos.ClocksIT"),
  FORMER_IDS("delay.md", "The former ids still work", "broker.DelayedRequestsTest"),

  DEFAULT_POLICY("command-line/consume.md", "`--delivery` | `at-least-once`", "cli.UsageTest"),
  AT_MOST_ONCE_OPTIONS(
      "command-line/consume.md", "`at-most-once` is refused together with", "cli.UsageTest"),
  EXACT_OPTIONS("command-line/consume.md", "`effectively-once` needs `--exec`", "cli.UsageTest"),
  KILLED_CONSUMER("at-least-once.md", "the consumer is killed", "functional.DeliveryIT"),
  KILLED_AT_MOST_ONCE(
      "at-most-once.md", "up to 32 messages of each of its shards", "functional.DeliveryIT"),
  KILLED_EXACT("effectively-once.md", "the consumer is killed anywhere", "functional.DeliveryIT"),
  LATE_OUTPUTS(
      "effectively-once.md", "the log refuses these messages", "broker.machine.PublisherTest"),
  OUTPUTS_REFUSED(
      "effectively-once.md",
      "the shard begins again from the last commit",
      "client.internal.consume.DeliveryPolicyTest"),
  AT_MOST_ONCE_REFUSES(
      "at-most-once.md",
      "a handler that publishes, because what it publishes would be lost",
      "client.internal.member.DeliveryOptionsTest"),
  POLICIES_OF_COMMANDS(
      "command-line/consume.md",
      "work in mode `sharded` only, and not with `--dedup`",
      "client.internal.member.DeliveryOptionsTest"),
  COMMIT_DELAY(
      "applications/consume.md",
      "no more than the messages of `commitDelayMillis` come again",
      "functional.RebalanceIT"),
  STOPS_ITSELF(
      "applications/consume.md",
      "when it sent its last answered heartbeat more than 4 s ago",
      "client.internal.consume.SelfFenceTest"),
  SAME_NAME(
      "applications/consume.md",
      "A second member with the same name takes the place of the first",
      "functional.HandoverIT"),
  FORGETS_A_TOPIC(
      "applications/consume.md",
      "it also forgets its committed offsets, state, retries and dead letters there",
      "functional.GroupDeleteIT"),
  BLOCKED_LOOP("applications/consume.md", "for up to 5 minutes", "functional.BlockingIT"),
  EVEN_SHARDS(
      "operate/assignors.md", "never differ by more than one shard", "assign.StickyMinimumTest"),
  FEWEST_MOVES("operate/assignors.md", "makes the fewest moves", "assign.StickyMinimumTest"),
  STUCK(
      "command-line/stuck-members.md",
      "also loses the shard, at once and without a release",
      "dispatcher.core.StuckMemberTest"),
  CRASH_LOCK(
      "command-line/stuck-members.md",
      "the shards of a lost member wait 30 s for a release",
      "functional.GroupResetIT"),
  STABLE("command-line/stuck-members.md", "no other shard moves", "functional.StableMemberIT"),

  ATTEMPTS_SURVIVE(
      "command-line/failures.md",
      "the number of attempts survives a `kill -9` of consumers and nodes",
      "functional.DeadLettersIT"),
  BREAKER("command-line/failures.md", "Failures do not count as attempts", "functional.BreakerIT"),
  UNREADABLE(
      "command-line/failures.md",
      "becomes a dead letter at once",
      "client.internal.consume.ConsumerCoreTest"),
  FAILS_ALONE(
      "command-line/consume.md",
      "A failure affects only its message.",
      "functional.ExecFailuresIT"),
  RESET_KEEPS_LETTERS("command-line/groups.md", "Dead letters stay.", "broker.machine.ResetTest"),
  RESET_FENCES(
      "command-line/groups.md",
      "Nothing that a former owner did is committed after the reset.",
      "broker.machine.ResetTest"),
  DELETE_IS_REFUSED(
      "command-line/groups.md",
      "The command is refused in two cases, and then deletes nothing",
      "functional.GroupDeleteIT"),
  PLANS("command-line/groups.md", "It changes nothing.", "functional.DailyApiIT"),

  SUBSCRIBED("operate/retention.md", "from the moment it subscribes", "functional.SubscriptionIT"),
  WITHOUT_GROUPS(
      "operate/retention.md",
      "A topic without groups keeps everything",
      "broker.machine.RetainTest"),
  TIME_OF_THE_LOG(
      "operate/retention.md",
      "neither downtime nor a leader with a wrong clock makes messages old",
      "chaos.ClocksIT"),
  FORGOTTEN_GROUPS(
      "operate/retention.md", "after 7 days without a member", "dispatcher.core.ForgettingTest"),
  FORMER_LAYOUTS(
      "operate/reshard.md",
      "remembers what the last 16 layouts of a topic had taken",
      "functional.DroppedLayoutsIT"),
  SEALED_SHARDS_GO("operate/reshard.md", "It goes when three", "functional.GrowthFormsIT"),
  HEIRS(
      "applications/state.md",
      "Exactly one of the shards that get a state is its `heir()`.",
      "functional.WordCountIT"),
  ON_ASSIGN_AGAIN(
      "applications/state.md",
      "it is called again after 1, 2, 5, 10, 20 and then every 30 seconds",
      "client.internal.consume.ConsumerCoreTest"),
  MANUAL_STREAM(
      "applications/state.md",
      "at most `parallel` messages are unfinished at a time",
      "client.internal.member.ConsumerStreamTest"),
  EXACT_COUNTS(
      "word-count.md",
      "No message is counted twice, and none is left out.",
      "functional.WordCountIT"),

  FORMER_LEADERS(
      "singleton.md",
      "former leaders can commit nothing",
      "dispatcher.core.SingletonSimulationTest"),
  LEADERS_STOP(
      "singleton.md",
      "It begins no message when its last answered heartbeat is older",
      "client.internal.consume.SelfFenceTest"),
  LEADERS_REFUSE(
      "singleton.md",
      "handlers with a context are refused",
      "client.internal.member.DeliveryOptionsTest"),
  FENCING_TOKEN("singleton.md", "The term protects you in this case.", "functional.SingletonIT"),
  ELECTION("singleton.md", "never takes the lead away", "assign.ElectionTest"),
  ELECTION_TOKEN("election.md", "The term protects you in this case", "functional.ElectionIT"),
  INAUGURATED_LAST(
      "singleton.md",
      "no `onAssign` is called before all shards are granted",
      "client.internal.member.LeaderHandlerTest"),

  BROADCAST_KILL("broadcast.md", "No message is missing.", "functional.BroadcastIT"),
  BROADCAST_NODES(
      "broadcast.md", "The member waits and continues by", "functional.BroadcastFailoverIT"),
  BROADCAST_REPEATS(
      "broadcast.md", "up to 200 ms or 1,000 messages of a shard", "functional.BroadcastIT"),
  BROADCAST_START(
      "broadcast.md",
      "writes its first position to disk before it reads the first message",
      "client.internal.member.BroadcastTest"),
  BROADCAST_DAMAGE(
      "broadcast.md",
      "Every truncation and every flipped bit is detected.",
      "client.internal.broadcast.OffsetsTest"),
  BROADCAST_DIRECTORY(
      "broadcast.md",
      "One directory serves one member of a group.",
      "client.internal.broadcast.OffsetsFileTest"),
  BROADCAST_FAILURES(
      "broadcast.md",
      "the offset in the file does not pass it",
      "client.internal.member.BroadcastTest"),
  PASSED_OVER("broadcast.md", "the message is passed over", "client.internal.member.BroadcastTest"),
  BROADCAST_STATE(
      "broadcast.md", "State is not available.", "client.internal.member.BroadcastTest"),
  BROADCAST_DEDUP("broadcast.md", "Dedup and assignors are not", "client.ConsumerOptionsTest"),

  ONE_MODE(
      "broadcast.md",
      "All members of a group must use the same mode.",
      "dispatcher.core.BroadcastGroupTest"),

  DEDUP_NOBODY_WAITS(
      "dedup.md", "No message waits forever.", "client.internal.admission.DedupSimulationTest"),
  DEDUP_LOST_MAP("dedup.md", "This costs one more run of a handler.", "functional.DedupIT"),
  DEDUP_AT_WORST(
      "dedup.md",
      "Even then no message is lost, and none waits forever.",
      "client.internal.admission.DedupSimulationTest"),
  RATES_AND_DEDUP(
      "rates.md",
      "A declined message takes no token",
      "client.internal.admission.RatesWithDedupTest"),
  RATE_WAITERS(
      "rates.md",
      "at most 1,000 messages wait for their rate",
      "client.internal.admission.RateGateTest"),
  NO_KEY_STARVES("rates.md", "no key starves", "client.internal.admission.RateGateTest"),
  GROUP_RATE("rates.md", "over 30 s it holds within 5 %", "functional.QuotasIT"),
  QUOTA("operate/quotas.md", "Over any 30 s, a quota holds within 5 %", "functional.QuotasIT"),
  QUOTA_COSTS("operate/quotas.md", "What is refused costs nothing.", "broker.quota.QuotaGateTest"),
  QUOTA_SENDERS("operate/quotas.md", "Senders share a quota.", "broker.QuotaSendersTest"),

  NOTHING_IS_LEFT(
      "operate/memory.md",
      "Everything that a node holds in memory has a bound.",
      "functional.OpenAndCloseIT"),
  SMALL_MESSAGES(
      "operate/memory.md",
      "A limit in bytes counts what a message takes on the heap",
      "functional.SmallMessagesIT"),

  LEVEL_REPORTS(
      "level.md",
      "So a late report cannot break the bound.",
      "dispatcher.level.core.LevelDispatchSimulationTest"),
  LEVEL_NEWCOMERS(
      "level.md", "each time for a second at most", "dispatcher.level.core.LevelDispatchTest"),
  LEVEL_DEATHS("level.md", "does not count as an attempt", "functional.LevelDeadLettersIT"),
  LEVEL_RESETS(
      "level.md", "The bound between members continues to hold.", "functional.LevelResetIT"),
  LEVEL_MOVES("level.md", "So the bound continues to hold.", "functional.LevelIT"),
  LEVEL_STALLS(
      "level.md",
      "those messages are then handled twice",
      "dispatcher.level.core.LevelDispatchTest"),

  SESSIONS_EXPIRE(
      "http/consume.md", "A session without a request for that long", "functional.HttpConsumeIT"),
  ABANDONED("http/consume.md", "in order and as the same attempt", "gateway.SessionsApiTest"),
  SESSION_DEATHS(
      "http/consume.md", "That counts as the death of a consumer", "gateway.SessionsApiTest"),
  BROWSERS("http.md", "The node refuses them, without any configuration", "gateway.http.GuardTest"),
  HTTP_LIMITS("http.md", "408, or the node closes the", "gateway.http.HttpLimitsTest"),
  UNKNOWN_IS_NULL("http.md", "is null, never 0", "gateway.live.LiveStateTest"),
  BROWSING("http/messages.md", "consumes nothing", "functional.TopicMessagesIT"),

  FAILURES_LOSE_NOTHING(
      "operate/failures.md", "nothing that was acknowledged is lost", "chaos.ChaosIT"),
  LOST_MAJORITY(
      "operate/failures.md", "nothing is acknowledged or delivered", "functional.MajorityLostIT"),
  HUNG_NODE("operate/failures.md", "After 8 s of silence, the other", "functional.HungNodeIT"),
  KILLED_NODE("operate/run-a-node.md", "`kill -9` is safe as well.", "functional.KillNodeIT"),
  FULL_DISK(
      "operate/storage.md", "notice nothing while another node has room", "functional.FullDiskIT"),
  ROTTEN_DISK(
      "operate/storage.md",
      "nothing that was acknowledged is lost as long as one sound copy is left",
      "functional.DamagedBodiesIT"),
  STEPS_OF_THE_CLOCK(
      "operate/cluster.md", "by more than two minutes at once", "broker.machine.RetainTest"),
  UPGRADES("operate/upgrade.md", "No producer loses a message", "functional.UpgradeIT"),
  UPGRADE_TESTED(
      "operate/upgrade.md", "A test upgrades a cluster of three nodes", "functional.UpgradeIT"),
  FORMER_CLIENTS(
      "operate/upgrade.md", "Clients of both versions work with", "functional.UpgradeIT"),
  FORMER_DATA(
      "operate/upgrade.md",
      "Data of the former version is read.",
      "broker.machine.GoldenStateTest"),
  LEVEL_OF_THE_CLUSTER(
      "operate/upgrade.md", "it never goes down", "broker.machine.FaultyEntryTest"),
  DENIED("operate/security.md", "What no permission allows is denied.", "functional.UsersIT"),
  IDS("protocol/requests.md", "Ids are never used again.", "broker.machine.MetaTest"),
  CODES("http/event-bus.md", "A code never changes.", "protocol.RefusedExceptionTest"),
  REBALANCES(
      "http/rebalances.md",
      "They survive a change of the dispatcher",
      "functional.RebalanceHistoryIT"),

  // ---- Nobody checks these.

  PAUSE_OF_A_DEAD_NODE("operate/failures.md", "for about 2 s, at most 4 s", Promise.NOBODY),
  STOP_OF_A_NODE("operate/run-a-node.md", "and at most 13 s", Promise.NOBODY),
  TWO_DISKS_LOST("applications/produce.md", "survives on the third node", Promise.NOBODY),
  LETTERS_MAX("command-line/dead-letters.md", "At most 100,000 dead letters", Promise.NOBODY),
  RETRIES_MAX("command-line/failures.md", "At most 10,000 messages and 256 MiB", Promise.NOBODY),
  GENERATIONS("operate/reshard.md", "at most 16 generations of shards at once", Promise.NOBODY),
  NO_RESET_OF_BROADCAST("broadcast.md", "You cannot reset the position", Promise.NOBODY),
  BROADCAST_CALLS("broadcast.md", "`onAssign` is called before the first", Promise.NOBODY),
  BROADCAST_ATTEMPTS("broadcast.md", "After the next start it begins at 1 again.", Promise.NOBODY),
  VERSIONS("operate/upgrade.md", "Versions are numbered by semantic versioning.", Promise.NOBODY),
  CONTRACT("operate/upgrade.md", "We promise what the documentation", Promise.NOBODY),
  VERSIONS_SHOWN("operate/upgrade.md", "shows the version of each node", Promise.NOBODY),
  DEDUP_FORMER_OWNER("dedup.md", "for at most the member timeout", Promise.NOBODY);

  static final String MODEL = "the model";
  static final String NOBODY = "nobody";

  /** The page below {@code src/site/markdown}. */
  final String page;

  /** Words of that page, without its markup. */
  final String words;

  /** A test class below {@code dev.evenkeel}, {@link #MODEL} or {@link #NOBODY}. */
  final String by;

  /** The promise with which this one is checked, or null. */
  final Promise same;

  Promise(String page, String words) {
    this(page, words, Promise.MODEL);
  }

  Promise(String page, String words, Promise same) {
    this(page, words, same.by, same);
  }

  Promise(String page, String words, String by) {
    this(page, words, by, null);
  }

  Promise(String page, String words, String by, Promise same) {
    this.page = page;
    this.words = words;
    this.by = by;
    this.same = same;
  }
}
