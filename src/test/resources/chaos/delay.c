/*
 * delay DEVICE MIN MAX: reads packets from a TUN device and writes each of them back to it after a
 * random time between MIN and MAX milliseconds. Packets may overtake each other. Past the limit
 * packets are lost.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define WAITING_MAX 8192
#define PACKET_BYTES_MAX 2048

struct packet {
  int64_t due;
  ssize_t size;
  char bytes[PACKET_BYTES_MAX];
};

static struct packet *waiting[WAITING_MAX];
static int count;

static int64_t now_micros(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000LL + t.tv_nsec / 1000;
}

/* A heap: the packet that is due first is waiting[0]. */
static void put(struct packet *packet) {
  int at = count++;
  while (at > 0 && waiting[(at - 1) / 2]->due > packet->due) {
    waiting[at] = waiting[(at - 1) / 2];
    at = (at - 1) / 2;
  }
  waiting[at] = packet;
}

static struct packet *take(void) {
  struct packet *first = waiting[0];
  struct packet *last = waiting[--count];
  int at = 0;
  for (;;) {
    int child = 2 * at + 1;
    if (child + 1 < count && waiting[child + 1]->due < waiting[child]->due) {
      child++;
    }
    if (child >= count || waiting[child]->due >= last->due) {
      break;
    }
    waiting[at] = waiting[child];
    at = child;
  }
  waiting[at] = last;
  return first;
}

int main(int argc, char **argv) {
  if (argc != 4) {
    fprintf(stderr, "usage: delay DEVICE MIN_MILLIS MAX_MILLIS\n");
    return 2;
  }
  int64_t min = atoi(argv[2]) * 1000LL;
  int64_t max = atoi(argv[3]) * 1000LL;
  int tun = open("/dev/net/tun", O_RDWR | O_NONBLOCK);
  struct ifreq device;
  memset(&device, 0, sizeof device);
  device.ifr_flags = IFF_TUN | IFF_NO_PI;
  strncpy(device.ifr_name, argv[1], IFNAMSIZ - 1);
  if (tun < 0 || ioctl(tun, TUNSETIFF, &device) < 0) {
    perror("delay: TUN device");
    return 1;
  }
  srandom(getpid());
  static struct packet lost;
  for (;;) {
    struct pollfd in = {.fd = tun, .events = POLLIN};
    int64_t wait = count == 0 ? 1000000 : waiting[0]->due - now_micros();
    struct timespec timeout = {wait < 0 ? 0 : wait / 1000000, wait < 0 ? 0 : wait % 1000000 * 1000};
    if (ppoll(&in, 1, &timeout, NULL) > 0) {
      struct packet *packet = count == WAITING_MAX ? &lost : malloc(sizeof *packet);
      packet->size = read(tun, packet->bytes, PACKET_BYTES_MAX);
      if (packet != &lost && packet->size > 0) {
        packet->due = now_micros() + min + (max > min ? random() % (max - min) : 0);
        put(packet);
      } else if (packet != &lost) {
        free(packet);
      }
    }
    while (count > 0 && waiting[0]->due <= now_micros()) {
      struct packet *packet = take();
      if (write(tun, packet->bytes, packet->size) < 0) {
        /* As if it had been lost on the way. */
      }
      free(packet);
    }
  }
}
