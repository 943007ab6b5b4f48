package dev.evenkeel.log;

import java.util.List;

/**
 * How far the disks of a log group's voters are, as the leader knows.
 *
 * @param everywhere last entry that is known to be on the disk of every voter, or -1
 * @param missing ids of the nodes whose disk is not known to have the entry in question, sorted;
 *     empty: all have it
 */
public record Replicas(long everywhere, List<String> missing) {
  public Replicas {
    missing = List.copyOf(missing);
  }
}
