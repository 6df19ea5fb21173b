/* A slow disk: while the file DMODC_LAB_SLOW is there, everything under the folder DMODC_LAB_DISK takes three seconds
 * to be written out. Loaded into OpenSM before everything else. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void wait_for(int file)
{
	const char *slow = getenv("DMODC_LAB_SLOW"), *disk = getenv("DMODC_LAB_DISK");
	char link[64], path[PATH_MAX];
	ssize_t length;

	if (!slow || !disk || access(slow, F_OK) != 0)
		return;
	snprintf(link, sizeof link, "/proc/self/fd/%d", file);
	length = readlink(link, path, sizeof path - 1);
	if (length < 0)
		return;
	path[length] = 0;
	if (strncmp(path, disk, strlen(disk)) == 0)
		sleep(3);
}

int fsync(int file)
{
	int (*own)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fsync");

	wait_for(file);
	return own(file);
}

int fdatasync(int file)
{
	int (*own)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");

	wait_for(file);
	return own(file);
}
