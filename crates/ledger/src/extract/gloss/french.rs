//! French: elided articles and pronouns, negation around the verb, conditionals by their endings.

use super::super::is_among;
use super::super::sentences::Word;
use super::{Gloss, finish, has, put, unread};

pub(super) const SIGNS: &str = "\
    le | la | les | l' | d' | j' | n' | s' | c' | qu' | un | une | des | du | de | et | ou | est | sont | on | nous | je | tu | vous | il | elle | pour | dans | sur | \
    avec | pas | ne | que | qui | ce | cette | ces | au | aux | en | par | plus | sans | faut | doit | doivent | notre | nos | avant | après | si | oui | \
    peut-être | a | ont | avons | mais | peut | pourrait | devrait | pouvons | devons | voulons | peux-tu | pouvez-vous | pourrais-tu | pourriez-vous | préférez-vous | avez-vous";

#[rustfmt::skip]
pub(super) const PHRASES: &[Gloss] = &[
    // Who and what.
    ("le", "the"), ("la", "the"), ("les", "the"), ("l'", "the"), ("notre", "our"), ("nos", "our"), ("tous les", "all"), ("toutes les", "all"), ("chaque", "each"),
    ("il", "it"), ("elle", "it"), ("je", "i"), ("j'", "i"), ("nous", "we"), ("on", "we"), ("et", "and"), ("ou", "or"), ("mais", "but"), ("est", "is"), ("sont", "are"),
    ("était", "was"), ("étaient", "were"), ("a été", "was"), ("ont été", "were"), ("a", "has"), ("ont", "have"), ("contient", "contains"), ("contiennent", "contain"),
    ("prend", "takes"), ("prennent", "take"), ("dure", "takes"), ("coûte", "costs"), ("utilise", "uses"), ("tourne", "runs"), ("fonctionne", "works"),
    ("renvoie", "returns"), ("expire", "expires"), ("manque", "fails"), ("pas", "not"), ("jamais", "never"), ("aucun", "no"), ("aucune", "no"), ("pas de", "no"),
    ("pas d'", "no"), ("toujours", "always"),
    // What people begin with.
    ("d'accord", "ok"), ("d' accord", "ok"), ("c' est noté", "got it"), ("très bien", "ok"), ("parfait", "perfect"), ("super", "great"), ("merci", "thanks"), ("donc", "so"), ("alors", "then"), ("oui", "yes"),
    ("non", "no"), ("ok", "ok"), ("entendu", "got it"), ("de plus", "also"), ("d'ailleurs", "by the way"), ("d' ailleurs", "by the way"), ("désormais", "from now on"), ("dorénavant", "from now on"),
    ("à partir de maintenant", "from now on"), ("finalement", "actually"), ("surtout", ""), ("ne", ""), ("n'", ""), ("important", "important"), ("attention", "important"),
    // Deciding.
    ("on part sur", "we will go with"), ("nous partons sur", "we will go with"), ("on prend", "we will use"), ("nous prenons", "we will use"), ("on utilise", "we will use"),
    ("nous utilisons", "we will use"), ("on utilisera", "we will use"), ("nous utiliserons", "we will use"), ("on va utiliser", "we will use"), ("nous allons utiliser", "we will use"),
    ("on garde", "we will keep"), ("nous gardons", "we will keep"), ("on conserve", "we will keep"), ("on passe à", "we will switch to"), ("nous passons à", "we will switch to"),
    ("on passe sur", "we will switch to"), ("on reste sur", "we will stick with"), ("nous restons sur", "we will stick with"), ("on abandonne", "we are abandoning"),
    ("on laisse tomber", "forget"), ("laisse tomber", "forget"), ("oublie", "forget"), ("oubliez", "forget"), ("on a décidé de", "we decided to"), ("nous avons décidé de", "we decided to"),
    ("on a décidé d'", "we decided to"), ("nous avons décidé d'", "we decided to"),
    ("on a décidé de ne pas", "we decided not to"), ("nous avons décidé de ne pas", "we decided not to"), ("on a décidé que", "we decided that"), ("on a choisi", "we have chosen"),
    ("nous avons choisi", "we have chosen"), ("on a opté pour", "we opted for"), ("nous avons opté pour", "we opted for"), ("on choisit", "we will choose"), ("c' est décidé", "agreed"),
    ("on opte pour", "we will opt for"), ("on remplace", "we will replace"), ("on ne va pas", "we will not"), ("nous n' allons pas", "we will not"), ("on ne fera pas", "we will not"),
    ("on ne garde pas", "we will not keep"), ("on n' utilise pas", "we will not use"), ("on reporte", "we will postpone"), ("on limite", "we will limit"), ("on supprime", "we will drop"), ("décision", "decision"),
    // Changing one's mind.
    ("au lieu de", "instead of"), ("au lieu d'", "instead of"), ("à la place de", "instead of"), ("plutôt que", "rather than"), ("à la place", "instead"), ("changement de plan", "change of plan"),
    ("en fait", "actually"), ("correction", "correction"), ("attends", "wait"), ("attendez", "wait"), ("on n' utilise plus", "we no longer use"), ("nous n' utilisons plus", "we no longer use"),
    ("n' est plus nécessaire", "is no longer needed"), ("ne sont plus nécessaires", "are no longer needed"), ("n' est plus utile", "is no longer needed"), ("on n' a plus besoin de", "we no longer need"),
    ("on n' a plus besoin d'", "we no longer need"), ("est annulé", "is cancelled"), ("est annulée", "is cancelled"), ("ne fonctionne plus", "is broken again"),
    // Ruling.
    ("doit", "must"), ("doivent", "must"), ("ne doit pas", "must not"), ("ne doivent pas", "must not"), ("ne doit jamais", "must never"), ("ne doivent jamais", "must never"),
    ("on ne peut pas", "we can not exceed"), ("nous ne pouvons pas", "we can not exceed"), ("ne peut pas", "must not"), ("ne peuvent pas", "must not"), ("il ne faut pas", "we must not"), ("il ne faut surtout pas", "we must not"),
    ("il ne faut jamais", "we must never"), ("il faut que", "we must"), ("il faut", "we must"), ("est obligatoire", "is mandatory"), ("sont obligatoires", "are mandatory"), ("est interdit", "is forbidden"),
    ("est interdite", "is forbidden"), ("sont interdits", "are forbidden"), ("en aucun cas", "must never"), ("hors de question", "must never"), ("de préférence", "prefer"), ("évite", "avoid"), ("évitez", "avoid"), ("assure-toi que", "make sure that"),
    ("assurez-vous que", "make sure that"),
    // Goals.
    ("le but est de", "the goal is to"), ("l' objectif est de", "the goal is to"), ("l' objectif est d'", "the goal is to"), ("le but est d'", "the goal is to"), ("notre objectif est de", "our goal is to"), ("objectif", "goal"),
    ("on veut", "our goal is to"), ("nous voulons", "our goal is to"), ("on développe", "we are building"), ("nous développons", "we are building"), ("on construit", "we are building"),
    ("nous devons refaire", "our goal is to"),
    // Work.
    ("s' il te plaît", "please"), ("s' il vous plaît", "please"), ("stp", "please"), ("svp", "please"), ("peux-tu", "can you +handle"), ("pouvez-vous", "can you +handle"), ("pourrais-tu", "could you +handle"),
    ("pourriez-vous", "could you +handle"), ("tu peux", "can you +handle"), ("je vais", "i will +handle"), ("je m'occupe de", "i will +handle"), ("n' oublie pas de", "do not forget to +handle"), ("n' oublie pas d'", "do not forget to +handle"),
    ("n' oubliez pas de", "do not forget to +handle"), ("n' oubliez pas d'", "do not forget to +handle"), ("il faudra", "we need to +handle"), ("il reste à", "we still need to +handle"), ("tâche", "task"), ("à faire", "todo"), ("prochaine étape", "next step"),
    // Finding out.
    ("il s' avère que", "it turns out"), ("il s' avère qu'", "it turns out"), ("j' ai constaté que", "i found that"), ("j' ai constaté qu'", "i found that"), ("j' ai découvert que", "i found that"), ("j' ai vu que", "i found that"), ("j' ai remarqué que", "i noticed that"),
    ("on a constaté que", "we found that"), ("on a découvert que", "we found that"), ("j' ai vérifié", "i checked and"), ("j' ai mesuré", "i measured"), ("les logs montrent que", "the logs show that"), ("confirmé", "confirmed"), ("la cause est", "the root cause is"),
    // Doubting.
    ("peut-être", "maybe"), ("peut-être que", "maybe"), ("peut-être qu'", "maybe"), ("probablement", "probably"), ("sans doute", "probably"), ("éventuellement", "possibly"), ("apparemment", "apparently"), ("il semble que", "it seems"), ("semble", "seems"), ("semblent", "seem"),
    ("il paraît que", "apparently"), ("je pense que", "i think"), ("je pense qu'", "i think"), ("je pense", "i think"), ("je crois que", "i think"), ("je crois qu'", "i think"), ("je crois", "i think"), ("je suppose que", "i suppose"), ("j' imagine", "i imagine"), ("à voir", "we will see"), ("on verra", "we will see"),
    ("pas sûr", "not sure"), ("pas sûre", "not sure"), ("pas certain", "not certain"), ("j' hésite", "not sure"), ("aucune idée", "no idea"), ("à mon avis", "imo"), ("je propose", "i suggest"), ("nous proposons", "suggest"), ("proposition", "suggestion"), ("idée", "an idea"), ("on envisage", "considering"),
    ("nous envisageons", "considering"), ("un jour", "one day"), ("plus tard", "eventually"), ("en théorie", "in theory"), ("j' espère", "i hope"), ("il se peut", "maybe"), ("ou quelque chose", "or something"), ("on essaie", "can try"),
    // Asking and supposing.
    ("est-ce que", "do you think"), ("est-ce qu'", "do you think"), ("faut-il", "should we"), ("devrait-on", "should we"), ("avez-vous", "do you"), ("préférez-vous", "do you prefer"), ("préfères-tu", "do you prefer"), ("qu' en penses-tu", "what do you think"), ("deux options", "two options"), ("deux possibilités", "two options"),
    ("soit", "either"), ("entre", "between"), ("si", "if"), ("s'", "if"), ("à condition que", "provided"), ("à moins que", "unless"), ("en cas de", "in case"), ("au cas où", "in case"), ("selon que", "depending on"), ("sinon", "otherwise"), ("supposons", "suppose"), ("tant que", "as long as"), ("quand", "when"), ("dès que", "if"), ("lorsque", "when"),
    // Reporting, wishing, remembering.
    ("dit que", "says"), ("dit qu'", "says"), ("dit", "says"), ("veut", "wants"), ("pense", "thinks"), ("recommande", "recommends"), ("suggère", "suggests"), ("demande", "asks"), ("affirme", "claims"), ("souhaite", "wants"), ("préfère", "prefers"), ("selon", "according to"), ("d' après", "according to"), ("par exemple", "for example"), ("avant on", "previously"),
    ("autrefois", "previously"), ("l' année dernière", "last year"), ("presque", "almost"), ("je plaisante", "just kidding"), ("pas encore décidé", "undecided"), ("pas décidé", "undecided"), ("rien n' est décidé", "undecided"), ("à décider", "to be decided"), ("aurait dû", "supposed to"), ("on voulait", "were going to"), ("j' aimerais", "would love"),
];

/// Infinitives of work.
const WORK: &str = "\
    ajouter | écrire | corriger | créer | supprimer | modifier | installer | configurer | tester | documenter | vérifier | migrer | importer | exporter | déployer | publier | renommer | \
    mesurer | préparer | nettoyer | envoyer | rédiger | mettre | faire | lancer | réparer | déplacer | remplacer | activer | désactiver | brancher | intégrer | rédiger | convertir | finir | \
    terminer | relire | générer";

/// Takes "l'", "d'", "n'" and their like off the words that they are written with.
pub(super) fn take_elisions_apart(text: &str, words: &mut Vec<Word>) {
    let mut apart = Vec::with_capacity(words.len());
    for word in words.drain(..) {
        let elided = ELIDED.iter().find(|start| word.lower.starts_with(**start));
        let rest = elided.and_then(|start| word.lower.get(start.len()..)).filter(|rest| !rest.is_empty());
        // The apostrophe may be a longer one in the text, and lower case may have another length.
        let cut = rest.and_then(|rest| word.place.end.checked_sub(rest.len()));
        let is_sound = |cut: &usize| text.get(*cut..word.place.end).map(str::to_lowercase).as_deref() == rest;
        match (elided, rest, cut.filter(is_sound)) {
            (Some(start), Some(rest), Some(cut)) => {
                let (quoted, place) = (word.quoted, word.place.start..cut);
                apart.push(Word { lower: (*start).to_owned(), place, quoted, paused: false });
                apart.push(Word { lower: rest.to_owned(), place: cut..word.place.end, ..word.clone() });
            }
            _ => apart.push(word),
        }
    }
    *words = apart;
}

/// Little words that lose their vowel before another.
const ELIDED: &[&str] = &["l'", "d'", "j'", "n'", "s'", "c'", "qu'", "m'"];

pub(super) fn habits(words: &mut Vec<Word>) {
    super::conditionals(words, &["rait", "raient", "rais", "rions", "riez"]);
    orders(words);
    super::continue_work(words, WORK);
    perfect(words);
    finish(words, |word| {
        is_participle(word)
            || is_among(
                "prêt | prête | prêts | prêtes | terminé | fini | faite | fait | faits | ligne | place",
                word,
            )
    });
    super::deny(words);
}

/// "Ajoute des tests", "il faut ajouter des tests", "ne stocke pas".
fn orders(words: &mut Vec<Word>) {
    let start = words.len() - super::super::strip_openers(words).len();
    let start = words.get(start).map_or(start, |word| start + usize::from(word.lower == "please"));
    let Some(first) = words.get(start).and_then(unread).map(str::to_owned) else {
        let must =
            words.get(start..start + 2).is_some_and(|pair| pair[0].lower == "we" && pair[1].lower == "must");
        let is_work = words.get(start + 2).and_then(unread).is_some_and(|word| is_among(WORK, word));
        if must && is_work {
            put(words, start + 2, "handle");
            words[start + 1].lower = "need".into();
            words.insert(start + 2, Word { lower: "to".into(), ..words[start + 1].clone() });
        }
        return;
    };
    let is_imperative = WORK.split(" | ").any(|work| {
        let stem = work
            .strip_suffix("er")
            .or_else(|| work.strip_suffix("re"))
            .or_else(|| work.strip_suffix("ir"))
            .unwrap_or(work);
        first.strip_prefix(stem).is_some_and(|ending| is_among("e | ez | s | is | ivez | tez | ons", ending))
            && stem.len() > 2
    });
    let denies = words.get(start + 1).is_some_and(|word| is_among("not | never", &word.lower));
    let is_verb = first.ends_with("ez") || first.ends_with('e') || first.ends_with('s');
    if denies && is_verb {
        put(words, start, "do not");
    } else if is_imperative {
        super::put_order(words, start);
    }
}

/// "J'ai installé …", "on a migré …".
fn perfect(words: &mut Vec<Word>) {
    let is_have =
        |word: &Word| word.lower == "has" || unread(word).is_some_and(|word| matches!(word, "ai" | "avons"));
    let Some(at) = words.windows(2).position(|pair| is_among("i | we", &pair[0].lower) && is_have(&pair[1]))
    else {
        return;
    };
    let next = at
        + 2
        + usize::from(
            words
                .get(at + 2)
                .is_some_and(|word| unread(word).is_some_and(|word| is_among("déjà | bien | aussi", word))),
        );
    if words.get(next).and_then(unread).is_some_and(is_participle) && !has(&words[at..next], "not") {
        words[at + 1].lower = "have".into();
        words[next].lower = "finished".into();
        words.drain(at + 2..next);
    }
}

fn is_participle(word: &str) -> bool {
    let bare = word.trim_end_matches('s').trim_end_matches('e');
    word.len() > 3
        && (bare.ends_with('é')
            || word.ends_with("is")
            || bare.ends_with("is")
            || word.ends_with("it")
            || bare.ends_with('u')
            || bare.ends_with("rt"))
}
