//! Spanish: verbs without pronouns, conditionals and orders by their endings.

use super::super::is_among;
use super::super::sentences::Word;
use super::{Gloss, finish, put, unread};

pub(super) const SIGNS: &str = "\
    el | la | los | las | un | una | unos | de | del | y | o | que | en | es | está | están | son | para | por | con | no | se | lo | al | su | nuestro | nuestra | \
    hay | ya | más | pero | si | sí | como | sin | este | esta | tiene | tienen | debe | deben | vamos | usamos | usaremos | queremos | podemos | hemos | he | nunca | \
    quizás | también | favor | todos | todas | ojo | vale | creo | ha | entonces | a | dice | qué";

#[rustfmt::skip]
pub(super) const PHRASES: &[Gloss] = &[
    // Who and what.
    ("el", "the"), ("la", "the"), ("los", "the"), ("las", "the"), ("nuestro", "our"), ("nuestra", "our"), ("todos los", "all"), ("todas las", "all"), ("cada", "each"), ("yo", "i"), ("y", "and"), ("o", "or"), ("pero", "but"),
    ("es", "is"), ("está", "is"), ("son", "are"), ("están", "are"), ("era", "was"), ("fue", "was"), ("fueron", "were"), ("tiene", "has"), ("tienen", "have"), ("contiene", "contains"), ("contienen", "contain"), ("tarda", "takes"), ("tardan", "take"), ("cuesta", "costs"), ("cuestan", "cost"),
    ("usa", "uses"), ("funciona", "works"), ("devuelve", "returns"), ("lee", "reads"), ("falla", "fails"), ("soporta", "supports"), ("no", "not"), ("nunca", "never"), ("jamás", "never"), ("siempre", "always"), ("ningún", "no"), ("ninguna", "no"), ("nada de", "no"), ("sin", "no"),
    // What people begin with.
    ("vale", "ok"), ("perfecto", "perfect"), ("bien", "good"), ("gracias", "thanks"), ("entonces", "then"), ("así que", "so"), ("también", "also"), ("además", "also"), ("sí", "yes"), ("ojo", "important"), ("importante", "important"), ("de acuerdo", "ok"), ("entendido", "got it"), ("a partir de ahora", "from now on"),
    ("desde ahora", "from now on"), ("por cierto", "by the way"), ("hola", "hey"), ("buenas", "hey"),
    // Deciding.
    ("vamos con", "we will go with"), ("usaremos", "we will use"), ("usamos", "we will use"), ("utilizaremos", "we will use"), ("utilizamos", "we will use"), ("vamos a usar", "we will use"), ("vamos a utilizar", "we will use"), ("nos quedamos con", "we will stick with"), ("mantenemos", "we will keep"), ("conservamos", "we will keep"),
    ("pasamos a", "we will switch to"), ("cambiamos a", "we will switch to"), ("nos cambiamos a", "we will switch to"), ("elegimos", "we will choose"), ("optamos por", "we opted for"), ("hemos decidido", "we decided to"), ("hemos decidido no", "we decided not to"), ("decidimos", "we decided to"), ("decidimos no", "we decided not to"), ("decidido", "agreed"),
    ("hemos elegido", "we have chosen"), ("hemos optado por", "we opted for"), ("no vamos a", "we will not"), ("no usaremos", "we will not use"), ("no usamos", "we will not use"), ("dejamos", "we will leave"), ("aplazamos", "we will postpone"), ("decisión", "decision"), ("limitamos", "we will limit"), ("guardamos", "we will store"), ("seguimos con", "we will stick with"),
    // Changing one's mind.
    ("en lugar de", "instead of"), ("en vez de", "instead of"), ("cambio de planes", "change of plan"), ("cambio de plan", "change of plan"), ("en realidad", "actually"), ("corrección", "correction"), ("espera", "wait"), ("olvida", "forget"), ("olvídate de", "forget about"), ("olvidemos", "forget"), ("mejor", "rather"),
    ("ya no hace falta", "we no longer need"), ("ya no hacen falta", "we no longer need"), ("ya no necesitamos", "we no longer need"), ("ya no usamos", "we no longer use"), ("ya no es necesario", "is no longer needed"), ("ya no es necesaria", "is no longer needed"), ("ya no son necesarios", "are no longer needed"), ("está cancelado", "is cancelled"), ("está cancelada", "is cancelled"), ("vuelve a fallar", "is broken again"),
    // Ruling.
    ("debe", "must"), ("deben", "must"), ("tiene que", "must"), ("tienen que", "must"), ("hay que", "we must"), ("no debe", "must not"), ("no deben", "must not"), ("no puede", "must not"), ("no pueden", "must not"), ("no podemos", "we must not"), ("no se puede", "must not"), ("no se pueden", "must not"), ("nunca debe", "must never"), ("nunca deben", "must never"), ("no hay que", "we must not"),
    ("es obligatorio", "is mandatory"), ("es obligatoria", "is mandatory"), ("está prohibido", "is forbidden"), ("está prohibida", "is forbidden"), ("en ningún caso", "must never"), ("bajo ningún concepto", "must never"), ("preferiblemente", "prefer"), ("evita", "avoid"), ("asegúrate de que", "make sure that"),
    // Goals.
    ("el objetivo es", "the goal is"), ("la meta es", "the goal is"), ("nuestro objetivo es", "our goal is"), ("objetivo", "goal"), ("queremos", "our goal is to"), ("estamos construyendo", "we are building"), ("estamos desarrollando", "we are building"), ("estamos haciendo", "we are building"),
    // Work.
    ("por favor", "please"), ("puedes", "can you +handle"), ("podrías", "could you +handle"), ("voy a", "i will +handle"), ("no olvides", "do not forget to +handle"), ("no te olvides de", "do not forget to +handle"), ("tarea", "task"), ("siguiente paso", "next step"), ("falta", "we still need to +handle"), ("me encargo de", "i will +handle"), ("tenemos que", "we need to +handle"),
    // Finding out.
    ("resulta que", "it turns out"), ("he descubierto que", "i found that"), ("descubrí que", "i found that"), ("he visto que", "i found that"), ("he notado que", "i noticed that"), ("hemos visto que", "we found that"), ("he comprobado que", "i verified that"), ("lo medí", "i checked and"), ("he medido", "i measured"), ("los logs muestran que", "the logs show that"), ("confirmado", "confirmed"),
    ("la causa es", "the root cause is"),
    // Doubting.
    ("quizás", "maybe"), ("quizá", "maybe"), ("tal vez", "maybe"), ("a lo mejor", "maybe"), ("posiblemente", "possibly"), ("probablemente", "probably"), ("seguramente", "probably"), ("supuestamente", "supposedly"), ("al parecer", "apparently"), ("parece que", "it seems"), ("parece", "seems"), ("creo que", "i think"), ("creo", "i think"), ("pienso que", "i think"), ("supongo que", "i suppose"), ("supongo", "i suppose"),
    ("sospecho que", "i suspect"), ("imagino que", "i imagine"), ("no estoy seguro", "not sure"), ("no estoy segura", "not sure"), ("no sé", "not sure"), ("ni idea", "no idea"), ("en mi opinión", "imo"), ("propongo", "i suggest"), ("propuesta", "suggestion"), ("idea", "an idea"), ("estamos pensando en", "considering"), ("estamos considerando", "considering"), ("algún día", "one day"), ("más adelante", "eventually"), ("en teoría", "in theory"),
    ("espero que", "i hope"), ("ya veremos", "we will see"), ("o algo así", "or something"), ("puede ser", "maybe"), ("puede que", "maybe"), ("igual", "maybe"),
    // Asking and supposing.
    ("prefieres", "do you prefer"), ("preferís", "do you prefer"), ("qué opinas", "what do you think"), ("tú qué opinas", "what do you think"), ("deberíamos", "should we"), ("dos opciones", "two options"), ("hay dos opciones", "two options"), ("entre", "between"), ("si", "if"), ("en caso de", "in case"), ("a menos que", "unless"), ("siempre que", "as long as"), ("suponiendo que", "supposing"), ("cuando", "when"), ("de lo contrario", "otherwise"), ("depende de", "depending on"),
    // Reporting, wishing, remembering.
    ("dice que", "says"), ("dice", "says"), ("dijo", "said"), ("quiere", "wants"), ("piensa", "thinks"), ("recomienda", "recommends"), ("sugiere", "suggests"), ("propone", "proposes"), ("pide", "asks"), ("según", "according to"), ("por ejemplo", "for example"), ("antes", "previously"), ("el año pasado", "last year"), ("casi", "almost"), ("es broma", "just kidding"), ("no está decidido", "undecided"), ("aún no hemos decidido", "undecided"), ("sin decidir", "undecided"),
    ("por decidir", "to be decided"), ("íbamos a", "were going to"), ("ojalá", "i wish"),
];

/// Infinitives of work.
const WORK: &str = "\
    añadir | agregar | escribir | corregir | crear | borrar | eliminar | modificar | instalar | configurar | probar | documentar | verificar | revisar | migrar | importar | exportar | desplegar | \
    publicar | renombrar | medir | preparar | limpiar | enviar | redactar | mover | reemplazar | activar | desactivar | integrar | convertir | terminar | generar | arreglar | actualizar | quitar | poner | hacer";

pub(super) fn habits(words: &mut Vec<Word>) {
    super::conditionals(words, &["ría", "rían", "ríamos", "rías"]);
    orders(words);
    super::continue_work(words, WORK);
    perfect(words);
    finish(words, |word| {
        is_participle(word)
            || is_among("listo | lista | listos | listas | hecho | hecha | terminado | marcha", word)
    });
    super::deny(words);
}

/// "Añade pruebas", "mídelo", "no guardes …".
fn orders(words: &mut Vec<Word>) {
    let start = words.len() - super::super::strip_openers(words).len();
    let start = words.get(start).map_or(start, |word| start + usize::from(word.lower == "please"));
    let denied = words.get(start).is_some_and(|word| matches!(word.lower.as_str(), "not" | "never"));
    let Some(verb) = words.get(start + usize::from(denied)).and_then(unread).map(str::to_owned) else {
        return;
    };
    // "No guardes", "nunca borres": the forbidding form ends as the other conjugation does.
    if denied
        && (verb.ends_with("es") || verb.ends_with("as") || verb.ends_with("an") || verb.ends_with("en"))
    {
        let forbids = words[start].lower == "not";
        if forbids {
            put(words, start, "do");
        }
    } else if !denied && is_imperative(&verb) {
        super::put_order(words, start);
    }
}

fn is_imperative(verb: &str) -> bool {
    let bare = ["lo", "la", "los", "las"]
        .into_iter()
        .find_map(|end| verb.strip_suffix(end))
        .filter(|bare| bare.len() > 2)
        .unwrap_or(verb);
    let plain = |text: &str| {
        text.replace('á', "a").replace('é', "e").replace('í', "i").replace('ó', "o").replace('ú', "u")
    };
    WORK.split(" | ").any(|work| {
        let (stem, ending) = work.split_at(work.len() - 2);
        let formed = format!("{stem}{}", if ending == "ar" { "a" } else { "e" });
        plain(bare) == plain(&formed) || plain(bare) == plain(&formed.replacen("ed", "id", 1))
    })
}

/// "He añadido …", "ya configuré …".
fn perfect(words: &mut Vec<Word>) {
    let is_have = |word: &Word| unread(word).is_some_and(|word| matches!(word, "he" | "hemos"));
    if let Some(at) =
        words.windows(2).position(|pair| is_have(&pair[0]) && unread(&pair[1]).is_some_and(is_participle))
    {
        words[at].lower = "have".into();
        words[at + 1].lower = "finished".into();
        words.insert(at, Word { lower: "i".into(), ..words[at].clone() });
        return;
    }
    let start = words.len() - super::super::strip_openers(words).len();
    let first = start + usize::from(words.get(start).and_then(unread).is_some_and(|word| word == "ya"));
    let is_past = words
        .get(first)
        .and_then(unread)
        .is_some_and(|word| word.len() > 3 && (word.ends_with('é') || word.ends_with('í')));
    if is_past {
        words[first].lower = "finished".into();
        words.drain(start..first);
    }
}

fn is_participle(word: &str) -> bool {
    let bare = word.trim_end_matches('s');
    word.len() > 4 && ["ado", "ada", "ido", "ida"].iter().any(|end| bare.ends_with(end))
        || is_among("hecho | escrito | puesto | resuelto | abierto | roto", bare)
}
