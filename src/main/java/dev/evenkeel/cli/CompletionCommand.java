package dev.evenkeel.cli;

import java.util.concurrent.Callable;
import picocli.AutoComplete;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code evenkeel completion}. */
@Command(
    name = "completion",
    description = "Prints a script that completes commands and options in bash and zsh.",
    footer = {
      "  source <(evenkeel completion)",
      "  evenkeel completion > /etc/bash_completion.d/evenkeel"
    })
final class CompletionCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Override
  public Integer call() {
    spec.commandLine().getOut().println(AutoComplete.bash("evenkeel", spec.root().commandLine()));
    spec.commandLine().getOut().flush();
    return ExitStatus.DONE;
  }
}
