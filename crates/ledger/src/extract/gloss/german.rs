//! German: the finite verb stands second, the rest of the verb last.

use super::super::is_among;
use super::super::sentences::Word;
use super::{Gloss, end_of_part, finish, has, put, start_of_part, unread};

pub(super) const SIGNS: &str = "\
    der | die | das | den | dem | des | ein | eine | einen | einer | wir | ich | du | ihr | und | oder | nicht | ist | sind | für | mit | auf | \
    von | zu | im | auch | noch | nur | aber | wenn | dass | sich | bei | es | uns | haben | habe | hat | wird | werden | kein | keine | keinen | \
    bitte | schon | nach | vor | über | unter | sollen | müssen | muss | kann | können | dann | doch | statt | als | wie | alle | bis | aus | \
    soll | sollte | vielleicht | niemals | immer | jetzt | gut | okay";

#[rustfmt::skip]
pub(super) const PHRASES: &[Gloss] = &[
    // Who and what.
    ("der", "the"), ("die", "the"), ("das", "the"), ("den", "the"), ("dem", "the"), ("unser", "our"), ("unsere", "our"), ("alle", "all"),
    ("jede", "each"), ("jeder", "each"), ("jedes", "each"), ("es", "it"), ("ich", "i"), ("wir", "we"), ("und", "and"), ("oder", "or"),
    ("aber", "but"), ("ist", "is"), ("sind", "are"), ("war", "was"), ("waren", "were"), ("wurde", "was"), ("wurden", "were"), ("hat", "has"),
    ("haben", "have"), ("habe", "have"), ("hatte", "had"), ("enthält", "contains"), ("braucht", "needs"), ("läuft", "runs"), ("laufen", "runs"),
    ("dauert", "takes"), ("kostet", "costs"), ("liegt", "lives"), ("liegen", "lives"), ("fehlt", "fails"), ("fehlen", "fails"),
    ("funktioniert", "works"), ("unterstützt", "supports"), ("liefert", "returns"), ("nicht", "not"), ("nie", "never"), ("niemals", "never"),
    ("kein", "no"), ("keine", "no"), ("keinen", "no"), ("keinerlei", "no"), ("immer", "always"), ("stets", "always"), ("bisher", "so far"),
    // What people begin with.
    ("okay", "ok"), ("gut", "good"), ("super", "great"), ("perfekt", "perfect"), ("danke", "thanks"), ("klar", "sure"), ("alles klar", "ok"),
    ("dann", "then"), ("also", "so"), ("außerdem", "also"), ("zudem", "also"), ("ja", "yes"), ("nein", "no"), ("wichtig", "important"),
    ("übrigens", "by the way"), ("ab jetzt", "from now on"), ("ab sofort", "from now on"), ("ab jetzt gilt", "from now on"),
    ("künftig", "from now on"), ("in zukunft", "from now on"), ("verstanden", "got it"),
    // Deciding.
    ("wir nehmen", "we will use"), ("nehmen wir", "we will use"), ("wir verwenden", "we will use"), ("verwenden wir", "we will use"),
    ("wir nutzen", "we will use"), ("nutzen wir", "we will use"), ("wir benutzen", "we will use"), ("benutzen wir", "we will use"),
    ("wir setzen auf", "we will rely on"), ("wir bleiben bei", "we will stick with"), ("es bleibt bei", "we will stick with"),
    ("bleiben wir bei", "we will stick with"), ("wir behalten", "we will keep"), ("behalten wir", "we will keep"), ("wir wechseln zu", "we will switch to"),
    ("wechseln wir zu", "we will switch to"), ("wir wechseln auf", "we will switch to"), ("wir steigen um auf", "we will switch to"),
    ("wir gehen auf", "we will go with"), ("wir entscheiden uns für", "we decided on"), ("wir machen", "we will model"), ("machen wir", "we will model"),
    ("lassen wir", "we will leave"), ("wir lassen", "we will leave"), ("übernehmen wir", "we will adopt"), ("wir übernehmen", "we will adopt"),
    ("wir verzichten auf", "we will not use"), ("verzichten wir auf", "we will not use"), ("wir verschieben", "we will postpone"),
    ("wir speichern", "we will store"), ("speichern wir", "we will store"), ("ersetzen wir", "we will replace"), ("wir ersetzen", "we will replace"),
    ("entscheidung", "decision"), ("beschluss", "decision"),
    // Changing one's mind.
    ("stattdessen", "instead"), ("statt", "instead of"), ("anstatt", "instead of"), ("anstelle von", "instead of"), ("kommando zurück", "change of plan"),
    ("planänderung", "change of plan"), ("doch nicht", "after all not"), ("doch lieber", "instead"), ("korrektur", "correction"), ("halt", "wait"),
    ("moment", "wait"), ("vergiss", "forget"), ("vergesst", "forget"),
    // Ruling.
    ("muss", "must"), ("müssen", "must"), ("darf nicht", "must not"), ("dürfen nicht", "must not"), ("darf kein", "must not"),
    ("darf keine", "must not"), ("darf keinen", "must not"), ("dürfen keine", "must not"), ("dürfen wir keine", "must not"),
    ("wir dürfen keine", "we must not"), ("wir dürfen nicht", "we must not"), ("dürfen wir nicht", "must not"), ("darf niemals", "must never"),
    ("dürfen niemals", "must never"), ("darf nie", "must never"), ("dürfen nie", "must never"), ("auf keinen fall", "must never"),
    ("unter keinen umständen", "under no circumstances"), ("keinesfalls", "must never"), ("ist pflicht", "is mandatory"),
    ("sind pflicht", "are mandatory"), ("ist verboten", "is forbidden"), ("sind verboten", "are forbidden"), ("ist tabu", "is forbidden"),
    ("möglichst", "prefer"), ("bevorzugt", "prefer"), ("sollte", "should"), ("sollten", "should"), ("wir sollten", "we should"),
    ("sollten wir", "we should"), ("achte darauf dass", "make sure that"), ("stell sicher dass", "make sure that"),
    // Goals.
    ("ziel ist", "the goal is"), ("das ziel ist", "the goal is"), ("unser ziel ist", "our goal is"), ("ziel", "goal"), ("ziel ist es", "the goal is"),
    ("das ziel ist es", "the goal is"), ("wir wollen", "our goal is"), ("wir möchten", "our goal is"), ("wir bauen", "we are building"), ("wir entwickeln", "we are building"),
    ("ich baue", "i am building"), ("dass", ""),
    // Work.
    ("bitte", "please"), ("kannst du", "can you +handle"), ("könntest du", "could you +handle"), ("kannst du bitte", "can you +handle"),
    ("kannst du noch", "can you +handle"), ("ich werde", "i will +handle"), ("ich kümmere mich um", "i will +handle"), ("als nächstes werde ich", "i will +handle"),
    ("wir müssen noch", "we still need to +handle"), ("ich muss noch", "i have to +handle"), ("denk daran dass", "note that"),
    ("vergiss nicht", "do not forget to +handle"), ("denk an", "remember to +handle"), ("aufgabe", "task"), ("nächster schritt", "next step"),
    ("brauchen wir nicht mehr", "is no longer needed"), ("wir brauchen nicht mehr", "we no longer need"), ("ist nicht mehr nötig", "is no longer needed"),
    ("sind nicht mehr nötig", "are no longer needed"), ("wird nicht mehr benötigt", "is no longer needed"), ("ist hinfällig", "is obsolete"),
    ("ist vom tisch", "is off the table"), ("entfällt", "is obsolete"), ("ist wieder kaputt", "is broken again"), ("nicht mehr", "no longer"),
    // Finding out.
    ("es hat sich herausgestellt", "it turns out"), ("es stellt sich heraus", "it turns out"), ("wie sich herausstellt", "it turns out"),
    ("ich habe festgestellt", "i found that"), ("ich habe herausgefunden", "i found that"), ("ich habe gesehen", "we saw that"),
    ("mir ist aufgefallen", "i noticed that"), ("ich habe nachgesehen", "i checked and"), ("ich habe gemessen", "i measured"),
    ("die logs zeigen", "the logs show"), ("die messung zeigt", "the logs show"), ("bestätigt", "confirmed"), ("die ursache ist", "the root cause is"),
    ("die ursache war", "the root cause was"),
    // Doubting.
    ("vielleicht", "maybe"), ("eventuell", "maybe"), ("möglicherweise", "possibly"), ("vermutlich", "presumably"), ("wahrscheinlich", "probably"),
    ("wohl", "probably"), ("angeblich", "allegedly"), ("hoffentlich", "hopefully"), ("anscheinend", "apparently"), ("offenbar", "apparently"),
    ("scheinbar", "apparently"), ("scheint", "seems"), ("scheinen", "seem"), ("ich glaube", "i think"), ("glaube ich", "i think"), ("ich denke", "i think"),
    ("denke ich", "i think"), ("ich vermute", "i suspect"), ("ich nehme an", "i assume"), ("ich schätze", "i guess"), ("ich hoffe", "i hope"),
    ("ich fürchte", "i am afraid"), ("meines wissens", "afaik"), ("soweit ich weiß", "afaik"), ("unsicher", "not sure"), ("nicht sicher", "not sure"),
    ("keine ahnung", "no idea"), ("irgendwann", "at some point"), ("mal sehen", "we will see"), ("mal schauen", "we will see"), ("ich überlege", "considering"),
    ("wir überlegen", "considering"), ("überlegen wir", "considering"), ("wir erwägen", "considering"), ("am besten", "suggest"), ("ich schlage vor", "i suggest"),
    ("mein vorschlag", "suggestion"), ("vorschlag", "suggestion"), ("idee", "an idea"), ("könnte", "could"), ("könnten", "could"), ("könnten wir", "we could"),
    ("wir könnten", "we could"), ("würde", "would"), ("würden", "would"), ("wäre", "would"), ("wären", "would"), ("hätte", "would"), ("hätten", "would"),
    ("dürfte", "might"), ("dürften", "might"), ("ich tendiere", "leaning"), ("theoretisch", "in theory"), ("im prinzip", "in principle"), ("ungefähr so", "or so"),
    ("oder so", "or so"), ("mag", "might"), ("kann sein", "maybe"),
    // Asking and supposing.
    ("sollen wir", "should we"), ("soll ich", "should i"), ("wollen wir", "should we"), ("nehmen wir an", "let us assume"), ("was ist euch lieber", "what do you think"),
    ("was meinst du", "what do you think"), ("was meint ihr", "what do you think"), ("was denkst du", "what do you think"), ("entweder", "either"),
    ("zwei möglichkeiten", "two options"), ("es gibt zwei möglichkeiten", "two options"), ("zwei optionen", "two options"), ("gibt es zwei möglichkeiten", "two options"),
    ("die wahl zwischen", "choice between"), ("zwischen", "between"), ("wenn", "if"), ("falls", "if"), ("sofern", "if"), ("es sei denn", "unless"), ("solange", "as long as"), ("vorausgesetzt", "provided"),
    ("angenommen", "supposing"), ("ob", "whether"), ("sobald", "if"), ("ansonsten", "otherwise"), ("sonst", "otherwise"), ("je nachdem", "depending on"),
    // Reporting, wishing, remembering.
    ("sagt", "says"), ("sagte", "said"), ("meint", "thinks"), ("meinte", "thought"), ("findet", "thinks"), ("behauptet", "claims"), ("schreibt", "writes"),
    ("schrieb", "wrote"), ("will", "wants"), ("möchte", "wants"), ("wünscht sich", "wants"), ("empfiehlt", "recommends"), ("schlägt vor", "suggests"),
    ("laut", "according to"), ("angenommen wir", "let us assume"), ("zum beispiel", "for example"), ("beispielsweise", "for example"), ("früher", "previously"),
    ("damals", "back then"), ("letztes jahr", "last year"), ("fast", "almost"), ("beinahe", "almost"), ("scherz", "just kidding"), ("nur spaß", "just kidding"),
    ("noch nicht entschieden", "undecided"), ("nicht entschieden", "undecided"), ("noch offen", "still open"), ("steht noch nicht fest", "undecided"),
    ("wollten", "were going to"), ("wollte", "was going to"), ("eigentlich wollten wir", "we were going to"),
];

/// Verbs of work, without their endings. An order begins with one; "bitte … schreiben" ends with one.
const WORK: &str = "\
    schreib | füg | bau | erstell | mach | prüf | test | lösch | entfern | änder | aktualisier | dokumentier | implementier | richt | installier | konfigurier | \
    migrier | verschieb | miss | messt | kümmer | ergänz | ersetz | behebe | beheb | reparier | korrigier | leg | pack | räum | veröffentlich | starte | \
    bereit | plan | schick | sende | bind | stell | zieh | schau | exportier | importier | refaktorier | überarbeit | hinzufüg | einbau | anleg | aufräum";

/// What a finished participle can begin with.
const PARTICIPLES: &str = "ge | er | ver | be | ent | zer | über | unter | ange | auf | aus | ein | ab | um | hinzuge | fertigge | vorge | nachge | zurückge";

/// Words like participles that finish nothing.
const STATES: &str = "gut | gepflegt | bekannt | geplant | gedacht | beliebt | verboten | erlaubt | gefordert | erforderlich | beschränkt | betroffen | veraltet | blockiert";

pub(super) fn habits(words: &mut Vec<Word>) {
    orders(words);
    perfect(words);
    finish(words, |word| is_participle(word) || is_among("fertig | erledigt | drin | online | live", word));
    super::deny(words);
}

/// "Schreib bitte einen Test", "bitte einen Test schreiben".
fn orders(words: &mut Vec<Word>) {
    let start = words.len() - super::super::strip_openers(words).len();
    let said = words.get(start).map_or(start, |word| start + usize::from(word.lower == "please"));
    let is_order = words.get(said).and_then(unread).is_some_and(|word| {
        is_among(WORK, word) || word.strip_suffix('e').is_some_and(|stem| is_among(WORK, stem))
    });
    let is_infinitive = |word: &str| {
        word.strip_suffix("en")
            .or_else(|| word.strip_suffix('n'))
            .is_some_and(|stem| WORK.split(" | ").any(|work| stem.ends_with(work)))
    };
    let asks_for = words.iter().any(|word| word.lower == "please")
        && !has(words, "no | not | never | must")
        && words.last().and_then(unread).is_some_and(is_infinitive);
    // "Für den Rest schreib bitte eine Liste."
    let is_inner = |pair: &[Word]| {
        pair[1].lower == "please" && unread(&pair[0]).is_some_and(|word| is_among(WORK, word))
    };
    if is_order {
        super::put_order(words, said);
    } else if asks_for || words.windows(2).any(is_inner) {
        super::put_order(words, start);
    }
}

/// "Ich habe … geschrieben", "wir haben uns für … entschieden": the participle says what was done.
fn perfect(words: &mut Vec<Word>) {
    let Some(at) = words.windows(2).position(|pair| {
        let pair = (pair[0].lower.as_str(), pair[1].lower.as_str());
        matches!(pair, ("i" | "we", "have") | ("have", "i" | "we"))
    }) else {
        return;
    };
    let last = end_of_part(words, at) - 1;
    let Some(participle) = words.get(last).and_then(unread).filter(|_| last > at + 1).map(str::to_owned)
    else {
        return;
    };
    let cue = match participle.as_str() {
        "entschieden" | "beschlossen" | "geeinigt" | "verständigt" => "we decided on",
        "festgestellt" | "herausgefunden" | "entdeckt" | "gemerkt" | "bemerkt" | "gelernt" => "i found that",
        word if is_participle(word) => "i have finished",
        _ => return,
    };
    // What was decided follows "für"; what was done stands before and behind the verb.
    let start = start_of_part(words, at);
    words.drain(at..at + 2);
    put(words, start, cue);
}

fn is_participle(word: &str) -> bool {
    let is_formed = PARTICIPLES.split(" | ").any(|start| word.starts_with(start)) || word.ends_with("iert");
    is_formed && (word.ends_with('t') || word.ends_with("en")) && word.len() > 4 && !is_among(STATES, word)
}
