/** Types as written in the file: enough of them to know the kind of a part of a parsed record. No type checker. */
import ts from 'typescript6';
import { type Scopes, strip } from './scopes.ts';
import { KIND } from './values.ts';

const KEYWORDS = new Map<ts.SyntaxKind, number>([
  [ts.SyntaxKind.StringKeyword, KIND.string],
  [ts.SyntaxKind.NumberKeyword, KIND.number],
  [ts.SyntaxKind.BooleanKeyword, KIND.boolean],
  [ts.SyntaxKind.UndefinedKeyword, KIND.undefined],
  [ts.SyntaxKind.VoidKeyword, KIND.undefined],
]);

/** Kinds of value a type allows; `ANY` for what is declared elsewhere. */
export function kindsOfType(type: ts.TypeNode, scopes: Scopes, depth = 0): number {
  const keyword = KEYWORDS.get(type.kind);
  if (keyword !== undefined) return keyword;
  if (depth > 20) return KIND.any;
  if (ts.isParenthesizedTypeNode(type)) return kindsOfType(type.type, scopes, depth + 1);
  if (ts.isUnionTypeNode(type)) return type.types.reduce((all, each) => all | kindsOfType(each, scopes, depth + 1), 0);
  if (ts.isArrayTypeNode(type) || ts.isTupleTypeNode(type)) return KIND.array;
  if (ts.isTypeLiteralNode(type)) return KIND.object;
  if (ts.isFunctionTypeNode(type)) return KIND.function;
  if (ts.isLiteralTypeNode(type)) {
    if (type.literal.kind === ts.SyntaxKind.NullKeyword) return KIND.null;
    if (ts.isStringLiteralLike(type.literal)) return KIND.string;
    if (type.literal.kind === ts.SyntaxKind.TrueKeyword || type.literal.kind === ts.SyntaxKind.FalseKeyword)
      return KIND.boolean;
    if (ts.isNumericLiteral(type.literal)) return KIND.number;
  }
  if (ts.isTypeReferenceNode(type)) {
    const name = type.typeName.getText();
    if (name === 'Promise') return KIND.promise;
    if (name === 'Array' || name === 'ReadonlyArray') return KIND.array;
    if (name === 'Record') return KIND.object;
    const declared = scopes.types.get(name);
    if (declared && ts.isInterfaceDeclaration(declared)) return KIND.object;
    if (declared && ts.isTypeAliasDeclaration(declared)) return kindsOfType(declared.type, scopes, depth + 1);
  }
  return KIND.any;
}

/** Type of a part of an object, and whether the part may be left out. */
export interface Part {
  type: ts.TypeNode;
  optional: boolean;
}

/** Type of a part of an object type; `[]` asks for the elements of an array or record. */
export function partOfType(type: ts.TypeNode, name: string, scopes: Scopes, depth = 0): Part | undefined {
  if (depth > 20) return undefined;
  if (ts.isParenthesizedTypeNode(type)) return partOfType(type.type, name, scopes, depth + 1);
  if (ts.isUnionTypeNode(type)) {
    // `T | undefined`: the part of T. Of several object types none is taken.
    const solid = type.types.filter((each) => {
      const kinds = kindsOfType(each, scopes, depth + 1);
      return kinds !== KIND.undefined && kinds !== KIND.null;
    });
    return solid.length === 1 ? partOfType(solid[0], name, scopes, depth + 1) : undefined;
  }
  if (name === '[]') {
    if (ts.isArrayTypeNode(type)) return { type: type.elementType, optional: false };
    const name = ts.isTypeReferenceNode(type) ? type.typeName.getText() : '';
    const given = ts.isTypeReferenceNode(type) ? type.typeArguments : undefined;
    const element = /^(Readonly)?Array$/.test(name) ? given?.[0] : name === 'Record' ? given?.[1] : undefined;
    if (element) return { type: element, optional: false };
  }
  if (ts.isTypeLiteralNode(type)) return memberType(type.members, name);
  if (ts.isTypeReferenceNode(type)) {
    const declared = scopes.types.get(type.typeName.getText());
    if (declared && ts.isTypeAliasDeclaration(declared)) return partOfType(declared.type, name, scopes, depth + 1);
    if (declared && ts.isInterfaceDeclaration(declared)) return memberType(declared.members, name);
    if (type.typeName.getText() === 'Partial' && type.typeArguments?.[0]) {
      const part = partOfType(type.typeArguments[0], name, scopes, depth + 1);
      return part && { ...part, optional: true };
    }
  }
  return undefined;
}

function memberType(members: ts.NodeArray<ts.TypeElement>, name: string): Part | undefined {
  for (const member of members)
    if (ts.isPropertySignature(member) && member.type && 'text' in member.name && member.name.text === name)
      return { type: member.type, optional: member.questionToken !== undefined };
  return undefined;
}

/** All constants a type allows: `'won' | 'lost'`, `boolean`, `keyof typeof REWARDS`; undefined where there are others. */
export function literalsOfType(type: ts.TypeNode, scopes: Scopes, depth = 0): Literals {
  if (depth > 20) return undefined;
  if (type.kind === ts.SyntaxKind.BooleanKeyword) return [true, false];
  if (ts.isParenthesizedTypeNode(type)) return literalsOfType(type.type, scopes, depth + 1);
  if (ts.isUnionTypeNode(type)) return joined(type.types.map((each) => literalsOfType(each, scopes, depth + 1)));
  if (ts.isLiteralTypeNode(type)) {
    if (ts.isStringLiteralLike(type.literal)) return [type.literal.text];
    if (ts.isNumericLiteral(type.literal)) return [Number(type.literal.text)];
    if (type.literal.kind === ts.SyntaxKind.TrueKeyword) return [true];
    if (type.literal.kind === ts.SyntaxKind.FalseKeyword) return [false];
  }
  if (ts.isTypeReferenceNode(type)) {
    const declared = scopes.types.get(type.typeName.getText());
    if (declared && ts.isTypeAliasDeclaration(declared)) return literalsOfType(declared.type, scopes, depth + 1);
  }
  if (ts.isTypeOperatorNode(type) && type.operator === ts.SyntaxKind.KeyOfKeyword) return keysOf(type.type, scopes);
  return undefined;
}

type Literals = readonly (string | number | boolean)[] | undefined;

function joined(all: readonly Literals[]): Literals {
  const known = all.filter((each) => each !== undefined);
  return known.length === all.length ? known.flat() : undefined;
}

/** Names of the properties of `typeof X`, a constant object of the file. */
function keysOf(type: ts.TypeNode, scopes: Scopes): Literals {
  if (!ts.isTypeQueryNode(type) || !ts.isIdentifier(type.exprName)) return undefined;
  const declared = scopes.resolve(type.exprName);
  const made = declared && ts.isVariableDeclaration(declared) && declared.initializer && strip(declared.initializer);
  if (!made || !ts.isObjectLiteralExpression(made)) return undefined;
  const names = made.properties.map(({ name }) =>
    name && (ts.isIdentifier(name) || ts.isStringLiteralLike(name)) ? [name.text] : undefined,
  );
  return joined(names);
}

/** Constants that a part of an object type may be, over all types of a union: what tells them apart. */
export function literalsOfPart(type: ts.TypeNode, name: string, scopes: Scopes, depth = 0): Literals {
  if (depth > 20) return undefined;
  if (ts.isParenthesizedTypeNode(type)) return literalsOfPart(type.type, name, scopes, depth + 1);
  if (ts.isTypeReferenceNode(type)) {
    const declared = scopes.types.get(type.typeName.getText());
    if (declared && ts.isTypeAliasDeclaration(declared)) return literalsOfPart(declared.type, name, scopes, depth + 1);
  }
  if (ts.isUnionTypeNode(type)) {
    const solid = type.types.filter((each) => (kindsOfType(each, scopes) & ~(KIND.undefined | KIND.null)) !== 0);
    return joined(solid.map((each) => literalsOfPart(each, name, scopes, depth + 1)));
  }
  const part = partOfType(type, name, scopes);
  return part && !part.optional ? literalsOfType(part.type, scopes) : undefined;
}
