package dev.evenkeel.client;

import dev.evenkeel.protocol.Compression;
import dev.evenkeel.protocol.Limits;
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
public final class ProducerOptions extends OptionValues<ProducerOptions> {
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

  private static final String OUT_OF_BOUNDS = "bad %s %d: use %d to %d";
  private static final Schema SCHEMA = new Schema("producer option", OUT_OF_BOUNDS, OUT_OF_BOUNDS);

  private static final Option<String> TOPIC = SCHEMA.text("topic", null);
  private static final Option<String> NAME = SCHEMA.text("name", "");
  private static final Option<Integer> BATCH_BYTES =
      SCHEMA.integer("batchBytes", 256 << 10, 1, Limits.BATCH_BYTES_MAX);
  private static final Option<Compression> COMPRESSION =
      SCHEMA.constant("compression", Compression.class, Compression.NONE);
  private static final Option<Long> LINGER = SCHEMA.number("lingerMillis", 5L, 0, 60_000);
  private static final Option<Long> BUFFER_BYTES =
      SCHEMA.number("bufferBytes", 32L << 20, 1, Long.MAX_VALUE / 4);
  private static final Option<Integer> BATCHES_IN_FLIGHT =
      SCHEMA.integer("batchesInFlight", 4, 1, Limits.BATCHES_REMEMBERED);
  private static final Option<Long> DELIVERY_TIMEOUT =
      SCHEMA.number("deliveryTimeoutMillis", 120_000L, 1, Integer.MAX_VALUE);
  private static final Option<Long> DISK_FULL_TIMEOUT =
      SCHEMA.number("diskFullTimeoutMillis", 10_000L, 0, Integer.MAX_VALUE);
  private static final Option<Long> QUOTA_TIMEOUT =
      SCHEMA.number("quotaTimeoutMillis", 3_600_000L, 0, Integer.MAX_VALUE);
  private static final Option<OnFull> ON_FULL =
      SCHEMA.constant("onFull", OnFull.class, OnFull.WAIT);
  private static final Option<Acks> ACKS = SCHEMA.constant("acks", Acks.class, Acks.MAJORITY);
  private static final Option<Long> ACKS_TIMEOUT =
      SCHEMA.number("acksTimeoutMillis", 10_000L, 1, Integer.MAX_VALUE);
  private static final Option<TracingPolicy> TRACING =
      SCHEMA.constant("tracing", TracingPolicy.class, TracingPolicy.PROPAGATE);
  private static final Option<String> SPOOL = SCHEMA.text("spool", "");
  private static final Option<Long> SPOOL_LIMIT_BYTES =
      SCHEMA.number("spoolLimitBytes", 1L << 30, SPOOL_LIMIT_BYTES_MIN, Long.MAX_VALUE / 4);
  private static final Option<Long> SPOOL_FLUSH =
      SCHEMA.number("spoolFlushMillis", 100L, 1, 60_000);
  private static final Option<Integer> SPOOL_FLUSH_MESSAGES =
      SCHEMA.integer("spoolFlushMessages", 1_000, 1, 1_000_000);
  private static final Option<Long> SPOOL_FLUSH_BYTES =
      SCHEMA.number("spoolFlushBytes", 1L << 20, 1, SPOOL_FLUSH_BYTES_MAX);
  private static final Option<SpoolFsync> SPOOL_FSYNC =
      SCHEMA.constant("spoolFsync", SpoolFsync.class, SpoolFsync.INTERVAL);
  private static final Option<Long> SPOOL_FSYNC_MILLIS =
      SCHEMA.number("spoolFsyncMillis", 1_000L, 1, 3_600_000);
  private static final Option<Boolean> SPOOL_RESTART = SCHEMA.flag("spoolRestart", false);
  private static final Option<Boolean> SPOOL_RESEND = SCHEMA.flag("spoolResend", false);

  /** Options with their defaults. */
  public ProducerOptions() {
    super(SCHEMA);
  }

  /**
   * Options from JSON. A key that is left out or null has its default.
   *
   * @throws dev.evenkeel.protocol.RefusedException INVALID for an unknown key or a bad value
   */
  public ProducerOptions(JsonObject json) {
    super(SCHEMA, json);
  }

  /** The topic to send to; null if it is not set. */
  public String getTopic() {
    return get(TOPIC);
  }

  /** The topic to send to. It must be set. */
  public ProducerOptions setTopic(String topic) {
    return set(TOPIC, topic);
  }

  /** The name of the producer; empty, the default: none. */
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

  /**
   * The largest batch of one shard, in bytes: 1 to {@link Limits#BATCH_BYTES_MAX}, by default 256
   * KiB.
   */
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

  /** How batches are compressed, by default NONE. */
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

  /** How long a batch waits for more messages: 0 to 60,000 ms, by default 5. */
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

  /** The most bytes that are taken and not acknowledged, at least 1, by default 32 MiB. */
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

  /**
   * The most batches of a shard that are under way at a time: 1 to {@link
   * Limits#BATCHES_REMEMBERED}, by default 4.
   */
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

  /** How long a batch is tried: 1 to 2,147,483,647 ms, by default 120,000. */
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

  /**
   * How long a batch is tried while the disk of the node is too full: 0 to 2,147,483,647 ms, by
   * default 10,000.
   */
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

  /**
   * How long a batch is tried while a quota holds it up: 0 to 2,147,483,647 ms, by default
   * 3,600,000.
   */
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

  /** What {@link Producer#send} does while the buffer is full, by default WAIT. */
  public OnFull getOnFull() {
    return get(ON_FULL);
  }

  /** What {@link Producer#send} does while the buffer is full, by default WAIT. */
  public ProducerOptions setOnFull(OnFull onFull) {
    return set(ON_FULL, onFull);
  }

  /** When a message counts as acknowledged, by default MAJORITY. */
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

  /** How long {@link Acks#ALL} waits for all replicas: 1 to 2,147,483,647 ms, by default 10,000. */
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

  /** The directory of the spool; empty, the default: no spool. */
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

  /** The most bytes of the spool on the disk, at least 32 MiB, by default 1 GiB. */
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

  /**
   * The longest time that an accepted message is in memory only: 1 to 60,000 ms, by default 100.
   */
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

  /**
   * How many messages in memory are written to the spool at once: 1 to 1,000,000, by default 1,000.
   */
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

  /**
   * How many bytes in memory are written to the spool at once: 1 to {@link #SPOOL_FLUSH_BYTES_MAX},
   * by default 1 MiB.
   */
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

  /** When the spool is forced to the disk, by default INTERVAL. */
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

  /**
   * The time between two fsyncs of the spool with INTERVAL: 1 to 3,600,000 ms, by default 1,000.
   */
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

  /** Whether to drop what is in the spool and begin a new one, by default false. */
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

  /**
   * Whether to send what an earlier run left although some of it may then be there twice, by
   * default false.
   */
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

  /** Which messages get a span, by default PROPAGATE. */
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
