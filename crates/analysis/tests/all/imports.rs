//! Imports resolve to real files, in the layouts that projects have.

use crate::common::{findings, needs, run};
use probity_analysis::FindingFamily;
use std::collections::BTreeSet;

fn check(files: &[(&str, &str)], from: &str, expected: &[&str]) {
    let run = run(files);
    let found = needs(&run).remove(from).unwrap_or_default();
    let expected: BTreeSet<String> = expected.iter().map(|name| (*name).to_owned()).collect();
    assert_eq!(found, expected);
}

fn dangling(files: &[(&str, &str)]) -> Vec<String> {
    let run = run(files);
    findings(&run, FindingFamily::DanglingImport)
        .iter()
        .map(|finding| finding.locations[0].path.to_string())
        .collect()
}

#[test]
fn python_packages_in_a_src_layout() {
    let files = [
        ("src/pkg/__init__.py", ""),
        (
            "src/pkg/a.py",
            "import pkg.b\nfrom pkg import c\nfrom . import d\nfrom .sub.e import thing\nimport os\n\nx = 1\n",
        ),
        ("src/pkg/b.py", ""),
        ("src/pkg/c.py", ""),
        ("src/pkg/d.py", ""),
        ("src/pkg/sub/__init__.py", ""),
        ("src/pkg/sub/e.py", "from .. import b\n\nthing = b\n"),
        ("tests/test_a.py", "from pkg.a import x\n"),
    ];
    check(&files, "src/pkg/a.py", &["src/pkg/b.py", "src/pkg/c.py", "src/pkg/d.py", "src/pkg/sub/e.py"]);
    check(&files, "src/pkg/sub/e.py", &["src/pkg/b.py"]);
    check(&files, "tests/test_a.py", &["src/pkg/a.py"]);
    assert!(dangling(&files).is_empty());
}

#[test]
fn python_names_of_a_package_are_in_its_init() {
    let files = [("pkg/__init__.py", "VALUE = 1\n"), ("main.py", "from pkg import VALUE\n")];
    check(&files, "main.py", &["pkg/__init__.py"]);
}

#[test]
fn python_namespace_packages_and_monorepos() {
    let files = [
        ("services/a/src/alpha/core.py", "from alpha.util import f\n"),
        ("services/a/src/alpha/util.py", "def f():\n    return 1\n"),
        ("services/b/src/beta/__init__.py", ""),
        ("services/b/src/beta/util.py", ""),
        ("services/b/src/beta/core.py", "from beta import util\n"),
    ];
    check(&files, "services/a/src/alpha/core.py", &["services/a/src/alpha/util.py"]);
    check(&files, "services/b/src/beta/core.py", &["services/b/src/beta/util.py"]);
}

#[test]
fn python_imports_of_missing_parts_dangle() {
    let package = [("pkg/__init__.py", "attribute = 1\n"), ("pkg/b.py", "")];
    let with = |text| [package[0], package[1], ("pkg/a.py", text)];
    assert_eq!(dangling(&with("from pkg.gone import x\n")), ["pkg/a.py"]);
    assert_eq!(dangling(&with("import pkg.gone\n")), ["pkg/a.py"]);
    assert_eq!(dangling(&with("from .gone import x\n")), ["pkg/a.py"]);
    assert_eq!(dangling(&with("from .b import x\n")), ["pkg/a.py"]);
    for fine in [
        "import numpy.linalg\n",
        "from . import attribute\n",
        "from pkg import attribute\n",
        "try:\n    from pkg.fast import x\nexcept ImportError:\n    x = None\n",
        "from .schema_pb2 import Message\n",
    ] {
        assert!(dangling(&with(fine)).is_empty(), "{fine}");
    }
}

#[test]
fn rust_modules_and_crates_of_a_workspace() {
    let files = [
        ("Cargo.toml", "[workspace.dependencies]\ncanon = { package = \"acme-canon\", path = \"canon\" }\n"),
        ("canon/Cargo.toml", "[package]\nname = \"acme-canon\"\n"),
        ("canon/src/lib.rs", "pub mod json;\n"),
        ("canon/src/json.rs", "pub fn parse() {}\n"),
        ("app/Cargo.toml", "[package]\nname = \"app\"\n"),
        ("app/src/main.rs", "mod a;\nmod b;\nuse canon::json;\nuse std::fs;\nfn main() {}\n"),
        ("app/src/a.rs", "mod inner;\nuse crate::b::{self, Thing};\n"),
        ("app/src/a/inner.rs", "use super::super::b::Thing;\n"),
        ("app/src/b/mod.rs", "pub struct Thing;\n"),
    ];
    check(&files, "app/src/main.rs", &["app/src/a.rs", "app/src/b/mod.rs", "canon/src/json.rs"]);
    check(&files, "app/src/a.rs", &["app/src/a/inner.rs", "app/src/b/mod.rs"]);
    check(&files, "app/src/a/inner.rs", &["app/src/b/mod.rs"]);
    assert!(dangling(&files).is_empty());
    assert_eq!(dangling(&[("src/lib.rs", "mod gone;\n")]), ["src/lib.rs"]);
    assert!(dangling(&[("src/lib.rs", "#[cfg(windows)]\nmod gone;\nmod here { mod x; }\n")]).is_empty());
}

#[test]
fn rust_roots_that_only_a_manifest_names_and_files_that_were_not_read() {
    let files = [
        ("src/tool.rs", "mod part;\nmod tables;\n"),
        ("src/part.rs", ""),
        ("src/tables.rs", "// @generated\n"),
    ];
    check(&files, "src/tool.rs", &["src/part.rs"]);
    assert!(dangling(&files).is_empty());
}

#[test]
fn javascript_paths_extensions_indexes_aliases_and_workspaces() {
    let files = [
        ("tsconfig.json", r#"{"compilerOptions": {"baseUrl": ".", "paths": {"@/*": ["web/*"]}}}"#),
        ("packages/ui/package.json", r#"{"name": "@acme/ui"}"#),
        ("packages/ui/src/index.ts", "export const x = 1;\n"),
        (
            "web/a.ts",
            "import b from './b';\nimport c from './c.js';\nimport d from './d';\nimport { x } from '@acme/ui';\nimport e from '@/e';\nimport './style.css';\nimport react from 'react';\n",
        ),
        ("web/b.tsx", "export default 1;\n"),
        ("web/c.ts", "export default 1;\n"),
        ("web/d/index.js", "module.exports = require('../e');\n"),
        ("web/e.mjs", "export default () => import('./gone');\n"),
    ];
    let expected = ["packages/ui/src/index.ts", "web/b.tsx", "web/c.ts", "web/d/index.js", "web/e.mjs"];
    check(&files, "web/a.ts", &expected);
    check(&files, "web/d/index.js", &["web/e.mjs"]);
    assert_eq!(dangling(&files), ["web/e.mjs"]);
}

#[test]
fn go_packages_are_folders_of_their_module() {
    let files = [
        ("go.mod", "module example.com/app\n\ngo 1.24\n"),
        (
            "main.go",
            "package main\nimport (\n\t\"fmt\"\n\t\"example.com/app/store\"\n)\nfunc main() { fmt.Println(store.Get()) }\n",
        ),
        ("store/a.go", "package store\nfunc Get() int { return helper() }\n"),
        ("store/b.go", "package store\nfunc helper() int { return 1 }\n"),
        ("store/a_test.go", "package store\nimport \"example.com/app/gone\"\n"),
    ];
    check(&files, "main.go", &["store/a.go", "store/b.go"]);
    check(&files, "store/a.go", &["store/b.go"]);
    assert_eq!(dangling(&files), ["store/a_test.go"]);
}

#[test]
fn a_go_package_of_generated_files_is_not_missing() {
    let generated = "// Code generated by protoc-gen-go. DO NOT EDIT.\n\npackage proto\ntype Test struct{}\n";
    let main = "package main\nimport (\n\t\"example.com/app/proto\"\n\t\"example.com/app/gone\"\n)\n";
    let files = [
        ("go.mod", "module example.com/app\n\ngo 1.24\n"),
        ("main.go", main),
        ("proto/test.pb.go", generated),
    ];
    let run = run(&files);
    let dangling: Vec<&str> = findings(&run, FindingFamily::DanglingImport)
        .iter()
        .map(|finding| finding.message.as_str())
        .collect();
    assert_eq!(dangling, ["`example.com/app/gone` is a part of this project that is not there"]);
}

#[test]
fn java_and_kotlin_classes_by_package() {
    let files = [
        (
            "src/a/Main.java",
            "package a;\nimport b.Store;\nimport b.Gone;\nimport java.util.List;\nclass Main { Store s; Helper h; }\n",
        ),
        ("src/a/Helper.java", "package a;\nclass Helper {}\n"),
        ("src/b/Store.kt", "package b\nclass Store\n"),
    ];
    check(&files, "src/a/Main.java", &["src/a/Helper.java", "src/b/Store.kt"]);
    assert_eq!(dangling(&files), ["src/a/Main.java"]);
}

#[test]
fn others_by_their_own_rules() {
    let c =
        [("src/a.c", "#include \"util/b.h\"\n#include <stdio.h>\n"), ("include/util/b.h", "int f(void);\n")];
    check(&c, "src/a.c", &["include/util/b.h"]);
    let ruby = [
        (
            "lib/app/a.rb",
            "require_relative \"b\"\nrequire \"app/c\"\nrequire \"json\"\nrequire_relative \"gone\"\n",
        ),
        ("lib/app/b.rb", ""),
        ("lib/app/c.rb", ""),
    ];
    check(&ruby, "lib/app/a.rb", &["lib/app/b.rb", "lib/app/c.rb"]);
    assert_eq!(dangling(&ruby), ["lib/app/a.rb"]);
    let php = [
        ("src/A.php", "<?php\nnamespace App;\nuse App\\Model\\User;\nrequire_once 'b.php';\nclass A {}\n"),
        ("src/Model/User.php", "<?php\nnamespace App\\Model;\nclass User {}\n"),
        ("src/b.php", "<?php\n"),
    ];
    check(&php, "src/A.php", &["src/Model/User.php", "src/b.php"]);
    let csharp = [
        ("A.cs", "using Acme.Store;\nnamespace Acme.App { class A { Db db; } }\n"),
        ("Db.cs", "namespace Acme.Store { class Db {} }\n"),
        ("Other.cs", "namespace Acme.Store { class Other {} }\n"),
    ];
    check(&csharp, "A.cs", &["Db.cs"]);
}
