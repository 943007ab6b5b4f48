package dev.evenkeel.client.internal.consume;

import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.AppendBody;
import dev.evenkeel.protocol.wire.Batch;
import dev.evenkeel.protocol.wire.Bytes;
import java.util.List;

/**
 * A request with batches that handlers published, for one data group, in the order of their inputs.
 */
public record PublishRequest(int group, List<Out> outs) {
  /**
   * @param task whose handler published it
   * @param to where it goes
   */
  record Out(Task task, Shard to, Batch batch) {
    int bytes() {
      return AppendBody.SHARD_BYTES + batch.length();
    }
  }

  public int batches() {
    return outs.size();
  }

  /** Where a batch goes. */
  public Shard to(int batch) {
    return outs.get(batch).to;
  }

  /** An {@link AppendBody}. */
  public Bytes body() {
    Bytes body = new Bytes(outs.stream().mapToInt(Out::bytes).sum());
    outs.forEach(out -> AppendBody.write(body, out.to, out.batch));
    return body;
  }
}
