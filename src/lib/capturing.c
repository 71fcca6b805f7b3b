/* SPDX-License-Identifier: MIT */
/* The frames of a live run into a file, in the capture format. Losing the file does not stop the collector. */
#include "lib/engine.h"

#include <sys/uio.h>

#include "base/util.h"

static void write_all(struct exeunt *x, struct iovec *iov, int n)
{
	while (n && !x->capture_failed) {
		ssize_t done = writev(x->options.capture_fd, iov, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0) {
			x->capture_failed = true;
			engine_message(x, 3, "writing the capture failed: %s; it ends here",
				       strerror(errno));
			return;
		}
		while (n && (size_t)done >= iov->iov_len) {
			done -= (ssize_t)iov->iov_len;
			iov++;
			n--;
		}
		if (n) {
			iov->iov_base = (char *)iov->iov_base + done;
			iov->iov_len -= (size_t)done;
		}
	}
}

void capturing_begin(struct exeunt *x)
{
	char buf[CAPTURE_INFO_MOST];
	struct iovec iov = { buf, 0 };

	x->info.sources = 0;
	for (size_t i = 0; i < ARRAY_SIZE(x->sources); i++)
		if (x->sources[i])
			x->info.sources |= EXEUNT_SOURCE_BIT(i);
	iov.iov_len = capture_write_info(buf, &x->info);

	write_all(x, &iov, 1);
}

void capturing_frame(struct exeunt *x, const struct frame *f)
{
	unsigned char header[CAPTURE_FRAME_HEADER];
	struct iovec iov[2] = {
		{ header, sizeof(header) },
		{ (void *)(uintptr_t)f->data, f->len },
	};

	capture_write_frame(header, f);
	write_all(x, iov, f->len ? 2 : 1);
}
