//! Chinese: little grammar at the edges of words, much in fixed phrases.

use super::super::sentences::Word;
use super::Gloss;

#[rustfmt::skip]
pub(super) const PHRASES: &[Gloss] = &[
    ("好的", "ok"), ("明白", "got it"), ("了解", "got it"), ("收到", "got it"), ("另外", "also"), ("还有", "also"), ("那么", "then"), ("所以", "so"), ("注意", "important"), ("从现在起", "from now on"), ("以后都", "from now on"),
    ("我们用", "we will use"), ("我们使用", "we will use"), ("我们采用", "we will adopt"), ("就用", "we will use"), ("采用", "we will adopt"), ("我们决定用", "we decided on"), ("我们决定使用", "we decided on"), ("决定用", "we decided on"), ("决定使用", "we decided on"), ("决定采用", "we decided on"), ("我们选择", "we decided on"),
    ("我们决定", "we decided to"), ("决定不用", "we decided against"), ("我们决定不用", "we decided against"), ("我们不用", "we will not use"), ("不再使用", "we no longer use"), ("改用", "instead we will switch to"), ("换成", "instead we will switch to"), ("改成", "instead we will switch to"), ("用", "use"), ("使用", "use"), ("保留", "we will keep"), ("我们先不", "we will not"),
    ("必须", "it must"), ("一定要", "it must"), ("需要", "it must"), ("不能", "we must not"), ("不可以", "we must not"), ("不得", "we must not"), ("禁止", "we must not"), ("不允许", "we must not"), ("不要", "do not"), ("请不要", "do not"), ("绝不", "never"), ("永远不要", "never"), ("不许", "do not"), ("尽量", "prefer"),
    ("目标是", "the goal is to"), ("我们要做", "our goal is to"), ("我们要开发", "our goal is to"), ("我们想做", "our goal is to"), ("我们正在开发", "we are building"), ("正在开发", "we are building"), ("我们正在做", "we are building"),
    ("请", "please +handle"), ("麻烦", "please +handle"), ("我会", "i will +handle"), ("我来", "i will +handle"), ("接下来我会", "i will +handle"), ("已经", "is"), ("写完了", "is done"), ("做完了", "is done"), ("完成了", "is done"), ("弄好了", "is done"), ("好了", "is done"), ("修好了", "is done"), ("还没", "not"), ("没有", "not"), ("不再需要", "is no longer needed"), ("不需要了", "is no longer needed"), ("取消", "cancel"),
    ("我发现", "i found that"), ("我们发现", "we found that"), ("发现", "found that"), ("结果显示", "the logs show"), ("测试结果显示", "the logs show"), ("日志显示", "the logs show"), ("原来", "it turns out"), ("确认", "confirmed"),
    ("也许", "maybe"), ("可能", "maybe"), ("可能是", "maybe"), ("大概", "maybe"), ("或许", "maybe"), ("应该", "probably"), ("估计", "probably"), ("好像", "seems"), ("似乎", "seems"), ("我觉得", "i think"), ("我认为", "i think"), ("我想", "i think"), ("我猜", "i guess"), ("不确定", "not sure"), ("不知道", "not sure"), ("考虑", "considering"), ("建议", "suggest"), ("以后可以", "eventually"), ("将来", "eventually"), ("有可能", "maybe"), ("听说", "apparently"), ("据说", "apparently"), ("说不定", "maybe"), ("可以试试", "can try"),
    ("还是", "or"), ("要不要", "should we"), ("是否", "whether"), ("是不是", "do you think"), ("能不能", "do you think"), ("吗", "do you think"), ("如果", "if"), ("要是", "if"), ("假如", "if"), ("万一", "if"), ("除非", "unless"), ("只要", "as long as"), ("否则", "otherwise"),
    ("说要", "says"), ("说", "says"), ("表示", "says"), ("希望", "hopes"), ("比如", "for example"), ("例如", "for example"), ("以前", "previously"), ("去年", "last year"), ("差点", "almost"), ("开玩笑", "just kidding"), ("还没决定", "undecided"), ("没有决定", "undecided"), ("待定", "tbd"), ("本来想", "were going to"),
];

pub(super) fn habits(words: &mut Vec<Word>) {
    // "已经添加了": what comes last is done.
    let is_finished = words.iter().any(|word| word.lower == "is");
    if let Some(last) = words.last_mut().filter(|last| is_finished && last.lower.ends_with('了')) {
        last.lower = "done".into();
    }
    // "用 Go 还是用 Java": one verb for both.
    if let Some(or) = words.iter().position(|word| word.lower == "or")
        && let Some(verb) = words[..or].iter().position(|word| word.lower == "use")
    {
        if words.get(or + 1).is_some_and(|word| word.lower == "use") {
            words.remove(or + 1);
        }
        let place = words[verb].place.clone();
        let asked = ["should", "we"].map(|lower| Word {
            lower: lower.into(),
            place: place.clone(),
            quoted: false,
            paused: false,
        });
        words.splice(verb..verb, asked);
    }
    super::deny(words);
}
