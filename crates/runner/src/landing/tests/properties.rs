//! Any tree can land on any other.

use super::*;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// A small tree.
#[derive(Debug, Clone, PartialEq)]
enum Node {
    File(String, u32),
    Link(String),
    Directory(BTreeMap<String, Node>, u32),
}

fn node() -> impl Strategy<Value = Node> {
    let file = ("[xyz]", prop::sample::select(vec![0o644, 0o755, 0o600]))
        .prop_map(|(text, mode)| Node::File(text, mode));
    let link = "[ab]".prop_map(Node::Link);
    let leaf = prop_oneof![3 => file, 1 => link];
    leaf.prop_recursive(3, 24, 4, |inner| {
        let children = prop::collection::btree_map("[abc]", inner, 0..4);
        (children, prop::sample::select(vec![0o755, 0o700]))
            .prop_map(|(children, mode)| Node::Directory(children, mode))
    })
}

fn top() -> impl Strategy<Value = BTreeMap<String, Node>> {
    prop::collection::btree_map("[abc]", node(), 0..4)
}

fn write(path: &Path, node: &Node) {
    match node {
        Node::File(text, mode) => {
            fs::write(path, text).expect("writes");
            fs::set_permissions(path, fs::Permissions::from_mode(*mode)).expect("sets the mode");
        }
        Node::Link(target) => symlink(target, path).expect("links"),
        Node::Directory(children, mode) => {
            fs::create_dir_all(path).expect("creates");
            for (name, child) in children {
                write(&path.join(name), child);
            }
            fs::set_permissions(path, fs::Permissions::from_mode(*mode)).expect("sets the mode");
        }
    }
}

/// Writes the layer that turns `before` into `after`. `opaque` chooses how directories on both sides are written.
fn write_layer(
    upper: &Writer,
    before: &BTreeMap<String, Node>,
    after: &BTreeMap<String, Node>,
    opaque: bool,
) {
    for name in before.keys().filter(|name| !after.contains_key(*name)) {
        upper.gone(name);
    }
    for (name, node) in after {
        let path = upper.0.join(name);
        match (before.get(name), node) {
            (Some(old), new) if old == new => {}
            (Some(Node::Directory(old, _)), Node::Directory(new, mode)) if !opaque => {
                fs::create_dir(&path).expect("creates");
                write_layer(&Writer(path.clone()), old, new, opaque);
                fs::set_permissions(&path, fs::Permissions::from_mode(*mode)).expect("sets the mode");
            }
            (old, Node::Directory(..)) => {
                write(&path, node);
                if old.is_some() {
                    upper.opaque(name);
                }
            }
            (_, node) => write(&path, node),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_tree_becomes_what_the_layer_wants(before in top(), after in top(), opaque: bool) {
        check_landing(&before, &after, opaque)?;
    }
}

fn check_landing(
    before: &BTreeMap<String, Node>,
    after: &BTreeMap<String, Node>,
    opaque: bool,
) -> Result<(), TestCaseError> {
    let (fixture, expected) = (Fixture::new(), Fixture::new());
    for (name, node) in before {
        write(&fixture.root().join(name), node);
    }
    for (name, node) in after {
        write(&expected.root().join(name), node);
    }
    let start = fixture.snapshot();
    write_layer(&fixture.in_layer(), before, after, opaque);
    prop_assert_eq!(fixture.wanted(&start).root(), expected.snapshot().root());
    let landed = matches!(fixture.land_since(&start).expect("answers"), LandingOutcome::Landed { .. });
    prop_assert!(landed);
    prop_assert_eq!(fixture.snapshot().root(), expected.snapshot().root());
    Ok(())
}

#[test]
fn a_directory_with_an_empty_one_inside_becomes_a_file() {
    let inner = Node::Directory(BTreeMap::new(), 0o755);
    let before =
        BTreeMap::from([("c".to_owned(), Node::Directory(BTreeMap::from([("a".to_owned(), inner)]), 0o755))]);
    let after = BTreeMap::from([("c".to_owned(), Node::File("text".into(), 0o644))]);
    check_landing(&before, &after, false).expect("it lands");
}
