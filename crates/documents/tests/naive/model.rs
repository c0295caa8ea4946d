//! The naive model: the specification, implemented as directly as possible. It replays every state from the root,
//! recomputes every set of reachable commits and checks every assertion of every opcode. It is slow on purpose and
//! shares no code with the engine.

use crate::types::{Ty, add_member, items, parse, put_entry, same, text_of, visible};
use serde_json::{Value as Json, json};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

pub(crate) type Doc = (String, String);
pub(crate) type State = BTreeMap<Doc, Json>;

pub(crate) struct Model {
    pub(crate) schema: Json,
    pub(crate) commits: BTreeMap<String, Json>,
    pub(crate) ids: BTreeMap<String, String>,
    types: BTreeMap<String, Ty>,
    /// Cache of computed states; a commit never changes.
    states: RefCell<BTreeMap<String, State>>,
}

impl Model {
    pub(crate) fn new(given: &Json) -> Self {
        let schema = given["schema"].clone();
        let attachments = schema["attachments"].as_object().unwrap();
        let types =
            attachments.iter().map(|(name, text)| (name.clone(), parse(&schema, &text_of(text)))).collect();
        let (commits, ids, states) = (BTreeMap::new(), BTreeMap::new(), RefCell::default());
        let mut model = Self { schema, commits, ids, types, states };
        for commit in items(&given["commits"]) {
            model.add(commit.clone());
        }
        model
    }

    pub(crate) fn add(&mut self, commit: Json) {
        let name = text_of(&commit["name"]);
        let id_of = |edge: &str| commit[edge].as_str().map(|name| self.ids[name].clone());
        let identity = json!({
            "author": commit["author"], "label": commit["label"], "ops": commit["ops"], "parent": id_of("parent"),
            "target": id_of("target"), "timestamp": commit["timestamp"], "type": commit["type"],
        });
        self.ids.insert(name.clone(), probity_core::Digest::of_json(&identity).to_hex());
        self.commits.insert(name, commit);
    }

    pub(crate) fn doc_type(&self, doc: &Doc) -> Ty {
        self.types[&doc.0].clone()
    }

    pub(crate) fn is(&self, name: &str, kind: &str) -> bool {
        self.commits[name]["type"] == kind
    }

    pub(crate) fn edges(&self, name: &str) -> Vec<String> {
        let commit = &self.commits[name];
        let mut edges: Vec<String> = commit["parent"].as_str().map(str::to_owned).into_iter().collect();
        if self.is(name, "merge") {
            edges.push(text_of(&commit["target"]));
        }
        edges
    }

    pub(crate) fn reachable(&self, name: &str) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        self.reach(name, &mut found);
        found
    }

    fn reach(&self, name: &str, found: &mut BTreeSet<String>) {
        if found.insert(name.to_owned()) {
            self.edges(name).iter().for_each(|edge| self.reach(edge, found));
        }
    }

    pub(crate) fn forget(&mut self, name: &str) {
        self.commits.remove(name);
        self.states.borrow_mut().remove(name);
    }

    pub(crate) fn heads(&self) -> Vec<String> {
        let named: BTreeSet<String> = self.commits.keys().flat_map(|name| self.edges(name)).collect();
        self.commits.keys().filter(|name| !named.contains(*name)).cloned().collect()
    }

    /// Lists the linear order, each commit with the merges whose target side it was reached through.
    fn list(&self, name: &str, open: &[String], listed: &mut Vec<(String, Vec<String>)>) {
        if listed.iter().any(|(known, _)| known == name) {
            return;
        }
        if let Some(parent) = self.commits[name]["parent"].as_str() {
            self.list(parent, open, listed);
        }
        if self.is(name, "merge") {
            let open = [open, &[name.to_owned()]].concat();
            self.list(&text_of(&self.commits[name]["target"]), &open, listed);
        }
        listed.push((name.to_owned(), open.to_vec()));
    }

    /// Returns the linear order, each commit with true if it is enabled.
    pub(crate) fn linear(&self, name: &str) -> Vec<(String, bool)> {
        let mut listed = Vec::new();
        self.list(name, &[], &mut listed);
        let mut decided: BTreeMap<String, bool> = BTreeMap::new();
        for (commit, open) in listed.iter().rev() {
            if !decided.contains_key(commit) {
                let on = open.iter().all(|merge| decided[merge]);
                decided.insert(commit.clone(), on);
            }
            let masks = self.is(commit, "enable") || self.is(commit, "disable");
            if masks && decided[commit] {
                let target = text_of(&self.commits[commit]["target"]);
                decided.entry(target).or_insert(self.is(commit, "enable"));
            }
        }
        listed.into_iter().map(|(commit, _)| (commit.clone(), decided[&commit])).collect()
    }

    pub(crate) fn state(&self, name: &str) -> State {
        if let Some(state) = self.states.borrow().get(name) {
            return state.clone();
        }
        let mut state = State::new();
        for (commit, on) in self.linear(name) {
            for op in items(&self.commits[&commit]["ops"]) {
                self.apply(&mut state, op, on);
            }
        }
        self.states.borrow_mut().insert(name.to_owned(), state.clone());
        state
    }

    pub(crate) fn apply(&self, state: &mut State, op: &Json, on: bool) {
        let doc = (text_of(&op["attachment"]), text_of(&op["key"]));
        let kind = text_of(&op["op"]);
        if kind == "document_set" {
            if on {
                state.insert(doc, op["value"].clone());
            }
            return;
        }
        let ty = self.doc_type(&doc);
        let Some(value) = state.get_mut(&doc) else { return };
        let path = items(&op["path"]);
        if !on {
            if kind == "xarray_insert" {
                self.edit(&ty, value, path, &mut |_, array| list_position(array, op, true));
            }
            return;
        }
        if kind == "document_update" {
            if let Some((last, enclosing)) = path.split_last() {
                self.edit(&ty, value, enclosing, &mut |ty, place| self.assign(ty, place, last, &op["value"]));
            }
            return;
        }
        self.edit(&ty, value, path, &mut |ty, place| self.change(&kind, ty, place, op));
    }

    fn assign(&self, ty: &Ty, place: &mut Json, last: &Json, value: &Json) {
        if let Some(name) = last["field"].as_str() {
            place[name] = value.clone();
        } else if let Some(index) = last["index"].as_u64() {
            if let Some(item) = place.get_mut(usize::try_from(index).unwrap()) {
                *item = value.clone();
            }
        } else if let (Some(key), Ty::Map(key_ty, _)) = (last.get("key"), ty) {
            put_entry(&self.schema, key_ty, place, key, value);
        } else if let Some(position) = last["position"].as_str() {
            set_element(place, position, value);
        } else {
            *place = json!({ "some": value });
        }
    }

    fn change(&self, kind: &str, ty: &Ty, place: &mut Json, op: &Json) {
        let schema = &self.schema;
        let operand = op["value"].as_array().cloned().unwrap_or_default();
        match (kind, ty) {
            ("set_union", Ty::Set(inner)) => {
                for member in &operand {
                    add_member(schema, inner, place, member);
                }
            }
            ("set_subtract", Ty::Set(inner)) => {
                let gone = |known: &Json| operand.iter().any(|member| same(schema, inner, known, member));
                place.as_array_mut().unwrap().retain(|known| !gone(known));
            }
            ("map_union" | "map_update", Ty::Map(key_ty, _)) => {
                for entry in &operand {
                    let known = items(place).iter().any(|old| same(schema, key_ty, &old[0], &entry[0]));
                    if known || kind == "map_union" {
                        put_entry(schema, key_ty, place, &entry[0], &entry[1]);
                    }
                }
            }
            ("map_subtract", Ty::Map(key_ty, _)) => {
                let gone = |known: &Json| operand.iter().any(|key| same(schema, key_ty, known, key));
                place.as_array_mut().unwrap().retain(|entry| !gone(&entry[0]));
            }
            ("xarray_insert", _) => {
                list_position(place, op, false);
                if let Some(value) = op.get("value") {
                    set_element(place, op["position"].as_str().unwrap(), value);
                }
            }
            ("xarray_update", _) => set_element(place, op["position"].as_str().unwrap(), &op["value"]),
            _ => {
                place["elements"].as_object_mut().unwrap().remove(op["position"].as_str().unwrap());
            }
        }
    }

    /// Runs `f` on the place at a path, if the path resolves.
    pub(crate) fn edit(&self, ty: &Ty, value: &mut Json, path: &[Json], f: &mut dyn FnMut(&Ty, &mut Json)) {
        let Some((step, rest)) = path.split_first() else {
            return f(ty, value);
        };
        let Some((below, place)) = self.enter(ty, value, step) else { return };
        self.edit(&below, place, rest, f);
    }

    fn enter<'v>(&self, ty: &Ty, value: &'v mut Json, step: &Json) -> Option<(Ty, &'v mut Json)> {
        match ty {
            Ty::Struct(fields) => {
                let name = step["field"].as_str()?;
                let ty = fields.iter().find(|(field, _)| field == name)?.1.clone();
                Some((ty, &mut value[name]))
            }
            Ty::Tuple(parts) => {
                let index = usize::try_from(step["index"].as_u64()?).ok()?;
                Some((parts[index].clone(), &mut value[index]))
            }
            Ty::Vector(inner) => {
                let index = usize::try_from(step["index"].as_u64()?).ok()?;
                Some(((**inner).clone(), value.get_mut(index)?))
            }
            Ty::Map(key_ty, inner) => {
                let key = step.get("key")?;
                let entries = value.as_array_mut()?;
                let entry = entries.iter_mut().find(|entry| same(&self.schema, key_ty, &entry[0], key))?;
                Some(((**inner).clone(), &mut entry[1]))
            }
            Ty::XArray(inner) => {
                let position = step["position"].as_str()?;
                Some(((**inner).clone(), value["elements"].get_mut(position)?))
            }
            Ty::Optional(inner) => Some(((**inner).clone(), value.get_mut("some")?)),
            Ty::Set(inner) => {
                let element = step.get("element")?;
                let members = value.as_array_mut()?;
                let member = members.iter_mut().find(|member| same(&self.schema, inner, member, element))?;
                Some(((**inner).clone(), member))
            }
            _ => None,
        }
    }

    /// Returns the value at a path of a document.
    pub(crate) fn read(&self, state: &State, doc: &Doc, path: &[Json]) -> Option<Json> {
        let mut found = None;
        let mut value = state.get(doc)?.clone();
        self.edit(&self.doc_type(doc), &mut value, path, &mut |_, place| found = Some(place.clone()));
        found
    }

    /// Returns the type at a path, even if nothing is there.
    pub(crate) fn type_at(&self, doc: &Doc, path: &[Json]) -> Ty {
        path.iter().fold(self.doc_type(doc), |ty, step| match ty {
            Ty::Struct(fields) => {
                fields.iter().find(|(name, _)| step["field"] == name.as_str()).unwrap().1.clone()
            }
            Ty::Tuple(parts) => parts[usize::try_from(step["index"].as_u64().unwrap()).unwrap()].clone(),
            Ty::Vector(inner)
            | Ty::Set(inner)
            | Ty::XArray(inner)
            | Ty::Optional(inner)
            | Ty::Map(_, inner) => (*inner).clone(),
            other => panic!("{other:?} is not entered"),
        })
    }

    /// Returns the assertions of an opcode.
    pub(crate) fn assertions(&self, op: &Json) -> Vec<(Vec<Json>, Json)> {
        let doc = (text_of(&op["attachment"]), text_of(&op["key"]));
        let kind = text_of(&op["op"]);
        let path = op["path"].as_array().cloned().unwrap_or_default();
        let ty = self.type_at(&doc, &path);
        let below = |step: Json| [path.as_slice(), &[step]].concat();
        let at_position = || below(json!({ "position": op["position"] }));
        let gone = |name: &str| {
            items(&op["value"]).iter().map(|x| (below(json!({ name: x })), json!("gone"))).collect()
        };
        match (kind.as_str(), &ty) {
            ("set_subtract", _) => gone("element"),
            ("map_subtract", _) => gone("key"),
            ("xarray_remove", _) => vec![(at_position(), json!("gone"))],
            ("xarray_update", Ty::XArray(inner)) => leaves(inner, &op["value"], &at_position()),
            ("xarray_insert", Ty::XArray(inner)) => {
                let claims = op.get("value").map_or(Vec::new(), |value| leaves(inner, value, &at_position()));
                if claims.is_empty() { vec![(at_position(), json!("there"))] } else { claims }
            }
            _ => leaves(&ty, &op["value"], &path),
        }
    }

    pub(crate) fn holds(&self, state: &State, doc: &Doc, locus: &[Json], claim: &Json) -> bool {
        let found = self.read(state, doc, locus);
        match claim.get("is") {
            Some(value) => {
                found.is_some_and(|found| same(&self.schema, &self.type_at(doc, locus), &found, value))
            }
            None if claim == "there" => found.is_some(),
            None => found.is_none(),
        }
    }
}

fn knows(array: &Json, position: &str) -> bool {
    items(&array["order"]).iter().any(|known| known == position)
}

fn is_disabled(array: &Json, position: &str) -> bool {
    array["disabled"].as_array().is_some_and(|list| list.iter().any(|known| known == position))
}

fn set_element(array: &mut Json, position: &str, value: &Json) {
    if knows(array, position) && !is_disabled(array, position) {
        array["elements"][position] = value.clone();
    }
}

fn list_position(array: &mut Json, op: &Json, disabled: bool) {
    let position = op["position"].as_str().unwrap();
    let order = items(&array["order"]);
    let place = if op["before"] == "END" {
        Some(order.len())
    } else {
        order.iter().position(|known| *known == op["before"])
    };
    let (Some(place), false) = (place, knows(array, position)) else { return };
    array["order"].as_array_mut().unwrap().insert(place, json!(position));
    if disabled {
        let mut list = array["disabled"].as_array().cloned().unwrap_or_default();
        list.push(json!(position));
        list.sort_by(|a, b| a.as_str().cmp(&b.as_str()));
        array["disabled"] = json!(list);
    }
}

/// Returns the leaves of a value at a path as (locus, claim): `{"is": v}` or `"there"`.
pub(crate) fn leaves(ty: &Ty, value: &Json, path: &[Json]) -> Vec<(Vec<Json>, Json)> {
    let below = |step: Json| [path, &[step]].concat();
    match ty {
        Ty::Struct(fields) => fields
            .iter()
            .flat_map(|(name, ty)| leaves(ty, &value[name], &below(json!({ "field": name }))))
            .collect(),
        Ty::Set(_) => items(value).iter().map(|x| (below(json!({ "element": x })), json!("there"))).collect(),
        Ty::Map(_, inner) => items(value)
            .iter()
            .flat_map(|entry| leaves(inner, &entry[1], &below(json!({ "key": entry[0] }))))
            .collect(),
        Ty::XArray(inner) => visible(value)
            .iter()
            .flat_map(|(position, element)| leaves(inner, element, &below(json!({ "position": position }))))
            .collect(),
        Ty::Optional(inner) if !value.is_null() => {
            leaves(inner, &value["some"], &below(json!({ "unwrap": true })))
        }
        _ => vec![(path.to_vec(), json!({ "is": value }))],
    }
}
