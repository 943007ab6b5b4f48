package dev.evenkeel.bus.level;

import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.ByteReader;
import dev.evenkeel.protocol.wire.Bytes;
import dev.evenkeel.protocol.wire.RecordCodec;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/**
 * A message, whoever dealt it.
 *
 * @param generation of the group's lease on the shard: with each reset another one begins, and what
 *     became of messages in an earlier one says nothing of them
 */
public record MessageId(Shard shard, long offset, long generation) {

  static void write(Bytes out, Collection<MessageId> ids) {
    out.i32(ids.size());
    for (MessageId id : ids) {
      write(out, id);
    }
  }

  static void write(Bytes out, MessageId id) {
    RecordCodec.write(out, id.shard());
    out.varlong(id.offset()).varlong(id.generation());
  }

  static MessageId readOne(ByteReader in) {
    return new MessageId(RecordCodec.shard(in), in.varlong(), in.varlong());
  }

  static List<MessageId> read(ByteReader in) {
    int count = in.count();
    List<MessageId> ids = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      ids.add(readOne(in));
    }
    return ids;
  }
}
