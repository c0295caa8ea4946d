//! Chooses how firmly a run is kept in its scope: the strongest level that works here, or the one that was demanded.

use crate::view::{PrecopiedDirectories, RunView, SelfTestFailure, self_test};
use probity_api::change::{CheckupStatus, DoctorCheckup};
use probity_api::govern::enforcement::{ConfinementReport, EnforcementLimit, ViewFacts};
use probity_core::ReasonCode;
use probity_evidence::EnforcementLevel;
use probity_policy::{EnforceRules, EnforcementChoice, NetworkRule};
use probity_sandbox::ViewReport;
use probity_workspace::{ServiceError, Workspace};

/// The version of Landlock from which on it confines named sockets.
const LANDLOCK_ABI_OF_SOCKETS: u32 = 9;

/// What a caller asks for, over what the policy says.
#[derive(Debug, Clone, Copy, Default)]
pub struct EnforcementRequest {
    pub level: Option<EnforcementChoice>,
    pub network: Option<NetworkRule>,
}

/// The enforcement of one run.
#[derive(Debug)]
pub(crate) struct Enforcement<'a> {
    pub(crate) level: EnforcementLevel,
    pub(crate) network: NetworkRule,
    asked: EnforcementChoice,
    minimum: EnforcementLevel,
    self_test: String,
    /// Why a stronger level was not used although any level was welcome.
    pub(crate) degraded: Option<String>,
    /// What the test reported of its view.
    tested: ViewReport,
    /// The view, at the level `overlay`.
    pub(crate) view: Option<RunView<'a>>,
}

impl<'a> Enforcement<'a> {
    /// Chooses the level of a run, and creates its layers if it needs some. A named level, and the minimum of the
    /// policy, are demands.
    pub(crate) fn choose(
        workspace: &'a Workspace,
        rules: &EnforceRules,
        request: EnforcementRequest,
        run_id: &str,
    ) -> Result<Self, ServiceError> {
        let asked = request.level.unwrap_or(rules.level);
        let network = request.network.unwrap_or(rules.network);
        let mut chosen = Self {
            level: EnforcementLevel::Observe,
            network,
            asked,
            minimum: rules.minimum,
            self_test: "not needed".into(),
            degraded: None,
            tested: ViewReport::default(),
            view: None,
        };
        if matches!(asked, EnforcementChoice::Auto | EnforcementChoice::Overlay) {
            let view = RunView::create(workspace, run_id, rules)?;
            match tested(&view)? {
                Ok(report) => {
                    chosen.level = EnforcementLevel::Overlay;
                    chosen.self_test = "passed".into();
                    chosen.tested = report;
                    chosen.view = Some(view);
                    return Ok(chosen);
                }
                Err(failure) => {
                    view.remove()?;
                    let SelfTestFailure { cause, cure } = failure;
                    if asked == EnforcementChoice::Overlay || rules.minimum == EnforcementLevel::Overlay {
                        return Err(unavailable(EnforcementLevel::Overlay, &cause, &cure));
                    }
                    chosen.self_test = format!("overlay: {cause}");
                    chosen.degraded = Some(format!("no overlay: {cause}; to cure it: {cure}"));
                }
            }
        }
        if asked == EnforcementChoice::Landlock {
            let cause = "this version cannot confine a command by Landlock alone";
            return Err(unavailable(EnforcementLevel::Landlock, cause, "run with `--enforce overlay`"));
        }
        if chosen.level < rules.minimum {
            let cause = format!(
                "the policy demands at least `{}`, and `{}` is what is used",
                rules.minimum, chosen.level
            );
            return Err(unavailable(rules.minimum, &cause, "run with `--enforce auto`"));
        }
        Ok(chosen)
    }

    /// Reports what confines the command.
    pub(crate) fn report(
        &self,
        workspace: &Workspace,
        precopied: &PrecopiedDirectories,
    ) -> ConfinementReport {
        let is_view = self.level == EnforcementLevel::Overlay;
        let mut namespaces: Vec<String> = Vec::new();
        if is_view {
            namespaces.extend(["user", "mount", "pid", "ipc"].map(str::to_owned));
            namespaces.extend((self.network == NetworkRule::Off).then(|| "network".to_owned()));
        }
        ConfinementReport {
            level: self.level,
            asked: self.asked,
            minimum: self.minimum,
            self_test: self.self_test.clone(),
            kernel: kernel_release(),
            landlock_abi: self.tested.landlock_abi,
            namespaces,
            network: if is_view { self.network } else { NetworkRule::On },
            view: self.view.as_ref().map(|view| {
                let home = view.home();
                let paths = |paths: &[std::path::PathBuf]| paths.iter().cloned().map(Into::into).collect();
                ViewFacts {
                    root: crate::landing::overlay_target(workspace).to_owned().into(),
                    precopied: precopied.copied.clone(),
                    hidden: paths(&home.hidden),
                    persist: paths(&home.persist),
                    scratch: paths(&home.scratch),
                    masked_sockets: self.tested.n_masked_sockets,
                }
            }),
            granted_beyond_scope: Vec::new(),
            limits: self.limits(),
        }
    }

    fn limits(&self) -> Vec<EnforcementLimit> {
        let mut limits = Vec::new();
        if self.level == EnforcementLevel::Overlay {
            if self.network == NetworkRule::On {
                limits.push(EnforcementLimit::LoopbackOpen);
            }
            if self.tested.landlock_abi.is_none_or(|abi| abi < LANDLOCK_ABI_OF_SOCKETS) {
                limits.push(EnforcementLimit::LateSockets);
            }
            if !self.tested.has_landlock_scopes {
                limits.push(EnforcementLimit::NoScopes);
            }
        } else {
            limits.push(EnforcementLimit::AfterTheFact);
        }
        if rustix::process::geteuid().is_root() {
            limits.push(EnforcementLimit::AsRoot);
        }
        limits.push(EnforcementLimit::Reads);
        limits
    }
}

/// Tests which levels of enforcement can be had for this tree, and says why not.
pub fn enforcement_checkup(workspace: &Workspace) -> DoctorCheckup {
    let rules = workspace.load_policy().map(|loaded| loaded.policy.enforce).unwrap_or_default();
    let name = format!("doctor-{}", std::process::id());
    let outcome = RunView::create(workspace, &name, &rules).and_then(|view| {
        let outcome = tested(&view);
        view.remove().and(outcome)
    });
    let (status, detail, next_step) = match outcome {
        Ok(Ok(_)) => (CheckupStatus::Ok, "overlay: a test could not write out of a view".to_owned(), None),
        Ok(Err(SelfTestFailure { cause, cure })) => {
            (CheckupStatus::Warning, format!("observe only, no overlay: {cause}"), Some(cure))
        }
        Err(error) => {
            (CheckupStatus::Warning, format!("observe only, no overlay: {error}"), Some(error.next_step()))
        }
    };
    DoctorCheckup { name: "enforcement", status, detail, next_step }
}

fn tested(view: &RunView<'_>) -> Result<Result<ViewReport, SelfTestFailure>, ServiceError> {
    if cfg!(target_os = "linux") {
        return self_test(view);
    }
    Ok(Err(SelfTestFailure {
        cause: "private views exist on Linux only".into(),
        cure: "run Probity in a Linux machine or container".into(),
    }))
}

fn unavailable(level: EnforcementLevel, cause: &str, cure: &str) -> ServiceError {
    let detail = format!("enforcement `{level}` is not available: {cause}. To cure it: {cure}");
    ServiceError::refused(ReasonCode::EnforceUnavailable, detail)
}

fn kernel_release() -> Option<String> {
    let name = rustix::system::uname();
    Some(format!("{} {}", name.sysname().to_str().ok()?, name.release().to_str().ok()?))
}
