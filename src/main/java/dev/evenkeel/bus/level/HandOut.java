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
 * Messages that the level dispatcher hands to a member. The member answers with an i64: how many
 * messages of the session it has received without a gap, these included. It knows repeated messages
 * by their numbers, drops messages that come too early, and takes only a part if its pending limits
 * are reached; the answer tells the dispatcher from where to repeat.
 *
 * @param firstSequence number of the first message in the session
 * @param checkpoint the member's progress as the dispatcher knows it, which the member gives back
 *     in {@link SessionState}; null if it has not changed
 * @param topics names of the topics of the messages, by id
 * @param committed committed offsets of the group, for shards where they changed: the member may
 *     forget the messages below them that it has finished
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
   * @param epoch epoch of the dispatcher's lease on the shard
   * @param attempt number of this attempt, from 1
   */
  public record Entry(MessageId id, long epoch, int attempt, Message message) {
    /** About its size on the wire. */
    public int bytes() {
      byte[] key = message.key();
      int bytes = 64 + message.payload().length + (key == null ? 0 : key.length);
      for (Map.Entry<String, byte[]> header : message.headers().entrySet()) {
        bytes += 8 + header.getKey().length() + header.getValue().length;
      }
      return bytes;
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
