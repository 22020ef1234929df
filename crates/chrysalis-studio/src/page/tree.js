// Groups of values as a tree that is edited with the mouse or with keys, as a screen reader expects of a tree.

import { el, fill, tell } from './dom.js';
import { add, below, depth, dissolve, gather, groups, grown, isWithin, lines, move, movable, refusal, unused, values } from './taxonomy.js';
import { count, counted } from './words.js';

/** Steps that can be taken back. */
const MOST_UNDONE = 100;

function entries(n) {
  return n === 1 ? '1 entry' : `${count(n)} entries`;
}

/** A tree over lines; `changed` is told every change, as lines. */
export function tree(name, found, changed) {
  const id = `tree-${name.replace(/[^a-z0-9]+/gi, '-')}`;
  let root = grown(found.lines, found.rows);
  for (const [value, rows] of found.without_line || []) add(root, value, rows);
  let open = new Set(groups(root).filter((node) => depth(node) < 2 && node.children.length <= 40));
  let chosen = new Set();
  let here = root;
  let cut = [];
  let dragged = [];
  let typed = '';
  let typedAt = 0;
  const past = [];

  const list = el('ul', { role: 'tree', id, 'aria-label': `Groups of ${name}`, 'aria-multiselectable': 'true', class: 'tree' });
  const label = el('input', { type: 'text', id: `${id}-name`, size: 16 });
  const rename = button('Rename', () => named());
  const target = el('select', { id: `${id}-target` });
  const moving = button('Move', () => moved(groups(root)[Number(target.value)]));
  const gathering = button('New group', () => gathered());
  const dissolving = button('Remove the group', () => dissolved());
  const undoing = button('Undo', () => undone());
  const line = el('p', { class: 'small soft', id: `${id}-said` });

  function button(words, action) {
    return el('button', { type: 'button', class: 'small', onclick: action }, words);
  }

  /** What an action is about: the nodes that are chosen, or the one with the focus. */
  function meant() {
    return movable(chosen.size ? [...chosen] : [here]);
  }

  function said(words) {
    line.textContent = words;
    tell(words);
  }

  /** The nodes that can be seen, from top to bottom. */
  function visible() {
    const seen = [];
    const walk = (node) => {
      seen.push(node);
      if (node.children && open.has(node)) node.children.forEach(walk);
    };
    walk(root);
    return seen;
  }

  function draw(isFocused = false) {
    const seen = visible();
    if (!seen.includes(here)) here = root;
    const items = seen.map((node) => item(node));
    // A press on a node that is drawn again would be lost.
    fill(list, items);
    fill(target, groups(root).map((node, at) => el('option', { value: at }, `${'\u00a0\u00a0'.repeat(depth(node))}${shownLabel(node)}`)));
    target.value = String(Math.max(0, groups(root).indexOf(here.children ? here : here.parent)));
    tools();
    if (isFocused) items[seen.indexOf(here)].focus();
  }

  /** What the tools can do now. */
  function tools() {
    label.value = here.children ? here.label : '';
    label.disabled = !here.children;
    rename.disabled = !here.children;
    gathering.disabled = meant().length === 0;
    moving.disabled = meant().length === 0;
    dissolving.disabled = !here.children || here === root;
    undoing.disabled = past.length === 0;
  }

  function shownLabel(node) {
    return node === root ? `${node.label} (everything)` : node.label;
  }

  function item(node) {
    const siblings = node.parent?.children || [node];
    const about = node.children ? `${counted(values(node), 'value')}, ${counted(node.rows, 'row')}` : counted(node.rows, 'row');
    const twist = el('span', { class: 'twist', 'aria-hidden': 'true', onclick: (event) => { event.stopPropagation(); here = node; turn(node); } }, node.children ? (open.has(node) ? '▾' : '▸') : '');
    const made = el('li', {
      role: 'treeitem', tabindex: node === here ? '0' : '-1', draggable: node === root ? null : 'true',
      'aria-level': depth(node) + 1, 'aria-setsize': siblings.length, 'aria-posinset': siblings.indexOf(node) + 1,
      'aria-selected': String(chosen.has(node)), 'aria-expanded': node.children ? String(open.has(node)) : null,
      class: cut.includes(node) ? 'cut' : null,
    }, twist, el('span', { class: node.children ? 'group' : '' }, shownLabel(node)), ' ', el('small', {}, about));
    // Through the object model: the policy of the page forbids styles in markup.
    made.style.setProperty('--depth', depth(node));
    made.addEventListener('click', (event) => choose(node, event));
    made.addEventListener('dblclick', () => { if (node.children) toName(); });
    made.addEventListener('focus', () => { if (here !== node) { here = node; mark(); } });
    made.addEventListener('dragstart', (event) => {
      dragged = chosen.has(node) ? movable([...chosen]) : [node];
      event.dataTransfer.setData('text/plain', node.label);
      event.dataTransfer.effectAllowed = 'move';
    });
    const group = node.children ? node : node.parent;
    const takes = () => dragged.length && !dragged.some((one) => isWithin(group, one));
    made.addEventListener('dragover', (event) => { if (takes()) { event.preventDefault(); made.classList.add('over'); } });
    made.addEventListener('dragleave', () => made.classList.remove('over'));
    made.addEventListener('drop', (event) => {
      event.preventDefault();
      if (takes()) moved(group, dragged);
      dragged = [];
    });
    return made;
  }

  /** The focus went elsewhere: nothing is drawn again, so that no press is lost. */
  function mark() {
    const seen = visible();
    [...list.children].forEach((node, at) => {
      node.tabIndex = seen[at] === here ? 0 : -1;
      node.setAttribute('aria-selected', String(chosen.has(seen[at])));
    });
    target.value = String(Math.max(0, groups(root).indexOf(here.children ? here : here.parent)));
    tools();
  }

  function choose(node, event) {
    const seen = visible();
    if (event.shiftKey) {
      const [from, to] = [seen.indexOf(here), seen.indexOf(node)].sort((one, other) => one - other);
      seen.slice(from, to + 1).filter((one) => one !== root).forEach((one) => chosen.add(one));
    } else if (event.ctrlKey || event.metaKey) {
      if (chosen.has(node)) chosen.delete(node);
      else if (node !== root) chosen.add(node);
    } else {
      chosen = new Set(node === root ? [] : [node]);
    }
    here = node;
    mark();
    list.children[seen.indexOf(node)].focus();
  }

  function turn(node, isOpen = !open.has(node)) {
    if (!node.children) return;
    if (isOpen) open.add(node);
    else open.delete(node);
    draw(true);
  }

  function go(node) {
    here = node;
    mark();
    list.children[visible().indexOf(node)].focus();
  }

  /** Changes the tree, and remembers how it was. */
  function change(act, words) {
    const before = { lines: lines(root), rows: rowsOf(root) };
    const is = act();
    if (is === false) return;
    past.push(before);
    if (past.length > MOST_UNDONE) past.shift();
    chosen = new Set();
    cut = [];
    open.add(root);
    draw(true);
    said(typeof words === 'function' ? words() : words);
    changed(lines(root));
  }

  function rowsOf(node) {
    return [...below(node)].filter((one) => !one.children).map((one) => one.rows);
  }

  function undone() {
    const before = past.pop();
    if (!before) return;
    const wasOpen = new Set([...open].map((node) => node.label));
    const at = here.label;
    root = grown(before.lines, before.rows);
    open = new Set(groups(root).filter((node) => wasOpen.has(node.label)));
    open.add(root);
    here = [...below(root)].find((node) => node.label === at) || root;
    chosen = new Set();
    cut = [];
    draw(true);
    said('The last change was taken back.');
    changed(lines(root));
  }

  function moved(group, nodes = meant()) {
    let n = 0;
    change(() => {
      n = move(nodes, group);
      open.add(group);
      if (n) [here] = nodes;
      return n > 0;
    }, () => `${n === 1 ? `“${nodes[0].label}”` : count(n)} moved to “${group.label}”.`);
    if (n === 0) said(`Nothing was moved: it is in “${group.label}” already, or contains it.`);
  }

  function gathered() {
    const nodes = meant();
    if (nodes.length === 0) { said('Choose the values that belong together first.'); return; }
    change(() => {
      here = gather(nodes, unused(root, 'new group'));
      open.add(here);
      return true;
    }, () => `A new group holds ${entries(nodes.length)}. Give it a name.`);
    toName();
  }

  function dissolved() {
    if (!here.children || here === root) { said('Only groups can be removed: every value stays.'); return; }
    const { label: gone } = here;
    change(() => { here = dissolve(here); return true; }, `The group “${gone}” is gone; what was in it stands one level higher.`);
  }

  function toName() {
    if (!here.children) { said('Values keep their names; only groups can be renamed.'); return; }
    label.focus();
    label.select();
  }

  function named() {
    const name = label.value.trim();
    const why = refusal(root, here, name);
    if (why) { said(why); label.focus(); return; }
    const was = here.label;
    if (name === was) { go(here); return; }
    change(() => { here.label = name; return true; }, `“${was}” is now “${name}”.`);
  }

  label.addEventListener('keydown', (event) => {
    if (event.key === 'Enter') { event.preventDefault(); named(); }
    if (event.key === 'Escape') { label.value = here.label; go(here); }
  });

  /** Letters that are typed quickly lead to the next node that begins with them. */
  function find(letter) {
    typed = Date.now() - typedAt < 700 ? typed + letter.toLowerCase() : letter.toLowerCase();
    typedAt = Date.now();
    const seen = visible();
    const from = seen.indexOf(here) + (typed.length === 1 ? 1 : 0);
    const next = [...seen.slice(from), ...seen.slice(0, from)].find((node) => node.label.toLowerCase().startsWith(typed));
    if (next) go(next);
  }

  list.addEventListener('keydown', (event) => {
    const seen = visible();
    const at = seen.indexOf(here);
    const isHeld = event.ctrlKey || event.metaKey;
    const step = (to) => {
      if (!seen[to]) return;
      if (event.shiftKey) [here, seen[to]].filter((node) => node !== root).forEach((node) => chosen.add(node));
      go(seen[to]);
    };
    const keys = {
      ArrowDown: () => step(at + 1),
      ArrowUp: () => step(at - 1),
      Home: () => step(0),
      End: () => step(seen.length - 1),
      ArrowRight: () => { if (here.children && !open.has(here)) turn(here, true); else if (here.children) go(here.children[0]); },
      ArrowLeft: () => { if (here.children && open.has(here)) turn(here, false); else if (here.parent) go(here.parent); },
      ' ': () => { if (chosen.has(here)) chosen.delete(here); else if (here !== root) chosen.add(here); mark(); },
      Enter: toName, F2: toName, Insert: gathered, Delete: dissolved,
      Escape: () => { chosen = new Set(); cut = []; draw(true); },
    };
    const held = {
      x: () => { cut = meant(); draw(true); said(`${entries(cut.length)} cut: go to a group and press Ctrl+V.`); },
      v: () => { if (cut.length) moved(here.children ? here : here.parent, cut); },
      z: undone,
      g: gathered,
    };
    const act = isHeld ? held[event.key.toLowerCase()] : keys[event.key];
    if (act) act();
    else if (!isHeld && !event.altKey && event.key.length === 1) find(event.key);
    else return;
    event.preventDefault();
  });

  draw();
  const node = el('div', { class: 'editor' }, list,
    el('div', { class: 'row' }, el('label', { for: label.id }, 'Name: ', label), rename, gathering, dissolving, undoing),
    el('div', { class: 'row' }, el('label', { for: target.id }, 'Move what is chosen to: ', target), moving),
    line,
    el('details', { class: 'small' }, el('summary', {}, 'Keys'), el('ul', {}, [
      'Arrows move; right opens a group, left closes it. A letter leads to the next name that begins with it.',
      'Space chooses, also several; Shift with an arrow chooses on the way. With the mouse: Ctrl or Shift with a click.',
      'Ctrl+G or Insert makes a new group of what is chosen. Enter or F2 renames a group, Delete removes it.',
      'Ctrl+X, then Ctrl+V on a group moves; so does dragging. Ctrl+Z takes the last change back.',
    ].map((words) => el('li', {}, words)))));
  return { node, lines: () => lines(root) };
}
