package dev.evenkeel.broker.state;

import dev.evenkeel.protocol.wire.Codec;

/** A producer that comes back under its name: the same id, an epoch one higher each time. */
public record NamedProducer(String name, long id, int epoch) {
  static final Codec<NamedProducer> CODEC = Codec.record(NamedProducer.class);
}
