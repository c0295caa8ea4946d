//! One change as one file: readable without a network, with its evidence inside.

use crate::assets::STYLE;
use crate::pages::evidence;
use crate::pages::findings;
use crate::pages::{change, change_files};
use crate::review_context::ReviewContext;
use crate::untrusted_text::{Untrusted, own_markup};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use maud::{DOCTYPE, html};
use probity_api::Answer;
use probity_core::{Digest, json};
use probity_review::{ChangeName, FileSides};
use probity_runner::bundles::{self, BundleFiles};
use probity_runner::log_proofs;
use probity_workspace::{ServiceError, Workspace};
use std::sync::Arc;

/// Changed lines above which a file is named without its rows.
const MAX_EXPORTED_LINES: usize = 5_000;

/// Renders the change that `name` means.
pub fn export(workspace: &Workspace, name: &str) -> Result<String, ServiceError> {
    let name = probity_review::find_change(workspace, name)?;
    let (review, contents) = probity_review::review_with_contents(workspace, &name)?;
    let decisions = probity_review::decisions(workspace, Some(&review.change))?;
    let log_size = probity_review::log_size(workspace)?;
    let findings = probity_review::change_findings(workspace, &review, &contents).ok().map(Arc::new);
    let context = ReviewContext { name, review, contents, decisions, log_size, findings };
    let mut files: Vec<(usize, FileSides)> = Vec::new();
    for (index, path) in context.review.paths.iter().enumerate() {
        if path.folded.is_none() && path.lines_added + path.lines_removed <= MAX_EXPORTED_LINES {
            files.push((index, change_files::sides_of(workspace, &context, index)?));
        }
    }
    let bundle = context.review.bundle.as_ref();
    let proof = bundle.and_then(|bundle| log_proofs::prove(workspace, bundle, None).ok());
    let embedded = embedded_evidence(workspace, &context)?;
    let style = STYLE.to_owned();
    let digest = STANDARD.encode(Digest::of(style.as_bytes()).as_bytes());
    let policy =
        format!("default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'");
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy);
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (Untrusted(&context.review.title)) " · Probity" }
                style { (own_markup(style)) }
            }
            body {
                (crate::pages::sprite())
                main id="main" {
                    (change::head(&context))
                    div.notice { p { "A copy of a review page. The evidence is inside: " code { "probity review verify FILE" } " checks it without trusting this page." } }
                    (change::exported_verdict(&context))
                    (change::details(&context))
                    @if let Some(found) = &context.findings { (findings::findings_card(&context.review, found, false)) }
                    (change_files::all_files(&context, &files))
                    (evidence::checks_card(&context.review.checks))
                    (evidence::proof_card(&context.review, proof.as_ref()))
                }
                // A template is never rendered and runs nothing.
                template id="probity-review" { (STANDARD.encode(json::canonical(&context.review.to_document()))) }
                @if let Some(proof) = &proof { template id="probity-proof" { (STANDARD.encode(json::canonical(&proof.to_document()))) } }
                @for (name, bytes) in &embedded {
                    template.probity-evidence data-name=(STANDARD.encode(name)) { (STANDARD.encode(bytes)) }
                }
            }
        }
        "\n"
    };
    Ok(with_own_links(page.into_string(), &context))
}

/// Lets links to other pages lead to what the file has of them. Texts cannot be taken for them: their quotation marks are
/// escaped.
fn with_own_links(mut page: String, context: &ReviewContext) -> String {
    let address = crate::pages::change_address(&context.review.change);
    for gate in 0..context.review.gates.len() {
        let link = format!("<a href=\"{address}/log/{gate}\">log</a>");
        page = page.replace(&link, "its log is in the evidence");
    }
    page.replace("<a href=\"/board\">Board</a> / ", "")
        .replace(&format!("href=\"{address}/evidence\""), "href=\"#checks\"")
        .replace(&format!("href=\"{address}/findings\""), "href=\"#findings\"")
}

/// The files of the bundle with the current judgment of a run; none for other changes.
fn embedded_evidence(workspace: &Workspace, context: &ReviewContext) -> Result<BundleFiles, ServiceError> {
    let ChangeName::Run(id) = &context.name else { return Ok(BundleFiles::new()) };
    let (run, _) = probity_runner::recorded_contents::RecordedRun::open(workspace, id)?;
    bundles::read(&workspace.state.evidence().join(&run.stored.manifest.run_id))
}

/// The evidence that an exported page carries.
#[derive(Debug, Default)]
pub struct ExportedEvidence {
    pub files: BundleFiles,
    pub proof: Option<Vec<u8>>,
}

/// Reads the evidence out of an exported page.
pub fn read_export(page: &str) -> Result<ExportedEvidence, ServiceError> {
    let bad = || ServiceError::BadInput("the page holds no evidence that can be read".into());
    let decode = |text: &str| STANDARD.decode(text).map_err(|_| bad());
    let mut found = ExportedEvidence::default();
    for part in page.split("<template ").skip(1) {
        let (head, rest) = part.split_once('>').ok_or_else(bad)?;
        let (body, _) = rest.split_once("</template>").ok_or_else(bad)?;
        if head.contains("id=\"probity-proof\"") {
            found.proof = Some(decode(body)?);
        } else if let Some(name) = head.split("data-name=\"").nth(1).and_then(|rest| rest.split('"').next()) {
            found.files.insert(decode(name)?, decode(body)?);
        }
    }
    if found.files.is_empty() { Err(bad()) } else { Ok(found) }
}
