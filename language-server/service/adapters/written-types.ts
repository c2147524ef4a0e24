/** Types as written in the file: enough of them to know the kind of a part of a parsed record. No type checker. */
import ts from 'typescript6';
import type { Scopes } from './scopes.ts';
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
