# Short commands for users; the build itself is in meson.build.

BUILD := build
PREFIX ?= /usr/local
DESTDIR ?=
# POSTGRES=disabled: libpq and a server are neither installed nor used, and the
# build has no PostgreSQL. POSTGRES=NUMBER: tests run on a server of that version
# instead of Debian's.
POSTGRES ?= enabled
postgres := $(if $(filter disabled,$(POSTGRES)),disabled,enabled)
server := $(filter-out enabled disabled,$(POSTGRES))

# The folder in which meson describes a build directory. Meson writes it last.
info = $(BUILD)/meson-info
prefix := $(abspath $(PREFIX))
type := debugoptimized
setup = tools/setup $(if $(filter disabled,$(postgres)),--no-postgres)

# ninja decides by itself how much to do at a time.
unexport MAKEFLAGS

.PHONY: all test soak demo bench install clean format help

# Install what is missing for this KIND of work (an option of tools/setup), and make
# sure that there is a build directory with this OPTION. A build directory that was
# never finished, or belongs to another checkout, is made anew. Tests are configured
# when they are first asked for, and stay configured.
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

# The tests that take too long for `make test`, for SOAK minutes.
soak:
	$(call configure,--soak,tests=enabled)
	@ninja -C $(BUILD)
	@tools/soak $(BUILD) $(or $(SOAK),10)

# Only the command and what it needs, which compiles in seconds.
demo: BUILD := build-demo
demo: type := debug
demo: postgres := disabled
demo:
	$(call configure)
	@ninja -C $(BUILD) cli/readpast
	@tools/demo

# BENCH=full runs all benchmarks. BENCH_DIR is a folder on the disk to be
# measured.
bench:
	$(call configure,--bench)
	@ninja -C $(BUILD) benchmarks
	@$(BUILD)/bench/bench
	@test ! -x $(BUILD)/bench/bench_postgres || \
		$(BUILD)/bench/bench_postgres --plots $(BUILD)/bench

# Tell the loader about the new library, unless this install only fills a
# package's folder (DESTDIR).
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
