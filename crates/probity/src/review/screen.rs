//! The state of the review as a pure function: a state and a key give the next state and possibly an effect.
//!
//! Nothing is written before the last step; leaving earlier changes nothing.

use probity_documents::ConflictChoice;

/// A key, independent of the terminal library.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyPress {
    Char(char),
    Up,
    Down,
    PageUp,
    PageDown,
    Home,
    End,
    Enter,
    Escape,
    Backspace,
    Tab,
}

/// An action that the screen leaves to its caller. The result of `Preview` goes to [`ReviewScreen::preview`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ReviewEffect {
    None,
    Preview,
    Write { label: String, why: String },
    Quit,
}

/// What can be chosen for an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ReviewOffer {
    /// A value of any version, or one that is typed.
    AnyValue,
    /// The lost edit of this side, or the merge as it is.
    LostEdit(ConflictChoice),
    /// Only the merge as it is.
    MergedOnly,
}

impl ReviewOffer {
    /// Says why a choice cannot be made; `None` if it can.
    fn objection(&self, chosen: &ConflictChoice) -> Option<&'static str> {
        match self {
            Self::AnyValue => None,
            _ if *chosen == ConflictChoice::Merged => None,
            Self::LostEdit(lost) if lost == chosen => None,
            Self::LostEdit(ConflictChoice::Ours) => {
                Some("our edit is lost: o puts it back, m lets the merge stand")
            }
            Self::LostEdit(_) => Some("their edit is lost: t puts it back, m lets the merge stand"),
            Self::MergedOnly => Some("there is no edit to put back: m lets the merge stand"),
        }
    }
}

#[derive(Debug, Clone)]
pub(crate) struct ReviewItem {
    /// The id of the conflict or finding.
    pub(crate) id: String,
    /// Base, ours, theirs and merged as they are shown; `None` where there is nothing.
    pub(crate) values: [Option<String>; 4],
    /// The merged value as a person would type it.
    pub(crate) typed: Option<String>,
    pub(crate) offer: ReviewOffer,
    /// The document and the location in it.
    pub(crate) place: String,
    /// The side whose edit was lost, and its author.
    pub(crate) lost: String,
    /// The policy's decision, or an earlier one, in words.
    pub(crate) note: Option<String>,
    /// The choice made the last time the same values conflicted here.
    pub(crate) proposal: Option<ConflictChoice>,
    /// The policy's choice, which applies unless the user chooses.
    pub(crate) ruled: Option<ConflictChoice>,
    /// The user's choice.
    pub(crate) chosen: Option<ConflictChoice>,
}

/// The current meaning of the keys. `Signing` enters the label and reason of the commit; `Leaving` confirms that
/// choices are lost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ReviewMode {
    Choosing,
    Typing { text: String },
    Preview { lines: Vec<String>, top: usize },
    Signing { label: String, why: String, in_why: bool },
    Leaving,
}

#[derive(Debug, Clone)]
pub(crate) struct ReviewScreen {
    pub(crate) title: String,
    pub(crate) items: Vec<ReviewItem>,
    pub(crate) at: usize,
    pub(crate) has_base: bool,
    /// The label that is proposed for the commit.
    pub(crate) label: &'static str,
    pub(crate) mode: ReviewMode,
    /// The last error, or the last action.
    pub(crate) message: String,
}

const ROWS_PER_PAGE: usize = 8;
const MAX_TYPED_BYTES: usize = 4096;

impl ReviewScreen {
    pub(crate) fn new(title: String, items: Vec<ReviewItem>, has_base: bool) -> Self {
        let label = "survival of decisions";
        Self { title, items, at: 0, has_base, label, mode: ReviewMode::Choosing, message: String::new() }
    }

    pub(crate) fn current_item(&self) -> Option<&ReviewItem> {
        self.items.get(self.at)
    }

    /// Counts the conflicts that neither the user nor the policy has decided.
    pub(crate) fn n_open(&self) -> usize {
        self.items.iter().filter(|item| item.chosen.is_none() && item.ruled.is_none()).count()
    }

    /// Returns the user's choices with their conflict ids.
    pub(crate) fn choices(&self) -> impl Iterator<Item = (&str, &ConflictChoice)> {
        self.items.iter().filter_map(|item| Some((item.id.as_str(), item.chosen.as_ref()?)))
    }

    /// Shows what would be written, or why it cannot be.
    pub(crate) fn preview(&mut self, outcome: Result<Vec<String>, String>) {
        match outcome {
            Ok(lines) => self.mode = ReviewMode::Preview { lines, top: 0 },
            Err(why) => self.refuse(why),
        }
    }

    /// Returns to choosing, with a message.
    pub(crate) fn refuse(&mut self, why: String) {
        self.mode = ReviewMode::Choosing;
        self.message = why;
    }

    pub(crate) fn press(&mut self, key: KeyPress) -> ReviewEffect {
        self.message.clear();
        match std::mem::replace(&mut self.mode, ReviewMode::Choosing) {
            ReviewMode::Choosing => self.choose(key),
            ReviewMode::Typing { text } => self.type_value(key, text),
            ReviewMode::Preview { lines, top } => self.scroll_preview(key, lines, top),
            ReviewMode::Signing { label, why, in_why } => self.sign(key, label, why, in_why),
            ReviewMode::Leaving => match key {
                KeyPress::Char('y') => ReviewEffect::Quit,
                _ => ReviewEffect::None,
            },
        }
    }

    fn choose(&mut self, key: KeyPress) -> ReviewEffect {
        match key {
            KeyPress::Up | KeyPress::Char('k') => self.move_to(self.at.saturating_sub(1)),
            KeyPress::Down | KeyPress::Char('j') => self.move_to(self.at + 1),
            KeyPress::PageUp => self.move_to(self.at.saturating_sub(ROWS_PER_PAGE)),
            KeyPress::PageDown => self.move_to(self.at + ROWS_PER_PAGE),
            KeyPress::Home | KeyPress::Char('g') => self.move_to(0),
            KeyPress::End | KeyPress::Char('G') => self.move_to(usize::MAX),
            KeyPress::Tab | KeyPress::Char('n') => self.next_open(),
            KeyPress::Char('p') => return ReviewEffect::Preview,
            KeyPress::Char('w') => self.begin_signing(),
            KeyPress::Char('v') => self.begin_typing(),
            KeyPress::Char('u') => self.set_choice(None),
            KeyPress::Char('r') => self.repeat(),
            KeyPress::Char('x') => self.set_choice(Some(ConflictChoice::absence())),
            KeyPress::Char('q') | KeyPress::Escape => return self.leave(),
            KeyPress::Char(letter) => self.choose_side(letter),
            KeyPress::Enter | KeyPress::Backspace => {}
        }
        ReviewEffect::None
    }

    fn move_to(&mut self, to: usize) {
        self.at = to.min(self.items.len().saturating_sub(1));
    }

    /// A lowercase letter chooses for this conflict, a capital for every open one.
    fn choose_side(&mut self, letter: char) {
        let chosen = match letter.to_ascii_lowercase() {
            'o' => ConflictChoice::Ours,
            't' => ConflictChoice::Theirs,
            'm' => ConflictChoice::Merged,
            'b' if self.has_base => ConflictChoice::Base,
            'b' => {
                self.message = "this merge has no single base".into();
                return;
            }
            _ => {
                self.message = format!("`{letter}` does nothing here");
                return;
            }
        };
        if letter.is_ascii_lowercase() {
            self.set_choice(Some(chosen));
            return;
        }
        let is_open = |item: &&mut ReviewItem| {
            item.chosen.is_none() && item.ruled.is_none() && item.offer.objection(&chosen).is_none()
        };
        let open = self.items.iter_mut().filter(is_open);
        let n_chosen = open.map(|item| item.chosen = Some(chosen.clone())).count();
        self.message = format!("chosen for all {n_chosen} that were open");
    }

    fn set_choice(&mut self, chosen: Option<ConflictChoice>) {
        let Some(item) = self.items.get_mut(self.at) else { return };
        match chosen.as_ref().and_then(|chosen| item.offer.objection(chosen)) {
            Some(why) => why.clone_into(&mut self.message),
            None => item.chosen = chosen,
        }
    }

    fn repeat(&mut self) {
        match self.current_item().map(|item| item.proposal.clone()) {
            Some(Some(proposal)) => self.set_choice(Some(proposal)),
            _ => self.message = "nothing was decided here before".into(),
        }
    }

    fn next_open(&mut self) {
        let order = (self.at + 1..self.items.len()).chain(0..self.at);
        let is_open = |at: &usize| self.items[*at].chosen.is_none() && self.items[*at].ruled.is_none();
        match order.into_iter().find(is_open) {
            Some(at) => self.at = at,
            None => self.message = "every other conflict is decided".into(),
        }
    }

    fn begin_typing(&mut self) {
        let Some(item) = self.current_item() else { return };
        if item.offer != ReviewOffer::AnyValue {
            self.message = "an edit of a git merge has no value to type: edit the file instead".into();
            return;
        }
        let text = match &item.chosen {
            Some(ConflictChoice::Value(value)) => value.get("some").map(ToString::to_string),
            _ => item.typed.clone(),
        };
        self.mode = ReviewMode::Typing { text: text.unwrap_or_default() };
    }

    fn type_value(&mut self, key: KeyPress, mut text: String) -> ReviewEffect {
        match key {
            KeyPress::Escape => return ReviewEffect::None,
            KeyPress::Enter => match probity_core::json::parse(text.as_bytes()) {
                Ok(value) => {
                    self.set_choice(Some(ConflictChoice::value(&value)));
                    return ReviewEffect::None;
                }
                Err(error) => {
                    self.message = format!("this is not JSON (byte {}); text needs quotes", error.at);
                }
            },
            other => edit(&mut text, other),
        }
        self.mode = ReviewMode::Typing { text };
        ReviewEffect::None
    }

    fn scroll_preview(&mut self, key: KeyPress, lines: Vec<String>, top: usize) -> ReviewEffect {
        let last = lines.len().saturating_sub(1);
        let top = match key {
            KeyPress::Up | KeyPress::Char('k') => top.saturating_sub(1),
            KeyPress::Down | KeyPress::Char('j') => (top + 1).min(last),
            KeyPress::PageUp => top.saturating_sub(ROWS_PER_PAGE),
            KeyPress::PageDown | KeyPress::Char(' ') => (top + ROWS_PER_PAGE).min(last),
            KeyPress::Char('w') => {
                self.begin_signing();
                return ReviewEffect::None;
            }
            _ => return ReviewEffect::None,
        };
        self.mode = ReviewMode::Preview { lines, top };
        ReviewEffect::None
    }

    fn begin_signing(&mut self) {
        if self.choices().next().is_none() && self.items.iter().all(|item| item.ruled.is_none()) {
            self.message = "nothing is decided yet".into();
            return;
        }
        self.mode = ReviewMode::Signing { label: self.label.into(), why: String::new(), in_why: true };
    }

    fn sign(&mut self, key: KeyPress, mut label: String, mut why: String, mut in_why: bool) -> ReviewEffect {
        match key {
            KeyPress::Escape => return ReviewEffect::None,
            KeyPress::Enter if why.trim().is_empty() => {
                self.message = "say why: someone who meets this decision later will ask".into();
                in_why = true;
            }
            KeyPress::Enter => return ReviewEffect::Write { label, why },
            KeyPress::Tab | KeyPress::Up | KeyPress::Down => in_why = !in_why,
            other => edit(if in_why { &mut why } else { &mut label }, other),
        }
        self.mode = ReviewMode::Signing { label, why, in_why };
        ReviewEffect::None
    }

    fn leave(&mut self) -> ReviewEffect {
        if self.choices().next().is_none() {
            return ReviewEffect::Quit;
        }
        self.mode = ReviewMode::Leaving;
        ReviewEffect::None
    }
}

fn edit(text: &mut String, key: KeyPress) {
    match key {
        KeyPress::Backspace => drop(text.pop()),
        KeyPress::Char(letter) if text.len() < MAX_TYPED_BYTES && !letter.is_control() => text.push(letter),
        _ => {}
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use serde_json::json;

    pub(crate) fn item(number: usize) -> ReviewItem {
        let place = format!("ticket/t{number} rank");
        ReviewItem {
            id: format!("{number:016x}"),
            values: ["0", "11", "12", "12"].map(|value| Some(value.to_owned())),
            typed: Some("12".to_owned()),
            offer: ReviewOffer::AnyValue,
            place,
            lost: "ours (ann)".into(),
            note: None,
            proposal: None,
            ruled: None,
            chosen: None,
        }
    }

    pub(crate) fn screen(n_items: usize) -> ReviewScreen {
        ReviewScreen::new("merge 1".into(), (0..n_items).map(item).collect(), true)
    }

    fn press(screen: &mut ReviewScreen, keys: &str) -> ReviewEffect {
        let mut effect = ReviewEffect::None;
        for letter in keys.chars() {
            effect = screen.press(match letter {
                '\n' => KeyPress::Enter,
                '\t' => KeyPress::Tab,
                '^' => KeyPress::Escape,
                '<' => KeyPress::Backspace,
                other => KeyPress::Char(other),
            });
        }
        effect
    }

    fn chosen(screen: &ReviewScreen) -> Vec<Option<ConflictChoice>> {
        screen.items.iter().map(|item| item.chosen.clone()).collect()
    }

    #[test]
    fn of_a_lost_edit_only_its_own_side_or_the_merge_can_be_chosen() {
        let mut screen = screen(3);
        screen.items[0].offer = ReviewOffer::LostEdit(ConflictChoice::Theirs);
        screen.items[1].offer = ReviewOffer::MergedOnly;
        press(&mut screen, "o");
        assert!(screen.message.contains("their edit is lost"), "{}", screen.message);
        press(&mut screen, "v");
        assert_eq!(screen.mode, ReviewMode::Choosing, "an edit is not typed");
        press(&mut screen, "x");
        assert_eq!(chosen(&screen), [None, None, None]);
        press(&mut screen, "T");
        assert_eq!(chosen(&screen), [Some(ConflictChoice::Theirs), None, Some(ConflictChoice::Theirs)]);
        press(&mut screen, "jm");
        assert_eq!(chosen(&screen)[1], Some(ConflictChoice::Merged));
    }

    #[test]
    fn chooses_conflict_by_conflict() {
        let mut screen = screen(3);
        press(&mut screen, "ojtju");
        assert_eq!(chosen(&screen), [Some(ConflictChoice::Ours), Some(ConflictChoice::Theirs), None]);
        assert_eq!((screen.at, screen.n_open()), (2, 1));
    }

    #[test]
    fn a_capital_chooses_for_all_that_are_open() {
        let mut screen = screen(3);
        screen.items[2].ruled = Some(ConflictChoice::Theirs);
        press(&mut screen, "oM");
        assert_eq!(chosen(&screen), [Some(ConflictChoice::Ours), Some(ConflictChoice::Merged), None]);
        assert_eq!(screen.message, "chosen for all 1 that were open");
    }

    #[test]
    fn a_typed_value_must_be_json() {
        let mut screen = screen(1);
        press(&mut screen, "v<<x\n");
        assert!(screen.message.contains("not JSON"), "{}", screen.message);
        press(&mut screen, "<42\n");
        assert_eq!(chosen(&screen), [Some(ConflictChoice::value(&json!(42)))]);
        press(&mut screen, "v^");
        assert_eq!(screen.mode, ReviewMode::Choosing);
    }

    #[test]
    fn writing_needs_a_decision_and_a_reason() {
        let mut screen = screen(1);
        press(&mut screen, "w");
        assert_eq!(
            (screen.mode.clone(), screen.message.as_str()),
            (ReviewMode::Choosing, "nothing is decided yet")
        );
        press(&mut screen, "ow");
        assert_eq!(press(&mut screen, "\n"), ReviewEffect::None);
        assert!(screen.message.starts_with("say why"));
        let effect = press(&mut screen, "hers\n");
        assert_eq!(effect, ReviewEffect::Write { label: "survival of decisions".into(), why: "hers".into() });
    }

    #[test]
    fn leaving_asks_when_choices_would_be_lost() {
        let mut screen = screen(1);
        assert_eq!(press(&mut screen, "q"), ReviewEffect::Quit);
        assert_eq!(press(&mut screen, "oq"), ReviewEffect::None);
        assert_eq!(screen.mode, ReviewMode::Leaving);
        assert_eq!(press(&mut screen, "n"), ReviewEffect::None);
        assert_eq!(press(&mut screen, "qy"), ReviewEffect::Quit);
    }

    #[test]
    fn there_is_no_base_to_choose_without_one() {
        let mut screen = screen(1);
        screen.has_base = false;
        press(&mut screen, "b");
        assert_eq!(chosen(&screen), [None]);
    }

    #[test]
    fn an_earlier_decision_is_repeated_on_demand() {
        let mut screen = screen(2);
        screen.items[0].proposal = Some(ConflictChoice::Theirs);
        press(&mut screen, "rjr");
        assert_eq!(chosen(&screen), [Some(ConflictChoice::Theirs), None]);
        assert_eq!(screen.message, "nothing was decided here before");
    }

    #[test]
    fn no_key_leads_out_of_the_list() {
        let mut screen = screen(2);
        for key in [
            KeyPress::Up,
            KeyPress::PageDown,
            KeyPress::PageDown,
            KeyPress::Down,
            KeyPress::End,
            KeyPress::Home,
            KeyPress::PageUp,
            KeyPress::Tab,
        ] {
            screen.press(key);
            assert!(screen.current_item().is_some());
        }
        let mut empty = ReviewScreen::new(String::new(), Vec::new(), true);
        for letter in "jkgGotbmOTBMvxurnpwq ".chars() {
            empty.press(KeyPress::Char(letter));
        }
    }
}
