//! Small programs in three languages, and edits to them.

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

pub(super) const LANGUAGES: [Language; 3] = [
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
];
