package dev.evenkeel.bus;

import dev.evenkeel.protocol.wire.Codec;
import java.util.List;

/**
 * What one user holds of something scarce.
 *
 * @param kind what is scarce, such as sessions
 * @param max of all users together
 */
public record ShareUse(String kind, String user, long held, long max) {
  public static final Codec<List<ShareUse>> LIST = Codec.list(Codec.record(ShareUse.class));
}
