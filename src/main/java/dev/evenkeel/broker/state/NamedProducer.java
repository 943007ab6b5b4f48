package dev.evenkeel.broker.state;

import dev.evenkeel.protocol.ProducerIds;
import dev.evenkeel.protocol.wire.Codec;

/**
 * A producer that comes back under its name: the same id, an epoch one higher each time.
 *
 * @param continued the epoch went to the producer that had the one before, which may ask for it
 *     again. Only from feature level 10 on; without it, the row is as it was before
 * @param lastUsedMillis active time when it was last known to be used; 0 if its id is not {@link
 *     ProducerIds#isOfName}: then it is never forgotten
 */
public record NamedProducer(
    String name, long id, int epoch, boolean continued, long lastUsedMillis) {
  private static final int EPOCH_FORGOTTEN_MAX = 1 << 30;

  static final Codec<NamedProducer> CODEC =
      Codec.of(
          (out, producer) -> {
            out.text(producer.name).i64(producer.id).i32(producer.epoch);
            if (producer.continued || producer.lastUsedMillis != 0) {
              out.bool(producer.continued);
            }
            if (producer.lastUsedMillis != 0) {
              out.i64(producer.lastUsedMillis);
            }
          },
          in ->
              new NamedProducer(
                  in.neededText(),
                  in.i64(),
                  in.i32(),
                  in.remaining() > 0 && in.bool(),
                  in.remaining() > 0 ? in.i64() : 0));

  /**
   * In the next epoch.
   *
   * @param continues whether it goes to the producer that has the present one
   */
  public NamedProducer next(boolean continues, long activeMillis) {
    return new NamedProducer(name, id, epoch + 1, continues, lastUsedMillis).usedAt(activeMillis);
  }

  public NamedProducer usedAt(long activeMillis) {
    return new NamedProducer(
        name, id, epoch, continued, ProducerIds.isOfName(id) ? activeMillis : 0);
  }

  /**
   * Whether its name is to be forgotten, unless a data log group remembers it. One of a very high
   * epoch never is: new names begin above the epochs of those that are forgotten.
   */
  public boolean isUnused(long activeMillis, long forgetMillis) {
    return ProducerIds.isOfName(id)
        && epoch < EPOCH_FORGOTTEN_MAX
        && activeMillis - lastUsedMillis >= forgetMillis;
  }
}
