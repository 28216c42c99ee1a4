#!/usr/bin/env python3
"""Writes PropertySetters.java, the builder's methods, from the core's own table of properties:

build/bin/idgen properties --json | bindings/java/properties.py > java/src/main/java/dev/idgen/PropertySetters.java
"""

import html
import json
import re
import sys
import textwrap

HEAD = """package dev.idgen;

import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;

/**
 * A method for each property, which {@link Generator.Builder} inherits.
 *
 * <p>Made by bindings/java/properties.py from the core's table of properties. Do not edit.
 */
abstract class PropertySetters {
  abstract Generator.Builder set(String key, String value);
"""

# The Java type of a property's type, and the value as text.
TYPES = {
    "boolean": ("boolean", "String.valueOf(value)"),
    "integer": ("long", "String.valueOf(value)"),
    "number": ("double", "String.valueOf(value)"),
    "duration": ("Duration", "Text.milliseconds(value)"),
    "instant": ("Instant", "Text.unixMs(value)"),
    "text": ("String", "value"),
    "choice": ("String", "value"),
}
PATH = ("Path", "value.toString()")


def overloads(row: dict[str, str]) -> list[tuple[str, str]]:
    return ([PATH] if row["range"] in ("a folder", "a file") else []) + [TYPES[row["type"]]]


def javadoc(*paragraphs: str) -> str:
    lines = []
    for paragraph in paragraphs:
        further = " " * 4 if paragraph.startswith("@") else ""
        lines += textwrap.wrap(paragraph, 115, subsequent_indent=further, break_on_hyphens=False) or [""]
    return "".join(["  /**\n", *(f"   * {line}".rstrip() + "\n" for line in lines), "   */\n"])


def comment(text: str) -> str:
    """A text of the table in the language of Javadoc."""
    return re.sub(r"`([^`]*)`", r"{@code \1}", html.escape(text, quote=False).replace("@", "&#64;"))


def setter(row: dict[str, str], java_type: str, as_text: str) -> str:
    name = re.sub(r"[._](\w)", lambda match: match[1].upper(), row["name"])
    facts = [row["range"] or row["type"]] + ([f"default {row['default']}"] if row["default"] else [])
    about = [
        comment(row["help"]),
        "",
        f"@param value {{@code {row['name']}}}: {comment('; '.join(facts))}",
        "@return this",
    ]
    if java_type in ("Duration", "Instant"):
        about.append("@throws IllegalArgumentException if it is not a whole number of milliseconds")
    signature = f"  public Generator.Builder {name}({java_type} value)"
    body = f'return set("{row["name"]}", {as_text});'
    line = f"{signature} {{ {body} }}"
    return f"\n{javadoc(*about)}" + (line if len(line) <= 120 else f"{signature} {{\n    {body}\n  }}") + "\n"


rows = [json.loads(line) for line in sys.stdin]
sys.stdout.write(HEAD + "".join(setter(row, *each) for row in rows for each in overloads(row)) + "}\n")
