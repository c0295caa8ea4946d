//! Which code something reaches: the size that health weighs debt against.
//!
//! Names are followed from where a program starts: code outside callables, tests, entry points, decorated code, and names
//! that strings mention or that a file exports by listing them. A callable counts once a reached piece of code names it,
//! and the methods of a class only with their class. So code that nobody calls, in whatever amount, makes a tree
//! neither larger nor healthier.

use crate::corpus::CorpusFile;
use crate::facts::{CodeUnit, IndexRange, UnitKind, count};
use crate::hash;
use probity_collections::HashIndex;

/// For each file and unit, whether something reaches it.
#[derive(Debug)]
pub(crate) struct ReachedUnits(Vec<Vec<bool>>);

impl ReachedUnits {
    pub(crate) fn of(files: &[CorpusFile]) -> Self {
        let mut search = ReachSearch::new(files);
        search.start();
        search.follow();
        Self(search.is_reached)
    }

    /// Returns for each unit of a file whether it is reached.
    pub(crate) fn in_file(&self, file: usize) -> &[bool] {
        &self.0[file]
    }
}

/// The units that have one name.
#[derive(Debug, Default)]
struct NamedUnits {
    hash: u64,
    units: Vec<(u32, u32)>,
    is_used: bool,
}

/// No name: that of a file or of a lambda.
const NO_NAME: u32 = u32::MAX;

/// What is known of a unit before anything is followed.
#[derive(Debug, Clone, Copy)]
struct UnitReach {
    /// Index of its name, or [`NO_NAME`].
    name: u32,
    /// True if it runs by itself.
    is_root: bool,
    /// True if reaching the unit around it reaches it.
    comes_along: bool,
}

struct ReachSearch<'a> {
    files: &'a [CorpusFile],
    units: Vec<Vec<UnitReach>>,
    is_reached: Vec<Vec<bool>>,
    /// For each file the units directly inside each unit.
    children: Vec<Vec<Vec<u32>>>,
    /// For each file the symbols whose uses were followed.
    followed: Vec<Vec<bool>>,
    names: Vec<NamedUnits>,
    /// Indices into `names`, by fingerprint.
    index: HashIndex,
    open: Vec<(u32, u32)>,
}

impl<'a> ReachSearch<'a> {
    fn new(files: &'a [CorpusFile]) -> Self {
        let mut search = Self {
            files,
            units: Vec::with_capacity(files.len()),
            is_reached: files.iter().map(|file| vec![false; file.facts.units.len()]).collect(),
            children: files.iter().map(children).collect(),
            followed: files.iter().map(|file| vec![false; file.symbols.len()]).collect(),
            names: Vec::new(),
            index: HashIndex::default(),
            open: Vec::new(),
        };
        for (place, file) in files.iter().enumerate() {
            let units = file.facts.units.iter().enumerate();
            let units =
                units.map(|(unit, facts)| search.unit_reach(file, facts, (count(place), count(unit))));
            let units = units.collect();
            search.units.push(units);
        }
        search
    }

    fn unit_reach(&mut self, file: &CorpusFile, unit: &CodeUnit, place: (u32, u32)) -> UnitReach {
        let is_nameless = matches!(unit.kind, UnitKind::File | UnitKind::Lambda);
        let name = simple_name(unit);
        let is_entry = crate::language::spec(file.language).entry_points.contains(&name);
        let is_registered = unit.decorated && unit.parent == Some(0);
        let is_hook = name.starts_with("__") && name.ends_with("__");
        let is_class = unit.kind == UnitKind::Class;
        let parent = unit.parent.map(|parent| &file.facts.units[parent as usize]);
        // A base class, a trait or an interface calls the methods of a class.
        let is_inherited = parent.is_some_and(|parent| parent.kind == UnitKind::Class && parent.inherits);
        let overrides = unit.inherits && !is_class;
        UnitReach {
            name: if is_nameless { NO_NAME } else { self.add_name(name, place) },
            is_root: unit.kind == UnitKind::File || file.is_test || unit.test || is_registered || is_entry,
            comes_along: unit.kind == UnitKind::Lambda
                || unit.constructor
                || unit.decorated
                || overrides
                || is_hook
                || is_inherited,
        }
    }

    fn add_name(&mut self, name: &str, unit: (u32, u32)) -> u32 {
        let hash = hash::of_bytes(name.as_bytes());
        let names = &self.names;
        let known = self.index.find(hash, |at| names[at as usize].hash == hash);
        let at = known.unwrap_or_else(|| {
            let at = count(self.names.len());
            self.index.insert(hash, at);
            self.names.push(NamedUnits { hash, ..NamedUnits::default() });
            at
        });
        self.names[at as usize].units.push(unit);
        at
    }

    /// Reaches what runs by itself.
    fn start(&mut self) {
        for (place, file) in self.files.iter().enumerate() {
            for unit in 0..file.facts.units.len() {
                if self.units[place][unit].is_root {
                    self.reach(count(place), count(unit));
                }
            }
            for &symbol in file.facts.mentions.iter().chain(&file.facts.exports) {
                self.use_name(file.symbols[symbol as usize]);
            }
        }
    }

    fn follow(&mut self) {
        while let Some((place, unit)) = self.open.pop() {
            self.use_own_names(place, unit);
            for child in std::mem::take(&mut self.children[place as usize][unit as usize]) {
                let UnitReach { name, comes_along, .. } = self.units[place as usize][child as usize];
                let is_used = self.names.get(name as usize).is_some_and(|name| name.is_used);
                if comes_along || is_used {
                    self.reach(place, child);
                }
            }
        }
    }

    fn reach(&mut self, place: u32, unit: u32) {
        let is_reached = &mut self.is_reached[place as usize][unit as usize];
        if !std::mem::replace(is_reached, true) {
            self.open.push((place, unit));
        }
    }

    /// Uses the names in a unit, except those of units inside it.
    fn use_own_names(&mut self, place: u32, unit: u32) {
        let file = &self.files[place as usize];
        let inside: Vec<IndexRange> = self.children[place as usize][unit as usize]
            .iter()
            .map(|&child| file.facts.units[child as usize].names)
            .collect();
        let own = file.facts.units[unit as usize].names;
        let mut start = own.start;
        for gap in inside.into_iter().chain([IndexRange { start: own.end, end: own.end }]) {
            for name in &file.facts.names[IndexRange { start, end: gap.start }.usize()] {
                let symbol = name.symbol() as usize;
                let is_followed = &mut self.followed[place as usize][symbol];
                if !name.is_definition() && !std::mem::replace(is_followed, true) {
                    self.use_name(file.symbols[symbol]);
                }
            }
            start = start.max(gap.end);
        }
    }

    fn use_name(&mut self, hash: u64) {
        let names = &self.names;
        let Some(at) = self.index.find(hash, |at| names[at as usize].hash == hash) else { return };
        let entry = &mut self.names[at as usize];
        if std::mem::replace(&mut entry.is_used, true) {
            return;
        }
        for (place, unit) in std::mem::take(&mut entry.units) {
            let file = &self.files[place as usize];
            let parent = file.facts.units[unit as usize].parent.unwrap_or(0);
            // A member waits for the class around it.
            if self.is_reached[place as usize][parent as usize] {
                self.reach(place, unit);
            }
        }
    }
}

/// Returns for each unit of a file the units directly inside it, by start.
fn children(file: &CorpusFile) -> Vec<Vec<u32>> {
    let mut children = vec![Vec::new(); file.facts.units.len()];
    for (unit, facts) in file.facts.units.iter().enumerate() {
        if let Some(parent) = facts.parent {
            children[parent as usize].push(count(unit));
        }
    }
    children
}

fn simple_name(unit: &CodeUnit) -> &str {
    unit.name.rsplit('.').next().unwrap_or(&unit.name)
}
