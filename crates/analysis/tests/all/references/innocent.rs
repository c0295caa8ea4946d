//! Changes after which everything that is named is still there, somewhere.

use super::*;

pub(super) const INNOCENT: &[ReferenceCase] = &[
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
