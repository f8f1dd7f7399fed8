#!/bin/bash
# run.sh CATALOGS CATEGORIES QUERIES SYNONYMS MODEL WORK: see README.md. CATALOGS is a
# folder with the output of mkshop catalog in both formats: yml/*.yml.gz and jsonl/*.jsonl.gz.
set -e
here=$(cd "$(dirname "$0")" && pwd)
catalogs=$1 categories=$2 queries=$3 synonyms=$4 model=$5 work=$6
mkdir -p "$work"
cd "$work"
[ -s queries.jsonl ] || python3 "$here/export.py" --catalogs "$catalogs/jsonl/*.jsonl.gz" --categories "$categories" --queries "$queries" --synonyms "$synonyms" --out .

echo "== Tantivy"
[ -d venv ] || { python3 -m venv venv && venv/bin/pip -q install tantivy; }
rm -rf tantivy && /usr/bin/time -f '%M kB' venv/bin/python "$here/tantivy_peer.py" --data . --index tantivy --out tantivy.jsonl

echo "== Lucene"
[ -d jars ] || mvn -q -f "$here/lucene/pom.xml" dependency:copy-dependencies -DoutputDirectory="$work/jars"
"${JAVA_HOME:+$JAVA_HOME/bin/}javac" -cp 'jars/*' -d classes "$here/lucene/Peer.java"
rm -rf lucene && /usr/bin/time -f '%M kB' "${JAVA_HOME:+$JAVA_HOME/bin/}java" -Xmx3g --add-modules jdk.incubator.vector -cp 'jars/*:classes' Peer . lucene lucene.jsonl

echo "== bleve"
(cd "$here/bleve" && go build -o "$work/bleve-peer" .)
rm -rf bleve && GOMAXPROCS=1 /usr/bin/time -f '%M kB' ./bleve-peer . bleve bleve.jsonl || rm -f bleve.jsonl

echo "== Courant"
cd "$here/../../.."
for m in "$model" none; do
	COURANT_CATALOGS="$catalogs/yml/*.yml.gz" COURANT_QUERIES="$queries" COURANT_SYNONYMS="$synonyms" COURANT_MODEL="$m" COURANT_RESULTS="$work/courant-$(basename "$m" .json).jsonl" \
		go test -v -run '^$' -bench 'Log$' -benchtime 1x -timeout 1h ./internal/front/search | grep -v '^=== '
done

python3 "$here/table.py" "$work"/courant-*.jsonl $(ls "$work"/{tantivy,lucene,bleve}.jsonl) --queries "$work/queries.jsonl"
