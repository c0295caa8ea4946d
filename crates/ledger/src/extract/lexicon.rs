//! The words that the rules look for: lists of phrases, `one | another`. Contractions are written out.

/// What people begin a sentence with before they say something.
pub(super) const OPENERS: &str = "\
    ok | okay | alright | right | great | cool | nice | good | perfect | yeah | yep | sure | so | also | \
    and | then | well | hmm | hm | btw | by the way | fyi | fair enough | sounds good | got it | thanks | \
    finally | lastly | first | second | for now | from now on | going forward | therefore | thus | but | \
    anyway | hey | team | folks | to be clear | just | in that case | actually | wait | hold on | \
    on second thought | on second thoughts | scratch that | change of plan | change of plans | correction | \
    no wait | wait no | no hold on | sorry | never mind | nevermind | rather | instead | agreed | confirmed | \
    done deal | final answer | \
    oh | ah | see | look | important | one more thing | also please | as discussed | as agreed | in short | \
    tl;dr | tldr | next | yes please | small change | one thing | heads-up | alright then | for the record | update | note | please note | remember | again | meanwhile | as well";

/// What takes back the part of a sentence that stands before it.
pub(super) const SECOND_THOUGHTS: &str =
    "no wait | wait no | no hold on | no scratch that | scratch that | strike that | no sorry | no actually";

/// What says that something said before is to be changed.
pub(super) const REVISING: &str = "\
    actually | wait | hold on | on second thought | on second thoughts | scratch that | change of plan | \
    change of plans | correction | instead | make that | rather than | change that to | change it to | \
    let us change | switch | switching | no longer | after all | replace | replacing | move away from | \
    revert | go back to | update that | changed my mind | changed our minds | i take that back";

/// After these verbs something is decided.
pub(super) const DECIDING: &str = "\
    use | go with | pick | choose | stick with | stick to | switch to | switch from | move to | adopt | \
    keep | drop | support | target | store | host | deploy to | deploy on | run on | base | \
    standardise on | standardize on | settle on | opt for | rely on | default to | follow | treat | \
    go for | proceed with | replace | migrate to | migrate from | start with | continue with | leave | \
    postpone | defer | put | skip | return to | revert to | go back to | cache | persist | encrypt | \
    expose | call it | name it | version | license | licence | require | ship with | pin | freeze | limit | \
    cap | log | serve | render | model | represent | split | keep using | build on | move from | make";

/// Deciding verbs whose past tense reports a decision.
pub(super) const DECIDED: &str = "\
    decided to | decided on | decided that | decided we will | chose | picked | settled on | opted for | \
    agreed to | agreed on | agreed that | have decided to | have decided on | have decided that | \
    have chosen | have picked | have settled on | have opted for | have agreed to | have agreed on | \
    are going with | am going with | are sticking with | are using | are moving to | are switching to | \
    are going to go with | are dropping | are keeping | went with | have agreed that";

/// After these verbs something is to be done.
pub(super) const DOING: &str = "\
    write | add | fix | implement | create | update | remove | delete | rename | refactor | set up | \
    setup | configure | install | test | document | review | investigate | migrate | move | extract | \
    clean up | upgrade | bump | release | publish | deploy | merge | rebase | profile | benchmark | \
    measure | port | rewrite | wire | wire up | hook up | scaffold | draft | prepare | backfill | \
    optimise | optimize | simplify | split | introduce | enable | disable | build | generate | run | make | \
    change | convert | debug | design | finish | improve | handle | track down | verify | validate | \
    check in | tag | push | open | close | reproduce | replace | sync | schedule | rotate | provision | \
    translate | instrument | monitor | cover | tidy | drop | patch | revert | restore | seed | sketch | \
    register | expose | ship | get | look at | look up | compare | analyse | analyze | estimate | research | inspect | audit | trace | collect | \
    gather | take care of | call | ask | send | contact | email | draft up | write up | put together | find out | train | import | export | mask | \
    rehearse | record | start on | handle";

/// Verbs with which a user sets how something is to be. They replace what was set before.
pub(super) const SETTING: &str = "\
    raise | lower | increase | decrease | reduce | set | turn | allow | ignore | partition | repair | retry | batch | round | sort | group | order | compress | \
    encode | escape | refuse | reject | accept | route | bundle | cut | double | halve | shorten | extend | enforce | prefix | hash | sign | stream | \
    buffer | fall back | block | hide | show | display | notify | warn | trim | strip | archive | rebuild | mirror | inline | squash | name | call | \
    make it | make them | bind | mount | sample | throttle | lock | poll | queue | deduplicate | merge only | log them | log it";

/// Past forms that say that something was done.
pub(super) const DID: &str = "\
    wrote | written | added | fixed | implemented | created | updated | removed | deleted | renamed | \
    refactored | set up | configured | installed | tested | documented | reviewed | investigated | \
    migrated | moved | extracted | cleaned up | upgraded | bumped | released | published | deployed | \
    merged | rebased | profiled | benchmarked | measured | ported | rewrote | rewritten | wired | \
    wired up | hooked up | scaffolded | drafted | prepared | backfilled | optimised | optimized | \
    simplified | split | introduced | enabled | disabled | built | generated | converted | debugged | \
    designed | finished | improved | verified | validated | tagged | pushed | opened | closed | \
    reproduced | replaced | completed | shipped | resolved | done with | rotated | provisioned | \
    translated | instrumented | covered | patched | reverted | restored | seeded | sketched | registered | \
    landed | ran | sent | called | asked | happened | trained | imported | exported | masked | connected | rehearsed | checked | \
    provisioned | integrated | tidied | swapped | switched | put | recorded | collected | compared | analysed | analyzed";

/// "X is …" that closes X.
pub(super) const IS_DONE: &str = "\
    done | finished | complete | completed | merged | shipped | fixed | implemented | deployed | released | \
    resolved | in place | live | published | closed | written | ready | up and running | landed | \
    migrated | added | removed | passing | green | working now | all green | in production | out | in | up | there | through | set up | gone | sent | deleted | installed | \
    tested | documented | configured | created | imported | connected | implemented and";

/// Verbs after "cannot" that make a rule rather than report a failure.
pub(super) const RULING: &str = "\
    use | store | exceed | depend | break | change | ship | add | include | log | send | expose | require | \
    touch | modify | rely | assume | allow | be | share | leave | commit | write | introduce | block | \
    call | hold | keep | take | go over | go above | go below | upload | persist | drop | have | lose | \
    leak | run on | support | spend | skip";

/// What an imperative "do not" means nothing by.
pub(super) const IDLE_PROHIBITIONS: &str = "\
    worry | know | think | mind | panic | hesitate | get me wrong | care | understand | see | have | need | \
    want | believe | recall | remember | ask | quote | bother | be afraid | be silly | tell | get it | \
    like | agree | expect | even | really | you | we | i | they | take my word";

/// "No …" that is no rule.
pub(super) const IDLE_NO: &str = "\
    problem | problems | worries | idea | clue | thanks | need | rush | way | wonder | doubt | matter | \
    exceptions | exception | one | luck | change | changes | news | comment | objections | objection | more questions | questions | \
    question | big deal | longer | errors | error | issues | issue | progress | response | answer | \
    output | results | it | that | we | i | you | not | this | such | let | use | do | thoughts | joke | \
    kidding | bueno | go | dice | sign | trace | difference | decision | reason | regressions | failures | \
    warnings";

/// Verbs with which a plain statement says how things are.
pub(super) const STATING: &str = "\
    expire | is | are | was | were | has | have | takes | take | uses | use | supports | support | requires | \
    require | runs | run | returns | return | needs | lives | live | breaks | fails | fail | contains | \
    contain | expects | expect | allows | allow | depends | depend | costs | cost | sends | stores | \
    reads | writes | holds | defaults | accepts | rejects | drops | limits | caps | ships | comes | leaks | \
    crashes | times | does | do | can | cannot | only | exceeds | handles | deadlocks | ignores | caches | \
    listens | expires | responds | hits | leaves | works | gets | points | consumes | averages | peaks | \
    dropped | rose | fell | went | grew | failed | crashed | returned | took | exceeded | changed | broke";

/// Subjects of statements that say nothing about the project.
pub(super) const IDLE_SUBJECTS: &str = "\
    plan | idea | question | point | thing | next | decision | answer | reason | trick | rest | catch | \
    downside | upside | trade-off | tradeoff | advantage | alternative | choice | option | options | \
    following | above | below | best | better | first | second | other | goal | aim | objective | hope | \
    good | bad | same | only | approach | concern | worry | suggestion | proposal | challenge | risk | \
    joke | task | problem";

/// What makes a rule hard.
pub(super) const STRONG: &str = "\
    must | have to be | has to be | needs to be | need to be | is required | are required | is mandatory | \
    are mandatory | is not allowed | are not allowed | is forbidden | are forbidden | is prohibited | \
    is banned | are banned | off limits | non-negotiable | is a must | hard requirement | hard limit | \
    under no circumstances | at all times | has to work | has to run | has to support | has to stay | \
    needs to work | needs to support | needs to stay | needs to run | have to support | have to stay | \
    need to support | need to stay | not permitted";

/// What introduces something that was found out.
pub(super) const FOUND: &str = "\
    it turns out that | it turns out | turns out that | turns out | i found out that | i found that | \
    we found that | we found out that | i discovered that | we discovered that | i learned that | \
    we learned that | found that | discovered that | learned that | til | i noticed that | i noticed | \
    we measured | i measured | the root cause is | the root cause was | root cause is | \
    it is confirmed that | i confirmed that | we confirmed that | i verified that | i checked and | \
    i can confirm that | note that | confirmed that | verified that | we saw that | i see that | \
    the logs show that | the logs show | the profiler shows that | the profiler shows | you were right | \
    you are right";

/// What people think of something, which is no fact about it.
pub(super) const OPINIONS: &str = "\
    fine | ok | okay | great | good | bad | nice | cool | awesome | perfect | hard | easy | scary | ugly | annoying | boring | fun | best | better | worse | \
    worst | wrong | right | true | clear | obvious | interesting | important | too | very | really | quite | pretty | so | up | enough | worth | sad | \
    crazy | silly | due | urgent | welcome | yours | mine | it | that | all | overkill | tempting | problematic | painful | lovely";

/// Sentence openings that point at something else than the project.
pub(super) const IDLE_STARTS: &str = "\
    i | you | it | that | this | there | here | he | she | they | these | those | what | who | why | how | \
    when | where | which | we | nothing | something | everything | anything | nobody | everyone | someone | \
    thanks | yes | no | not | if | let | please | my | your | his | her | their | looks | sounds | see | \
    one | both | either | neither | some | any | great | good | nice | sure | ok | okay | now | then | \
    today | tomorrow | yesterday";
