package dev.evenkeel.client;

import dev.evenkeel.protocol.Nearest;
import io.vertx.core.json.JsonObject;
import java.util.Locale;
import java.util.Set;

/** Options of a {@link Producer}, from and to JSON, in the way of Vert.x options. */
public class ProducerOptions {
  /** When what was written is forced to the disk. */
  public enum SpoolFsync {
    /** Whenever the operating system likes: a crash of the machine may lose messages. */
    NEVER,
    /** Now and then: a crash of the machine may lose the last messages. */
    INTERVAL,
    /** Before a message counts as spooled. */
    ALWAYS
  }

  /** What {@link Producer#send} does while the buffer is full. */
  public enum OnFull {
    /** Takes the message once there is room: its future just completes later. */
    WAIT,
    /** Refuses the message with OVERLOADED. */
    FAIL
  }

  /** Largest batch of one shard: 256 KiB. */
  public static final int DEFAULT_BATCH_BYTES = 256 << 10;

  /** How long a batch waits for more while another is in flight: 5 ms. */
  public static final long DEFAULT_LINGER_MILLIS = 5;

  /** Bytes taken and not yet acknowledged: 32 MiB. */
  public static final long DEFAULT_BUFFER_BYTES = 32L << 20;

  /** Batches of a shard on their way at once: 4. */
  public static final int DEFAULT_BATCHES_IN_FLIGHT = 4;

  /** How long a batch is tried before its outcome is INDETERMINATE: 2 minutes. */
  public static final long DEFAULT_DELIVERY_TIMEOUT_MILLIS = 120_000;

  /** How long a batch is tried while the broker's disk is too full for it: 10 seconds. */
  public static final long DEFAULT_DISK_FULL_TIMEOUT_MILLIS = 10_000;

  /** How long {@link Acks#ALL} waits for all replicas once a majority has a message: 10 seconds. */
  public static final long DEFAULT_ACKS_TIMEOUT_MILLIS = 10_000;

  /** Bytes that a spool may have on the disk: 1 GiB. */
  public static final long DEFAULT_SPOOL_LIMIT_BYTES = 1L << 30;

  /** How long an accepted message may be in memory only: 100 ms. */
  public static final long DEFAULT_SPOOL_FLUSH_MILLIS = 100;

  /** Messages in memory after which they are written to the spool: 1,000. */
  public static final int DEFAULT_SPOOL_FLUSH_MESSAGES = 1_000;

  /** Bytes in memory after which they are written to the spool: 1 MiB. */
  public static final long DEFAULT_SPOOL_FLUSH_BYTES = 1L << 20;

  /** How often the spool is forced to the disk with {@link SpoolFsync#INTERVAL}: every second. */
  public static final long DEFAULT_SPOOL_FSYNC_MILLIS = 1_000;

  private String topic;
  private String name = "";
  private int batchBytes = DEFAULT_BATCH_BYTES;
  private long lingerMillis = DEFAULT_LINGER_MILLIS;
  private long bufferBytes = DEFAULT_BUFFER_BYTES;
  private int batchesInFlight = DEFAULT_BATCHES_IN_FLIGHT;
  private long deliveryTimeoutMillis = DEFAULT_DELIVERY_TIMEOUT_MILLIS;
  private long diskFullTimeoutMillis = DEFAULT_DISK_FULL_TIMEOUT_MILLIS;
  private OnFull onFull = OnFull.WAIT;
  private Acks acks = Acks.MAJORITY;
  private long acksTimeoutMillis = DEFAULT_ACKS_TIMEOUT_MILLIS;
  private String spool = "";
  private long spoolLimitBytes = DEFAULT_SPOOL_LIMIT_BYTES;
  private long spoolFlushMillis = DEFAULT_SPOOL_FLUSH_MILLIS;
  private int spoolFlushMessages = DEFAULT_SPOOL_FLUSH_MESSAGES;
  private long spoolFlushBytes = DEFAULT_SPOOL_FLUSH_BYTES;
  private SpoolFsync spoolFsync = SpoolFsync.INTERVAL;
  private long spoolFsyncMillis = DEFAULT_SPOOL_FSYNC_MILLIS;
  private boolean spoolRestart;
  private boolean spoolResend;

  public ProducerOptions() {}

  /**
   * @throws dev.evenkeel.protocol.RefusedException INVALID for an unknown key
   */
  public ProducerOptions(JsonObject json) {
    Nearest.requireKnown("producer option", json.fieldNames(), keys());
    topic = json.getString("topic");
    name = json.getString("name", name);
    batchBytes = json.getInteger("batchBytes", batchBytes);
    lingerMillis = json.getLong("lingerMillis", lingerMillis);
    bufferBytes = json.getLong("bufferBytes", bufferBytes);
    batchesInFlight = json.getInteger("batchesInFlight", batchesInFlight);
    deliveryTimeoutMillis = json.getLong("deliveryTimeoutMillis", deliveryTimeoutMillis);
    diskFullTimeoutMillis = json.getLong("diskFullTimeoutMillis", diskFullTimeoutMillis);
    onFull = OnFull.valueOf(json.getString("onFull", onFull.name()).toUpperCase(Locale.ROOT));
    acks = Acks.of(json.getString("acks", acks.text()));
    acksTimeoutMillis = json.getLong("acksTimeoutMillis", acksTimeoutMillis);
    spool = json.getString("spool", spool);
    spoolLimitBytes = json.getLong("spoolLimitBytes", spoolLimitBytes);
    spoolFlushMillis = json.getLong("spoolFlushMillis", spoolFlushMillis);
    spoolFlushMessages = json.getInteger("spoolFlushMessages", spoolFlushMessages);
    spoolFlushBytes = json.getLong("spoolFlushBytes", spoolFlushBytes);
    spoolFsync =
        SpoolFsync.valueOf(
            json.getString("spoolFsync", spoolFsync.name()).toUpperCase(Locale.ROOT));
    spoolFsyncMillis = json.getLong("spoolFsyncMillis", spoolFsyncMillis);
    spoolRestart = json.getBoolean("spoolRestart", spoolRestart);
    spoolResend = json.getBoolean("spoolResend", spoolResend);
  }

  /** Keys that {@link #ProducerOptions(JsonObject)} takes. */
  public static Set<String> keys() {
    return new ProducerOptions().toJson().fieldNames();
  }

  public JsonObject toJson() {
    return new JsonObject()
        .put("topic", topic)
        .put("name", name)
        .put("batchBytes", batchBytes)
        .put("lingerMillis", lingerMillis)
        .put("bufferBytes", bufferBytes)
        .put("batchesInFlight", batchesInFlight)
        .put("deliveryTimeoutMillis", deliveryTimeoutMillis)
        .put("diskFullTimeoutMillis", diskFullTimeoutMillis)
        .put("onFull", onFull.name().toLowerCase(Locale.ROOT))
        .put("acks", acks.text())
        .put("acksTimeoutMillis", acksTimeoutMillis)
        .put("spool", spool)
        .put("spoolLimitBytes", spoolLimitBytes)
        .put("spoolFlushMillis", spoolFlushMillis)
        .put("spoolFlushMessages", spoolFlushMessages)
        .put("spoolFlushBytes", spoolFlushBytes)
        .put("spoolFsync", spoolFsync.name().toLowerCase(Locale.ROOT))
        .put("spoolFsyncMillis", spoolFsyncMillis)
        .put("spoolRestart", spoolRestart)
        .put("spoolResend", spoolResend);
  }

  public String getTopic() {
    return topic;
  }

  public ProducerOptions setTopic(String topic) {
    this.topic = topic;
    return this;
  }

  public String getName() {
    return name;
  }

  /** A name that is the producer's own: a second producer under it fences the first. */
  public ProducerOptions setName(String name) {
    this.name = name;
    return this;
  }

  public int getBatchBytes() {
    return batchBytes;
  }

  public ProducerOptions setBatchBytes(int batchBytes) {
    this.batchBytes = batchBytes;
    return this;
  }

  public long getLingerMillis() {
    return lingerMillis;
  }

  public ProducerOptions setLingerMillis(long lingerMillis) {
    this.lingerMillis = lingerMillis;
    return this;
  }

  public long getBufferBytes() {
    return bufferBytes;
  }

  public ProducerOptions setBufferBytes(long bufferBytes) {
    this.bufferBytes = bufferBytes;
    return this;
  }

  public int getBatchesInFlight() {
    return batchesInFlight;
  }

  /** At most {@code Limits.BATCHES_REMEMBERED}, or a repeat could not be recognised. */
  public ProducerOptions setBatchesInFlight(int batchesInFlight) {
    this.batchesInFlight = batchesInFlight;
    return this;
  }

  public long getDeliveryTimeoutMillis() {
    return deliveryTimeoutMillis;
  }

  public ProducerOptions setDeliveryTimeoutMillis(long deliveryTimeoutMillis) {
    this.deliveryTimeoutMillis = deliveryTimeoutMillis;
    return this;
  }

  public long getDiskFullTimeoutMillis() {
    return diskFullTimeoutMillis;
  }

  /** After it the batch's messages fail with DISK_FULL, and are surely not in the log. */
  public ProducerOptions setDiskFullTimeoutMillis(long diskFullTimeoutMillis) {
    this.diskFullTimeoutMillis = diskFullTimeoutMillis;
    return this;
  }

  public OnFull getOnFull() {
    return onFull;
  }

  public ProducerOptions setOnFull(OnFull onFull) {
    this.onFull = onFull;
    return this;
  }

  public Acks getAcks() {
    return acks;
  }

  /** When a message counts as acknowledged. With a spool: {@link Acks#MAJORITY} only. */
  public ProducerOptions setAcks(Acks acks) {
    this.acks = acks;
    return this;
  }

  public long getAcksTimeoutMillis() {
    return acksTimeoutMillis;
  }

  /** After it {@link Acks#ALL} tells which nodes are missing. From when a majority has it. */
  public ProducerOptions setAcksTimeoutMillis(long acksTimeoutMillis) {
    this.acksTimeoutMillis = acksTimeoutMillis;
    return this;
  }

  /** Empty: no spool. */
  public String getSpool() {
    return spool;
  }

  /**
   * A directory that everything accepted goes through, so that it outlives this program: see {@link
   * SpoolingProducer}. Made if it is not there; for one producer at a time.
   */
  public ProducerOptions setSpool(String spool) {
    this.spool = spool;
    return this;
  }

  public long getSpoolLimitBytes() {
    return spoolLimitBytes;
  }

  /** Past it nothing is accepted until older messages are acknowledged. 32 MiB at least. */
  public ProducerOptions setSpoolLimitBytes(long spoolLimitBytes) {
    this.spoolLimitBytes = spoolLimitBytes;
    return this;
  }

  public long getSpoolFlushMillis() {
    return spoolFlushMillis;
  }

  /** Longest time that an accepted message is in memory only. While nothing is sent: at once. */
  public ProducerOptions setSpoolFlushMillis(long spoolFlushMillis) {
    this.spoolFlushMillis = spoolFlushMillis;
    return this;
  }

  public int getSpoolFlushMessages() {
    return spoolFlushMessages;
  }

  public ProducerOptions setSpoolFlushMessages(int spoolFlushMessages) {
    this.spoolFlushMessages = spoolFlushMessages;
    return this;
  }

  public long getSpoolFlushBytes() {
    return spoolFlushBytes;
  }

  /** At most 4 MiB. */
  public ProducerOptions setSpoolFlushBytes(long spoolFlushBytes) {
    this.spoolFlushBytes = spoolFlushBytes;
    return this;
  }

  public SpoolFsync getSpoolFsync() {
    return spoolFsync;
  }

  /** What a crash of the machine may take; a crash of this program takes nothing of the spool. */
  public ProducerOptions setSpoolFsync(SpoolFsync spoolFsync) {
    this.spoolFsync = spoolFsync;
    return this;
  }

  public long getSpoolFsyncMillis() {
    return spoolFsyncMillis;
  }

  public ProducerOptions setSpoolFsyncMillis(long spoolFsyncMillis) {
    this.spoolFsyncMillis = spoolFsyncMillis;
    return this;
  }

  public boolean isSpoolRestart() {
    return spoolRestart;
  }

  /** Drops what is in the spool, sent or not, and begins a new one. */
  public ProducerOptions setSpoolRestart(boolean spoolRestart) {
    this.spoolRestart = spoolRestart;
    return this;
  }

  public boolean isSpoolResend() {
    return spoolResend;
  }

  /**
   * Sends what an earlier run left even if the cluster has forgotten the producer, so that it can
   * no longer tell what it has: some of it may then be there twice.
   */
  public ProducerOptions setSpoolResend(boolean spoolResend) {
    this.spoolResend = spoolResend;
    return this;
  }
}
