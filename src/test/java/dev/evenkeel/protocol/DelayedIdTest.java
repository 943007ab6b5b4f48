package dev.evenkeel.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Refused;
import dev.evenkeel.protocol.wire.AppendResults.Result;
import dev.evenkeel.protocol.wire.DelayedAnswer;
import dev.evenkeel.protocol.wire.MessageCodec;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DelayedIdTest {
  @Test
  void itsTextNamesIt() {
    DelayedId id = new DelayedId(3, 1_795_194_816_800L, 17, 4);
    assertThat(id.text()).isEqualTo("3-1795194816800-17-4");
    assertThat(DelayedId.parse(id.text())).isEqualTo(id);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "1", "1-2-3", "1-2-3-4-5", "1-2-3-x", "-1-2-3-4", "1-2-3-9999999999"})
  void anythingElseIsRefused(String text) {
    Refused.with(
        Refusal.INVALID,
        () -> DelayedId.parse(text),
        "an id looks like 1-1795194816800-17-0",
        "the list of delayed messages");
  }

  @Test
  void aPageBeginsInEachShardBehindWhatIsDueBefore() {
    DelayedId at = new DelayedId(2, 100, 7, 1);
    assertThat(at.in(2)).isEqualTo(at);
    assertThat(at.in(1)).isEqualTo(new DelayedId(1, 101, 0, 0)).isGreaterThan(at);
    assertThat(at.in(3)).isEqualTo(new DelayedId(3, 100, 0, 0)).isGreaterThan(at);
    assertThat(new DelayedId(1, 100, 9, 9)).isLessThan(at);
  }

  @Test
  void theResultOfADelayedBatchHasItsSerialAndStaysNegativeForFormerClients() {
    for (long serial : new long[] {0, 1, 1L << 40}) {
      assertThat(Result.serial(Result.delayed(serial))).isEqualTo(serial);
      assertThat(Result.delayed(serial) + Limits.BATCH_MESSAGES_MAX).isLessThan(-1);
    }
    for (long offset : new long[] {Result.OFFSET_FORGOTTEN, 0, Long.MAX_VALUE}) {
      assertThat(Result.serial(offset)).isEqualTo(-1);
    }
  }

  @Test
  void anAnswerIsReadAsItWasWritten() {
    Message message = Message.builder("later").key("k").build();
    DelayedId id = new DelayedId(0, 5, 1, 2);
    DelayedAnswer answer =
        new DelayedAnswer(
            List.of(
                new DelayedAnswer.DelayedCopy(id, MessageCodec.encode(message)),
                new DelayedAnswer.DelayedCopy(new DelayedId(0, 6, 1, 0), null)),
            new DelayedId(0, 7, 0, 0));
    DelayedAnswer read = DelayedAnswer.CODEC.decode(DelayedAnswer.CODEC.encode(answer));
    assertThat(read.next()).isEqualTo(answer.next());
    assertThat(read.messages().get(0).id()).isEqualTo(id);
    assertThat(read.messages().get(0).message().payloadText()).isEqualTo("later");
    assertThat(read.messages().get(1).message()).isNull();
    DelayedAnswer none =
        DelayedAnswer.CODEC.decode(DelayedAnswer.CODEC.encode(new DelayedAnswer(List.of(), null)));
    assertThat(none).isEqualTo(new DelayedAnswer(List.of(), null));
  }
}
