#!/bin/sh
# A table of a home-made id generator is audited: sh run.sh
#
# Needs on the PATH: idgen and python3. Leaves orders.csv, and the picture audit.svg, in the working folder.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
python3 "$here/home_made.py" >orders.csv
# The exit status is 3 because there are duplicates.
idgen audit --layout default orders.csv --process host --time created --svg audit.svg || [ $? -eq 3 ]
