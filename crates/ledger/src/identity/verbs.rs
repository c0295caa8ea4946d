//! The base form of an "-ing" form, for verbs that are certain to be verbs: "using" is a form of "use", "string" is
//! a form of nothing.

use std::borrow::Cow;
use std::sync::LazyLock;

/// The verb whose "-ing" form `word` is.
pub(super) fn base_of_ing(word: &str) -> Option<Cow<'static, str>> {
    let stem = word.strip_suffix("ing").filter(|stem| stem.len() >= 2)?;
    if let Some(base) = known_base(stem) {
        return Some(Cow::Borrowed(base));
    }
    for prefix in ["re", "un", "de", "pre", "over", "auto", "co", "dis"] {
        let rest = stem.strip_prefix(prefix).map(|rest| rest.strip_prefix('-').unwrap_or(rest));
        if let Some(base) = rest.filter(|rest| rest.len() >= 2).and_then(known_base) {
            let written = &stem[..stem.len() - rest.map_or(0, str::len)];
            return Some(Cow::Owned(format!("{written}{base}")));
        }
    }
    productive_base(stem).map(Cow::Owned)
}

fn known_base(stem: &str) -> Option<&'static str> {
    let find = |base: &str| VERBS.binary_search(&base).ok().map(|at| VERBS[at]);
    let bytes = stem.as_bytes();
    let is_doubled = bytes.len() > 3 && bytes[bytes.len() - 1] == bytes[bytes.len() - 2];
    let undoubled = is_doubled.then(|| &stem[..stem.len() - 1]);
    // "planing" is not "planning": a verb that doubles its last letter has no form without.
    if let Some(base) = undoubled.filter(|base| DOUBLING.binary_search(base).is_ok()) {
        return find(base);
    }
    if let Some(base) = find(stem).filter(|base| !base.ends_with('e') || base.ends_with("ee")) {
        let must_double = DOUBLING.binary_search(&base).is_ok() && !EITHER.contains(&base);
        return (!must_double).then_some(base);
    }
    if let Some(base) = find(&format!("{stem}e")) {
        return Some(base);
    }
    stem.strip_suffix('y').and_then(|stem| find(&format!("{stem}ie")))
}

/// Endings that only verbs have.
fn productive_base(stem: &str) -> Option<String> {
    let is_verb = stem.len() >= 6 && ["iz", "is", "at", "ify"].iter().any(|end| stem.ends_with(end));
    let is_whole = stem.ends_with("ify");
    is_verb.then(|| if is_whole { stem.to_owned() } else { format!("{stem}e") })
}

/// Verbs that double their last letter before "-ing".
const DOUBLING: &[&str] = &[
    "admit", "ban", "beget", "begin", "bet", "bid", "blog", "bug", "cancel", "channel", "chat", "chop",
    "clip", "commit", "control", "cut", "debug", "defer", "dig", "dim", "dot", "drop", "embed", "emit",
    "equip", "fit", "flag", "flip", "forbid", "format", "fuel", "get", "grab", "hit", "hop", "incur",
    "infer", "input", "jog", "knit", "label", "let", "level", "log", "map", "model", "nod", "occur",
    "offset", "omit", "output", "overlap", "pat", "permit", "pin", "plan", "plot", "plug", "pop", "prefer",
    "prep", "program", "prop", "put", "quit", "ram", "recur", "refer", "reset", "rip", "rot", "rub", "run",
    "scan", "scrap", "scrub", "set", "ship", "shut", "signal", "sip", "sit", "skim", "skip", "slim", "slip",
    "slot", "snap", "spin", "split", "spot", "star", "stem", "step", "stir", "stop", "strip", "stub",
    "submit", "sum", "swap", "tag", "tap", "tip", "total", "transfer", "trap", "travel", "trim", "tunnel",
    "unplug", "unset", "unwrap", "up", "upset", "wed", "win", "wrap", "zap", "zip",
];

/// Verbs that may double and may not.
const EITHER: &[&str] =
    &["cancel", "channel", "label", "level", "model", "program", "signal", "total", "travel"];

static VERBS: LazyLock<Vec<&str>> = LazyLock::new(|| {
    "\
    abandon abort absorb abstract accept access achieve acknowledge acquire act activate adapt add address \
    adjust admit adopt advance aggregate agree aim alert alias align allocate allow allowlist alter amend \
    analyse analyze anchor annotate announce answer apologise append apply approve archive arrange ask \
    assemble assert assess assign associate assume attach attempt attribute audit authorise authorize \
    automate avoid await back backfill backport backup balance ban base batch begin benchmark bid bind \
    bisect blacklist block blog book boost boot bootstrap borrow break bring broadcast buffer bug build \
    bump bundle buy bypass cache calculate calibrate call cancel capture carry cast catch centralise \
    centralize chain change channel charge chart chase chat check cherry-pick choose chop chunk claim \
    clarify clean cleanse clear click clip clone close cluster coalesce code collapse collect colocate \
    combine comment commit communicate compact compare compensate compile complete compose compress compute \
    concatenate configure confirm connect consider consolidate constrain construct consume contact contain \
    continue contribute control convert copy copy-edit correct count counter couple cover craft crash crawl \
    create cross curate cut deal debounce debug decide declare decode decompose decouple decrease dedicate \
    dedupe deduplicate default defer define degrade delay delegate delete deliver demand demonstrate deny \
    denylist depend deploy deprecate derive describe design detach detect determine develop diagnose die \
    dig dim disable disallow discard discover discuss dispatch display distribute divide do dockerize \
    document dot double download draft drain draw drive drop dry-run dump duplicate edit elect elevate \
    eliminate embed embrace emit employ enable encapsulate encode encourage encrypt end enforce engage \
    enhance enrich ensure enter enumerate equip escalate escape establish estimate evaluate evict evolve \
    examine exclude execute exercise exit expand expect experiment expire explain explore export expose \
    extend extract face factor fail fall fan feed fetch fill filter finalise finalize find finish fit fix \
    flag flatten flip flush focus fold follow forbid force forget fork form format forward frame freeze \
    fuel fuzz gain gate gather generate get give go grab grant group grow guarantee guard halt hand handle \
    harden hash have help hide highlight hire hit hold hook hop host identify ignore implement import \
    improve include increase increment incur index infer inform ingest inherit initialise initialize inject \
    inline input insert inspect install instrument integrate intercept interpolate interpret introduce \
    invalidate invert invest investigate invite invoke isolate issue iterate jog join keep kick kill knit \
    label land launch lay lead learn leave let level leverage lie lift limit link lint list listen load \
    lock log look loosen lower maintain make manage map mark mask match maximise maximize measure meet \
    memoise memoize mention merge migrate minify minimise minimize mirror mock model modify monitor mount \
    move multiply mute name navigate negotiate nest nod normalise normalize note notify nudge obtain occur \
    offer offload offset omit onboard open operate optimise optimize orchestrate order organise organize \
    outline output outsource overhaul overlap overload override overwrite own pack package paginate pair \
    parallelise parallelize park parse partition pass paste patch pause pay peer perform permit persist \
    pick pilot pin ping pivot place plan play plot plug point poll pool pop populate port post postpone \
    prefer prefetch prep prepare prepend present preserve press prevent print prioritise prioritize probe \
    process produce profile program prohibit promote prompt prop propagate propose protect prototype prove \
    provide provision proxy prune publish pull purge push put query question queue quit quote raise ramp \
    randomise randomize rank rate reach react read rebase rebuild receive recommend reconcile record \
    recover recur redirect reduce refactor refer refine refresh refuse register regulate reject relax \
    release reload rely remain remediate remember remove rename render renew repair repeat replace replay \
    replicate report represent reproduce request require reserve reset resize resolve respect respond \
    restart restore restrict restructure resume retain rethink retire retrieve retry return reuse reverse \
    revert review revise revisit revoke reword rework rewrite rip roll rot rotate round route rub run \
    sample sandbox sanitise sanitize save scaffold scale scan schedule scope scrap scrape scrub search \
    secure seed select sell send separate serialise serialize serve set settle shadow shard share shift \
    ship shorten show shrink shut sign signal simplify simulate sip sit sketch skim skip slice slim slip \
    slot smoke-test smooth snap snapshot solve sort spawn specify speed spend spin split spot spread squash \
    stabilise stabilize stack stage standardise standardize star start stash stay stem step stick stir stop \
    store stream streamline strengthen stress strip structure stub study style submit subscribe subtract \
    suggest sum sunset support suppress surface suspend swallow swap switch sync synchronise synchronize \
    tackle tag take talk tap target teach tell terminate test thread throttle throw tidy tie tighten time \
    tip toggle tokenise tokenize total touch trace track train transfer transform translate transpile trap \
    travel traverse treat triage trigger trim truncate try tune tunnel turn tweak type unblock understand \
    unify unit-test unplug unset unwrap up update upgrade upload upset use utilise utilize validate vendor \
    verify version vet view visit visualise visualize vote wait walk warm warn watch wed weigh whitelist \
    win wire work wrap write zap zip"
        .split(' ')
        .collect()
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_are_sorted() {
        assert!(DOUBLING.is_sorted());
        for pair in VERBS.windows(2) {
            assert!(pair[0] < pair[1], "{pair:?}");
        }
    }

    #[test]
    fn finds_the_verb_and_only_a_verb() {
        for (form, base) in [
            ("using", "use"),
            ("running", "run"),
            ("deploying", "deploy"),
            ("building", "build"),
            ("planning", "plan"),
            ("caching", "cache"),
            ("agreeing", "agree"),
            ("tying", "tie"),
            ("putting", "put"),
            ("adding", "add"),
            ("rolling", "roll"),
            ("modelling", "model"),
            ("modeling", "model"),
            ("redeploying", "redeploy"),
            ("re-running", "re-run"),
            ("containerizing", "containerize"),
            ("quantifying", "quantify"),
            ("passing", "pass"),
            ("setting", "set"),
        ] {
            assert_eq!(base_of_ing(form).as_deref(), Some(base), "{form}");
        }
        for word in [
            "string", "king", "ring", "spring", "nothing", "during", "ceiling", "sibling", "planing",
            "runing", "ing",
        ] {
            assert_eq!(base_of_ing(word), None, "{word}");
        }
    }
}
