// Completion in a text box: columns and functions, chosen with arrows and Enter, or with the mouse.

import { el, fill } from './dom.js';

/** The word before the caret, and where it begins. */
function word(box) {
  const before = box.value.slice(0, box.selectionStart);
  const found = /[\p{L}_][\p{L}\p{N}_]*$/u.exec(before);
  return found ? { text: found[0], at: before.length - found[0].length } : null;
}

/** Offers `words` ({text, about, insert}) in a text box. */
export function completing(box, words) {
  const list = el('ul', { class: 'choices', role: 'listbox', id: `${box.id}-choices`, 'aria-label': 'Completions', hidden: true });
  const holder = el('div', { class: 'box' }, box, list);
  let offered = [];
  let chosen = -1;
  // A text box of several lines cannot be a combobox, but it may control a list.
  box.setAttribute('aria-autocomplete', 'list');
  box.setAttribute('aria-haspopup', 'listbox');
  box.setAttribute('aria-controls', list.id);

  const close = () => {
    list.hidden = true;
    offered = [];
    box.removeAttribute('aria-activedescendant');
  };
  const mark = (at) => {
    chosen = at;
    [...list.children].forEach((item, index) => item.setAttribute('aria-selected', String(index === at)));
    box.setAttribute('aria-activedescendant', list.children[at].id);
    list.children[at].scrollIntoView({ block: 'nearest' });
  };
  const take = (at) => {
    const now = word(box);
    if (now) box.setRangeText(offered[at].insert, now.at, now.at + now.text.length, 'end');
    close();
    box.focus();
  };
  const offer = () => {
    const now = word(box);
    const start = now?.text.toLowerCase();
    offered = now ? words.filter(({ text }) => text.toLowerCase().startsWith(start) && text.toLowerCase() !== start).slice(0, 12) : [];
    if (offered.length === 0) { close(); return; }
    fill(list, offered.map(({ text, about }, at) => el('li', { role: 'option', id: `${box.id}-choice-${at}`, 'aria-selected': 'false', onmousedown: (event) => { event.preventDefault(); take(at); } }, text, el('small', {}, about))));
    list.hidden = false;
    mark(0);
  };
  box.addEventListener('input', offer);
  box.addEventListener('blur', close);
  box.addEventListener('keydown', (event) => {
    if (list.hidden) return;
    const n = offered.length;
    if (event.key === 'ArrowDown') mark((chosen + 1) % n);
    else if (event.key === 'ArrowUp') mark((chosen + n - 1) % n);
    else if ((event.key === 'Enter' && !event.ctrlKey) || event.key === 'Tab') take(chosen);
    else if (event.key === 'Escape') close();
    else return;
    event.preventDefault();
  });
  return holder;
}
