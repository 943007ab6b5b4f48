package dev.evenkeel.cli;

/** Entry point of the fat jar. */
public final class Main {
  private Main() {}

  public static void main(String[] args) {
    System.out.println("evenkeel");
  }
}
