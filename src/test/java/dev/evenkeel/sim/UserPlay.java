package dev.evenkeel.sim;

import static dev.evenkeel.model.Sequence.any;

import dev.evenkeel.client.ConsumerOptions.Mode;
import dev.evenkeel.model.Kind;
import dev.evenkeel.model.Promise;
import dev.evenkeel.model.Sequence;
import dev.evenkeel.model.Step;
import dev.evenkeel.model.UserModel;
import dev.evenkeel.model.UserModel.Group;
import dev.evenkeel.model.UserModel.Sent;
import dev.evenkeel.model.UserModel.Topic;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.DeadLetter;
import dev.evenkeel.protocol.DelayedId;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.Pause;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.StartAt;
import dev.evenkeel.protocol.TopicConfig;
import dev.evenkeel.protocol.TopicInfo;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * One run of everything in virtual time, as the model's users do it on real nodes. What is answered
 * and handled goes to the {@link UserModel}; entries of the log are judged by a {@link Ledger} for
 * each group.
 */
final class UserPlay {
  /** What may be answered at any time. */
  private static final Set<Refusal> PASSING =
      EnumSet.of(
          Refusal.UNAVAILABLE, Refusal.NOT_LEADER, Refusal.INDETERMINATE, Refusal.OVERLOADED);

  /** What can be played here. */
  static final Set<Step> POSSIBLE =
      EnumSet.of(
          Step.CREATE_TOPIC,
          Step.CONFIGURE_TOPIC,
          Step.DELETE_TOPIC,
          Step.DELETE_AND_CREATE,
          Step.RESHARD,
          Step.SEND,
          Step.SEND_MANY,
          Step.SEND_LATER,
          Step.CANCEL_DELAYED,
          Step.JOIN,
          Step.SUBSCRIBE,
          Step.UNSUBSCRIBE,
          Step.LEAVE,
          Step.EXPIRE,
          Step.HANG,
          Step.PAUSE,
          Step.PAUSE_ONE_TOPIC,
          Step.RESUME,
          Step.RESET_TO_EARLIEST,
          Step.RESET_TO_LATEST,
          Step.REPLAY,
          Step.DROP_DEAD_LETTERS,
          Step.DELETE_GROUP,
          Step.RESTART_NODE,
          Step.KILL_NODE,
          Step.HANG_NODE,
          Step.CUT_NODE,
          Step.SET_CLOCK,
          Step.DRAIN_NODE,
          Step.LET_TIME_PASS,
          Step.KILL_MEMBER,
          Step.CUT_MEMBER,
          Step.SUSPEND_MEMBER,
          Step.REPLACE_DISPATCHER,
          Step.CLEAR_MAPS);

  private static final int TOPICS_MAX = 3;
  private static final int GROUPS_MAX = 4;
  private static final int MEMBERS_MAX = 3;
  private static final String ALL_TOPICS = "t*";

  /** So long somebody waits for an answer, or for something to happen. */
  private static final long ANSWER_MILLIS_MAX = 40_000;

  /** Where all that is left fails, the breaker of a member stays open for ten minutes at a time. */
  private static final long SETTLE_MILLIS_MAX = 1_300_000;

  private static final long LOOK_MILLIS = 200;
  private static final long BETWEEN_STEPS_MILLIS_MAX = 1_500;
  private static final long FAULT_MILLIS_MAX = 9_000;
  private static final long FAULT_LASTS_MILLIS = 60_000;
  private static final long HANG_MILLIS_MAX = 10_000;
  private static final long HOUR_MILLIS = 3_600_000;

  /**
   * Hours that pass at a time: up to days, and beyond the time after which groups are forgotten.
   */
  private static final List<Integer> HOURS = List.of(1, 1, 2, 3, 6, 12, 26, 40);

  /** Absence counts in steps: a group is kept for a part of the time for sure. */
  private static final int SURELY_OF = 4;

  /** The topic of a name, as a consumer reads it. */
  private record Reading(SimConsumer consumer, Topic topic) {}

  final UserModel model = new UserModel();

  /** The operations that were done, and the settings that were in effect. */
  final Set<String> happened = new LinkedHashSet<>();

  private final List<String> log = new ArrayList<>();
  private final boolean lossy;
  private final UserWorld world;
  private final UserSender sender;
  private final Map<String, Topic> topics = new LinkedHashMap<>();
  private final Map<String, UserGroup> groups = new LinkedHashMap<>();

  /** When runs of members began, as the model counts. */
  private final Map<SimConsumer, Long> joined = new HashMap<>();

  private final Set<Reading> readings = new HashSet<>();
  private long shakenUntil;
  private int made;

  UserPlay(long seed, Bug bug, boolean tracing) {
    lossy = seed % 2 == 0;
    world = new UserWorld(seed, lossy, bug, model, tracing);
    sender = new UserSender(world);
  }

  /** What was done, and when. */
  String log() {
    return String.join(System.lineSeparator(), log);
  }

  List<String> trace() {
    return world.time.trace();
  }

  /** Plays a sequence to its end; the model knows what was wrong. */
  void play(Sequence sequence) {
    try {
      for (Sequence.Op op : sequence.ops()) {
        if (model.faults().isEmpty()) {
          play(op);
        }
      }
      if (model.faults().isEmpty()) {
        settle();
      }
    } catch (AssertionError | RuntimeException broken) {
      model.fault(Promise.NOTHING_IS_LOST, "the ledger: " + broken);
    }
  }

  private void play(Sequence.Op op) {
    int a = op.a();
    int b = op.b();
    boolean done =
        switch (op.step()) {
          case CREATE_TOPIC -> createTopic(a, b);
          case CONFIGURE_TOPIC -> configure(a, b);
          case DELETE_TOPIC -> deleteTopic(a, false);
          case DELETE_AND_CREATE -> deleteTopic(a, true);
          case RESHARD -> reshard(a, b);
          case SEND -> send(a, b, 1 + b % 40, 0);
          case SEND_MANY -> send(a, b, 200 + b % 100, 0);
          case SEND_LATER -> send(a, b, 1 + b % 20, delay(b));
          case CANCEL_DELAYED -> cancelDelayed(a);
          case JOIN -> join(a, b);
          case SUBSCRIBE -> subscribe(a, b);
          case UNSUBSCRIBE -> unsubscribe(a, b);
          case LEAVE -> leave(a);
          case HANG -> hang(b);
          case PAUSE -> pause(group(a), null);
          case PAUSE_ONE_TOPIC -> pause(group(a), topic(b));
          case RESUME -> resume(group(a));
          case RESET_TO_EARLIEST -> reset(group(a), true);
          case RESET_TO_LATEST -> reset(group(a), false);
          case REPLAY -> deadLetters(group(a), true);
          case DROP_DEAD_LETTERS -> deadLetters(group(a), false);
          case DELETE_GROUP -> deleteGroup(a);
          case LET_TIME_PASS -> letTimePass(a);
          case EXPIRE, KILL_MEMBER, CUT_MEMBER, SUSPEND_MEMBER -> trouble(op.step(), a, b);
          default -> fault(op.step(), a, b);
        };
    if (done) {
      happened.add(op.step().toString());
    }
    pass(world.random.nextLong(BETWEEN_STEPS_MILLIS_MAX));
  }

  // ---- Time

  private void note(String line) {
    log.add("%11.3f %s".formatted((world.time.now() - Cluster.START) / 1e3, line));
    world.time.note(() -> "---- " + line);
  }

  private void pass(long millis) {
    world.time.runUntil(world.time.now() + millis);
    look();
  }

  /** Lets time pass until something is so; returns whether it is. */
  private boolean await(BooleanSupplier isSo, long millisMax) {
    long until = world.time.now() + millisMax;
    while (!isSo.getAsBoolean()) {
      if (world.time.now() >= until || !model.faults().isEmpty()) {
        return false;
      }
      pass(LOOK_MILLIS);
    }
    return true;
  }

  /** An answer that somebody waits for. */
  private static final class Asked<T> implements Network.Answer<T> {
    private T value;
    private RefusedException refused;
    private boolean over;

    @Override
    public void give(T given) {
      value = given;
      over = true;
    }

    @Override
    public void refuse(RefusedException no) {
      refused = no;
      over = true;
    }

    @Override
    public void never() {
      over = true;
    }
  }

  /**
   * Waits for the answer; null if there is none, or if it was refused for one of these reasons, or
   * for a passing one. Every other refusal is a fault.
   */
  private <T> T ask(String what, Network.Server<T> server, Refusal... expected) {
    note(what);
    Asked<T> asked = new Asked<>();
    try {
      server.handle(asked);
    } catch (RefusedException no) {
      asked.refuse(no);
    }
    await(() -> asked.over, ANSWER_MILLIS_MAX);
    RefusedException no = asked.refused;
    if (no != null) {
      note("  refused: " + no);
      if (!PASSING.contains(no.refusal()) && !List.of(expected).contains(no.refusal())) {
        model.fault(Promise.ANSWERS, what + ": " + no);
      }
    }
    return asked.value;
  }

  /** As {@link #ask}, for the replies of logs. */
  private boolean done(String what, Consumer<Consumer<Reply>> call, Refusal... expected) {
    Reply reply =
        this.<Reply>ask(
            what,
            answer ->
                call.accept(
                    given -> {
                      if (given instanceof Reply.Refused no) {
                        answer.refuse(no.exception());
                      } else {
                        answer.give(given);
                      }
                    }),
            expected);
    return reply != null;
  }

  private SimDispatcher dispatcher() {
    SimDispatcher dispatcher = world.newest();
    if (dispatcher == null || dispatcher.gone) {
      throw new RefusedException(Refusal.UNAVAILABLE, "no dispatcher");
    }
    return dispatcher;
  }

  /** Which groups read what by now. */
  private void look() {
    for (SimConsumer consumer : world.consumers) {
      UserGroup of = (UserGroup) consumer.group;
      for (Topic topic : topics.values()) {
        boolean reads =
            of.kind().pattern() ? !consumer.reads.isEmpty() : consumer.reads.contains(topic.name);
        boolean current = consumer.topics.equals(consumer.reads);
        if (reads && current && readings.add(new Reading(consumer, topic))) {
          model.reads(of.group, topic, joined.get(consumer));
        }
      }
    }
    for (UserGroup each : groups.values()) {
      each.aloneSince = hasMembers(each) ? -1 : Math.max(each.aloneSince, 0);
      if (each.aloneSince == 0) {
        each.aloneSince = world.time.now();
      }
    }
  }

  // ---- Choosing

  private Topic topic(int which) {
    return any(List.copyOf(topics.values()), which);
  }

  private UserGroup group(int which) {
    return any(List.copyOf(groups.values()), which);
  }

  private List<SimConsumer> members(UserGroup group) {
    return world.consumers.stream().filter(each -> each.group == group && !each.closing).toList();
  }

  private SimConsumer member(int which) {
    return any(world.consumers.stream().filter(each -> !each.closing).toList(), which);
  }

  private boolean hasMembers(UserGroup group) {
    return !members(group).isEmpty();
  }

  /** Members may be given up while they run, and so may those of groups that come soon. */
  private void shake() {
    shakenUntil = world.time.now() + FAULT_LASTS_MILLIS;
    groups.values().forEach(each -> each.group.shaken = true);
  }

  // ---- Topics

  private boolean createTopic(int shards, int settings) {
    return topics.size() < TOPICS_MAX && createTopic("t" + made++, shards, settings);
  }

  private boolean createTopic(String name, int shards, int settings) {
    Topic topic = new Topic(name);
    TopicConfig config = config(topic, settings % 6);
    int count = 1 + shards % 4;
    long asked = model.moment();
    boolean done =
        done(
            "create " + name + " " + count + " " + config,
            reply -> world.brokers.createSlowly(name, count, config, reply));
    if (done) {
      topics.put(name, topic);
      world.made(topic, world.brokers.topic(name));
      // From its creation on, since these groups were there before, with members or without.
      groups.values().stream()
          .filter(each -> names(each, name) && reads(each) && isKnown(each))
          .forEach(each -> model.reads(each.group, topic, asked));
    }
    return done;
  }

  /** What is kept: a third of all topics keep everything that the sequence may see. */
  private TopicConfig config(Topic topic, int which) {
    TopicConfig usual = TopicConfig.DEFAULT;
    return switch (which) {
      case 0, 1 -> {
        topic.drops = true;
        happened.add("retention");
        yield new TopicConfig(which == 0 ? 500 : 2 * HOUR_MILLIS, -1, -1);
      }
      case 2 -> {
        topic.limited = true;
        happened.add("age limit");
        yield new TopicConfig(usual.retentionMillis(), 5 * HOUR_MILLIS, -1);
      }
      case 3 -> {
        topic.limited = true;
        happened.add("bytes limit");
        yield new TopicConfig(usual.retentionMillis(), -1, 10_000);
      }
      default -> {
        // A day is enough for what all groups have consumed.
        topic.drops = true;
        yield usual;
      }
    };
  }

  private boolean configure(int which, int settings) {
    Topic topic = topic(which);
    if (topic == null) {
      return false;
    }
    TopicConfig config = config(topic, settings % 5);
    TopicInfo info = world.brokers.topic(topic.name);
    return done(
        "change " + topic + " " + config,
        reply -> world.brokers.configureSlowly(info, config, reply));
  }

  private boolean deleteTopic(int which, boolean again) {
    Topic topic = topic(which);
    if (topic == null || topics.size() < 2 && !again) {
      return false;
    }
    topic.deleted = true;
    topics.remove(topic.name);
    boolean deleted =
        done("delete " + topic, reply -> world.brokers.deleteSlowly(topic.name, reply));
    if (deleted && again) {
      createTopic(topic.name, which, which / 8);
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
    return done(
        "reshard " + topic + " to " + count,
        reply -> world.brokers.reshardSlowly(topic.name, count, reply),
        Refusal.INVALID);
  }

  // ---- Messages

  /** Mostly some seconds, at times hours. */
  private static long delay(int b) {
    return b % 5 == 0 ? HOUR_MILLIS * (1 + b % 20) : 1 + b % 20_000;
  }

  private boolean send(int which, int keys, int count, long delayMillis) {
    Topic topic = topic(which);
    if (topic == null) {
      return false;
    }
    note("send " + count + " to " + topic + (delayMillis > 0 ? " in " + delayMillis : ""));
    sender.send(topic, count, keys, delayMillis);
    return true;
  }

  private boolean cancelDelayed(int which) {
    List<Sent> delayed = new ArrayList<>();
    for (Topic topic : topics.values()) {
      topic.messages.stream()
          .filter(sent -> sent.delayedId != null && !sent.cancelAsked)
          .forEach(delayed::add);
    }
    Sent sent = any(delayed, which);
    if (sent == null) {
      return false;
    }
    sent.cancelAsked = true;
    DelayedId id = DelayedId.parse(sent.delayedId);
    Shard shard = new Shard(world.brokers.topic(sent.topic.name).id(), id.shard());
    Reply reply =
        this.<Reply>ask(
            "cancel " + sent,
            answer -> world.brokers.of(shard).cancel(shard, id, answer),
            Refusal.UNKNOWN_MESSAGE,
            Refusal.UNKNOWN_SHARD);
    // One that was not there may have gone to another shard.
    model.cancelled(sent, reply instanceof Reply.Done ? Boolean.TRUE : null);
    return reply != null;
  }

  // ---- Members

  private boolean join(int which, int kind) {
    UserGroup group = group(which / 2);
    if (group == null || which % 2 == 0 && groups.size() < GROUPS_MAX) {
      group = newGroup(new Group("g" + made++, UserGroup.kind(kind)));
    }
    return group != null && join(group, which);
  }

  /** Null if there is no topic for what its handlers publish. */
  private UserGroup newGroup(Group group) {
    String name = group.name;
    Kind kind = group.kind;
    Ledger ledger = world.ledgers.get(name);
    if (ledger == null) {
      ledger = new Ledger(world.logs, false);
    }
    group.shaken = lossy || world.time.now() < shakenUntil;
    TopicInfo outputs = null;
    if (kind.publishes()) {
      String topic = "o" + made++;
      boolean done =
          done(
              "create " + topic,
              reply -> world.brokers.createSlowly(topic, 2, TopicConfig.DEFAULT, reply));
      if (!done) {
        return null;
      }
      outputs = world.brokers.topic(topic);
      world.publishes(group, outputs);
    }
    return new UserGroup(world, group, ledger, outputs);
  }

  private boolean join(UserGroup group, int which) {
    List<String> names = names(group, which);
    if (members(group).size() >= MEMBERS_MAX || names.isEmpty()) {
      return false;
    }
    return join(group, "m" + made++, names);
  }

  private boolean join(UserGroup group, String name, List<String> names) {
    note("join " + group + " as " + name + " " + names);
    comesBack(group);
    world.ledgers.put(group.name(), group.ledger());
    groups.put(group.name(), group);
    happened.addAll(group.kind().settings());
    long asked = model.moment();
    model.joins(group.group, name);
    SimConsumer consumer = world.join(group, name, names);
    joined.put(consumer, asked);
    await(() -> consumer.gone || consumer.reads.equals(names), ANSWER_MILLIS_MAX);
    return consumer.reads.equals(names);
  }

  /** Whether a member of it has ever been told that the group reads its topics. */
  private boolean reads(UserGroup group) {
    return readings.stream().anyMatch(each -> each.consumer.group == group)
        || members(group).stream().anyMatch(each -> !each.reads.isEmpty());
  }

  /** Whether the group is subscribed to every topic of that name. */
  private static boolean names(UserGroup group, String name) {
    return group.kind().pattern()
        || group.group.topics().stream().anyMatch(topic -> topic.name.equals(name));
  }

  private boolean isKnown(UserGroup group) {
    return world.brokers.groupInfos().stream().anyMatch(each -> each.name().equals(group.name()));
  }

  /** Whether a group that had no members was forgotten meanwhile: then it begins anew. */
  private void comesBack(UserGroup group) {
    if (group.aloneSince <= 0) {
      return;
    }
    long away = world.time.now() - group.aloneSince;
    boolean known = isKnown(group);
    if (!known && away < UserWorld.FORGET_MILLIS / SURELY_OF) {
      model.fault(Promise.NOTHING_IS_LOST, group + " is forgotten after " + away + " ms");
    }
    if (!known) {
      note("  it was forgotten");
      model.resumed(group.group, null);
      List.copyOf(group.group.topics()).forEach(topic -> model.forgets(group.group, topic));
    }
  }

  /** What a member of the group reads: the same as its other members. */
  private List<String> names(UserGroup group, int which) {
    if (group.kind().pattern()) {
      return List.of(ALL_TOPICS);
    }
    Set<String> known = new LinkedHashSet<>();
    group.group.topics().forEach(topic -> known.add(topic.name));
    known.retainAll(topics.keySet());
    if (!group.group.topics().isEmpty()) {
      return List.copyOf(known);
    }
    Topic one = topic(which);
    Topic two = topic(which + which % 3);
    return one == null ? List.of() : one == two ? List.of(one.name) : List.of(one.name, two.name);
  }

  private boolean subscribe(int which, int other) {
    UserGroup group = subscriber(which);
    Topic topic = topic(other);
    if (group == null || topic == null || group.group.topics().contains(topic)) {
      return false;
    }
    note("subscribe " + group + " to " + topic);
    for (SimConsumer each : members(group)) {
      List<String> names = new ArrayList<>(each.topics);
      names.add(topic.name);
      joined.put(each, model.moment());
      each.subscribe(names);
    }
    return await(() -> allRead(group), ANSWER_MILLIS_MAX);
  }

  private boolean allRead(UserGroup group) {
    return members(group).stream().allMatch(each -> each.reads.equals(each.topics));
  }

  private boolean unsubscribe(int which, int other) {
    UserGroup group = subscriber(which);
    Topic topic = group == null ? null : any(List.copyOf(group.group.topics()), other);
    if (topic == null || group.group.topics().size() < 2 || topic.deleted) {
      return false;
    }
    String last = null;
    for (SimConsumer each : members(group)) {
      List<String> names = new ArrayList<>(each.topics);
      names.remove(topic.name);
      if (names.stream().noneMatch(topics::containsKey)) {
        return false;
      }
      each.subscribe(names);
      last = each.member;
    }
    group.group.topics().stream()
        .filter(each -> each.name.equals(topic.name))
        .toList()
        .forEach(each -> model.forgets(group.group, each));
    model.resumed(group.group, topic);
    readings.removeIf(each -> each.topic == topic && each.consumer.group == group);
    String leaver = last;
    note("unsubscribe " + group + " from " + topic);
    boolean read = await(() -> allRead(group), ANSWER_MILLIS_MAX);
    Reply reply =
        this.<Reply>ask(
            "forget " + topic,
            answer -> dispatcher().forget(group.name(), topic.name, leaver, answer),
            Refusal.UNKNOWN_TOPIC,
            Refusal.UNKNOWN_GROUP,
            Refusal.GROUP_ACTIVE);
    return read && reply != null;
  }

  /** A group with members that may change what they read; null: there is none. */
  private UserGroup subscriber(int which) {
    UserGroup group = group(which);
    return group == null
            || group.kind().pattern()
            || group.kind().mode() != Mode.SHARDED
            || !hasMembers(group)
        ? null
        : group;
  }

  private boolean leave(int which) {
    SimConsumer member = member(which);
    if (member == null) {
      return false;
    }
    note("leave " + member + " of " + member.group);
    model.leaves(((UserGroup) member.group).group, member.member);
    member.close();
    return await(() -> member.gone, ANSWER_MILLIS_MAX);
  }

  private boolean hang(int b) {
    long millis = 1_000 + b % HANG_MILLIS_MAX;
    note("handlers hang for " + millis);
    world.hangUntilMillis = world.time.now() + millis;
    if (millis >= World.LOCK_TIME_MILLIS) {
      // A handover does not wait longer than the lock time for a handler that runs.
      shake();
    }
    return true;
  }

  /** Something happens to one member. */
  private boolean trouble(Step step, int which, int b) {
    SimConsumer member = member(which);
    if (member == null) {
      return false;
    }
    UserGroup group = (UserGroup) member.group;
    group.group.shaken = true;
    long millis = b % FAULT_MILLIS_MAX;
    note(step + " " + member + " of " + group + " " + millis);
    switch (step) {
      case EXPIRE -> {
        SimDispatcher dispatcher = world.newest();
        if (dispatcher == null || dispatcher.gone) {
          return false;
        }
        dispatcher.expire(group.name(), member.member);
      }
      case KILL_MEMBER -> {
        member.crash();
        if (b % 2 == 0) {
          pass(millis);
          return names(group, which).isEmpty() || join(group, member.member, names(group, which));
        }
      }
      case CUT_MEMBER -> {
        member.cutOff = true;
        world.time.in(millis, null, null, () -> member.cutOff = false);
      }
      default -> member.suspend(millis);
    }
    return true;
  }

  // ---- Groups

  private boolean pause(UserGroup group, Topic topic) {
    if (group == null || topic != null && !group.group.topics().contains(topic)) {
      return false;
    }
    String name = topic == null ? null : topic.name;
    boolean done =
        submit(
            "pause " + group + (topic == null ? "" : " on " + topic),
            new MetaCommand.PauseGroup(group.name(), name, Pause.ALL_SHARDS, true));
    if (done) {
      // Who hears nothing starts nothing after that time.
      model.paused(group.group, topic, world.time.now() + UserGroup.MEMBER_TIMEOUT_MILLIS);
    }
    return done;
  }

  private boolean submit(String what, MetaCommand command) {
    return done(
        what,
        reply -> reply.accept(world.brokers.submit(command)),
        Refusal.UNKNOWN_TOPIC,
        Refusal.UNKNOWN_GROUP);
  }

  private boolean resume(UserGroup group) {
    if (group == null) {
      return false;
    }
    model.resumed(group.group, null);
    boolean done =
        submit(
            "resume " + group,
            new MetaCommand.PauseGroup(group.name(), null, Pause.ALL_SHARDS, false));
    world.brokers.groups().forEach(DataGroup::resumed);
    return done;
  }

  private boolean reset(UserGroup group, boolean earliest) {
    if (group == null || group.group.topics().isEmpty()) {
      return false;
    }
    List<Topic> read = List.copyOf(group.group.topics());
    if (read.stream().anyMatch(topic -> topic.deleted)) {
      return false;
    }
    List<Shard> shards = new ArrayList<>();
    read.forEach(topic -> shards.addAll(world.brokers.topic(topic.name).all()));
    StartAt to = earliest ? StartAt.EARLIEST : StartAt.LATEST;
    long asked = model.moment();
    // Until it is answered, nobody knows.
    read.forEach(topic -> model.unsure(group.group, topic));
    shards.forEach(shard -> group.ledger().asked(shard, to));
    Map<Shard, Lease> leases =
        this.<Map<Shard, Lease>>ask(
            "reset " + group + " to " + to,
            answer -> dispatcher().reset(group.name(), shards, to, true, answer),
            Refusal.UNKNOWN_GROUP,
            Refusal.UNKNOWN_SHARD);
    boolean done = leases != null && leases.values().stream().allMatch(Objects::nonNull);
    if (done) {
      leases.forEach((shard, lease) -> group.ledger().told(shard, to, lease));
      read.forEach(topic -> model.reset(group.group, topic, earliest, asked));
    }
    return done;
  }

  private boolean deadLetters(UserGroup group, boolean replay) {
    if (group == null || !world.brokers.allLed()) {
      return false;
    }
    model.lettersTouched(group.group);
    note((replay ? "replay " : "drop ") + group);
    boolean any = false;
    for (Shard shard : shards(group)) {
      List<Long> offsets = letters(group, shard).stream().map(DeadLetter::offset).toList();
      DataCommand command =
          replay
              ? new DataCommand.ReplayDeadLetters(group.name(), shard, offsets)
              : new DataCommand.DropDeadLetters(group.name(), shard, offsets);
      if (!offsets.isEmpty()) {
        any = true;
        world.brokers.of(shard).submit(group.name(), shard, command, null, Network.nobody());
      }
    }
    return any;
  }

  /** All shards of the topics that it reads. */
  private List<Shard> shards(UserGroup group) {
    List<Shard> shards = new ArrayList<>();
    for (Topic topic : group.group.topics()) {
      TopicInfo info = topic.deleted ? null : world.brokers.topic(topic.name);
      if (info != null) {
        shards.addAll(info.all());
      }
    }
    return shards;
  }

  private List<DeadLetter> letters(UserGroup group, Shard shard) {
    return world.brokers.of(shard).deadLetters(group.name(), shard);
  }

  /** All members leave, the group is deleted, and another of its name may come. */
  private boolean deleteGroup(int which) {
    UserGroup group = group(which);
    if (group == null) {
      return false;
    }
    for (SimConsumer each : members(group)) {
      model.leaves(group.group, each.member);
      each.close();
    }
    await(() -> world.consumers.stream().noneMatch(each -> each.group == group), ANSWER_MILLIS_MAX);
    Reply deleted =
        this.<Reply>ask(
            "delete " + group,
            answer -> dispatcher().forget(group.name(), null, null, answer),
            Refusal.UNKNOWN_GROUP,
            Refusal.GROUP_ACTIVE);
    groups.remove(group.name());
    if (deleted != null && which % 2 == 0) {
      UserGroup next = newGroup(group.group.next());
      if (next != null) {
        join(next, which);
      }
    }
    return deleted != null;
  }

  // ---- Machines and time

  private boolean letTimePass(int which) {
    int hours = any(HOURS, which);
    note(hours + " hours pass");
    shake();
    world.letTimePass(hours * HOUR_MILLIS);
    look();
    return true;
  }

  private boolean fault(Step step, int a, int b) {
    SimNode node = world.nodes.get(a % SimNodes.COUNT);
    long millis = b % FAULT_MILLIS_MAX;
    note(step + " " + node + " " + millis);
    shake();
    switch (step) {
      case RESTART_NODE, KILL_NODE -> {
        on(node).forEach(world::dispatcherCrashes);
        world.brokers.groups().forEach(group -> group.restartOn(node));
        if (step == Step.KILL_NODE) {
          connected(a).forEach(member -> cut(member, millis));
        }
      }
      case HANG_NODE -> {
        on(node).forEach(each -> each.pausedUntil = world.time.now() + millis);
        world.brokers.groups().forEach(group -> group.leadsNoMore(node));
      }
      case CUT_NODE -> {
        if (!on(node).isEmpty()) {
          world.replaceDispatcher(millis);
        }
        world.brokers.groups().forEach(group -> group.leadsNoMore(node));
      }
      case DRAIN_NODE -> world.brokers.groups().forEach(DataGroup::moveAny);
      case SET_CLOCK -> world.nodes.setAnyClock();
      case REPLACE_DISPATCHER -> world.replaceDispatcher(millis);
      case CLEAR_MAPS -> world.clearMaps();
      default -> throw new IllegalStateException("not played here: " + step);
    }
    return true;
  }

  private List<SimDispatcher> on(SimNode node) {
    return world.dispatchers.stream().filter(each -> each.node == node).toList();
  }

  /** Members that were connected to a node: some. */
  private List<SimConsumer> connected(int which) {
    return world.consumers.stream()
        .filter(each -> Math.floorMod(each.instance.hashCode() + which, 3) == 0)
        .toList();
  }

  private void cut(SimConsumer member, long millis) {
    member.link(false);
    world.time.in(millis, member, null, () -> member.link(true));
  }

  // ---- The end

  /** Lets everything come to rest, and sees whether all is as it must be. */
  private void settle() {
    world.calm();
    note("no more faults");
    pass(LOOK_MILLIS);
    for (UserGroup group : List.copyOf(groups.values())) {
      resume(group);
      if (!hasMembers(group) && !names(group, 1).isEmpty()) {
        join(group, 1);
      }
    }
    if (!await(sender::isDone, SETTLE_MILLIS_MAX)) {
      model.fault(Promise.ANSWERS, "not everything that was sent has an answer");
    }
    if (sender.lastDueMillis() > world.time.now()) {
      shake();
      world.letTimePass(sender.lastDueMillis() - world.time.now());
    }
    if (await(() -> missing().isEmpty(), SETTLE_MILLIS_MAX)) {
      world.brokers.groups().forEach(DataGroup::compare);
    } else if (model.faults().isEmpty()) {
      missing().forEach(model::fault);
    }
  }

  private Map<Promise, String> missing() {
    Map<Promise, String> missing = new EnumMap<>(Promise.class);
    for (UserGroup each : groups.values()) {
      if (!hasMembers(each)) {
        continue;
      }
      Group group = each.group;
      Set<String> letters = letters(each);
      first(missing, Promise.NOTHING_IS_LOST, group, model.missing(group, letters));
      first(missing, Promise.DEAD_LETTERS, group, model.unexplained(group, letters));
      first(missing, Promise.OUTPUTS, group, model.unpublished(group, letters));
      first(missing, Promise.STATE_COMES_ALONG, group, model.notKept(group, letters));
      first(missing, Promise.LAG, group, lag(each));
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

  private Set<String> letters(UserGroup group) {
    Set<String> places = new HashSet<>();
    for (Topic topic : group.group.topics()) {
      TopicInfo info = topic.deleted ? null : world.brokers.topic(topic.name);
      if (info != null) {
        for (Shard shard : info.all()) {
          letters(group, shard)
              .forEach(
                  letter ->
                      places.add(UserModel.place(topic.name, shard.shard(), letter.offset())));
        }
      }
    }
    return places;
  }

  /** Where the group is not at the end. */
  private List<String> lag(UserGroup group) {
    List<String> behind = new ArrayList<>();
    for (Shard shard : shards(group)) {
      Lease lease = world.brokers.of(shard).lease(group.name(), shard);
      long end = world.logs.end(shard);
      TopicInfo topic = world.brokers.topic(shard.topicId());
      boolean over =
          lease != null
              && (topic.isSealed(shard.shard()) ? lease.finished() : lease.committed() == end);
      if (!over) {
        behind.add(shard + " ends at " + end + ": " + lease);
      }
    }
    return behind;
  }
}
