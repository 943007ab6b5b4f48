package dev.evenkeel.api;

import dev.evenkeel.protocol.Refusal;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One operation of the API: everything that is known of it beside its implementation.
 *
 * <p>The name of the question's record is the name of the operation, and its doc comment the
 * description. Over the event bus, a question is sent to {@link #address} with the {@link #action}
 * as a field beside those of the record. Over HTTP, fields come from the path, and else from the
 * query if the method has no body.
 *
 * @param <Q> the question
 * @param <A> the answer: a record, or a list of records
 */
public final class Operation<Q extends Record, A> {
  /** A method of HTTP. */
  public enum Method {
    GET,
    POST,
    PUT,
    PATCH,
    DELETE;

    /** Whether a request may have a body. */
    boolean hasBody() {
      return this != GET && this != DELETE;
    }
  }

  private static final Pattern PARAMETER = Pattern.compile("\\{(\\w+)}");

  /** The field of a question over the event bus that says which operation it is of. */
  public static final String ACTION = "action";

  private final @Nullable String address;
  private final @Nullable String action;
  private final RecordJson<Q> question;
  private final Class<Q> questionType;
  private final Class<? extends Record> answerType;
  private final boolean listed;

  private @Nullable Method method;
  private @Nullable String path;
  private int status = 200;
  private boolean changes;
  private boolean bodyNeeded = true;
  private boolean largeBody;
  private boolean ownRoute;
  private boolean open;
  private final Map<String, String> renamed = new HashMap<>();
  private final Map<String, String> elsewhere = new HashMap<>();
  private final Map<String, Class<? extends Record>> parts = new HashMap<>();
  private final List<String> busOnly = new ArrayList<>();
  private final Map<String, String> headers = new LinkedHashMap<>();
  private @Nullable String list;
  private @Nullable Heading heading;
  private final List<String> needed = new ArrayList<>();
  private final List<Refusal> refusals = new ArrayList<>();
  private final List<Function<JsonObject, Stream<Need>>> needs = new ArrayList<>();
  private Function<JsonObject, Stream<Need>> needsForAnswer = answer -> Stream.of();
  private @Nullable Function<JsonObject, Need> shows;
  private List<String> contents = List.of();
  private BiFunction<JsonObject, JsonObject, Stream<Need>> readContents =
      (question, item) -> Stream.of();
  private @Nullable Q questionExample;
  private @Nullable A answerExample;

  /** Null: it has no events. */
  private @Nullable Function<JsonObject, String> eventId;

  private Operation(
      @Nullable String address,
      @Nullable String action,
      Class<Q> questionType,
      Class<? extends Record> answerType,
      boolean listed) {
    this.address = address;
    this.action = action;
    this.question = RecordJson.of(questionType);
    this.questionType = questionType;
    this.answerType = answerType;
    this.listed = listed;
    heading =
        Stream.of(Heading.values())
            .filter(each -> address != null && address.endsWith("." + each.word()))
            .findFirst()
            .orElse(null);
  }

  /**
   * @param action null: the only operation of the address
   */
  static <Q extends Record, A extends Record> Operation<Q, A> of(
      @Nullable String address, @Nullable String action, Class<Q> question, Class<A> answer) {
    return Operations.add(new Operation<>(address, action, question, answer, false));
  }

  /** An operation that answers with a list. */
  static <Q extends Record, A extends Record> Operation<Q, List<A>> listOf(
      @Nullable String address, @Nullable String action, Class<Q> question, Class<A> item) {
    return Operations.add(new Operation<>(address, action, question, item, true));
  }

  /** An operation that only HTTP has. */
  static <Q extends Record, A extends Record> Operation<Q, A> http(
      Class<Q> question, Class<A> answer) {
    return of(null, null, question, answer).ownRoute();
  }

  /**
   * An operation that only HTTP has: its answer is a stream of server-sent events.
   *
   * @param id gives the id of the event with an item
   */
  static <Q extends Record, A extends Record> Operation<Q, List<A>> eventsOf(
      Class<Q> question, Class<A> item, Function<JsonObject, String> id) {
    Operation<Q, List<A>> operation = listOf(null, null, question, item);
    operation.eventId = id;
    return operation.ownRoute();
  }

  // ---- A row

  Operation<Q, A> get(String at) {
    return at(Method.GET, at);
  }

  Operation<Q, A> put(String at) {
    return at(Method.PUT, at);
  }

  Operation<Q, A> delete(String at) {
    return at(Method.DELETE, at);
  }

  Operation<Q, A> patch(String at) {
    return at(Method.PATCH, at);
  }

  Operation<Q, A> post(String at) {
    return at(Method.POST, at);
  }

  /** How HTTP asks it: parameters of the path are in braces. */
  private Operation<Q, A> at(Method by, String at) {
    method = by;
    path = at;
    return this;
  }

  /** Whoever asks needs one of these permissions for the name in a field of the question. */
  Operation<Q, A> needs(String field, Permission.Kind... kinds) {
    String name = field.toUpperCase(Locale.ROOT);
    String words =
        Stream.of(kinds).map(each -> each.word() + ":" + name).collect(Collectors.joining(" or "));
    return needs(words, asked -> Need.of(text(asked, field), kinds));
  }

  /**
   * Whoever asks needs this, too.
   *
   * @param words the same for people; null: the question's comment says it
   * @param need gives null if nothing is needed
   */
  Operation<Q, A> needs(@Nullable String words, Function<JsonObject, @Nullable Need> need) {
    return needsAll(words, asked -> Stream.ofNullable(need.apply(asked)));
  }

  /** Whoever asks needs all of these, too. */
  Operation<Q, A> needsAll(@Nullable String words, Function<JsonObject, Stream<Need>> all) {
    needs.add(all);
    if (words != null) {
      needed.add(words);
    }
    return this;
  }

  /** Whoever asks gets no answer without all of these, which depend on it. */
  Operation<Q, A> needsForAnswer(String words, Function<JsonObject, Stream<Need>> all) {
    needsForAnswer = all;
    needed.add(words);
    return this;
  }

  /** Everybody may ask, and sees of the list those items for which they have this. */
  Operation<Q, A> shows(Function<JsonObject, Need> need) {
    shows = need;
    return this;
  }

  /**
   * Some fields of what is in the answer have contents of messages. They are null for those who
   * have none of what it takes to read them.
   *
   * @param fields of an item of the list, or of the answer; each may also be in Base64
   * @param any any of these will do; it depends on the question and the item
   */
  Operation<Q, A> contents(
      String words, List<String> fields, BiFunction<JsonObject, JsonObject, Stream<Need>> any) {
    contents = fields;
    readContents = any;
    needed.add(words);
    return this;
  }

  /** It changes something beside messages: it is written into the audit log. */
  Operation<Q, A> changes() {
    changes = true;
    return this;
  }

  /** A request need not have a body: the question is whole without it. */
  Operation<Q, A> mayLackBody() {
    bodyNeeded = false;
    return this;
  }

  /** The status of HTTP if it is done, if not 200. */
  Operation<Q, A> status(int code) {
    status = code;
    return this;
  }

  /** A parameter of the path has another name than its field. */
  Operation<Q, A> named(String parameter, String field) {
    renamed.put(parameter, field);
    return this;
  }

  /** A field that questions have over the event bus only. */
  Operation<Q, A> busOnly(String field) {
    busOnly.add(field);
    return this;
  }

  /** An answer of which nothing else is known is the list in this field of it. */
  Operation<Q, A> oftenOnly(String field) {
    list = field;
    return this;
  }

  /** Over HTTP, a field of the answer is in a header, and not in the body. */
  Operation<Q, A> header(String name, String field) {
    headers.put(name, field);
    return this;
  }

  /** A field that questions cannot have, although people may look for it here. */
  Operation<Q, A> elsewhere(String field, String why) {
    elsewhere.put(field, why);
    return this;
  }

  /** A field is several parameters of the path, which are the components of a record. */
  Operation<Q, A> joined(String field, Class<? extends Record> of) {
    parts.put(field, of);
    RecordJson.of(of).fields().forEach(each -> renamed.put(each, field));
    return this;
  }

  /** A body may have thousands of names. */
  Operation<Q, A> largeBody() {
    largeBody = true;
    return this;
  }

  /** Over HTTP, more is to be done than to ask and to answer. */
  Operation<Q, A> ownRoute() {
    ownRoute = true;
    return this;
  }

  /** The heading under which it is described, if not that of its address. */
  Operation<Q, A> under(Heading under) {
    heading = under;
    return this;
  }

  /** It needs no user. */
  Operation<Q, A> open() {
    open = true;
    return this;
  }

  /** Refusals for which callers are to be prepared, beside those of any operation. */
  Operation<Q, A> refuses(Refusal... why) {
    refusals.addAll(List.of(why));
    return this;
  }

  /** An example of a question and of its answer. */
  Operation<Q, A> example(Q asked, A answered) {
    questionExample = asked;
    answerExample = answered;
    return this;
  }

  // ---- What is known of it

  /** Where it is asked over the event bus; null: nowhere. */
  public @Nullable String address() {
    return address;
  }

  /** The {@link #ACTION} of questions; null: they have none. */
  public @Nullable String action() {
    return action;
  }

  public Class<Q> questionType() {
    return questionType;
  }

  /** The answer, or each item of it. */
  public Class<? extends Record> answerType() {
    return answerType;
  }

  /** Whether the answer is a list. */
  public boolean isListed() {
    return listed;
  }

  /** Null: it cannot be asked over HTTP. */
  public @Nullable Method method() {
    return method;
  }

  public @Nullable String path() {
    return path;
  }

  /** The parameters of the path, in order; none if there is no path. */
  public List<String> parameters() {
    return path == null
        ? List.of()
        : PARAMETER.matcher(path).results().map(each -> each.group(1)).toList();
  }

  /** The field that a parameter of the path is, or is a part of. */
  public String field(String parameter) {
    return renamed.getOrDefault(parameter, parameter);
  }

  /** The record of the parts that are joined by slashes to a field; null: it is one parameter. */
  public @Nullable Class<? extends Record> parts(String field) {
    return parts.get(field);
  }

  /**
   * The JSON of the fields that the path of a request has.
   *
   * @param of gives the value of a parameter
   */
  public JsonObject ofPath(UnaryOperator<String> of) {
    JsonObject fields = new JsonObject();
    for (String each : parameters()) {
      String before = fields.getString(field(each));
      fields.put(field(each), before == null ? of.apply(each) : before + "/" + of.apply(each));
    }
    return fields;
  }

  /** The fields of a question that whoever asks says: all but that of the {@link Caller}. */
  public List<String> fields() {
    return question.fields().stream().filter(each -> !each.equals(question.caller())).toList();
  }

  /** Those of them that are whole numbers. */
  public List<String> numbers() {
    return fields().stream().filter(question::isNumber).toList();
  }

  /** Those of them that are in the body or in the query of a request. */
  public List<String> fieldsBesidePath() {
    List<String> ofPath = parameters().stream().map(this::field).toList();
    return fields().stream().filter(each -> !ofPath.contains(each)).toList();
  }

  /** Whether a request has a body. */
  public boolean hasBody() {
    return Objects.requireNonNull(method).hasBody() && !fieldsBesidePath().isEmpty();
  }

  /** The path with its parameters in another form. */
  public String path(UnaryOperator<String> parameter) {
    return PARAMETER
        .matcher(Objects.requireNonNull(path))
        .replaceAll(found -> Matcher.quoteReplacement(parameter.apply(found.group(1))));
  }

  /** The parameters of the query, if there is no body. */
  public List<String> queryParameters() {
    return fieldsBesidePath().stream().filter(each -> !busOnly.contains(each)).toList();
  }

  /** The field of the answer that often is all of it; null: there is none. */
  public @Nullable String oftenOnly() {
    return list;
  }

  /** The fields of the answer that are headers over HTTP, by the name of the header. */
  public Map<String, String> headers() {
    return Collections.unmodifiableMap(headers);
  }

  /** Whether a body may have thousands of names. */
  public boolean hasLargeBody() {
    return largeBody;
  }

  /** Whether HTTP has a route of its own for it. */
  public boolean hasOwnRoute() {
    return ownRoute;
  }

  /** The status of HTTP if it is done. */
  public int status() {
    return status;
  }

  /** What whoever asks needs. */
  public List<Need> needs(JsonObject asked) {
    return needs.stream().flatMap(each -> each.apply(asked)).toList();
  }

  /** What whoever asked needs to get an answer. */
  public List<Need> needsForAnswer(JsonObject answer) {
    return needsForAnswer.apply(answer).toList();
  }

  /** The fields with contents of messages. */
  public List<String> contents() {
    return contents;
  }

  /** Any of these will do to see the {@link #contents} of an item of the answer. */
  public Stream<Need> readContents(JsonObject question, JsonObject item) {
    return readContents.apply(question, item);
  }

  /** What whoever asks needs, for people; null: nothing. */
  public @Nullable String needed() {
    return needed.isEmpty() ? null : String.join(" and ", needed);
  }

  /** The heading under which it is described. */
  public Heading heading() {
    return Objects.requireNonNull(heading);
  }

  /** Whether it needs no user. */
  public boolean isOpen() {
    return open;
  }

  /** Whether a request without a body makes no sense. */
  public boolean isBodyNeeded() {
    return bodyNeeded;
  }

  /** Refusals for which callers are to be prepared, beside those of any operation. */
  public List<Refusal> refusals() {
    return List.copyOf(refusals);
  }

  /** What one needs to see an item of the answer; null: whoever asked may see it. */
  public @Nullable Need needToSee(JsonObject item) {
    return shows == null ? null : shows.apply(item);
  }

  /** Whether the question changes something beside messages. */
  public boolean changes(JsonObject asked) {
    return changes && !Boolean.TRUE.equals(asked.getValue("dryRun"));
  }

  public Q questionExample() {
    return Objects.requireNonNull(questionExample);
  }

  public A answerExample() {
    return Objects.requireNonNull(answerExample);
  }

  /** Reads what an untrusted program asks. */
  public Q question(JsonObject json) {
    elsewhere.forEach(
        (field, why) -> {
          if (json.containsKey(field)) {
            throw Refusal.INVALID.error("%s", why);
          }
        });
    return action == null ? question.readStrictly(json) : question.readStrictly(json, ACTION);
  }

  /** The question as it is sent over the event bus. */
  public JsonObject ask(Q asked) {
    return withAction(question.write(asked));
  }

  /** Adds the action to the other fields of a question. */
  public JsonObject withAction(JsonObject fields) {
    return action == null ? fields : fields.put(ACTION, action);
  }

  /** Writes an answer as a JSON object, or as a JSON array of them. */
  @SuppressWarnings("unchecked")
  public Object writeAnswer(A answer) {
    if (listed) {
      return RecordJson.json((List<? extends Record>) answer);
    }
    JsonObject json = RecordJson.json((Record) answer);
    boolean only =
        list != null
            && json.stream()
                .allMatch(each -> each.getKey().equals(list) || each.getValue() == null);
    return only ? json.getValue(list) : json;
  }

  /** Reads an answer. */
  @SuppressWarnings("unchecked")
  public A readAnswer(Object json) {
    RecordJson<? extends Record> form = RecordJson.of(answerType);
    if (!listed) {
      return (A) form.read(json instanceof JsonObject all ? all : new JsonObject().put(list, json));
    }
    List<Object> answers = new ArrayList<>();
    for (Object each : (JsonArray) json) {
      answers.add(form.read((JsonObject) each));
    }
    return (A) List.copyOf(answers);
  }

  /** Whether the answer is a stream of events. */
  public boolean hasEvents() {
    return eventId != null;
  }

  /** The server-sent event with an item of the answer. */
  public String event(JsonObject item) {
    return "id: %s\nevent: message\ndata: %s\n\n"
        .formatted(Objects.requireNonNull(eventId).apply(item), item.encode());
  }

  /** A field of a question that may be anything, as text. */
  static String text(JsonObject asked, String field) {
    return asked.getValue(field) instanceof String text ? text : Need.NO_NAME;
  }

  /** As people write it, such as {@code quotas set}. */
  @Override
  public String toString() {
    if (address == null) {
      return questionType.getSimpleName();
    }
    String word = address.substring(address.lastIndexOf('.') + 1);
    return action == null ? word : word + " " + action;
  }
}
