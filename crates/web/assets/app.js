// The review page: liveness and keys, nothing else. Every page reads and every action works without it.
(() => {
  'use strict';
  const $ = (s, r = document) => r.querySelector(s);
  const $$ = (s, r = document) => [...r.querySelectorAll(s)];
  const root = document.documentElement;
  const store = (k, v) => { try { if (v === undefined) return localStorage.getItem(k); localStorage.setItem(k, v); } catch { return null; } };

  // Another page of this server as a document: markup is parsed by the browser, never by a string sink.
  const load = (url) => new Promise((done, fail) => {
    const ask = new XMLHttpRequest();
    ask.open('GET', url); ask.responseType = 'document'; ask.timeout = 20000;
    ask.onload = () => (ask.response && ask.status < 300 ? done(ask.response) : fail(ask.status));
    ask.onerror = ask.ontimeout = () => fail(0);
    ask.send();
  });
  const take = (node) => document.adoptNode(node);

  function theme() {
    const dark = root.dataset.theme ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
    root.dataset.theme = dark ? 'light' : 'dark';
    document.cookie = `probity_theme=${root.dataset.theme}; SameSite=Strict; Path=/; Max-Age=31536000`;
  }

  // Times in the time zone of the reader: the server knows only its own.
  const ago = (s) => (s < 60 ? 'just now' : s < 3600 ? `${Math.floor(s / 60)} min ago` : s < 86400 ? `${Math.floor(s / 3600)} h ago` : `${Math.floor(s / 86400)} d ago`);
  function times(r = document) {
    const now = new Date();
    for (const t of $$('time[datetime]', r)) {
      const d = new Date(t.dateTime);
      if (isNaN(d)) continue;
      const clock = d.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit', hour12: false });
      t.textContent = 'ago' in t.dataset ? ago((now - d) / 1000) : d.toDateString() === now.toDateString() ? clock : `${d.toLocaleDateString([], { day: 'numeric', month: 'short' })} ${clock}`;
      t.title = d.toLocaleString();
    }
  }
  times();
  setInterval(() => times($('#board') || document.createElement('i')), 30000);

  // Dialogs: an action first shows what it will do. Without script the same preview is a page of its own.
  let opener = null;
  async function act(link) {
    const dialog = $('#act');
    opener = link;
    try {
      const form = $('#preview', await load(link.href));
      if (!form) throw 0;
      dialog.replaceChildren(take(form));
      dialog.showModal();
      const first = $('input:not([type=hidden]), textarea, button', dialog);
      if (first) first.focus();
    } catch { location.href = link.href; }
  }
  const show = (id) => { const d = document.getElementById(id); if (d && !d.open) { opener = document.activeElement; d.showModal(); } };
  $$('dialog').forEach((d) => d.addEventListener('close', () => opener && opener.focus()));
  document.addEventListener('click', (e) => {
    if (e.ctrlKey || e.metaKey || e.shiftKey) return;
    const b = e.target.closest('[data-act], [data-load], .wait > a');
    if (!b) return;
    if (!b.dataset.act) { e.preventDefault(); const card = b.closest('.file'); open_file(card, card.classList.contains('wait') ? null : b.href); return; }
    const does = b.dataset.act, dialog = b.closest('dialog');
    if (does === 'theme') theme();
    else if (does === 'help') show('help');
    else if (does === 'keys') { store('keys', store('keys') === 'off' ? 'on' : 'off'); name_keys(); }
    else if (does === 'fresh') refresh();
    else if (does === 'close' && dialog) { e.preventDefault(); dialog.close(); }
    else if (does === 'dialog') { e.preventDefault(); act(b); }
  });
  // A menu of decisions closes when the reader goes elsewhere.
  document.addEventListener('click', (e) => $$('.acts[open]').forEach((m) => { if (!m.contains(e.target)) m.open = false; }));
  document.addEventListener('keydown', (e) => { const m = e.key === 'Escape' && e.target.closest('.acts[open]'); if (m) { m.open = false; $('summary', m).focus(); } });
  const name_keys = () => { const b = $('#keys-switch'); if (b) b.textContent = store('keys') === 'off' ? 'Turn single keys on' : 'Turn single keys off'; };
  name_keys();

  // Files: the rows of a file are loaded when it comes near, four at a time.
  const waiting = [];
  let loading = 0;
  const files = $('#files');
  const file_address = (card) => files.dataset.files + card.id.slice(2) + files.dataset.query;
  async function open_file(card, url) {
    if (!card || card.dataset.busy) return;
    card.dataset.busy = '1';
    try {
      const fresh = $('.file', await load(url || file_address(card)));
      const seen = $('[data-seen]', card), was = seen && seen.checked;
      card.replaceChildren(...[...fresh.childNodes].map(take));
      card.classList.remove('wait');
      const now = $('[data-seen]', card); if (now && was) now.checked = true;
    } catch (code) {
      const fold = $('.fold span', card) || card.lastChild;
      if (fold) fold.textContent = ` Could not be loaded (${code}). Show tries again.`;
      delete card.dataset.busy;
    }
  }
  const next_file = () => {
    while (loading < 4 && waiting.length) {
      loading++;
      open_file(waiting.shift()).finally(() => { loading--; next_file(); });
    }
  };
  if ('IntersectionObserver' in window) {
    const near = new IntersectionObserver((all) => {
      for (const one of all) if (one.isIntersecting) { near.unobserve(one.target); waiting.push(one.target); }
      next_file();
    }, { rootMargin: '600px' });
    $$('.file.wait').forEach((f) => near.observe(f));
  }

  // Findings are compared after the page is there: it takes an analysis of the tree, twice.
  const compare = $('#compare');
  if (compare) load(compare.href).then((page) => {
    const dd = $('#findings-dd'), sum = $('#findings-sum', page);
    if (!dd || !sum) return;
    const more = document.createElement('small'), all = document.createElement('a');
    all.href = compare.href; all.textContent = 'all'; more.append(all);
    dd.replaceChildren(...[...sum.childNodes].map(take), more);
    for (const row of $$('#finding-rows tr', page)) {
      const card = document.getElementById('f-' + row.dataset.file), body = card && $('.diff tbody', card);
      if (!body) continue;
      const split = body.parentNode.classList.contains('sbs'), before = row.dataset.side === 'before';
      const at = row.dataset.line && $$('tr', body).find((r) => { const n = r.cells[before ? 0 : split ? 2 : 1]; return n && n.classList.contains('n') && n.textContent.replace(/\D/g, '') === row.dataset.line; });
      if (row.dataset.line && !at) continue;
      row.cells[0].colSpan = split ? 4 : 3;
      if (at) at.after(take(row)); else body.prepend(take(row));
    }
  }).catch(() => {});

  // Seen marks belong to this browser and to the content that was shown.
  const change = $('#change');
  const seen_key = change && `seen:${change.dataset.change}:${change.dataset.shown.slice(0, 16)}`;
  const seen = new Set(JSON.parse((seen_key && store(seen_key)) || '[]'));
  const tell_seen = () => { const s = $('#seen'); if (s) s.textContent = `${seen.size} of ${$$('.file').length} seen`; };
  if (change) { $$('[data-seen]').forEach((c) => { c.checked = seen.has(c.dataset.seen); }); tell_seen(); }
  document.addEventListener('change', (e) => {
    const c = e.target.closest('[data-seen]');
    if (!c) return;
    if (c.checked) seen.add(c.dataset.seen); else seen.delete(c.dataset.seen);
    store(seen_key, JSON.stringify([...seen])); tell_seen();
  });

  // Hover or focus on a path lights the thread to its clause.
  $$('.dlist [data-thread]').forEach((a) => {
    const t = document.getElementById(a.dataset.thread);
    if (!t) return;
    for (const ev of ['mouseenter', 'focus']) a.addEventListener(ev, () => t.classList.add('hi'));
    for (const ev of ['mouseleave', 'blur']) a.addEventListener(ev, () => t.classList.remove('hi'));
  });

  // Keys: never while typing, composing, under a dialog or with a modifier; they can be turned off.
  let first = '', at_time = 0;
  const rows = () => $$('.lane .label, .work .tree a, a.item, a.item-link, .loci a');
  document.addEventListener('keydown', (e) => {
    if (e.isComposing || e.ctrlKey || e.metaKey || e.altKey) return;
    if (e.target.closest('input, textarea, select, [contenteditable]')) { if (e.key === 'Escape') e.target.blur(); return; }
    if ($('dialog[open]')) return;
    if (store('keys') === 'off' && e.key !== '?') return;
    const go = first === 'g' && e.timeStamp - at_time < 1200 && $(`[data-go="${CSS.escape(e.key)}"]`);
    first = e.key; at_time = e.timeStamp;
    if (go) { e.preventDefault(); first = ''; location.href = go.href; return; }
    const step = (list, d) => { const n = list[Math.max(0, Math.min(list.length - 1, list.indexOf(document.activeElement) + d))]; if (n) n.focus(); };
    const files = $$('.file');
    const at = files.findIndex((f) => f.getBoundingClientRect().bottom > 140);
    const jump = (i) => { const f = files[i]; if (f) { f.tabIndex = -1; f.scrollIntoView(); f.focus({ preventScroll: true }); } };
    const hunk = (d) => {
      const all = $$('.hunk'), here = all.findIndex((h) => h.getBoundingClientRect().top > 170);
      const n = all[d > 0 ? (here < 0 ? all.length - 1 : here) : Math.max(0, (here < 0 ? all.length : here) - 2)];
      if (n) { n.scrollIntoView(); scrollBy(0, -160); }
    };
    const place = (d) => { const all = $$('#main .cols3 .loci a'), i = all.findIndex((a) => a.hasAttribute('aria-current')); const n = all[i + d]; if (n) location.href = n.href; };
    const option = (key) => { const b = $(`[data-key="${key}"]`); if (b) act(b); };
    const map = {
      '?': () => show('help'), '/': () => $('#q').focus(), '\\': theme, '.': () => refresh(),
      j: () => step(rows(), 1), k: () => step(rows(), -1),
      ']': () => (files.length ? jump(at + 1) : place(1)), '[': () => (files.length ? jump(at - 1) : place(-1)), n: () => hunk(1), p: () => hunk(-1),
      o: () => jump(files.findIndex((f, i) => f.classList.contains('o') && i > at) >= 0 ? files.findIndex((f, i) => f.classList.contains('o') && i > at) : files.findIndex((f) => f.classList.contains('o'))),
      v: () => { const c = files[at] && $('[data-seen]', files[at]); if (c) { c.checked = true; c.dispatchEvent(new Event('change', { bubbles: true })); jump(at + 1); } },
      u: () => { const other = $('.views a:not([aria-current])'); if (other) location.href = other.href; },
      w: () => { const a = (document.activeElement.closest('tr') && $('.n a', document.activeElement.closest('tr'))) || (files[at] && $('.n a', files[at])); if (a) location.href = a.href; },
      1: () => option('1'), 2: () => option('2'), 3: () => option('3'), 4: () => option('4'),
      E: () => option('E'), L: () => option('L'), S: () => option('S'), R: () => option('R'),
    };
    if (map[e.key]) { e.preventDefault(); map[e.key](); }
  });

  // Liveness: one stream for all tabs of a browser. The tab that holds the lock listens and tells the others.
  const live = $('#live');
  const say = (on) => { if (!live) return; live.classList.toggle('off', !on); live.lastElementChild.textContent = on ? 'Live' : 'Not live'; };
  const board = $('#board');
  const read_at = (board || change || document.body).dataset.log;
  let known = +(read_at || 0), fresh = 0, timer = 0, source = null;
  const busy = () => { const m = $('#map'); return m && (m.matches(':hover') || m.contains(document.activeElement)); };
  async function refresh() {
    if (!board) { location.reload(); return; }
    fresh = 0;
    const b = $('#waiting'); if (b) b.hidden = true;
    try {
      const page = await load('/board');
      const now = $('#board', page), focus = document.activeElement && document.activeElement.closest('.lane');
      const which = focus && focus.dataset.change;
      board.replaceChildren(...[...now.childNodes].map(take));
      for (const id of ['board-sum', 'n-board', 'n-merge', 'n-ledger']) {
        const mine = document.getElementById(id), its = page.getElementById(id);
        if (mine && its) { mine.hidden = its.hidden; mine.replaceChildren(...[...its.childNodes].map(take)); }
      }
      times(board);
      document.title = page.title;
      const lane = which && $(`.lane[data-change="${CSS.escape(which)}"] .label`); if (lane) lane.focus();
    } catch { say(false); }
  }
  function heard(kind, data) {
    say(true);
    if (kind === 'bye') { say(false); return; }
    if (kind === 'resync') { if (board) refresh(); return; }
    if (kind === 'log') {
      const line = JSON.parse(data);
      if (line.index < known) return;
      known = line.index + 1;
      if (change && line.change && (line.change === change.dataset.change || change.dataset.change.includes(line.change))) { const n = $('#newer'); if (n) n.hidden = false; }
      if (!board) return;
      const feed = $('#feed'), li = document.createElement('li');
      li.className = 'fresh'; li.dataset.index = line.index;
      const add = (tag, cls, text) => { const el = document.createElement(tag); if (cls) el.className = cls; el.textContent = text; li.append(el); return el; };
      const at = add('time', '', ''); if (line.at) { at.dateTime = line.at; times(li); } add('span', 'seq', '#' + line.index);
      const words = add('span', '', '');
      if (line.who) { const b = document.createElement('b'); b.textContent = line.who; words.append(b, ' '); }
      words.append(line.words);
      if (feed) { feed.prepend(li); while (feed.children.length > 12) feed.lastElementChild.remove(); setTimeout(() => li.classList.remove('fresh'), 60); }
      fresh++;
    }
    if (board && kind === 'board') {
      clearTimeout(timer);
      // Nothing moves under the reader: while the map is used, what is new waits for a key.
      if (busy()) { const b = $('#waiting'); if (b) { b.hidden = false; b.textContent = `${fresh || 1} new, show .`; } }
      else timer = setTimeout(refresh, 40);
    }
  }
  function listen(relay) {
    source = new EventSource(read_at === undefined ? '/events' : '/events?from=' + known);
    const tell = (kind) => (e) => { heard(kind, e.data); relay({ kind, data: e.data }); };
    for (const kind of ['log', 'board', 'resync', 'bye']) source.addEventListener(kind, tell(kind));
    source.onopen = () => { say(true); relay({ kind: 'open' }); };
    source.onerror = () => { say(false); relay({ kind: 'lost' }); };
    return new Promise(() => {});
  }
  if (live && 'EventSource' in window) {
    const lines = 'BroadcastChannel' in window ? new BroadcastChannel('probity-' + location.port) : null;
    const relay = (m) => lines && lines.postMessage(m);
    if (lines) lines.onmessage = (e) => {
      const m = e.data;
      if (m.kind === 'open') say(true); else if (m.kind === 'lost') say(false);
      else if (m.kind === 'who') { if (source && source.readyState === 1) relay({ kind: 'open' }); }
      else heard(m.kind, m.data);
    };
    if (navigator.locks) { navigator.locks.request('probity-events', () => listen(relay)); relay({ kind: 'who' }); }
    else listen(relay);
  }
  const leases = () => $$('[data-left]');
  setInterval(() => leases().forEach((l) => { const s = Math.max(0, +l.dataset.left - 1); l.dataset.left = s; l.textContent = Math.floor(s / 60) + ':' + String(s % 60).padStart(2, '0'); }), 1000);
})();
