# The front door; the build itself is meson.build.

BUILD := build
PREFIX ?= /usr/local
DESTDIR ?=
# disabled: neither libpq nor a server is installed, built for or tested.
POSTGRES ?= enabled

# What meson tells of a build directory, and writes last.
info := $(BUILD)/meson-info
prefix := $(abspath $(PREFIX))
setup := tools/setup $(if $(filter disabled,$(POSTGRES)),--no-postgres)

# ninja has its own idea of how much to do at a time.
unexport MAKEFLAGS

.PHONY: all test soak demo bench install clean format help

# A build directory that was never finished, or belongs to another checkout, is
# made anew.
all:
	@$(setup)
	@grep -qsF '"source": "$(CURDIR)"' $(info)/meson-info.json && \
		test -s $(BUILD)/meson-private/coredata.dat && \
		test -s $(BUILD)/build.ninja || \
		{ rm -rf $(BUILD) && meson setup $(BUILD) --prefix='$(prefix)' \
		-Dbuildtype=debugoptimized -Dpostgres=$(POSTGRES); }
	@grep -qsF '"postgres", "value": "$(POSTGRES)"' \
		$(info)/intro-buildoptions.json || \
		meson setup --reconfigure $(BUILD) -Dpostgres=$(POSTGRES)
	@ninja -C $(BUILD)

test: all
	@$(setup) --test
	@tools/run-tests $(BUILD)

# SOAK minutes of what a test run has no time for.
soak: all
	@$(setup) --test
	@tools/soak $(BUILD) $(or $(SOAK),10)

demo: all
	@tools/demo

# BENCH=full for all of it; BENCH_DIR is the disk that it is about.
bench: all
	@$(setup) --bench
	@$(BUILD)/bench/bench
	@test ! -x $(BUILD)/bench/bench_postgres || \
		$(BUILD)/bench/bench_postgres --plots $(BUILD)/bench

# The loader has to hear of a new library, unless this only fills a package.
install: all
	@grep -qsF '"prefix", "value": "$(prefix)"' \
		$(info)/intro-buildoptions.json || \
		meson configure $(BUILD) --prefix='$(prefix)'
	@DESTDIR='$(abspath $(DESTDIR))' meson install -C $(BUILD)
	@test -n '$(DESTDIR)' || test "$$(id -u)" != 0 || ldconfig

clean:
	rm -rf $(BUILD) build-ci

format:
	git ls-files -z '*.c' '*.h' | xargs -0 clang-format -i

help:
	@echo 'make          install what is missing, build'
	@echo 'make test     ... and run all tests'
	@echo 'make soak     ... and the long ones, for SOAK=10 minutes'
	@echo 'make demo     ... and see it work'
	@echo 'make bench    ... and how fast it is; some 12 minutes'
	@echo 'make install  PREFIX=/usr/local DESTDIR='
	@echo 'make clean, make format'
	@echo 'POSTGRES=disabled behind any of them: without PostgreSQL'
