package dev.evenkeel.protocol;

/** The version of this build, which programs show to people and tell each other. */
public final class BuildVersion {
  private BuildVersion() {}

  /** As the manifest of the jar says; {@code development} if the classes are not in a jar. */
  public static String number() {
    String version = BuildVersion.class.getPackage().getImplementationVersion();
    return version == null ? "development" : version;
  }
}
