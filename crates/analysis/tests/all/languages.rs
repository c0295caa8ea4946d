//! What is read from each language besides control flow: names, access, cohesion, repeated branches, dead code.

use crate::common::{findings, run};
use probity_analysis::{AccessLevel, AnalysisRun, FindingFamily, UnitKind};

/// Returns the units of a single file except the file itself: kind, name and access.
fn units(name: &str, text: &str) -> Vec<(UnitKind, String, AccessLevel)> {
    let run = run(&[(name, text)]);
    assert!(run.files[0].notes.is_empty(), "{name}: {:?}", run.files[0].notes);
    let units = run.units.into_iter().filter(|unit| unit.kind != UnitKind::File);
    units.map(|unit| (unit.kind, unit.symbol, unit.access)).collect()
}

fn check(name: &str, text: &str, expected: &[(UnitKind, &str, AccessLevel)]) {
    let expected: Vec<_> =
        expected.iter().map(|(kind, name, access)| (*kind, (*name).to_owned(), *access)).collect();
    assert_eq!(units(name, text), expected, "{name}");
}

fn dead(run: &AnalysisRun) -> Vec<&str> {
    findings(run, FindingFamily::DeadCode)
        .iter()
        .map(|finding| finding.locations[0].symbol.as_str())
        .collect()
}

use AccessLevel::{Internal, Private, Public};
use UnitKind::{Class, Function, Method};

#[test]
fn units_have_full_names_and_the_access_of_their_language() {
    check(
        "a.py",
        "class A:\n    def f(self): pass\n    def _g(self): pass\n    def __len__(self): pass\ndef h():\n    def inner(): pass\n    return inner\n",
        &[
            (Class, "A", Public),
            (Method, "A.f", Public),
            (Method, "A._g", Private),
            (Method, "A.__len__", Public),
            (Function, "h", Public),
            (Function, "h.inner", Private),
        ],
    );
    check(
        "a.rs",
        "pub struct A;\nimpl A {\n    pub fn f(&self) {}\n    fn g(&self) {}\n}\nimpl Drop for A {\n    fn drop(&mut self) {}\n}\nmod inner {\n    pub(crate) fn h() {}\n}\n",
        &[
            (Class, "A", Public),
            (Class, "A", Private),
            (Method, "A.f", Public),
            (Method, "A.g", Private),
            (Class, "A", Private),
            (Method, "A.drop", Public),
            (Function, "inner.h", Internal),
        ],
    );
    check(
        "a.ts",
        "export class A {\n  f() {}\n  private g() {}\n}\nexport const h = () => {\n  if (x) { y(); }\n};\nfunction i() {}\n",
        &[
            (Class, "A", Public),
            (Method, "A.f", Public),
            (Method, "A.g", Private),
            (Function, "h", Public),
            (Function, "i", Private),
        ],
    );
    check(
        "a.go",
        "package a\n\ntype S struct{}\n\nfunc (s *S) Get() int { return 1 }\n\nfunc local() {}\n",
        &[(Class, "S", Public), (Function, "S.Get", Public), (Function, "local", Internal)],
    );
    check(
        "A.java",
        "public class A {\n  public A() {}\n  void f() {}\n  private int g() { return 1; }\n}\ninterface B { void h(); }\n",
        &[
            (Class, "A", Public),
            (Method, "A.A", Public),
            (Method, "A.f", Internal),
            (Method, "A.g", Private),
            (Class, "B", Internal),
            (Method, "B.h", Public),
        ],
    );
    check(
        "a.c",
        "static int f(int a) { return a; }\nchar *g(void) { return 0; }\n",
        &[(Function, "f", Private), (Function, "g", Public)],
    );
    check(
        "a.cpp",
        "namespace n {\nclass A {\n public:\n  int f() { return 1; }\n};\nint A::g() { return 2; }\n}\n",
        &[(Class, "n.A", Public), (Method, "n.A.f", Public), (Function, "n.A.g", Public)],
    );
    check(
        "A.cs",
        "namespace N {\n  public class A {\n    public void F() {}\n    void G() {}\n  }\n}\n",
        &[(Class, "N.A", Public), (Method, "N.A.F", Public), (Method, "N.A.G", Private)],
    );
    check(
        "a.rb",
        "module M\n  class A\n    def f\n      1\n    end\n  end\nend\n",
        &[(Class, "M", Public), (Class, "M.A", Public), (Method, "M.A.f", Public)],
    );
    check(
        "a.php",
        "<?php\nclass A {\n  private function f() { return 1; }\n  function g() { return 2; }\n}\n",
        &[(Class, "A", Public), (Method, "A.f", Private), (Method, "A.g", Public)],
    );
    check(
        "a.kt",
        "class A {\n  private fun f(): Int = 1\n  fun g() {}\n}\nobject B\n",
        &[(Class, "A", Public), (Method, "A.f", Private), (Method, "A.g", Public), (Class, "B", Public)],
    );
}

/// A class whose methods form two groups, not counting its constructor.
const SPLIT_CLASSES: [(&str, &str); 10] = [
    (
        "a.py",
        "class A:\n    def __init__(self):\n        self.x = self.y = 0\n    def f(self):\n        return self.x\n    def g(self):\n        return self.f()\n    def h(self):\n        return self.y\n    def free(self):\n        return 1\n",
    ),
    (
        "a.js",
        "class A {\n  constructor() { this.x = 0; this.y = 0; }\n  f() { return this.x; }\n  g() { return this.f(); }\n  h() { return this.y; }\n}\n",
    ),
    (
        "A.java",
        "class A {\n  private int x, y;\n  A() { x = 0; y = 0; }\n  int f() { return x; }\n  int g() { return f(); }\n  int h() { return this.y; }\n}\n",
    ),
    (
        "A.cs",
        "class A {\n  int x; int y;\n  A() { x = 0; y = 0; }\n  int F() { return x; }\n  int G() { return F(); }\n  int H() { return this.y; }\n}\n",
    ),
    (
        "a.ts",
        "class A {\n  private x = 0;\n  private y = 0;\n  f() { return this.x; }\n  g() { return this.f(); }\n  h() { return this.y; }\n}\n",
    ),
    (
        "a.cpp",
        "class A {\n  int x; int y;\npublic:\n  A() { x = 0; y = 0; }\n  int f() { return x; }\n  int g() { return f(); }\n  int h() { return this->y; }\n};\n",
    ),
    ("a.kt", "class A(val x: Int) {\n  var y = 0\n  fun f() = x\n  fun g() = f()\n  fun h() = this.y\n}\n"),
    (
        "a.rb",
        "class A\n  def initialize\n    @x = @y = 0\n  end\n  def f\n    @x\n  end\n  def g\n    f\n  end\n  def h\n    @y\n  end\nend\n",
    ),
    (
        "a.php",
        "<?php\nclass A {\n  function __construct() { $this->x = 0; $this->y = 0; }\n  function f() { return $this->x; }\n  function g() { return $this->f(); }\n  function h() { return $this->y; }\n}\n",
    ),
    (
        "a.rs",
        "struct A { x: u32, y: u32 }\nimpl A {\n    fn f(&self) -> u32 { self.x }\n    fn g(&self) -> u32 { self.f() }\n    fn h(&self) -> u32 { self.y }\n}\n",
    ),
];

#[test]
fn cohesion_counts_groups_of_methods_with_nothing_in_common() {
    for (name, text) in SPLIT_CLASSES {
        let run = run(&[(name, text)]);
        let groups: Vec<u32> = run.units.iter().filter_map(|unit| unit.lcom4).collect();
        assert_eq!(groups, [2], "{name}");
    }
}

/// A class `A` that names the classes `B` and `C`, one of them twice, and itself.
const COUPLED_CLASSES: [(&str, &str); 9] = [
    (
        "a.py",
        "class B: pass\nclass C: pass\nclass A(B):\n    def f(self):\n        return [B(), C(), A(), other.D()]\n",
    ),
    (
        "a.js",
        "class B {}\nclass C {}\nclass A extends B {\n  f() { return [new B(), new C(), new A()]; }\n}\n",
    ),
    (
        "a.ts",
        "class B {}\nclass C {}\nclass A extends B {\n  c: C;\n  f(): A { return new A(new B()); }\n}\n",
    ),
    ("A.java", "class B {}\nclass C {}\nclass A extends B {\n  C c; B b;\n  A f() { return new A(); }\n}\n"),
    ("A.cs", "class B {}\nclass C {}\nclass A : B {\n  C c; B b;\n  A F() { return new A(); }\n}\n"),
    ("a.kt", "class B\nclass C\nclass A : B() {\n  val c = C()\n  fun f(): A = A()\n}\n"),
    ("a.rb", "class B\nend\nclass C\nend\nclass A < B\n  def f\n    [B.new, C.new, A.new]\n  end\nend\n"),
    (
        "a.php",
        "<?php\nclass B {}\nclass C {}\nclass A extends B {\n  function f() { return [new B(), new C(), new A()]; }\n}\n",
    ),
    ("a.cpp", "class B {};\nclass C {};\nclass A : public B {\n  C c; B b;\n  A f() { return A(); }\n};\n"),
];

#[test]
fn coupling_counts_the_other_classes_that_a_class_names() {
    for (name, text) in COUPLED_CLASSES {
        let run = run(&[(name, text)]);
        let coupling = |symbol: &str| run.units.iter().find(|unit| unit.symbol == symbol)?.coupling;
        assert_eq!((coupling("A"), coupling("B")), (Some(2), Some(0)), "{name}");
    }
}

#[test]
fn a_class_couples_to_classes_of_files_that_it_can_reach_only() {
    let uses = "from b import B\n\nclass A:\n    def f(self):\n        return B(), Far()\n";
    let run = run(&[("a.py", uses), ("b.py", "class B: pass\n"), ("far.py", "class Far: pass\n")]);
    let class = run.units.iter().find(|unit| unit.symbol == "A").expect("the class");
    assert_eq!(class.coupling, Some(1));
}

#[test]
fn a_class_that_names_too_many_others_is_a_finding() {
    let classes = (0..20).map(|n| format!("class C{n}: pass\n")).collect::<Vec<_>>().concat();
    let uses = (0..20).map(|n| format!("        C{n}()\n")).collect::<Vec<_>>().concat();
    let run = run(&[("a.py", &format!("{classes}class A:\n    def f(self):\n{uses}"))]);
    let found = findings(&run, FindingFamily::Coupling);
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].locations[0].symbol.as_str(), found[0].value), ("A", Some(20)));
}

#[test]
fn branches_with_the_same_content_are_found_in_every_language() {
    let body = "first(a, b, 1); second(b, a, 2); third(c);";
    let cases = [
        ("a.js", format!("function f(x) {{ if (x) {{ {body} }} else if (y) {{ other(); }} else {{ {body} }} }}")),
        ("a.ts", format!("function f(x) {{ switch (x) {{ case 1: {body} break; case 2: {body} break; }} }}")),
        ("a.rs", format!("fn f(x: u32) {{ match x {{ 1 => {{ {body} }} 2 => {{ {body} }} _ => {{}} }} }}")),
        ("a.go", format!("package a\nfunc f(x int) {{\nif x > 1 {{ {body} }} else {{ {body} }}\n}}")),
        ("A.java", format!("class A {{ void f(int x) {{ if (x > 1) {{ {body} }} else {{ {body} }} }} }}")),
        ("a.c", format!("void f(int x) {{ if (x) {{ {body} }} else {{ {body} }} }}")),
        ("a.cpp", format!("void f(int x) {{ switch (x) {{ case 1: {body} break; case 2: {body} break; }} }}")),
        ("A.cs", format!("class A {{ void F(int x) {{ if (x > 1) {{ {body} }} else {{ {body} }} }} }}")),
        ("a.php", format!("<?php function f($x) {{ if ($x) {{ {body} }} else {{ {body} }} }}")),
        ("a.kt", format!("fun f(x: Int) {{ if (x > 1) {{ {body} }} else {{ {body} }} }}")),
        ("b.rb", "def f(x)\n  case x\n  when 1\n    a(b, 1)\n    c(d, 2, 3)\n  when 2\n    a(b, 1)\n    c(d, 2, 3)\n  end\nend\n".to_owned()),
        ("a.rb", "def f(x)\n  if x\n    a(b, 1)\n    c(d, 2, 3)\n  else\n    a(b, 1)\n    c(d, 2, 3)\n  end\nend\n".to_owned()),
        ("a.py", "def f(x):\n    if x:\n        a(b, 1)\n        c(d, 2, 3)\n    else:\n        a(b, 1)\n        c(d, 2, 3)\n".to_owned()),
    ];
    for (name, text) in cases {
        let run = run(&[(name, &text)]);
        assert_eq!(findings(&run, FindingFamily::DuplicatedBranches).len(), 1, "{name}: {:?}", run.findings);
    }
}

#[test]
fn hidden_code_without_a_use_is_dead_in_every_language() {
    let cases = [
        (
            "a.rs",
            "fn used() {}\nfn unused() { used() }\npub fn api() { used() }\n#[test]\nfn check() {}\nfn main() {}\n",
            "unused",
        ),
        (
            "a.ts",
            "import x from './a';\nfunction used() { return x; }\nfunction unused() { return used(); }\nexport function api() { used(); }\n",
            "unused",
        ),
        (
            "a.go",
            "package a\nfunc used() {}\nfunc unused() { used() }\nfunc Api() { used() }\nfunc init() {}\n",
            "unused",
        ),
        (
            "A.java",
            "public class A { public void api() { used(); } private void used() {} private void unused() { used(); } @Override public String toString() { return a(A.class); } }",
            "A.unused",
        ),
        (
            "a.c",
            "#define CALL(x) in_macro(x, 1)\nstatic void in_macro(int a, int b) {}\nstatic void used(void) {}\nstatic void unused(void) { used(); }\nvoid api(void) { used(); }\nint main(void) { return 0; }\n",
            "unused",
        ),
        (
            "A.cs",
            "public class A { public void Api() { Used(); } void Used() {} void Unused() { Used(); } static void Main() {} }",
            "A.Unused",
        ),
        (
            "a.php",
            "<?php class A { public function api() { $this->used(); } private function used() {} private function unused() { $this->used(); } }",
            "A.unused",
        ),
        (
            "a.kt",
            "class A {\n  fun api() { used() }\n  private fun used() {}\n  private fun unused() { used() }\n}\nfun main() {}\n",
            "A.unused",
        ),
    ];
    for (name, text, expected) in cases {
        let run = run(&[(name, text)]);
        assert_eq!(dead(&run), [expected], "{name}");
    }
}

#[test]
fn a_function_that_only_calls_itself_is_dead() {
    let run = run(&[("a.py", "def _down(n):\n    return _down(n - 1) if n else 0\n")]);
    assert_eq!(dead(&run), ["_down"]);
}

#[test]
fn a_copy_does_not_keep_its_original_alive() {
    let text = "def _down(n):\n    if n > 1:\n        log(n)\n    return _down(n - 1)\n";
    let alone = run(&[("a.py", text)]);
    let copied = run(&[("a.py", text), ("b.py", &format!("{text}\nx = 1\n"))]);
    assert_eq!(dead(&alone), ["_down"]);
    assert_eq!(dead(&copied), ["_down", "_down"]);
}

#[test]
fn an_unknown_language_is_listed_as_not_analyzed() {
    let run = run(&[("a.py", "x = 1\n"), ("b.zig", "const x = 1;\n")]);
    assert_eq!(run.file_counts(), (1, 1, 0));
    assert_eq!(run.files[1].notes[0].as_str(), "unknown_language");
}
