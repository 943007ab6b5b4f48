package dev.evenkeel.cli;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.GZIPOutputStream;
import picocli.AutoComplete;
import picocli.CommandLine;

/**
 * Writes the files of an installation that describe the command line: a man page for each command,
 * and the completion script. The build runs it.
 */
final class PackageFiles {
  private PackageFiles() {}

  /**
   * @param args the directory; gets {@code man/man1/*.1.gz} and {@code completion/evenkeel}
   */
  public static void main(String[] args) throws IOException {
    Path directory = Path.of(args[0]);
    CommandLine line = Main.commandLine();
    Path pages = Files.createDirectories(directory.resolve("man/man1"));
    writePages(line, pages);
    Path completion = Files.createDirectories(directory.resolve("completion"));
    Files.writeString(completion.resolve("evenkeel"), AutoComplete.bash("evenkeel", line));
  }

  private static void writePages(CommandLine command, Path pages) throws IOException {
    if (command.getCommandSpec().usageMessage().hidden()) {
      return;
    }
    Path page = pages.resolve(ManPage.name(command.getCommandSpec()) + ".1.gz");
    try (OutputStream out = new GZIPOutputStream(Files.newOutputStream(page))) {
      out.write(ManPage.of(command).getBytes(StandardCharsets.UTF_8));
    }
    for (CommandLine each : command.getSubcommands().values()) {
      writePages(each, pages);
    }
  }
}
