//! Queries answered by the naive model: analysis, reconciliation, reduction.

use crate::model::{Doc, Model, State, leaves};
use crate::types::{Ty, add_member, fits, items, put_entry, same, text_of};
use serde_json::{Value as Json, json};
use std::collections::{BTreeMap, BTreeSet};

pub(crate) struct Conflict {
    pub(crate) doc: Doc,
    pub(crate) locus: Vec<Json>,
    pub(crate) shown: Json,
}

pub(crate) struct Analysis {
    pub(crate) base: Option<String>,
    pub(crate) conflicts: Vec<Conflict>,
    ours: State,
    theirs: State,
    merged: State,
    base_state: Option<State>,
}

fn some(value: Option<Json>) -> Json {
    value.map_or(Json::Null, |value| json!({ "some": value }))
}

fn shown_state(state: &State) -> Json {
    let mut shown = json!({});
    for ((attachment, key), value) in state {
        shown[attachment][key] = value.clone();
    }
    shown
}

/// Answers one query of a scenario.
pub(crate) fn answer(model: &mut Model, query: &Json) -> Json {
    if let Some(name) = query["state"].as_str() {
        return json!({ "state": shown_state(&model.state(name)) });
    }
    if query.get("heads").is_some() {
        return json!({ "heads": model.heads() });
    }
    if let Some(name) = query["analyze"].as_str() {
        return analyze(model, name).map_or(json!({ "error": "not_a_merge" }), |found| show(&found));
    }
    if query.get("reduce_heads").is_some() {
        return reduce(model);
    }
    let merge = text_of(&query["reconcile"]["merge"]);
    match reconcile(model, &merge, items(&query["reconcile"]["resolutions"])) {
        Ok(result) => result,
        Err(code) => json!({ "error": code }),
    }
}

/// A locus, the sides that lost there, and the commits whose opcodes were lost.
type Lost = (Vec<Json>, BTreeSet<&'static str>, BTreeSet<String>);

pub(crate) fn analyze(model: &Model, merge: &str) -> Option<Analysis> {
    if !model.is(merge, "merge") {
        return None;
    }
    let (parent, target) =
        (text_of(&model.commits[merge]["parent"]), text_of(&model.commits[merge]["target"]));
    let (ours, theirs, merged) = (model.state(&parent), model.state(&target), model.state(merge));
    let base = merge_base(model, &parent, &target);
    let base_state = base.as_deref().map(|base| model.state(base));
    let mut lost: BTreeMap<(Doc, Vec<u8>), Lost> = BTreeMap::new();
    let mut report = |doc: &Doc, locus: &[Json], side: &'static str, cause: Option<&String>| {
        let sort_key = (doc.clone(), probity_core::json::canonical(&json!(locus)));
        let entry =
            lost.entry(sort_key).or_insert_with(|| (locus.to_vec(), BTreeSet::new(), BTreeSet::new()));
        entry.1.insert(side);
        entry.2.extend(cause.cloned());
    };
    for (side, top, other, own) in [("ours", &parent, &target, &ours), ("theirs", &target, &parent, &theirs)]
    {
        let shared = model.reachable(other);
        for (commit, on) in model.linear(top) {
            if !on || shared.contains(&commit) || !model.is(&commit, "mutations") {
                continue;
            }
            for op in items(&model.commits[&commit]["ops"]) {
                let doc = (text_of(&op["attachment"]), text_of(&op["key"]));
                for (locus, claim) in model.assertions(op) {
                    if model.holds(own, &doc, &locus, &claim) && !model.holds(&merged, &doc, &locus, &claim) {
                        report(&doc, &locus, side, Some(&commit));
                    }
                }
            }
        }
    }
    for doc in ours.keys().chain(merged.keys()) {
        for locus in shared_loss(model, doc, &ours, &theirs, &merged) {
            report(doc, &locus, "ours", None);
            report(doc, &locus, "theirs", None);
        }
    }
    let conflicts = lost
        .into_iter()
        .map(|((doc, _), (locus, sides, causes))| {
            let read = |state: &State| some(model.read(state, &doc, &locus));
            let shown = json!({
                "attachment": doc.0, "key": doc.1, "path": locus, "lost": sides, "causes": causes,
                "base": base_state.as_ref().map_or(Json::Null, read), "ours": read(&ours), "theirs": read(&theirs),
                "merged": read(&merged),
            });
            Conflict { doc, locus, shown }
        })
        .collect();
    Some(Analysis { base, conflicts, ours, theirs, merged, base_state })
}

fn merge_base(model: &Model, a: &str, b: &str) -> Option<String> {
    let reach_b = model.reachable(b);
    let common: Vec<String> =
        model.reachable(a).into_iter().filter(|commit| reach_b.contains(commit)).collect();
    let is_maximal = |commit: &String| {
        !common.iter().any(|other| other != commit && model.reachable(other).contains(commit))
    };
    let maximal: Vec<&String> = common.iter().filter(|commit| is_maximal(commit)).collect();
    if let [base] = maximal.as_slice() { Some((*base).clone()) } else { None }
}

fn shared_loss(model: &Model, doc: &Doc, ours: &State, theirs: &State, merged: &State) -> Vec<Vec<Json>> {
    let ty = model.doc_type(doc);
    let mut found: Vec<Vec<Json>> = Vec::new();
    if let Some(value) = ours.get(doc) {
        for (locus, claim) in leaves(&ty, value, &[]) {
            if model.holds(theirs, doc, &locus, &claim) && !model.holds(merged, doc, &locus, &claim) {
                found.push(locus);
            }
        }
    }
    if let Some(value) = merged.get(doc) {
        for (locus, _) in leaves(&ty, value, &[]) {
            let absent = |end: &usize| {
                model.read(ours, doc, &locus[..*end]).is_none()
                    && model.read(theirs, doc, &locus[..*end]).is_none()
            };
            let Some(end) = (0..=locus.len()).find(absent) else { continue };
            if !found.iter().any(|known| locus[..end].starts_with(known)) {
                found.push(locus[..end].to_vec());
            }
        }
    }
    found
}

fn show(analysis: &Analysis) -> Json {
    let mut documents: Vec<Json> = Vec::new();
    for (index, conflict) in analysis.conflicts.iter().enumerate() {
        let (attachment, key) = &conflict.doc;
        match documents.last_mut() {
            Some(last) if last["attachment"] == **attachment && last["key"] == **key => {
                last["conflicts"].as_array_mut().unwrap().push(json!(index));
            }
            _ => documents.push(json!({ "attachment": attachment, "key": key, "conflicts": [index] })),
        }
    }
    let conflicts: Vec<&Json> = analysis.conflicts.iter().map(|conflict| &conflict.shown).collect();
    json!({
        "base": analysis.base, "two_way": analysis.base.is_none(), "conflicts": conflicts, "documents": documents,
    })
}

fn reduce(model: &mut Model) -> Json {
    let heads = model.heads();
    let rank = |name: &String| (model.commits[name]["timestamp"].as_i64(), model.ids[name].clone());
    let mut running = heads.iter().max_by_key(|name| rank(name)).unwrap().clone();
    let mut others: Vec<String> = heads.into_iter().filter(|name| *name != running).collect();
    others.sort_by_key(|name| model.ids[name].clone());
    let mut merges = Vec::new();
    for (index, head) in others.iter().enumerate() {
        let name = format!("r{}", index + 1);
        merges.push(json!({ "name": name, "parent": running, "target": head }));
        model.add(json!({ "name": name, "type": "merge", "parent": running, "target": head, "author": "n", "label": "",
            "timestamp": 0, "ops": [] }));
        running = name;
    }
    let result = json!({ "merges": merges, "head": running, "state": shown_state(&model.state(&running)) });
    for index in 1..=others.len() {
        model.forget(&format!("r{index}"));
    }
    result
}

struct Decree {
    conflict: usize,
    value: Option<Json>,
    source: &'static str,
}

fn reconcile(model: &Model, merge: &str, resolutions: &[Json]) -> Result<Json, &'static str> {
    let analysis = analyze(model, merge).ok_or("not_a_merge")?;
    let mut named = Vec::new();
    for resolution in resolutions {
        let is_meant = |conflict: &Conflict| {
            conflict.shown["attachment"] == resolution["attachment"]
                && conflict.shown["key"] == resolution["key"]
                && conflict.shown["path"] == resolution["path"]
        };
        if let Some(of) = resolution["of"].as_str().filter(|of| *of != merge) {
            let foreign = analyze(model, of).is_some_and(|other| other.conflicts.iter().any(is_meant));
            return Err(if foreign { "foreign_conflict" } else { "unknown_conflict" });
        }
        named.push(analysis.conflicts.iter().position(is_meant).ok_or("unknown_conflict")?);
    }
    if named.iter().collect::<BTreeSet<_>>().len() < named.len() {
        return Err("duplicate_resolution");
    }
    let mut decrees = Vec::new();
    for (resolution, conflict) in resolutions.iter().zip(&named) {
        decrees.extend(decree(model, &analysis, *conflict, &resolution["choose"])?);
    }
    for a in &decrees {
        for b in &decrees {
            let (a, b) = (&analysis.conflicts[a.conflict], &analysis.conflicts[b.conflict]);
            if a.doc == b.doc && a.locus.len() < b.locus.len() && b.locus.starts_with(&a.locus) {
                return Err("overlapping_resolutions");
            }
        }
    }
    decrees.sort_by_key(|decree| (decree.value.is_none(), decree.conflict));
    let mut working = analysis.merged.clone();
    for decree in decrees {
        let Conflict { doc, locus, .. } = &analysis.conflicts[decree.conflict];
        match decree.value {
            Some(value) => place(model, &analysis, &mut working, doc, locus, &value, decree.source)?,
            None => remove(model, &mut working, doc, locus)?,
        }
    }
    let mut ops = Vec::new();
    for (doc, after) in &working {
        diff(model, doc, analysis.merged.get(doc), after, &mut ops);
    }
    if ops.is_empty() {
        return Ok(json!({ "result": "merge-stands" }));
    }
    let mut state = analysis.merged.clone();
    for op in &ops {
        model.apply(&mut state, op, true);
    }
    Ok(json!({ "result": "survival", "ops": ops, "state": shown_state(&state) }))
}

fn decree(
    model: &Model,
    analysis: &Analysis,
    conflict: usize,
    choose: &Json,
) -> Result<Option<Decree>, &'static str> {
    let Conflict { doc, locus, shown } = &analysis.conflicts[conflict];
    let shown = |source: &'static str| {
        Ok(Some(Decree { conflict, value: shown[source].get("some").cloned(), source }))
    };
    match choose.as_str() {
        Some("ours") => return shown("ours"),
        Some("theirs") => return shown("theirs"),
        Some("base") if analysis.base.is_none() => return Err("no_base"),
        Some("base") => return shown("base"),
        Some("merged") => return Ok(None),
        _ => {}
    }
    let value =
        choose.get("value").filter(|_| choose.as_object().unwrap().len() == 1).ok_or("invalid_choice")?;
    if value.is_null() {
        return Ok(Some(Decree { conflict, value: None, source: "first" }));
    }
    let value = value.get("some").ok_or("invalid_value")?;
    let ty = model.type_at(doc, locus);
    let element = locus.last().and_then(|last| last.get("element"));
    if !fits(&model.schema, &ty, value) || element.is_some_and(|x| !same(&model.schema, &ty, x, value)) {
        return Err("invalid_value");
    }
    Ok(Some(Decree { conflict, value: Some(value.clone()), source: "first" }))
}

fn sides(analysis: &Analysis) -> Vec<(&'static str, &State)> {
    let mut sides = vec![("ours", &analysis.ours), ("theirs", &analysis.theirs)];
    sides.extend(analysis.base_state.as_ref().map(|state| ("base", state)));
    sides
}

fn place(
    model: &Model,
    analysis: &Analysis,
    working: &mut State,
    doc: &Doc,
    locus: &[Json],
    value: &Json,
    source: &str,
) -> Result<(), &'static str> {
    let missing = (0..locus.len()).find(|end| model.read(working, doc, &locus[..*end]).is_none());
    if let Some(end) = missing {
        let enclosing = &locus[..locus.len() - 1];
        let source = sides(analysis).into_iter().find(|(name, state)| {
            *name == source || source == "first" && model.read(state, doc, enclosing).is_some()
        });
        let part = model.read(source.ok_or("unplaceable")?.1, doc, &locus[..end]).ok_or("unplaceable")?;
        put(model, analysis, working, doc, &locus[..end], &part)?;
    }
    put(model, analysis, working, doc, locus, value)
}

fn put(
    model: &Model,
    analysis: &Analysis,
    working: &mut State,
    doc: &Doc,
    locus: &[Json],
    value: &Json,
) -> Result<(), &'static str> {
    let Some((last, enclosing)) = locus.split_last() else {
        working.insert(doc.clone(), value.clone());
        return Ok(());
    };
    let mut result = Err("unplaceable");
    let document = working.get_mut(doc).ok_or("unplaceable")?;
    model.edit(&model.doc_type(doc), document, enclosing, &mut |ty, place| {
        result = Ok(());
        if let Some(name) = last["field"].as_str() {
            place[name] = value.clone();
        } else if let (Some(key), Ty::Map(key_ty, _)) = (last.get("key"), ty) {
            put_entry(&model.schema, key_ty, place, key, value);
        } else if let (Some(_), Ty::Set(inner)) = (last.get("element"), ty) {
            add_member(&model.schema, inner, place, value);
        } else if let Some(index) = last["index"].as_u64() {
            match place.get_mut(usize::try_from(index).unwrap()) {
                Some(item) => *item = value.clone(),
                None => result = Err("unplaceable"),
            }
        } else if let Some(position) = last["position"].as_str() {
            put_element(model, analysis, doc, enclosing, position, place);
            place["elements"][position] = value.clone();
        } else {
            *place = json!({ "some": value });
        }
    });
    result
}

/// Inserts the position if it is unknown, and enables it.
fn put_element(
    model: &Model,
    analysis: &Analysis,
    doc: &Doc,
    enclosing: &[Json],
    position: &str,
    array: &mut Json,
) {
    let order: Vec<String> = items(&array["order"]).iter().map(text_of).collect();
    if !order.iter().any(|known| known == position) {
        let arrays = sides(analysis).into_iter().filter_map(|(_, state)| model.read(state, doc, enclosing));
        let orders = arrays.map(|array| items(&array["order"]).iter().map(text_of).collect::<Vec<String>>());
        let knowing = orders.into_iter().find(|order| order.iter().any(|known| known == position));
        let following = knowing.and_then(|theirs| {
            let start = theirs.iter().position(|known| known == position).unwrap();
            theirs[start..].iter().find_map(|after| order.iter().position(|known| known == after))
        });
        let at = following.unwrap_or(order.len());
        array["order"].as_array_mut().unwrap().insert(at, json!(position));
    }
    let disabled = array["disabled"].as_array().cloned().unwrap_or_default();
    let left: Vec<Json> = disabled.into_iter().filter(|known| known != position).collect();
    array.as_object_mut().unwrap().remove("disabled");
    if !left.is_empty() {
        array["disabled"] = json!(left);
    }
}

fn remove(model: &Model, working: &mut State, doc: &Doc, locus: &[Json]) -> Result<(), &'static str> {
    if model.read(working, doc, locus).is_none() {
        return Ok(());
    }
    let (last, enclosing) = locus.split_last().ok_or("cannot_remove")?;
    let mut result = Ok(());
    let document = working.get_mut(doc).unwrap();
    model.edit(&model.doc_type(doc), document, enclosing, &mut |ty, place| match ty {
        Ty::Set(inner) => {
            place
                .as_array_mut()
                .unwrap()
                .retain(|known| !same(&model.schema, inner, known, &last["element"]));
        }
        Ty::Map(key_ty, _) => {
            place
                .as_array_mut()
                .unwrap()
                .retain(|entry| !same(&model.schema, key_ty, &entry[0], &last["key"]));
        }
        Ty::XArray(_) => {
            place["elements"].as_object_mut().unwrap().remove(last["position"].as_str().unwrap());
        }
        Ty::Optional(_) => *place = Json::Null,
        _ => result = Err("cannot_remove"),
    });
    result
}

fn diff(model: &Model, doc: &Doc, before: Option<&Json>, after: &Json, ops: &mut Vec<Json>) {
    match before {
        None => ops.push(json!({ "op": "document_set", "attachment": doc.0, "key": doc.1, "value": after })),
        Some(before) => diff_at(model, doc, &model.doc_type(doc), &[], (before, after), ops),
    }
}

fn diff_at(model: &Model, doc: &Doc, ty: &Ty, path: &[Json], (a, b): (&Json, &Json), ops: &mut Vec<Json>) {
    let schema = &model.schema;
    if same(schema, ty, a, b) {
        return;
    }
    let mut emit = |op: &str, value: Json| {
        ops.push(json!({ "op": op, "attachment": doc.0, "key": doc.1, "path": path, "value": value }));
    };
    let mut emit_all = |op: &str, list: Vec<Json>| {
        if !list.is_empty() {
            emit(op, json!(list));
        }
    };
    match ty {
        Ty::Struct(fields) => {
            for (name, ty) in fields.iter() {
                let path = [path, &[json!({ "field": name })]].concat();
                diff_at(model, doc, ty, &path, (&a[name], &b[name]), ops);
            }
        }
        Ty::Set(inner) => {
            let lacking = |from: &Json, list: &Json| -> Vec<Json> {
                let has = |x: &Json| items(list).iter().any(|y| same(schema, inner, x, y));
                items(from).iter().filter(|x| !has(x)).cloned().collect()
            };
            emit_all("set_subtract", lacking(a, b));
            emit_all("set_union", lacking(b, a));
        }
        Ty::Map(key_ty, value_ty) => {
            let find = |map: &Json, key: &Json| {
                items(map).iter().find(|entry| same(schema, key_ty, &entry[0], key)).cloned()
            };
            let gone = items(a).iter().filter(|entry| find(b, &entry[0]).is_none());
            emit_all("map_subtract", gone.map(|entry| entry[0].clone()).collect());
            let changed = items(b).iter().filter(|entry| {
                find(a, &entry[0]).is_some_and(|old| !same(schema, value_ty, &old[1], &entry[1]))
            });
            emit_all("map_update", changed.cloned().collect());
            let new = items(b).iter().filter(|entry| find(a, &entry[0]).is_none());
            emit_all("map_union", new.cloned().collect());
        }
        _ if path.is_empty() => {
            ops.push(json!({ "op": "document_set", "attachment": doc.0, "key": doc.1, "value": b }));
        }
        _ => emit("document_update", b.clone()),
    }
}
