// What this tab chose, kept in the memory of the studio: loading the page again loses nothing. The browser keeps a name
// alone, because what it keeps it may write to disk, and groups of values are words from the table.

import { get, put } from './api.js';

const KEY = 'chrysalis-tab';

/** Browsers send no more than 64 KiB after a page was closed. */
const MOST_KEPT_ALIVE = 15_000;

let name;
let kept = {};
let isSending = false;
let isChanged = false;

/** What this tab chose before it was loaded again; nothing if it is new, or the studio is. */
export async function recall() {
  name = sessionStorage.getItem(KEY);
  if (!name) {
    name = crypto.randomUUID();
    sessionStorage.setItem(KEY, name);
    return null;
  }
  const { chosen } = await get(`tabs/${name}`);
  kept = chosen || {};
  return chosen;
}

/** Keeps parts of what was chosen; a part that is null is forgotten. */
export function remember(parts) {
  Object.assign(kept, parts);
  isChanged = true;
  if (!isSending) send();
}

/** One request at a time: the last one says all. */
async function send() {
  isSending = true;
  while (isChanged) {
    isChanged = false;
    const said = JSON.stringify(kept);
    // What cannot be kept is lost with a reload, and nothing else is.
    await put(`tabs/${name}`, said, null, said.length < MOST_KEPT_ALIVE).catch(() => {});
  }
  isSending = false;
}
