package dev.evenkeel.cli;

import dev.evenkeel.client.MemberFaultException;
import dev.evenkeel.log.LogStartException;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.util.Nearest;
import java.io.PrintWriter;
import java.nio.file.InvalidPathException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.function.BooleanSupplier;
import picocli.CommandLine;
import picocli.CommandLine.IExecutionExceptionHandler;
import picocli.CommandLine.IParameterExceptionHandler;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.UnmatchedArgumentException;

/** Prints each error as one line on standard error; {@code --verbose} adds the stack trace. */
public final class CommandErrors implements IParameterExceptionHandler, IExecutionExceptionHandler {
  private final BooleanSupplier verbose;

  /**
   * @param verbose whether to print stack traces; asked after the options have been parsed
   */
  CommandErrors(BooleanSupplier verbose) {
    this.verbose = verbose;
  }

  @Override
  public int handleParseException(ParameterException failure, String[] args) {
    CommandLine command = failure.getCommandLine();
    String text = text(failure);
    // If the first word is not a command, errors about the words after it would mislead.
    CommandLine root = command.getCommandSpec().root().commandLine();
    for (String arg : args) {
      if (!arg.startsWith("-")) {
        if (!root.getSubcommands().containsKey(arg)) {
          command = root;
          text = unmatched(root, arg);
        }
        break;
      }
    }
    if (causedByName(failure)) {
      text += "; this locale has no such names of files: " + Arguments.help();
    }
    String name = command.getCommandSpec().qualifiedName();
    boolean traced = Arrays.asList(args).contains("--verbose");
    print(command, name + ": " + oneLine(text) + " (see " + name + " --help)", failure, traced);
    return ExitStatus.WRONG_USAGE;
  }

  private static String text(ParameterException failure) {
    if (failure instanceof UnmatchedArgumentException unmatched) {
      return unmatched(unmatched.getCommandLine(), unmatched.getUnmatched().get(0));
    }
    if (failure.getArgSpec() instanceof PositionalParamSpec
        && failure.getCause() instanceof CommandFailure wrong) {
      return wrong.getMessage();
    }
    if (failure.getArgSpec() instanceof OptionSpec option && failure.getValue() != null) {
      String given = option.longestName() + " '" + failure.getValue() + "': ";
      if (failure.getCause() instanceof CommandFailure wrong) {
        return given + wrong.getMessage();
      }
      if (failure.getCause() instanceof NumberFormatException) {
        return given + "write a number";
      }
      if (option.auxiliaryTypes()[0].isEnum()) {
        return given
            + "use "
            + option.paramLabel().replaceAll("\\|(?=.*\\|)", ", ").replace("|", " or ");
      }
    }
    return failure.getMessage().replaceFirst("^Error: ", "");
  }

  @Override
  public int handleExecutionException(Exception failure, CommandLine command, ParseResult parsed) {
    Throwable cause = failure;
    while ((cause instanceof CompletionException || cause instanceof ExecutionException)
        && cause.getCause() != null) {
      cause = cause.getCause();
    }
    String name = command.getCommandSpec().qualifiedName();
    String text = oneLine(describe(cause));
    print(command, name + ": " + text, cause, verbose.getAsBoolean());
    return cause instanceof CommandFailure known ? known.exitStatus() : ExitStatus.FAILED;
  }

  /** Whether a name of a file has characters that the locale has not. */
  private static boolean causedByName(Throwable failure) {
    for (Throwable each = failure; each != null; each = each.getCause()) {
      if (each instanceof InvalidPathException
          || String.valueOf(each.getMessage()).contains("InvalidPathException")) {
        return !Arguments.localeReadsAll();
      }
    }
    return false;
  }

  /** The cause as a failure of the command. */
  public static CommandFailure failure(Throwable cause) {
    return cause instanceof CommandFailure known
        ? known
        : CommandFailure.failed(describe(cause), cause);
  }

  /** Describes a failure for people. */
  public static String describe(Throwable failure) {
    if (failure instanceof RefusedException refused) {
      return refused.wordsOfCommands();
    }
    if (failure instanceof CommandFailure
        || failure instanceof ExecRunner.ExecFailed
        || failure instanceof MemberFaultException
        || failure instanceof LogStartException) {
      String message = failure.getMessage();
      return message == null || message.isBlank() ? failure.toString() : message;
    }
    if (causedByName(failure)) {
      return failure.getMessage() + ": this locale has no such names of files: " + Arguments.help();
    }
    return failure.getMessage() == null
        ? failure.toString()
        : failure.getClass().getSimpleName() + ": " + failure.getMessage();
  }

  private static void print(CommandLine command, String line, Throwable failure, boolean verbose) {
    PrintWriter err = command.getErr();
    err.println(line);
    if (verbose) {
      failure.printStackTrace(err);
    }
    err.flush();
  }

  private static String unmatched(CommandLine command, String first) {
    List<String> candidates = new ArrayList<>();
    if (first.startsWith("-")) {
      command.getCommandSpec().optionsMap().keySet().forEach(candidates::add);
      int equals = first.indexOf('=');
      String option = equals < 0 ? first : first.substring(0, equals);
      return "unknown option '" + option + "'" + Nearest.hint(option, candidates);
    }
    candidates.addAll(command.getSubcommands().keySet());
    if (candidates.isEmpty()) {
      return "unexpected argument '" + first + "'";
    }
    String hint = Nearest.hint(first, candidates);
    return "unknown command '%s'%s"
        .formatted(
            first, hint.isEmpty() ? ": commands are " + String.join(", ", candidates) : hint);
  }

  private static String oneLine(String text) {
    return Terminal.visible(String.valueOf(text).replaceAll("\\s*[\\r\\n]+\\s*", " ").trim());
  }
}
