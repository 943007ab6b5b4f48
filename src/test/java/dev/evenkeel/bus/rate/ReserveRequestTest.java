package dev.evenkeel.bus.rate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Refused;
import dev.evenkeel.protocol.Quota;
import dev.evenkeel.protocol.QuotaKind;
import dev.evenkeel.protocol.Refusal;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

class ReserveRequestTest {
  private static final Quota.Key GROUP = new Quota.Key(QuotaKind.GROUP_RATE, "g");
  private static final Quota RATE = new Quota(QuotaKind.GROUP_RATE, "g", 0, 30, 60_000);

  private static ReserveRequest again(ReserveRequest request) {
    return ReserveRequest.decode(ByteBuffer.wrap(ReserveRequest.CODEC.encode(request)));
  }

  private static void refused(ReserveRequest request) {
    Refused.with(Refusal.INVALID, () -> again(request));
  }

  @Test
  void comesAsItWasSent() {
    for (ReserveRequest request :
        new ReserveRequest[] {
          new ReserveRequest(new Quota.Key(QuotaKind.TOPIC, "t"), 1 << 20, 17, 1_000, null),
          new ReserveRequest(GROUP, 0, 0, ReserveRequest.ANY_WAIT, RATE)
        }) {
      assertThat(again(request)).isEqualTo(request);
    }
    Reservation given = new Reservation(false, 7, 8, RATE);
    assertThat(Reservation.CODEC.decode(Reservation.CODEC.encode(given))).isEqualTo(given);
    Reservation free = Reservation.free(GROUP);
    assertThat(Reservation.CODEC.decode(Reservation.CODEC.encode(free))).isEqualTo(free);
  }

  @Test
  void whatIsOutOfBoundsIsRefused() {
    refused(new ReserveRequest(GROUP, -1, 0, 0, null));
    refused(new ReserveRequest(GROUP, 0, -1, 0, null));
    refused(new ReserveRequest(GROUP, 0, Long.MAX_VALUE, 0, null));
    refused(new ReserveRequest(GROUP, 0, 1, -1, null));
    refused(new ReserveRequest(new Quota.Key(QuotaKind.TOPIC, "t".repeat(300)), 0, 1, 0, null));
  }

  @Test
  void onlyAMemberStatesARateAndOnlyThatOfItsGroup() {
    refused(new ReserveRequest(new Quota.Key(QuotaKind.GROUP_RATE, "h"), 0, 0, 0, RATE));
    refused(
        new ReserveRequest(
            new Quota.Key(QuotaKind.TOPIC, "t"),
            0,
            0,
            0,
            Quota.perSecond(QuotaKind.TOPIC, "t", 5, 5)));
    refused(new ReserveRequest(GROUP, 0, 0, 0, Quota.none(QuotaKind.GROUP_RATE, "g")));
    refused(new ReserveRequest(GROUP, 0, 0, 0, Quota.perSecond(QuotaKind.GROUP_RATE, "g", 5, 5)));
  }
}
