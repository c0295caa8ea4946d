//! Small programs in six languages, and edits to them.

pub(super) struct Language {
    pub(super) files: &'static [(&'static str, &'static str)],
    pub(super) main: &'static str,
    /// The file that the main file imports.
    pub(super) tools: &'static str,
    /// Text of the main file, and its replacement.
    pub(super) syntax_error: (&'static str, &'static str),
    pub(super) equal_shapes: (&'static str, &'static str),
    pub(super) constant: (&'static str, &'static str),
    pub(super) dead_helper: (&'static str, &'static str),
    /// The beginning of a function, and the text after it.
    pub(super) report: (&'static str, &'static str),
}

pub(super) const LANGUAGES: [Language; 6] = [
    Language {
        files: &[
            ("app/__init__.py", ""),
            (
                "app/tools.py",
                r#"def join(rows):
    return ",".join(str(row) for row in rows)
"#,
            ),
            (
                "app/main.py",
                r#"from app.tools import join


def report(rows, limit=1):
    total = 0
    names = []
    for row in rows[:limit]:
        if row.price > limit:
            total += row.price * row.count
            names.append(row.name.strip())
        else:
            total -= row.discount
            names.insert(0, row.name.upper())
    return join(names), total


def choose(kind, rows):
    if kind == "a":
        value = rows[0]
        return value
    elif kind == "b":
        value = rows[0]
        return value
    return None


print(report([], 2), choose("a", [1]))
"#,
            ),
        ],
        main: "app/main.py",
        tools: "app/tools.py",
        syntax_error: ("print(report", "def half(:\nprint(report"),
        equal_shapes: (
            "    return join(names), total",
            "    if total > 100:\n        names.sort()\n        limit = total\n    elif total < 0:\n        names.reverse()\n        rows = None\n    return join(names), total, limit, rows",
        ),
        constant: ("limit=1", "limit=2"),
        dead_helper: (
            "def choose",
            "def _forgotten(rows):\n    return [row.name for row in rows if row.price]\n\n\ndef choose",
        ),
        report: ("def report(", "def choose("),
    },
    Language {
        files: &[
            ("package.json", "{\"name\":\"app\"}\n"),
            (
                "src/tools.ts",
                r#"export function join(rows: string[]): string {
  return rows.map((row) => row.trim()).join(",");
}
"#,
            ),
            (
                "src/main.ts",
                r#"import { join } from "./tools";

function report(rows: any[], limit = 1) {
  let total = 0;
  const names: string[] = [];
  for (const row of rows.slice(0, limit)) {
    if (row.price > limit) {
      total += row.price * row.count;
      names.push(row.name.trim());
    } else {
      total -= row.discount;
      names.unshift(row.name.toUpperCase());
    }
  }
  return [join(names), total];
}

function choose(kind: string, rows: any[]) {
  if (kind === "a") {
    const value = rows[0];
    return value;
  } else if (kind === "b") {
    const value = rows[0];
    return value;
  }
  return null;
}

console.log(report([], 2), choose("a", [1]));
"#,
            ),
        ],
        main: "src/main.ts",
        tools: "src/tools.ts",
        syntax_error: ("console.log", "function half( {\nconsole.log"),
        equal_shapes: (
            "  return [join(names), total];",
            "  if (total > 100) {\n    names.sort();\n    limit = total;\n  } else if (total < 0) {\n    names.reverse();\n    rows = [];\n  }\n  return [join(names), total, limit, rows];",
        ),
        constant: ("limit = 1", "limit = 2"),
        dead_helper: (
            "function choose",
            "function forgotten(rows: any[]) {\n  return rows.filter((row) => row.price).map((row) => row.name);\n}\n\nfunction choose",
        ),
        report: ("function report(", "function choose("),
    },
    Language {
        files: &[
            ("Cargo.toml", "[package]\nname = \"app\"\nversion = \"0.1.0\"\n"),
            (
                "src/tools.rs",
                r#"pub fn join(rows: &[String]) -> String {
    rows.join(",")
}
"#,
            ),
            (
                "src/main.rs",
                r#"mod tools;

use tools::join;

fn report(rows: &[Row], limit: i64) -> (String, i64) {
    let mut total = 1;
    let mut names = Vec::new();
    for row in rows.iter().take(3) {
        if row.price > limit {
            total += row.price * row.count;
            names.push(row.name.trim().to_owned());
        } else {
            total -= row.discount;
            names.insert(0, row.name.to_uppercase());
        }
    }
    (join(&names), total)
}

fn choose(kind: &str, rows: &[i64]) -> Option<i64> {
    if kind == "a" {
        let value = rows[0];
        return Some(value);
    } else if kind == "b" {
        let value = rows[0];
        return Some(value);
    }
    None
}

fn main() {
    println!("{:?} {:?}", report(&[], 2), choose("a", &[1]));
}
"#,
            ),
        ],
        main: "src/main.rs",
        tools: "src/tools.rs",
        syntax_error: ("fn main", "fn half( {\nfn main"),
        equal_shapes: (
            "    (join(&names), total)",
            "    if total > 100 {\n        names.sort();\n        total = limit;\n    } else if total < 0 {\n        names.reverse();\n        total = 7;\n    }\n    (join(&names), total)",
        ),
        constant: ("total = 1", "total = 2"),
        dead_helper: (
            "fn choose",
            "fn forgotten(rows: &[Row]) -> Vec<i64> {\n    rows.iter().filter(|row| row.price > 0).map(|row| row.count).collect()\n}\n\nfn choose",
        ),
        report: ("fn report(", "fn choose("),
    },
    Language {
        files: &[
            ("go.mod", "module example.com/app\n\ngo 1.24\n"),
            (
                "tools/tools.go",
                r#"package tools

import "strings"

func Join(rows []string) string {
	return strings.Join(rows, ",")
}
"#,
            ),
            (
                "main.go",
                r#"package main

import "example.com/app/tools"

func report(rows []Row, limit int) (string, int) {
	total := 1
	names := []string{}
	for _, row := range rows {
		if row.Price > limit {
			total += row.Price * row.Count
			names = append(names, row.Name)
		} else {
			total -= row.Discount
			names = append([]string{row.Label}, names...)
		}
	}
	return tools.Join(names), total
}

func choose(kind string, rows []int) int {
	if kind == "a" {
		value := rows[0]
		return value
	} else if kind == "b" {
		value := rows[0]
		return value
	}
	return 0
}

func main() {
	println(report(nil, 2))
	println(choose("a", []int{1}))
}
"#,
            ),
        ],
        main: "main.go",
        tools: "tools/tools.go",
        syntax_error: ("func main", "func half( {\nfunc main"),
        equal_shapes: (
            "\treturn tools.Join(names), total",
            "\tif total > 100 {\n\t\tsort(names)\n\t\tlimit = total\n\t} else if total < 0 {\n\t\treverse(names)\n\t\trows = nil\n\t}\n\treturn tools.Join(names), total",
        ),
        constant: ("total := 1", "total := 2"),
        dead_helper: (
            "func choose",
            "func forgotten(rows []Row) int {\n\treturn len(rows) + rows[0].Count\n}\n\nfunc choose",
        ),
        report: ("func report(", "func choose("),
    },
    Language {
        files: &[
            (
                "src/com/acme/util/Tools.java",
                r#"package com.acme.util;

import java.util.List;

public class Tools {
  public static String join(List<String> rows) {
    return String.join(",", rows);
  }
}
"#,
            ),
            (
                "src/com/acme/app/Main.java",
                r#"package com.acme.app;

import com.acme.util.Tools;
import java.util.ArrayList;
import java.util.List;

public class Main {
  private static String report(List<Row> rows, int limit) {
    int total = 1;
    List<String> names = new ArrayList<>();
    for (Row row : rows) {
      if (row.price() > limit) {
        total += row.price() * row.count();
        names.add(row.name().trim());
      } else {
        total -= row.discount();
        names.add(0, row.name().toUpperCase());
      }
    }
    return Tools.join(names) + total;
  }

  private static Integer choose(String kind, List<Integer> rows) {
    if (kind.equals("a")) {
      Integer value = rows.get(0);
      return value;
    } else if (kind.equals("b")) {
      Integer value = rows.get(0);
      return value;
    }
    return null;
  }

  public static void main(String[] args) {
    System.out.println(report(List.of(), 2) + choose("a", List.of(1)));
  }
}
"#,
            ),
        ],
        main: "src/com/acme/app/Main.java",
        tools: "src/com/acme/util/Tools.java",
        syntax_error: ("  public static void main", "  void half( {\n  public static void main"),
        equal_shapes: (
            "    return Tools.join(names) + total;",
            "    if (total > 100) {\n      names.sort(null);\n      limit = total;\n    } else if (total < 0) {\n      names.remove(null);\n      total = limit;\n    }\n    return Tools.join(names) + total + limit;",
        ),
        constant: ("total = 1", "total = 2"),
        dead_helper: (
            "  private static Integer choose",
            "  private static int forgotten(List<Row> rows) {\n    return rows.size() + rows.get(0).count();\n  }\n\n  private static Integer choose",
        ),
        report: ("  private static String report(", "  private static Integer choose("),
    },
    Language {
        files: &[
            (
                "Util/Tools.cs",
                r#"using System.Collections.Generic;

namespace Acme.Util
{
    public class Tools
    {
        public static string Join(List<string> rows)
        {
            return string.Join(",", rows);
        }
    }
}
"#,
            ),
            (
                "App/Program.cs",
                r#"using System;
using System.Collections.Generic;
using Acme.Util;

namespace Acme.App
{
    public class Program
    {
        private static string report(List<Row> rows, int limit)
        {
            int total = 1;
            var names = new List<string>();
            foreach (var row in rows)
            {
                if (row.Price > limit)
                {
                    total += row.Price * row.Count;
                    names.Add(row.Name.Trim());
                }
                else
                {
                    total -= row.Discount;
                    names.Insert(0, row.Name.ToUpper());
                }
            }
            return Tools.Join(names) + total;
        }

        private static int? choose(string kind, List<int> rows)
        {
            if (kind == "a")
            {
                var value = rows[0];
                return value;
            }
            else if (kind == "b")
            {
                var value = rows[0];
                return value;
            }
            return null;
        }

        public static void Main(string[] args)
        {
            Console.WriteLine(report(new List<Row>(), 2) + choose("a", new List<int>()));
        }
    }
}
"#,
            ),
        ],
        main: "App/Program.cs",
        tools: "Util/Tools.cs",
        syntax_error: (
            "        public static void Main",
            "        void half( {\n        public static void Main",
        ),
        equal_shapes: (
            "            return Tools.Join(names) + total;",
            "            if (total > 100)\n            {\n                names.Sort();\n                limit = total;\n            }\n            else if (total < 0)\n            {\n                names.Reverse();\n                total = limit;\n            }\n            return Tools.Join(names) + total + limit;",
        ),
        constant: ("total = 1", "total = 2"),
        dead_helper: (
            "        private static int? choose",
            "        private static int forgotten(List<Row> rows)\n        {\n            return rows.Count + rows[0].Count;\n        }\n\n        private static int? choose",
        ),
        report: ("        private static string report(", "        private static int? choose("),
    },
];
