package dev.evenkeel.cli;

import dev.evenkeel.api.Browse;
import dev.evenkeel.api.DescribeTopic;
import dev.evenkeel.api.DescribeTopic.ShardDetail;
import dev.evenkeel.api.DescribeTopic.TopicDetail;
import dev.evenkeel.api.MessageView;
import dev.evenkeel.api.Operations;
import dev.evenkeel.api.RecordJson;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.StartAt;
import io.vertx.core.json.JsonObject;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
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
    final Deque<MessageView> ahead = new ArrayDeque<>();

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
      timestamp = or(ahead.element().timestamp(), timestamp);
      return this;
    }
  }

  /** Ends the run, because somebody has stopped it. */
  private static final class Stopped extends RuntimeException {
    private static final long serialVersionUID = 1L;
  }

  private final HttpApi api;
  private final Settings settings;
  private final OutputStream out;
  private final PrintStream err;
  private final Thread thread = Thread.currentThread();
  private final CountDownLatch stop = new CountDownLatch(1);

  private Map<Integer, Cursor> cursors = Map.of();

  /** When the topic was created; null: not known yet. */
  private Long created;

  private boolean firstRound = true;
  private boolean answered;
  private boolean away;
  private long printed;

  /** Runs on the thread that makes it. */
  MessagesRun(HttpApi api, Settings settings, OutputStream out, PrintStream err) {
    this.api = api;
    this.settings = settings;
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
    TopicDetail topic =
        ask(() -> api.read(Operations.DESCRIBE_TOPIC, new DescribeTopic(settings.topic())));
    if (!Objects.equals(created, topic.topic().createdMillis())) {
      // At first, or another topic has the name now: its offsets are others.
      created = topic.topic().createdMillis();
      cursors = Map.of();
    }
    List<ShardDetail> shards = topic.shardList();
    Map<Integer, Cursor> now = new HashMap<>();
    List<Cursor> wanted = new ArrayList<>();
    for (ShardDetail shard : shards) {
      int number = shard.shard();
      if (settings.shard() == null || settings.shard() == number) {
        long start = or(shard.start(), -1);
        long end = or(shard.end(), -1);
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
      answer = ask(() -> api.answer(Operations.BROWSE, question(cursor)));
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
    cursor.ahead.addAll(Operations.BROWSE.readAnswer(answer.json()).messages());
    if (!cursor.ahead.isEmpty()) {
      cursor.next = cursor.ahead.getLast().offset() + 1;
    }
    cursor.next = answer.headers().firstValueAsLong("evenkeel-next-offset").orElse(cursor.next);
    return cursor.next > before;
  }

  private static long or(Long number, long unknown) {
    return number == null ? unknown : number;
  }

  private Browse question(Cursor cursor) {
    long page = Math.max(1, Math.min(PAGE_MAX, AHEAD_MAX / Math.max(1, cursors.size())));
    StartAt start = cursor.next >= 0 ? null : cursor.start;
    boolean time = start != null && start.kind() == StartAt.Kind.TIMESTAMP;
    return new Browse(
        settings.topic(),
        cursor.shard,
        cursor.next >= 0 ? (Long) cursor.next : null,
        start == null
            ? null
            : time ? Long.toString(start.value()) : start.kind().name().toLowerCase(Locale.ROOT),
        settings.key(),
        (int) Math.min(page, settings.limit() - printed),
        null);
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

  private void print(MessageView message) {
    if (settings.json()) {
      write(line(message).encode().getBytes(StandardCharsets.UTF_8));
    } else if (message.unreadable() != null) {
      show(
          "%s/%s offset %s cannot be read: %s"
              .formatted(
                  settings.topic(), message.shard(), message.offset(), message.unreadable()));
    } else {
      write(message.payload().bytes());
    }
  }

  /** The message with the keys, and in the order, of {@code consume --format json}. */
  private JsonObject line(MessageView shown) {
    JsonObject message = RecordJson.json(shown);
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
