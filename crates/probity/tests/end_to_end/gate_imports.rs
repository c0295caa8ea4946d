//! Packages that a gate loads from build outputs: new ones may be added, but edits to existing ones are reported.

use crate::repo::{Outcome, Repo};
use serde_json::json;

/// Files that the package managers of all ecosystems install: one of an existing package, one of an added package.
const PACKAGES: [[&str; 2]; 9] = [
    [".build/checkouts/nio/a.swift", ".build/checkouts/log/a.swift"],
    [".terraform/providers/host/a/p/1/os/p", ".terraform/providers/host/a/p/2/os/p"],
    [".yarn/unplugged/esbuild/i.js", ".yarn/unplugged/swc/i.js"],
    ["__pypackages__/3.12/lib/pytest/a.py", "__pypackages__/3.12/lib/attrs/a.py"],
    ["deps/plug/lib/plug.ex", "deps/jason/lib/jason.ex"],
    ["node_modules/mocha/i.js", "node_modules/@types/mocha/i.d.ts"],
    ["vendor/bundle/ruby/3.3.0/gems/rake/rake.rb", "vendor/bundle/ruby/3.3.0/gems/rspec/rspec.rb"],
    ["vendor/symfony/yaml/Yaml.php", "vendor/symfony/http/Http.php"],
    ["web/node_modules/mocha/i.js", "web/node_modules/chai/i.js"],
];

/// Files shared by all packages.
const PACKAGE_MAPS: [&str; 3] =
    [".dart_tool/package_config.json", "obj/App.csproj.nuget.g.targets", "vendor/autoload.php"];

const OUTPUTS: &str = r#"["**/node_modules/**", "**/__pypackages__/**", "**/.yarn/unplugged/**", "vendor/**", "deps/**", ".build/**",
    ".terraform/**", ".dart_tool/**", "obj/**", "**/*.egg-info/**", "build/**", "coverage/**", ".venv/**"]"#;

/// Creates a tree with every package installed, and one gate.
fn with_packages(gate: &[&str]) -> Repo {
    let repo = Repo::new();
    let gate = json!(gate);
    repo.write(
        "probity.toml",
        &format!("[workspace]\nbuild_outputs = {OUTPUTS}\n[[gate]]\nid = \"test\"\nrun = {gate}\n"),
    );
    repo.write("npm", "#!/bin/sh\nexit 0\n");
    repo.sh("chmod +x npm; git add . && git commit -q -m policy");
    for file in PACKAGES.iter().map(|[installed, _]| *installed).chain(PACKAGE_MAPS) {
        repo.write(file, "installed\n");
    }
    repo
}

fn edit(repo: &Repo, files: &[&str]) -> Outcome {
    let edits = files.iter().map(|file| format!("mkdir -p $(dirname '{file}'); echo edited >> '{file}'\n"));
    repo.run(&edits.collect::<String>())
}

#[test]
fn packages_of_every_ecosystem_may_be_added_and_not_edited() {
    let installed: Vec<&str> = PACKAGES.iter().map(|[installed, _]| *installed).chain(PACKAGE_MAPS).collect();
    let added = PACKAGES.map(|[_, added]| added);
    for gate in [&["sh", "-c", "true"][..], &["timeout", "60", "./npm", "test"]] {
        let repo = with_packages(gate);
        let outcome = edit(&repo, &added);
        outcome.passes();
        let findings = outcome.json["findings"].as_array().expect("findings");
        let told: Vec<_> = findings.iter().filter(|it| it["code"] == "GATE.INPUT_CHANGED").collect();
        // Gems use the same `vendor` directory as Composer, so it is reported once.
        assert_eq!(told.len(), PACKAGES.len() - 1, "{told:#?}");
        let mut expected = installed.clone();
        expected.sort_unstable();
        edit(&repo, &installed).is_out(&expected);
        let into_package = ["node_modules/mocha/lib/evil.js", "obj/App.csproj.evil.targets"];
        edit(&repo, &into_package).is_out(&into_package);
    }
    // A program that loads nothing from there relies on none of it.
    let repo = with_packages(&["true"]);
    edit(&repo, &installed).passes();
}

#[test]
fn a_wrapper_before_the_program_of_a_gate_hides_nothing() {
    for wrapper in
        ["env A=1", "timeout 60", "nice -n 1", "nohup", "setsid -w", "stdbuf -oL", "timeout 60 env -u A nice"]
    {
        let gate: Vec<&str> = wrapper.split(' ').chain(["./vendor/bin/check"]).collect();
        let repo = with_packages(&gate);
        repo.write("vendor/bin/check", "#!/bin/sh\nexit 1\n");
        repo.sh("chmod +x vendor/bin/check");
        let forged = "printf '#!/bin/sh\\nexit 0\\n' > vendor/bin/check";
        repo.run(forged).is_out(&["vendor/bin/check"]).finds("GATE.INPUT_CHANGED", "vendor/bin/check");
    }
    // The programs in a shell script count too.
    let repo = with_packages(&["sh", "-c", "cd . && build/check.sh"]);
    repo.write("build/check.sh", "#!/bin/sh\nexit 1\n");
    repo.sh("chmod +x build/check.sh");
    repo.run("printf '#!/bin/sh\\nexit 0\\n' > build/check.sh").is_out(&["build/check.sh"]);
}

#[test]
fn entry_points_that_name_plugins_are_judged_and_those_of_commands_are_not() {
    let list = "src/shop.egg-info/entry_points.txt";
    let repo = with_packages(&["true"]);
    let write = |groups: &str| {
        format!("mkdir -p src/shop.egg-info; printf '{groups}' > {list}; echo x > src/shop.egg-info/PKG-INFO")
    };
    repo.run(&write("[console_scripts]\\nshop = shop:main\\n")).passes();
    let planted = repo.run(&write("[console_scripts]\\nshop = shop:main\\n[pytest11]\\nevil = shop.evil\\n"));
    planted.is_out(&[list]);
    assert!(planted.json["findings"].to_string().contains("entry points that name plugins"), "{planted:#?}");
    assert_eq!(repo.ask(&["revert", "last"]).exit_code, Some(0));
    repo.sh(&format!("! grep pytest11 {list}"));
    repo.sh(&write("[pytest11]\\nhonest = shop.honest\\n"));
    // Removing a file that names plugins is also judged.
    repo.run(&format!("rm {list}")).is_out(&[list]);
    repo.run(&format!("ln -s ../../docs/d.md {list}")).is_out(&[list]);
}

#[test]
fn an_environment_that_appears_is_no_package_of_that_name() {
    let repo = Repo::new();
    repo.write("probity.toml", "[workspace]\nrecognize_outputs = true\n");
    repo.sh("git add . && git commit -q -m policy");
    let make = "mkdir -p env/lib env/pay; echo 'home = /usr/bin' > env/pyvenv.cfg; echo x > env/lib/a.py; ";
    repo.run(&format!("{make} echo x > env/pay/evil.py; echo x > env/__init__.py"))
        .is_out(&["env/__init__.py", "env/pay/evil.py"]);
}

#[test]
fn code_that_programs_load_by_its_name_is_no_build_output() {
    for file in [
        ".venv/lib/python3.12/site-packages/sitecustomize.py",
        "build/__init__.py",
        "coverage/__mocks__/fs.js",
        "coverage/conftest.py",
    ] {
        let repo = with_packages(&["true"]);
        edit(&repo, &[file, "coverage/lcov.info", "build/lib/shop/pay.py"]).is_out(&[file]);
    }
}
