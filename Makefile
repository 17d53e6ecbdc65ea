VENV := .venv
SERVER_VENV := .venv-local-model
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
DOCUMENT ?= examples/handbook.md
WORKERS ?= auto
QUESTIONS ?= 300
SEEDS ?= 1 2
STEPS ?= 1000
COMMA := ,
PYTEST := $(BIN)/python -m pytest

# Run the installation $(1), and print each step of pip that takes long, with the seconds since its start.
define install
	@started=$$(date +%s); { { $(1); }; echo "exit $$?"; } | while read -r line; do \
		case "$$line" in \
			*.whl*" MB)") file=$${line##*/}; file=$${file%%-*}; step="$${file##* }: $${line##*(}"; step=$${step%)} ;; \
			"Installing collected packages: "*) set -- $$line; step="unpacking $$(($$# - 3)) packages, usually 15 to 60 s" ;; \
			"exit "*) [ "$$line" = "exit 0" ] || exit 1; step="done" ;; \
			*) continue ;; \
		esac; \
		printf '%5d s  %s\n' "$$(($$(date +%s) - started))" "$$step"; \
	done
endef

export PIP_ROOT_USER_ACTION := ignore
export PYTHONUNBUFFERED := 1

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help run test lint embeddings local-model fast snap golden bench compare size fuzz soak docs release clean

help: ## Explain every target
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: $(VENV)/.installed ## Install roamtui into .venv if needed, then open the example handbook (DOCUMENT=file for another) with the offline model
	@$(BIN)/roamtui "$(DOCUMENT)" --model offline

test: lint ## Install the development tools if needed, then check style, types and layers and run all tests
	@$(PYTEST) -n $(WORKERS) --maxprocesses 8

lint: $(VENV)/.developed ## Check style, types and layers, without tests
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo

embeddings: $(VENV)/.developed ## Check search by meaning with the packaged model on real questions
	@$(PYTEST) tests/models/test_real_embedder.py

local-model: $(VENV)/.developed $(SERVER_VENV)/.made ## Serve SmolLM2 by llama.cpp on this machine with windows of 2k, 4k and 8k, and ask it
	@ROAMTUI_LOCAL_MODEL_PYTHON=$(SERVER_VENV)/bin/python $(PYTEST) tests/models/test_small_model.py

fast: $(VENV)/.developed ## Run the tests that are not marked slow
	@$(PYTEST) -n $(WORKERS) --maxprocesses 8 -m "not slow"

snap: $(VENV)/.developed ## Take the pictures of the screen anew; look at the difference before you keep them
	@$(PYTEST) tests/tui/test_snapshots.py --snapshot-update

golden: $(VENV)/.developed ## Write anew what every command prints (tests/cases/golden); look at the difference before you keep it
	@GOLDEN_UPDATE=1 $(PYTEST) tests/cli/test_golden.py

bench: $(VENV)/.developed ## Measure speed, each number beside one that it can be compared with (ARGS="--only tree" for one part)
	@$(BIN)/python -m tests.benchmarks.bench $(ARGS)

compare: $(VENV)/.developed ## Compare what a question brings with plain search (ARGS="--sets ray-docs" for one set)
	@$(BIN)/python -m tests.benchmarks.compare $(ARGS)

size: $(VENV)/.developed ## Print how many files, lines and functions every folder has, beside its limit
	@$(BIN)/python -m tests.benchmarks.size

fuzz: $(VENV)/.developed ## Run the property tests with 2,000 random cases each, and drive the app at random (SEEDS="1 2", STEPS=1000)
	@HYPOTHESIS_PROFILE=nightly $(PYTEST) -n $(WORKERS) -m hypothesis --timeout 0
	@for seed in $(SEEDS); do $(BIN)/python -m tests.soak.fuzz --steps $(STEPS) --seed $$seed || exit 1; done
	@for seed in $(SEEDS); do $(BIN)/python -m tests.soak.key_walk --steps $(STEPS) --seed $$seed || exit 1; done

soak: $(VENV)/.developed ## Ask the running app hundreds of questions in bad conditions (QUESTIONS=300)
	@$(BIN)/python -m tests.soak.long_use $(QUESTIONS)

docs: $(VENV)/.developed ## Write the generated parts of README and docs/ again: keys, settings, help, licences, pictures
	@$(BIN)/python docs/write_reference.py
	@$(BIN)/python docs/write_licences.py
	@$(BIN)/python -m docs.take_pictures

release: $(VENV)/.developed ## Build the wheel and the source package into dist/, check them, and use the wheel in an environment of its own
	@$(BIN)/python -m tests.soak.release

clean: ## Remove caches and what was built; .venv stays
	@rm -rf build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis snapshot_report.html
	@find . -name __pycache__ -type d -not -path './$(VENV)/*' -prune -exec rm -rf {} +

# Search by meaning has no wheels for some systems.
$(VENV)/.installed: pyproject.toml constraints.txt | $(VENV)/.made
	@echo "Installing roamtui into $(VENV), which takes 620 MB. First, pip looks up what is needed."
	$(call install,$(PIP) install --constraint constraints.txt --editable '.[formats$(COMMA)meaning]' || \
		$(PIP) install --constraint constraints.txt --editable '.[formats]')
	@touch $@

$(VENV)/.developed: pyproject.toml constraints.txt | $(VENV)/.made
	@echo "Installing roamtui and its development tools into $(VENV)."
	$(call install,$(PIP) install --constraint constraints.txt --editable '.[dev]')
	@touch $@ $(VENV)/.installed

$(SERVER_VENV)/.made: constraints-local-model.txt | $(VENV)/.made
	@echo "Installing llama.cpp's server and the model SmolLM2 into $(SERVER_VENV)."
	@$(BIN)/python -m venv $(SERVER_VENV)
	@$(SERVER_VENV)/bin/python -m pip --disable-pip-version-check --quiet install --no-deps --requirement constraints-local-model.txt
	@touch $@

$(VENV)/.made:
	@for python in $(PYTHON) python3.11 python3.12 python3.13 python3.14 python3; do \
		if "$$python" -c 'import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
			echo "Making $(VENV) with $$python, usually in 5 to 10 s." && "$$python" -m venv $(VENV) && touch $@ && exit 0; \
		fi; \
	done; \
	echo "roamtui needs Python 3.11 or newer with its venv module (on Debian: apt install python3-venv)." >&2; \
	exit 1
