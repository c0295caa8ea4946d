//! References to what a change removed, labeled by hand before the rules were written: broken ones are found, and
//! innocent ones are left alone.

use crate::common::run;
use probity_analysis::{FindingFamily, compare};
use std::collections::BTreeMap;

/// A tree, and a change of it: files with their new text, or `None` for a file that is deleted.
pub(crate) struct ReferenceCase {
    pub(crate) name: &'static str,
    pub(crate) files: &'static [(&'static str, &'static str)],
    pub(crate) change: &'static [(&'static str, Option<&'static str>)],
}

const fn case(
    name: &'static str,
    files: &'static [(&'static str, &'static str)],
    change: &'static [(&'static str, Option<&'static str>)],
) -> ReferenceCase {
    ReferenceCase { name, files, change }
}

/// Returns the messages about references that dangle because of the change.
pub(crate) fn dangling(case: &ReferenceCase) -> Vec<String> {
    let before: BTreeMap<&str, &str> = case.files.iter().copied().collect();
    let mut after = before.clone();
    for (path, text) in case.change {
        match text {
            Some(text) => drop(after.insert(path, text)),
            None => assert!(after.remove(path).is_some(), "{}: no {path}", case.name),
        }
    }
    let of = |files: BTreeMap<&str, &str>| run(&files.into_iter().collect::<Vec<_>>());
    let found = compare(&of(before), &of(after)).regressions;
    let dangling = found.iter().filter(|it| it.finding.family == FindingFamily::DanglingImport);
    dangling.map(|it| format!("{} {}", it.finding.locations[0].path, it.finding.message)).collect()
}

const PY_UTIL: &str = "def load(a):\n    return a.load()\n\n\ndef store(a):\n    return a.store()\n";
const PY_UTIL_LESS: &str = "def load(a):\n    return a.load()\n";
const TS_UTIL: &str = "export function load(a: number) {\n  return a + 1;\n}\n\nexport function store(a: number) {\n  return a + 2;\n}\n";
const TS_UTIL_LESS: &str = "export function load(a: number) {\n  return a + 1;\n}\n";
const GO_UTIL: &str = "package util\n\nfunc Load(a int) int {\n\treturn a + 1\n}\n\nfunc Store(a int) int {\n\treturn a + 2\n}\n";
const GO_UTIL_LESS: &str = "package util\n\nfunc Load(a int) int {\n\treturn a + 1\n}\n";
const RS_UTIL: &str = "pub fn load(a: u32) -> u32 {\n    a + 1\n}\n\npub fn store(a: u32) -> u32 {\n    a + 2\n}\n\npub struct Record;\n";
const RS_UTIL_LESS: &str = "pub fn load(a: u32) -> u32 {\n    a + 1\n}\n";

const BROKEN: &[ReferenceCase] = &[
    // Python
    case(
        "python: an imported function is gone",
        &[
            ("app/__init__.py", ""),
            ("app/util.py", PY_UTIL),
            ("app/main.py", "from app.util import store\n\nprint(store(1))\n"),
        ],
        &[("app/util.py", Some(PY_UTIL_LESS))],
    ),
    case(
        "python: a relative import of a function that is gone",
        &[
            ("app/__init__.py", ""),
            ("app/util.py", PY_UTIL),
            ("app/main.py", "from .util import load, store\n\nprint(load(1), store(1))\n"),
        ],
        &[("app/util.py", Some(PY_UTIL_LESS))],
    ),
    case(
        "python: an imported constant is gone",
        &[
            ("app/__init__.py", ""),
            ("app/conf.py", "LIMIT = 3\nWIDTH = 4\n"),
            ("app/main.py", "from app.conf import LIMIT\n\nprint(LIMIT)\n"),
        ],
        &[("app/conf.py", Some("WIDTH = 4\n"))],
    ),
    case(
        "python: an imported class is renamed",
        &[
            ("app/__init__.py", ""),
            ("app/model.py", "class User:\n    pass\n"),
            ("app/main.py", "from app.model import User\n\nprint(User())\n"),
        ],
        &[("app/model.py", Some("class Person:\n    pass\n"))],
    ),
    case(
        "python: the package no longer has the name",
        &[
            ("app/__init__.py", "from .util import store\n"),
            ("app/util.py", PY_UTIL),
            ("main.py", "from app import store\n\nprint(store(1))\n"),
        ],
        &[("app/__init__.py", Some("\n"))],
    ),
    case(
        "python: a call of a function that is gone from the file",
        &[("main.py", "def helper(a):\n    return a\n\n\ndef run(a):\n    return helper(a)\n")],
        &[("main.py", Some("def run(a):\n    return helper(a)\n"))],
    ),
    case(
        "python: a base class that is gone from the file",
        &[("main.py", "class Base:\n    pass\n\n\nclass Main(Base):\n    pass\n")],
        &[("main.py", Some("class Main(Base):\n    pass\n"))],
    ),
    case(
        "python: a module at the root is deleted",
        &[("helper.py", PY_UTIL), ("main.py", "import helper\n\nprint(helper.load(1))\n")],
        &[("helper.py", None)],
    ),
    case(
        "python: a module function is gone",
        &[("helper.py", PY_UTIL), ("main.py", "import helper\n\nprint(helper.store(1))\n")],
        &[("helper.py", Some(PY_UTIL_LESS))],
    ),
    case(
        "python: a new import of a name that never was",
        &[("app/__init__.py", ""), ("app/util.py", PY_UTIL), ("app/main.py", "print(1)\n")],
        &[("app/main.py", Some("from app.util import stroe\n\nprint(stroe(1))\n"))],
    ),
    // TypeScript and JavaScript
    case(
        "typescript: an imported function is gone",
        &[
            ("src/util.ts", TS_UTIL),
            ("src/main.ts", "import { store } from './util';\n\nconsole.log(store(1));\n"),
        ],
        &[("src/util.ts", Some(TS_UTIL_LESS))],
    ),
    case(
        "typescript: a type that is gone",
        &[
            (
                "src/types.ts",
                "export interface User {\n  id: number;\n}\nexport interface Group {\n  id: number;\n}\n",
            ),
            (
                "src/main.ts",
                "import type { User } from './types';\n\nexport const id = (user: User) => user.id;\n",
            ),
        ],
        &[("src/types.ts", Some("export interface Group {\n  id: number;\n}\n"))],
    ),
    case(
        "typescript: an exported constant is gone",
        &[
            ("src/conf.ts", "export const limit = 3;\nexport const width = 4;\n"),
            ("src/main.ts", "import { limit } from './conf';\n\nconsole.log(limit);\n"),
        ],
        &[("src/conf.ts", Some("export const width = 4;\n"))],
    ),
    case(
        "typescript: a function is no longer exported",
        &[
            ("src/util.ts", TS_UTIL),
            ("src/main.ts", "import { store } from './util';\n\nconsole.log(store(1));\n"),
        ],
        &[(
            "src/util.ts",
            Some(
                "export function load(a: number) {\n  return store(a);\n}\n\nfunction store(a: number) {\n  return a + 2;\n}\n",
            ),
        )],
    ),
    case(
        "typescript: an alias leads to a deleted file",
        &[
            (
                "tsconfig.json",
                "{\"compilerOptions\": {\"baseUrl\": \".\", \"paths\": {\"@/*\": [\"src/*\"]}}}",
            ),
            ("src/lib/util.ts", TS_UTIL),
            ("src/main.ts", "import { load } from '@/lib/util';\n\nconsole.log(load(1));\n"),
        ],
        &[("src/lib/util.ts", None)],
    ),
    case(
        "typescript: a re-export of a name that is gone",
        &[("src/util.ts", TS_UTIL), ("src/index.ts", "export { store } from './util';\n")],
        &[("src/util.ts", Some(TS_UTIL_LESS))],
    ),
    case(
        "javascript: an imported function is gone",
        &[
            ("src/util.mjs", "export const load = (a) => a + 1;\nexport const store = (a) => a + 2;\n"),
            ("src/main.mjs", "import { store } from './util.mjs';\n\nconsole.log(store(1));\n"),
        ],
        &[("src/util.mjs", Some("export const load = (a) => a + 1;\n"))],
    ),
    case(
        "javascript: a call of a function that is gone from the file",
        &[("main.js", "function helper(a) {\n  return a;\n}\n\nmodule.exports = (a) => helper(a);\n")],
        &[("main.js", Some("module.exports = (a) => helper(a);\n"))],
    ),
    case(
        "typescript: a namespace member is gone",
        &[
            ("src/util.ts", TS_UTIL),
            ("src/main.ts", "import * as util from './util';\n\nconsole.log(util.store(1));\n"),
        ],
        &[("src/util.ts", Some(TS_UTIL_LESS))],
    ),
    case(
        "javascript: a required file is deleted",
        &[
            ("lib/util.js", "exports.load = (a) => a;\n"),
            ("main.js", "const util = require('./lib/util');\n\nutil.load(1);\n"),
        ],
        &[("lib/util.js", None)],
    ),
    // Go
    case(
        "go: a function of another package is gone",
        &[
            ("go.mod", "module example.com/app\n"),
            ("util/util.go", GO_UTIL),
            (
                "main.go",
                "package main\n\nimport \"example.com/app/util\"\n\nfunc main() {\n\tprintln(util.Store(1))\n}\n",
            ),
        ],
        &[("util/util.go", Some(GO_UTIL_LESS))],
    ),
    case(
        "go: a function of the same package is gone",
        &[
            ("go.mod", "module example.com/app\n"),
            (
                "util.go",
                "package main\n\nfunc store(a int) int {\n\treturn a\n}\n\nfunc other(a int) int {\n\treturn a\n}\n",
            ),
            ("main.go", "package main\n\nfunc main() {\n\tprintln(store(1))\n}\n"),
        ],
        &[("util.go", Some("package main\n\nfunc other(a int) int {\n\treturn a\n}\n"))],
    ),
    case(
        "go: a type of the same package is gone",
        &[
            ("go.mod", "module example.com/app\n"),
            (
                "types.go",
                "package main\n\ntype Record struct {\n\tID int\n}\n\ntype Other struct {\n\tID int\n}\n",
            ),
            ("main.go", "package main\n\nfunc main() {\n\tvar r Record\n\tprintln(r.ID)\n}\n"),
        ],
        &[("types.go", Some("package main\n\ntype Other struct {\n\tID int\n}\n"))],
    ),
    case(
        "go: a function of the same file is gone",
        &[
            ("go.mod", "module example.com/app\n"),
            (
                "main.go",
                "package main\n\nfunc helper(a int) int {\n\treturn a\n}\n\nfunc main() {\n\tprintln(helper(1))\n}\n",
            ),
        ],
        &[("main.go", Some("package main\n\nfunc main() {\n\tprintln(helper(1))\n}\n"))],
    ),
    case(
        "go: a package is deleted",
        &[
            ("go.mod", "module example.com/app\n"),
            ("util/util.go", GO_UTIL),
            (
                "main.go",
                "package main\n\nimport \"example.com/app/util\"\n\nfunc main() {\n\tprintln(util.Store(1))\n}\n",
            ),
        ],
        &[("util/util.go", None)],
    ),
    // Rust
    case(
        "rust: a used struct is gone",
        &[
            ("Cargo.toml", "[package]\nname = \"app\"\n"),
            ("src/lib.rs", "mod main_part;\nmod util;\n"),
            ("src/util.rs", RS_UTIL),
            ("src/main_part.rs", "use crate::util::Record;\n\npub fn run() -> Record {\n    Record\n}\n"),
        ],
        &[("src/util.rs", Some(RS_UTIL_LESS))],
    ),
    case(
        "rust: a function called by its path is gone",
        &[
            ("Cargo.toml", "[package]\nname = \"app\"\n"),
            ("src/lib.rs", "mod util;\n\npub fn run() -> u32 {\n    util::store(1)\n}\n"),
            ("src/util.rs", RS_UTIL),
        ],
        &[("src/util.rs", Some(RS_UTIL_LESS))],
    ),
    case(
        "rust: a function called from the root of the crate is gone",
        &[
            ("Cargo.toml", "[package]\nname = \"app\"\n"),
            ("src/lib.rs", "mod part;\nmod util;\n"),
            ("src/part.rs", "pub fn run() -> u32 {\n    crate::util::store(1)\n}\n"),
            ("src/util.rs", RS_UTIL),
        ],
        &[("src/util.rs", Some(RS_UTIL_LESS))],
    ),
    case(
        "rust: a function of the same file is gone",
        &[
            ("Cargo.toml", "[package]\nname = \"app\"\n"),
            (
                "src/lib.rs",
                "fn helper(a: u32) -> u32 {\n    a\n}\n\npub fn run() -> u32 {\n    helper(1)\n}\n",
            ),
        ],
        &[("src/lib.rs", Some("pub fn run() -> u32 {\n    helper(1)\n}\n"))],
    ),
    case(
        "rust: a path of a module that never was",
        &[
            ("Cargo.toml", "[package]\nname = \"app\"\n"),
            ("src/lib.rs", "mod part;\nmod util;\n"),
            ("src/part.rs", "pub fn run() -> u32 {\n    1\n}\n"),
            ("src/util.rs", RS_UTIL),
        ],
        &[("src/part.rs", Some("use crate::util::Missing;\n\npub fn run() -> Missing {\n    Missing\n}\n"))],
    ),
    case(
        "rust: the file of a module is deleted",
        &[
            ("Cargo.toml", "[package]\nname = \"app\"\n"),
            ("src/lib.rs", "mod util;\n\npub fn run() -> u32 {\n    util::store(1)\n}\n"),
            ("src/util.rs", RS_UTIL),
        ],
        &[("src/util.rs", None)],
    ),
    // Java
    case(
        "java: the only class of an imported package is deleted",
        &[
            (
                "src/com/acme/app/Main.java",
                "package com.acme.app;\n\nimport com.acme.util.Tools;\n\nclass Main {\n  int run() {\n    return Tools.load();\n  }\n}\n",
            ),
            (
                "src/com/acme/util/Tools.java",
                "package com.acme.util;\n\npublic class Tools {\n  public static int load() {\n    return 1;\n  }\n}\n",
            ),
        ],
        &[("src/com/acme/util/Tools.java", None)],
    ),
    case(
        "java: one of two classes of a package is deleted",
        &[
            ("src/a/Main.java", "package a;\n\nimport b.Tools;\n\nclass Main {\n  Tools tools;\n}\n"),
            ("src/b/Tools.java", "package b;\n\npublic class Tools {}\n"),
            ("src/b/Other.java", "package b;\n\npublic class Other {}\n"),
        ],
        &[("src/b/Tools.java", None)],
    ),
    case(
        "java: a class of the same package is deleted",
        &[
            (
                "src/a/Main.java",
                "package a;\n\nclass Main {\n  int run() {\n    return Tools.load();\n  }\n}\n",
            ),
            (
                "src/a/Tools.java",
                "package a;\n\nclass Tools {\n  static int load() {\n    return 1;\n  }\n}\n",
            ),
        ],
        &[("src/a/Tools.java", None)],
    ),
    case(
        "java: a class of the same package is made with new",
        &[
            (
                "src/a/Main.java",
                "package a;\n\nclass Main {\n  Object run() {\n    return new Record();\n  }\n}\n",
            ),
            ("src/a/Record.java", "package a;\n\nclass Record {}\n"),
        ],
        &[("src/a/Record.java", None)],
    ),
    // C#
    case(
        "csharp: the only file of a namespace is deleted",
        &[
            (
                "Main.cs",
                "using Acme.Util;\n\nnamespace Acme.App\n{\n    class Main\n    {\n        int Run() { return Tools.Load(); }\n    }\n}\n",
            ),
            (
                "Tools.cs",
                "namespace Acme.Util\n{\n    public class Tools\n    {\n        public static int Load() { return 1; }\n    }\n}\n",
            ),
        ],
        &[("Tools.cs", None)],
    ),
    case(
        "csharp: a class of the same namespace is deleted",
        &[
            (
                "Main.cs",
                "namespace Acme.App\n{\n    class Main\n    {\n        int Run() { return Tools.Load(); }\n    }\n}\n",
            ),
            (
                "Tools.cs",
                "namespace Acme.App\n{\n    public class Tools\n    {\n        public static int Load() { return 1; }\n    }\n}\n",
            ),
        ],
        &[("Tools.cs", None)],
    ),
    case(
        "csharp: one class of a used namespace is deleted",
        &[
            (
                "Main.cs",
                "using Acme.Util;\n\nnamespace Acme.App;\n\nclass Main\n{\n    object Run() { return new Tools(); }\n}\n",
            ),
            ("Tools.cs", "namespace Acme.Util;\n\npublic class Tools { }\n"),
            ("Other.cs", "namespace Acme.Util;\n\npublic class Other { }\n"),
        ],
        &[("Tools.cs", None)],
    ),
    // Kotlin
    case(
        "kotlin: an imported class is deleted",
        &[
            ("src/a/Main.kt", "package a\n\nimport b.Tools\n\nfun run(): Int = Tools().load()\n"),
            ("src/b/Tools.kt", "package b\n\nclass Tools {\n    fun load(): Int = 1\n}\n"),
        ],
        &[("src/b/Tools.kt", None)],
    ),
    case(
        "kotlin: a function of the same package is gone",
        &[
            ("src/a/Main.kt", "package a\n\nfun run(): Int = helper(1)\n"),
            ("src/a/Tools.kt", "package a\n\nfun helper(a: Int): Int = a\n\nfun other(a: Int): Int = a\n"),
        ],
        &[("src/a/Tools.kt", Some("package a\n\nfun other(a: Int): Int = a\n"))],
    ),
    // PHP
    case(
        "php: a used class is deleted",
        &[
            (
                "src/Main.php",
                "<?php\nnamespace App;\n\nuse App\\Model\\User;\n\nclass Main {\n  function run() { return new User(); }\n}\n",
            ),
            ("src/Model/User.php", "<?php\nnamespace App\\Model;\n\nclass User {}\n"),
        ],
        &[("src/Model/User.php", None)],
    ),
    case(
        "php: an included file is deleted",
        &[
            ("src/main.php", "<?php\nrequire_once 'util.php';\n\nload(1);\n"),
            ("src/util.php", "<?php\nfunction load($a) { return $a; }\n"),
        ],
        &[("src/util.php", None)],
    ),
    case(
        "php: a function of the same file is gone",
        &[("src/main.php", "<?php\nfunction helper($a) { return $a; }\n\necho helper(1);\n")],
        &[("src/main.php", Some("<?php\necho helper(1);\n"))],
    ),
    // Ruby
    case(
        "ruby: a required file is deleted",
        &[
            ("lib/app/main.rb", "require_relative \"util\"\n\nputs load_row(1)\n"),
            ("lib/app/util.rb", "def load_row(a)\n  a\nend\n"),
        ],
        &[("lib/app/util.rb", None)],
    ),
    case(
        "ruby: a file of the library is deleted",
        &[
            ("lib/app/main.rb", "require \"app/util\"\n\nputs 1\n"),
            ("lib/app/util.rb", "def load_row(a)\n  a\nend\n"),
        ],
        &[("lib/app/util.rb", None)],
    ),
    case(
        "ruby: a method of the same file is gone",
        &[("main.rb", "def helper(a)\n  a\nend\n\nputs helper(1)\n")],
        &[("main.rb", Some("puts helper(1)\n"))],
    ),
    // C and C++
    case(
        "c: an included header is deleted",
        &[
            ("src/main.c", "#include \"util.h\"\n\nint main(void) {\n  return 0;\n}\n"),
            ("src/util.h", "int load(int a);\n"),
        ],
        &[("src/util.h", None)],
    ),
    case(
        "c: a header in another directory is deleted",
        &[
            ("src/main.c", "#include \"util/rows.h\"\n\nint main(void) {\n  return 0;\n}\n"),
            ("include/util/rows.h", "int load(int a);\n"),
        ],
        &[("include/util/rows.h", None)],
    ),
    case(
        "c: a function of the same file is gone",
        &[(
            "main.c",
            "static int helper(int a) {\n  return a;\n}\n\nint main(void) {\n  return helper(1);\n}\n",
        )],
        &[("main.c", Some("int main(void) {\n  return helper(1);\n}\n"))],
    ),
    case(
        "cpp: a class of an included header is gone",
        &[
            (
                "main.cpp",
                "#include \"model.hpp\"\n\nint main() {\n  Record record;\n  return record.id;\n}\n",
            ),
            (
                "model.hpp",
                "class Record {\npublic:\n  int id;\n};\n\nclass Other {\npublic:\n  int id;\n};\n",
            ),
        ],
        &[("model.hpp", Some("class Other {\npublic:\n  int id;\n};\n"))],
    ),
    case(
        "c: a function and its prototype are gone",
        &[
            ("main.c", "#include \"util.h\"\n\nint main(void) {\n  return store(1);\n}\n"),
            ("util.h", "int load(int a);\nint store(int a);\n"),
            (
                "util.c",
                "#include \"util.h\"\n\nint load(int a) {\n  return a;\n}\n\nint store(int a) {\n  return a;\n}\n",
            ),
        ],
        &[
            ("util.h", Some("int load(int a);\n")),
            ("util.c", Some("#include \"util.h\"\n\nint load(int a) {\n  return a;\n}\n")),
        ],
    ),
    case(
        "python: a name of an imported module is gone",
        &[
            ("app/__init__.py", ""),
            ("app/util.py", PY_UTIL),
            ("main.py", "from app import util\n\nprint(util.store(1))\n"),
        ],
        &[("app/util.py", Some(PY_UTIL_LESS))],
    ),
    case(
        "go: a constant of another package is gone",
        &[
            ("go.mod", "module example.com/app\n"),
            ("util/util.go", "package util\n\nconst Limit = 3\n\nfunc Load() int {\n\treturn 1\n}\n"),
            (
                "main.go",
                "package main\n\nimport \"example.com/app/util\"\n\nfunc main() {\n\tprintln(util.Limit)\n}\n",
            ),
        ],
        &[("util/util.go", Some("package util\n\nfunc Load() int {\n\treturn 1\n}\n"))],
    ),
    case(
        "rust: a function of another crate is gone",
        &[
            ("Cargo.toml", "[workspace]\nmembers = [\"a\", \"b\"]\n"),
            ("a/Cargo.toml", "[package]\nname = \"a\"\n"),
            ("b/Cargo.toml", "[package]\nname = \"b\"\n"),
            ("a/src/lib.rs", "pub fn load() {}\n\npub fn store() {}\n"),
            ("b/src/lib.rs", "use a::store;\n\npub fn run() {\n    store();\n}\n"),
        ],
        &[("a/src/lib.rs", Some("pub fn load() {}\n"))],
    ),
    // Bash
    case(
        "bash: a sourced file is deleted",
        &[
            ("tools/main.sh", ". ./tools/util.sh\n\nload 1\n"),
            ("tools/util.sh", "load() {\n  echo \"$1\"\n}\n"),
        ],
        &[("tools/util.sh", None)],
    ),
    // Other forms
    case(
        "typescript: a name behind `export *` is gone",
        &[
            ("src/util.ts", TS_UTIL),
            ("src/index.ts", "export * from './util';\n"),
            ("src/app.ts", "import { store } from './index';\n\nconsole.log(store(1));\n"),
        ],
        &[("src/util.ts", Some(TS_UTIL_LESS))],
    ),
    case(
        "python: a name behind a wildcard import is gone",
        &[
            ("app/__init__.py", "from .util import *\n"),
            ("app/util.py", PY_UTIL),
            ("main.py", "from app import store\n\nprint(store(1))\n"),
        ],
        &[("app/util.py", Some(PY_UTIL_LESS))],
    ),
    case(
        "rust: a re-export of a child module",
        &[
            ("Cargo.toml", "[package]\nname = \"m\"\n"),
            ("src/lib.rs", "mod util;\n\npub use util::{load, store};\n"),
            ("src/util.rs", RS_UTIL),
        ],
        &[("src/util.rs", Some(RS_UTIL_LESS))],
    ),
    case(
        "java: an annotation of the package is gone",
        &[
            ("src/a/Mark.java", "package a;\n\npublic @interface Mark {}\n"),
            ("src/a/Main.java", "package a;\n\n@Mark\npublic class Main {}\n"),
        ],
        &[("src/a/Mark.java", None)],
    ),
    case(
        "csharp: a static using of a class that is gone",
        &[
            ("A.cs", "namespace N;\n\npublic static class A { public static int F() => 1; }\n"),
            ("C.cs", "using static N.A;\n\nnamespace M;\n\npublic class C { int x = F(); }\n"),
        ],
        &[("A.cs", None)],
    ),
    case(
        "php: a class of a group that is gone",
        &[
            ("src/A.php", "<?php\nnamespace App;\nclass A {}\n"),
            ("src/C.php", "<?php\nnamespace App;\nclass C {}\n"),
            (
                "src/B.php",
                "<?php\nnamespace Other;\nuse App\\{A, C};\nclass B { function f() { return [new A(), new C()]; } }\n",
            ),
        ],
        &[("src/A.php", None)],
    ),
    case(
        "php: a trait that is gone",
        &[
            ("src/Logs.php", "<?php\nnamespace App;\ntrait Logs {}\n"),
            ("src/B.php", "<?php\nnamespace App;\nclass B { use Logs; }\n"),
        ],
        &[("src/Logs.php", None)],
    ),
];

const INNOCENT: &[ReferenceCase] = &[
    case(
        "python: everything is imported",
        &[
            ("app/__init__.py", ""),
            ("app/util.py", PY_UTIL),
            ("app/main.py", "from app.util import *\n\nprint(store(1))\n"),
        ],
        &[("app/util.py", Some(PY_UTIL_LESS))],
    ),
    case(
        "python: a module with __getattr__",
        &[
            ("app/__init__.py", ""),
            ("app/util.py", PY_UTIL),
            ("app/main.py", "from app.util import store\n\nprint(store(1))\n"),
        ],
        &[("app/util.py", Some("def __getattr__(name):\n    return name\n"))],
    ),
    case(
        "python: the name moved and is re-exported",
        &[
            ("app/__init__.py", ""),
            ("app/util.py", PY_UTIL),
            ("app/main.py", "from app.util import store\n\nprint(store(1))\n"),
        ],
        &[
            ("app/util.py", Some("from .more import store\n\n\ndef load(a):\n    return a.load()\n")),
            ("app/more.py", Some("def store(a):\n    return a.store()\n")),
        ],
    ),
    case(
        "python: a missing module is coped with",
        &[
            ("app/__init__.py", ""),
            ("app/fast.py", PY_UTIL),
            ("app/main.py", "try:\n    from app.fast import load\nexcept ImportError:\n    load = None\n"),
        ],
        &[("app/fast.py", None)],
    ),
    case(
        "python: a submodule is imported by its package",
        &[
            ("app/__init__.py", ""),
            ("app/util.py", PY_UTIL),
            ("main.py", "from app import util\n\nprint(util.load(1))\n"),
        ],
        &[("main.py", Some("from app import util\n\nprint(util.load(2))\n"))],
    ),
    case(
        "python: an own function makes way for a builtin",
        &[("main.py", "def sum(rows):\n    return rows.total()\n\n\ndef run(rows):\n    return sum(rows)\n")],
        &[("main.py", Some("def run(rows):\n    return sum(rows)\n"))],
    ),
    case(
        "python: an own function makes way for a library",
        &[("main.py", "def cached(f):\n    return f\n\n\n@cached\ndef run():\n    return 1\n")],
        &[(
            "main.py",
            Some("from functools import cache as cached\n\n\n@cached\ndef run():\n    return 1\n"),
        )],
    ),
    case(
        "python: a constant is built by a loop",
        &[
            ("app/__init__.py", ""),
            ("app/conf.py", "for limit, width in [(1, 2)]:\n    pass\n"),
            ("app/main.py", "print(1)\n"),
        ],
        &[("app/main.py", Some("from app.conf import limit\n\nprint(limit)\n"))],
    ),
    case(
        "python: names are set in globals",
        &[
            ("app/__init__.py", ""),
            ("app/conf.py", "LIMIT = 3\n"),
            ("app/main.py", "from app.conf import LIMIT\n\nprint(LIMIT)\n"),
        ],
        &[("app/conf.py", Some("globals().update(load_all())\n"))],
    ),
    case(
        "python: a parameter has the name of a removed function",
        &[("main.py", "def key(a):\n    return a\n\n\ndef run(key):\n    return key(1)\n")],
        &[("main.py", Some("def run(key):\n    return key(1)\n"))],
    ),
    case(
        "python: a generated module",
        &[("app/__init__.py", ""), ("app/main.py", "print(1)\n")],
        &[(
            "app/main.py",
            Some("from app.rows_pb2 import Row\nfrom app._version import version\n\nprint(Row, version)\n"),
        )],
    ),
    case(
        "python: function and callers are renamed",
        &[
            ("app/__init__.py", ""),
            ("app/util.py", PY_UTIL),
            ("app/main.py", "from app.util import store\n\nprint(store(1))\n"),
        ],
        &[
            (
                "app/util.py",
                Some("def load(a):\n    return a.load()\n\n\ndef keep(a):\n    return a.store()\n"),
            ),
            ("app/main.py", Some("from app.util import keep\n\nprint(keep(1))\n")),
        ],
    ),
    case(
        "python: a method of the same name is left",
        &[(
            "main.py",
            "def store(a):\n    return a\n\n\nclass Box:\n    def store(self):\n        return store(1)\n",
        )],
        &[("main.py", Some("class Box:\n    def store(self):\n        return 1\n"))],
    ),
    case(
        "typescript: everything is re-exported",
        &[
            ("src/more.ts", "export const other = 1;\n"),
            ("src/util.ts", TS_UTIL),
            ("src/main.ts", "import { store } from './util';\n\nconsole.log(store(1));\n"),
        ],
        &[
            ("src/util.ts", Some("export * from './more';\n")),
            ("src/more.ts", Some("export const other = 1;\nexport const store = (a: number) => a;\n")),
        ],
    ),
    case(
        "typescript: the name is exported from another file",
        &[
            ("src/util.ts", TS_UTIL),
            ("src/main.ts", "import { store } from './util';\n\nconsole.log(store(1));\n"),
        ],
        &[
            ("src/util.ts", Some("export { store } from './more';\n")),
            ("src/more.ts", Some("export const store = (a: number) => a;\n")),
        ],
    ),
    case(
        "typescript: the name is exported under another one",
        &[
            ("src/util.ts", TS_UTIL),
            ("src/main.ts", "import { store } from './util';\n\nconsole.log(store(1));\n"),
        ],
        &[("src/util.ts", Some("function keep(a: number) {\n  return a;\n}\n\nexport { keep as store };\n"))],
    ),
    case(
        "typescript: a style sheet and data",
        &[("src/main.ts", "console.log(1);\n")],
        &[(
            "src/main.ts",
            Some("import './main.css';\nimport data from './data.json';\n\nconsole.log(data);\n"),
        )],
    ),
    case(
        "javascript: an own function makes way for a global",
        &[("main.js", "function fetch(a) {\n  return a;\n}\n\nmodule.exports = () => fetch(1);\n")],
        &[("main.js", Some("module.exports = () => fetch(1);\n"))],
    ),
    case(
        "javascript: dynamic exports",
        &[
            ("util.js", "exports.load = (a) => a;\nexports.store = (a) => a;\n"),
            ("main.mjs", "import { store } from './util.js';\n\nstore(1);\n"),
        ],
        &[("util.js", Some("for (const name of ['load', 'store']) {\n  exports[name] = (a) => a;\n}\n"))],
    ),
    case(
        "javascript: a destructured name",
        &[(
            "main.js",
            "function load(a) {\n  return a;\n}\n\nmodule.exports = (options) => load(options);\n",
        )],
        &[(
            "main.js",
            Some("module.exports = (options) => {\n  const { load } = options;\n  return load(1);\n};\n"),
        )],
    ),
    case(
        "typescript: an outside package below an alias of everything",
        &[
            (
                "tsconfig.json",
                "{\"compilerOptions\": {\"baseUrl\": \".\", \"paths\": {\"*\": [\"types/*\"]}}}",
            ),
            ("src/main.ts", "console.log(1);\n"),
        ],
        &[("src/main.ts", Some("import { z } from 'zod';\n\nconsole.log(z);\n"))],
    ),
    case(
        "go: an own function makes way for a builtin",
        &[
            ("go.mod", "module example.com/app\n"),
            (
                "main.go",
                "package main\n\nfunc min(a, b int) int {\n\tif a < b {\n\t\treturn a\n\t}\n\treturn b\n}\n\nfunc main() {\n\tprintln(min(1, 2))\n}\n",
            ),
        ],
        &[("main.go", Some("package main\n\nfunc main() {\n\tprintln(min(1, 2))\n}\n"))],
    ),
    case(
        "go: a function moves to another file of its package",
        &[
            ("go.mod", "module example.com/app\n"),
            ("util.go", "package main\n\nfunc store(a int) int {\n\treturn a\n}\n"),
            ("main.go", "package main\n\nfunc main() {\n\tprintln(store(1))\n}\n"),
        ],
        &[
            ("util.go", Some("package main\n\nfunc other(a int) int {\n\treturn a\n}\n")),
            ("rows.go", Some("package main\n\nfunc store(a int) int {\n\treturn a\n}\n")),
        ],
    ),
    case(
        "go: generated code declares it",
        &[
            ("go.mod", "module example.com/app\n"),
            (
                "proto/a.pb.go",
                "// Code generated by protoc. DO NOT EDIT.\npackage proto\n\ntype Row struct{}\n",
            ),
            ("main.go", "package main\n\nfunc main() {}\n"),
        ],
        &[(
            "main.go",
            Some(
                "package main\n\nimport \"example.com/app/proto\"\n\nfunc main() {\n\tvar r proto.Row\n\tprintln(r)\n}\n",
            ),
        )],
    ),
    case(
        "go: a variable replaces a function",
        &[
            ("go.mod", "module example.com/app\n"),
            (
                "main.go",
                "package main\n\nfunc store(a int) int {\n\treturn a\n}\n\nfunc main() {\n\tprintln(store(1))\n}\n",
            ),
        ],
        &[(
            "main.go",
            Some(
                "package main\n\nvar store = func(a int) int { return a }\n\nfunc main() {\n\tprintln(store(1))\n}\n",
            ),
        )],
    ),
    case(
        "rust: the name is re-exported",
        &[
            ("Cargo.toml", "[package]\nname = \"app\"\n"),
            ("src/lib.rs", "mod more;\nmod part;\nmod util;\n"),
            ("src/more.rs", "pub struct Other;\n"),
            ("src/part.rs", "use crate::util::Record;\n\npub fn run() -> Record {\n    Record\n}\n"),
            ("src/util.rs", RS_UTIL),
        ],
        &[
            ("src/util.rs", Some("pub use crate::more::Record;\n")),
            ("src/more.rs", Some("pub struct Record;\n")),
        ],
    ),
    case(
        "rust: everything is re-exported",
        &[
            ("Cargo.toml", "[package]\nname = \"app\"\n"),
            ("src/lib.rs", "mod more;\nmod part;\nmod util;\n"),
            ("src/more.rs", "pub struct Other;\n"),
            ("src/part.rs", "use crate::util::Record;\n\npub fn run() -> Record {\n    Record\n}\n"),
            ("src/util.rs", RS_UTIL),
        ],
        &[("src/util.rs", Some("pub use crate::more::*;\n")), ("src/more.rs", Some("pub struct Record;\n"))],
    ),
    case(
        "rust: a macro declares it",
        &[
            ("Cargo.toml", "[package]\nname = \"app\"\n"),
            ("src/lib.rs", "mod part;\nmod util;\n"),
            ("src/part.rs", "use crate::util::Record;\n\npub fn run() -> Record {\n    Record\n}\n"),
            ("src/util.rs", RS_UTIL),
        ],
        &[("src/util.rs", Some("record! {\n    pub struct Record;\n}\n"))],
    ),
    case(
        "rust: a library has a function of the same name",
        &[
            ("Cargo.toml", "[package]\nname = \"app\"\n"),
            (
                "src/lib.rs",
                "use winapi::file;\n\nfn is_hidden(a: u32) -> bool {\n    file::is_hidden(a)\n}\n\npub fn run() -> bool {\n    is_hidden(1)\n}\n",
            ),
        ],
        &[(
            "src/lib.rs",
            Some(
                "use winapi::file;\n\nfn is_hidden_file(a: u32) -> bool {\n    file::is_hidden(a)\n}\n\npub fn run() -> bool {\n    is_hidden_file(1)\n}\n",
            ),
        )],
    ),
    case(
        "rust: tests use their parent module",
        &[("Cargo.toml", "[package]\nname = \"app\"\n"), ("src/lib.rs", "pub fn run() -> u32 {\n    1\n}\n")],
        &[(
            "src/lib.rs",
            Some(
                "pub fn run() -> u32 {\n    1\n}\n\n#[cfg(test)]\nmod tests {\n    use super::run;\n\n    #[test]\n    fn runs() {\n        assert_eq!(run(), 1);\n    }\n}\n",
            ),
        )],
    ),
    case(
        "java: a class moves along with its imports",
        &[
            ("src/a/Main.java", "package a;\n\nimport b.Tools;\n\nclass Main {\n  Tools tools;\n}\n"),
            ("src/b/Tools.java", "package b;\n\npublic class Tools {}\n"),
        ],
        &[
            ("src/a/Main.java", Some("package a;\n\nimport c.Tools;\n\nclass Main {\n  Tools tools;\n}\n")),
            ("src/b/Tools.java", None),
            ("src/c/Tools.java", Some("package c;\n\npublic class Tools {}\n")),
        ],
    ),
    case(
        "java: a library below a known name",
        &[("src/com/acme/app/Main.java", "package com.acme.app;\n\nclass Main {}\n")],
        &[(
            "src/com/acme/app/Main.java",
            Some(
                "package com.acme.app;\n\nimport com.acme.json.Parser;\n\nclass Main {\n  Parser parser;\n}\n",
            ),
        )],
    ),
    case(
        "csharp: a namespace of the framework",
        &[("Main.cs", "namespace Acme.App;\n\nclass Main { }\n")],
        &[(
            "Main.cs",
            Some(
                "using System.Text.Json;\n\nnamespace Acme.App;\n\nclass Main\n{\n    object Run() { return new JsonDocument(); }\n}\n",
            ),
        )],
    ),
    case(
        "php: a class of a library",
        &[("src/Main.php", "<?php\nnamespace App;\n\nclass Main {}\n")],
        &[(
            "src/Main.php",
            Some(
                "<?php\nnamespace App;\n\nuse Psr\\Log\\LoggerInterface;\n\nclass Main {\n  function run(LoggerInterface $log) {}\n}\n",
            ),
        )],
    ),
    case(
        "typescript: the declarations of a module that only exists after a build",
        &[
            ("index.d.ts", "export interface Options {\n  a: number;\n}\n"),
            ("index.d.cts", "export interface Options {\n  a: number;\n}\n"),
        ],
        &[("index.d.ts", Some("export { Options } from './index.cjs';\n"))],
    ),
    case(
        "kotlin: a class of a library replaces an own one of the same name",
        &[
            ("src/a/Time.kt", "package a\n\nclass Clock {\n  fun now(): Int = 1\n}\n\nclass Other\n"),
            ("src/a/Main.kt", "package a\n\nfun run(clock: Clock): Int = clock.now()\n"),
        ],
        &[
            ("src/a/Time.kt", Some("package a\n\nclass Other\n")),
            (
                "src/a/Main.kt",
                Some("package a\n\nimport kotlin.time.Clock\n\nfun run(clock: Clock) = clock.now()\n"),
            ),
        ],
    ),
    case(
        "kotlin: a library",
        &[("src/a/Main.kt", "package a\n\nfun run(): Int = 1\n")],
        &[(
            "src/a/Main.kt",
            Some("package a\n\nimport kotlinx.coroutines.launch\n\nfun run() = launch { }\n"),
        )],
    ),
    case(
        "c: a system header replaces an own one",
        &[
            ("src/main.c", "#include \"compat.h\"\n\nint main(void) {\n  return strlcpy(0, 0, 0);\n}\n"),
            ("src/compat.h", "int strlcpy(char *a, const char *b, int c);\n"),
        ],
        &[
            ("src/main.c", Some("#include <string.h>\n\nint main(void) {\n  return strlcpy(0, 0, 0);\n}\n")),
            ("src/compat.h", None),
        ],
    ),
    case(
        "c: a function becomes a macro",
        &[(
            "main.c",
            "static int helper(int a) {\n  return a;\n}\n\nint main(void) {\n  return helper(1);\n}\n",
        )],
        &[("main.c", Some("#define helper(a) (a)\n\nint main(void) {\n  return helper(1);\n}\n"))],
    ),
    case(
        "ruby: a gem",
        &[("lib/app/main.rb", "puts 1\n")],
        &[("lib/app/main.rb", Some("require \"json\"\n\nputs JSON.parse(\"1\")\n"))],
    ),
    case(
        "bash: a command",
        &[("main.sh", "build() {\n  make\n}\n\nbuild\n")],
        &[("main.sh", Some("make\n"))],
    ),
    // Other forms
    case(
        "typescript: a name moves behind `export *`",
        &[
            ("src/util.ts", TS_UTIL),
            ("src/app.ts", "import { store } from './util';\n\nconsole.log(store(1));\n"),
        ],
        &[("src/util.ts", Some("export * from './store';\n")), ("src/store.ts", Some(TS_UTIL))],
    ),
    case(
        "python: a parameter has the name of a module",
        &[
            ("util.py", PY_UTIL),
            (
                "main.py",
                "import util\n\n\ndef run(util):\n    return util.store(1)\n\n\nprint(util.load(1))\n",
            ),
        ],
        &[("util.py", Some(PY_UTIL_LESS))],
    ),
    case(
        "java: a class becomes the functions of a Kotlin file",
        &[
            ("src/a/U.java", "package a;\n\npublic class U { public static int f() { return 1; } }\n"),
            ("src/b/V.java", "package b;\n\nimport static a.U.f;\n\npublic class V { int x = f(); }\n"),
        ],
        &[("src/a/U.java", None), ("src/a/U.kt", Some("@file:JvmName(\"U\")\n\npackage a\n\nfun f() = 1\n"))],
    ),
    case(
        "csharp: the parts of a class are joined",
        &[
            ("A.cs", "namespace N;\n\npublic partial class A { void F() { Helper(); } }\n"),
            ("A.Helpers.cs", "namespace N;\n\npublic partial class A { void Helper() { } }\n"),
        ],
        &[
            ("A.cs", Some("namespace N;\n\npublic class A { void F() { Helper(); } void Helper() { } }\n")),
            ("A.Helpers.cs", None),
        ],
    ),
    case(
        "csharp: a class of a static using moves to another file",
        &[
            ("A.cs", "namespace N;\n\npublic static class A { public static int F() => 1; }\n"),
            ("C.cs", "using static N.A;\n\nnamespace M;\n\npublic class C { int x = F(); }\n"),
        ],
        &[
            ("A.cs", None),
            ("B.cs", Some("namespace N;\n\npublic static class A { public static int F() => 2; }\n")),
        ],
    ),
];

#[test]
fn what_a_change_removed_and_something_still_names_dangles() {
    let unseen: Vec<&str> =
        BROKEN.iter().filter(|case| dangling(case).is_empty()).map(|case| case.name).collect();
    assert_eq!(unseen, [""; 0], "of {} broken references", BROKEN.len());
}

#[test]
fn what_is_found_elsewhere_does_not_dangle() {
    let accused: Vec<(&str, Vec<String>)> = INNOCENT
        .iter()
        .map(|case| (case.name, dangling(case)))
        .filter(|(_, found)| !found.is_empty())
        .collect();
    assert_eq!(accused, [], "of {} innocent changes", INNOCENT.len());
}
