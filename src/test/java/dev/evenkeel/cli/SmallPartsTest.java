package dev.evenkeel.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.evenkeel.client.internal.session.Credentials;
import dev.evenkeel.protocol.StartAt;
import dev.evenkeel.settings.ByteSizes;
import dev.evenkeel.util.Nearest;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

class SmallPartsTest {
  @Test
  void nearestFindsSlipsAndNothingElse() {
    List<String> words = List.of("--group", "--member", "--parallel");
    assertThat(Nearest.to("--gruop", words)).isEqualTo("--group");
    assertThat(Nearest.to("--Parallell", words)).isEqualTo("--parallel");
    assertThat(Nearest.to("--zzzzzzzzzzz", words)).isNull();
    assertThat(Nearest.hint("--menber", words)).isEqualTo(": did you mean '--member'?");
    assertThat(Nearest.distance("ab", "ba")).isEqualTo(1);
    assertThat(Nearest.distance("", "abc")).isEqualTo(3);
  }

  @Test
  void sizes() {
    assertThat(ByteSizes.parse("4096")).isEqualTo(4096);
    assertThat(ByteSizes.parse("512MiB")).isEqualTo(512L << 20);
    assertThat(ByteSizes.parse("1 gib")).isEqualTo(1L << 30);
    assertThat(ByteSizes.format(512L << 20)).isEqualTo("512MiB");
    assertThat(ByteSizes.format(1000)).isEqualTo("1000");
    assertThat(ByteSizes.format(0)).isEqualTo("0");
    assertThatThrownBy(() -> ByteSizes.parse("1MB")).hasMessageContaining("512MiB");
    assertThatThrownBy(() -> ByteSizes.parse("999999999999TiB")).hasMessageContaining("too large");
  }

  @Test
  void whereAGroupBegins() {
    assertThat(OptionFormats.start("--from", "earliest")).isEqualTo(StartAt.EARLIEST);
    assertThat(OptionFormats.start("--from", "latest")).isEqualTo(StartAt.LATEST);
    assertThat(OptionFormats.start("--from", "1700000000000"))
        .isEqualTo(StartAt.timestamp(1700000000000L));
    StartAt day = StartAt.timestamp(1769817600000L);
    assertThat(OptionFormats.start("--from", "2026-01-31")).isEqualTo(day);
    assertThat(OptionFormats.start("--from", "2026-01-31T00:00:00Z")).isEqualTo(day);
    assertThat(OptionFormats.start("--from", "2026-01-31T00:00")).isEqualTo(day);
    assertThat(OptionFormats.start("--from", "2026-01-31T01:00:00+01:00")).isEqualTo(day);
    assertThatThrownBy(() -> OptionFormats.start("--from", "yesterday"))
        .hasMessage(
            "--from 'yesterday': write earliest, latest, milliseconds since 1970, or"
                + " 2026-01-31T12:00:00Z");
  }

  @Test
  void tablesAlignAndShowTheUnknown() {
    Table table = new Table("NAME", "LAG").row("a", 5L).row("longer", 12345L).row("c", null);
    assertThat(table.text())
        .isEqualTo("NAME      LAG\na           5\nlonger  12345\nc           -\n");
  }

  @Test
  void pathSegmentsAreEscaped() {
    assertThat(HttpApi.segment("a/b c?ü")).isEqualTo("a%2Fb%20c%3F%C3%BC");
    assertThatThrownBy(() -> new HttpApi("localhost:8080"))
        .hasMessage("--http 'localhost:8080': write http://127.0.0.1:8080");
  }

  @Test
  void aTokenIsNotSentInClearTextToAnotherMachine() {
    Credentials token = new Credentials(null, Path.of("token"));
    for (String url : List.of("http://192.0.2.1:8080", "http://[2001:db8::1]:8080/")) {
      assertThatThrownBy(() -> new HttpApi(url, token))
          .hasMessageContaining("clear text: write https://");
      assertThatThrownBy(() -> new HttpApi(url, Credentials.NONE, "secret"))
          .hasMessageContaining("clear text");
    }
    new HttpApi("http://[::1]:8080", Credentials.NONE, "secret");
    new HttpApi("http://192.0.2.1:8080");
    new HttpApi("https://192.0.2.1:8080", Credentials.NONE, "secret");
  }

  @Test
  void residentMemoryIsReadWhereTheSystemTells() {
    assertThat(NodeMeters.residentBytes("VmPeak:\t 99 kB\nVmRSS:\t  2048 kB\nRssAnon: 1 kB\n"))
        .isEqualTo(2 << 20);
    assertThat(NodeMeters.residentBytes("VmPeak:\t 99 kB\n")).isNaN();
    if (Files.isReadable(NodeMeters.STATUS)) {
      assertThat(NodeMeters.residentBytes()).isGreaterThan(1 << 20);
    }
  }
}
