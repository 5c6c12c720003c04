# Included by the Makefile of each function, which `sam build` calls in a copy of its folder.
build-%:
	cp app.py "$(ARTIFACTS_DIR)/"
