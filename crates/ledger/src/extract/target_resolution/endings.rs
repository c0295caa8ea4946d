//! Which tasks and goals end, or begin again.

use super::{DraftDelta, KnownItem, TargetName, TargetResolver, target_field};
use crate::vocabulary::{ItemKind, ItemStatus};

impl TargetResolver {
    /// Closes the tasks that were opened together last.
    pub(super) fn close_all(&mut self) -> Vec<DraftDelta> {
        let is_open = |known: &KnownItem| known.kind == ItemKind::Task && known.is_live() && !known.is_new;
        let Some(last) = self.known.iter().rposition(is_open) else { return Vec::new() };
        let turn = self.known[last].turn().to_owned();
        let mut closed = Vec::new();
        for known in self.known.iter_mut().filter(|known| is_open(known) && known.turn() == turn) {
            known.status = ItemStatus::Resolved;
            closed.push(("task_closed", vec![target_field(&known.handle), ("resolution", "done".into())]));
        }
        closed
    }

    /// Closes tasks by their place in the last turn that listed enough of them.
    pub(super) fn close_ranks(&mut self, ranks: &[usize]) -> Vec<DraftDelta> {
        let Some(&highest) = ranks.iter().max() else { return Vec::new() };
        let is_task = |known: &KnownItem| known.kind == ItemKind::Task && !known.is_new;
        let tasks: Vec<usize> = (0..self.known.len()).filter(|&at| is_task(&self.known[at])).collect();
        let mut listed = tasks.chunk_by(|&one, &other| self.known[one].turn() == self.known[other].turn());
        let Some(listed) = listed.rfind(|turn| turn.len() > highest.max(1)) else {
            return Vec::new();
        };
        let meant: Vec<usize> = ranks.iter().map(|&rank| listed[rank]).collect();
        let mut closed = Vec::new();
        for at in meant {
            let known = &mut self.known[at];
            if known.is_live() {
                known.status = ItemStatus::Resolved;
                closed
                    .push(("task_closed", vec![target_field(&known.handle), ("resolution", "done".into())]));
            }
        }
        closed
    }

    /// Closes what one of the turns just before asked for: a bare "done" means all of it.
    pub(super) fn close_last_asked(&mut self) -> Vec<DraftDelta> {
        let is_recent = |known: &KnownItem| self.recent.iter().take(2).any(|id| known.is_of(id));
        let is_open = |known: &KnownItem| known.kind == ItemKind::Task && known.is_live() && !known.is_new;
        let is_last_recent = self.known.iter().rev().find(|known| is_open(known)).is_some_and(is_recent);
        if is_last_recent { self.close_all() } else { Vec::new() }
    }

    /// Closes the goal, if there is exactly one.
    pub(super) fn reach(&mut self) -> Option<DraftDelta> {
        let mut goals = self.known.iter_mut().filter(|known| known.kind == ItemKind::Goal && known.is_live());
        let goal = goals.next()?;
        if goals.next().is_some() {
            return None;
        }
        goal.status = ItemStatus::Resolved;
        Some(("goal_closed", vec![target_field(&goal.handle), ("resolution", "reached".into())]))
    }

    pub(super) fn close(&mut self, about: &str) -> Option<DraftDelta> {
        let is_open =
            |known: &KnownItem| matches!(known.kind, ItemKind::Task | ItemKind::Goal) && known.is_live();
        let target = if about.is_empty() { self.only_open_task()? } else { self.best(about, is_open)? };
        let known = &mut self.known[target];
        known.status = ItemStatus::Resolved;
        let delta = if known.kind == ItemKind::Task { "task_closed" } else { "goal_closed" };
        let resolution = if about.is_empty() { "done" } else { about };
        Some((delta, vec![target_field(&known.handle), ("resolution", resolution.into())]))
    }

    /// Returns the task that "done" alone means: the only open one, or the only one that was opened in the turns just before.
    pub(super) fn only_open_task(&self) -> Option<usize> {
        let is_open = |known: &KnownItem| known.kind == ItemKind::Task && known.is_live();
        let mut open = self.known.iter().enumerate().filter(|(_, known)| is_open(known)).map(|(at, _)| at);
        let last = open.next_back()?;
        let Some(before) = open.next_back() else { return Some(last) };
        let turn = self.known[last].turn();
        let is_recent = self.recent.iter().any(|id| id == turn);
        (is_recent && !self.known[before].is_of(turn)).then_some(last)
    }

    pub(super) fn reopen(&mut self, about: &str, reason: String, name: TargetName<'_>) -> Option<DraftDelta> {
        let target =
            self.best(about, |known| known.kind == ItemKind::Task && known.status == ItemStatus::Resolved)?;
        let (handle, summary) = (self.known[target].handle.clone(), self.known[target].summary.clone());
        self.known[target].status = ItemStatus::Superseded;
        self.add(ItemKind::Task, name, &summary);
        Some((
            "task_reopened",
            vec![target_field(&handle), ("handle", name.handle().into()), ("reason", reason.into())],
        ))
    }
}
