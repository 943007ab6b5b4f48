package dev.evenkeel.cli;

import picocli.CommandLine.IVersionProvider;

/** The version in the manifest of the jar. */
final class Version implements IVersionProvider {
  @Override
  public String[] getVersion() {
    return new String[] {"evenkeel " + number()};
  }

  static String number() {
    String version = Version.class.getPackage().getImplementationVersion();
    return version == null ? "development" : version;
  }
}
