// Step: what attackers can do with the release, alone and together with a second one.

import { post, put, run } from './api.js';
import { body, el, fill, notice, table, tell, trouble } from './dom.js';
import { dropping } from './data.js';
import { attackWords, counted, plain, readable } from './words.js';

let made;
let met;
/** The second release that is looked at now; another one takes its place. */
let meeting;

export function show(release) {
  made = release;
  meeting?.abort();
  meeting = null;
  met = el('div', {});
  const { told } = made;
  const promises = told.promises.map((one) => [plain(one.words), one.holds === null ? 'cannot tell' : one.holds ? el('span', { class: 'good-word' }, 'holds') : el('span', { class: 'bad-word' }, 'broken'), readable(one.worst)]);
  fill(body('attacks'), el('div', { class: 'aged' }),
    promises.length ? table('What was promised', [{ title: 'promise' }, { title: 'result' }, { title: 'worst group has' }], promises, true) : null,
    el('h3', {}, 'Attacks that were tried'),
    el('p', {}, 'An attack that works is no broken promise, unless a promise excludes it: it is a risk for you to judge.'),
    told.attacks.filter(({ state }) => state === 'measured').map(attack),
    el('details', {}, el('summary', {}, 'Attacks that do not apply, or could not be tried'),
      el('ul', {}, told.attacks.filter(({ state }) => state !== 'measured').map(({ name, sentence }) => el('li', {}, el('strong', {}, attackWords(name)), `: ${plain(sentence)}`)))),
    el('h3', {}, 'What is not protected'), el('ul', {}, told.not_protected.map((text) => el('li', {}, plain(text)))),
    told.assumptions.length ? [el('h3', {}, 'What the promises assume'), el('ul', {}, told.assumptions.map((text) => el('li', {}, plain(text))))] : null,
    second());
}

function attack({ name, score, sentence }) {
  const found = made.attacks.find((one) => one.attack === name);
  const groups = (found?.worst_groups || []).map((one) => [`group ${one.group}`, counted(one.rows, 'row'), readable(one.level)]);
  return el('details', {}, el('summary', {}, el('strong', {}, attackWords(name)), score ? ` – ${score}` : ''),
    el('p', {}, plain(sentence)),
    found?.prevention ? el('p', { class: 'soft' }, `What helps: ${plain(found.prevention)}`) : null,
    groups.length ? table('Groups where it works best', [{ title: 'group' }, { title: 'rows' }, { title: 'how sure (0 to 1)' }], groups, true) : null);
}

/** A second release of the same people. */
function second() {
  const input = el('input', { type: 'file', id: 'second', webkitdirectory: true, multiple: true });
  // The same folder can be chosen again.
  input.addEventListener('change', () => { const files = [...input.files]; input.value = ''; if (files.length) send(files); });
  const typed = el('input', { type: 'text', id: 'second-folder', size: 24 });
  const named = () => typed.value.trim() && meet(async () => ({ folder: typed.value.trim() }));
  typed.addEventListener('keydown', (event) => { if (event.key === 'Enter') named(); });
  const drop = el('div', { class: 'drop' },
    el('p', {}, el('label', { for: 'second' }, 'Drop the files of another release of the same people here, or choose its folder: '), input),
    el('p', {}, el('label', { for: 'second-folder' }, 'or name its folder: '), typed, ' ',
      el('button', { type: 'button', class: 'small', onclick: named }, 'Put together')));
  dropping(drop, (files, transfer) => send(unfolded(transfer, files)));
  return el('div', {}, el('h3', {}, 'Together with a second release'),
    el('p', {}, 'Whoever gets two releases of the same people can put them together, and rule out what one of them does not allow.'), drop, met);
}

/** The files of a folder that was dropped. */
async function unfolded(transfer, files) {
  const entry = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).find((one) => one?.isDirectory);
  if (!entry) return files;
  // A folder tells its files a hundred at a time.
  const [reader, entries] = [entry.createReader(), []];
  for (;;) {
    const more = await new Promise((resolve, reject) => { reader.readEntries(resolve, reject); });
    if (more.length === 0) break;
    entries.push(...more);
  }
  return Promise.all(entries.filter((one) => one.isFile).map((one) => new Promise((resolve, reject) => { one.file(resolve, reject); })));
}

function send(given) {
  return meet(async (signal) => {
    const files = await given;
    if (files.length === 0) throw { message: 'nothing was dropped that is a file', remedy: 'drop the folder of a release, with `release.json` in it' };
    if (!files.some(({ name }) => name === 'release.json')) throw { message: `${files.length === 1 ? `${files[0].name} is no release` : 'this folder is no release'}: there is no \`release.json\` in it`, remedy: 'choose the folder that was published, with all of its files' };
    const several = files.filter(({ name }) => name === 'release.json').length;
    if (several > 1) throw { message: `this folder holds ${several} releases`, remedy: 'choose the folder of one of them' };
    const { received } = await post('received', {});
    for (const file of files) await put(`received/${received}/${encodeURIComponent(file.name)}`, file, signal);
    return { received };
  });
}

/** What two releases tell together. That nothing was found is no reason to be at ease. */
function verdict({ narrowed, surer, contradicted, in_common: isMet, failed }) {
  if (failed.some(({ name }) => name !== 'intersection')) return { tone: 'bad', title: 'The audit FAILED: whatever is said about the two together cannot be relied on.' };
  if (narrowed || surer) return { tone: 'bad', title: 'Together they break a promise: some people are left with less than was promised.' };
  if (contradicted || failed.length) return { tone: 'bad', title: 'They were not made from the same rows, so that little can be concluded.' };
  if (isMet === false) return { tone: '', title: 'They have nobody in common.' };
  return { tone: '', title: 'As far as this was checked, no promise is broken together.' };
}

async function meet(other) {
  meeting?.abort();
  const own = new AbortController();
  meeting = own;
  const place = met;
  const line = el('p', {}, 'Putting the two together …');
  const cancel = el('button', { type: 'button', onclick: () => own.abort() }, 'Cancel');
  fill(place, line, el('progress', { 'aria-label': 'Putting the two together' }), el('div', { class: 'row' }, cancel));
  try {
    const found = await run(`releases/${made.release}/with`, await other(own.signal), () => {}, own.signal);
    if (meeting !== own) return;
    const { tone, title } = verdict(found);
    fill(place, notice(tone, title,
      found.failed.map((one) => el('p', {}, el('span', { class: 'bad-word' }, one.name === 'intersection' ? 'BROKEN ' : 'FAILED '), plain(one.name === 'intersection' ? one.detail : `${one.name}: ${one.detail}`))),
      found.findings.map((one) => [el('p', {}, plain(one.sentence)), one.prevention ? el('p', { class: 'soft' }, `What helps: ${plain(one.prevention)}`) : null])));
    tell(title);
  } catch (error) {
    if (meeting !== own) return;
    fill(place, error.fault === 'stopped' ? notice('', 'Putting the two together was cancelled.') : trouble(error));
    tell(error.message);
  }
}
