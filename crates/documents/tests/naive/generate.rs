//! Random histories generated from a seed, over small domains so that writers collide.

use crate::answers::analyze;
use crate::model::Model;
use crate::types::{Ty, add_member, items, parse, put_entry, text_of};
use serde_json::{Value as Json, json};

/// A splitmix64 generator, the same on every machine.
pub(crate) struct Rng(pub(crate) u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % (end as u64)).unwrap()
    }

    pub(crate) fn percent(&mut self, chance: usize) -> bool {
        self.below(100) < chance
    }

    pub(crate) fn pick<'l, T>(&mut self, list: &'l [T]) -> &'l T {
        &list[self.below(list.len())]
    }
}

pub(crate) fn schema() -> Json {
    json!({
        "enums": {"Phase": ["idea", "draft", "final"]},
        "structs": {
            "Place": [["file", "string"], ["line", "int64"], ["marks", "set<string>"]],
            "Part": [["name", "string"], ["place", "Place"], ["due", "optional<int64>"]],
            "Bag": [["labels", "set<string>"], ["votes", "map<string,int64>"], ["notes", "xarray<string>"]],
            "Task": [["rank", "int8"], ["phase", "Phase"], ["guard", "optional<Place>"], ["bag", "Bag"], ["mark", "variant<int64,string>"]]
        },
        "attachments": {
            "count": "int64", "weight": "double", "flag": "optional<int64>", "tags": "set<string>", "list": "vector<int64>",
            "index": "map<string,int64>", "feed": "xarray<string>", "parts": "map<string,Part>", "rows": "xarray<Part>",
            "lanes": "map<string,xarray<string>>", "links": "map<int64,set<string>>", "grid": "map<string,map<string,int64>>",
            "nest": "optional<optional<Place>>", "maybe": "optional<set<string>>", "pair": "tuple<int64,set<string>>",
            "mark": "variant<int64,string,set<int64>>", "extra": "any", "sets": "set<set<string>>", "phases": "map<Phase,bool>",
            "stacks": "xarray<xarray<string>>", "vx": "vector<xarray<string>>", "task": "Task",
            "levels": "set<double>", "keyed": "map<tuple<int64,string>,optional<string>>"
        }
    })
}

/// Generates a value of a type in normal form.
pub(crate) fn value(rng: &mut Rng, schema: &Json, ty: &Ty) -> Json {
    match ty {
        Ty::Bool => json!(rng.percent(50)),
        Ty::Int(..) => json!(*rng.pick(&[0, 1, 2, 7])),
        Ty::Double => rng.pick(&[json!(0), json!(1.5), json!(1.0), json!(-2)]).clone(),
        Ty::Text => json!(*rng.pick(&["a", "b", "é"])),
        Ty::Enum(cases) => json!(rng.pick(cases)),
        Ty::Struct(fields) => {
            let members = fields.iter().map(|(name, ty)| (name.clone(), value(rng, schema, ty)));
            Json::Object(members.collect())
        }
        Ty::Optional(_) if rng.percent(35) => Json::Null,
        Ty::Optional(inner) => json!({ "some": value(rng, schema, inner) }),
        Ty::Tuple(parts) => parts.iter().map(|part| value(rng, schema, part)).collect(),
        Ty::Vector(inner) => (0..rng.below(3)).map(|_| value(rng, schema, inner)).collect(),
        Ty::Set(inner) => {
            let mut set = json!([]);
            for _ in 0..rng.below(3) {
                add_member(schema, inner, &mut set, &value(rng, schema, inner));
            }
            set
        }
        Ty::Map(key, inner) => {
            let mut map = json!([]);
            for _ in 0..rng.below(3) {
                let (key_value, entry) = (value(rng, schema, key), value(rng, schema, inner));
                put_entry(schema, key, &mut map, &key_value, &entry);
            }
            map
        }
        Ty::Variant(arms) => {
            let arm = rng.pick(arms).clone();
            json!({ "type": arm, "value": value(rng, schema, &parse(schema, &arm)) })
        }
        Ty::Any if rng.percent(25) => Json::Null,
        Ty::Any => {
            let text = *rng.pick(&["int64", "string", "xarray<string>", "set<string>", "Place"]);
            json!({ "type": text, "value": value(rng, schema, &parse(schema, text)) })
        }
        Ty::XArray(inner) => xarray(rng, schema, inner),
    }
}

fn xarray(rng: &mut Rng, schema: &Json, inner: &Ty) -> Json {
    let mut array = json!({ "order": [], "elements": {} });
    let mut disabled = Vec::new();
    for position in ["p1", "p2", "p3"] {
        if rng.percent(45) {
            continue;
        }
        let at = rng.below(items(&array["order"]).len() + 1);
        array["order"].as_array_mut().unwrap().insert(at, json!(position));
        if rng.percent(75) {
            array["elements"][position] = value(rng, schema, inner);
        } else if rng.percent(20) {
            disabled.push(position);
        }
    }
    if !disabled.is_empty() {
        array["disabled"] = json!(disabled);
    }
    array
}

fn position(rng: &mut Rng) -> &'static str {
    const NAMES: [&str; 5] = ["p1", "p2", "p3", "n1", "n2"];
    NAMES[rng.below(NAMES.len())]
}

/// Generates a random path from a type and returns it with the type found there.
fn path(rng: &mut Rng, schema: &Json, ty: &Ty) -> (Vec<Json>, Ty) {
    let (mut path, mut ty) = (Vec::new(), ty.clone());
    while !rng.percent(25) {
        let (step, below) = match &ty {
            Ty::Struct(fields) => {
                let (name, below) = rng.pick(fields);
                (json!({ "field": name }), below.clone())
            }
            Ty::Tuple(parts) => {
                let index = rng.below(parts.len());
                (json!({ "index": index }), parts[index].clone())
            }
            Ty::Vector(inner) => (json!({ "index": rng.below(3) }), (**inner).clone()),
            Ty::Map(key, inner) => (json!({ "key": value(rng, schema, key) }), (**inner).clone()),
            Ty::XArray(inner) => (json!({ "position": position(rng) }), (**inner).clone()),
            Ty::Optional(inner) => (json!({ "unwrap": true }), (**inner).clone()),
            _ => break,
        };
        path.push(step);
        ty = below;
    }
    (path, ty)
}

fn op(rng: &mut Rng, schema: &Json, (attachment, key): &(String, String)) -> Json {
    let doc_ty = parse(schema, &text_of(&schema["attachments"][attachment]));
    if rng.percent(12) {
        return json!({ "op": "document_set", "attachment": attachment, "key": key, "value": value(rng, schema, &doc_ty) });
    }
    let (path, ty) = path(rng, schema, &doc_ty);
    let mut op = json!({ "attachment": attachment, "key": key, "path": path });
    let whole = rng.percent(20);
    match &ty {
        Ty::Set(_) if !whole => {
            op["op"] = json!(*rng.pick(&["set_union", "set_subtract"]));
            op["value"] = value(rng, schema, &ty);
        }
        Ty::Map(key, _) if !whole => {
            op["op"] = json!(*rng.pick(&["map_union", "map_update", "map_subtract"]));
            let operand = if op["op"] == "map_subtract" { Ty::Set(key.clone()) } else { ty.clone() };
            op["value"] = value(rng, schema, &operand);
        }
        Ty::XArray(inner) if !whole => {
            op["op"] =
                json!(*rng.pick(&["xarray_insert", "xarray_insert", "xarray_update", "xarray_remove"]));
            op["position"] = json!(position(rng));
            if op["op"] == "xarray_insert" {
                op["before"] = json!(*rng.pick(&["END", "p1", "p2", "p3", "n1"]));
            }
            if op["op"] == "xarray_update" || op["op"] == "xarray_insert" && rng.percent(80) {
                op["value"] = value(rng, schema, inner);
            }
        }
        _ => {
            op["op"] = json!("document_update");
            op["value"] = value(rng, schema, &ty);
        }
    }
    op
}

/// Generates a scenario with every query that makes sense for it.
pub(crate) fn scenario(seed: u64) -> (Json, Model) {
    let mut rng = Rng(seed);
    let schema = schema();
    let names: Vec<String> = schema["attachments"].as_object().unwrap().keys().cloned().collect();
    let docs: Vec<(String, String)> =
        (0..=rng.below(3)).map(|i| (rng.pick(&names).clone(), format!("k{}", i % 2))).collect();
    let mut given = json!({ "schema": schema, "commits": [], "queries": [] });
    let mut model = Model::new(&given);
    for number in 0..rng.below(14) + 3 {
        let commit = commit(&mut rng, &model, &docs, number);
        model.add(commit.clone());
        given["commits"].as_array_mut().unwrap().push(commit);
    }
    given["queries"] = queries(&mut rng, &model).into();
    (given, model)
}

fn commit(rng: &mut Rng, model: &Model, docs: &[(String, String)], number: usize) -> Json {
    let names: Vec<String> = model.commits.keys().cloned().collect();
    let heads = model.heads();
    let mut commit = json!({
        "name": format!("c{number:02}"), "type": "mutations", "parent": null, "target": null, "author": *rng.pick(&["ann", "bo"]),
        "label": format!("step {number}"), "timestamp": 1000 + rng.below(5), "ops": [],
    });
    if names.is_empty() || rng.percent(3) {
        commit["ops"] = first_ops(rng, &model.schema, docs);
        return commit;
    }
    commit["parent"] = json!(if rng.percent(70) { rng.pick(&heads) } else { rng.pick(&names) });
    let parent = text_of(&commit["parent"]);
    if rng.percent(33) {
        let apart = |name: &&String| {
            !model.reachable(&parent).contains(*name) && !model.reachable(name).contains(&parent)
        };
        let candidates: Vec<&String> = names.iter().filter(apart).collect();
        if !candidates.is_empty() {
            commit["type"] = json!("merge");
            commit["target"] = json!(rng.pick(&candidates));
            return commit;
        }
    }
    if rng.percent(18) {
        commit["type"] = json!(*rng.pick(&["disable", "disable", "enable"]));
        commit["target"] = json!(rng.pick(&names));
        return commit;
    }
    for _ in 0..=rng.below(3) {
        let doc = rng.pick(docs);
        commit["ops"].as_array_mut().unwrap().push(op(rng, &model.schema, doc));
    }
    commit
}

fn first_ops(rng: &mut Rng, schema: &Json, docs: &[(String, String)]) -> Json {
    let mut ops = Vec::new();
    for (attachment, key) in docs {
        let ty = parse(schema, &text_of(&schema["attachments"][attachment]));
        if rng.percent(90) {
            ops.push(json!({ "op": "document_set", "attachment": attachment, "key": key, "value": value(rng, schema, &ty) }));
        }
    }
    json!(ops)
}

fn queries(rng: &mut Rng, model: &Model) -> Vec<Json> {
    let mut queries = vec![json!({ "heads": true }), json!({ "reduce_heads": true })];
    let merges: Vec<&String> = model.commits.keys().filter(|name| model.is(name, "merge")).collect();
    for name in model.commits.keys() {
        queries.push(json!({ "state": name }));
    }
    for merge in &merges {
        queries.push(json!({ "analyze": merge }));
        for _ in 0..2 {
            let resolutions = resolutions(rng, model, merge, &merges);
            queries.push(json!({ "reconcile": { "merge": merge, "resolutions": resolutions } }));
        }
    }
    queries.push(json!({ "analyze": "c00" }));
    queries
}

fn resolutions(rng: &mut Rng, model: &Model, merge: &str, merges: &[&String]) -> Vec<Json> {
    let analysis = analyze(model, merge).unwrap();
    let mut resolutions = Vec::new();
    for conflict in &analysis.conflicts {
        if rng.percent(25) {
            continue;
        }
        let ty = model.type_at(&conflict.doc, &conflict.locus);
        let choose = match rng.below(20) {
            0..=5 => json!("ours"),
            6..=10 => json!("theirs"),
            11..=12 => json!("merged"),
            13 => json!("base"),
            14 => json!({ "value": null }),
            15 if rng.percent(10) => json!("mine"),
            16 if rng.percent(10) => json!({ "value": { "some": {"no": "such"} } }),
            _ => match conflict.locus.last().and_then(|last| last.get("element")) {
                Some(element) => json!({ "value": { "some": element } }),
                None => json!({ "value": { "some": value(rng, &model.schema, &ty) } }),
            },
        };
        let mut resolution = json!({
            "attachment": conflict.doc.0, "key": conflict.doc.1, "path": conflict.locus, "choose": choose,
        });
        if rng.percent(3) {
            resolution["of"] = json!(rng.pick(merges));
        }
        if rng.percent(2) {
            resolutions.push(resolution.clone());
        }
        resolutions.push(resolution);
    }
    resolutions
}
