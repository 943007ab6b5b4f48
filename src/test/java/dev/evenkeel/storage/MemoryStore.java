package dev.evenkeel.storage;

import static dev.evenkeel.Loops.each;

import dev.evenkeel.Unchecked;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

/** A store in memory, for tests and simulations. */
public final class MemoryStore implements Store {
  private static final String CHECKPOINT = "CURRENT";

  /** What survives closing a store: the tables of each directory. */
  public static final class Disk {
    private final Map<Path, Contents> contents = new HashMap<>();

    /** Opens the store of a directory, which may hold a checkpoint that was copied there. */
    public synchronized MemoryStore open(Path directory) throws IOException {
      Path checkpoint = directory.resolve(CHECKPOINT);
      if (Files.exists(checkpoint)) {
        contents.put(directory, Contents.read(checkpoint));
        Files.delete(checkpoint);
      }
      return new MemoryStore(contents.computeIfAbsent(directory, any -> new Contents()));
    }
  }

  private static final class Contents {
    private final Map<Table, NavigableMap<byte[], byte[]>> tables = new EnumMap<>(Table.class);
    private long index = -1;
    private long term;
    private byte[] note;

    Contents() {
      each(Table.values(), table -> tables.put(table, new TreeMap<>(Arrays::compareUnsigned)));
    }

    boolean sameAs(Contents other) {
      if (index != other.index || term != other.term || !Arrays.equals(note, other.note)) {
        return false;
      }
      for (Table table : Table.values()) {
        Iterator<Map.Entry<byte[], byte[]>> theirs = other.tables.get(table).entrySet().iterator();
        for (Map.Entry<byte[], byte[]> row : tables.get(table).entrySet()) {
          Map.Entry<byte[], byte[]> their = theirs.hasNext() ? theirs.next() : null;
          if (their == null
              || !Arrays.equals(row.getKey(), their.getKey())
              || !Arrays.equals(row.getValue(), their.getValue())) {
            return false;
          }
        }
        if (theirs.hasNext()) {
          return false;
        }
      }
      return true;
    }

    void write(DataOutputStream out) throws IOException {
      out.writeLong(index);
      out.writeLong(term);
      out.writeInt(note == null ? 0 : note.length);
      out.write(note == null ? new byte[0] : note);
      for (NavigableMap<byte[], byte[]> rows : tables.values()) {
        out.writeInt(rows.size());
        for (Map.Entry<byte[], byte[]> row : rows.entrySet()) {
          out.writeInt(row.getKey().length);
          out.write(row.getKey());
          out.writeInt(row.getValue().length);
          out.write(row.getValue());
        }
      }
    }

    static Contents read(Path file) throws IOException {
      Contents contents = new Contents();
      try (DataInputStream in = new DataInputStream(Files.newInputStream(file))) {
        contents.index = in.readLong();
        contents.term = in.readLong();
        byte[] note = in.readNBytes(in.readInt());
        contents.note = note.length == 0 ? null : note;
        for (NavigableMap<byte[], byte[]> rows : contents.tables.values()) {
          int count = in.readInt();
          for (int i = 0; i < count; i++) {
            byte[] key = in.readNBytes(in.readInt());
            rows.put(key, in.readNBytes(in.readInt()));
          }
        }
      }
      return contents;
    }
  }

  private final Contents contents;
  private boolean closed;

  private MemoryStore(Contents contents) {
    this.contents = contents;
  }

  /** An empty store of its own. */
  public static MemoryStore create() {
    return new MemoryStore(new Contents());
  }

  /** Everything in it, for comparing. */
  public byte[] dump() {
    synchronized (contents) {
      ByteArrayOutputStream bytes = new ByteArrayOutputStream();
      Unchecked.run(() -> contents.write(new DataOutputStream(bytes)));
      return bytes.toByteArray();
    }
  }

  /** Whether the other one holds the same, row for row, of the same position in the log. */
  public boolean sameAs(MemoryStore other) {
    return contents.sameAs(other.contents);
  }

  /** Puts a value behind the state machine's back, as a failing disk might. */
  public void overwrite(Table table, byte[] key, byte[] value) {
    synchronized (contents) {
      contents.tables.get(table).put(key, value);
    }
  }

  private NavigableMap<byte[], byte[]> rows(Table table) {
    if (closed) {
      throw new IllegalStateException("the store is closed");
    }
    return contents.tables.get(table);
  }

  @Override
  public long appliedIndex() {
    synchronized (contents) {
      return contents.index;
    }
  }

  @Override
  public long appliedTerm() {
    synchronized (contents) {
      return contents.term;
    }
  }

  @Override
  public byte[] appliedNote() {
    synchronized (contents) {
      return contents.note;
    }
  }

  @Override
  public byte[] get(Table table, byte[] key) {
    synchronized (contents) {
      byte[] value = rows(table).get(key);
      return value == null ? null : value.clone();
    }
  }

  @Override
  public Cursor scan(Table table, byte[] from, byte[] to) {
    synchronized (contents) {
      return new Rows(rows(table).subMap(from, true, to, false));
    }
  }

  @Override
  public Cursor scanBackward(Table table, byte[] from, byte[] to) {
    synchronized (contents) {
      NavigableMap<byte[], byte[]> range = rows(table).subMap(from, true, to, false);
      return new Rows(range.descendingMap());
    }
  }

  @Override
  public void checkpoint(Path directory) throws IOException {
    Files.createDirectory(directory);
    Files.write(directory.resolve(CHECKPOINT), dump());
  }

  @Override
  public long bytesOnDisk() {
    return dump().length;
  }

  @Override
  public void close() {
    synchronized (contents) {
      closed = true;
    }
  }

  @Override
  public Write begin() {
    return new Changes();
  }

  private final class Changes implements Write {
    private final List<Runnable> changes = new ArrayList<>();

    @Override
    public void put(Table table, byte[] key, byte[] value) {
      changes.add(() -> rows(table).put(key.clone(), value.clone()));
    }

    @Override
    public void delete(Table table, byte[] key) {
      changes.add(() -> rows(table).remove(key));
    }

    @Override
    public void deleteRange(Table table, byte[] from, byte[] to) {
      changes.add(() -> rows(table).subMap(from, true, to, false).clear());
    }

    @Override
    public void commit(long term, long index, byte[] note) {
      synchronized (contents) {
        changes.forEach(Runnable::run);
        contents.term = term;
        contents.index = index;
        contents.note = note;
      }
    }

    @Override
    public void close() {
      changes.clear();
    }
  }

  /** Sees one moment of the state, because it copies what it walks over. */
  private static final class Rows implements Cursor {
    private final Iterator<Map.Entry<byte[], byte[]>> rows;
    private Map.Entry<byte[], byte[]> row;

    Rows(NavigableMap<byte[], byte[]> range) {
      List<Map.Entry<byte[], byte[]>> copy = new ArrayList<>();
      range.forEach((key, value) -> copy.add(Map.entry(key, value)));
      rows = copy.iterator();
    }

    @Override
    public boolean next() {
      if (!rows.hasNext()) {
        return false;
      }
      row = rows.next();
      return true;
    }

    @Override
    public byte[] key() {
      return row.getKey();
    }

    @Override
    public byte[] value() {
      return row.getValue();
    }

    @Override
    public void close() {}
  }
}
