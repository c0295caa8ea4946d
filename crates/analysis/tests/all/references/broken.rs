//! Changes after which something names what is gone.

use super::*;

pub(super) const BROKEN: &[ReferenceCase] = &[
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
