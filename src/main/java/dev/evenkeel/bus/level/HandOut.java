package dev.evenkeel.bus.level;

import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.ByteReader;
import dev.evenkeel.protocol.wire.Bytes;
import dev.evenkeel.protocol.wire.Codec;
import dev.evenkeel.protocol.wire.RecordCodec;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Dealer to member: messages to handle. Answered by i64: how many messages of the session the
 * member has got without a gap, these included. One that comes again is known by its number; one
 * that comes before what it follows is dropped, and the answer says from where on the dealer has to
 * repeat. So it does if the member takes a part only, because its pending limits are reached.
 *
 * @param firstSequence number of the first message in the session
 * @param checkpoint the member's place now, to be given back in {@link SessionState}; null if as
 *     before
 * @param topics names of the topics of the messages, by id
 * @param committed offsets below which the group is done, of shards where that has changed: the
 *     member may forget what it finished there
 */
public record HandOut(
    long term,
    long session,
    long firstSequence,
    byte[] checkpoint,
    Map<Integer, String> topics,
    Map<Shard, Long> committed,
    List<Entry> messages) {

  private static final Codec<Map<Integer, String>> TOPICS =
      Codec.map(LinkedHashMap::new, Codec.I32, Codec.TEXT);
  private static final Codec<Map<Shard, Long>> COMMITTED =
      Codec.map(LinkedHashMap::new, RecordCodec.SHARD, Codec.VARLONG);

  /**
   * @param epoch of the lease that the dealer holds on the shard
   * @param attempt 1 for the first
   */
  public record Entry(MessageId id, long epoch, int attempt, Message message) {
    /** About what it takes on the wire, in bytes. */
    public int bytes() {
      byte[] key = message.key();
      return 64 + message.payload().length + (key == null ? 0 : key.length);
    }
  }

  public Bytes encode() {
    int bytes = 128 + (checkpoint == null ? 0 : checkpoint.length);
    for (Entry each : messages) {
      bytes += each.bytes();
    }
    Bytes out = new Bytes(bytes).i64(term).i64(session).i64(firstSequence).blob(checkpoint);
    TOPICS.write(out, topics);
    COMMITTED.write(out, committed);
    out.i32(messages.size());
    messages.forEach(each -> write(out, each));
    return out;
  }

  private static void write(Bytes out, Entry entry) {
    MessageId.write(out, entry.id());
    out.varlong(entry.epoch()).varint(entry.attempt());
    Message message = entry.message();
    out.varlong(message.timestampMillis()).blob(message.key());
    out.varint(message.headers().size());
    message.headers().forEach((name, value) -> out.text(name).blob(value));
    out.blob(message.payload());
  }

  public static HandOut decode(ByteBuffer body) {
    ByteReader in = new ByteReader(body);
    long term = in.i64();
    long session = in.i64();
    long first = in.i64();
    byte[] checkpoint = in.blob();
    Map<Integer, String> topics = TOPICS.read(in);
    Map<Shard, Long> committed = COMMITTED.read(in);
    int count = in.count();
    List<Entry> messages = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      messages.add(entry(in));
    }
    in.end();
    return new HandOut(term, session, first, checkpoint, topics, committed, messages);
  }

  private static Entry entry(ByteReader in) {
    MessageId id = MessageId.read(in);
    long epoch = in.varlong();
    int attempt = in.varint();
    long timestamp = in.varlong();
    byte[] key = in.blob();
    int headerCount = in.varint();
    Map<String, byte[]> headers = headerCount == 0 ? Map.of() : new LinkedHashMap<>();
    for (int i = 0; i < headerCount; i++) {
      headers.put(in.text(), in.blob());
    }
    return new Entry(id, epoch, attempt, new Message(key, headers, timestamp, in.blob()));
  }
}
