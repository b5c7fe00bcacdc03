# The front door; the build itself is meson.build.

BUILD := build
PREFIX ?= /usr/local
DESTDIR ?=
# disabled: neither libpq nor a server is installed, built for or tested. A number:
# tests run on a server of that version, and not on the one that Debian installed.
POSTGRES ?= enabled
postgres := $(if $(filter disabled,$(POSTGRES)),disabled,enabled)
server := $(filter-out enabled disabled,$(POSTGRES))

# What meson tells of a build directory, and writes last.
info = $(BUILD)/meson-info
prefix := $(abspath $(PREFIX))
type := debugoptimized
setup = tools/setup $(if $(filter disabled,$(postgres)),--no-postgres)

# ninja has its own idea of how much to do at a time.
unexport MAKEFLAGS

.PHONY: all test soak demo bench install clean format help

# Install what is missing for KIND of work (of tools/setup), and have a build
# directory that has these OPTIONS. One that was never finished, or belongs to
# another checkout, is made anew. Tests are configured when somebody wants them, and
# then stay.
define configure # KIND,OPTION
@$(setup) $(1)
@grep -qsF '"source": "$(CURDIR)"' $(info)/meson-info.json && \
	test -s $(BUILD)/meson-private/coredata.dat && \
	test -s $(BUILD)/build.ninja || \
	{ rm -rf $(BUILD) && meson setup $(BUILD) --prefix='$(prefix)' \
	-Dbuildtype=$(type) -Dpostgres=$(postgres) \
	-D$(or $(2),tests=disabled); }
@for option in postgres=$(postgres) $(2); do \
	grep -qsF "\"$${option%=*}\", \"value\": \"$${option#*=}\"" \
		$(info)/intro-buildoptions.json || \
	meson setup --reconfigure $(BUILD) -D$$option || exit; done
endef

all:
	$(call configure)
	@ninja -C $(BUILD) product

test:
	$(call configure,--test,tests=enabled)
	@ninja -C $(BUILD)
	@$(if $(server),PG_BIN=$$(tools/get-postgres $(server)) && export PG_BIN &&) \
		tools/run-tests $(BUILD)

# SOAK minutes of what a test run has no time for.
soak:
	$(call configure,--soak,tests=enabled)
	@ninja -C $(BUILD)
	@tools/soak $(BUILD) $(or $(SOAK),10)

# The command alone, with what it takes: this is compiled in seconds.
demo: BUILD := build-demo
demo: type := debug
demo: postgres := disabled
demo:
	$(call configure)
	@ninja -C $(BUILD) cli/readpast
	@tools/demo

# BENCH=full for all of it; BENCH_DIR is the disk that it is about.
bench:
	$(call configure,--bench)
	@ninja -C $(BUILD) benchmarks
	@$(BUILD)/bench/bench
	@test ! -x $(BUILD)/bench/bench_postgres || \
		$(BUILD)/bench/bench_postgres --plots $(BUILD)/bench

# The loader has to hear of a new library, unless this only fills a package.
install:
	$(call configure)
	@grep -qsF '"prefix", "value": "$(prefix)"' \
		$(info)/intro-buildoptions.json || \
		meson configure $(BUILD) --prefix='$(prefix)'
	@ninja -C $(BUILD) product
	@DESTDIR='$(abspath $(DESTDIR))' meson install -C $(BUILD) --no-rebuild
	@test -n '$(DESTDIR)' || test "$$(id -u)" != 0 || ldconfig

clean:
	rm -rf $(BUILD) build-ci build-demo

format:
	git ls-files -z '*.c' '*.h' | xargs -0 clang-format -i

help:
	@echo 'make          say what is missing, install it, build'
	@echo 'make demo     ... the command alone, and see it work'
	@echo 'make test     ... and run all tests'
	@echo 'make soak     ... and the long ones, for SOAK=10 minutes'
	@echo 'make bench    ... and how fast it is; some 12 minutes'
	@echo 'make install  PREFIX=/usr/local DESTDIR='
	@echo 'make clean, make format'
	@echo 'POSTGRES=disabled behind any of them: without PostgreSQL'
	@echo 'POSTGRES=18 behind test: on a server of that version'
