//! Dead and living code seeded in seven languages, labeled before the rules for dead code were read. The living seeds are
//! reached by a runtime, a table, a decorator or an interface.

use crate::common::run;
use probity_analysis::FindingFamily;

/// Files, the names that are dead, and those that are alive.
struct SeededTree {
    language: &'static str,
    files: &'static [(&'static str, &'static str)],
    dead: &'static [&'static str],
    alive: &'static [&'static str],
}

const TREES: &[SeededTree] = &[
    SeededTree {
        language: "python",
        files: &[
            (
                "shop/prices.py",
                "import functools\n\nHANDLERS = {}\n\n\ndef handles(kind):\n    def wrap(function):\n        HANDLERS[kind] = function\n        return function\n    return wrap\n\n\n@handles('sale')\ndef _on_sale(order):\n    return order.total * 0.9\n\n\ndef _round_half(value):\n    return int(value * 2 + 0.5) / 2\n\n\nclass _Ledger:\n    def __init__(self):\n        self.rows = []\n\n    def add(self, row):\n        self.rows.append(row)\n\n\nclass Cart:\n    def __init__(self):\n        self._items = []\n\n    def total(self):\n        return sum(item.price for item in self._items)\n\n    def _stale_total(self):\n        return self.total() - 1\n\n    @staticmethod\n    def _legacy_code(text):\n        return text.upper()\n\n\ndef price(order):\n    return HANDLERS[order.kind](order)\n",
            ),
            ("shop/main.py", "from shop.prices import Cart, price\n\nprint(price(None), Cart().total())\n"),
        ],
        dead: &["_round_half", "_Ledger", "_stale_total", "_legacy_code"],
        alive: &["_on_sale", "total"],
    },
    SeededTree {
        language: "typescript",
        files: &[
            (
                "src/format.ts",
                "const pad = (text: string) => text.padStart(4);\n\nconst trimAll = (texts: string[]) => {\n  return texts.map((text) => text.trim());\n};\n\nfunction shout(text: string): string {\n  return text.toUpperCase();\n}\n\nclass Buffered {\n  private lines: string[] = [];\n  flush(): void {\n    this.lines = [];\n  }\n}\n\nexport function format(text: string): string {\n  return pad(text);\n}\n",
            ),
            ("src/main.ts", "import { format } from './format';\n\nconsole.log(format('a'));\n"),
        ],
        dead: &["trimAll", "shout", "Buffered"],
        alive: &["pad", "format"],
    },
    SeededTree {
        language: "go",
        files: &[(
            "main.go",
            "package main\n\nimport \"sort\"\n\ntype byAge []int\n\nfunc (b byAge) Len() int           { return len(b) }\nfunc (b byAge) Swap(i, j int)      { b[i], b[j] = b[j], b[i] }\nfunc (b byAge) Less(i, j int) bool { return b[i] < b[j] }\n\ntype oldCache struct {\n\trows []int\n}\n\nfunc (o *oldCache) put(row int) {\n\to.rows = append(o.rows, row)\n}\n\nfunc clampLow(value int) int {\n\tif value < 0 {\n\t\treturn 0\n\t}\n\treturn value\n}\n\nfunc doubled(value int) int {\n\treturn value * 2\n}\n\nfunc main() {\n\tages := byAge{3, 1}\n\tsort.Sort(ages)\n\tprintln(doubled(ages[0]))\n}\n",
        )],
        dead: &["clampLow", "oldCache"],
        alive: &["Less", "doubled"],
    },
    SeededTree {
        language: "rust",
        files: &[
            (
                "src/lib.rs",
                "mod codec;\n\npub fn encode(text: &str) -> Vec<u8> {\n    codec::bytes_of(text)\n}\n",
            ),
            (
                "src/codec.rs",
                "pub(crate) fn bytes_of(text: &str) -> Vec<u8> {\n    text.as_bytes().to_vec()\n}\n\nfn hex_of(bytes: &[u8]) -> String {\n    bytes.iter().map(|byte| format!(\"{byte:02x}\")).collect()\n}\n\nfn checksum(bytes: &[u8]) -> u32 {\n    bytes.iter().map(|&byte| u32::from(byte)).sum()\n}\n\nstruct Window {\n    size: usize,\n}\n\nimpl Window {\n    fn grow(&mut self) {\n        self.size += 1;\n    }\n}\n",
            ),
        ],
        dead: &["hex_of", "checksum", "Window"],
        alive: &["bytes_of"],
    },
    SeededTree {
        language: "java",
        files: &[(
            "src/main/java/shop/Orders.java",
            "package shop;\n\nimport java.io.ObjectInputStream;\nimport java.io.Serializable;\n\npublic class Orders implements Serializable {\n    private int n;\n\n    public int count() {\n        return next(n);\n    }\n\n    private int next(int value) {\n        return value + 1;\n    }\n\n    private int previous(int value) {\n        return value - 1;\n    }\n\n    private static String label(String text) {\n        return text.trim();\n    }\n\n    private void readObject(ObjectInputStream in) {\n        n = 1;\n    }\n\n    private static class Draft {\n        int size() {\n            return 0;\n        }\n    }\n}\n",
        )],
        dead: &["previous", "label", "Draft"],
        alive: &["next", "readObject"],
    },
    SeededTree {
        language: "c#",
        files: &[(
            "src/Orders.cs",
            "namespace Shop\n{\n    public class Orders\n    {\n        public int Count(int value)\n        {\n            return Next(value);\n        }\n\n        private int Next(int value)\n        {\n            return value + 1;\n        }\n\n        private int Previous(int value)\n        {\n            return value - 1;\n        }\n\n        private static string Label(string text)\n        {\n            return text.Trim();\n        }\n    }\n}\n",
        )],
        dead: &["Previous", "Label"],
        alive: &["Next"],
    },
    SeededTree {
        language: "c",
        files: &[(
            "src/table.c",
            "static int twice(int value) {\n  return value * 2;\n}\n\nstatic int half(int value) {\n  return value / 2;\n}\n\nstatic int lost(int value) {\n  return value - 7;\n}\n\nstatic void forgotten(int *values, int n) {\n  for (int i = 0; i < n; i++) {\n    values[i] = 0;\n  }\n}\n\nstatic int (*const TABLE[])(int) = {twice, half};\n\nint apply(int which, int value) {\n  return TABLE[which](value);\n}\n",
        )],
        dead: &["lost", "forgotten"],
        alive: &["twice", "half"],
    },
];

#[test]
fn most_seeded_dead_code_is_found_and_nothing_alive() {
    let (mut n_dead, mut n_found, mut missed, mut accused) = (0, 0, Vec::new(), Vec::new());
    for tree in TREES {
        let analysis = run(tree.files);
        let is_dead = |finding: &&probity_analysis::Finding| finding.family == FindingFamily::DeadCode;
        let said: Vec<&str> = analysis
            .findings
            .iter()
            .filter(is_dead)
            .map(|finding| finding.locations[0].symbol.as_str())
            .collect();
        let names = |name: &str| said.iter().any(|symbol| symbol.rsplit('.').next() == Some(name));
        n_dead += tree.dead.len();
        n_found += tree.dead.iter().filter(|name| names(name)).count();
        missed.extend(tree.dead.iter().filter(|name| !names(name)).map(|name| (tree.language, *name)));
        accused.extend(tree.alive.iter().filter(|name| names(name)).map(|name| (tree.language, *name)));
    }
    assert!(accused.is_empty(), "alive, yet called dead: {accused:?}");
    // Not found today: a Rust struct that only its own methods use.
    assert!(n_found >= 18, "{n_found} of {n_dead}, missed {missed:?}");
}
