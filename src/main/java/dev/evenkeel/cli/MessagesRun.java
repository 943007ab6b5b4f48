package dev.evenkeel.cli;

import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.StartAt;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.PriorityQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * One run of {@code topic messages}: reads the shards of a topic over the HTTP API, and prints
 * their messages.
 *
 * <p>It works in rounds. A round asks where the shards end, and reads each of them up to there. Of
 * the messages that it has read ahead, one for each shard at least, it prints the one with the
 * lowest timestamp first. With {@code --follow}, there are more rounds.
 */
final class MessagesRun {
  /** Pause between rounds, and before a request is repeated. */
  private static final long PAUSE_MILLIS = 1_000;

  /** Most messages of one answer. */
  private static final int PAGE_MAX = 1_000;

  /** Messages that are read ahead, of all shards together, if there are fewer shards. */
  private static final int AHEAD_MAX = 4_000;

  /**
   * @param shard null: all
   * @param offset null: see start
   * @param start null: the first message that is kept
   * @param key null: of any key or none
   */
  record Settings(
      String topic,
      Integer shard,
      Long offset,
      StartAt start,
      String key,
      long limit,
      boolean follow,
      boolean json) {}

  /** The place of this run in a shard. */
  private static final class Cursor {
    final int shard;

    /** Where to begin if the offset is not known; null: at the first message that is kept. */
    final StartAt start;

    /** The next offset to read; -1: not known. */
    long next = -1;

    /** Where the shard ended when the round began; -1: not known. */
    long end = -1;

    /** Messages that were read and not printed. */
    final Deque<JsonObject> ahead = new ArrayDeque<>();

    long timestamp;

    Cursor(int shard, StartAt start) {
      this.shard = shard;
      this.start = start;
    }

    boolean atEnd() {
      return end >= 0 && next >= end;
    }

    /** The timestamp of the next message; a message that cannot be read has that before it. */
    Cursor timed() {
      timestamp = number(ahead.element(), "timestamp", timestamp);
      return this;
    }
  }

  /** Ends the run, because somebody has stopped it. */
  private static final class Stopped extends RuntimeException {
    private static final long serialVersionUID = 1L;
  }

  private final HttpApi api;
  private final Settings settings;
  private final String path;
  private final OutputStream out;
  private final PrintStream err;
  private final Thread thread = Thread.currentThread();
  private final CountDownLatch stop = new CountDownLatch(1);

  private Map<Integer, Cursor> cursors = Map.of();

  /** When the topic was created; null: not known. */
  private Long created;

  private boolean firstRound = true;
  private boolean answered;
  private boolean away;
  private long printed;

  /** Runs on the thread that makes it. */
  MessagesRun(HttpApi api, Settings settings, OutputStream out, PrintStream err) {
    this.api = api;
    this.settings = settings;
    this.path = "/api/topics/" + HttpApi.segment(settings.topic());
    this.out = new BufferedOutputStream(out, 64 << 10);
    this.err = err;
  }

  /** Ends the run after the line that is being written. For other threads. */
  void stop() {
    stop.countDown();
    thread.interrupt();
  }

  /** Returns when everything is printed, nobody reads any more, or the run was stopped. */
  void run() {
    try {
      round();
      while (settings.follow() && printed < settings.limit()) {
        pause();
        round();
      }
    } catch (Stopped e) {
      flush();
    } catch (OutputClosed e) {
      return;
    }
  }

  private void round() {
    PriorityQueue<Cursor> queue =
        new PriorityQueue<>(
            Comparator.<Cursor>comparingLong(cursor -> cursor.timestamp)
                .thenComparingInt(cursor -> cursor.shard));
    for (Cursor cursor : look()) {
      if (fill(cursor)) {
        queue.add(cursor.timed());
      }
    }
    while (!queue.isEmpty() && printed < settings.limit()) {
      Cursor cursor = queue.remove();
      print(cursor.ahead.remove());
      printed++;
      if (printed < settings.limit() && fill(cursor)) {
        queue.add(cursor.timed());
      }
    }
    flush();
  }

  /** Asks for the shards and their ends. */
  private List<Cursor> look() {
    JsonObject topic = ask(() -> api.get(path));
    if (!Objects.equals(created, topic.getLong("createdMillis"))) {
      // At first, or another topic has the name now: its offsets are others.
      created = topic.getLong("createdMillis");
      cursors = Map.of();
    }
    JsonArray shards = topic.getJsonArray("shardList");
    Map<Integer, Cursor> now = new HashMap<>();
    List<Cursor> wanted = new ArrayList<>();
    for (int i = 0; i < shards.size(); i++) {
      JsonObject shard = shards.getJsonObject(i);
      int number = shard.getInteger("shard");
      if (settings.shard() == null || settings.shard() == number) {
        long start = number(shard, "start", -1);
        long end = number(shard, "end", -1);
        Cursor cursor = cursors.get(number);
        if (cursor == null) {
          cursor = begin(number, start, end, shards.size() == 1 || settings.shard() != null);
        }
        cursor.end = end;
        now.put(number, cursor);
        wanted.add(cursor);
      }
    }
    if (wanted.isEmpty()) {
      // The node refuses it, and says which shards there are.
      wanted.add(new Cursor(settings.shard(), null));
    }
    cursors = now;
    firstRound = false;
    return wanted;
  }

  /** A shard that is new to this run. After the first round, it is new in the topic. */
  private Cursor begin(int shard, long start, long end, boolean alone) {
    Cursor cursor = new Cursor(shard, firstRound ? settings.start() : null);
    if (firstRound && settings.offset() != null) {
      if (alone && end >= 0 && (settings.offset() < start || settings.offset() > end)) {
        throw CommandFailure.failed(
            "there is no offset %s: shard %s has %s..%s"
                .formatted(settings.offset(), shard, start, end));
      }
      cursor.next = Math.max(settings.offset(), start);
    } else if (start == end || StartAt.LATEST.equals(cursor.start)) {
      cursor.next = end;
    } else if (cursor.start == null || StartAt.EARLIEST.equals(cursor.start)) {
      cursor.next = start;
    }
    return cursor;
  }

  /** Reads ahead. Gives whether there is a message to print. */
  private boolean fill(Cursor cursor) {
    boolean goesOn = true;
    while (goesOn && cursor.ahead.isEmpty() && !cursor.atEnd()) {
      goesOn = read(cursor);
    }
    if (!goesOn && !settings.follow() && cursor.end >= 0) {
      throw CommandFailure.failed(
          "shard %s cannot be read now from offset %s on, although it goes to %s: try again"
              .formatted(cursor.shard, cursor.next, cursor.end));
    }
    return !cursor.ahead.isEmpty();
  }

  /** Reads the next messages of a shard. Gives whether it got further. */
  private boolean read(Cursor cursor) {
    long before = cursor.next;
    HttpApi.Answer answer;
    try {
      answer = ask(() -> api.answer("GET", path + "/messages" + query(cursor), null));
    } catch (CommandFailure e) {
      boolean dropped =
          e.getCause() instanceof HttpApi.Refused refused
              && Refusal.OFFSET_OUT_OF_RANGE.name().equals(refused.error());
      if (!dropped || cursor.next < 0) {
        throw e;
      }
      show(
          "shard %s: %s; goes on at the first message kept"
              .formatted(cursor.shard, e.getMessage()));
      cursor.next = -1;
      return true;
    }
    JsonArray messages = (JsonArray) answer.json();
    messages.forEach(each -> cursor.ahead.add((JsonObject) each));
    if (!messages.isEmpty()) {
      cursor.next = cursor.ahead.getLast().getLong("offset") + 1;
    }
    cursor.next = answer.headers().firstValueAsLong("evenkeel-next-offset").orElse(cursor.next);
    return cursor.next > before;
  }

  /** A number that may be null, or missing. */
  private static long number(JsonObject json, String field, long unknown) {
    Long value = json.getLong(field);
    return value == null ? unknown : value;
  }

  private String query(Cursor cursor) {
    long page = Math.max(1, Math.min(PAGE_MAX, AHEAD_MAX / Math.max(1, cursors.size())));
    StringBuilder query = new StringBuilder("?shard=").append(cursor.shard);
    query.append("&limit=").append(Math.min(page, settings.limit() - printed));
    if (cursor.next >= 0) {
      query.append("&offset=").append(cursor.next);
    } else if (cursor.start != null) {
      boolean time = cursor.start.kind() == StartAt.Kind.TIMESTAMP;
      query
          .append("&at=")
          .append(
              time ? cursor.start.value() : cursor.start.kind().name().toLowerCase(Locale.ROOT));
    }
    if (settings.key() != null) {
      query.append("&key=").append(HttpApi.segment(settings.key()));
    }
    return query.toString();
  }

  /**
   * Asks the node. Once it has answered, {@code --follow} rides out that it is away for a while.
   */
  private <T> T ask(Supplier<T> question) {
    flush();
    while (true) {
      try {
        T answer = question.get();
        answered = true;
        away = false;
        return answer;
      } catch (CommandFailure e) {
        if (stop.getCount() == 0) {
          throw new Stopped();
        }
        boolean passes = !(e.getCause() instanceof HttpApi.Refused refused) || refused.mayPass();
        if (!settings.follow() || !answered || !passes) {
          throw e;
        }
        if (!away) {
          away = true;
          show(e.getMessage() + "; tries again until the node answers");
        }
        pause();
      }
    }
  }

  private void pause() {
    try {
      if (stop.await(PAUSE_MILLIS, TimeUnit.MILLISECONDS)) {
        throw new Stopped();
      }
    } catch (InterruptedException e) {
      throw new Stopped();
    }
  }

  private void show(String text) {
    err.println("evenkeel topic messages: " + Terminal.visible(text));
  }

  private void print(JsonObject message) {
    if (settings.json()) {
      write(line(message).encode().getBytes(StandardCharsets.UTF_8));
      return;
    }
    String unreadable = message.getString("unreadable");
    if (unreadable != null) {
      show(
          "%s/%s offset %s cannot be read: %s"
              .formatted(
                  settings.topic(),
                  message.getInteger("shard"),
                  message.getLong("offset"),
                  unreadable));
      return;
    }
    String coded = message.getString("payloadBase64");
    write(
        coded != null
            ? Base64.getDecoder().decode(coded)
            : message.getString("payload").getBytes(StandardCharsets.UTF_8));
  }

  /** The message with the keys, and in the order, of {@code consume --format json}. */
  private JsonObject line(JsonObject message) {
    JsonObject line = new JsonObject().put("topic", settings.topic());
    for (String key :
        List.of("shard", "offset", "key", "keyBase64", "payload", "payloadBase64", "timestamp")) {
      if (message.containsKey(key)) {
        line.put(key, message.getValue(key));
      }
    }
    // Nobody consumes it.
    line.putNull("member").putNull("epoch").putNull("attempt");
    line.put("headers", message.getValue("headers"));
    for (String key : List.of("logGroup", "logIndex", "unreadable")) {
      if (message.containsKey(key)) {
        line.put(key, message.getValue(key));
      }
    }
    return line;
  }

  /** Nobody reads what is printed. */
  private static final class OutputClosed extends RuntimeException {
    private static final long serialVersionUID = 1L;
  }

  private void write(byte[] line) {
    try {
      out.write(line);
      out.write('\n');
    } catch (IOException e) {
      throw failure(e);
    }
  }

  private void flush() {
    try {
      out.flush();
    } catch (IOException e) {
      throw failure(e);
    }
  }

  private static RuntimeException failure(IOException e) {
    return String.valueOf(e.getMessage()).contains("Broken pipe")
        ? new OutputClosed()
        : CommandFailure.failed("cannot write the output: " + e.getMessage(), e);
  }
}
