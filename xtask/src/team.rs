//! Gets etcd for the tests of teams, and puts real members through faults.

use crate::ChoreResult;
use std::path::{Path, PathBuf};
use std::process::Command;

const PACKAGE: &str = "etcd-server";
/// How the address of a mirror ends, the suites that have a version without known loss of data, and their component.
const DISTRIBUTIONS: [(&str, [&str; 2], &str); 2] =
    [("/debian", ["trixie", "sid"], "main"), ("/ubuntu", ["questing", "resolute"], "universe")];
const MAX_ATTEMPTS: usize = 3;

/// Installs etcd below `target/team/etcd`, from the mirror that this machine's own packages come from. Needs no rights:
/// nothing is installed into the system.
pub(crate) fn install() -> ChoreResult {
    let place = crate::root().join("target/team");
    let program = place.join("etcd/usr/bin/etcd");
    if program.is_file() {
        return Ok(());
    }
    let mirror = mirror_of_machine(Path::new("/etc/apt")).ok_or(
        "this machine gets no packages from Debian or Ubuntu: install etcd 3.5.13 or later, and name it in PROBITY_ETCD",
    )?;
    let mut faults = Vec::new();
    for suite in mirror.suites {
        for _ in 0..MAX_ATTEMPTS {
            match install_from(&place, &mirror, suite) {
                Ok(()) => {
                    eprintln!("── etcd of {suite}: {}", program.display());
                    return Ok(());
                }
                Err(fault) => faults.push(format!("{suite}: {fault}")),
            }
        }
    }
    faults.dedup();
    Err(format!(
        "etcd could not be downloaded; name a program in PROBITY_ETCD instead\n  {}",
        faults.join("\n  ")
    ))
}

fn install_from(place: &Path, mirror: &AptSource, suite: &str) -> ChoreResult {
    let apt = place.join(format!("apt-{suite}"));
    for part in ["lists/partial", "cache/archives/partial"] {
        std::fs::create_dir_all(apt.join(part)).map_err(|error| format!("{}: {error}", apt.display()))?;
    }
    let sources = apt.join("sources.list");
    let signed = mirror.signed_by.as_ref().map_or_else(String::new, |key| format!("[signed-by={key}] "));
    std::fs::write(&sources, format!("deb {signed}{} {suite} {}\n", mirror.uri, mirror.component))
        .map_err(|error| format!("{}: {error}", sources.display()))?;
    let apt_get = |words: &[&str]| {
        let mut command = Command::new("apt-get");
        command.current_dir(&apt).arg("-q");
        for (name, value) in [
            ("Dir::Etc::sourcelist", sources.clone()),
            ("Dir::Etc::sourceparts", PathBuf::from("-")),
            ("Dir::State::lists", apt.join("lists")),
            ("Dir::Cache", apt.join("cache")),
        ] {
            command.arg("-o").arg(format!("{name}={}", value.display()));
        }
        run(command.args(["-o", "Acquire::Retries=3", "-o", "Acquire::Languages=none"]).args(words))
    };
    apt_get(&["update"])?;
    apt_get(&["download", PACKAGE])?;
    let package = std::fs::read_dir(&apt)
        .map_err(|error| error.to_string())?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .find(|path| path.extension().is_some_and(|extension| extension == "deb"))
        .ok_or("apt-get downloaded nothing")?;
    let unpacked = place.join(format!("unpacked-{suite}"));
    run(Command::new("dpkg").arg("-x").arg(&package).arg(&unpacked))?;
    run(Command::new(unpacked.join("usr/bin/etcd")).arg("--version"))?;
    let _ = std::fs::remove_dir_all(place.join("etcd"));
    std::fs::rename(&unpacked, place.join("etcd")).map_err(|error| error.to_string())?;
    let _ = std::fs::remove_dir_all(&apt);
    Ok(())
}

fn run(command: &mut Command) -> ChoreResult {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|error| format!("{name} could not be started: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let words = String::from_utf8_lossy(&output.stderr);
    let last = words.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("it said nothing");
    Err(format!("{name} failed: {last}"))
}

/// Where this machine gets its packages.
#[derive(Debug, PartialEq, Eq)]
struct AptSource {
    uri: String,
    signed_by: Option<String>,
    suites: [&'static str; 2],
    component: &'static str,
}

impl AptSource {
    /// Returns the source if its address ends as the mirrors of a known distribution do.
    fn new(uri: &str, signed_by: Option<String>) -> Option<Self> {
        let found = DISTRIBUTIONS.iter().find(|(end, ..)| uri.trim_end_matches('/').ends_with(end));
        found.map(|(_, suites, component)| Self {
            uri: uri.to_owned(),
            signed_by,
            suites: *suites,
            component,
        })
    }
}

/// Finds the mirror in the machine's own sources, so that none is written down here.
fn mirror_of_machine(apt: &Path) -> Option<AptSource> {
    let mut files = vec![apt.join("sources.list")];
    let parts = std::fs::read_dir(apt.join("sources.list.d")).into_iter().flatten().flatten();
    files.extend(parts.map(|entry| entry.path()));
    files.iter().filter_map(|file| std::fs::read_to_string(file).ok()).find_map(|text| source_in(&text))
}

/// Returns the first source of a known distribution, in either form of apt's files.
fn source_in(text: &str) -> Option<AptSource> {
    for stanza in text.split("\n\n") {
        let member = |name: &str| {
            let line = stanza.lines().find_map(|line| line.strip_prefix(name));
            line.map(|value| value.trim().to_owned())
        };
        let signed_by = member("Signed-By:").filter(|key| key.starts_with('/'));
        let uris = member("URIs:").unwrap_or_default();
        let found = uris.split_whitespace().find_map(|uri| AptSource::new(uri, signed_by.clone()));
        if found.is_some() {
            return found;
        }
    }
    text.lines().find_map(|line| {
        let rest = line.strip_prefix("deb ")?.trim_start();
        let (options, rest) = match rest.strip_prefix('[') {
            Some(rest) => rest.split_once(']')?,
            None => ("", rest),
        };
        let signed_by = options.split_whitespace().find_map(|option| option.strip_prefix("signed-by="));
        AptSource::new(rest.split_whitespace().next()?, signed_by.map(str::to_owned))
    })
}

/// Runs the table of faults on real members, `rounds` times; both judges look at every history.
pub(crate) fn faults(rounds: usize) -> ChoreResult {
    long_tests("faults::", &[], &[("PROBITY_FAULT_ROUNDS", &rounds.to_string())])
}

/// Breaks a cluster every few seconds while claims go on.
pub(crate) fn soak(minutes: u64, seed: Option<u64>) -> ChoreResult {
    let (minutes, seed) = (minutes.to_string(), seed.map(|seed| seed.to_string()));
    let mut variables = vec![("PROBITY_SOAK_MINUTES", &*minutes)];
    variables.extend(seed.as_deref().map(|seed| ("PROBITY_SOAK_SEED", seed)));
    long_tests("soak::", &["--release"], &variables)
}

/// Measures claims on real members beside the embedded store: of the ports alone, then with the rules and real processes.
pub(crate) fn bench() -> ChoreResult {
    long_tests("bench::", &["--release"], &[])?;
    crate::cargo("team", &["bench", "--quiet", "--package", "probity-changes", "--bench", "team"], &[])
}

/// Simulates large teams.
pub(crate) fn numbers() -> ChoreResult {
    crate::cargo(
        "numbers",
        &["bench", "--quiet", "--package", "probity-changes", "--bench", "team_size"],
        &[],
    )
}

fn long_tests(filter: &str, options: &[&str], variables: &[(&str, &str)]) -> ChoreResult {
    install()?;
    let test = ["test", "--package", "probity-team", "--test", "etcd"];
    let words =
        [&test[..], options, &["--", filter, "--ignored", "--nocapture", "--test-threads=1"]].concat();
    crate::cargo(filter.trim_end_matches(':'), &words, variables)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mirror_is_found_in_both_forms_of_sources() {
        let new = "Types: deb\nURIs: http://mirror.example/other\nSuites: a\n\n\
                   Types: deb\nURIs: http://mirror.example/debian\nSuites: a\nSigned-By: /k.gpg\n";
        let found = source_in(new).expect("is found");
        assert_eq!(
            (&*found.uri, found.signed_by.as_deref()),
            ("http://mirror.example/debian", Some("/k.gpg"))
        );
        assert_eq!(found.component, "main");
        let old = "# deb http://no.example/debian a main\ndeb [arch=amd64 signed-by=/k] http://m.example/debian/ a main\n";
        let found = source_in(old).expect("is found");
        assert_eq!((&*found.uri, found.signed_by.as_deref()), ("http://m.example/debian/", Some("/k")));
        assert_eq!(
            source_in("deb http://m.example/ubuntu a main\n").expect("is found").component,
            "universe"
        );
        assert_eq!(source_in("deb http://m.example/other a main\n"), None);
    }
}
