// Elements, without any markup written as text.

import { worded } from './words.js';

/** An element with attributes, listeners (`onclick`) and children; children that are null are left out. */
export function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith('on')) node.addEventListener(name.slice(2), value);
    else if (name === 'value' || name === 'checked' || name === 'disabled' || name === 'hidden') node[name] = value;
    else node.setAttribute(name, value === true ? '' : value);
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

/** Puts children in the place of what is there. */
export function fill(node, ...children) {
  node.replaceChildren(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

/** A picture that the server drew. */
export function picture(svg, caption) {
  if (!svg) return null;
  const drawn = new DOMParser().parseFromString(svg, 'image/svg+xml').documentElement;
  // Where the page is narrow, a picture is wider than the page, and scrolls.
  const isNarrow = window.matchMedia('(max-width: 40rem)').matches;
  const hint = el('p', { class: 'soft small sideways', 'aria-hidden': 'true' }, 'Scroll the picture sideways to see all of it.');
  return el('figure', isNarrow ? { tabindex: '0' } : {}, hint, document.importNode(drawn, true), caption ? el('figcaption', { class: 'soft small' }, caption) : null);
}

/** The body of a step. */
export function body(step) {
  return document.querySelector(`#${step} .body`);
}

/** Shows a step. */
export function reveal(...steps) {
  for (const step of steps) document.getElementById(step).hidden = false;
}

export function conceal(...steps) {
  for (const step of steps) document.getElementById(step).hidden = true;
}

/** Says something to those who cannot see the page. */
export function tell(sentence) {
  document.getElementById('live').textContent = sentence;
}

/** A notice: `good`, `bad` or neither. */
export function notice(tone, title, ...rest) {
  return el('div', { class: `said ${tone}` }, title ? el('p', { class: 'title' }, title) : null, rest);
}

/** What went wrong, and what to do about it. */
export function trouble(error, ...actions) {
  // The page has one field for the place, and replaces nothing.
  const advice = (error.remedy || '').replace(/, or replace it with another name$/, '').replace(/ with the place$/, '');
  const remedy = advice ? el('p', {}, marked(`What helps: ${advice}.`)) : null;
  const buttons = actions.flat().filter(Boolean);
  return notice('bad', marked(sentence(worded(error.message))), remedy, buttons.length ? el('div', { class: 'row' }, buttons) : null);
}

/** A text in which `...` are commands, and names of columns or files. */
function marked(text) {
  return text.split('`').map((part, at) => (at % 2 ? el('code', {}, part) : part));
}

/** With a capital and a full stop. The name of a file stays as it is. */
export function sentence(text) {
  if (!text) return '';
  const isName = /^[^\s:]*[./\\_]\S/.test(text) || /^[^:]+\.\w{1,8}:/.test(text);
  const whole = isName ? text : text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(whole) ? whole : `${whole}.`;
}

/** A table; a column is {title, number}. */
export function table(caption, columns, rows, isCards = false) {
  const head = el('tr', {}, columns.map((column) => el('th', { scope: 'col', class: column.number ? 'number' : null }, column.title)));
  const cell = (value, at) => {
    const attributes = { class: columns[at].number ? 'number' : null, 'data-label': isCards && at > 0 ? columns[at].title : null };
    return at === 0 ? el('th', { ...attributes, scope: 'row' }, value) : el('td', attributes, value);
  };
  const hint = isCards ? null : el('p', { class: 'soft small sideways', 'aria-hidden': 'true' }, 'Scroll the table sideways to see all of it.');
  return el('div', {}, hint, el('div', { class: 'scroll', tabindex: isCards ? null : '0', role: isCards ? null : 'region', 'aria-label': isCards ? null : caption },
    el('table', { class: isCards ? 'cards' : null }, el('caption', {}, caption), el('thead', {}, head),
      el('tbody', {}, rows.map((row) => el('tr', {}, row.map(cell)))))));
}

/** Saves a text as a file. */
export function save(name, text, type) {
  const address = URL.createObjectURL(new Blob([text], { type }));
  el('a', { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

/** A button that copies a text. */
export function copier(text, what) {
  const button = el('button', { type: 'button', class: 'small' }, `Copy ${what}`);
  button.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(text());
      button.textContent = 'Copied';
    } catch {
      button.textContent = 'Select it and press Ctrl+C';
    }
    setTimeout(() => { button.textContent = `Copy ${what}`; }, 2000);
  });
  return button;
}
