package dev.evenkeel.bus.level;

import dev.evenkeel.model.Shard;
import dev.evenkeel.wire.ByteReader;
import dev.evenkeel.wire.Bytes;
import dev.evenkeel.wire.RecordCodec;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/** A message, whoever dealt it. */
public record MessageId(Shard shard, long offset) {

  static void write(Bytes out, Collection<MessageId> ids) {
    out.i32(ids.size());
    for (MessageId id : ids) {
      RecordCodec.write(out, id.shard());
      out.varlong(id.offset());
    }
  }

  static List<MessageId> read(ByteReader in) {
    int count = in.count();
    List<MessageId> ids = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      ids.add(new MessageId(RecordCodec.shard(in), in.varlong()));
    }
    return ids;
  }
}
