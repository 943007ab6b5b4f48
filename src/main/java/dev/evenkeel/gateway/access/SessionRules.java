package dev.evenkeel.gateway.access;

import dev.evenkeel.api.ApiAddresses;
import dev.evenkeel.api.Need;
import dev.evenkeel.api.Permission.Kind;
import dev.evenkeel.bus.Calls;
import dev.evenkeel.bus.FetchManyRequest;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.bus.KnownIds;
import dev.evenkeel.bus.Op;
import dev.evenkeel.bus.ViewSince;
import dev.evenkeel.bus.level.Report;
import dev.evenkeel.bus.rate.ReserveRequest;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.ProducerIds;
import dev.evenkeel.protocol.Quota;
import dev.evenkeel.protocol.QuotaKind;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.SpoolPublisher;
import dev.evenkeel.protocol.TopicPattern;
import dev.evenkeel.protocol.wire.AppendBody;
import dev.evenkeel.protocol.wire.ByteReader;
import dev.evenkeel.protocol.wire.CommandCodec;
import dev.evenkeel.protocol.wire.FeatureLevel;
import dev.evenkeel.protocol.wire.RecordCodec;
import dev.evenkeel.protocol.wire.RetryRequest;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.nio.ByteBuffer;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Who may send what over a session: first, whatever the permissions, only what a client needs; then
 * what the permissions allow.
 *
 * <p>Every method throws {@link RefusedException} FORBIDDEN, naming what is missing; INVALID for a
 * malformed request; and UNAVAILABLE if this node has not heard yet of a topic that the request
 * names by its id.
 */
public final class SessionRules {
  private static final String CONTROL = ".control";

  private final KnownIds ids;
  private final VisibleViews views = new VisibleViews();

  public SessionRules(KnownIds ids) {
    this.ids = ids;
  }

  /** Checks a request to the control or data address of a broker. */
  public void broker(Principal principal, boolean control, Buffer request) {
    Op op = Frames.op(request);
    if (!op.ofClients(control)) {
      throw nodesOnly("the operation " + op);
    }
    switch (op) {
      case SUBMIT_DATA -> data(principal, request);
      case SUBMIT_META -> meta(principal, request);
      case RESERVE -> reserve(principal, Calls.RESERVE.asked(request));
      default -> {
        if (principal.bound()) {
          read(principal, op, Frames.body(request));
        }
      }
    }
  }

  private static RefusedException nodesOnly(String what) {
    return Refusal.FORBIDDEN.error("%s is for nodes only", what);
  }

  private void read(Principal principal, Op op, ByteBuffer body) {
    switch (op) {
      case APPEND -> append(principal, body);
      case FETCH, BROWSE -> {
        // Not the filter behind it, which may be large: the broker reads that.
        ByteReader in = new ByteReader(body);
        fetch(principal, in.neededText(), RecordCodec.shard(in));
      }
      case FETCH_MANY ->
          FetchManyRequest.withoutFilter(body)
              .forEach(each -> fetch(principal, each.group(), each.shard()));
      case READ_LEASE -> {
        ByteReader in = new ByteReader(body);
        member(principal, in.neededText(), RecordCodec.shard(in));
      }
      case FIND_OFFSET -> consume(principal, RecordCodec.shard(new ByteReader(body)));
      case FETCH_RETRIES -> {
        RetryRequest retries = RetryRequest.decode(body);
        member(principal, retries.group(), retries.shard());
      }
      case AWAIT_REPLICAS -> {}
      default -> throw nodesOnly("the operation " + op);
    }
  }

  private void append(Principal principal, ByteBuffer body) {
    AppendBody.Item checked = null;
    for (AppendBody.Item item : AppendBody.read(body)) {
      int topicId = item.shard().topicId();
      if (checked == null || topicId != checked.shard().topicId()) {
        topic(principal, Kind.PRODUCE, topicId);
      }
      long producerId = item.batch().producerId();
      if (checked == null || producerId != checked.batch().producerId()) {
        remembered(SpoolPublisher.producerId(producerId), item.batch().producerEpoch());
        producer(principal, producerId);
      }
      checked = item;
    }
  }

  private void fetch(Principal principal, String group, Shard shard) {
    if (group.isEmpty()) {
      consume(principal, shard);
    } else {
      member(principal, group, shard);
    }
  }

  private void consume(Principal principal, Shard shard) {
    topic(principal, Kind.CONSUME, shard.topicId());
  }

  private void member(Principal principal, String group, Shard shard) {
    principal.require(Kind.GROUP, group);
    consume(principal, shard);
  }

  /**
   * Checks a topic by its id. One that was deleted has no name, and needs a permission for all. The
   * refusal tells the name only to who may know that the topic exists.
   */
  private void topic(Principal principal, Kind kind, int id) {
    String known = ids.topic(id);
    String name = known == null ? Need.NO_NAME : known;
    if (!principal.has(Need.of(name, kind))) {
      throw principal.denied(
          kind.word() + ":" + (principal.seesTopic(name) ? name : "NAME of the topic " + id));
    }
  }

  /** Checks the id of a producer, which says who may use it: see {@link ProducerIds}. */
  private void producer(Principal principal, long given) {
    long id = SpoolPublisher.producerId(given);
    int tag = ProducerIds.tag(id);
    if (ProducerIds.isOfGroup(id)) {
      if (ids.groups(tag).stream().noneMatch(group -> principal.has(Need.of(group, Kind.GROUP)))) {
        throw principal.denied("group:NAME of the group whose handlers publish as " + id);
      }
    } else if (tag != 0) {
      if (tag != principal.producerTag()) {
        throw Refusal.FORBIDDEN.error(
            "the producer %s is that of another user: show the token of the user who began it, or"
                + " its spool",
            id);
      }
    } else {
      String name = id == 0 ? null : ids.producer(id);
      if (name != null && !principal.mayUseProducer(name)) {
        throw principal.denied("producer:NAME of the producer " + id);
      }
    }
  }

  /** Whoever has a name that was forgotten is to register it again, and not to wait for it. */
  private void remembered(long producer, int epoch) {
    if (ids.isForgotten(producer, epoch)) {
      throw Refusal.UNKNOWN_PRODUCER.error(
          "the cluster has forgotten the name of the producer %s, which was silent for long:"
              + " register it again",
          producer);
    }
  }

  /** Checks the id under which handlers of a group publish. */
  private void publisher(Principal principal, DataCommand.OpenPublisher open) {
    long id = open.producerId();
    if (ProducerIds.isOfGroup(id)) {
      if (ProducerIds.tag(id) != ProducerIds.tagOf(open.group())) {
        throw Refusal.FORBIDDEN.error("the producer %s is that of another group", id);
      }
    } else if (open.fresh()) {
      producer(principal, id);
    }
    // Else it has to be that of the group already: a member of a former version registered it.
    if (!ids.groups(ProducerIds.tagOf(open.group())).contains(open.group())) {
      // The producer of a group that never comes would stay for ever.
      throw Refusal.UNAVAILABLE.error(
          "this node does not know the group '%s' yet: try again", open.group());
    }
  }

  /** Whether the answer to a request of a session is an id that is to say whose it is. */
  private boolean registers(Principal principal, String address, Buffer request) {
    return principal.bound()
        && address.endsWith(CONTROL)
        && Frames.op(request) == Op.SUBMIT_META
        && Calls.SUBMIT_META.asked(request) instanceof MetaCommand.RegisterProducer asked
        && asked.isUnnamed()
        && ids.featureLevel() >= FeatureLevel.PRODUCER_OWNERS;
  }

  /** The answer to a request of a session: an id of a producer without a name says whose it is. */
  public Buffer owned(Principal principal, String address, Buffer request, Buffer answer) {
    if (!registers(principal, address, request)) {
      return answer;
    }
    try {
      return Calls.SUBMIT_META.answered(answer) instanceof Reply.OfProducer of
          ? Calls.SUBMIT_META.answer(
              new Reply.OfProducer(
                  ProducerIds.ofUser(of.producerId(), principal.name()), of.epoch()))
          : answer;
    } catch (RefusedException refused) {
      return answer;
    }
  }

  private void data(Principal principal, Buffer request) {
    ByteReader in = new ByteReader(Frames.body(request));
    in.i32();
    Class<? extends DataCommand> type = CommandCodec.dataType(in);
    if (!DataCommand.OfClients.class.isAssignableFrom(type)) {
      throw nodesOnly("the command " + type.getSimpleName());
    }
    if (!principal.bound()) {
      return;
    }
    DataCommand command = CommandCodec.data(in);
    if (command instanceof DataCommand.OfLease of) {
      member(principal, of.group(), of.shard());
    }
    if (command instanceof DataCommand.CommitMany many) {
      many.positions().forEach(each -> member(principal, each.group(), each.shard()));
    } else if (command instanceof DataCommand.SetPublisher set) {
      producer(principal, set.producerId());
    } else if (command instanceof DataCommand.OpenPublisher open
        && SpoolPublisher.isGroup(open.group())) {
      topic(principal, Kind.PRODUCE, open.input().topicId());
      long spool = SpoolPublisher.producerId(open.producerId());
      producer(principal, spool);
      if (!open.group().equals(SpoolPublisher.group(spool))) {
        throw nodesOnly("another producer's name");
      }
    } else if (command instanceof DataCommand.OpenPublisher open) {
      if (open.group().equals(DataCommand.OpenPublisher.DELAYED)) {
        throw nodesOnly("moving delayed messages");
      }
      member(principal, open.group(), open.input());
      publisher(principal, open);
    } else if (command instanceof DataCommand.OpenProducer open) {
      if (ProducerIds.isOfGroup(open.producerId())) {
        throw nodesOnly("the producer of a group");
      }
      producer(principal, open.producerId());
    }
  }

  private void meta(Principal principal, Buffer request) {
    MetaCommand command = CommandCodec.meta(new ByteReader(Frames.body(request)));
    if (!(command instanceof MetaCommand.OfClients of)) {
      throw nodesOnly("the command " + command.getClass().getSimpleName());
    }
    String name = of.name();
    if (name != null && !name.isEmpty() && !principal.mayUseProducer(name)) {
      throw principal.denied("producer:" + name);
    }
    if (command instanceof MetaCommand.RegisterProducer asked && principal.bound()) {
      principal.require(Need.of(null, Kind.PRODUCE, Kind.GROUP));
      if (asked.isUnnamed() && ids.featureLevel() < FeatureLevel.OLDEST) {
        // Its id would not say whose it is, for as long as the producer lives.
        throw Refusal.UNAVAILABLE.error(
            "the cluster has just begun, and not all of its nodes have been there: try again");
      }
    }
  }

  /**
   * Members share the rate of their group. All other quotas are kept by nodes. A member may name a
   * rate for a group that has none; to change one takes more.
   */
  private void reserve(Principal principal, ReserveRequest asked) {
    Quota.Key key = asked.key();
    if (key.kind() != QuotaKind.GROUP_RATE) {
      throw nodesOnly("time for the quota of a " + key.kind().word());
    }
    if (!principal.bound()) {
      return;
    }
    principal.require(Kind.GROUP, key.name());
    if (asked.stated() == null || principal.has(Need.of(key.name(), Kind.ADMIN))) {
      return;
    }
    Quota known = ids.groupRate(key.name());
    if (known != null && !known.equals(asked.stated())) {
      throw Refusal.FORBIDDEN.error(
          "group '%s' has the rate %s, and the user '%s' needs the permission admin:%s to change it"
              + " to %s: name no rate, or that one",
          key.name(), known.limits(), principal.name(), key.name(), asked.stated().limits());
    }
  }

  /** What a request changes for others, in a few words; null: nothing. */
  public @Nullable String act(String address, Buffer request) {
    if (!address.endsWith(CONTROL) || Frames.op(request) != Op.RESERVE) {
      return null;
    }
    Quota stated = Calls.RESERVE.asked(request).stated();
    return stated == null || stated.equals(knownRate(stated.name()))
        ? null
        : "quotas set kind=group-rate name=%s %s (named by a member)"
            .formatted(stated.name(), stated.limits());
  }

  private @Nullable Quota knownRate(String group) {
    try {
      return ids.groupRate(group);
    } catch (RefusedException unknown) {
      return null;
    }
  }

  /**
   * Checks a heartbeat. The dispatcher checks whether the run is the sender's own, and takes in, of
   * what its patterns match, only what the sender may consume.
   */
  public static void heartbeat(Principal principal, Buffer request) {
    if (!principal.bound()) {
      return;
    }
    if (request.length() > Heartbeat.BYTES_MAX) {
      throw Refusal.INVALID.error(
          "a heartbeat of %s bytes: at most %s; name fewer topics, or a pattern for many",
          request.length(), Heartbeat.BYTES_MAX);
    }
    JsonObject beat = json(request);
    principal.require(Kind.GROUP, text(beat.getValue("group")));
    if (beat.getValue("topics") instanceof JsonArray topics) {
      topics.stream()
          .map(SessionRules::text)
          .filter(topic -> !TopicPattern.is(topic))
          .forEach(topic -> principal.require(Kind.CONSUME, topic));
    }
  }

  /**
   * Checks a question about groups: a session may only ask that a group forgets a topic from which
   * its member unsubscribes.
   */
  public static void unsubscribing(Principal principal, Buffer request) {
    JsonObject question = json(request);
    boolean own =
        question.fieldNames().equals(Set.of("forget"))
            && question.getValue("forget") instanceof JsonObject forget
            && forget.getValue("leaver") instanceof String
            && forget.getValue("topic") instanceof String;
    if (!own) {
      throw nodesOnly("this question about groups");
    }
    principal.require(Kind.GROUP, text(question.getJsonObject("forget").getValue("group")));
  }

  /** Checks a report to a level dispatcher. */
  public static void report(Principal principal, Buffer request) {
    if (Frames.op(request) != Op.LEVEL_REPORT) {
      throw nodesOnly("the operation " + Frames.op(request));
    }
    if (principal.bound()) {
      principal.require(Kind.GROUP, text(Report.decode(Frames.body(request)).group()));
    }
  }

  /** Checks what a session asks of the keys of groups: they are hashes, and tell no group. */
  public static void dedup(Principal principal, String session, Buffer request, boolean steps) {
    ByteReader in = new ByteReader(Frames.bytes(request));
    if (steps) {
      itself(session, in);
    } else {
      in.neededText();
    }
    if (principal.bound() && principal.may().stream().noneMatch(p -> p.kind() == Kind.GROUP)) {
      throw principal.denied("group:NAME, whatever the name");
    }
  }

  private static void itself(String session, ByteReader in) {
    String named = in.neededText();
    if (!named.equals(session)) {
      throw Refusal.FORBIDDEN.error("session %s speaks for %s", session, named);
    }
  }

  /** Checks steps of a dedup by name. The node that answers checks whether the keys are its own. */
  public static void claims(Principal principal, String session, Buffer request) {
    ByteReader in = new ByteReader(Frames.bytes(request));
    itself(session, in);
    dedup(principal, in.neededText());
  }

  /** Checks a question whether the session is alive, and whether it may use a dedup by name. */
  public static void heard(Principal principal, String session, Buffer request) {
    ByteReader in = new ByteReader(Frames.bytes(request));
    itself(session, in);
    String name = in.neededText();
    if (!name.isEmpty()) {
      dedup(principal, name);
    }
  }

  private static void dedup(Principal principal, String name) {
    if (principal.bound()) {
      principal.require(Kind.GROUP, name);
    }
  }

  /**
   * Checks a question to an {@code evenkeel.api} address.
   *
   * @return the question as it was understood
   */
  public static JsonObject api(Principal principal, String address, Buffer request) {
    JsonObject question = question(address, request);
    ApiRules.check(principal, address, question);
    return question;
  }

  /** The part of a view of the cluster that the principal may see. */
  public Buffer visibleView(Principal principal, Buffer view) {
    return views.visible(principal, view);
  }

  /**
   * The question for a view as it goes to a broker: whoever saw other topics until now, because of
   * other permissions, gets all that are visible now.
   */
  public static Buffer viewQuestion(Principal principal, Buffer question) {
    ViewSince since = ViewSince.of(question);
    return since != null && since.visibleTo() == visibleTo(principal) ? question : Buffer.buffer();
  }

  static int visibleTo(Principal principal) {
    return principal.seesAll() ? 0 : principal.may().toString().hashCode() | 1;
  }

  /** A question to an {@code evenkeel.api} address. */
  static JsonObject question(String address, Buffer request) {
    return address.equals(ApiAddresses.PRODUCE)
            && ProduceQuestion.of(request) instanceof JsonObject many
        ? many
        : json(request);
  }

  private static JsonObject json(Buffer request) {
    try {
      return new JsonObject(request);
    } catch (DecodeException | ClassCastException e) {
      throw Refusal.INVALID.error("the request is no JSON object");
    }
  }

  private static String text(Object value) {
    return value instanceof String text ? text : "";
  }
}
