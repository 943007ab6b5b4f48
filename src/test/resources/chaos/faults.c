/*
 * A library to be loaded before others (LD_PRELOAD): the wall clock of the process differs from the
 * machine's, and forcing files to the disk is slow or fails. What it does is read at each call from
 * the file that the variable CHAOS_FAULTS names, three numbers of 64 bits: the difference of the
 * wall clock in nanoseconds, the delay of fsync in milliseconds, and the error number of fsync or 0.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile int64_t *faults;
static int (*real_clock_gettime)(clockid_t, struct timespec *);
static int (*real_fsync)(int);
static int (*real_fdatasync)(int);

__attribute__((constructor)) static void begin(void) {
  real_clock_gettime = dlsym(RTLD_NEXT, "clock_gettime");
  real_fsync = dlsym(RTLD_NEXT, "fsync");
  real_fdatasync = dlsym(RTLD_NEXT, "fdatasync");
  const char *name = getenv("CHAOS_FAULTS");
  int file = name == NULL ? -1 : open(name, O_RDONLY);
  if (file >= 0) {
    void *memory = mmap(NULL, 3 * sizeof(int64_t), PROT_READ, MAP_SHARED, file, 0);
    faults = memory == MAP_FAILED ? NULL : memory;
    close(file);
  }
}

static int is_wall_clock(clockid_t clock) {
  return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
  if (real_clock_gettime == NULL) {
    real_clock_gettime = dlsym(RTLD_NEXT, "clock_gettime");
  }
  int result = real_clock_gettime(clock, time);
  if (result == 0 && faults != NULL && is_wall_clock(clock)) {
    int64_t nanos = time->tv_nsec + faults[0] % 1000000000;
    time->tv_sec += faults[0] / 1000000000 + (nanos >= 1000000000) - (nanos < 0);
    time->tv_nsec = (nanos + 1000000000) % 1000000000;
  }
  return result;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
  struct timespec now;
  (void)zone;
  clock_gettime(CLOCK_REALTIME, &now);
  time->tv_sec = now.tv_sec;
  time->tv_usec = now.tv_nsec / 1000;
  return 0;
}

time_t time(time_t *result) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (result != NULL) {
    *result = now.tv_sec;
  }
  return now.tv_sec;
}

static int spoiled(void) {
  if (faults != NULL && faults[1] > 0) {
    usleep(faults[1] * 1000);
  }
  if (faults != NULL && faults[2] != 0) {
    errno = faults[2];
    return 1;
  }
  return 0;
}

int fsync(int file) { return spoiled() ? -1 : real_fsync(file); }

int fdatasync(int file) { return spoiled() ? -1 : real_fdatasync(file); }
