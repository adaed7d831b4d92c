/*
 * A library for LD_PRELOAD that slows the reading of files down, like a network share of that speed: all reads of one
 * process together get SLOW_BYTES per second below the folder SLOW_DIR. Appends the path of each file whose reading
 * begins to SLOW_LOG. These are macros, because a scan worker removes the variables of its environment.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Reads of headers are shorter. */
#define CONTENT_BYTES (256 * 1024)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static double free_at = 0;

static double now (void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec + time.tv_nsec / 1e9;
}

static void note (const char *path) {
  int fd = open(SLOW_LOG, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return;
  char line[PATH_MAX + 2];
  int length = snprintf(line, sizeof line, "%s\n", path);
  if (write(fd, line, length) < 0) abort();
  close(fd);
}

static void slow (int fd, size_t wanted, ssize_t bytes, off64_t offset) {
  char link[64], path[PATH_MAX + 1];
  if (bytes <= 0) return;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, PATH_MAX);
  if (length < 0) return;
  path[length] = 0;
  if (strncmp(path, SLOW_DIR, strlen(SLOW_DIR)) != 0) return;
  if (offset == 0 && wanted >= CONTENT_BYTES) note(path);
  pthread_mutex_lock(&lock);
  double start = now();
  if (free_at < start) free_at = start;
  free_at += bytes / (double) SLOW_BYTES;
  double wait = free_at - start;
  pthread_mutex_unlock(&lock);
  struct timespec pause = { (time_t) wait, (long) ((wait - (time_t) wait) * 1e9) };
  nanosleep(&pause, NULL);
}

ssize_t pread64 (int fd, void *buffer, size_t bytes, off64_t offset) {
  static ssize_t (*original) (int, void *, size_t, off64_t);
  if (original == NULL) *(void **) &original = dlsym(RTLD_NEXT, "pread64");
  ssize_t got = original(fd, buffer, bytes, offset);
  slow(fd, bytes, got, offset);
  return got;
}

ssize_t pread (int fd, void *buffer, size_t bytes, off_t offset) {
  return pread64(fd, buffer, bytes, offset);
}
