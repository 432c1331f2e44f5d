import { parseAst } from 'vitest/node';

/** One change to a source file that its tests should notice. */
export interface Mutation {
  /** Path from the top of the repository. */
  readonly file: string;
  /** Offsets of what is replaced, in UTF-16 code units. */
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
  /** What was changed, such as `< to <=`. */
  readonly change: string;
  readonly site: Site;
}

/** What is evaluated when the changed text is: a statement of a block, or the expression that an arrow function returns. */
export interface Site {
  readonly kind: 'Statement' | 'Returned';
  readonly start: number;
  readonly end: number;
}

interface SyntaxNode {
  readonly type: string;
  readonly start: number;
  readonly end: number;
}

/** What a mutation does to its file. */
type Edit = Omit<Mutation, 'file' | 'site'>;

const BINARY: Readonly<Record<string, string>> = {
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '===': '!==',
  '!==': '===',
  '+': '-',
  '-': '+',
  '*': '/',
  '/': '*',
  '&&': '||',
  '||': '&&',
  '??': '&&',
};

/** Methods whose twin does something else with the same arguments. */
const METHODS: Readonly<Record<string, string>> = {
  some: 'every',
  every: 'some',
  max: 'min',
  min: 'max',
  floor: 'ceil',
  ceil: 'floor',
  startsWith: 'endsWith',
};

/** All mutations of a source file in TypeScript. Throws SyntaxError for text that is none. */
export function mutationsOf(file: string, source: string): readonly Mutation[] {
  const found: Mutation[] = [];
  const visit: Visit = (node, site) => {
    found.push(...editsOf(node, source).map((edit) => ({ file, ...edit, site })));
  };
  walk(parseAst(source, { lang: 'ts' }), { kind: 'Statement', start: 0, end: source.length }, visit);
  return found;
}

/** The source with the mutation. */
export function mutate(source: string, { start, end, replacement }: Mutation): string {
  return source.slice(0, start) + replacement + source.slice(end);
}

function isNode(value: unknown): value is SyntaxNode & Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
}

/** Types and imports have no behaviour. */
function isIgnored({ type }: SyntaxNode): boolean {
  const isType =
    type.startsWith('TS') && !['TSAsExpression', 'TSNonNullExpression', 'TSSatisfiesExpression'].includes(type);
  return isType || type === 'ImportDeclaration';
}

type Visit = (node: SyntaxNode & Readonly<Record<string, unknown>>, site: Site) => void;

function walk(value: unknown, site: Site, visit: Visit): void {
  if (Array.isArray(value)) {
    for (const item of value) {
      walk(item, site, visit);
    }
  } else if (isNode(value) && !isIgnored(value)) {
    visit(value, site);
    for (const child of Object.values(value)) {
      for (const each of Array.isArray(child) ? child : [child]) {
        walk(each, siteOf(value, each) ?? site, visit);
      }
    }
  }
}

/** The site that a child of `parent` is, if it is one. */
function siteOf(parent: SyntaxNode & Readonly<Record<string, unknown>>, child: unknown): Site | undefined {
  if (!isNode(child)) {
    return undefined;
  }
  const { type, start, end } = child;
  switch (parent.type) {
    case 'Program':
    case 'BlockStatement':
      return { kind: 'Statement', start, end };
    case 'SwitchCase':
      return child === parent['test'] ? undefined : { kind: 'Statement', start, end };
    case 'ArrowFunctionExpression':
      return child !== parent['body'] || type === 'BlockStatement' ? undefined : { kind: 'Returned', start, end };
    default:
      return undefined;
  }
}

function editsOf(node: SyntaxNode & Readonly<Record<string, unknown>>, source: string): readonly Edit[] {
  const text = ({ start, end }: SyntaxNode): string => source.slice(start, end);
  const replace = (target: SyntaxNode, replacement: string, change: string): Edit => ({
    start: target.start,
    end: target.end,
    replacement,
    change,
  });
  switch (node.type) {
    case 'BinaryExpression':
    case 'LogicalExpression':
      return swapOperator(node, source);
    case 'IfStatement':
    case 'ConditionalExpression': {
      const test = node['test'] as SyntaxNode;
      return [replace(test, `!(${text(test)})`, 'condition negated'), replace(test, 'false', 'condition false')];
    }
    case 'UnaryExpression': {
      const argument = node['argument'] as SyntaxNode;
      return node['operator'] === '!' ? [replace(node, `(${text(argument)})`, '! removed')] : [];
    }
    case 'Literal':
      return literal(node, source, replace);
    case 'ExpressionStatement': {
      const { type } = node['expression'] as SyntaxNode;
      const isCall = type === 'CallExpression' || type === 'AwaitExpression';
      return isCall ? [replace(node, ';', 'statement removed')] : [];
    }
    case 'CallExpression':
      return swapMethod(node['callee'] as SyntaxNode & Readonly<Record<string, unknown>>, replace);
    default:
      return [];
  }
}

function swapOperator(node: SyntaxNode & Readonly<Record<string, unknown>>, source: string): readonly Edit[] {
  const [left, right, operator] = [node['left'] as SyntaxNode, node['right'] as SyntaxNode, String(node['operator'])];
  const replacement = BINARY[operator];
  const start = source.indexOf(operator, left.end);
  return replacement === undefined || start < 0 || start >= right.start
    ? []
    : [{ start, end: start + operator.length, replacement, change: `${operator} to ${replacement}` }];
}

type Replace = (target: SyntaxNode, replacement: string, change: string) => Edit;

function literal(
  node: SyntaxNode & Readonly<Record<string, unknown>>,
  source: string,
  replace: Replace,
): readonly Edit[] {
  const { value } = node;
  switch (typeof value) {
    case 'boolean':
      return [replace(node, String(!value), `${value} to ${!value}`)];
    case 'number':
      // -1 stands for none: only its sign is asked for.
      return source[node.start - 1] === '-' ? [] : [replace(node, String(value + 1), `${value} to ${value + 1}`)];
    default:
      return [];
  }
}

function swapMethod(callee: SyntaxNode & Readonly<Record<string, unknown>>, replace: Replace): readonly Edit[] {
  const property = callee['property'];
  const name = callee.type === 'MemberExpression' && isNode(property) ? String(property['name']) : '';
  const twin = Object.hasOwn(METHODS, name) ? METHODS[name] : undefined;
  return twin === undefined ? [] : [replace(property as SyntaxNode, twin, `${name} to ${twin}`)];
}
