package dev.evenkeel.storage;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.rocksdb.BlockBasedTableConfig;
import org.rocksdb.BloomFilter;
import org.rocksdb.ColumnFamilyDescriptor;
import org.rocksdb.ColumnFamilyOptions;
import org.rocksdb.CompressionType;
import org.rocksdb.DBOptions;
import org.rocksdb.InfoLogLevel;
import org.rocksdb.RocksDB;

/** The settings of one database; they own native memory and outlive the database. */
final class RocksOptions implements AutoCloseable {
  private static final long WRITE_BUFFER_BYTES = 4L << 20;
  private static final long ARENA_BLOCK_BYTES = 256L << 10;
  private static final int OPEN_FILES_MAX = 512;

  private final BloomFilter bloom = new BloomFilter(10);
  private final DBOptions database;
  private final List<ColumnFamilyOptions> families = new ArrayList<>();
  private final List<ColumnFamilyDescriptor> descriptors = new ArrayList<>();

  RocksOptions(RocksShared shared) {
    database =
        new DBOptions()
            .setCreateIfMissing(true)
            .setCreateMissingColumnFamilies(true)
            // Without a write-ahead log, tables flushed one by one would survive a crash at
            // different moments of the log.
            .setAtomicFlush(true)
            .setEnv(shared.env())
            .setWriteBufferManager(shared.writeBuffers())
            .setMaxBackgroundJobs(2)
            .setMaxOpenFiles(OPEN_FILES_MAX)
            .setBytesPerSync(1 << 20)
            .setStatsDumpPeriodSec(0)
            .setStatsPersistPeriodSec(0)
            .setInfoLogLevel(InfoLogLevel.WARN_LEVEL)
            .setMaxLogFileSize(1 << 20)
            .setKeepLogFileNum(2);
    // The engine wants its default family; the applied position lives there, apart from the tables.
    describe(RocksDB.DEFAULT_COLUMN_FAMILY, family(shared));
    for (Store.Table table : Store.Table.values()) {
      describe(table.name().getBytes(StandardCharsets.US_ASCII), family(shared));
    }
  }

  DBOptions database() {
    return database;
  }

  /** The default family, then one for each table in the order of the enum. */
  List<ColumnFamilyDescriptor> descriptors() {
    return descriptors;
  }

  private void describe(byte[] name, ColumnFamilyOptions options) {
    families.add(options);
    descriptors.add(new ColumnFamilyDescriptor(name, options));
  }

  private ColumnFamilyOptions family(RocksShared shared) {
    return new ColumnFamilyOptions()
        .setWriteBufferSize(WRITE_BUFFER_BYTES)
        .setArenaBlockSize(ARENA_BLOCK_BYTES)
        .setMaxWriteBufferNumber(3)
        .setCompressionType(CompressionType.LZ4_COMPRESSION)
        .setTableFormatConfig(tables(shared));
  }

  private BlockBasedTableConfig tables(RocksShared shared) {
    return new BlockBasedTableConfig()
        .setBlockCache(shared.blockCache())
        .setFilterPolicy(bloom)
        .setCacheIndexAndFilterBlocks(true)
        .setPinL0FilterAndIndexBlocksInCache(true);
  }

  @Override
  public void close() {
    database.close();
    families.forEach(ColumnFamilyOptions::close);
    bloom.close();
  }
}
