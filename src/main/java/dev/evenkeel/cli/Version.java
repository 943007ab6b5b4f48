package dev.evenkeel.cli;

import dev.evenkeel.protocol.BuildVersion;
import picocli.CommandLine.IVersionProvider;

/** The version in the manifest of the jar. */
final class Version implements IVersionProvider {
  @Override
  public String[] getVersion() {
    return new String[] {"evenkeel " + BuildVersion.number()};
  }
}
