//! The list of everything that the program is made of, in the CycloneDX form.

use super::package_files::{PackageLayout, write_file};
use crate::{ChoreResult, root};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

/// The members of `cargo metadata` that are needed.
#[derive(Deserialize)]
struct CargoMetadata {
    packages: Vec<CargoPackage>,
    resolve: CargoResolve,
}

#[derive(Deserialize)]
struct CargoPackage {
    id: String,
    name: String,
    version: String,
    license: Option<String>,
    source: Option<String>,
}

#[derive(Deserialize)]
struct CargoResolve {
    nodes: Vec<CargoNode>,
}

#[derive(Deserialize)]
struct CargoNode {
    id: String,
    deps: Vec<CargoDependency>,
}

#[derive(Deserialize)]
struct CargoDependency {
    pkg: String,
    dep_kinds: Vec<CargoDependencyKind>,
}

#[derive(Deserialize)]
struct CargoDependencyKind {
    /// `dev` or `build`; null for a part of the program.
    kind: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct BillOfMaterials {
    bom_format: &'static str,
    spec_version: &'static str,
    version: u32,
    metadata: BomMetadata,
    components: Vec<BomComponent>,
}

#[derive(Serialize)]
struct BomMetadata {
    component: BomComponent,
}

#[derive(Serialize)]
struct BomComponent {
    #[serde(rename = "type")]
    kind: &'static str,
    name: String,
    version: String,
    purl: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    licenses: Vec<BomLicense>,
}

#[derive(Serialize)]
struct BomLicense {
    expression: String,
}

/// Writes the list of the crates that are linked into the program.
pub(super) fn write(layout: &PackageLayout) -> ChoreResult {
    eprintln!("── bill of materials");
    let answer = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--locked", "--filter-platform", &layout.target])
        .current_dir(root())
        .output()
        .map_err(|error| format!("cargo metadata: {error}"))?;
    let metadata: CargoMetadata =
        serde_json::from_slice(&answer.stdout).map_err(|error| format!("cargo metadata: {error}"))?;
    let bill = bill_of(&metadata)?;
    let text = serde_json::to_string_pretty(&bill).map_err(|error| error.to_string())?;
    write_file(&layout.out.join(format!("probity-{}.cdx.json", layout.version)), &text)
}

fn bill_of(metadata: &CargoMetadata) -> Result<BillOfMaterials, String> {
    let packages: BTreeMap<&str, &CargoPackage> =
        metadata.packages.iter().map(|package| (package.id.as_str(), package)).collect();
    let nodes: BTreeMap<&str, &CargoNode> =
        metadata.resolve.nodes.iter().map(|node| (node.id.as_str(), node)).collect();
    let program =
        metadata.packages.iter().find(|package| package.name == "probity" && package.source.is_none());
    let program = program.ok_or("cargo metadata names no package `probity`")?;
    let mut linked = BTreeSet::new();
    let mut open = vec![program.id.as_str()];
    while let Some(id) = open.pop() {
        if linked.insert(id)
            && let Some(node) = nodes.get(id)
        {
            let is_part =
                |dependency: &&CargoDependency| dependency.dep_kinds.iter().any(|it| it.kind.is_none());
            open.extend(node.deps.iter().filter(is_part).map(|dependency| dependency.pkg.as_str()));
        }
    }
    linked.remove(program.id.as_str());
    let mut components: Vec<BomComponent> = linked
        .iter()
        .filter_map(|id| packages.get(id))
        .map(|package| component("library", package))
        .collect();
    components.sort_by(|left, right| (&left.name, &left.version).cmp(&(&right.name, &right.version)));
    Ok(BillOfMaterials {
        bom_format: "CycloneDX",
        spec_version: "1.5",
        version: 1,
        metadata: BomMetadata { component: component("application", program) },
        components,
    })
}

fn component(kind: &'static str, package: &CargoPackage) -> BomComponent {
    // Old manifests join licenses with a slash.
    let license = package.license.as_ref().map(|license| license.replace('/', " OR "));
    BomComponent {
        kind,
        name: package.name.clone(),
        version: package.version.clone(),
        purl: format!("pkg:cargo/{}@{}", package.name, package.version),
        licenses: license.map(|expression| BomLicense { expression }).into_iter().collect(),
    }
}
