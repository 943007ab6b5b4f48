package dev.evenkeel.bus.level;

import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.ByteReader;
import dev.evenkeel.protocol.wire.Bytes;
import dev.evenkeel.protocol.wire.Codec;
import dev.evenkeel.protocol.wire.RecordCodec;
import java.util.List;

/**
 * Identifies a message, whichever level dispatcher handed it out.
 *
 * @param generation of the group's lease on the shard. Each reset begins another one, in which
 *     messages are consumed anew
 */
public record MessageId(Shard shard, long offset, long generation) {

  static final Codec<List<MessageId>> LIST =
      Codec.list(Codec.of(MessageId::write, MessageId::read));

  static void write(Bytes out, MessageId id) {
    RecordCodec.write(out, id.shard());
    out.varlong(id.offset()).varlong(id.generation());
  }

  static MessageId read(ByteReader in) {
    return new MessageId(RecordCodec.shard(in), in.varlong(), in.varlong());
  }
}
