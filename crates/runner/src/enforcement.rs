//! Chooses how firmly a run is kept in its scope: the strongest level that works here, or the one that was demanded.

use crate::landlock_level::{LandlockLevel, TreeGrants};
use crate::view::{PrecopiedDirectories, RunView, SelfTestFailure, forget_test, self_test};
use probity_api::change::{CheckupStatus, DoctorCheckup};
use probity_api::govern::enforcement::{ConfinementReport, EnforcementLimit, ViewFacts};
use probity_api::govern::setup::CodingAgent;
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
    /// The agent that the run starts itself: it keeps only its own state in a view.
    pub agent: Option<CodingAgent>,
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
    /// What may be written, at the level `landlock`.
    pub(crate) landlock: Option<LandlockLevel>,
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
            landlock: None,
        };
        let mut failures: Vec<String> = Vec::new();
        if matches!(asked, EnforcementChoice::Auto | EnforcementChoice::Overlay) {
            let view = RunView::create(workspace, run_id, rules)?;
            match tested(&view)? {
                Ok(report) => {
                    chosen.view = Some(view);
                    chosen.passes(EnforcementLevel::Overlay, report);
                }
                Err(failure) => {
                    view.remove()?;
                    let is_demanded =
                        asked == EnforcementChoice::Overlay || rules.minimum == EnforcementLevel::Overlay;
                    failures.push(failure.told(EnforcementLevel::Overlay, is_demanded)?);
                }
            }
        }
        let tries_landlock = matches!(asked, EnforcementChoice::Auto | EnforcementChoice::Landlock);
        if chosen.view.is_none() && tries_landlock {
            let landlock = LandlockLevel::create(workspace, rules)?;
            match tested_landlock(&landlock)? {
                Ok(report) => {
                    chosen.landlock = Some(landlock);
                    chosen.passes(EnforcementLevel::Landlock, report);
                }
                Err(failure) => {
                    let is_demanded =
                        asked == EnforcementChoice::Landlock || rules.minimum > EnforcementLevel::Observe;
                    failures.push(failure.told(EnforcementLevel::Landlock, is_demanded)?);
                }
            }
        }
        chosen.require_minimum()?;
        chosen.require_network(request)?;
        chosen.degraded = (!failures.is_empty()).then(|| failures.join("; "));
        if chosen.level == EnforcementLevel::Observe
            && let Some(why) = &chosen.degraded
        {
            chosen.self_test.clone_from(why);
        }
        Ok(chosen)
    }

    fn passes(&mut self, level: EnforcementLevel, report: ViewReport) {
        self.level = level;
        self.self_test = "passed".into();
        self.tested = report;
    }

    /// Refuses a level below the minimum of the policy.
    fn require_minimum(&self) -> Result<(), ServiceError> {
        let Self { level, minimum, .. } = self;
        if level >= minimum {
            return Ok(());
        }
        let cause = format!("the policy demands at least `{minimum}`, and `{level}` was asked for");
        Err(unavailable(*minimum, &cause, "run with `--enforce auto`"))
    }

    /// Refuses a run that must not reach the network at a level that cannot keep it from doing so.
    fn require_network(&self, request: EnforcementRequest) -> Result<(), ServiceError> {
        if self.network == NetworkRule::On || self.view.is_some() {
            return Ok(());
        }
        let who =
            if request.network.is_some() { "`--network off`" } else { "the policy's `network = \"off\"`" };
        let cause = format!("{who} needs a view, and this run has the level `{}`", self.level);
        Err(unavailable(
            EnforcementLevel::Overlay,
            &cause,
            "run with `--enforce overlay`, which says what is missing",
        ))
    }

    /// Reports what confines the command.
    pub(crate) fn report(
        &self,
        workspace: &Workspace,
        precopied: &PrecopiedDirectories,
        grants: &TreeGrants,
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
            granted_beyond_scope: grants.beyond_scope.iter().cloned().map(Into::into).collect(),
            limits: self.limits(grants),
        }
    }

    fn limits(&self, grants: &TreeGrants) -> Vec<EnforcementLimit> {
        let mut limits = Vec::new();
        match (&self.view, &self.landlock) {
            (Some(_), _) => {
                limits.extend((self.network == NetworkRule::On).then_some(EnforcementLimit::LoopbackOpen));
                let has_late = self.tested.landlock_abi.is_none_or(|abi| abi < LANDLOCK_ABI_OF_SOCKETS);
                limits.extend(has_late.then_some(EnforcementLimit::LateSockets));
            }
            (None, Some(landlock)) => {
                limits.push(EnforcementLimit::Metadata);
                limits.extend(grants.has_own_files.then_some(EnforcementLimit::ProtectedOpen));
                let has_shared = landlock.has_shared_directories();
                limits.extend(has_shared.then_some(EnforcementLimit::SharedDirectories));
                limits.push(EnforcementLimit::SocketsOpen);
            }
            (None, None) => limits.push(EnforcementLimit::AfterTheFact),
        }
        if self.level > EnforcementLevel::Observe && !self.tested.has_landlock_scopes {
            limits.push(EnforcementLimit::NoScopes);
        }
        if rustix::process::geteuid().is_root() {
            limits.push(EnforcementLimit::AsRoot);
        }
        limits.push(EnforcementLimit::Reads);
        limits
    }
}

impl SelfTestFailure {
    /// Returns the words about a level that cannot be had; an error if it was demanded.
    fn told(self, level: EnforcementLevel, is_demanded: bool) -> Result<String, ServiceError> {
        let Self { cause, cure } = self;
        if is_demanded {
            return Err(unavailable(level, &cause, &cure));
        }
        Ok(format!("no {level}: {cause}; to fix it: {cure}"))
    }
}

/// Tests which levels of enforcement can be had for this tree, and says why not.
pub fn enforcement_checkup(workspace: &Workspace) -> DoctorCheckup {
    let rules = workspace.load_policy().map(|loaded| loaded.policy.enforce).unwrap_or_default();
    let name = format!("doctor-{}", std::process::id());
    // Who asks for a checkup wants a test, not the answer of an earlier one.
    forget_test(workspace);
    let outcome = RunView::create(workspace, &name, &rules).and_then(|view| {
        let outcome = tested(&view);
        view.remove().and(outcome)
    });
    let (status, detail, next_step) = match outcome {
        Ok(Ok(_)) => {
            (CheckupStatus::Ok, "overlay: a test program could not write outside its view".to_owned(), None)
        }
        Ok(Err(SelfTestFailure { cause, cure })) => (
            CheckupStatus::Warning,
            format!("{}, no overlay: {cause}", best_without_view(workspace, &rules)),
            Some(cure),
        ),
        Err(error) => {
            (CheckupStatus::Warning, format!("observe only, no overlay: {error}"), Some(error.next_step()))
        }
    };
    DoctorCheckup { name: "enforcement", status, detail, next_step }
}

/// Returns what confines a command where no view can be had.
fn best_without_view(workspace: &Workspace, rules: &EnforceRules) -> &'static str {
    let outcome = LandlockLevel::create(workspace, rules).and_then(|landlock| tested_landlock(&landlock));
    if matches!(outcome, Ok(Ok(_))) { "landlock" } else { "observe only" }
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

fn tested_landlock(level: &LandlockLevel) -> Result<Result<ViewReport, SelfTestFailure>, ServiceError> {
    if cfg!(target_os = "linux") {
        return level.self_test();
    }
    Ok(Err(SelfTestFailure {
        cause: "Landlock exists on Linux only".into(),
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
