package dev.evenkeel.broker.state;

import dev.evenkeel.protocol.wire.Codec;

/**
 * A producer that comes back under its name: the same id, an epoch one higher each time.
 *
 * @param continued the epoch went to the producer that had the one before, which may ask for it
 *     again. Only from feature level 10 on; without it, the row is as it was before
 */
public record NamedProducer(String name, long id, int epoch, boolean continued) {
  static final Codec<NamedProducer> CODEC =
      Codec.of(
          (out, producer) -> {
            out.text(producer.name).i64(producer.id).i32(producer.epoch);
            if (producer.continued) {
              out.bool(true);
            }
          },
          in ->
              new NamedProducer(
                  in.neededText(), in.i64(), in.i32(), in.remaining() > 0 && in.bool()));

  /**
   * In the next epoch.
   *
   * @param continues whether it goes to the producer that has the present one
   */
  public NamedProducer next(boolean continues) {
    return new NamedProducer(name, id, epoch + 1, continues);
  }
}
