//! `cargo xtask dist`: builds the packages of a release below `target/dist`, each from the same static program.

mod attestation;
mod package_files;
mod sbom;

use crate::{ChoreResult, root, target};
use package_files::{PackageLayout, copy_program, write_file};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What is built, and from what.
pub struct ReleaseBuild {
    /// The cargo profile.
    pub profile: String,
    /// Only the archive and its checksum, for systems without the tools of the other packages.
    pub archive_only: bool,
    /// Makes packages of programs that are built already.
    pub packages_only: bool,
}

/// Builds everything and lists it with its size.
pub fn dist(release: &ReleaseBuild) -> ChoreResult {
    let target_name = host_target()?;
    let layout = PackageLayout {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        programs: built_programs(&target_name, &release.profile),
        target: target_name,
        work: std::env::temp_dir().join(format!("probity-dist-{}", std::process::id())),
        out: target().join("dist"),
    };
    if release.packages_only {
        let made = packages_of(&layout, release.archive_only);
        return made.and(remove(&layout.work));
    }
    build_programs(&layout, &release.profile)?;
    remove(&layout.out)?;
    fs::create_dir_all(&layout.out).map_err(|error| format!("{}: {error}", layout.out.display()))?;
    let this_program = std::env::current_exe().map_err(|error| format!("xtask: {error}"))?;
    let mut packaging = vec![this_program.as_os_str()];
    packaging.extend(["dist", "--packages-only", "--profile", &release.profile].map(OsStr::new));
    if release.archive_only {
        packaging.push(OsStr::new("--archive-only"));
    }
    attestation::govern_packaging(&layout, &packaging)?;
    list(&layout)
}

fn packages_of(layout: &PackageLayout, archive_only: bool) -> ChoreResult {
    archive(layout)?;
    if !archive_only {
        debian_package(layout)?;
        wheel(layout)?;
        npm_packages(layout)?;
        sbom::write(layout)?;
    }
    checksums(layout)
}

fn remove(directory: &Path) -> ChoreResult {
    match fs::remove_dir_all(directory) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(format!("{}: {error}", directory.display()))
        }
        _ => Ok(()),
    }
}

fn host_target() -> Result<String, String> {
    let answer = output(Command::new("rustc").arg("-vV"), "rustc -vV")?;
    let host = answer.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).ok_or_else(|| "rustc names no host".to_owned())
}

/// Returns where cargo puts the programs.
fn built_programs(target_name: &str, profile: &str) -> [PathBuf; 2] {
    let directory = target().join(target_name).join(if profile == "dev" { "debug" } else { profile });
    [directory.join("probity"), directory.join("probity-hook")]
}

/// Builds the programs. On Linux they are static, so that they start on any distribution; nowhere do they contain a
/// path of the machine that built them.
fn build_programs(layout: &PackageLayout, profile: &str) -> ChoreResult {
    let host = &layout.target;
    let home = std::env::var("CARGO_HOME").or_else(|_| std::env::var("HOME").map(|home| home + "/.cargo"));
    let mut places = vec![(format!("{}/", root().display()), "/probity/")];
    if let Ok(home) = home {
        places.push((format!("{home}/registry/src/"), "/crates/"));
    }
    let mut flags: Vec<String> =
        places.iter().map(|(place, shown)| format!("--remap-path-prefix={place}={shown}")).collect();
    // Assertions in C name their file, too.
    let mut c_flags = std::env::var("CFLAGS").unwrap_or_default();
    for (place, shown) in &places {
        c_flags.push_str(&format!(" -ffile-prefix-map={place}={shown}"));
    }
    if host.contains("linux") {
        flags.extend(["-Ctarget-feature=+crt-static", "-Crelocation-model=static"].map(str::to_owned));
    }
    let words =
        ["build", "--locked", "--package", "probity", "--package", "probity-hook", "--profile", profile];
    // With an explicit target the flags do not reach build scripts and macros, which cannot be static.
    let mut command = Command::new(env!("CARGO"));
    command.args(words).args(["--target", host]).env("CARGO_ENCODED_RUSTFLAGS", flags.join("\u{1f}"));
    run(command.current_dir(root()).env("CFLAGS", c_flags.trim()), "build")?;
    let places: Vec<&str> = places.iter().map(|(place, _)| place.as_str()).collect();
    layout.programs.iter().try_for_each(|program| check_places(program, &places))
}

/// Fails if a program names a directory of the machine that built it.
fn check_places(program: &Path, places: &[&str]) -> ChoreResult {
    let bytes = fs::read(program).map_err(|error| format!("{}: {error}", program.display()))?;
    for place in places {
        if let Some(at) = bytes.windows(place.len()).position(|window| window == place.as_bytes()) {
            let text: Vec<u8> =
                bytes[at..].iter().copied().take_while(u8::is_ascii_graphic).take(200).collect();
            let text = String::from_utf8_lossy(&text).into_owned();
            return Err(format!("{}: names a place of this machine: {text}", program.display()));
        }
    }
    Ok(())
}

fn archive(layout: &PackageLayout) -> ChoreResult {
    let name = format!("probity-{}-{}", layout.version, layout.target);
    let tree = layout.work.join("archive").join(&name);
    layout.install_below(&tree, "bin", "share")?;
    for page in
        ["README.md", "LICENSE-MIT", "LICENSE-APACHE", "CHANGELOG.md", "SECURITY.md", "SHORTCOMINGS.md"]
    {
        fs::copy(root().join(page), tree.join(page)).map_err(|error| format!("{page}: {error}"))?;
    }
    let mut tar = Command::new("tar");
    tar.args(["--create", "--gzip", "--owner=0", "--group=0", "--numeric-owner", "--sort=name", "--file"]);
    tar.arg(layout.out.join(format!("{name}.tar.gz"))).arg("--directory").arg(layout.work.join("archive"));
    run(tar.arg(&name), "archive")
}

fn debian_package(layout: &PackageLayout) -> ChoreResult {
    let tree = layout.work.join("deb");
    layout.install_below(&tree.join("usr"), "bin", "share")?;
    let copyright = "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n\
                     Upstream-Name: probity\n\nFiles: *\nCopyright: The developers of Probity\n\
                     License: MIT or Apache-2.0\n";
    write_file(&tree.join("usr/share/doc/probity/copyright"), copyright)?;
    let control = format!(
        "Package: probity\nVersion: {}-1\nArchitecture: amd64\nMaintainer: The developers of Probity \
         <security@probity.dev>\nDepends: git\nSection: devel\nPriority: optional\nHomepage: \
         https://probity.dev\nDescription: Change control for AI coding agents\n You say what a change may \
         touch; Probity seals that, lets the agent work in a\n private view of the tree, finds out from the tree \
         what really changed, judges it,\n and leaves evidence that anyone can check.\n",
        layout.version
    );
    write_file(&tree.join("DEBIAN/control"), &control)?;
    let package = layout.out.join(format!("probity_{}-1_amd64.deb", layout.version));
    // Debian 11 cannot read zstd.
    run(
        Command::new("dpkg-deb").args(["--root-owner-group", "-Zxz", "--build"]).arg(&tree).arg(package),
        "Debian package",
    )
}

fn wheel(layout: &PackageLayout) -> ChoreResult {
    let script = root().join("packaging/python/build_wheel.py");
    let mut command = Command::new("python3");
    command.arg(script).arg(&layout.version).arg(&layout.out).args(&layout.programs);
    run(&mut command, "Python wheel")
}

/// Packs the package with the program and the one that people install, which depends on it.
fn npm_packages(layout: &PackageLayout) -> ChoreResult {
    let templates = root().join("packaging/npm");
    for name in ["linux-x64", "probity"] {
        let tree = layout.work.join("npm").join(name);
        fs::create_dir_all(&tree).map_err(|error| format!("{}: {error}", tree.display()))?;
        let directory = templates.join(name);
        let files = fs::read_dir(&directory).map_err(|error| format!("{}: {error}", directory.display()))?;
        for file in files.flatten() {
            let text = fs::read_to_string(file.path()).map_err(|error| error.to_string())?;
            write_file(&tree.join(file.file_name()), &text.replace("0.0.0", &layout.version))?;
        }
        if name == "linux-x64" {
            for program in &layout.programs {
                copy_program(program, &tree.join("bin"))?;
            }
        }
        let mut pack = Command::new("npm");
        pack.args(["pack", "--silent", "--pack-destination"]).arg(&layout.out).arg(&tree);
        run(&mut pack, "npm package")?;
    }
    Ok(())
}

fn packages(layout: &PackageLayout) -> Result<Vec<PathBuf>, String> {
    let entries = fs::read_dir(&layout.out).map_err(|error| format!("{}: {error}", layout.out.display()))?;
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.sort();
    Ok(files)
}

fn checksums(layout: &PackageLayout) -> ChoreResult {
    let files = packages(layout)?;
    let names: Vec<&OsStr> = files.iter().filter_map(|file| file.file_name()).collect();
    let mut command = Command::new(if cfg!(target_os = "macos") { "shasum" } else { "sha256sum" });
    if cfg!(target_os = "macos") {
        command.args(["-a", "256"]);
    }
    let sums = output(command.args(&names).current_dir(&layout.out), "checksums")?;
    write_file(&layout.out.join("SHA256SUMS"), &sums)
}

fn list(layout: &PackageLayout) -> ChoreResult {
    for file in packages(layout)? {
        let n_bytes = fs::metadata(&file).map_err(|error| format!("{}: {error}", file.display()))?.len();
        eprintln!("{:>12} bytes  {}", n_bytes, file.display());
    }
    Ok(())
}

fn run(command: &mut Command, what: &str) -> ChoreResult {
    eprintln!("── {what}");
    let status = command.status().map_err(|error| format!("{what}: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{what} failed: {status}")) }
}

fn output(command: &mut Command, what: &str) -> Result<String, String> {
    let output = command.output().map_err(|error| format!("{what}: {error}"))?;
    if !output.status.success() {
        return Err(format!("{what} failed: {}", String::from_utf8_lossy(&output.stderr)));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Prints the mode of every program of a wheel, as pip reads it.
    const PROGRAM_MODES: &str = "import stat, sys, zipfile\n\
        for entry in zipfile.ZipFile(sys.argv[1]).infolist():\n\
        \x20   if '/scripts/' in entry.filename: print(stat.filemode(entry.external_attr >> 16))\n";

    #[test]
    fn a_program_that_names_a_place_of_the_machine_is_found() {
        let program = target().join(format!("places-test-{}", std::process::id()));
        fs::create_dir_all(target()).expect("is made");
        fs::write(&program, b"\0/crates/a.c\0/home/ann/.cargo/registry/src/b.c\0").expect("is written");
        let found = check_places(&program, &["/srv/probity/", "/home/ann/.cargo/registry/src/"]);
        let clean = check_places(&program, &["/srv/probity/"]);
        fs::remove_file(&program).expect("is removed");
        assert!(found.expect_err("a place is named").ends_with("/home/ann/.cargo/registry/src/b.c"));
        assert_eq!(clean, Ok(()));
    }

    #[test]
    fn the_programs_of_a_wheel_can_be_executed() {
        let directory = target().join(format!("wheel-test-{}", std::process::id()));
        fs::create_dir_all(&directory).expect("is made");
        let program = directory.join("probity");
        fs::write(&program, "program").expect("is written");
        let mut build = Command::new("python3");
        build.arg(root().join("packaging/python/build_wheel.py")).arg("0.1.0").args([&directory, &program]);
        assert!(build.status().expect("python3 starts").success());
        let files = fs::read_dir(&directory).expect("is read").flatten().map(|entry| entry.path());
        let wheel =
            files.into_iter().find(|file| file.extension() == Some(OsStr::new("whl"))).expect("a wheel");
        let modes =
            output(Command::new("python3").args(["-c", PROGRAM_MODES]).arg(wheel), "wheel").expect("is read");
        remove(&directory).expect("is removed");
        assert_eq!(modes, "-rwxr-xr-x\n");
    }
}
