# The front door. `make` alone says what to type first; the work is in tests/house.
.DEFAULT_GOAL := help
PYTHON ?= python3
HOUSE = PYTHONPATH=tests $(PYTHON) -m house

help:  ## what to type first
	@$(HOUSE) help

demo down check test unit jvm matrix e2e cluster images lock clean:
	@$(HOUSE) $@

bench:
	@$(HOUSE) bench $(NAME)

.PHONY: help demo down check test unit jvm matrix e2e cluster images lock clean bench
