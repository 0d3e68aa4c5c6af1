"""Reads manifests, checks each strictly against the schema of its kind, prints them as JSON.

Runs in the environment that tools/python_tools.sh makes: k8s_check.py VERSION FILE…
"""
import json
import sys

import kubernetes_validate
import yaml


def main():
    version, *paths = sys.argv[1:]
    documents = []
    for path in paths:
        with open(path, encoding="utf-8") as file:
            for document in yaml.safe_load_all(file):
                kubernetes_validate.validate(document, version, strict=True)
                documents.append(document)
    print(json.dumps(documents))


if __name__ == "__main__":
    main()
