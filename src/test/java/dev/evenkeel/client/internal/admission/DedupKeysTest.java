package dev.evenkeel.client.internal.admission;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.client.ConsumerOptions.Dedup;
import dev.evenkeel.protocol.Message;
import org.junit.jupiter.api.Test;

class DedupKeysTest {
  private static final byte[] SECRET = "card 4111".getBytes(UTF_8);

  private static String shown(DedupKeys keys, byte[] of) {
    return keys.text("orders", of);
  }

  /** Who may see the figures of a group need not be allowed to read its messages. */
  @Test
  void aPayloadIsNotShown() {
    for (Dedup dedup : new Dedup[] {Dedup.PAYLOAD, Dedup.OFF}) {
      DedupKeys keys = new DedupKeys("billing", dedup, null);
      assertThat(shown(keys, SECRET)).matches("#[0-9a-f]{16}").isEqualTo(shown(keys, SECRET));
      assertThat(shown(keys, SECRET)).isNotEqualTo(shown(keys, "other".getBytes(UTF_8)));
    }
  }

  @Test
  void aKeyIsShown() {
    byte[] key = "customer-7".getBytes(UTF_8);
    assertThat(shown(new DedupKeys("billing", Dedup.KEY, null), key)).isEqualTo("customer-7");
    assertThat(shown(new DedupKeys("billing", Dedup.KEY, Message::payload), key))
        .isEqualTo("customer-7");
  }
}
