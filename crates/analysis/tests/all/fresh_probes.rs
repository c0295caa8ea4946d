//! Small projects written like real ones, with dead and living declarations and with references to what a change removed.
//! They were written and labeled in one go, after the rules were read and before any rule was changed for them.

use crate::common::run;
use crate::references::{ReferenceCase, dangling};
use probity_analysis::FindingFamily;

struct SeededProject {
    language: &'static str,
    files: &'static [(&'static str, &'static str)],
    dead: &'static [&'static str],
    alive: &'static [&'static str],
}

const PROJECTS: &[SeededProject] = &[
    SeededProject {
        language: "python",
        files: &[
            ("mailer/__init__.py", "from .queue import Queue\n\n__all__ = [\"Queue\"]\n"),
            (
                "mailer/queue.py",
                r#"
import logging
from contextlib import contextmanager

from ._backoff import delays

log = logging.getLogger(__name__)


def _batched(rows, size):
    for start in range(0, len(rows), size):
        yield rows[start:start + size]


def _flatten(groups):
    return [row for group in groups for row in group]


class _Retry:
    limit = 3

    def again(self, attempt):
        return attempt < self.limit


class Queue:
    def __init__(self, transport):
        self._transport = transport
        self._rows = []

    def push(self, row):
        self._rows.append(row)

    @property
    def _pending(self):
        return len(self._rows)

    @classmethod
    def _from_env(cls, env):
        return cls(env["TRANSPORT"])

    def _warn(self, message):
        log.warning("%s", message)

    def __len__(self):
        return self._pending

    def send(self):
        for batch in _batched(self._rows, 50):
            with self._opened() as connection:
                connection.send(batch)
            for delay in delays(3):
                log.info("waiting %s", delay)

    @contextmanager
    def _opened(self):
        yield self._transport.open()
"#,
            ),
            (
                "mailer/_backoff.py",
                "def delays(n):\n    return [_scaled(i) for i in range(n)]\n\n\ndef _scaled(i):\n    return 2 ** i\n\n\ndef _jittered(i):\n    return 2 ** i + 1\n",
            ),
        ],
        dead: &["_flatten", "_Retry", "_from_env", "_warn", "_jittered"],
        alive: &["_batched", "_pending", "_opened", "_scaled"],
    },
    SeededProject {
        language: "typescript",
        files: &[
            (
                "src/cart.ts",
                r"
import { currency } from './money';

type Row = { price: number; count: number };

const TAX = 0.19;

const sum = (rows: Row[]): number => rows.reduce((all, row) => all + row.price * row.count, 0);

const cheapest = (rows: Row[]): Row | undefined => {
  let best: Row | undefined;
  for (const row of rows) {
    if (!best || row.price < best.price) best = row;
  }
  return best;
};

async function persist(rows: Row[]): Promise<void> {
  await fetch('/cart', { method: 'POST', body: JSON.stringify(rows) });
}

class Discount {
  apply(total: number): number {
    return total * 0.9;
  }
}

export class Cart {
  private rows: Row[] = [];

  add(row: Row): void {
    this.rows.push(row);
    this.changed();
  }

  private changed(): void {
    console.log(this.total());
  }

  private isEmpty(): boolean {
    return this.rows.length === 0;
  }

  #rounded(value: number): number {
    return Math.round(value);
  }

  total(): string {
    return currency(sum(this.rows) * (1 + TAX));
  }
}
",
            ),
            (
                "src/money.ts",
                "export function currency(value: number): string {\n  return value.toFixed(2);\n}\n",
            ),
            (
                "src/main.ts",
                "import { Cart } from './cart';\n\nconst cart = new Cart();\ncart.add({ price: 1, count: 2 });\n",
            ),
        ],
        dead: &["cheapest", "persist", "Discount", "isEmpty", "#rounded"],
        alive: &["sum", "changed"],
    },
    SeededProject {
        language: "go",
        files: &[
            ("go.mod", "module example.com/poll\n\ngo 1.22\n"),
            (
                "main.go",
                r#"package main

import (
	"fmt"
	"net/http"
	"time"
)

type status int

const (
	up status = iota
	down
)

func (s status) String() string {
	if s == up {
		return "up"
	}
	return "down"
}

type prober struct {
	client *http.Client
}

func (p *prober) probe(url string) status {
	if _, err := p.client.Get(url); err != nil {
		return down
	}
	return up
}

func (p *prober) reset() {
	p.client = &http.Client{Timeout: time.Second}
}

type history struct {
	rows []status
}

func (h *history) last() status {
	return h.rows[len(h.rows)-1]
}

func average(values []int) int {
	sum := 0
	for _, value := range values {
		sum += value
	}
	return sum / len(values)
}

func init() {
	http.DefaultClient.Timeout = time.Second
}

func main() {
	p := &prober{client: http.DefaultClient}
	fmt.Println(p.probe("http://localhost"))
}
"#,
            ),
        ],
        dead: &["reset", "history", "average"],
        alive: &["String", "init"],
    },
    SeededProject {
        language: "rust",
        files: &[
            ("Cargo.toml", "[package]\nname = \"wire\"\nversion = \"0.1.0\"\n"),
            ("src/lib.rs", "mod frame;\n\npub use frame::Frame;\n"),
            (
                "src/frame.rs",
                r#"use std::fmt;

pub struct Frame {
    bytes: Vec<u8>,
}

impl Frame {
    pub fn new(bytes: Vec<u8>) -> Self {
        Self { bytes: padded(bytes) }
    }

    fn first(&self) -> u8 {
        self.bytes[0]
    }

    fn is_short(&self) -> bool {
        self.bytes.len() < 4
    }
}

impl fmt::Display for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.first())
    }
}

fn padded(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.resize(bytes.len().max(4), 0);
    bytes
}

fn checksum(bytes: &[u8]) -> u32 {
    bytes.iter().map(|byte| u32::from(*byte)).sum()
}

enum Mode {
    Fast,
    Slow,
}
"#,
            ),
        ],
        dead: &["is_short", "checksum", "Mode"],
        alive: &["first", "padded", "fmt"],
    },
    SeededProject {
        language: "java",
        files: &[(
            "src/main/java/shop/Invoice.java",
            r"package shop;

import java.util.ArrayList;
import java.util.List;

public class Invoice {
    private final List<Integer> rows = new ArrayList<>();

    public void add(int cents) {
        rows.add(checked(cents));
    }

    private static int checked(int cents) {
        if (cents < 0) {
            throw new IllegalArgumentException();
        }
        return cents;
    }

    private int largest() {
        int best = 0;
        for (int row : rows) {
            best = Math.max(best, row);
        }
        return best;
    }

    private static final class Line {
        final int cents;

        Line(int cents) {
            this.cents = cents;
        }
    }

    public int total() {
        return rows.stream().mapToInt(this::rounded).sum();
    }

    private int rounded(int cents) {
        return cents / 5 * 5;
    }
}
",
        )],
        dead: &["largest", "Line"],
        alive: &["checked", "rounded"],
    },
    SeededProject {
        language: "c#",
        files: &[(
            "src/Clock.cs",
            r"using System;

namespace Shop
{
    public class Clock
    {
        private readonly Func<DateTime> now;

        public Clock(Func<DateTime> now)
        {
            this.now = now;
        }

        public event EventHandler Ticked;

        public void Tick()
        {
            Ticked += OnTicked;
            Ticked?.Invoke(this, EventArgs.Empty);
        }

        private void OnTicked(object sender, EventArgs e)
        {
            Console.WriteLine(now());
        }

        private static TimeSpan Doubled(TimeSpan span)
        {
            return span + span;
        }

        private bool IsLate(DateTime limit)
        {
            return now() > limit;
        }
    }
}
",
        )],
        dead: &["Doubled", "IsLate"],
        alive: &["OnTicked"],
    },
    SeededProject {
        language: "c",
        files: &[(
            "src/ring.c",
            r"#include <stddef.h>

struct ring {
  int rows[8];
  size_t head;
};

static size_t next_slot(size_t at) {
  return (at + 1) % 8;
}

static size_t previous_slot(size_t at) {
  return (at + 7) % 8;
}

static int compare_rows(const void *a, const void *b) {
  return *(const int *)a - *(const int *)b;
}

void ring_push(struct ring *ring, int row) {
  ring->rows[ring->head] = row;
  ring->head = next_slot(ring->head);
}

void ring_sort(struct ring *ring) {
  qsort(ring->rows, 8, sizeof(int), compare_rows);
}

static void ring_clear(struct ring *ring) {
  for (size_t i = 0; i < 8; i++) {
    ring->rows[i] = 0;
  }
}
",
        )],
        dead: &["previous_slot", "ring_clear"],
        alive: &["next_slot", "compare_rows"],
    },
];

#[test]
fn dead_code_of_fresh_projects_is_found_and_nothing_alive() {
    let (mut n_dead, mut missed, mut accused) = (0, Vec::new(), Vec::new());
    for project in PROJECTS {
        let analysis = run(project.files);
        let dead = analysis.findings.iter().filter(|finding| finding.family == FindingFamily::DeadCode);
        let said: Vec<&str> = dead.map(|finding| finding.locations[0].symbol.as_str()).collect();
        let names = |name: &str| said.iter().any(|symbol| symbol.rsplit('.').next() == Some(name));
        n_dead += project.dead.len();
        missed.extend(project.dead.iter().filter(|name| !names(name)).map(|name| (project.language, *name)));
        accused.extend(project.alive.iter().filter(|name| names(name)).map(|name| (project.language, *name)));
    }
    assert_eq!(accused, [], "alive, yet called dead");
    assert_eq!(missed, [("rust", "Mode")], "of {n_dead}");
}

const BROKEN: &[ReferenceCase] = &[
    ReferenceCase {
        name: "python: a function that is called by the name of its module",
        files: &[
            ("pkg/__init__.py", ""),
            ("pkg/dates.py", "def parse(text):\n    return text\n\n\ndef week(day):\n    return day // 7\n"),
            (
                "pkg/report.py",
                "from pkg import dates\n\n\ndef rows(days):\n    return [dates.week(day) for day in days]\n",
            ),
        ],
        change: &[("pkg/dates.py", Some("def parse(text):\n    return text\n"))],
    },
    ReferenceCase {
        name: "python: an import inside a function",
        files: &[
            ("app/cli.py", "def main():\n    from app.export import to_csv\n    return to_csv([])\n"),
            ("app/__init__.py", ""),
            ("app/export.py", "def to_csv(rows):\n    return ''\n\n\ndef to_json(rows):\n    return ''\n"),
        ],
        change: &[("app/export.py", Some("def to_json(rows):\n    return ''\n"))],
    },
    ReferenceCase {
        name: "python: a base class is gone",
        files: &[
            ("base.py", "class Handler:\n    def run(self):\n        return 1\n\n\nclass Other:\n    pass\n"),
            ("impl.py", "import base\n\n\nclass Mail(base.Handler):\n    pass\n"),
        ],
        change: &[("base.py", Some("class Other:\n    pass\n"))],
    },
    ReferenceCase {
        name: "typescript: a namespace import",
        files: &[
            ("src/api.ts", "export const get = () => 1;\nexport const put = () => 2;\n"),
            ("src/main.ts", "import * as api from './api';\n\nconsole.log(api.put());\n"),
        ],
        change: &[("src/api.ts", Some("export const get = () => 1;\n"))],
    },
    ReferenceCase {
        name: "typescript: a default export becomes a named one",
        files: &[
            ("src/view.ts", "export default function view() {\n  return 1;\n}\n"),
            ("src/main.ts", "import view from './view';\n\nview();\n"),
        ],
        change: &[("src/view.ts", Some("export function view() {\n  return 1;\n}\n"))],
    },
    ReferenceCase {
        name: "typescript: a re-export of what is gone",
        files: &[
            ("src/store.ts", "export class Store {}\nexport class Cache {}\n"),
            ("src/index.ts", "export { Store, Cache } from './store';\n"),
        ],
        change: &[("src/store.ts", Some("export class Store {}\n"))],
    },
    ReferenceCase {
        name: "typescript: a dynamic import of a deleted file",
        files: &[
            ("src/lazy.ts", "export const page = 1;\n"),
            ("src/main.ts", "export async function load() {\n  return import('./lazy');\n}\n"),
        ],
        change: &[("src/lazy.ts", None)],
    },
    ReferenceCase {
        name: "javascript: a required name is gone",
        files: &[
            (
                "lib/util.js",
                "function pad(a) { return a; }\nfunction trim(a) { return a; }\nmodule.exports = { pad, trim };\n",
            ),
            ("lib/main.js", "const { trim } = require('./util');\n\nconsole.log(trim('a'));\n"),
        ],
        change: &[("lib/util.js", Some("function pad(a) { return a; }\nmodule.exports = { pad };\n"))],
    },
    ReferenceCase {
        name: "go: a type of another package is gone",
        files: &[
            ("go.mod", "module example.com/app\n\ngo 1.22\n"),
            (
                "store/store.go",
                "package store\n\ntype Row struct{ ID int }\n\ntype Page struct{ Rows []Row }\n",
            ),
            (
                "main.go",
                "package main\n\nimport \"example.com/app/store\"\n\nfunc main() {\n\tvar p store.Page\n\tprintln(len(p.Rows))\n}\n",
            ),
        ],
        change: &[("store/store.go", Some("package store\n\ntype Row struct{ ID int }\n"))],
    },
    ReferenceCase {
        name: "go: a function of the same package, in another file",
        files: &[
            ("go.mod", "module example.com/app\n\ngo 1.22\n"),
            (
                "a.go",
                "package app\n\nfunc clamp(a int) int {\n\treturn a\n}\n\nfunc Keep() int {\n\treturn 1\n}\n",
            ),
            ("b.go", "package app\n\nfunc Run() int {\n\treturn clamp(3)\n}\n"),
        ],
        change: &[("a.go", Some("package app\n\nfunc Keep() int {\n\treturn 1\n}\n"))],
    },
    ReferenceCase {
        name: "go: a whole package is gone",
        files: &[
            ("go.mod", "module example.com/app\n\ngo 1.22\n"),
            ("log/log.go", "package log\n\nfunc Info() {}\n"),
            ("main.go", "package main\n\nimport \"example.com/app/log\"\n\nfunc main() {\n\tlog.Info()\n}\n"),
        ],
        change: &[("log/log.go", None)],
    },
    ReferenceCase {
        name: "rust: a function named by its path",
        files: &[
            ("Cargo.toml", "[package]\nname = \"app\"\nversion = \"0.1.0\"\n"),
            ("src/lib.rs", "mod text;\n\npub fn run() -> usize {\n    text::width(\"a\")\n}\n"),
            (
                "src/text.rs",
                "pub fn width(text: &str) -> usize {\n    text.len()\n}\n\npub fn height() -> usize {\n    1\n}\n",
            ),
        ],
        change: &[("src/text.rs", Some("pub fn height() -> usize {\n    1\n}\n"))],
    },
    ReferenceCase {
        name: "rust: a type in a group of imports",
        files: &[
            ("Cargo.toml", "[package]\nname = \"app\"\nversion = \"0.1.0\"\n"),
            ("src/lib.rs", "mod model;\nmod view;\n"),
            ("src/model.rs", "pub struct Row;\n\npub struct Page;\n"),
            ("src/view.rs", "use crate::model::{Page, Row};\n\npub fn view(_: Page, _: Row) {}\n"),
        ],
        change: &[("src/model.rs", Some("pub struct Row;\n"))],
    },
    ReferenceCase {
        name: "java: a class of the same package",
        files: &[
            ("src/main/java/shop/Row.java", "package shop;\n\npublic class Row {}\n"),
            (
                "src/main/java/shop/Cart.java",
                "package shop;\n\npublic class Cart {\n    private Row row = new Row();\n}\n",
            ),
        ],
        change: &[("src/main/java/shop/Row.java", None)],
    },
    ReferenceCase {
        name: "java: an imported class is gone, others of its package stay",
        files: &[
            ("src/main/java/shop/model/Row.java", "package shop.model;\n\npublic class Row {}\n"),
            ("src/main/java/shop/model/Page.java", "package shop.model;\n\npublic class Page {}\n"),
            (
                "src/main/java/shop/Cart.java",
                "package shop;\n\nimport shop.model.Row;\n\npublic class Cart {\n    Row row;\n}\n",
            ),
        ],
        change: &[("src/main/java/shop/model/Row.java", None)],
    },
    ReferenceCase {
        name: "c#: a class that is constructed elsewhere",
        files: &[
            (
                "src/Mailer.cs",
                "namespace Shop.Mail;\n\npublic class Mailer\n{\n    public void Send() { }\n}\n",
            ),
            (
                "src/Order.cs",
                "using Shop.Mail;\n\nnamespace Shop;\n\npublic class Order\n{\n    public void Done() { new Mailer().Send(); }\n}\n",
            ),
        ],
        change: &[("src/Mailer.cs", None)],
    },
    ReferenceCase {
        name: "c#: the base class in the same namespace is gone",
        files: &[
            ("Base.cs", "namespace Shop;\n\npublic abstract class Base { }\n"),
            ("Item.cs", "namespace Shop;\n\npublic class Item : Base { }\n"),
        ],
        change: &[("Base.cs", None)],
    },
    ReferenceCase {
        name: "c: an included header is gone",
        files: &[
            ("src/ring.h", "void push(int row);\n"),
            ("src/main.c", "#include \"ring.h\"\n\nint main(void) {\n  push(1);\n  return 0;\n}\n"),
        ],
        change: &[("src/ring.h", None)],
    },
    ReferenceCase {
        name: "ruby: a required file is gone",
        files: &[
            ("lib/app.rb", "require_relative 'app/version'\n\nmodule App\nend\n"),
            ("lib/app/version.rb", "module App\n  VERSION = '1'\nend\n"),
        ],
        change: &[("lib/app/version.rb", None)],
    },
    ReferenceCase {
        name: "php: an imported class is gone",
        files: &[
            ("composer.json", "{\"autoload\": {\"psr-4\": {\"App\\\\\": \"src/\"}}}"),
            ("src/Model/Row.php", "<?php\n\nnamespace App\\Model;\n\nclass Row {}\n"),
            (
                "src/Cart.php",
                "<?php\n\nnamespace App;\n\nuse App\\Model\\Row;\n\nclass Cart\n{\n    public function add(): Row\n    {\n        return new Row();\n    }\n}\n",
            ),
        ],
        change: &[("src/Model/Row.php", None)],
    },
];

const INNOCENT: &[ReferenceCase] = &[
    ReferenceCase {
        name: "python: a function moves and its old module re-exports it",
        files: &[
            ("pkg/__init__.py", ""),
            ("pkg/old.py", "def load():\n    return 1\n"),
            ("pkg/main.py", "from pkg.old import load\n\nload()\n"),
        ],
        change: &[
            ("pkg/new.py", Some("def load():\n    return 1\n")),
            ("pkg/old.py", Some("from pkg.new import load\n\n__all__ = [\"load\"]\n")),
        ],
    },
    ReferenceCase {
        name: "python: a name is defined in a branch",
        files: &[
            ("compat.py", "def quote(text):\n    return text\n"),
            ("main.py", "from compat import quote\n\nquote('a')\n"),
        ],
        change: &[(
            "compat.py",
            Some(
                "import sys\n\nif sys.version_info > (3,):\n    from urllib.parse import quote\nelse:\n    from urllib import quote\n",
            ),
        )],
    },
    ReferenceCase {
        name: "typescript: a file becomes a directory with an index",
        files: &[
            ("src/store.ts", "export const a = 1;\n"),
            ("src/main.ts", "import { a } from './store';\n\nconsole.log(a);\n"),
        ],
        change: &[
            ("src/store.ts", None),
            ("src/store/index.ts", Some("export * from './a';\n")),
            ("src/store/a.ts", Some("export const a = 1;\n")),
        ],
    },
    ReferenceCase {
        name: "javascript: the main file of the package, named by its directory",
        files: &[
            ("package.json", "{\"name\": \"web\", \"main\": \"web.js\"}"),
            ("web.js", "module.exports = { start() {} };\n"),
            ("test/internals/a.test.js", "const web = require('../../web');\n\nweb.start();\n"),
        ],
        change: &[("test/internals/a.test.js", Some("const web = require('../../');\n\nweb.start();\n"))],
    },
    ReferenceCase {
        name: "go: a function moves to another file of its package",
        files: &[
            ("go.mod", "module example.com/app\n\ngo 1.22\n"),
            ("a.go", "package app\n\nfunc clamp(a int) int {\n\treturn a\n}\n"),
            ("b.go", "package app\n\nfunc Run() int {\n\treturn clamp(3)\n}\n"),
        ],
        change: &[("a.go", None), ("c.go", Some("package app\n\nfunc clamp(a int) int {\n\treturn a\n}\n"))],
    },
    ReferenceCase {
        name: "rust: a module file becomes a directory",
        files: &[
            ("Cargo.toml", "[package]\nname = \"app\"\nversion = \"0.1.0\"\n"),
            ("src/lib.rs", "mod text;\n\npub use text::width;\n"),
            ("src/text.rs", "pub fn width(text: &str) -> usize {\n    text.len()\n}\n"),
        ],
        change: &[
            ("src/text.rs", None),
            ("src/text/mod.rs", Some("mod measure;\n\npub use measure::width;\n")),
            ("src/text/measure.rs", Some("pub fn width(text: &str) -> usize {\n    text.len()\n}\n")),
        ],
    },
    ReferenceCase {
        name: "java: a class moves to another source root",
        files: &[
            ("core/src/main/java/shop/Row.java", "package shop;\n\npublic class Row {}\n"),
            (
                "app/src/main/java/shop/app/Cart.java",
                "package shop.app;\n\nimport shop.Row;\n\npublic class Cart {\n    Row row;\n}\n",
            ),
        ],
        change: &[
            ("core/src/main/java/shop/Row.java", None),
            ("model/src/main/java/shop/Row.java", Some("package shop;\n\npublic class Row {}\n")),
        ],
    },
    ReferenceCase {
        name: "c#: a class becomes a record",
        files: &[
            ("Row.cs", "namespace Shop;\n\npublic class Row { }\n"),
            ("Cart.cs", "namespace Shop;\n\npublic class Cart { Row row = new Row(); }\n"),
        ],
        change: &[("Row.cs", Some("namespace Shop;\n\npublic record Row();\n"))],
    },
];

#[test]
fn references_of_fresh_projects_to_what_is_gone_are_found() {
    let unseen: Vec<&str> =
        BROKEN.iter().filter(|case| dangling(case).is_empty()).map(|case| case.name).collect();
    // What a module exports as its default, and what `module.exports` lists, is not followed.
    let known = ["typescript: a default export becomes a named one", "javascript: a required name is gone"];
    assert_eq!(unseen, known, "of {} broken references", BROKEN.len());
}

#[test]
fn references_of_fresh_projects_to_what_is_elsewhere_are_left_alone() {
    let found = INNOCENT.iter().map(|case| (case.name, dangling(case)));
    let accused: Vec<(&str, Vec<String>)> = found.filter(|(_, found)| !found.is_empty()).collect();
    assert_eq!(accused, [], "of {} innocent changes", INNOCENT.len());
}
