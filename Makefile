# Short commands for users. The build itself is described in meson.build.

BUILD := build
PREFIX ?= /usr/local
DESTDIR ?=
# POSTGRES=disabled builds without PostgreSQL. Such a build needs neither libpq nor a
# server. POSTGRES=NUMBER runs the tests on a server of that version instead of
# Debian's.
POSTGRES ?= enabled
postgres := $(if $(filter disabled,$(POSTGRES)),disabled,enabled)
server := $(filter-out enabled disabled,$(POSTGRES))
# WERROR=true makes each warning of the compiler an error.
WERROR ?=

# The folder in the build directory in which meson stores what it has configured. Meson
# writes this folder last, so a build directory without it is incomplete.
info = $(BUILD)/meson-info
prefix := $(abspath $(PREFIX))
type := debugoptimized
setup = tools/setup $(if $(filter disabled,$(postgres)),--no-postgres)

# Do not pass options of make, such as -j, to ninja. Ninja itself chooses how many
# compilers run in parallel.
unexport MAKEFLAGS

.PHONY: all test test-sqlserver soak demo bench install clean format help

# configure KIND,OPTION: install the packages that are missing for this kind of work,
# and make sure that there is a build directory that is configured with OPTION. KIND is
# an option of tools/setup. A build directory that was never finished, or that belongs
# to another checkout, is made anew. Once tests are enabled in a build directory, they
# stay enabled.
define configure # KIND,OPTION
@$(setup) $(1)
@grep -qsF '"source": "$(CURDIR)"' $(info)/meson-info.json && \
	test -s $(BUILD)/meson-private/coredata.dat && \
	test -s $(BUILD)/build.ninja || \
	{ rm -rf $(BUILD) && meson setup $(BUILD) --prefix='$(prefix)' \
	-Dbuildtype=$(type) -Dpostgres=$(postgres) \
	-D$(or $(2),tests=disabled); }
@for option in postgres=$(postgres) $(2) $(addprefix werror=,$(WERROR)); do \
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

# Run the self-tests and a stress test of the queue in T-SQL on a SQL Server, in a
# database in which sql/sqlserver/install.sql was run. URL is
# mssql://USER:PASSWORD@HOST:PORT/DATABASE. If URL is not given, the environment
# variable READPAST_SQLSERVER is used, which other users of the machine cannot see.
# STRESS has options of tools/sqlserver-stress.
test-sqlserver: export READPAST_SQLSERVER := $(or $(URL),$(READPAST_SQLSERVER))
test-sqlserver:
	$(call configure,--sqlserver)
	@ninja -C $(BUILD) cli/readpast
	@tools/sqlserver-steps sql/sqlserver/selftest.sql \
		sql/sqlserver/selftest_two.sql
	@tools/sqlserver-stress $(STRESS)

# Run the tests that take too long for `make test`, for SOAK minutes.
soak:
	$(call configure,--soak,tests=enabled)
	@ninja -C $(BUILD)
	@tools/soak $(BUILD) $(or $(SOAK),10)

# Build only the command and the code that it needs, which takes seconds.
demo: BUILD := build-demo
demo: type := debug
demo: postgres := disabled
demo:
	$(call configure)
	@ninja -C $(BUILD) cli/readpast
	@tools/demo

# BENCH=full runs all benchmarks. BENCH_DIR is a folder on the disk that is measured.
bench:
	$(call configure,--bench)
	@ninja -C $(BUILD) benchmarks
	@$(BUILD)/bench/bench
	@test ! -x $(BUILD)/bench/bench_postgres || \
		$(BUILD)/bench/bench_postgres --plots $(BUILD)/bench

# Refresh the dynamic loader's cache, so that programs find the new library. An install
# into a package's folder (DESTDIR) needs no refresh.
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
	@echo 'make test-sqlserver URL=mssql://USER:PASSWORD@HOST:PORT/DATABASE'
	@echo '              test the queue in T-SQL on that server'
	@echo 'make bench    ... and how fast it is; some 12 minutes'
	@echo 'make install  PREFIX=/usr/local DESTDIR='
	@echo 'make clean, make format'
	@echo 'POSTGRES=disabled behind any of them: without PostgreSQL'
	@echo 'POSTGRES=18 behind test: on a server of that version'
