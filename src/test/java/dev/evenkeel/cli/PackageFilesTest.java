package dev.evenkeel.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** Every command has a man page, with all of its options and commands. */
class PackageFilesTest {
  @TempDir Path directory;

  private static void collect(CommandLine command, List<CommandLine> shown) {
    if (!command.getCommandSpec().usageMessage().hidden()) {
      shown.add(command);
      command.getSubcommands().values().forEach(each -> collect(each, shown));
    }
  }

  private static String unpacked(Path file) throws IOException {
    try (InputStream in = new GZIPInputStream(Files.newInputStream(file))) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  @Test
  void everyCommandHasAPage() throws IOException {
    PackageFiles.main(new String[] {directory.toString()});
    List<CommandLine> commands = new ArrayList<>();
    collect(Main.commandLine(), commands);
    Path pages = directory.resolve("man/man1");
    for (CommandLine command : commands) {
      String name = command.getCommandSpec().qualifiedName("-");
      String page = unpacked(pages.resolve(name + ".1.gz"));
      assertThat(page.lines().filter(line -> line.startsWith(".SH")))
          .as(name)
          .contains(".SH \"NAME\"", ".SH \"SYNOPSIS\"", ".SH \"OPTIONS\"", ".SH \"EXAMPLES\"");
      assertThat(page).as(name).doesNotContain("${", "@|");
      command.getCommandSpec().options().stream()
          .filter(option -> !option.hidden())
          .forEach(
              option ->
                  assertThat(page).as(name).contains(option.longestName().replace("-", "\\-")));
      command.getSubcommands().values().stream()
          .filter(each -> !each.getCommandSpec().usageMessage().hidden())
          .map(each -> each.getCommandSpec().qualifiedName("-").replace("-", "\\-"))
          .forEach(each -> assertThat(page).as(name).contains(".BR \"" + each + "\" \"(1)\""));
    }
    try (var files = Files.list(pages)) {
      assertThat(files).hasSameSizeAs(commands);
    }
    assertThat(directory.resolve("completion/evenkeel")).isNotEmptyFile();
  }

  @Test
  void textThatLooksLikeARequestIsEscaped() {
    @CommandLine.Command(
        name = "x",
        description = {"Does .x with \\ and \"quotes\". More.", "'A line.", ".dots"},
        footer = {"", "Example:", "  x -1 \\", "    .y", "", "One", "paragraph."})
    class Command {}

    assertThat(ManPage.of(new CommandLine(new Command())))
        .contains("x \\- Does .x with \\e and \\(dqquotes\\(dq\n")
        .contains("\\&'A line.\n")
        .contains("\\&.dots\n")
        .endsWith(
            """
            .SH "EXAMPLES"
            .nf
            x \\-1 \\e
              .y
            .fi
            .PP
            One
            paragraph.
            """);
  }
}
