import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

const REPORT = new URL('surface.d.ts.txt', import.meta.url)
const { exports: targets } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  exports: Record<string, string | { 'svc:source': string }>
}
/** The source of each entry point that package.json exports, by its name in an import. */
export const ENTRY_SOURCES = new Map(Object.entries(targets).flatMap(([name, target]) => typeof target === 'string'
  ? []
  : [[name.replace(/^\./, '@svc/plugin-sdk'), new URL(`../${target['svc:source']}`, import.meta.url)] as const]))
const ENTRIES = [...ENTRY_SOURCES.values()].map((url) => fileURLToPath(url))
const OPTIONS: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2024,
  lib: ['lib.esnext.d.ts'],
  types: ['node'],
  module: ts.ModuleKind.NodeNext,
  strict: true,
  skipLibCheck: true,
  resolveJsonModule: true,
  allowImportingTsExtensions: true,
  declaration: true,
  emitDeclarationOnly: true,
  removeComments: true
}

let loaded: ts.Program | undefined

/** Returns the program of the SDK's sources, which takes the compiler seconds, so it is created once. */
function loadSources (): ts.Program {
  loaded ??= ts.createProgram(ENTRIES, OPTIONS)
  return loaded
}

/**
 * Renders the declarations of all exports of all entry points, and of all names in those declarations, sorted by name.
 */
export function renderSurface (): string {
  const program = createDeclarations()
  const checker = program.getTypeChecker()
  const shapes = new Map<string, string>()
  const isOwn = (node: ts.Node) => isDeclarationOfSdk(node.getSourceFile().fileName)

  function add (symbol: ts.Symbol) {
    const target = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
    for (const declaration of (target.declarations ?? []).filter(isOwn)) {
      const statement = ts.findAncestor(declaration, (node) => ts.isSourceFile(node.parent))
      if (statement === undefined || statement === declaration.getSourceFile()) continue
      const text = statement.getText()
      if (shapes.get(text) !== undefined) continue
      shapes.set(text, target.name)
      addNamed(statement)
    }
  }
  function addNamed (node: ts.Node) {
    const symbol = ts.isIdentifier(node) ? checker.getSymbolAtLocation(node) : undefined
    if (symbol !== undefined) add(symbol)
    ts.forEachChild(node, addNamed)
  }
  for (const entry of ENTRIES) {
    const file = program.getSourceFile(toDeclarationName(entry))
    const exports = file && checker.getSymbolAtLocation(file)
    if (exports !== undefined) checker.getExportsOfModule(exports).forEach(add)
  }
  const sorted = [...shapes].sort(([a, nameA], [b, nameB]) => nameA === nameB ? compare(a, b) : compare(nameA, nameB))
  return sorted.map(([text]) => `${text}\n`).join('\n')
}

/** Returns the exports without a doc comment. */
export function listUndocumented (): string[] {
  const program = loadSources()
  const checker = program.getTypeChecker()
  const isOwn = ({ declarations = [] }: ts.Symbol) =>
    declarations.some((declaration) => isDeclarationOfSdk(declaration.getSourceFile().fileName))
  return ENTRIES.flatMap((entry) => {
    const file = program.getSourceFile(entry)
    const exports = file && checker.getSymbolAtLocation(file)
    return exports === undefined ? [] : checker.getExportsOfModule(exports)
  })
    .map((symbol) => symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol)
    .filter((symbol) => isOwn(symbol) && symbol.getDocumentationComment(checker).length === 0)
    .map(({ name }) => name)
}

export function readReport (): string {
  return readFileSync(REPORT, 'utf8')
}

/** Creates a program from the SDK's declaration files, which the compiler emits into memory only. */
function createDeclarations (): ts.Program {
  const emitted = new Map<string, string>()
  const sources = loadSources()
  sources.emit(undefined, (name, text) => { emitted.set(name, text.replaceAll('.ts\'', '.js\'')) })
  const host = ts.createCompilerHost(OPTIONS)
  const { readFile, fileExists, getSourceFile } = host
  // Files outside the SDK, mainly the libraries of the language, come from the first program.
  host.getSourceFile = (name, ...rest) => {
    const known = isDeclarationOfSdk(name) ? undefined : sources.getSourceFile(name)
    return known ?? getSourceFile(name, ...rest)
  }
  host.readFile = (name) => emitted.get(name) ?? readFile(name)
  host.fileExists = (name) => emitted.has(name) || (fileExists(name) && !emitted.has(toDeclarationName(name)))
  return ts.createProgram(ENTRIES.map(toDeclarationName), OPTIONS, host)
}

function toDeclarationName (name: string): string {
  return name.replace(/(?<!\.d)\.ts$/, '.d.ts')
}

function isDeclarationOfSdk (name: string): boolean {
  return /[\\/]sdk[\\/]src[\\/]/.test(name)
}

function compare (a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

if (import.meta.main) writeFileSync(REPORT, renderSurface())
