# The front door; the build itself is meson.build.

BUILD := build
PREFIX ?= /usr/local
DESTDIR ?=

.PHONY: all test demo install clean format help

all: $(BUILD)/build.ninja
	@ninja -C $(BUILD)

# A build directory that was never finished, or belongs to another checkout, is
# made anew.
$(BUILD)/build.ninja: meson.build tools/setup
	@tools/setup
	@meson setup --reconfigure $(BUILD) --prefix=$(PREFIX) \
		-Dbuildtype=debugoptimized >/dev/null 2>&1 || \
		{ rm -rf $(BUILD) && meson setup $(BUILD) --prefix=$(PREFIX) \
		-Dbuildtype=debugoptimized; }

test: all
	@tools/run-tests $(BUILD)

demo: all
	@tools/demo

install: all
	@meson configure $(BUILD) --prefix=$(abspath $(PREFIX))
	@DESTDIR=$(DESTDIR) meson install -C $(BUILD)
	@test -n "$(DESTDIR)" || test "$$(id -u)" != 0 || ldconfig

clean:
	rm -rf $(BUILD) build-ci

format:
	clang-format -i $$(git ls-files '*.c' '*.h')

help:
	@echo 'make          install what is missing, build'
	@echo 'make test     ... and run all tests'
	@echo 'make demo     ... and see it work'
	@echo 'make install  PREFIX=/usr/local DESTDIR='
	@echo 'make clean, make format'
