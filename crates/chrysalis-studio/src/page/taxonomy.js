// Groups of values as a tree, and back to the lines that a recipe has: from a value to the root.

/** A tree of lines; `rows` says how many rows each line has. */
export function grown(lines, rows = []) {
  const root = { label: lines[0]?.at(-1) ?? '*', parent: null, children: [], rows: 0 };
  lines.forEach((line, at) => {
    let node = root;
    const path = line.length > 1 ? line.slice(0, -1).reverse() : line;
    path.forEach((label, depth) => {
      const isValue = depth === path.length - 1;
      // A label that is repeated to fill levels is one node.
      if (label === node.label && node !== root) return;
      const isLast = isValue || path.slice(depth).every((other) => other === label);
      let next = isLast ? null : node.children.find((child) => child.children && child.label === label);
      if (!next) {
        next = { label, parent: node, children: isLast ? null : [], rows: 0 };
        node.children.push(next);
      }
      node = next;
    });
    for (let up = node; up; up = up.parent) up.rows += rows[at] ?? 0;
  });
  return root;
}

/** Every node below one, in the order in which they are drawn. */
export function* below(node) {
  for (const child of node.children || []) {
    yield child;
    yield* below(child);
  }
}

export function values(node) {
  return node.children ? [...below(node)].filter((one) => !one.children).length : 1;
}

function above(node) {
  const path = [];
  for (let up = node; up; up = up.parent) path.push(up);
  return path;
}

/** From the root: 0. */
export function depth(node) {
  return above(node).length - 1;
}

export function isWithin(node, group) {
  return above(node).includes(group);
}

/** Lines of equal length: what stands right below the root is repeated to fill them. */
export function lines(root) {
  const paths = [...below(root)].filter((node) => !node.children).map((node) => above(node).map(({ label }) => label));
  const most = Math.max(2, ...paths.map((path) => path.length));
  return paths.map((path) => [...path.slice(0, -1), ...Array(most - path.length).fill(path.at(-2)), path.at(-1)]);
}

export function groups(root) {
  return [root, ...[...below(root)].filter((node) => node.children)];
}

/** Why a group cannot have this name; nothing if it can. */
export function refusal(root, node, name) {
  if (name === '') return 'A group needs a name.';
  if (/[;\p{Cc}]/u.test(name)) return 'The name of a group has no semicolon and no line break.';
  const other = [root, ...below(root)].find((one) => one !== node && one.label === name);
  if (other) return `“${name}” is already the name of ${other.children ? 'another group' : 'a value'}.`;
  return '';
}

/** A name that nothing has yet. */
export function unused(root, name) {
  for (let n = 1; ; n += 1) {
    const tried = n === 1 ? name : `${name} ${n}`;
    if (!refusal(root, null, tried)) return tried;
  }
}

function detach(node) {
  const { parent } = node;
  parent.children = parent.children.filter((child) => child !== node);
  for (let up = parent; up; up = up.parent) up.rows -= node.rows;
}

function attach(node, group, before = null) {
  const at = before ? group.children.indexOf(before) : -1;
  group.children.splice(at < 0 ? group.children.length : at, 0, node);
  node.parent = group;
  for (let up = group; up; up = up.parent) up.rows += node.rows;
}

/** A group without values is none. */
function prune(node) {
  for (let up = node; up?.parent && up.children?.length === 0;) {
    const { parent } = up;
    detach(up);
    up = parent;
  }
}

/** Those of some nodes that are not inside another of them, nor contain `group`. */
export function movable(nodes, group = null) {
  return nodes.filter((node) => node.parent && !(group && isWithin(group, node)) && !nodes.some((other) => other !== node && isWithin(node, other)));
}

/** Moves nodes into a group; says how many. */
export function move(nodes, group) {
  const moved = movable(nodes, group).filter((node) => node.parent !== group);
  for (const node of moved) {
    const was = node.parent;
    detach(node);
    attach(node, group);
    prune(was);
  }
  return moved.length;
}

/** A new group around some nodes, where the first of them stands. */
export function gather(nodes, name) {
  const moved = movable(nodes);
  const [first] = moved;
  const group = { label: name, parent: null, children: [], rows: 0 };
  attach(group, first.parent, first);
  move(moved, group);
  return group;
}

/** What was in a group stands in the group above it. */
export function dissolve(group) {
  const { parent } = group;
  const inside = [...group.children];
  for (const node of inside) {
    detach(node);
    attach(node, parent, group);
  }
  detach(group);
  return inside[0];
}

/** Values without a line stand alone below the root. */
export function add(root, label, rows) {
  attach({ label, parent: null, children: null, rows }, root);
}
