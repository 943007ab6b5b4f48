package dev.evenkeel.client;

import dev.evenkeel.protocol.Compression;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.Told;
import dev.evenkeel.settings.Setting;
import dev.evenkeel.settings.SettingType;
import dev.evenkeel.settings.SettingValues;
import dev.evenkeel.settings.Settings;
import io.vertx.core.json.JsonObject;
import io.vertx.core.tracing.TracingPolicy;

/**
 * Options of a {@link Producer}. The topic must be set. They can be read from JSON and written as
 * JSON ({@link #toJson}), as Vert.x options can: the keys are the names of the setters without
 * "set", and constants are in lower case.
 *
 * <p>Values are checked when the producer starts: it fails with INVALID if one is out of its bounds
 * or if options do not go together. Options whose names begin with {@code spool} have an effect
 * only with {@link #setSpool}.
 */
public final class ProducerOptions extends SettingValues<ProducerOptions> {
  /** When the spool is forced to the disk, which decides what a crash of the machine can lose. */
  public enum SpoolFsync {
    /** When the operating system does it: a crash of the machine may lose messages. */
    NEVER,
    /** Every {@link #setSpoolFsyncMillis}: a crash of the machine may lose the last messages. */
    INTERVAL,
    /** Before a message counts as spooled: a crash of the machine loses no such message. */
    ALWAYS
  }

  /** What {@link Producer#send} does while the buffer is full. */
  public enum OnFull {
    /** It takes the message when there is room, so the future completes later. */
    WAIT,
    /** It fails with OVERLOADED at once. */
    FAIL
  }

  /** The most that {@link #setSpoolFlushBytes} takes: 4 MiB. */
  public static final int SPOOL_FLUSH_BYTES_MAX = 4 << 20;

  /** The least that {@link #setSpoolLimitBytes} takes: 32 MiB. */
  public static final long SPOOL_LIMIT_BYTES_MIN = 32L << 20;

  private static final Settings SETTINGS = new Settings("producer option");

  private static final Setting<String> TOPIC = SETTINGS.text("topic").help("Topic to send to.");
  private static final Setting<String> NAME =
      SETTINGS
          .text("name")
          .unless("")
          .label("PRODUCER")
          .help("Name of this producer. A later producer with the same name replaces it.");
  private static final Setting<Integer> BATCH_BYTES =
      SETTINGS
          .add("batchBytes", SettingType.ofInt(SettingType.SIZE))
          .unless(256 << 10)
          .within(1, Limits.BATCH_BYTES_MAX)
          .help("The largest batch of one shard.");
  private static final Setting<Compression> COMPRESSION =
      SETTINGS
          .word("compression", Compression.class)
          .unless(Compression.NONE)
          .help(
              "How batches are compressed: lz4 is fast, zstd makes them smaller. All nodes and"
                  + " consumers must have a version that reads compressed batches.");
  private static final Setting<Long> LINGER =
      SETTINGS.time("lingerMillis", 5, 0, 60_000, "How long a batch waits for more messages.");
  private static final Setting<Long> BUFFER_BYTES =
      SETTINGS
          .size("bufferBytes")
          .unless(32L << 20)
          .within(1, Long.MAX_VALUE / 4)
          .help("The most bytes that are taken and not acknowledged.");
  private static final Setting<Integer> BATCHES_IN_FLIGHT =
      SETTINGS
          .integer("batchesInFlight")
          .unless(4)
          .within(1, Limits.BATCHES_REMEMBERED)
          .help("The most batches of a shard that are under way at a time.");
  private static final Setting<Long> DELIVERY_TIMEOUT =
      SETTINGS
          .time("deliveryTimeoutMillis")
          .unless(120_000L)
          .within(1, Integer.MAX_VALUE)
          .help("How long to try to send each message.");
  private static final Setting<Long> DISK_FULL_TIMEOUT =
      SETTINGS
          .time("diskFullTimeoutMillis")
          .unless(10_000L)
          .within(0, Integer.MAX_VALUE)
          .help("How long a batch is tried while the disk of the node is too full.");
  private static final Setting<Long> QUOTA_TIMEOUT =
      SETTINGS
          .time("quotaTimeoutMillis")
          .unless(3_600_000L)
          .within(0, Integer.MAX_VALUE)
          .help("How long a batch is tried while a quota holds it up.");
  private static final Setting<OnFull> ON_FULL =
      SETTINGS
          .word("onFull", OnFull.class)
          .unless(OnFull.WAIT)
          .help("What a send does while the buffer is full.");
  private static final Setting<Acks> ACKS =
      SETTINGS
          .word("acks", Acks.class)
          .unless(Acks.MAJORITY)
          .help(
              "When a line is acknowledged: none: when it is sent; majority: when a majority of the"
                  + " replicas has it on disk; all: when every replica has.");
  private static final Setting<Long> ACKS_TIMEOUT =
      SETTINGS
          .time("acksTimeoutMillis")
          .unless(10_000L)
          .within(1, Integer.MAX_VALUE)
          .help(
              "With --acks all: how long to wait for all replicas after a majority has a line. Then"
                  + " the error names the missing ones.");
  private static final Setting<TracingPolicy> TRACING =
      SETTINGS
          .word("tracing", TracingPolicy.class)
          .unless(TracingPolicy.PROPAGATE)
          .help("Which messages get a span.");
  private static final Setting<String> SPOOL =
      SETTINGS
          .text("spool")
          .unless("")
          .label("DIR")
          .help(
              "Directory that stores each line until it is acknowledged. If the program ends before"
                  + " that, the same command sends the rest when it runs again: no line is lost or"
                  + " sent twice.");
  private static final Setting<Long> SPOOL_LIMIT_BYTES =
      SETTINGS
          .size("spoolLimitBytes")
          .unless(1L << 30)
          .within(SPOOL_LIMIT_BYTES_MIN, Long.MAX_VALUE / 4)
          .option("--spool-limit")
          .help("Stop reading while the spool is larger than this.");
  private static final Setting<Long> SPOOL_FLUSH =
      SETTINGS
          .time("spoolFlushMillis")
          .unless(100L)
          .within(1, 60_000)
          .help("The longest time that an accepted message is in memory only.");
  private static final Setting<Integer> SPOOL_FLUSH_MESSAGES =
      SETTINGS
          .integer("spoolFlushMessages")
          .unless(1_000)
          .within(1, 1_000_000)
          .help("How many messages in memory are written to the spool at once.");
  private static final Setting<Long> SPOOL_FLUSH_BYTES =
      SETTINGS
          .size("spoolFlushBytes")
          .unless(1L << 20)
          .within(1, SPOOL_FLUSH_BYTES_MAX)
          .help("How many bytes in memory are written to the spool at once.");
  private static final Setting<SpoolFsync> SPOOL_FSYNC =
      SETTINGS
          .word("spoolFsync", SpoolFsync.class)
          .unless(SpoolFsync.INTERVAL)
          .help("When to fsync the spool (default: interval, every second).");
  private static final Setting<Long> SPOOL_FSYNC_MILLIS =
      SETTINGS
          .time("spoolFsyncMillis")
          .unless(1_000L)
          .within(1, 3_600_000)
          .option("--spool-fsync-every")
          .help("The time between two fsyncs of the spool.");
  private static final Setting<Boolean> SPOOL_RESTART =
      SETTINGS
          .flag("spoolRestart")
          .help("Delete the messages in the spool, and read FILE from its beginning.");
  private static final Setting<Boolean> SPOOL_RESEND =
      SETTINGS
          .flag("spoolResend")
          .help(
              "Send the lines of an earlier run even if the cluster has forgotten the producer and"
                  + " cannot detect duplicates. Lines may then be in the topic twice.");

  /** All settings of a producer. */
  public static Settings settings() {
    return SETTINGS;
  }

  /** The name of a setting in advice: its setter, or its option of commands. */
  public static Told setter(String key) {
    return SETTINGS.of(key).setter(ProducerOptions.class);
  }

  /** Options with their defaults. */
  public ProducerOptions() {
    super(SETTINGS);
  }

  /**
   * Options from JSON. A key that is left out or null has its default.
   *
   * @throws dev.evenkeel.protocol.RefusedException INVALID for an unknown key or a bad value
   */
  public ProducerOptions(JsonObject json) {
    super(SETTINGS, json);
  }

  /** See {@link #setTopic}. */
  public String getTopic() {
    return get(TOPIC);
  }

  /** The topic to send to. It must be set. */
  public ProducerOptions setTopic(String topic) {
    return set(TOPIC, topic);
  }

  /** See {@link #setName}. */
  public String getName() {
    return get(NAME);
  }

  /**
   * Name of the producer: a second producer with the same name fences the first, whose sends then
   * fail with PRODUCER_FENCED. Empty, the default, means no name.
   */
  public ProducerOptions setName(String name) {
    return set(NAME, name);
  }

  /** See {@link #setBatchBytes}. */
  public int getBatchBytes() {
    return get(BATCH_BYTES);
  }

  /**
   * Largest batch of one shard, in bytes, by default 256 KiB. From 1 to {@link
   * Limits#BATCH_BYTES_MAX}. A larger message is a batch of its own. It counts the bytes before
   * they are compressed.
   */
  public ProducerOptions setBatchBytes(int batchBytes) {
    return set(BATCH_BYTES, batchBytes);
  }

  /** See {@link #setCompression}. */
  public Compression getCompression() {
    return get(COMPRESSION);
  }

  /**
   * How batches are compressed, by default {@link Compression#NONE}. A batch that does not become
   * smaller is sent as it is. Consumers need no option for it, but they too need the library that
   * {@link Compression} names. If it is missing here, the producer does not start: it fails with
   * INVALID.
   *
   * <p>Every node and every consumer must have a version that reads compressed batches. While the
   * cluster is below feature level 4, batches are not taken: the producer tries again, and when its
   * delivery timeout has passed, their messages fail with UNAVAILABLE.
   */
  public ProducerOptions setCompression(Compression compression) {
    return set(COMPRESSION, compression);
  }

  /** See {@link #setLingerMillis}. */
  public long getLingerMillis() {
    return get(LINGER);
  }

  /**
   * How long a batch waits for more messages while another batch of its shard is in flight, in
   * milliseconds, by default 5. From 0 to 60,000. Without another batch in flight it is sent at
   * once.
   */
  public ProducerOptions setLingerMillis(long lingerMillis) {
    return set(LINGER, lingerMillis);
  }

  /** See {@link #setBufferBytes}. */
  public long getBufferBytes() {
    return get(BUFFER_BYTES);
  }

  /**
   * Size of the buffer: most bytes that were taken and are not acknowledged yet, by default 32 MiB.
   * At least 1. {@link #setOnFull} says what happens when it is full.
   */
  public ProducerOptions setBufferBytes(long bufferBytes) {
    return set(BUFFER_BYTES, bufferBytes);
  }

  /** See {@link #setBatchesInFlight}. */
  public int getBatchesInFlight() {
    return get(BATCHES_IN_FLIGHT);
  }

  /**
   * Most batches of one shard that are in flight at once, by default 4. From 1 to {@link
   * Limits#BATCHES_REMEMBERED}, because the log recognises repeats of so many batches.
   */
  public ProducerOptions setBatchesInFlight(int batchesInFlight) {
    return set(BATCHES_IN_FLIGHT, batchesInFlight);
  }

  /** See {@link #setDeliveryTimeoutMillis}. */
  public long getDeliveryTimeoutMillis() {
    return get(DELIVERY_TIMEOUT);
  }

  /**
   * How long the producer tries to send a batch, in milliseconds, by default 2 minutes. From 1 to
   * 2,147,483,647. Then its messages fail: with INDETERMINATE if they may be in the log, otherwise
   * with the reason why they are not. Messages that a quota holds up wait longer, see {@link
   * #setQuotaTimeoutMillis}. A producer with a spool tries without a limit.
   */
  public ProducerOptions setDeliveryTimeoutMillis(long deliveryTimeoutMillis) {
    return set(DELIVERY_TIMEOUT, deliveryTimeoutMillis);
  }

  /** See {@link #setDiskFullTimeoutMillis}. */
  public long getDiskFullTimeoutMillis() {
    return get(DISK_FULL_TIMEOUT);
  }

  /**
   * How long the producer tries to send a batch while the node's disk is too full for it, in
   * milliseconds, by default 10 seconds. From 0 to 2,147,483,647. Then its messages fail with
   * DISK_FULL and are not in the log.
   */
  public ProducerOptions setDiskFullTimeoutMillis(long diskFullTimeoutMillis) {
    return set(DISK_FULL_TIMEOUT, diskFullTimeoutMillis);
  }

  /** See {@link #setQuotaTimeoutMillis}. */
  public long getQuotaTimeoutMillis() {
    return get(QUOTA_TIMEOUT);
  }

  /**
   * How long the producer tries to send a batch that a quota holds up, in milliseconds, by default
   * an hour. From 0 to 2,147,483,647. Each message that the quota lets pass, and each refusal that
   * says when to try again, begins the delivery timeout anew for all that wait; this is the most
   * that a message waits in all. A value up to the delivery timeout changes nothing.
   */
  public ProducerOptions setQuotaTimeoutMillis(long quotaTimeoutMillis) {
    return set(QUOTA_TIMEOUT, quotaTimeoutMillis);
  }

  /** See {@link #setOnFull}. */
  public OnFull getOnFull() {
    return get(ON_FULL);
  }

  /** What {@link Producer#send} does while the buffer is full, by default WAIT. */
  public ProducerOptions setOnFull(OnFull onFull) {
    return set(ON_FULL, onFull);
  }

  /** See {@link #setAcks}. */
  public Acks getAcks() {
    return get(ACKS);
  }

  /**
   * When a message counts as acknowledged, by default MAJORITY. With a spool, only {@link
   * Acks#MAJORITY} is allowed.
   */
  public ProducerOptions setAcks(Acks acks) {
    return set(ACKS, acks);
  }

  /** See {@link #setAcksTimeoutMillis}. */
  public long getAcksTimeoutMillis() {
    return get(ACKS_TIMEOUT);
  }

  /**
   * How long {@link Acks#ALL} waits for all replicas once a majority has a message, in
   * milliseconds, by default 10 seconds. From 1 to 2,147,483,647. Then the message fails with
   * REPLICAS_MISSING, which names the missing nodes.
   */
  public ProducerOptions setAcksTimeoutMillis(long acksTimeoutMillis) {
    return set(ACKS_TIMEOUT, acksTimeoutMillis);
  }

  /** See {@link #setSpool}. */
  public String getSpool() {
    return get(SPOOL);
  }

  /**
   * Directory of the spool, to which accepted messages are written before they are sent: see {@link
   * SpoolingProducer}. The producer creates it. It serves one producer at a time. Empty, the
   * default, means no spool.
   */
  public ProducerOptions setSpool(String spool) {
    return set(SPOOL, spool);
  }

  /** See {@link #setSpoolLimitBytes}. */
  public long getSpoolLimitBytes() {
    return get(SPOOL_LIMIT_BYTES);
  }

  /**
   * Largest size of the spool on the disk, in bytes, by default 1 GiB. At least {@link
   * #SPOOL_LIMIT_BYTES_MIN}. When it is full, no message is accepted until older ones are
   * acknowledged: {@link #setOnFull} says whether sends wait or fail.
   */
  public ProducerOptions setSpoolLimitBytes(long spoolLimitBytes) {
    return set(SPOOL_LIMIT_BYTES, spoolLimitBytes);
  }

  /** See {@link #setSpoolFlushMillis}. */
  public long getSpoolFlushMillis() {
    return get(SPOOL_FLUSH);
  }

  /**
   * Longest time that an accepted message is in memory only, in milliseconds, by default 100. From
   * 1 to 60,000. While nothing is being sent, a message is written at once.
   */
  public ProducerOptions setSpoolFlushMillis(long spoolFlushMillis) {
    return set(SPOOL_FLUSH, spoolFlushMillis);
  }

  /** See {@link #setSpoolFlushMessages}. */
  public int getSpoolFlushMessages() {
    return get(SPOOL_FLUSH_MESSAGES);
  }

  /**
   * Number of messages in memory at which they are written to the spool, by default 1,000. From 1
   * to 1,000,000.
   */
  public ProducerOptions setSpoolFlushMessages(int spoolFlushMessages) {
    return set(SPOOL_FLUSH_MESSAGES, spoolFlushMessages);
  }

  /** See {@link #setSpoolFlushBytes}. */
  public long getSpoolFlushBytes() {
    return get(SPOOL_FLUSH_BYTES);
  }

  /**
   * Number of bytes in memory at which they are written to the spool, by default 1 MiB. From 1 to
   * {@link #SPOOL_FLUSH_BYTES_MAX}.
   */
  public ProducerOptions setSpoolFlushBytes(long spoolFlushBytes) {
    return set(SPOOL_FLUSH_BYTES, spoolFlushBytes);
  }

  /** See {@link #setSpoolFsync}. */
  public SpoolFsync getSpoolFsync() {
    return get(SPOOL_FSYNC);
  }

  /**
   * When the spool is forced to the disk, by default INTERVAL. It decides what a crash of the
   * machine can lose. A crash of this program loses nothing that is in the spool.
   */
  public ProducerOptions setSpoolFsync(SpoolFsync spoolFsync) {
    return set(SPOOL_FSYNC, spoolFsync);
  }

  /** See {@link #setSpoolFsyncMillis}. */
  public long getSpoolFsyncMillis() {
    return get(SPOOL_FSYNC_MILLIS);
  }

  /**
   * Time between two fsyncs of the spool with {@link SpoolFsync#INTERVAL}, in milliseconds, by
   * default 1 second. From 1 to 3,600,000.
   */
  public ProducerOptions setSpoolFsyncMillis(long spoolFsyncMillis) {
    return set(SPOOL_FSYNC_MILLIS, spoolFsyncMillis);
  }

  /** See {@link #setSpoolRestart}. */
  public boolean isSpoolRestart() {
    return get(SPOOL_RESTART);
  }

  /**
   * Whether to drop everything that is in the spool, sent or not, when the producer starts; by
   * default false.
   */
  public ProducerOptions setSpoolRestart(boolean spoolRestart) {
    return set(SPOOL_RESTART, spoolRestart);
  }

  /** See {@link #setSpoolResend}. */
  public boolean isSpoolResend() {
    return get(SPOOL_RESEND);
  }

  /**
   * Whether to send what an earlier run left even if the cluster has forgotten the producer, or
   * what a dropped shard had taken, so that it cannot recognise repeats; by default false. Some
   * messages may then be in the log twice.
   */
  public ProducerOptions setSpoolResend(boolean spoolResend) {
    return set(SPOOL_RESEND, spoolResend);
  }

  /** See {@link #setTracing}. */
  public TracingPolicy getTracing() {
    return get(TRACING);
  }

  /**
   * Which messages get a span, if the client's Vert.x has a tracer. With PROPAGATE, the default,
   * those that are sent within a span of the current Vert.x context; with ALWAYS all of them; with
   * IGNORE none. Without a tracer it has no effect.
   */
  public ProducerOptions setTracing(TracingPolicy tracing) {
    return set(TRACING, tracing);
  }
}
