package dev.evenkeel.model;

import static dev.evenkeel.model.Sequence.any;

import dev.evenkeel.api.GroupView;
import dev.evenkeel.api.ListGroups.GroupSummary;
import dev.evenkeel.api.QuotaView;
import dev.evenkeel.api.ResetGroup;
import dev.evenkeel.api.TopicView;
import dev.evenkeel.client.Admin;
import dev.evenkeel.client.Consumer;
import dev.evenkeel.client.ConsumerOptions.Dedup;
import dev.evenkeel.client.ConsumerOptions.Mode;
import dev.evenkeel.client.Delivery;
import dev.evenkeel.client.EvenkeelClient;
import dev.evenkeel.client.TopicSettings;
import dev.evenkeel.model.UserModel.Group;
import dev.evenkeel.model.UserModel.Sent;
import dev.evenkeel.model.UserModel.Topic;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.QuotaKind;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.Future;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.LongSummaryStatistics;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * One run of everything on real nodes: the topics, groups, members and messages of this run, and
 * what users do with them. What is answered and handled goes to the {@link UserModel}.
 */
final class Users {
  /** Consumers begin to read a topic within this time, or say that the cluster does not answer. */
  private static final Duration BEGIN_MAX = Duration.ofSeconds(65);

  /** They stop reading one within their lock time, 30 s to forget it, and a little. */
  private static final Duration FORGET_MAX = Duration.ofSeconds(90);

  /** Members leave within this time: it is longer than they may wait for handlers. */
  private static final Duration LEAVE_MAX = Duration.ofSeconds(60);

  /** The log tells who takes longer to leave. */
  private static final long SLOW_SECONDS = 5;

  private static final int TOPICS_MAX = 3;
  private static final int GROUPS_MAX = 7;
  private static final int MEMBERS_MAX = 3;
  private static final long HANG_MILLIS = 1_500;

  /** How often it is seen whether another member has what one has died of. */
  private static final long DIES_MILLIS = 500;

  /** So often at most: perhaps a dead letter ends its silence. */
  private static final int DIES_TIMES = 24;

  private static final long CANCELLED_MILLIS = 2_000;
  private static final long AWAY_MILLIS = 1_500;

  /** Connections of a lane. */
  private static final int CLIENTS = 2;

  private static final Duration CLEAR_PATIENCE = Duration.ofSeconds(60);
  private static final long TRY_MILLIS = 250;

  /** So many times as long as it may stand still, it may take to come to rest. */
  private static final int SLOWNESS = 4;

  private static final int DELETED_AT_A_TIME = 16;

  /**
   * A consumer, a leader, or who consumes over HTTP.
   *
   * @param consumer null: over HTTP
   * @param handlers null: over HTTP
   * @param client the connection that it uses; -1: one of its own
   * @param standsStill makes it do nothing any more until then
   */
  private record Member(
      String name,
      Group group,
      Consumer consumer,
      Handlers handlers,
      int client,
      java.util.function.Consumer<CountDownLatch> standsStill,
      Supplier<Future<Void>> leave) {}

  final UserModel model = new UserModel();

  /** The operations that were done, and the settings that were in effect. */
  final Set<String> happened = new LinkedHashSet<>();

  final RunLog log = new RunLog();
  private final Place place;
  private final Focus focus;
  private final int lane;
  private final String run;
  private final HttpUser http;
  private final Sender sender;
  private final Answers answers;
  private final Shown shown;
  private final Services services;
  private final Map<String, Topic> topics = new LinkedHashMap<>();

  /** Names of topics that are gone. */
  private final Set<String> deleted = new HashSet<>();

  /** In mode broadcast, of each member. */
  private final Map<String, Group> groups = new LinkedHashMap<>();

  /** Topics that handlers publish to, by group. */
  private final Map<String, String> outputs = new HashMap<>();

  private final Path directory;
  private final List<Member> members = new CopyOnWriteArrayList<>();

  /** Messages per second, by topic. */
  private final Map<Topic, Long> quotas = new HashMap<>();

  private final List<Future<?>> closing = new ArrayList<>();
  private final AtomicInteger asked = new AtomicInteger();
  private int made;

  private final int faultsBefore;

  /** Since then there was no fault; -1: one was under way when this began. */
  private final int calmSince;

  /** Handlers that begin before then take long. */
  private volatile long hangUntilMillis;

  /**
   * @param lane runs at the same time have different ones, and connections of their own
   * @param run begins the names of all that is made
   */
  Users(Place place, int lane, String run, Path directory, Focus focus) {
    this.place = place;
    this.lane = lane;
    this.focus = focus;
    this.run = run;
    this.directory = directory;
    faultsBefore = place.faultsDone().size();
    int shocks = place.shocks();
    calmSince = shocks % 2 == 0 ? shocks : -1;
    http = new HttpUser(place, lane, model);
    answers = new Answers(model, log);
    shown = new Shown(model, answers, this::admin, topics, deleted);
    sender = new Sender(model, log, this::client, place::shocks, http, directory);
    services = new Services(place, model, log, answers, run, List.of(number(0), number(1)));
  }

  void play(Sequence.Op op) {
    int a = op.a();
    int b = op.b();
    boolean done =
        switch (op.step()) {
          case CREATE_TOPIC -> createTopic(a, b);
          case CONFIGURE_TOPIC -> configure(a, b);
          case DELETE_TOPIC -> deleteTopic(a, false);
          case DELETE_AND_CREATE -> deleteTopic(a, true);
          case RESHARD -> reshard(a, b);
          case SEND -> send(a, b, Sender.Way.PLAIN, 1 + b % 40);
          case SEND_COMPRESSED -> send(a, b, Sender.Way.COMPRESSED, 1 + b % 40);
          case SEND_SPOOLED -> send(a, b, Sender.Way.SPOOLED, 1 + b % 40);
          case SEND_OVER_HTTP -> send(a, b, Sender.Way.OVER_HTTP, 1 + b % 20);
          case SEND_TO_ALL_REPLICAS -> send(a, b, Sender.Way.TO_ALL_REPLICAS, 1 + b % 40);
          case SEND_WITHOUT_WAITING -> send(a, b, Sender.Way.WITHOUT_WAITING, 1 + b % 40);
          case SEND_MANY -> send(a, b, Sender.Way.PLAIN, 400 + b % 100);
          case SEND_LARGE -> send(a, b, Sender.Way.LARGE, 1 + b % 3);
          case SEND_LATER -> sendLater(a, b);
          case CANCEL_DELAYED -> cancelDelayed(a);
          case JOIN -> join(a, b);
          case JOIN_OVER_HTTP -> joinHttp(a, b);
          case SUBSCRIBE -> subscribe(a, b);
          case UNSUBSCRIBE -> unsubscribe(a, b);
          case LEAVE -> leave(a);
          case TAKE_NAME -> takeName(a);
          case EXPIRE -> expire(a);
          case HANG -> hang();
          case PAUSE -> pause(leased(a), null);
          case PAUSE_ONE_TOPIC -> pauseOneTopic(leased(a, each -> !live(each).isEmpty()), b);
          case RESUME -> resume(group(a), null);
          case RESET_TO_EARLIEST -> reset(a, true);
          case RESET_TO_LATEST -> reset(a, false);
          case REPLAY -> deadLetters(a, true);
          case DROP_DEAD_LETTERS -> deadLetters(a, false);
          case DELETE_GROUP -> deleteGroup(a);
          case SET_QUOTA -> quota(topic(a), 150L + b % 100);
          case CLEAR_QUOTA -> quota(topic(a), null);
          case MANY_NAMES -> manyNames();
          case LOOK -> look(a);
          case JOIN_AT_ADDRESS -> joinAtAddress(a, b);
          case LISTENERS_GO -> listenersGo(a);
          default ->
              op.step().ofServices() ? services.play(op.step(), a, b) : fault(op.step(), a, b);
        };
    if (done) {
      happened.add(op.step().toString());
    } else {
      log.add("  not done: " + op.step());
    }
  }

  /** How many messages were sent, and how many bytes each of them has. */
  LongSummaryStatistics payloadBytes() {
    return sender.payloadBytes;
  }

  // ---- Asking

  /** Each request goes over the other connection, which may be another user's. */
  private Admin admin() {
    return client(asked.getAndIncrement()).admin();
  }

  /** The number of one of the connections of this lane. */
  private int number(int which) {
    return CLIENTS * lane + which % CLIENTS;
  }

  private EvenkeelClient client(int which) {
    return place.client(number(which));
  }

  private Topic topic(int which) {
    return any(List.copyOf(topics.values()), which);
  }

  private Group group(int which) {
    return any(List.copyOf(groups.values()), which);
  }

  /** A group that is more than one member of mode broadcast, or null. */
  private Group leased(int which) {
    return leased(which, any -> true);
  }

  private Group leased(int which, Predicate<Group> fits) {
    return existing(which, kind -> kind.mode() != Mode.BROADCAST, fits);
  }

  /** A group of such a kind, which is new if none fits; null: a new one does not fit either. */
  private Group existing(int which, Predicate<Kind> kinds, Predicate<Group> fits) {
    Predicate<Group> both = group -> kinds.test(group.kind) && fits.test(group);
    boolean none = groups.values().stream().noneMatch(both);
    if (none) {
      join(new Group(run + "-g" + made++, focus.kind(which, kinds)), which);
    }
    return any(groups.values().stream().filter(both).toList(), which);
  }

  // ---- Topics

  private boolean createTopic(int shards, int settings) {
    return topics.size() < TOPICS_MAX && createTopic(run + "-t" + made++, shards, settings) != null;
  }

  private Topic createTopic(String name, int shards, int which) {
    TopicSettings settings = new TopicSettings();
    Topic topic = new Topic(name);
    set(topic, settings, which % 6);
    int count = 1 + shards % 4;
    long asked = model.moment();
    // Whatever the answer says, it may be there from now on.
    deleted.remove(name);
    if (answers.ask(
            "create " + name + " " + count + " " + settings.toJson(),
            admin().createTopic(name, count, settings))
        == null) {
      return null;
    }
    topic.shardsNow = count;
    topics.put(name, topic);
    for (Group group : groups.values()) {
      if (group.kind.pattern()) {
        // From its creation on, since the group was there before, perhaps without members.
        model.reads(group, topic, asked);
      }
    }
    return topic;
  }

  /** What is kept: half of all topics keep everything. */
  private void set(Topic topic, TopicSettings settings, int which) {
    switch (which) {
      case 0, 1 -> {
        settings.setRetention(Duration.ofMillis(500));
        topic.drops = true;
        happened.add("retention");
      }
      case 2 -> {
        settings.setAgeMillisMax(2_000L);
        topic.limited = true;
        happened.add("age limit");
      }
      case 3 -> {
        settings.setShardBytesMax(1L << 20);
        topic.limited = true;
        happened.add("bytes limit");
      }
      default -> {}
    }
  }

  private boolean configure(int which, int settings) {
    Topic topic = topic(which);
    if (topic == null) {
      return false;
    }
    TopicSettings changes = new TopicSettings();
    // What counts until the answer is open: the weaker promise.
    set(topic, changes, settings % 4);
    return answers.ask(
            "change " + topic + " " + changes.toJson(), admin().changeTopic(topic.name, changes))
        != null;
  }

  private boolean hasMembers(Group group) {
    return members.stream().anyMatch(member -> member.group == group);
  }

  private boolean deleteTopic(int which, boolean again) {
    Topic topic = topic(which);
    if (topic == null || topics.size() < 2 && !again) {
      return false;
    }
    topic.deleted = true;
    topics.remove(topic.name);
    quotas.remove(topic);
    sender.forget(topic);
    boolean deleted =
        answers.done("delete " + topic, admin().deleteTopic(topic.name), Refusal.UNKNOWN_TOPIC);
    if (deleted) {
      this.deleted.add(topic.name);
    }
    if (deleted && again) {
      Topic next = createTopic(topic.name, which, which / 8);
      for (Group group : groups.values()) {
        boolean reads = group.topics().contains(topic);
        if (next != null && reads) {
          model.reads(group, next, model.moment());
        }
      }
    }
    return deleted;
  }

  private boolean reshard(int which, int shards) {
    Topic topic = topic(which);
    if (topic == null) {
      return false;
    }
    int count = 1 + shards % 5;
    topic.layouts++;
    topic.shardsNow = null;
    boolean done =
        answers.done(
            "reshard " + topic + " to " + count,
            admin().reshard(topic.name, count),
            Refusal.INVALID);
    topic.shardsNow = done ? count : null;
    return done;
  }

  // ---- Messages

  private boolean send(int which, int keys, Sender.Way way, int count) {
    Topic topic = topic(which);
    return topic != null && sender.send(topic, count, keys, way, 0);
  }

  private boolean sendLater(int which, int b) {
    Topic topic = topic(which);
    return topic != null && sender.send(topic, 1 + b % 20, b, Sender.Way.PLAIN, 1 + b % 1_500);
  }

  /** One that waits by now, or one that is sent for that. */
  private boolean cancelDelayed(int which) {
    Topic topic = topic(which);
    if (topic != null && delayed().isEmpty()) {
      sender.send(topic, 1, which, Sender.Way.PLAIN, CANCELLED_MILLIS);
      sender.await();
    }
    List<Sent> waiting =
        delayed().stream().filter(each -> each.dueMillis > System.currentTimeMillis()).toList();
    Sent sent = any(waiting.isEmpty() ? delayed() : waiting, which);
    if (sent == null) {
      return false;
    }
    sent.cancelAsked = true;
    log.add("cancel " + sent);
    int before = place.shocks();
    Refusal refusal = answers.refusal(admin().cancelDelayed(sent.topic.name, sent.delayedId));
    boolean gone = refusal == Refusal.UNKNOWN_MESSAGE && place.shocks() == before;
    model.cancelled(sent, refusal == null ? Boolean.TRUE : gone ? Boolean.FALSE : null);
    if (gone && System.currentTimeMillis() < sent.dueMillis) {
      model.fault(Promise.CANCELLED_OR_DELIVERED, sent + " waits, but cannot be cancelled");
    }
    return true;
  }

  private List<Sent> delayed() {
    List<Sent> delayed = new ArrayList<>();
    for (Topic topic : topics.values()) {
      topic.messages.stream()
          .filter(sent -> sent.delayedId != null && !sent.cancelAsked)
          .forEach(delayed::add);
    }
    return delayed;
  }

  // ---- Groups

  private Group groupToJoin(int which, Kind drawn, Predicate<Kind> fits) {
    Group group =
        any(groups.values().stream().filter(each -> fits.test(each.kind)).toList(), which / 2);
    boolean another = group == null || which % 2 == 0 && groups.size() < GROUPS_MAX;
    return another ? new Group(run + "-g" + made++, drawn) : group;
  }

  private boolean join(int which, int kind) {
    return join(groupToJoin(which, focus.kind(kind), any -> true), which);
  }

  private boolean join(Group group, int which) {
    long there = members.stream().filter(member -> member.group == group).count();
    List<String> names = names(group, which);
    boolean broadcast = group.kind.mode() == Mode.BROADCAST;
    if (there >= MEMBERS_MAX || names.isEmpty() || broadcast && there > 0) {
      return false;
    }
    String name = "m" + made++;
    Group joined = group;
    if (broadcast && !group.name.contains("/")) {
      joined = new Group(group.name + "/" + name, group.kind);
    } else if (broadcast) {
      name = group.name.substring(group.name.indexOf('/') + 1);
    }
    return join(joined, name, names, number(made));
  }

  /**
   * @param number of the connection that it uses
   */
  private boolean join(Group group, String name, List<String> names, int number) {
    var options = group.kind.options(Shown.realName(group), name, names);
    if (group.kind.mode() == Mode.BROADCAST) {
      options.setOffsetsDirectory(directory.resolve(name).toString());
    }
    if (group.kind.publishes() && outputs(group) == null) {
      return false;
    }
    long asked = model.moment();
    model.joins(group, name);
    Handlers handlers = new Handlers(model, group, new Worker(), outputs.get(group.name));
    EvenkeelClient client = place.client(number);
    Future<Consumer> joining =
        group.kind.mode() == Mode.SINGLETON
            ? client.leader(options, handlers.career())
            : client.consumer(options, handlers.handler());
    // Handlers may begin before the answer is here.
    Consumer consumer =
        answers.ask("join " + group + " as " + name + " " + names, BEGIN_MAX, joining);
    if (consumer == null) {
      model.leaves(group, name);
      return false;
    }
    consumer.onEnd(
        why -> {
          io.vertx.core.Promise<Throwable> expected = replaced.get(consumer);
          if (expected == null) {
            model.fault(Promise.ANSWERS, name + " of " + group + " ended: " + why);
          } else {
            expected.tryComplete(why);
          }
        });
    joined(
        new Member(
            name,
            group,
            consumer,
            handlers,
            number,
            until -> place.standStill(number, until),
            () -> consumer.close().onSuccess(none -> handlers.closed())),
        names,
        asked);
    return true;
  }

  /** Consumers whose name another one takes, and why they end. */
  private final Map<Consumer, io.vertx.core.Promise<Throwable>> replaced =
      new ConcurrentHashMap<>();

  /**
   * A program at the other connection, which may be another user's, begins a member of the name of
   * one that runs: that one ends.
   */
  private boolean takeName(int which) {
    Member former =
        any(
            members.stream()
                .filter(each -> each.consumer != null)
                .filter(each -> each.group.kind.mode() != Mode.BROADCAST)
                .toList(),
            which);
    if (former == null) {
      return false;
    }
    Group group = former.group;
    List<String> names = names(group, which);
    if (names.isEmpty()) {
      return false;
    }
    log.add("another takes the name " + former.name + " of " + group);
    io.vertx.core.Promise<Throwable> ended = io.vertx.core.Promise.promise();
    replaced.put(former.consumer, ended);
    model.shake(group, System.currentTimeMillis());
    model.leaves(group, former.name);
    int other = former.client == number(0) ? number(1) : number(0);
    boolean joined = join(group, former.name, names, other);
    // It may have joined even if nobody has said so.
    Throwable why =
        answers.ask(
            "the former " + former.name + " of " + group + " ends",
            BEGIN_MAX,
            joined ? ended.future() : Future.succeededFuture(null));
    if (why != null && RefusedException.of(why).refusal() != Refusal.MEMBER_REPLACED) {
      model.fault(Promise.ANSWERS, former.name + " of " + group + " was replaced: " + why);
    }
    members.remove(former);
    closing.add(former.leave.get().otherwiseEmpty());
    model.shake(group, System.currentTimeMillis());
    return joined;
  }

  private void joined(Member member, List<String> names, long asked) {
    groups.put(member.group.name, member.group);
    members.add(member);
    happened.addAll(member.group.kind.settings());
    for (Topic topic : topics.values()) {
      if (member.group.kind.pattern() || names.contains(topic.name)) {
        model.reads(member.group, topic, asked);
      }
    }
  }

  /** The topic that handlers of the group publish to, with somebody who looks at it; or null. */
  private String outputs(Group group) {
    String known = outputs.get(group.name);
    if (known != null) {
      return known;
    }
    String name = run + "o" + made++;
    if (answers.ask("create " + name, admin().createTopic(name, 2)) == null) {
      return null;
    }
    Kind plain = Kind.PLAIN;
    Consumer collector =
        answers.ask(
            "collect " + name,
            client(made)
                .consumer(
                    plain.options(name, "collector", List.of(name)),
                    delivery -> {
                      int id = Content.id(delivery.message());
                      model.published(group, id, name, delivery.shard(), delivery.offset());
                      return Future.succeededFuture();
                    }));
    if (collector == null) {
      return null;
    }
    collectors.add(collector);
    outputs.put(group.name, name);
    return name;
  }

  private final List<Consumer> collectors = new ArrayList<>();

  private boolean joinHttp(int which, int drawn) {
    int seed = drawn;
    while (!Kind.of(seed).goesOverHttp()) {
      seed++;
    }
    Group group = groupToJoin(which, Kind.of(seed), Kind::goesOverHttp);
    List<String> names = names(group, which);
    long there = members.stream().filter(member -> member.group == group).count();
    if (there >= MEMBERS_MAX || names.isEmpty() || !group.kind.goesOverHttp()) {
      return false;
    }
    String name = "h" + made++;
    long asked = model.moment();
    log.add("join " + group + " over HTTP as " + name + " " + names);
    HttpUser own = new HttpUser(place, made, model);
    HttpMember member = new HttpMember(own, model, group, this::look, name, names);
    if (!member.open()) {
      return false;
    }
    group.overHttp = true;
    member.start();
    joined(
        new Member(name, group, null, null, -1, member::standStill, member::leave), names, asked);
    return true;
  }

  /** A member whose node sends its messages to an address. */
  private boolean joinAtAddress(int which, int drawn) {
    if (place.bus() == null) {
      return false;
    }
    int seed = drawn;
    while (!Kind.of(seed).goesOverHttp()) {
      seed++;
    }
    Group group = groupToJoin(which, Kind.of(seed), Kind::goesOverHttp);
    List<String> names = names(group, which);
    if (of(group).size() >= MEMBERS_MAX || names.isEmpty() || !group.kind.goesOverHttp()) {
      return false;
    }
    String name = "a" + made++;
    long asked = model.moment();
    log.add("join " + group + " at an address as " + name + " " + names);
    HttpUser own = new HttpUser(place, made, model);
    AddressMember member =
        new AddressMember(own, model, group, this::look, name, names, place::bus);
    if (!member.open()) {
      return false;
    }
    group.overHttp = true;
    member.start();
    atAddresses.put(name, member);
    joined(new Member(name, group, null, null, -1, until -> {}, member::leave), names, asked);
    return true;
  }

  private final Map<String, AddressMember> atAddresses = new HashMap<>();

  /** Nobody listens at an address for a while. */
  private boolean listenersGo(int which) {
    if (atAddresses.isEmpty() && !joinAtAddress(which, which)) {
      return false;
    }
    AddressMember member = any(List.copyOf(atAddresses.values()), which);
    log.add("nobody listens for " + AWAY_MILLIS + " ms");
    member.goAway(AWAY_MILLIS);
    return true;
  }

  /** What a member of the group reads: the same as its other members. */
  private List<String> names(Group group, int which) {
    if (group.kind.pattern()) {
      return List.of(run + "-*");
    }
    if (!group.topics().isEmpty()) {
      return namesOf(group).stream().filter(topics::containsKey).toList();
    }
    Topic one = topic(which);
    Topic two = topic(which + which % 3);
    return one == null ? List.of() : one == two ? List.of(one.name) : List.of(one.name, two.name);
  }

  private static boolean readsWhatIsGone(Group group) {
    return group.topics().stream().anyMatch(each -> each.deleted);
  }

  /** A topic that was deleted and another one of its name are one to a member. */
  private static List<String> namesOf(Group group) {
    return group.topics().stream().map(topic -> topic.name).distinct().toList();
  }

  private boolean subscribe(int which, int other) {
    createSecondTopic(which, other);
    Group group = subscriber(which, this::mayReadMore);
    return group != null && subscribe(group, other);
  }

  private void createSecondTopic(int shards, int settings) {
    if (topics.size() < 2) {
      createTopic(shards, settings);
    }
  }

  private boolean mayReadMore(Group group) {
    return !group.topics().containsAll(topics.values());
  }

  private boolean subscribe(Group group, int other) {
    Topic topic =
        any(
            topics.values().stream().filter(each -> !group.topics().contains(each)).toList(),
            other);
    boolean all = true;
    for (Member member : of(group)) {
      long asked = model.moment();
      boolean done =
          answers.done(
              "subscribe " + member.name + " of " + group + " to " + topic,
              BEGIN_MAX,
              member.consumer.subscribe(topic.name));
      if (done) {
        model.reads(group, topic, asked);
      }
      all &= done;
    }
    return all;
  }

  private boolean unsubscribe(int which, int other) {
    createSecondTopic(which, other);
    // Who has joined since a topic was deleted reads fewer.
    Group group =
        subscriber(
            which,
            each -> !readsWhatIsGone(each) && (namesOf(each).size() > 1 || mayReadMore(each)));
    if (group == null || namesOf(group).size() < 2 && !subscribe(group, other)) {
      return false;
    }
    Topic topic = any(List.copyOf(group.topics()), other);
    model.forgets(group, topic);
    boolean all = true;
    for (Member member : of(group)) {
      all &=
          answers.done(
              "unsubscribe " + member.name + " of " + group + " from " + topic,
              FORGET_MAX,
              member.consumer.unsubscribe(topic.name));
    }
    // Handlers may have begun meanwhile.
    model.forgets(group, topic);
    return all;
  }

  /** A group with members that may change what they read; null: there is none. */
  private Group subscriber(int which, Predicate<Group> fits) {
    return existing(
        which,
        kind -> kind.mode() == Mode.SHARDED && !kind.pattern(),
        group -> !group.overHttp && hasMembers(group) && fits.test(group));
  }

  private List<Member> of(Group group) {
    return members.stream().filter(member -> member.group == group).toList();
  }

  /** What handlers do between begin and end. */
  private final class Worker implements Handlers.Work {
    /** Of what members die that have just begun it. */
    private final Map<Integer, Death> deaths = new ConcurrentHashMap<>();

    /**
     * @param begun how many handlers had begun the message, with this one
     */
    private record Death(Group group, Delivery of, int id, int begun) {}

    @Override
    public Boolean begins(Group group, Delivery delivery) {
      look(group);
      Message message = delivery.message();
      int id = Content.id(message);
      Boolean well =
          model.begins(
              group,
              id,
              Content.isIntact(model.sent(id), message),
              UserModel.Got.of(delivery),
              System.currentTimeMillis());
      // The death of a lone member looks as if it had been away: its shards stay its own.
      if (well != null
          && focus.has(Step.EXPIRE)
          && place.expiresAtOnce()
          && of(group).size() > 1
          && model.kills(group, delivery.member(), id)) {
        log.add(delivery.member() + " of " + group + " dies of " + model.sent(id));
        deaths.put(id, new Death(group, delivery, id, model.begun(group, id)));
      }
      return well;
    }

    /** The member that dies; null: it has left. */
    private Member whoDies(Death death) {
      return of(death.group).stream()
          .filter(each -> each.name.equals(death.of.member()))
          .findAny()
          .orElse(null);
    }

    /** Who is to hand its shard over, and does not, has not died of a message. */
    private Void giveUp(Death death) {
      Member it = whoDies(death);
      if (it != null && owns(death)) {
        model.dies(death.group, it.name, death.id);
        expire(it);
      }
      return null;
    }

    private boolean owns(Death death) {
      Group group = death.group;
      GroupView shown =
          answers.quietly(
              "owners of " + group, admin().group(Shown.realName(group)), Refusal.UNKNOWN_GROUP);
      return shown != null
          && (group.kind.mode() == Mode.LEVEL
              || shown.shards().stream()
                  .anyMatch(
                      shard ->
                          shard.topic().equals(death.of.topic())
                              && shard.shard() == death.of.shard()
                              && shard.state() == GroupView.Shard.State.OWNED
                              && death.of.member().equals(shard.owner())));
    }

    /**
     * Its handler says nothing until another one has the message: a member that comes back too soon
     * goes on with its shards, and what it says takes its death back.
     */
    private Future<Void> silence(Death death, int timesLeft) {
      if (timesLeft == 0
          || model.begun(death.group, death.id) > death.begun
          || whoDies(death) == null) {
        return Future.failedFuture("died");
      }
      return place
          .vertx()
          .executeBlocking(() -> giveUp(death))
          .compose(done -> place.vertx().timer(DIES_MILLIS, TimeUnit.MILLISECONDS))
          .compose(late -> silence(death, timesLeft - 1));
    }

    @Override
    public Future<Void> passes(int id) {
      Death death = deaths.remove(id);
      if (death != null) {
        return silence(death, DIES_TIMES);
      }
      boolean hangs = System.currentTimeMillis() < hangUntilMillis;
      long millis = hangs ? HANG_MILLIS : id * 31 % 5;
      return millis < 3
          ? Future.succeededFuture()
          : place.vertx().timer(millis, TimeUnit.MILLISECONDS).mapEmpty();
    }
  }

  /** After a fault, members may have been given up while they ran. */
  private void look(Group group) {
    int shocks = place.shocks();
    if (shocks != calmSince && (shocks % 2 == 1 || shocks != group.shocks)) {
      group.shocks = shocks;
      model.restarted(group, System.currentTimeMillis());
    }
  }

  private boolean leave(int which) {
    Member member = any(members, which);
    if (member == null) {
      return false;
    }
    return leave(member);
  }

  private boolean leave(Member member) {
    members.remove(member);
    model.leaves(member.group, member.name);
    String what = "leave " + member.name + " of " + member.group;
    return answers.ask(what, LEAVE_MAX, leaving(member).map(left -> true)) != null;
  }

  private Future<Void> leaving(Member member) {
    long began = System.nanoTime();
    return member
        .leave
        .get()
        .onComplete(
            left -> {
              long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - began);
              if (seconds >= SLOW_SECONDS) {
                log.add(member.name + " of " + member.group + " has left after " + seconds + " s");
              }
            });
  }

  private boolean expire(int which) {
    Member member = any(members, which);
    if (member == null || member.group.kind.mode() == Mode.BROADCAST) {
      return false;
    }
    model.shake(member.group, System.currentTimeMillis());
    log.add("expire " + member.name + " of " + member.group);
    return expire(member);
  }

  private boolean expire(Member member) {
    List<Group> still = new CopyOnWriteArrayList<>();
    boolean expired =
        place.expire(
            Shown.realName(member.group),
            member.name,
            until -> {
              // All that use its connection stand still with it.
              members.stream()
                  .filter(
                      each -> each == member || each.client >= 0 && each.client == member.client)
                  .forEach(each -> still.add(each.group));
              still.forEach(each -> model.standStill(each, true, System.currentTimeMillis()));
              services.standsStill(member.client, true);
              member.standsStill.accept(until);
            });
    services.standsStill(member.client, false);
    still.forEach(each -> model.standStill(each, false, System.currentTimeMillis()));
    return expired;
  }

  private boolean hang() {
    log.add("handlers hang");
    hangUntilMillis = System.currentTimeMillis() + HANG_MILLIS;
    return true;
  }

  private boolean pauseOneTopic(Group group, int which) {
    return group != null && pause(group, any(live(group), which));
  }

  /** The topics that it reads and that are there. */
  private List<Topic> live(Group group) {
    return topics.values().stream().filter(group.topics()::contains).toList();
  }

  /**
   * @param topic null: all
   */
  private boolean pause(Group group, Topic topic) {
    if (group == null) {
      return false;
    }
    String name = Shown.realName(group);
    Future<Void> pausing = topic == null ? admin().pause(name) : admin().pause(name, topic.name);
    boolean done =
        answers.done(
            "pause " + group + (topic == null ? "" : " on " + topic),
            pausing,
            Refusal.UNKNOWN_TOPIC);
    if (done) {
      model.paused(group, topic, System.currentTimeMillis());
    }
    return done;
  }

  private boolean resume(Group group, Topic topic) {
    if (group == null || group.kind.mode() == Mode.BROADCAST) {
      return false;
    }
    model.resumed(group, topic);
    return answers.done("resume " + group, admin().resume(Shown.realName(group)));
  }

  private boolean reset(int which, boolean earliest) {
    Group group = leased(which, each -> !readsWhatIsGone(each));
    if (group == null) {
      return false;
    }
    List<Topic> read = List.copyOf(group.topics());
    long asked = model.moment();
    // Until it is answered, nobody knows.
    read.forEach(topic -> model.unsure(group, topic));
    ResetGroup reset =
        ResetGroup.of(Shown.realName(group), earliest ? "earliest" : "latest").forced();
    ResetGroup.OffsetReset answer =
        answers.ask(
            "reset " + group + " to " + (earliest ? "earliest" : "latest"),
            admin().resetOffsets(reset),
            Refusal.UNKNOWN_SHARD);
    boolean done =
        answer != null
            && answer.shards().stream().noneMatch(shard -> shard.state().equals("PENDING"));
    if (done && !group.overHttp) {
      read.forEach(topic -> model.reset(group, topic, earliest, asked));
    }
    return done;
  }

  private boolean deadLetters(int which, boolean replay) {
    Group group = leased(which);
    if (group == null) {
      return false;
    }
    model.lettersTouched(group);
    String name = Shown.realName(group);
    return answers.done(
        (replay ? "replay " : "drop ") + group,
        replay ? admin().replayAll(name) : admin().dropAll(name));
  }

  /** All members leave, the group is deleted, and another of its name may come. */
  private boolean deleteGroup(int which) {
    Group group = leased(which);
    if (group == null) {
      return false;
    }
    of(group).forEach(this::leave);
    boolean deleted =
        answers.done(
            "delete " + group,
            admin().deleteGroup(group.name, false),
            Refusal.UNKNOWN_GROUP,
            Refusal.GROUP_ACTIVE);
    groups.remove(group.name);
    if (deleted && which % 2 == 0) {
      outputs.remove(group.name);
      join(group.next(), which);
    }
    return deleted;
  }

  private boolean quota(Topic topic, Long perSecond) {
    if (topic == null) {
      return false;
    }
    Long before = quotas.remove(topic);
    int faults = place.shocks();
    if (before != null && !sender.passes(topic, before) && place.shocks() == faults) {
      model.fault(
          Promise.QUOTA_WAITS, "messages wait for " + topic + " too long at " + before + "/s");
    }
    if (perSecond == null) {
      return answers.done("no quota " + topic, admin().clearQuota(QuotaKind.TOPIC, topic.name));
    }
    quotas.put(topic, perSecond);
    return answers.done(
        "quota " + topic, admin().setQuota(QuotaKind.TOPIC, topic.name, null, perSecond));
  }

  /** Names that come and go: quotas, topics, and groups with a session over HTTP each. */
  private boolean manyNames() {
    int many = place.many();
    boolean all = each("set a quota", this::quotaOf);
    Set<Integer> created = ConcurrentHashMap.newKeySet();
    all &=
        each(
            "create a topic",
            i -> admin().createTopic(passing(i), 1).onSuccess(done -> created.add(i)));
    List<String> sessions = new CopyOnWriteArrayList<>();
    all &=
        each(
            "open a session",
            i -> created.contains(i) ? openSession(i, sessions) : Future.succeededFuture());
    all &= answers.done("list groups", admin().groups());
    answers.done(
        "close " + sessions.size() + " sessions",
        Future.join(sessions.stream().map(each -> http.begin("DELETE", each, null)).toList()));
    log.add(sessions.size() + " of " + many + " sessions were there");
    all &= each("delete a group", i -> admin().deleteGroup(passing(i), false));
    all &= each("delete a topic", i -> admin().deleteTopic(passing(i)));
    all &= each("clear a quota", i -> admin().clearQuota(QuotaKind.TOPIC, passing(i)));
    return all;
  }

  private String passing(int i) {
    return run + "q" + i;
  }

  private Future<?> quotaOf(int i) {
    return admin().setQuota(QuotaKind.TOPIC, passing(i), null, 10L);
  }

  private Future<?> openSession(int i, List<String> sessions) {
    String path = "/api/groups/" + passing(i) + "/sessions";
    JsonObject session = new JsonObject().put("topics", new JsonArray().add(passing(i)));
    return http.begin("POST", path, session.put("expiresMs", 60_000))
        .map(
            answer -> {
              if (answer.statusCode() == 201) {
                sessions.add(path + "/" + new JsonObject(answer.body()).getString("session"));
              } else if (answer.statusCode() != 503) {
                model.fault(Promise.ANSWERS, "open " + path + ": " + answer.body());
              }
              return answer;
            });
  }

  /**
   * Does it for each of many names at a time; all must be answered in the time of one. What a limit
   * refuses is answered, too.
   */
  private boolean each(String what, IntFunction<Future<?>> request) {
    return answers.all(
        what + ", " + place.many() + " times",
        IntStream.range(0, place.many()).<Future<?>>mapToObj(request).toList(),
        Refusal.UNKNOWN_TOPIC,
        Refusal.UNKNOWN_GROUP,
        Refusal.GROUP_ACTIVE,
        Refusal.TOPIC_EXISTS);
  }

  /** Somebody looks at everything that is there. */
  private boolean look(int which) {
    Group group = leased(which);
    List<TopicView> listed = answers.ask("list topics", admin().topics());
    if (listed != null) {
      shown.compare(listed);
    }
    boolean all = answers.done("list groups", admin().groups());
    if (group != null) {
      all &= shown.show(group, Refusal.UNKNOWN_GROUP) != null;
    }
    return listed != null && shown.lookAtDelayed(topic(which)) && all;
  }

  private boolean fault(Step step, int a, int b) {
    if (!place.faults().contains(step)) {
      return false;
    }
    log.add(step + " " + a + " " + b);
    try {
      return place.fault(step, a, b);
    } catch (AssertionError broken) {
      model.fault(Promise.ANSWERS, step + ": " + broken.getMessage());
      return false;
    }
  }

  // ---- The end

  /**
   * Lets everything come to rest, and sees whether all is as it must be.
   *
   * @param patience how long nothing may get better, and a part of how long it may take in all:
   *     machines that have much to do are slow
   */
  void settle(Duration patience) {
    List<Supplier<Boolean>> steps = new ArrayList<>();
    topics.values().forEach(topic -> steps.add(() -> quota(topic, null)));
    for (Group group : List.copyOf(groups.values())) {
      if (group.kind.mode() != Mode.BROADCAST) {
        steps.add(() -> resume(group, null));
      }
      if (!hasMembers(group) && !names(group, 1).isEmpty()) {
        steps.add(() -> join(group, 1));
      }
    }
    long until = System.nanoTime() + patience.toNanos();
    steps.forEach(step -> insist(step, until));
    sender.await();
    Map<Promise, String> missing = Map.of();
    long last = System.nanoTime() + SLOWNESS * patience.toNanos();
    long restless = until;
    do {
      Map<Promise, String> now = missing();
      if (!now.equals(missing)) {
        missing = now;
        log.add("missing: " + missing);
        restless = Math.min(last, System.nanoTime() + patience.toNanos());
      }
    } while (!missing.isEmpty()
        && model.faults().isEmpty()
        && System.nanoTime() < restless
        && pause(100));
    missing.forEach((promise, what) -> model.fault(promise, what + stateOf(what)));
  }

  /** What is shown of the group that has not done what it must. */
  private String stateOf(String what) {
    return groups.values().stream()
        .filter(group -> group.kind.mode() != Mode.BROADCAST)
        .filter(group -> what.startsWith(group + ": "))
        .map(group -> ", and is shown as " + shown.show(group))
        .findFirst()
        .orElse("");
  }

  /** Tries until it is done: something may happen to machines meanwhile. */
  private void insist(Supplier<Boolean> step, long untilNanos) {
    boolean done = step.get();
    while (!done
        && model.faults().isEmpty()
        && System.nanoTime() < untilNanos
        && pause(TRY_MILLIS)) {
      done = step.get();
    }
  }

  private static boolean pause(long millis) {
    try {
      Thread.sleep(millis);
      return true;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  /** What is not yet as it must be in the end. */
  private Map<Promise, String> missing() {
    Map<Promise, String> missing = services.missing();
    for (Group group : groups.values()) {
      if (!hasMembers(group)) {
        continue;
      }
      look(group);
      Set<String> letters = shown.letters(group);
      first(missing, Promise.NOTHING_IS_LOST, group, model.missing(group, letters));
      boolean drops = group.kind.limit().drops();
      first(missing, drops ? Promise.RATE_DROPS : Promise.DEDUP_LATER, group, model.unseen(group));
      first(missing, Promise.DEAD_LETTERS, group, model.unexplained(group, letters));
      first(missing, Promise.OUTPUTS, group, model.unpublished(group, letters));
      first(missing, Promise.STATE_COMES_ALONG, group, model.notKept(group, letters));
      if (missing.isEmpty() && group.kind.mode() != Mode.BROADCAST) {
        atRest(missing, group);
      }
    }
    return missing;
  }

  private static void first(
      Map<Promise, String> missing, Promise broken, Group group, Collection<String> which) {
    if (!which.isEmpty()) {
      missing.putIfAbsent(
          broken, group + ": " + which.size() + ", the first: " + which.iterator().next());
    }
  }

  /** When there is nothing left to do, this is what is shown of the group. */
  private void atRest(Map<Promise, String> missing, Group group) {
    if (readsWhatIsGone(group)) {
      return;
    }
    GroupView now = shown.show(group);
    if (now == null || !Long.valueOf(0).equals(now.lag())) {
      missing.put(Promise.LAG, group + ": lag " + (now == null ? null : now.lag()));
      return;
    }
    GroupView.Dedup dedup = now.dedup();
    if (group.kind.dedup() != Dedup.OFF && (dedup.processing() != 0 || dedup.waiting() != 0)) {
      missing.put(Promise.DEDUP_EMPTY, group + " has nothing to do: " + dedup);
    }
    first(missing, Promise.SKIPPED_IS_SAID, group, model.skipped(group, Shown.skips(now)));
    for (Member member : of(group)) {
      boolean says = member.consumer != null && !group.shaken;
      if (says && member.consumer.consumed() < member.handlers.well()) {
        missing.put(
            Promise.CONSUMED,
            member.name
                + " of "
                + group
                + " has finished "
                + member.handlers.well()
                + " and says "
                + member.consumer.consumed());
      }
    }
  }

  /** Takes away what the run has made; nothing must be left of it. */
  void clear() {
    place.faultsDone().stream().skip(faultsBefore).forEach(fault -> happened.add(fault.toString()));
    Map<String, Future<Void>> leaving = new LinkedHashMap<>();
    members.forEach(member -> leaving.put(member.name, leaving(member)));
    leaving.forEach(
        (name, left) -> answers.ask("leave " + name, LEAVE_MAX, left.map(none -> true)));
    collectors.forEach(collector -> closing.add(collector.close()));
    closing.add(sender.close());
    closing.add(services.close());
    answers.ask("all closed", LEAVE_MAX, Future.join(closing).otherwiseEmpty());
    long until = System.nanoTime() + CLEAR_PATIENCE.toNanos();
    List<String> left;
    do {
      left = deleteAll();
    } while (!left.isEmpty() && System.nanoTime() < until && pause(TRY_MILLIS));
    if (!left.isEmpty()) {
      model.fault(Promise.NOTHING_IS_LEFT, "cannot be deleted: " + left);
    }
  }

  /**
   * Deletes all groups, topics and quotas of this run that there are, and returns what they are.
   */
  private List<String> deleteAll() {
    List<GroupSummary> allGroups = answers.quietly("groups", admin().groups());
    List<TopicView> allTopics = answers.quietly("topics", admin().topics());
    List<QuotaView> allQuotas = answers.quietly("quotas", admin().quotas());
    if (allGroups == null || allTopics == null || allQuotas == null) {
      return List.of("nobody knows what");
    }
    List<String> ownGroups = own(allGroups.stream().map(GroupSummary::group));
    List<String> ownTopics = own(allTopics.stream().map(TopicView::name));
    deleteAll("groups", ownGroups, name -> admin().deleteGroup(name, false));
    deleteAll("topics", ownTopics, name -> admin().deleteTopic(name));
    List<String> found = new ArrayList<>(ownGroups);
    found.addAll(ownTopics);
    for (QuotaView each : allQuotas) {
      if (isOwn(each.name())) {
        found.add("quota " + each.name());
        answers.done("no quota " + each.name(), admin().clearQuota(each.kind(), each.name()));
      }
    }
    return found;
  }

  private List<String> own(Stream<String> names) {
    return names.filter(this::isOwn).toList();
  }

  /** Some at a time. */
  private void deleteAll(String what, List<String> names, Function<String, Future<?>> delete) {
    for (int i = 0; i < names.size(); i += DELETED_AT_A_TIME) {
      List<String> some = names.subList(i, Math.min(names.size(), i + DELETED_AT_A_TIME));
      answers.all(
          "delete " + what + " " + some,
          some.stream().<Future<?>>map(delete).toList(),
          Refusal.UNKNOWN_TOPIC,
          Refusal.UNKNOWN_GROUP,
          Refusal.GROUP_ACTIVE);
    }
  }

  private boolean isOwn(String name) {
    return name.matches(run + "[^0-9].*");
  }
}
