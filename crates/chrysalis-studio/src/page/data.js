// Step: a table is opened, either the file that the studio was started with or one that is dropped here.

import { follow, get, put } from './api.js';
import { remember } from './keep.js';
import { body, el, fill, notice, tell, trouble } from './dom.js';
import { count, counted, plain } from './words.js';

let settings;
let opened;
/** The table that is open. */
let current;
/** Whether the table was opened by hand: then the focus goes on from there. */
let isAsked = false;

/** Goes on where the page was before it was loaded again (`kept`), or begins with the file of the start. */
export async function show(state, then, kept) {
  [settings, opened] = [state, then];
  if (kept?.reading) { await wait(kept.reading.name, () => kept.reading.job); return; }
  if (kept?.table) {
    try {
      done(await get(`tables/${kept.table}/about`));
      return;
    } catch (error) {
      if (error.fault === 'silence') throw error;
      if (!state.job) { isAsked = true; choose(notice('', `${kept.name} is no longer in the memory of the studio, because other tables were opened since.`, el('p', {}, 'Open it again: your choices are still known.'))); return; }
    }
  }
  if (state.job) await wait(state.file, () => state.job);
  else { isAsked = true; choose(); }
}

/** Asks for a file; `above` is said first. */
function choose(...above) {
  const input = el('input', { type: 'file', id: 'file', accept: '.csv,.tsv,.txt,.gz,.zst,.parquet' });
  input.addEventListener('change', () => input.files[0] && send(input.files[0]));
  const drop = el('div', { class: 'drop' },
    el('p', {}, el('label', { for: 'file' }, 'Drop a file with one row per person here, or choose one:')),
    el('p', {}, input),
    el('p', { class: 'soft small' }, `CSV or Parquet, also packed with gzip or zstd, up to ${count(settings.most_upload >> 20)} MB. It stays in the memory of this machine. Larger files are read where they are: `, el('code', {}, 'chrysalis studio FILE')));
  dropping(drop, (files) => files[0] && send(files[0]));
  // What is chosen below is about the table that is open until another one is.
  const keep = current ? el('div', { class: 'row' }, el('span', {}, el('strong', {}, current.name), ' is still open.'),
    el('button', { type: 'button', id: 'keep', onclick: () => { named(); focusTitle(); } }, `Keep ${current.name}`)) : null;
  fill(body('data'), above, keep, drop);
}

/** What opens is named below; the next step is the roles. */
function focusTitle() {
  document.getElementById('roles-title').focus();
}

/** Lets files be dropped on an element. */
export function dropping(node, take) {
  node.addEventListener('dragover', (event) => { event.preventDefault(); node.classList.add('over'); });
  node.addEventListener('dragleave', () => node.classList.remove('over'));
  node.addEventListener('drop', (event) => {
    event.preventDefault();
    node.classList.remove('over');
    take([...event.dataTransfer.files], event.dataTransfer);
  });
}

/** Counts the files that were given: of two at once the later one is read. */
let sent = 0;

async function send(file) {
  sent += 1;
  const own = sent;
  if (file.size > settings.most_upload) {
    refuse({ message: `${file.name} has ${count(file.size >> 20)} MB, more than can be uploaded`, remedy: 'start the studio with the file, which is then read where it is: `chrysalis studio FILE`' });
    return;
  }
  const start = await file.slice(0, 5).text().catch(() => null);
  if (own !== sent) return;
  if (start === null) {
    refuse({ message: `${file.name} cannot be read: it is a folder, or it is gone`, remedy: 'choose one file, such as `table.csv`' });
    return;
  }
  if (start === '%PDF-') {
    refuse({ message: `${file.name} is a PDF: pages to look at, and no table`, remedy: 'save the table as CSV in the program that made the PDF, and open that file' });
    return;
  }
  const upload = async (signal, encoding) => (await put(`tables/${encodeURIComponent(file.name)}${encoding ? `?encoding=${encoding}` : ''}`, file, signal)).job;
  if (own !== sent) return;
  await wait(file.name, upload, () => wait(file.name, (signal) => upload(signal, 'latin-1')));
}

/** Asks for another file, and says why. */
function refuse(error, ...actions) {
  isAsked = true;
  choose(trouble(error, actions));
  const [button] = document.querySelectorAll('#data .said button');
  (button || document.getElementById('keep') || document.getElementById('file')).focus();
  tell(error.message);
}

/** Shows how the reading goes, and then what was read. A text of Western Europe can be read `otherwise`. */
async function wait(name, start, otherwise) {
  const stopping = new AbortController();
  const bar = el('progress', { 'aria-label': `Reading ${name}` });
  fill(body('data'), el('p', {}, `Reading ${name} …`), bar,
    el('div', { class: 'row' }, el('button', { type: 'button', onclick: () => stopping.abort() }, 'Cancel')));
  try {
    const job = await start(stopping.signal);
    remember({ reading: { job, name } });
    const table = await follow(job, ({ done, total }) => {
      if (total) [bar.max, bar.value] = [total, Math.min(done, total)];
    }, stopping.signal);
    done(table);
  } catch (error) {
    remember({ reading: null });
    if (error.fault === 'stopped') {
      choose(notice('', `Reading ${name} was cancelled.`));
      (document.getElementById('keep') || document.getElementById('file')).focus();
      tell(error.message);
      return;
    }
    const isEncoded = otherwise && error.knobs?.some(({ knob }) => knob === 'encoding');
    const words = isEncoded ? Object.assign(error, { remedy: 'if the file comes from a Western European program, such as an older Excel, read it as such; else check that it is a CSV or Parquet file at all' }) : error;
    refuse(words, isEncoded ? el('button', { type: 'button', onclick: otherwise }, 'Read as Western European (Latin-1)') : null);
  }
}

function done(table) {
  current = table;
  named();
  opened(table);
  if (isAsked) focusTitle();
  isAsked = true;
}

/** Which table is open. */
function named() {
  const table = current;
  const other = el('button', { type: 'button', class: 'small', onclick: () => choose() }, 'Open another table');
  fill(body('data'),
    el('p', {}, el('strong', {}, table.name), `: ${counted(table.rows, 'row')}, ${counted(table.columns.length, 'column')}.`),
    table.notes?.length ? el('ul', { class: 'small soft' }, table.notes.map((note) => el('li', {}, plain(note)))) : null,
    table.unclear ? trouble(table.unclear) : null,
    el('div', { class: 'row' }, other));
}
