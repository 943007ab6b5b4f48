package dev.evenkeel.producer;

import io.vertx.core.json.JsonObject;
import java.util.Locale;

/** Options of a {@link Producer}, from and to JSON, in the way of Vert.x options. */
public class ProducerOptions {
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

  private String topic;
  private String name = "";
  private int batchBytes = DEFAULT_BATCH_BYTES;
  private long lingerMillis = DEFAULT_LINGER_MILLIS;
  private long bufferBytes = DEFAULT_BUFFER_BYTES;
  private int batchesInFlight = DEFAULT_BATCHES_IN_FLIGHT;
  private long deliveryTimeoutMillis = DEFAULT_DELIVERY_TIMEOUT_MILLIS;
  private long diskFullTimeoutMillis = DEFAULT_DISK_FULL_TIMEOUT_MILLIS;
  private OnFull onFull = OnFull.WAIT;

  public ProducerOptions() {}

  public ProducerOptions(JsonObject json) {
    topic = json.getString("topic");
    name = json.getString("name", name);
    batchBytes = json.getInteger("batchBytes", batchBytes);
    lingerMillis = json.getLong("lingerMillis", lingerMillis);
    bufferBytes = json.getLong("bufferBytes", bufferBytes);
    batchesInFlight = json.getInteger("batchesInFlight", batchesInFlight);
    deliveryTimeoutMillis = json.getLong("deliveryTimeoutMillis", deliveryTimeoutMillis);
    diskFullTimeoutMillis = json.getLong("diskFullTimeoutMillis", diskFullTimeoutMillis);
    onFull = OnFull.valueOf(json.getString("onFull", onFull.name()).toUpperCase(Locale.ROOT));
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
        .put("onFull", onFull.name().toLowerCase(Locale.ROOT));
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
}
