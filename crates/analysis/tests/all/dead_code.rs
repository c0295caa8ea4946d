//! Dead code in each language, and code that only looks dead.

use crate::common::{findings, run};
use probity_analysis::{FindingFamily, Severity};

/// Returns the symbols that are called dead, with the severity.
fn dead(files: &[(&str, &str)]) -> Vec<(String, Severity)> {
    let run = run(files);
    let found = findings(&run, FindingFamily::DeadCode);
    found.iter().map(|found| (found.locations[0].symbol.clone(), found.severity)).collect()
}

fn dead_names(files: &[(&str, &str)]) -> Vec<String> {
    dead(files).into_iter().map(|(name, _)| name).collect()
}

#[test]
fn a_decorator_that_hands_the_function_to_nobody_does_not_keep_it() {
    let text = r"
class Store:
    @staticmethod
    def _checksum(rows):
        return sum(rows)

    @classmethod
    def _build(cls, rows):
        return cls(rows)

    @property
    def _size(self):
        return 3

    @staticmethod
    def _used(rows):
        return rows

    def load(self, rows):
        return self._used(rows)


@functools.lru_cache(maxsize=None)
def _cached(key):
    return key


@app.task
def _registered(key):
    return key


@pytest.fixture
def _fixture():
    return 1
";
    assert_eq!(dead_names(&[("a.py", text)]), ["Store._checksum", "Store._build", "Store._size", "_cached"]);
}

#[test]
fn annotations_of_java_that_only_inform_do_not_keep_a_method() {
    let text = r#"
public class Store {
    @SuppressWarnings("unchecked")
    private static int sum(int a) { return a; }

    @SuppressWarnings("unused")
    private int kept(int a) { return a; }

    @PostConstruct
    private void init() { run(); }

    @Nullable
    private Object other() { return null; }

    public void run() { }
}
"#;
    assert_eq!(dead_names(&[("Store.java", text)]), ["Store.sum", "Store.other"]);
}

#[test]
fn a_constant_that_is_a_function_is_one() {
    let text = r#"
import { load } from "./load";

const unused = (rows: number[]): number => rows.length;
const used = async (rows: number[]) => rows.length;
const typed: Handler<Row> = function (rows) {
  return rows;
};
export const open = () => load(used);
const listed = () => 1;
const Button = () => <b>x</b>;
const table = { listed, other: () => 2 };
export default function Page() {
  const inner = () => 3;
  return <Button table={table} />;
}
"#;
    assert_eq!(dead_names(&[("a.tsx", text)]), ["unused", "typed", "Page.inner"]);
}

#[test]
fn hidden_members_of_classes_are_told_from_open_ones() {
    let text = r#"
import { load } from "./load";

class Rows {
  private unused = () => 1;
  #hidden = () => 2;
  private used = () => 3;
  open = () => load(this.used());
  #method() {
    return 4;
  }
  run() {
    return 5;
  }
}

export { Rows };
"#;
    assert_eq!(dead_names(&[("a.ts", text)]), ["Rows.unused", "Rows.#hidden", "Rows.#method"]);
}

#[test]
fn functions_that_are_values_are_called_by_those_that_get_them() {
    let script = r#"
import { add } from "./bench";

function helper() {
  return 1;
}

export function plugin() {
  return function middleware(request) {
    return request;
  };
}

add({
  enter(node) {
    return helper();
  },
});

declare global {
  interface WindowEventMap {
    saved: Event;
  }
}

class Rows {
  *[Symbol.iterator]() {
    yield 1;
  }
}

add(new Rows());
"#;
    let java = r"
public class Task {
    public Runnable task() {
        return new Runnable() {
            public void run() { stop(); }
            private void stop() { }
        };
    }
}
";
    assert_eq!(dead_names(&[("a.ts", script), ("Task.java", java)]), Vec::<String>::new());
}

#[test]
fn a_function_that_was_not_read_to_its_end_is_not_judged() {
    let text = "static int open_file(int a) {\n#ifdef A\n  if (a) {\n#else\n  if (!a) {\n#endif\n    return 1;\n  }\n  return 0;\n}\n\nint run(void) { return open_file(3); }\n";
    assert!(dead_names(&[("a.c", text)]).is_empty());
}

#[test]
fn a_type_of_go_is_not_kept_by_its_own_methods() {
    let text = r"package store

type cache struct{ rows map[string]int }

func newCache() *cache { return &cache{rows: map[string]int{}} }

func (c *cache) get(key string) int { return c.rows[key] }

func (c *cache) Len() int { return len(c.rows) }

type byAge []Person

func (b byAge) Len() int { return len(b) }

func (b byAge) Less(i, j int) bool { return b[i].Age < b[j].Age }

func Sorted(people []Person) { sort.Sort(byAge(people)) }
";
    let other = "package store\n\nfunc (c *cache) put(key string) { c.rows[key] = 1 }\n";
    assert_eq!(dead_names(&[("a.go", text), ("b.go", other)]), ["cache", "newCache"]);
}

#[test]
fn what_only_dead_code_uses_is_dead() {
    let text = "def _first():\n    return _second()\n\n\ndef _second():\n    return _third()\n\n\ndef _third():\n    return open\n\n\ndef run():\n    return 1\n";
    let run = run(&[("a.py", text)]);
    let found = findings(&run, FindingFamily::DeadCode);
    let messages: Vec<&str> = found.iter().map(|found| found.message.as_str()).collect();
    assert_eq!(
        messages,
        [
            "nothing in the project uses `_first`",
            "only unused code uses `_second`",
            "only unused code uses `_third`"
        ]
    );
}

#[test]
fn functions_of_one_shape_keep_each_other_alive() {
    let text = "def run():\n    return _first()\n\n\ndef _first():\n    return _second()\n\n\ndef _second():\n    return open()\n";
    assert!(dead_names(&[("a.py", text)]).is_empty());
}

#[test]
fn a_dead_method_does_not_take_its_living_class_along() {
    let text =
        "class _Node:\n    def _unused(self):\n        return _Node()\n\n\ndef run():\n    return _Node()\n";
    assert_eq!(dead_names(&[("a.py", text)]), ["_Node._unused"]);
}

#[test]
fn a_function_of_rust_that_only_its_tests_use_is_told_as_such() {
    let text = r"
pub fn open() -> u32 {
    used()
}

fn used() -> u32 {
    1
}

fn tested() -> u32 {
    2
}

#[cfg(test)]
mod tests {
    use super::*;

    fn helper() -> u32 {
        tested() + used()
    }

    #[test]
    fn it_works() {
        assert_eq!(helper(), 3);
    }
}
";
    let run = run(&[("src/a.rs", text)]);
    let found = findings(&run, FindingFamily::DeadCode);
    let told: Vec<(&str, Severity)> =
        found.iter().map(|found| (found.message.as_str(), found.severity)).collect();
    assert_eq!(told, [("only its own tests use `tested`", Severity::Info)]);
}

#[test]
fn names_that_are_looked_up_by_computed_text_are_at_most_mentioned() {
    let dispatch = r#"
def call(name):
    return globals()[f"_{name}"]()


def _open():
    return 1
"#;
    assert_eq!(dead(&[("a.py", dispatch)]), [("_open".to_owned(), Severity::Info)]);
    let other = "class Commands:\n    def _close(self):\n        return 2\n";
    let caller = "def call(target, name):\n    return getattr(target, f\"_{name}\")()\n";
    assert_eq!(dead(&[("a.py", caller), ("b.py", other)]), [("Commands._close".to_owned(), Severity::Info)]);
    let handlers = "class Commands:\n    def _on_close(self):\n        return 2\n\n    def call(self, name):\n        return getattr(self, '_on_' + name)()\n";
    assert!(dead(&[("b.py", handlers)]).is_empty());
}

#[test]
fn hooks_that_a_runtime_calls_are_alive() {
    let java = r"
class Saved implements java.io.Serializable {
    private void readObject(java.io.ObjectInputStream in) { in.read(); }
    private Object writeReplace() { return this; }
}
";
    let unity =
        "public class Player : MonoBehaviour {\n    void Update() { Move(); }\n    void Move() { }\n}\n";
    let table = "static int open_file(int a) { return a; }\nstatic int close_file(int a) { return a; }\n\nstruct ops table = { .open = open_file, .close = close_file };\n";
    for (name, text) in [("Saved.java", java), ("Player.cs", unity), ("table.c", table)] {
        assert!(dead(&[(name, text)]).is_empty(), "{name}: {:?}", dead(&[(name, text)]));
    }
}

#[test]
fn members_of_an_extension_block_of_c_sharp_are_open() {
    let plain = "public static class ClientExtensions {\n    extension(IClient client) {\n        public Response Delete(string path) => client.Run(path);\n\n        public Response Put(string path) {\n            return client.Run(path);\n        }\n    }\n}\n";
    let generic = "public static class ThrowExtension {\n    extension<T>(Response<T> response) {\n        public Response<T> Checked() {\n            return response;\n        }\n    }\n}\n";
    for (name, text) in [("Client.cs", plain), ("Throw.cs", generic)] {
        assert!(dead(&[(name, text)]).is_empty(), "{name}: {:?}", dead(&[(name, text)]));
    }
    let private =
        "public class Client {\n    private int Twice(int value) {\n        return value * 2;\n    }\n}\n";
    assert_eq!(dead_names(&[("Client.cs", private)]), ["Client.Twice"]);
}
