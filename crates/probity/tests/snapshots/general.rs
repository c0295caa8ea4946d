//! What holds for every command: help, version, wrong usage, the manual page, completions.

use crate::coverage::subcommands;
use crate::harness::{Form, Scene, story};

const AREA: &str = "general";

/// The help of a command and of all below it.
fn help(scene: &Scene, path: &[&str]) {
    let name = if path.is_empty() { "probity".into() } else { path.join("_") };
    scene.case_of_words(&name, &[path, &["--help"]].concat());
    for command in subcommands(path) {
        help(scene, &[path, &[command.as_str()]].concat());
    }
}

#[test]
fn every_command_has_a_help_page() {
    help(&Scene::new("help", "help", Form::Human), &[]);
}

#[test]
fn a_wrong_command_line_is_refused_with_a_hint() {
    story(AREA, "usage", |scene| {
        scene.case("nothing", &[]);
        scene.case("unknown_command", &["rum"]);
        scene.case("unknown_option", &["--nonsense"]);
        scene.case("group_without_a_command", &["evidence"]);
        scene.case("unknown_command_of_a_group", &["evidence", "verfy"]);
        scene.case("no_such_root", &["--root", "nowhere", "status"]);
        scene.case("unknown_shell", &["completions", "nonsense"]);
    });
}

#[test]
fn words_that_are_no_document() {
    let scene = Scene::new(AREA, "words", Form::Human);
    scene.case_of_words("short_help", &["-h"]);
    scene.case_of_words("version", &["--version"]);
    scene.case_of_words("help_of_a_command", &["help", "run"]);
    scene.case_of_words("help_of_nothing", &["help", "nonsense"]);
}

#[test]
fn completions_and_the_manual_page_are_printed() {
    // What the shells read is made by others and long: only that something is there belongs to the face.
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        story(AREA, "completions", |scene| scene.case_of_presence(shell, &["completions", shell]));
    }
    story(AREA, "man", |scene| scene.case_of_presence("page", &["man"]));
}
