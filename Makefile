# The whole book in one command, the whole test suite in another. `make help` lists the targets.
#
# Needed: Python 3.11 or 3.12 and make. The environment is made in .venv from requirements.lock.
#
# macOS has GNU make 3.81, which ignores .SHELLFLAGS: a recipe must not rely on them to stop at a failure.

SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
.SUFFIXES:
.DEFAULT_GOAL := help

PROFILE ?= mini
PORT ?= 8000
VENV ?= .venv
BIN := $(VENV)/bin
# Says that VENV is complete. An environment of conda is, by environment.yml, and nothing is installed into it.
INSTALLED := own-environment $(if $(wildcard $(VENV)/conda-meta),,$(VENV)/.installed)

PARAMS := notebooks/params/$(PROFILE).yml
EXECUTED := _build/executed/$(PROFILE)
STAGE := _build/stage
SITE := _build/html/index.html

SOURCES := $(sort $(wildcard notebooks/[0-9][0-9]_*.py))
NOTEBOOKS := $(SOURCES:notebooks/%.py=$(EXECUTED)/notebooks/%.ipynb)
# With two notebooks at once (make -j2), one that keeps both cores busy comes last, alone.
LAST := $(EXECUTED)/notebooks/03_estimating_it_well.ipynb
# What no import shows: the numbers and weights that the package ships.
LIBRARY_DATA := $(shell find affscore notebooks/companion -type f ! -name '*.py' ! -name '*.pyc' ! -name ruff.toml ! -path '*/.*')
PROSE := _config.yml CHANGELOG.md $(shell find book -type f)
STAGING := $(wildcard scripts/*.py) $(shell find affscore notebooks/companion -name '*.py')  # whose docstrings are pages

.PHONY: help
help:  ## show this help
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-12s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))
	@printf '\nPROFILE=%s: the parameters of the notebooks, one file each in notebooks/params (have: %s)\n' \
	  '$(PROFILE)' '$(notdir $(basename $(wildcard notebooks/params/*.yml)))'

.PHONY: book
book: $(SITE)  ## run the notebooks and build the site; PROFILE=mini by default
	@echo 'The book is at $(SITE) (make serve shows it in a browser)'

# Each worker of pytest takes whole files: what a file measures once, it shares. WORKERS=0 runs them in one process.
WORKERS ?= auto
PYTEST := -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder
QUICK := -m 'not slow and not notebook and not browser'

.PHONY: check
check: $(INSTALLED)  ## check style, types and imports
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

.PHONY: test
test: check  ## check style, types and imports, and run the quick tests
	$(BIN)/python $(PYTEST) $(QUICK)

.PHONY: test-all
test-all: check  ## check style, types and imports, and run all tests, those on the built site in a browser, too
	$(BIN)/python $(PYTEST)

# The oldest versions that pyproject.toml allows, chosen by uv; whatever these need themselves is the newest.
OLDEST := _build/oldest
.PHONY: test-oldest
test-oldest: $(OLDEST)/.installed  ## run the quick tests on the oldest versions that are allowed, with Python 3.11
	$(OLDEST)/bin/python $(PYTEST) $(QUICK)

$(OLDEST)/.installed: pyproject.toml notebooks/pyproject.toml | _build/uv/bin/uv
	_build/uv/bin/uv pip compile --quiet --resolution lowest-direct --all-extras --python-version 3.11 \
	  --output-file _build/oldest.txt pyproject.toml
	python3.11 -m venv $(OLDEST)
	_build/uv/bin/uv pip install --quiet --python $(OLDEST)/bin/python -r _build/oldest.txt 'setuptools>=77'
	_build/uv/bin/uv pip install --quiet --python $(OLDEST)/bin/python --no-deps --no-build-isolation -e . -e notebooks
	@touch $@

# The wheel in two clean environments without the repository: the oldest and the newest versions that are allowed.
.PHONY: try-wheel
try-wheel: _build/try/lowest-direct/.tried _build/try/highest/.tried  ## build the wheel, and use it in clean environments, the oldest versions and the newest

_build/wheel/.built: pyproject.toml README.md $(shell find affscore -type f ! -name '*.pyc') | $(INSTALLED)
	rm -rf $(@D) build && $(BIN)/pip wheel --quiet --no-deps --no-build-isolation --wheel-dir $(@D) . && rm -rf build
	@touch $@

_build/try/%/.tried: _build/wheel/.built scripts/try_wheel.py | _build/uv/bin/uv
	_build/uv/bin/uv pip compile --quiet --resolution $* --python-version 3.11 --output-file $(@D).txt pyproject.toml
	python3.11 -m venv --clear $(@D)
	_build/uv/bin/uv pip install --quiet --python $(@D)/bin/python -r $(@D).txt
	_build/uv/bin/uv pip install --quiet --python $(@D)/bin/python --no-deps --reinstall _build/wheel/*.whl
	cp scripts/try_wheel.py $(@D) && cd $(@D) && bin/python -P try_wheel.py
	@touch $@

_build/uv/bin/uv: | $(INSTALLED)
	$(BIN)/python -m venv _build/uv
	_build/uv/bin/pip install --quiet uv

.PHONY: lab
lab: $(INSTALLED)  ## open the notebooks in JupyterLab
	$(BIN)/jupyter lab --notebook-dir=. notebooks

.PHONY: serve
serve: $(SITE)  ## show the site on http://localhost:8000 (or PORT)
	$(BIN)/python -m http.server --bind 127.0.0.1 --directory _build/html $(PORT)

# What a class gets; the syllabus says how to hand it out and to mark it.
.PHONY: student teacher assignments
student: $(INSTALLED)  ## write the notebooks for students, without solutions, into _build/student
	@$(BIN)/python scripts/classroom.py student --out _build/student
teacher: $(INSTALLED)  ## write the notebooks for the teacher, with points and rubrics, into _build/teacher
	@$(BIN)/python scripts/classroom.py teacher --out _build/teacher
assignments: $(INSTALLED)  ## write a course for nbgrader, an assignment a chapter, into _build/course
	@$(BIN)/python scripts/classroom.py assignments --out _build/course

.PHONY: slides
slides: $(NOTEBOOKS)  ## write a deck of slides for each notebook, with its findings and figures, into _build/slides
	@$(BIN)/jupyter nbconvert --log-level ERROR --to slides --no-input --output-dir _build/slides $(NOTEBOOKS)

.PHONY: format
format: $(INSTALLED)  ## format the code, and bring the notebooks in step
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(MAKE) --no-print-directory sync

.PHONY: zoo
zoo: $(INSTALLED)  ## train the small networks that are not trained yet, and write their tables, signatures and studies
	$(BIN)/python -m companion.mini_zoo
	$(BIN)/python -m companion.studies

.PHONY: sync
sync: $(INSTALLED)  ## bring each notebook's .py and .ipynb in step; the newer one wins
	$(BIN)/jupytext --sync $(SOURCES)

.PHONY: lock
lock: | _build/uv/bin/uv  ## pin the newest versions that pyproject.toml allows in requirements.lock
	_build/uv/bin/uv pip compile --quiet --universal --upgrade --all-extras --python-version 3.11 \
	  --custom-compile-command 'make lock' --output-file requirements.lock pyproject.toml

.PHONY: clean
clean:  ## delete all that was built, but not the environment
	rm -rf _build .pytest_cache .ruff_cache .mypy_cache .hypothesis .import_linter_cache

# The environment. The first Python that runs, is 3.11 or 3.12 and can make environments is taken.
FIND_PYTHON = for candidate in $(or $(PYTHON),python3.11 python3.12 python3); do \
    if "$$candidate" -c 'import ensurepip, sys, venv; sys.exit(not (3, 11) <= sys.version_info < (3, 13))' 2>/dev/null; \
    then echo "$$candidate"; exit; fi; \
  done; \
  echo 'error: Python 3.11 or 3.12 with venv is needed and was not found; say which with PYTHON=/path/to/python' >&2; \
  exit 1

# Prints the folder that an environment has its affscore from, if that is no folder of its own and not this one.
OTHER_CLONE = import sys, pathlib as p, importlib.util as u; spec = u.find_spec("affscore"); \
  home = spec and spec.origin and p.Path(spec.origin).resolve().parents[1]; \
  home and home != p.Path.cwd().resolve() and not home.is_relative_to(p.Path(sys.prefix).resolve()) and print(home)

.PHONY: own-environment
own-environment:
	@[ ! -x $(BIN)/python ] || other=$$($(BIN)/python -I -c '$(OTHER_CLONE)' || :) && [ -z "$${other:-}" ] || { echo \
	  "error: $(VENV) is the environment of $$other: omit VENV, or name a folder for a new one with VENV=..." >&2; exit 1; }

$(VENV)/.installed: requirements.lock pyproject.toml notebooks/pyproject.toml | own-environment
	@python=$$($(FIND_PYTHON)) || exit 1; echo "installing $(VENV) with $$python"; "$$python" -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --config-settings editable_mode=compat -e . -e notebooks
	@touch $@

# The notebooks. Each depends on the modules of the library that it used when it last ran (the .d files).
# PASSIVE: threads that wait for others sleep. Else two notebooks at once keep each other from the cores.
$(EXECUTED)/.checked: $(PARAMS) $(SOURCES) $(SOURCES:.py=.ipynb) scripts/notebook_files.py | $(INSTALLED)
	@$(BIN)/python scripts/notebook_files.py $(PARAMS)
	@mkdir -p $(@D) && touch $@

$(EXECUTED)/notebooks/%.ipynb: notebooks/%.py notebooks/%.ipynb $(PARAMS) $(LIBRARY_DATA) requirements.lock \
    scripts/execute_notebook.py scripts/notebook_files.py | $(INSTALLED) $(EXECUTED)/.checked
	@OMP_WAIT_POLICY=PASSIVE $(BIN)/python scripts/execute_notebook.py $< --params $(PARAMS) --output $@

$(LAST): | $(filter-out $(LAST),$(NOTEBOOKS))

-include $(NOTEBOOKS:.ipynb=.d)

# A new notebook may come without its .ipynb: executing it writes one.
notebooks/%.ipynb: ;
$(PARAMS):
	@echo 'error: there is no profile $(PROFILE): $@ is missing' >&2; exit 1

# The site. The profile is a dependency, so that switching it builds the site anew.
.PHONY: FORCE
_build/profile: FORCE
	@mkdir -p $(@D)
	@[ "$$(cat $@ 2>/dev/null)" = '$(PROFILE)' ] || echo '$(PROFILE)' >$@

# After a failure Sphinx forgets what it read: a second run would not look at the page with the warning again.
$(SITE): $(NOTEBOOKS) $(PROSE) _build/profile requirements.lock $(STAGING) | $(INSTALLED)
	@echo 'building the site'
	@$(BIN)/python scripts/stage_book.py --params $(PARAMS) --executed $(EXECUTED) --stage $(STAGE)
	@bin=$$(cd $(BIN) && pwd) || exit 1; cd $(STAGE) || exit 1; \
	  "$$bin/jupyter-book" build . --config _config.yml --toc book/_toc.yml -n -W --keep-going --quiet >../site.log || { \
	  cat ../site.log; rm -rf _build/.doctrees; exit 1; }
	@ln -sfn stage/_build/html _build/html
	@test -s $@ && touch $@
