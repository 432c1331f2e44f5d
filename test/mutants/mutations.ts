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
}

interface SyntaxNode {
  readonly type: string;
  readonly start: number;
  readonly end: number;
}

/** What a mutation does to its file. */
type Edit = Omit<Mutation, 'file'>;

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
  walk(parseAst(source, { lang: 'ts' }), (node) => {
    found.push(...editsOf(node, source).map((edit) => ({ file, ...edit })));
  });
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

function walk(value: unknown, visit: (node: SyntaxNode & Readonly<Record<string, unknown>>) => void): void {
  if (Array.isArray(value)) {
    for (const item of value) {
      walk(item, visit);
    }
  } else if (isNode(value) && !isIgnored(value)) {
    visit(value);
    for (const child of Object.values(value)) {
      walk(child, visit);
    }
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
      return literal(node, replace);
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

function literal(node: SyntaxNode & Readonly<Record<string, unknown>>, replace: Replace): readonly Edit[] {
  const { value } = node;
  switch (typeof value) {
    case 'boolean':
      return [replace(node, String(!value), `${value} to ${!value}`)];
    case 'number':
      return [replace(node, String(value + 1), `${value} to ${value + 1}`)];
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
