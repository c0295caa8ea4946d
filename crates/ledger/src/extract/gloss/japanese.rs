//! Japanese: the end of a sentence says how it is meant.

use super::super::sentences::Word;
use super::Gloss;

#[rustfmt::skip]
pub(super) const PHRASES: &[Gloss] = &[
    ("わかりました", "got it"), ("分かりました", "got it"), ("承知しました", "got it"), ("了解です", "got it"), ("了解しました", "got it"), ("はい", "yes"), ("また", "also"), ("では", "then"), ("今後は", "from now on"),
    ("を使います", "^we will use"), ("を使いましょう", "^we will use"), ("にします", "^we will go with"), ("にしましょう", "^we will go with"), ("を採用します", "^we will adopt"), ("を使うことにしました", "^we decided on"), ("ことにしました", "^we decided to"), ("に決めました", "^we decided on"), ("に決定しました", "^we decided on"), ("に変更します", "^instead we will switch to"), ("に切り替えます", "^instead we will switch to"), ("は使いません", "^we will not use"), ("を使いません", "^we will not use"), ("代わりに", "instead"), ("やはり", "actually"),
    ("なければならない", "^it must"), ("なければなりません", "^it must"), ("必要があります", "^it must"), ("ないでください", "^do not"), ("てはいけません", "^we must not"), ("てはいけない", "^we must not"), ("てはならない", "^we must not"), ("必ず", "it must"), ("絶対に", "it must"), ("禁止です", "is forbidden"), ("は禁止", "is forbidden"),
    ("目標は", "the goal is"), ("を作りたいです", "^our goal is"), ("を作りたい", "^our goal is"), ("を作っています", "^we are building"), ("を開発しています", "^we are building"),
    ("てください", "^please handle"), ("でください", "^please handle"), ("てもらえますか", "^can you handle"), ("ます予定です", "^i will handle"), ("しました", "^finished"), ("きました", "^finished"), ("りました", "^finished"), ("みました", "^finished"), ("完了です", "^finished"), ("は不要です", "is no longer needed"), ("は不要になりました", "is no longer needed"), ("まだ", "not"), ("ていません", "not"),
    ("ことがわかりました", "^i found that"), ("ことが分かりました", "^i found that"), ("調べたところ", "i checked and"), ("確認したところ", "i checked and"), ("判明しました", "^it turns out"),
    ("たぶん", "maybe"), ("おそらく", "maybe"), ("多分", "maybe"), ("もしかしたら", "maybe"), ("もしかすると", "maybe"), ("かもしれません", "maybe"), ("かもしれない", "maybe"), ("と思います", "i think"), ("と思う", "i think"), ("ようです", "seems"), ("そうです", "apparently"), ("らしい", "apparently"), ("でしょう", "probably"), ("だろう", "probably"), ("はずです", "probably"), ("検討", "considering"), ("いつか", "one day"), ("将来", "eventually"), ("提案", "suggest"), ("どうでしょう", "what do you think"), ("ほうがいい", "suggest"),
    ("それとも", "or"), ("のどちら", "^should we use"), ("しますか", "do you think"), ("ますか", "do you think"), ("ですか", "do you think"), ("もし", "if"), ("場合", "in case"), ("れば", "if"), ("たら", "if"), ("なら", "if"), ("かどうか", "whether"),
    ("と言っています", "says"), ("と言っていました", "says"), ("と言いました", "says"), ("によると", "according to"), ("べきだ", "should"), ("べきです", "should"), ("例えば", "for example"), ("たとえば", "for example"), ("以前", "previously"), ("去年", "last year"), ("冗談", "just kidding"), ("未定", "tbd"), ("まだ決まっていません", "undecided"), ("つもりでした", "were going to"),
];

pub(super) fn habits(words: &mut Vec<Word>) {
    // "Rails と Laravel のどちら": と stands between the two.
    let is_choice = words.first().is_some_and(|word| word.lower == "should");
    if let Some(joint) =
        words.iter_mut().find(|word| is_choice && word.lower == format!("{}と", super::FOREIGN))
    {
        joint.lower = "or".into();
    }
    super::deny(words);
}
